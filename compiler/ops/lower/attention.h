/* attention.h - softmax(expression(q * k)) * v as one step: the first matmul is deferred until its softmax, and both
 * until the second matmul. Knows nothing of ONNX's Attention, which is expanded into these. */
#ifndef OCC_OPS_LOWER_ATTENTION_H
#define OCC_OPS_LOWER_ATTENTION_H

#include "lower/lower.h"

/* Defers this Softmax until the matmul that alone reads it; false: it must be computed now. */
bool attention_softmax(Lower *lower, const Node *node);

/* Whether the first factor of this MatMul is such a deferred Softmax; and the MatMul lowered as one step with it. */
bool attention_is_deferred(const Lower *lower, const Node *node);
int  attention_matmul(Lower *lower, const Node *node);

/* norm_lower.c: append y = softmax (kind 0), its logarithm (1) or hardmax (2) of x along an axis. */
int softmax_append(Lower *lower, const Node *node, Operand x, Operand y, int axis, int kind);

#endif
