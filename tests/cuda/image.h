/* image.h - random images and windows for the tests of device kernels. */
#ifndef OCC_TEST_IMAGE_H
#define OCC_TEST_IMAGE_H

#include "twin.h"

#include "occ_expr.h"
#include "occ_image.h"

/* Images in one of two orders of axes, with gaps between rows or without. */
static inline occ_image image_of(int64_t batch, int64_t channels, const int64_t *dim, bool planar, int64_t gap)
{
    occ_image at = {{batch, channels, dim[0], dim[1], dim[2]}, {0, 0, 0, 0, 0}};
    at.stride[4] = planar ? 1 : channels + gap;
    at.stride[3] = dim[2] * at.stride[4] + gap;
    at.stride[2] = dim[1] * at.stride[3];
    at.stride[1] = planar ? dim[0] * at.stride[2] : 1;
    at.stride[0] = planar ? channels * at.stride[1] : dim[0] * at.stride[2];
    return at;
}

static inline int64_t size_of(const occ_image &at)
{
    int64_t n = 1;
    for (int i = 0; i < 5; i++)
        n += (at.dim[i] - 1) * at.stride[i];
    return n;
}

/* A window over `in`, and the extents that come out. */
static inline occ_window window_of(Random *random, const int64_t *in, int64_t *out)
{
    occ_window w;
    for (int i = 0; i < 3; i++) {
        const bool deep = i > 0 || in[0] > 1;
        w.kernel[i] = deep ? random->pick(1, 4) : 1;
        w.stride[i] = deep ? random->pick(1, 3) : 1;
        w.dilation[i] = deep ? random->pick(1, 2) : 1;
        w.pad[i] = deep ? random->pick(0, 2) : 0;
        const int64_t reach = in[i] + w.pad[i] + (deep ? random->pick(0, 2) : 0) - (w.kernel[i] - 1) * w.dilation[i];
        out[i] = reach > 0 ? (reach + w.stride[i] - 1) / w.stride[i] : 1;
    }
    return w;
}

/* max(acc + x[0], 0) * x[1]: the first moves with pixels, too. */
static inline float add_and_scale(const occ_expr *e, float acc, int64_t c, int n)
{
    const float *x0 = static_cast<const float *>(e->x[0]), *x1 = static_cast<const float *>(e->x[1]);
    const float  sum = acc + x0[e->at[0] + c];
    (void)n;
    return (sum > 0.0f ? sum : 0.0f) * x1[e->at[1] + c];
}

#endif
