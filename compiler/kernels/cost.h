/* cost.h - the predicted time of a step on a processor core of a given rate and bandwidth: multiply-adds, those that
 * partly filled tiles waste, and bytes moved. Choices need predictions that are right in proportion only. Knows nothing
 * of the choices. */
#ifndef OCC_KERNELS_COST_H
#define OCC_KERNELS_COST_H

#include "program/program.h"

/* One core. */
typedef struct Core {
    const char *name;
    int         lanes;   /* floats in a vector: OCC_W of occ_vec.h */
    int         rows[4]; /* pixels down a tile of 1, 2, 3 and 4 vectors: OCC_TILE_ROWS of occ_tile.h */
    double      rate;    /* vector multiply-adds a nanosecond */
    double      near;    /* bytes a nanosecond of activations and scratch, from the caches */
    double      far;     /* bytes a nanosecond of weights, which are read once in a run */
    double      pairs;   /* multiply-adds that take as long as adding two 16-bit products in each lane; 0: none */
    double      quads;   /* multiply-adds that take as long as adding four products of bytes in each lane; 0: none */
} Core;

/* The cores that targets name. core_unknown is a guess at a processor that nobody named, core_scalar at one whose
 * vectors the templates do not use. tests/emit/test_target.c holds lanes and rows of the others against the templates.
 */
extern const Core core_unknown, core_scalar, core_sse2, core_avx2, core_avx512, core_vnni, core_armv8, core_cortex_m;

/* The processor that occamyc runs on. */
const Core *core_here(void);

/* Nanoseconds of any step, at the largest extents; 0 for control steps. */
double cost_step(const Core *core, const Program *program, const Step *step);

/* The time of every step in one run of the program: a loop without a condition counts as often as it runs at the
 * largest extents, others once; each of two branches counts half. By step, in the program's arena. */
double *cost_steps(const Core *core, const Program *program);

/* The sum of the times of all steps. */
double cost_program(const Core *core, const Program *program);

#endif
