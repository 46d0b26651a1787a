/* double_lower.h - matmuls, convolutions and pools of doubles, and matmuls of integers, which the float kernels do not
 * take. Results are dense and never deferred. */
#ifndef OCC_OPS_LOWER_DOUBLE_LOWER_H
#define OCC_OPS_LOWER_DOUBLE_LOWER_H

#include "infer/window.h"
#include "lower/lower.h"

int double_matmul(Lower *lower, const Node *node);
int double_conv(Lower *lower, const Node *node, const Window *window); /* the window's extents are known */
int double_conv_transpose(Lower *lower, const Node *node, const Window *window);
int double_pool(Lower *lower, const Node *node, const Window *window, int kind,
                double p); /* kind: OCC_POOL_*, not the largest */

#endif
