/* gpu.c - the table of devices. */
#include "device/gpu.h"

#include <stddef.h>
#include <string.h>

const Gpu gpus[] = {
#define GPU(name, processors, help) {#name, processors, help},
#include "schemas/gpus.def"
};
const int ngpus = (int)(sizeof gpus / sizeof *gpus);

const Gpu *gpu_find(const char *name)
{
    for (int i = 0; i < ngpus; i++)
        if (!name || !strcmp(gpus[i].name, name))
            return &gpus[i];
    return NULL;
}
