/* occ_epilogue.h - one matrix of a stack, and the expression that is applied to each of its elements before it is
 * stored. Knows nothing of how the elements are computed. */
#ifndef OCC_EPILOGUE_H
#define OCC_EPILOGUE_H

#include "occ_expr.h"
#include "occ_stack.h"

/* One matrix of a stack: its first element, and the elements from row to row and from column to column. */
typedef struct occ_matrix {
    const float *data;
    int64_t      row, column;
} occ_matrix;

/* The expression of a stack of products; fn NULL: there is none. pitch [nx][rank - 1]: for each operand, the elements
 * from one place of the stack to the next along each axis, and from row to row. */
typedef struct occ_stack_fused {
    int64_t           nx;
    const occ_extent *pitch;
    occ_fn_vf         fn;
} occ_stack_fused;

/* The epilogue of one matrix: the expression at its first row, and the offsets of row i: i * row[k * step] for operand
 * k. The first column of y counts as column `first` of the expression. */
typedef struct occ_epilogue {
    occ_expr          e;
    occ_fn_vf         fn;
    int64_t           nx, step;
    const occ_extent *row;
    int64_t           first;
} occ_epilogue;

/* The expression at the first row of the matrix at a place of a stack of `rank` axes. */
OCC_HOT occ_epilogue occ_matmul_epilogue(const occ_expr *e, const occ_stack_fused *fused, int64_t rank,
                                         const int64_t *place)
{
    const int64_t nx = fused->nx;
    occ_epilogue  p = {{{0}, {0}}, fused->fn, nx, rank - 1, nx ? fused->pitch + rank - 2 : fused->pitch, 0};

    if (e)
        p.e = *e;
    for (int64_t k = 0; k < nx; k++)
        for (int64_t r = 0; r < rank - 2; r++)
            p.e.at[k] += place[r] * fused->pitch[k * (rank - 1) + r];
    return p;
}

#endif
