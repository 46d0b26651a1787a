/* window.h - windows that slide over spatial axes: what convolutions and pools share. Knows graphs only. */
#ifndef OCC_INFER_WINDOW_H
#define OCC_INFER_WINDOW_H

#include "infer/infer.h"

/* Attributes kernel_shape, strides, dilations, pads and auto_pad, one entry for each spatial axis. Padding that depends
 * on the input's extent (auto_pad) is worked out from it. */
typedef struct Window {
    int     naxes;            /* spatial axes: rank - 2 */
    int64_t kernel[MAX_RANK]; /* elements */
    int64_t stride[MAX_RANK];
    int64_t dilation[MAX_RANK];
    Extent  begin[MAX_RANK]; /* padding before and after, elements */
    Extent  end[MAX_RANK];
    Extent  out[MAX_RANK]; /* extents of the result */
    bool    same;          /* auto_pad SAME_*: the result has ceil(extent / stride) elements */
} Window;

/* Read the attributes of `node` for the tensor `x`, kernel extents from `kernel` (of a weight) or, when NULL, from
 * kernel_shape. Returns 0 or -1 with a message. */
int window_read(Infer *infer, const Node *node, const Type *x, const Extent *kernel, Window *out);

/* Extents of the result of a convolution or pool, and the padding that auto_pad asks for. */
int window_extents(Infer *infer, const Node *node, const Type *x, bool ceil_mode, Window *window);

/* Extents and padding of a transposed convolution (attributes output_padding, output_shape). */
int window_transposed(Infer *infer, const Node *node, const Type *x, Window *window);

#endif
