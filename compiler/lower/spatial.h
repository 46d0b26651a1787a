/* spatial.h - tensors with up to three spatial axes as the five axes that window kernels take. */
#ifndef OCC_LOWER_SPATIAL_H
#define OCC_LOWER_SPATIAL_H

#include "infer/window.h"
#include "kernels/conv_cost.h"
#include "lower/call.h"

enum { CHANNEL = 1 }; /* the axis of an image's channels, in ONNX's order */

/* x as {batch, channels, depth, height, width}; missing leading spatial axes are 1 wide. */
Operand spatial_image(Operand x);

/* Rows of `channels` elements, which lie `row` and `column` apart, as an image of one row of pixels. */
Operand spatial_rows(Operand x, Extent rows, Extent row, int64_t channels, Extent column);

/* The channels of one of the node's groups, of so many in all. */
Extent spatial_share(Lower *lower, const Node *node, Extent channels);

/* Are the channels of the weights, input 1, known only at run time? Panels need constant channels. */
bool spatial_is_open(const Node *node);

/* Gives a step three elements, for depth, height and width, of `naxes` values; absent leading axes are 0, of integers
 * 1. */
void give_extents(Lower *lower, const char *name, const Extent *values, int naxes);
void give_ints(Lower *lower, const char *name, const int64_t *values, int naxes);

/* The fields of an occ_window as arguments: WINDOW has the fields of window w, PIXEL those of a window of one pixel. */
#define WINDOW(lower, w) \
    give_ints(lower, "window.kernel", (w)->kernel, (w)->naxes), \
        give_ints(lower, "window.stride", (w)->stride, (w)->naxes), \
        give_ints(lower, "window.dilation", (w)->dilation, (w)->naxes), \
        give_extents(lower, "window.pad", (w)->begin, (w)->naxes)
#define PIXEL(lower) WINDOW(lower, &(const Window){.naxes = 0})

/* The convolution of `x` with windows w, at its largest extents. inputs, outputs: channels of one group. */
ConvShape spatial_shape(const Window *w, const Type *x, int64_t groups, int64_t inputs, int64_t outputs);

/* Input 0 with its channels side by side: where they lie apart, a copy. */
int spatial_channels(Lower *lower, const Node *node, Operand *x);

/* Refuses more than three spatial axes. */
int spatial_need(Lower *lower, const Node *node);

/* The windows of a convolution or pool on input 0, of up to three spatial axes; `kernel`: their extents, NULL: the
 * attribute's. */
int spatial_window(Lower *lower, const Node *node, const Extent *kernel, Window *window);

#endif
