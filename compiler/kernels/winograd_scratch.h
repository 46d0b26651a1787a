/* winograd_scratch.h - how much scratch the kernels of Winograd's transform take. Knows nothing of steps. */
#ifndef OCC_KERNELS_WINOGRAD_SCRATCH_H
#define OCC_KERNELS_WINOGRAD_SCRATCH_H

#include <stdint.h>

/* Floats, with tiles of m x m results, `group` of them together. */
int64_t winograd_scratch(int64_t m, int64_t group, int64_t inputs, int64_t outputs);

/* 32-bit words, of 8-bit integers. */
int64_t winograd_q_scratch(int64_t m, int64_t group, int64_t inputs);

#endif
