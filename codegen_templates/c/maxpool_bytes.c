/* maxpool_bytes.c - maxima of bytes over sliding windows, many channels at a time. */
#include "pool_f32.c"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_N u8
#endif

/* Channels that are compared together: their loop has a literal count, so that compilers make vectors of it. */
#define OCC_MAX_CHANNELS (OCC_W == 1 ? 4 : 32)

/* best[i] = the larger of it and x[i]. */
OCC_HOT void occ_max_bytes_TPL_N(TPL_T *best, const TPL_T *x)
{
    for (int i = 0; i < OCC_MAX_CHANNELS; i++)
        best[i] = x[i] > best[i] ? x[i] : best[i];
}

/* The window of one pixel for `count` channels, which follow each other in x and y. */
OCC_HOT void occ_max_window_TPL_N(const TPL_T *x, TPL_T *y, const occ_window *w, const int64_t *begin, const occ_extent *xstride,
                                  const occ_extent *dilation, int64_t count)
{
    TPL_T best[OCC_MAX_CHANNELS], part[OCC_MAX_CHANNELS];

    memset(best, (TPL_T)-1 < (TPL_T)1 ? 128 : 0, sizeof best); /* the least of the type */
    memset(part, 0, sizeof part);
    for (int64_t d = w[0].first; d < w[0].last; d++)
        for (int64_t h = w[1].first; h < w[1].last; h++)
            for (int64_t t = w[2].first; t < w[2].last; t++) {
                const TPL_T *from = x + (begin[0] + d * dilation[0]) * xstride[2] + (begin[1] + h * dilation[1]) * xstride[3] +
                                    (begin[2] + t * dilation[2]) * xstride[4];
                if (count < OCC_MAX_CHANNELS)
                    memcpy(part, from, (size_t)count);
                occ_max_bytes_TPL_N(best, count < OCC_MAX_CHANNELS ? part : from);
            }
    memcpy(y, best, (size_t)count);
}

/* maxpool_bytes - y = the largest element of each window; geometry as occ_pool_f32, channels follow each other in x and y. */
OCC_INLINE void occ_maxpool_bytes_TPL_N(const TPL_T *x, TPL_T *y, const occ_extent *xdim, const occ_extent *xstride,
                                        const occ_extent *ydim, const occ_extent *ystride, const occ_extent *kernel,
                                        const occ_extent *stride, const occ_extent *dilation, const occ_extent *pad)
{
    const int64_t plane = ydim[3] * ydim[4], all = ydim[2] * plane;

    for (int64_t n = 0; n < ydim[0] * all; n++) {
        const int64_t at[3] = {n / plane % ydim[2], n / ydim[4] % ydim[3], n % ydim[4]}, image = n / all;
        TPL_T *to = y + image * ystride[0] + at[0] * ystride[2] + at[1] * ystride[3] + at[2] * ystride[4];
        occ_window w[3];
        int64_t begin[3];

        OCC_UNROLL(3)
        for (int k = 0; k < 3; k++) {
            begin[k] = at[k] * stride[k] - pad[k];
            w[k] = occ_window_taps(begin[k], xdim[2 + k], kernel[k], dilation[k]);
        }
        for (int64_t c = 0; c < ydim[1]; c += OCC_MAX_CHANNELS)
            occ_max_window_TPL_N(x + image * xstride[0] + c, to + c, w, begin, xstride, dilation,
                                 occ_min(ydim[1] - c, OCC_MAX_CHANNELS));
    }
}
