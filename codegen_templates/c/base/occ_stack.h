/* occ_stack.h - stacks of matrices. Knows nothing of what is computed. */
#ifndef OCC_STACK_H
#define OCC_STACK_H

#include "occ_base.h"

/* A stack of matrices: `rank` axes, the last two of which are rows and columns; strides in elements. A stride of 0
 * along an axis of the stack repeats one matrix. */
typedef struct occ_stack {
    int64_t    rank;
    occ_extent dim[8], stride[8];
} occ_stack;

/* The number of matrices of a stack. */
OCC_HOT int64_t occ_stack_count(const occ_stack *at)
{
    return occ_count(at->rank - 2, at->dim);
}

/* Elements from the first matrix to the one at `place`. */
OCC_HOT int64_t occ_stack_offset(const occ_stack *at, const int64_t *place)
{
    int64_t offset = 0;

    for (int64_t r = 0; r < at->rank - 2; r++)
        offset += place[r] * at->stride[r];
    return offset;
}

/* The place of the next matrix, in row-major order. */
OCC_HOT void occ_stack_next(const occ_stack *at, int64_t *place)
{
    for (int64_t r = at->rank - 2; r-- > 0 && ++place[r] == at->dim[r];)
        place[r] = 0;
}

/* Elements between rows of one matrix, and between its columns. */
OCC_HOT int64_t occ_stack_row(const occ_stack *at)
{
    return at->stride[at->rank - 2];
}

OCC_HOT int64_t occ_stack_column(const occ_stack *at)
{
    return at->stride[at->rank - 1];
}

#endif
