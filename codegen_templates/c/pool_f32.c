/* pool_f32.c - maxima, means and p-norms over windows that slide over one, two or three axes. Vectors run along the
 * channels where these are neighbours, else one result is computed at a time. */
#include "occ_image.h"
#include "occ_vrows.h"
#include "occ_vapart.h"

#define OCC_POOL_MAX 0
#define OCC_POOL_MEAN 1      /* of the elements inside the input */
#define OCC_POOL_MEAN_PADS 2 /* of the elements inside the padded input */
#define OCC_POOL_LP 3

OCC_HOT occ_vf occ_pool_join(occ_vf sum, occ_vf term, int64_t kind, float p)
{
    if (kind == OCC_POOL_MAX)
        return occ_vmax(sum, term);
    if (kind != OCC_POOL_LP)
        return occ_vadd(sum, term);
    term = occ_vabs(term);
    if (p == 1.0f)
        return occ_vadd(sum, term);
    if (p == 2.0f)
        return sum + term * term;
    return occ_vadd(sum, occ_vpow_apart(term, occ_vset(p)));
}

OCC_HOT occ_vf occ_pool_end(occ_vf sum, occ_vf count, int64_t kind, float p)
{
    if (kind == OCC_POOL_MAX || (kind == OCC_POOL_LP && p == 1.0f))
        return sum;
    if (kind != OCC_POOL_LP)
        return occ_vdiv(sum, count);
    if (p == 2.0f)
        return occ_vsqrt(sum);
    return occ_vpow_apart(sum, occ_vset(1.0f / p));
}

/* The elements along one axis that a mean counts, for a window that begins at `begin`. pad_end: elements of padding
 * behind the input. */
OCC_HOT int64_t occ_pool_count(int64_t begin, int64_t extent, int64_t kernel, int64_t dilation, int64_t pad_end,
                               int64_t kind)
{
    const occ_taps w = occ_window_taps(begin, extent, kernel, dilation);

    return kind == OCC_POOL_MEAN_PADS ? occ_max(0, occ_min(kernel, occ_ceil_div(extent + pad_end - begin, dilation)))
                                      : w.last - w.first;
}

/* The taps of one result that are inside the input, and how many elements a mean counts. */
typedef struct occ_pool_taps {
    occ_taps axis[3];
    int64_t  begin[3], count;
} occ_pool_taps;

/* begin: the first tap of the window along each axis, perhaps outside. */
OCC_HOT occ_pool_taps occ_pool_taps_at(const int64_t *begin, const occ_image *x_at, const occ_extent *kernel,
                                       const occ_window *window, const occ_extent *pad_end, int64_t kind)
{
    occ_pool_taps t = {{{0, 0}, {0, 0}, {0, 0}}, {begin[0], begin[1], begin[2]}, 1};

    OCC_UNROLL(3) /* unrolled, so that literal dilations need no division */
    for (int k = 0; k < 3; k++) {
        t.axis[k] = occ_window_taps(begin[k], x_at->dim[2 + k], kernel[k], window->dilation[k]);
        t.count *= occ_pool_count(begin[k], x_at->dim[2 + k], kernel[k], window->dilation[k], pad_end[k], kind);
    }
    return t;
}

/* One result in `vectors` (literal) vectors of n channels each. */
OCC_HOT void occ_pool_channels(float *y, int64_t ychannel, const float *x, const occ_image *x_at,
                               const occ_window *window, const occ_pool_taps *t, int vectors, int n, int64_t kind,
                               float p)
{
    const union {
        uint32_t bits;
        float    value;
    } lowest = {0xff800000u};
    occ_vf sum[4];

    OCC_UNROLL(4)
    for (int j = 0; j < vectors; j++)
        sum[j] = occ_vset(kind == OCC_POOL_MAX ? lowest.value : 0.0f);
    for (int64_t d = t->axis[0].first; d < t->axis[0].last; d++)
        for (int64_t h = t->axis[1].first; h < t->axis[1].last; h++) {
            const float *row = x + occ_image_place(x_at, 0, 0, t->begin[0] + d * window->dilation[0],
                                                   t->begin[1] + h * window->dilation[1], 0);

            for (int64_t k = t->axis[2].first; k < t->axis[2].last; k++) {
                const float *tap = row + (t->begin[2] + k * window->dilation[2]) * x_at->stride[4];

                OCC_UNROLL(4)
                for (int j = 0; j < vectors; j++)
                    sum[j] = occ_pool_join(sum[j], occ_vload(tap + j * OCC_W, n), kind, p);
            }
        }
    OCC_UNROLL(4)
    for (int j = 0; j < vectors; j++)
        occ_vstore(y + j * OCC_W * ychannel, occ_pool_end(sum[j], occ_vset((float)t->count), kind, p), n);
}

/* pool - y = reduction `kind` of x over windows.
 *   pad_end  {depth, height, width}: elements of padding behind the input
 *   p        of the norm, for LP */
OCC_INLINE void occ_pool_f32(const float *x, const occ_image *x_at, float *y, const occ_image *y_at,
                             const occ_window *window, const occ_extent *pad_end, int64_t kind, float p)
{
    const int64_t step = x_at->stride[1] == 1 && y_at->stride[1] == 1 ? OCC_W : 1;

    for (int64_t b = 0; b < y_at->dim[0]; b++)
        for (int64_t d = 0; d < y_at->dim[2]; d++)
            for (int64_t h = 0; h < y_at->dim[3]; h++)
                for (int64_t w = 0; w < y_at->dim[4]; w++) {
                    const int64_t       begin[3] = {d * window->stride[0] - window->pad[0],
                                                    h * window->stride[1] - window->pad[1],
                                                    w * window->stride[2] - window->pad[2]};
                    float              *to = y + occ_image_place(y_at, b, 0, d, h, w);
                    const float        *from = x + b * x_at->stride[0];
                    const occ_pool_taps taps = occ_pool_taps_at(begin, x_at, window->kernel, window, pad_end, kind);
                    int64_t             c = 0;

                    for (; step > 1 && c + 4 * OCC_W <= y_at->dim[1]; c += 4 * OCC_W)
                        occ_pool_channels(to + c, 1, from + c, x_at, window, &taps, 4, OCC_W, kind, p);
                    for (; c < y_at->dim[1]; c += step)
                        occ_pool_channels(to + c * y_at->stride[1], y_at->stride[1], from + c * x_at->stride[1], x_at,
                                          window, &taps, 1, (int)occ_min(step, y_at->dim[1] - c), kind, p);
                }
}
