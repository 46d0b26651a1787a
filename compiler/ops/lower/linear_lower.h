/* linear_lower.h - matmuls by constant weights, shared by Gemm, MatMul, recurrent cells and attention. */
#ifndef OCC_OPS_LOWER_LINEAR_LOWER_H
#define OCC_OPS_LOWER_LINEAR_LOWER_H

#include "lower/lower.h"

/* Weights of a product: element (k, n) is data[k * stride_k + n * stride_n]. */
typedef struct LinearWeights {
    const void  *data;                     /* floats, perhaps unaligned */
    int64_t      k, n, stride_k, stride_n; /* elements */
    const float *bias;                     /* [n], or NULL */
    const char  *name;
} LinearWeights;

/* Append y = x * weights + bias for a float matrix x [rows][k] of any row stride (columns are neighbours) into y
 * [rows][n], likewise. */
int linear_append(Lower *lower, Operand x, Operand y, const LinearWeights *weights);

/* Output 0 of the node is x [..., k] times weights + bias, deferred until its elementwise consumers. */
int linear_deferred(Lower *lower, const Node *node, Operand x, const LinearWeights *weights);

/* x [..., k] as [rows][k]: a view where rows lie at equal distances, else a copy. */
int linear_rows(Lower *lower, Operand x, int64_t k, Extent *rows, Operand *out);

#endif
