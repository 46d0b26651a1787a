/* slice.h - steps cut along their output channels into slices, each of which reads a part of the weights: so that no
 * step needs more constants at a time than a block of them may hold. A slice is a step of its own with weights of its
 * own; no sum changes its order, so every bit is what the whole step would have made. Knows nothing of loads. */
#ifndef OCC_SWAP_SLICE_H
#define OCC_SWAP_SLICE_H

#include "program/program.h"

/* A limit for what one node becomes; INT64_MAX: it stays whole. */
typedef struct SliceLimit {
    const Node *node;
    int64_t     limit; /* bytes */
} SliceLimit;

typedef struct Slices {
    SliceLimit *own; /* of several for a node the last one counts */
    int         count;
} Slices;

/* Cuts every outermost kernel step that reads more than `limit` bytes of constants (that of its first node, where
 * `slices` has one) into as few equal slices as are within it, or as fine as its kernel's record offers. Only where
 * `slices` asks for it are panels of weights cut as well, since vectors are then used in part. Steps without such a
 * cut, those inside others and those whose places only the run knows stay whole. Before steps are cut into parts for
 * threads. */
void program_slice(Program *program, int64_t limit, const Slices *slices);

#endif
