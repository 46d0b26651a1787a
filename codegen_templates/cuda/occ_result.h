/* occ_result.h - from the number of a result to its place in an image. Knows nothing of how it is computed. */
#ifndef OCC_RESULT_H
#define OCC_RESULT_H

#include "occ_image.h"

/* A result of an image: its batch, channel, and {depth, row, column}. */
typedef struct occ_result {
    int64_t batch, channel, at[3];
} occ_result;

/* The n-th result, neighbours in memory one after the other: channels come last where these are neighbours, else
 * columns do. */
OCC_HOT occ_result occ_result_of(int64_t n, const occ_image *y_at)
{
    const int64_t channels = y_at->dim[1], last = y_at->stride[1] == 1 ? channels : 1;
    occ_result    r;
    r.channel = n % last;
    n /= last;
    r.at[2] = n % y_at->dim[4];
    n /= y_at->dim[4];
    r.at[1] = n % y_at->dim[3];
    n /= y_at->dim[3];
    r.at[0] = n % y_at->dim[2];
    n /= y_at->dim[2];
    if (last == 1) {
        r.channel = n % channels;
        n /= channels;
    }
    r.batch = n;
    return r;
}

OCC_HOT int64_t occ_result_count(const occ_image *y_at)
{
    return y_at->dim[0] * y_at->dim[1] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
}

/* Elements from the image's first one to a result. */
OCC_HOT int64_t occ_result_place(const occ_result *r, const occ_image *y_at)
{
    return occ_image_place(y_at, r->batch, r->channel, r->at[0], r->at[1], r->at[2]);
}

/* Elements from the image's first one to the first one of the result's channel. */
OCC_HOT int64_t occ_result_plane(const occ_result *r, const occ_image *x_at)
{
    return r->batch * x_at->stride[0] + r->channel * x_at->stride[1];
}

/* The first tap of a result's window along each axis, perhaps outside. */
OCC_HOT void occ_result_begin(const occ_result *r, const occ_window *window, int64_t *begin)
{
    OCC_UNROLLED
    for (int k = 0; k < 3; k++)
        begin[k] = r->at[k] * window->stride[k] - window->pad[k];
}

#endif
