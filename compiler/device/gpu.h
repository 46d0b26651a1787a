/* gpu.h - the devices that are known by name. Knows nothing of programs. */
#ifndef OCC_DEVICE_GPU_H
#define OCC_DEVICE_GPU_H

typedef struct Gpu {
    const char *name;
    int         processors;
    const char *help;
} Gpu;

extern const Gpu gpus[]; /* the first one is meant where none is named */
extern const int ngpus;

const Gpu *gpu_find(const char *name); /* NULL: unknown; the name NULL: the first */

#endif
