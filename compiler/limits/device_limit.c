/* device_limit.c - --device-memory: says that a plan needs more of the device's memory, the least that works, and which
 * tensors are alive where it is fullest. */
#include "device/device.h"
#include "limits/usage.h"

#include <inttypes.h>
#include <string.h>

/* The step in which most bytes of a memory are alive. */
static int fullest_step_of(const Emission *e, int share)
{
    int64_t most = -1;
    int     fullest = 0;

    for (int s = 0; s < e->program->nstep; s++) {
        int64_t bytes = 0;

        for (int b = 0; b < e->program->nbuffer; b++)
            if (e->plan->offset[b] >= 0 && e->plan->region[b] == share)
                bytes += buffer_live_bytes(&e->program->buffer[b], s);
        if (bytes > most) {
            most = bytes;
            fullest = s;
        }
    }
    return fullest;
}

int device_limit_check(const Emission *e)
{
    const Program *p = e->program;
    int64_t        constants = 0, most = e->options->device_memory, peak;
    int            step;
    Text           lines = text_new(e->diag->arena);

    if (most < 0 || p->language != LANGUAGE_DEVICE || e->plan->share[MEMORY_DEVICE].peak <= most)
        return 0;
    peak = e->plan->share[MEMORY_DEVICE].peak;
    step = fullest_step_of(e, MEMORY_DEVICE);
    for (int b = 0; b < p->nbuffer; b++)
        if (p->buffer[b].kind == BUFFER_RESIDENT && e->plan->region[b] == MEMORY_DEVICE)
            constants += p->buffer[b].size;
    diag_limit(e->diag,
               "--device-memory: found %" PRId64 " bytes, wanted at most %" PRId64 ": %" PRId64
               " of constants, %" PRId64 " of tensors and scratch",
               peak, most, constants, peak - constants);
    usage_tell_alive(e, MEMORY_DEVICE, step, &lines);
    diag_limit(e->diag, "most of it is in use in step %d, %s; alive there:", step,
               usage_step_name(e->diag->arena, p, step));
    for (char *line = lines.data, *end; line && (end = strchr(line, '\n')); line = end + 1)
        diag_limit(e->diag, "%.*s", (int)(end - line), line);
    diag_limit(e->diag, "remedy: --device-memory=%" PRId64 " %s (%s); a smaller batch or bound needs less", peak,
               strncmp(e->plan->status, "optimal", 7) ? "works" : "is the least that works", e->plan->status);
    return -1;
}
