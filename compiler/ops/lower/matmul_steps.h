/* matmul_steps.h - matmuls of two computed tensors. */
#ifndef OCC_OPS_LOWER_MATMUL_STEPS_H
#define OCC_OPS_LOWER_MATMUL_STEPS_H

#include "lower/call.h"
#include "ops/lower/matrix.h"

/* MatMul and Gemm in general: stacks of matrices with broadcasting, any strides, any addend. */
int matmul_lower_general(Lower *lower, const Node *node);
int gemm_lower_general(Lower *lower, const Node *node);

/* The deferred step of a value, if it is a matmul; its detail is a Matrices. */
Deferred *matmul_deferred(const Lower *lower, const Value *value);
int       matmul_finish(Lower *lower, Deferred *matmul, Operand y);

/* Gives the loads of a matmul's expression the strides of their columns, and lists the strides of the stack and of
 * rows: pitch [operands][stack + 1]. */
enum { MATMUL_PITCHES = SCALAR_MAX_OPERANDS * (MAX_RANK + 1) };
void matmul_epilogue(Deferred *matmul, const Matrices *matrices, Extent *pitch);

/* The pitches and the expression of a matmul as arguments. */
#define MATMUL_FUSED(p, matrices, pitch) \
    ARG(fused.nx, (p)->noperand), ARGS(fused.pitch, (p)->noperand *((matrices)->stack + 1), pitch), \
        EXPR((p)->expr->nnode > 1 ? (p)->expr : NULL, (p)->operand, (p)->noperand)

/* Append y = a * b + addend for matrices of floats; the addend has the columns of y, or is absent. */
int matmul_append(Lower *lower, const Node *node, Operand a, Operand b, Operand addend, Operand y);

#endif
