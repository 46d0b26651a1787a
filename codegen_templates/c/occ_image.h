/* occ_image.h - where the elements of an image lie, and the windows that slide over it. Knows nothing of what is
 * computed. */
#ifndef OCC_IMAGE_H
#define OCC_IMAGE_H

#include "occ_base.h"

/* {batch, channels, depth, height, width}; strides in elements. An image of fewer axes has a depth, or a height, of
 * 1. */
typedef struct occ_image {
    occ_extent dim[5], stride[5];
} occ_image;

/* {depth, height, width}; pad: before the first element. */
typedef struct occ_window {
    occ_extent kernel[3], stride[3], dilation[3], pad[3];
} occ_window;

/* Elements from an image's first one to another. */
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

/* Taps first <= t < last of a window. */
typedef struct occ_taps {
    int64_t first, last;
} occ_taps;

/* Those of a window that begins at `begin` which lie in 0 .. extent - 1. */
OCC_HOT occ_taps occ_window_taps(int64_t begin, int64_t extent, int64_t kernel, int64_t dilation)
{
    occ_taps t;

    t.first = begin < 0 ? occ_min(occ_ceil_div(-begin, dilation), kernel) : 0;
    t.last = occ_max(t.first, occ_min(kernel, occ_ceil_div(extent - begin, dilation)));
    return t;
}

#endif
