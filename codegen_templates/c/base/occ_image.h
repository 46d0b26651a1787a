/* occ_image.h - images in memory, and the windows that slide over them. Knows nothing of what is computed. */
#ifndef OCC_IMAGE_H
#define OCC_IMAGE_H

#include "occ_base.h"

/* An image: {batch, channels, depth, height, width}, strides in elements. Fewer axes mean a depth, or a height, of
 * 1. */
typedef struct occ_image {
    occ_extent dim[5], stride[5];
} occ_image;

/* A window: {depth, height, width}. pad: elements of padding before the first element. */
typedef struct occ_window {
    occ_extent kernel[3], stride[3], dilation[3], pad[3];
} occ_window;

/* The offset of an element from the image's first element. */
OCC_HOT int64_t occ_image_place(const occ_image *at, int64_t batch, int64_t channel, int64_t depth, int64_t row,
                                int64_t column)
{
    return batch * at->stride[0] + channel * at->stride[1] + depth * at->stride[2] + row * at->stride[3] +
           column * at->stride[4];
}

OCC_HOT int64_t occ_window_size(const occ_window *window)
{
    return window->kernel[0] * window->kernel[1] * window->kernel[2];
}

/* A range of taps of a window: first <= t < last. */
typedef struct occ_taps {
    int64_t first, last;
} occ_taps;

/* The taps of a window that begins at `begin` that are in 0 .. extent - 1. */
OCC_HOT occ_taps occ_window_taps(int64_t begin, int64_t extent, int64_t kernel, int64_t dilation)
{
    occ_taps t;

    t.first = begin < 0 ? occ_min(occ_ceil_div(-begin, dilation), kernel) : 0;
    t.last = occ_max(t.first, occ_min(kernel, occ_ceil_div(extent - begin, dilation)));
    return t;
}

#endif
