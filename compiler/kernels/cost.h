/* cost.h - the predicted time of a step on a processor core of a given rate and bandwidth: multiply-adds and what tiles
 * waste of them, and the bytes that move. What is chosen by it need only be right in proportion. Knows nothing of who
 * chooses. */
#ifndef OCC_KERNELS_COST_H
#define OCC_KERNELS_COST_H

#include "program/program.h"

/* One core. */
typedef struct Core {
    const char *name;
    int         lanes;   /* floats in a vector */
    int         rows[4]; /* pixels down a tile of 1, 2, 3 and 4 vectors: OCC_TILE_ROWS of occ_tile.h */
    double      rate;    /* vector multiply-adds a nanosecond */
    double      near;    /* bytes a nanosecond of activations and scratch, from the caches */
    double      far;     /* bytes a nanosecond of weights, which are read once in a run */
    double
        pairs; /* multiply-adds in whose time two products of 16 bits join each lane of a vector; 0: no instruction */
    double quads; /* the same of four products of bytes */
} Core;

/* The core of a target, by the target's name; "native" is the one that occamyc runs on. NULL: nothing is known of it,
 * and nothing can be chosen for it. */
const Core *core_find(const char *target);

/* Nanoseconds of any step, at the largest extents; 0 for control steps. */
double cost_step(const Core *core, const Program *program, const Step *step);

/* The same of all steps for a run of the program: a loop counts as often as it is known to run, else once, of two
 * branches each half. By step, in the program's arena. */
double *cost_steps(const Core *core, const Program *program);

/* Their sum. */
double cost_program(const Core *core, const Program *program);

#endif
