/* matrix.h - two operands as stacks of matrices, the form of the matmul kernels. */
#ifndef OCC_OPS_LOWER_MATRIX_H
#define OCC_OPS_LOWER_MATRIX_H

#include "lower/lower.h"

/* a [stack][rows][depth], b [stack][depth][columns], broadcast to the stack of the result. */
typedef struct Matrices {
    Operand a, b;
    int     stack;         /* axes of it */
    Extent  dim[MAX_RANK]; /* extents of them */
    Extent  rows, columns, depth;
} Matrices;

/* Inputs 0 and 1 of a node by numpy's rules: a vector gains an axis. */
int matrices_of(Lower *lower, const Node *node, Matrices *out);

/* The result as [stack][rows][columns], which a vector must be extended to; false: it needs a copy. */
bool matrices_result(Lower *lower, const Matrices *m, Operand y, Operand *out);

#endif
