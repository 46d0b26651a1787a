/* product.h - products of two tensors that are both computed while running. */
#ifndef OCC_OPS_PRODUCT_H
#define OCC_OPS_PRODUCT_H

#include "program/lower.h"

/* MatMul and Gemm in general: stacks of matrices with broadcasting, any strides, any addend. */
int product_matmul(Lower *lower, Node *node);
int product_gemm(Lower *lower, Node *node);

/* Append y = a * b + addend for matrices of floats; the addend has the columns of y, or is absent. */
int product_append(Lower *lower, Node *node, Operand a, Operand b, Operand addend, Operand y);

#endif
