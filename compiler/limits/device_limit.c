/* device_limit.c - --device-memory: says that a plan needs more of the device's memory, the least that works, and which
 * tensors are alive where it is fullest. */
#include "device/device.h"
#include "limits/usage.h"

#include <inttypes.h>
#include <string.h>

int device_limit_check(const Emission *e)
{
    const Program *p = e->program;
    int64_t        constants = program_constant_bytes(p), most = e->options->device_memory, peak;
    Text           lines = text_new(e->diag->arena);

    if (most < 0 || p->language != LANGUAGE_DEVICE || e->plan->share[MEMORY_DEVICE].peak <= most)
        return 0;
    peak = e->plan->share[MEMORY_DEVICE].peak;
    diag_limit(e->diag,
               "--device-memory: found %" PRId64 " bytes, wanted at most %" PRId64 ": %" PRId64
               " of constants, %" PRId64 " of tensors and scratch",
               peak, most, constants, peak - constants);
    usage_tell_memory(e, MEMORY_DEVICE, &lines);
    usage_say(e, &lines);
    diag_limit(e->diag, "remedy: --device-memory=%" PRId64 " %s (%s); a smaller batch or bound needs less", peak,
               strncmp(e->plan->status, "optimal", 7) ? "works" : "is the least that works", e->plan->status);
    return -1;
}
