/* image.h - images and windows of the kernels, from lists of extents that tests draw. */
#ifndef TEST_IMAGE_H
#define TEST_IMAGE_H

#include "kernel_test.h"
#include "occ_image.h"

/* dim: {batch, channels of a group, depth, height, width} */
static UNUSED occ_image image_of(const occ_extent *dim, const occ_extent *stride, int64_t groups)
{
    occ_image image;

    for (int i = 0; i < 5; i++) {
        image.dim[i] = dim[i] * (i == 1 ? groups : 1);
        image.stride[i] = stride[i];
    }
    return image;
}

/* The offset of an index of five axes. */
static UNUSED int64_t place_of(const occ_extent *stride, const int64_t *at)
{
    return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2] + at[3] * stride[3] + at[4] * stride[4];
}

/* {depth, height, width} each */
static UNUSED occ_window window_of(const occ_extent *kernel, const occ_extent *stride, const occ_extent *dilation,
                                   const occ_extent *pad)
{
    occ_window window;

    for (int i = 0; i < 3; i++) {
        window.kernel[i] = kernel[i];
        window.stride[i] = stride[i];
        window.dilation[i] = dilation[i];
        window.pad[i] = pad[i];
    }
    return window;
}

#endif
