/* join.h - the programs of several sizes as one: a run takes the branch of the sizes that it is given. */
#ifndef OCC_ALTERNATIVES_JOIN_H
#define OCC_ALTERNATIVES_JOIN_H

#include "alternatives/alternatives.h"

/* The program and plan of one combination of listed sizes. */
typedef struct Variant {
    const Program *program;
    const Plan    *plan;
    double         time;        /* predicted nanoseconds of a run */
    int            first_value; /* the least Value.id of its model */
} Variant;

/* Joins the variants, one for each combination in order, into a program of lowering->model: its inputs have the listed
 * extents, and its lists of values and expressions are those of the model that was read last. Branches share the arena,
 * each with the offsets of its own plan; equal constants exist once. Returns 0, or -1 with a message. */
int variants_join(const Variant *variant, int count, const Lowering *lowering, Alternative *joined);

#endif
