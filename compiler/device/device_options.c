/* device_options.c - the options of a program for a device: those that it cannot serve are refused, the others get what
 * every such program has: three memories and kernels that a device runs well. */
#include "device/device.h"

#include <string.h>

static const char *unserved(const Options *o)
{
    const struct {
        bool        asked;
        const char *name;
    } option[] = {{o->plan.nregion > 0, "--region"},
                  {o->threads > 1, "--threads"},
                  {o->queues > 1, "--queues"},
                  {o->plan.weights == WEIGHTS_SWAP, "--weights=swap"},
                  {o->code == CODE_SHARED, "--code=shared"},
                  {o->cc != NULL, "--cc"},
                  {o->tune != NULL, "--tune"},
                  {o->max_flash >= 0, "--max-flash"},
                  {o->max_stack >= 0, "--max-stack"},
                  {o->plan.io_arena != 0, "--io=arena"},
                  {o->output && !strcmp(o->output, "-"), "-o -"}};

    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        if (option[i].asked)
            return option[i].name;
    return NULL;
}

int device_options(const Options *from, Options *to, Diag *diag)
{
    static const MemoryRegion memory[MEMORIES] = {[MEMORY_DEVICE] = {"device", MEMORY_BYTES, 256},
                                                  [MEMORY_PINNED] = {"pinned", MEMORY_BYTES, 256},
                                                  [MEMORY_HOST] = {"arena", MEMORY_BYTES, 256}};
    const char               *name = unserved(from);

    if (name)
        return diag_usage(diag,
                          "%s: found with --target=%s, which does not serve it; wanted another target, or none of it",
                          name, from->target);
    *to = *from;
    to->winograd = WINOGRAD_OFF;
    to->cascade = CASCADE_OFF;
    to->plan.nregion = MEMORIES;
    to->plan.ranked = false;
    for (int m = 0; m < MEMORIES; m++)
        to->plan.region[m] = memory[m];
    return 0;
}
