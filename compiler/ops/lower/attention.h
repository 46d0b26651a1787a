/* attention.h - softmax(expression(q * k)) * v as one step: a product waits for its softmax, and that for the second
 * product. Knows nothing of ONNX's Attention, which is expanded into these. */
#ifndef OCC_OPS_LOWER_ATTENTION_H
#define OCC_OPS_LOWER_ATTENTION_H

#include "lower/lower.h"

/* Let the result of this Softmax wait for the product that alone reads it; false: it is to be made now. */
bool attention_softmax(Lower *lower, Node *node);

/* Whether the first factor of this MatMul waits so, and the MatMul itself as one step. */
bool attention_is_deferred(const Lower *lower, const Node *node);
int  attention_matmul(Lower *lower, Node *node);

/* norm_lower.c: append y = softmax (kind 0), its logarithm (1) or hardmax (2) of x along an axis. */
int softmax_append(Lower *lower, Node *node, Operand x, Operand y, int axis, int kind);

#endif
