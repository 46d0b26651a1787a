/* wide.h - products, convolutions and pools of elements that the float kernels do not take: doubles, and products of
 * whole numbers. What it lowers it has the results of dense, without waiting for consumers. */
#ifndef OCC_OPS_LOWER_WIDE_H
#define OCC_OPS_LOWER_WIDE_H

#include "infer/window.h"
#include "lower/lower.h"

int wide_matmul(Lower *lower, Node *node);
int wide_conv(Lower *lower, Node *node, const Window *window); /* the window's extents are known */
int wide_conv_transpose(Lower *lower, Node *node, const Window *window);
int wide_pool(Lower *lower, Node *node, const Window *window, int kind,
              double p); /* kind: OCC_POOL_*, not the largest */

#endif
