/* occ_walk.h - a walk over the places of a nest of loops, with one offset. Knows nothing of what is at a place. */
#ifndef OCC_WALK_H
#define OCC_WALK_H

#include "occ_base.h"

/* A place in a nest of `rank` loops: the counters, and the offset that they give with some strides. */
typedef struct occ_walk {
    int64_t rank, at[8], offset;
} occ_walk;

/* Moves to the next place, in row-major order. Returns 0 after the last one. */
OCC_HOT int occ_walk_next(occ_walk *walk, const occ_extent *dim, const occ_extent *stride)
{
    for (int64_t r = walk->rank; r-- > 0;) {
        walk->offset += stride[r];
        if (++walk->at[r] < dim[r])
            return 1;
        walk->offset -= walk->at[r] * stride[r];
        walk->at[r] = 0;
    }
    return 0;
}

/* Moves two walks over the same places, which have strides of their own. Returns 0 after the last one. */
OCC_HOT int occ_walk_both(occ_walk *a, const occ_extent *astride, occ_walk *b, const occ_extent *bstride,
                          const occ_extent *dim)
{
    occ_walk_next(b, dim, bstride);
    return occ_walk_next(a, dim, astride);
}

#endif
