/* maxpool.c - maxima over sliding windows and the places where they lie, for any element type. */
#include "pool_f32.c"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* maxpool - y = the largest element of each window, place = its index in x as if x lay in row-major order.
 *   geometry as occ_pool_f32; place NULL: not wanted; columns: places count the last two spatial axes column by column */
OCC_INLINE void occ_maxpool_TPL_N(const TPL_T *x, TPL_T *y, int64_t *place, const occ_extent *xdim, const occ_extent *xstride,
                                  const occ_extent *ydim, const occ_extent *ystride, const occ_extent *kernel,
                                  const occ_extent *stride, const occ_extent *dilation, const occ_extent *pad, int64_t columns)
{
    int64_t next = 0;

    for (int64_t b = 0; b < ydim[0]; b++)
        for (int64_t c = 0; c < ydim[1]; c++)
            for (int64_t n = 0; n < ydim[2] * ydim[3] * ydim[4]; n++, next++) {
                const int64_t at[3] = {n / (ydim[3] * ydim[4]), n / ydim[4] % ydim[3], n % ydim[4]};
                const TPL_T  *from = x + b * xstride[0] + c * xstride[1];
                occ_window    w[3];
                int64_t       begin[3], best = 0, some = 0;
                TPL_T         top = 0;

                OCC_UNROLL(3)
                for (int k = 0; k < 3; k++) {
                    begin[k] = at[k] * stride[k] - pad[k];
                    w[k] = occ_window_taps(begin[k], xdim[2 + k], kernel[k], dilation[k]);
                }
                for (int64_t d = w[0].first; d < w[0].last; d++)
                    for (int64_t h = w[1].first; h < w[1].last; h++)
                        for (int64_t t = w[2].first; t < w[2].last; t++) {
                            const int64_t i = begin[0] + d * dilation[0], j = begin[1] + h * dilation[1], k = begin[2] + t * dilation[2];
                            const TPL_T   item = from[i * xstride[2] + j * xstride[3] + k * xstride[4]];

                            if (some && item <= top)
                                continue;
                            some = 1;
                            top = item;
                            best = i * xdim[3] * xdim[4] + (columns ? k * xdim[3] + j : j * xdim[4] + k);
                        }
                y[b * ystride[0] + c * ystride[1] + at[0] * ystride[2] + at[1] * ystride[3] + at[2] * ystride[4]] = top;
                if (place)
                    place[next] = (b * xdim[1] + c) * xdim[2] * xdim[3] * xdim[4] + best;
            }
}
