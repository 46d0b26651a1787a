/* occ_nest.h - walking the outer axes of strided operands, for kernels whose inner loop is one row.
 * Knows nothing of what a row does. */
#ifndef OCC_NEST_H
#define OCC_NEST_H

#include "occ_expr.h"

/* Moves an index of `rank` axes to the next place in row-major order. Returns the offset `at` of that place for the
 * given strides. */
OCC_HOT int64_t occ_nest_step(int64_t rank, const occ_extent *dim, int64_t *index, int64_t at, const occ_extent *stride)
{
    for (int64_t i = rank; i-- > 0;) {
        at += stride[i];
        if (++index[i] < dim[i])
            return at;
        at -= index[i] * stride[i];
        index[i] = 0;
    }
    return at;
}

/* Moves the offsets of an expression's nx operands to the next place. The strides are [nx][pitch]; index is still that
 * of the place before. */
OCC_HOT void occ_nest_step_expr(int64_t rank, const occ_extent *dim, const int64_t *index, occ_expr *e, int64_t nx,
                                const occ_extent *stride, int64_t pitch)
{
    for (int64_t k = 0; k < nx; k++)
        for (int64_t i = rank; i-- > 0;) {
            e->at[k] += stride[k * pitch + i];
            if (index[i] + 1 < dim[i])
                break;
            e->at[k] -= dim[i] * stride[k * pitch + i];
        }
}

/* A copy of the caller's expression, whose offsets the kernel moves along; an empty one for NULL. */
OCC_HOT occ_expr occ_expr_start(const occ_expr *e)
{
    occ_expr none = {{0}, {0}};
    return e ? *e : none;
}

#endif
