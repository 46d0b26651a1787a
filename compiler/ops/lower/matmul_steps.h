/* matmul_steps.h - products of two tensors that are both computed while running. */
#ifndef OCC_OPS_LOWER_MATMUL_STEPS_H
#define OCC_OPS_LOWER_MATMUL_STEPS_H

#include "ops/lower/matrix.h"

/* MatMul and Gemm in general: stacks of matrices with broadcasting, any strides, any addend. */
int matmul_lower_general(Lower *lower, Node *node);
int gemm_lower_general(Lower *lower, Node *node);

/* The waiting step that makes a value, if that is a product; its detail are the Matrices. */
Deferred *matmul_deferred(const Lower *lower, const Value *value);
int       matmul_finish(Lower *lower, Deferred *matmul, Operand y);

/* Give the loads of a product's expression the strides of their columns, and list those between the places of the stack
 * and between rows: pitch [operands][stack + 1]. */
enum { MATMUL_PITCHES = SCALAR_MAX_OPERANDS * (MAX_RANK + 1) };
void matmul_epilogue(Deferred *matmul, const Matrices *matrices, Extent *pitch);

/* Append y = a * b + addend for matrices of floats; the addend has the columns of y, or is absent. */
int matmul_append(Lower *lower, Node *node, Operand a, Operand b, Operand addend, Operand y);

#endif
