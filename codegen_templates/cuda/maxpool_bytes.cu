/* maxpool_bytes.cu - maxima of bytes over sliding windows: each thread makes every so many of the results. */
#include "occ_result.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_N u8
#endif

/* maxpool_bytes - y = the largest element of each window; arguments as in C. */
OCC_INLINE void occ_maxpool_bytes_TPL_N(const TPL_T *x, const occ_image *x_at, TPL_T *y, const occ_image *y_at,
                                        const occ_window *window)
{
    const int64_t total = occ_result_count(y_at);

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const occ_result r = occ_result_of(n, y_at);
        const TPL_T     *from = x + occ_result_plane(&r, x_at);
        TPL_T            best = (TPL_T)((TPL_T)-1 < (TPL_T)1 ? 128 : 0); /* the least value of the type */
        occ_taps         w[3];
        int64_t          begin[3];

        occ_result_begin(&r, window, begin);
        for (int k = 0; k < 3; k++)
            w[k] = occ_window_taps(begin[k], x_at->dim[2 + k], window->kernel[k], window->dilation[k]);
        for (int64_t d = w[0].first; d < w[0].last; d++)
            for (int64_t h = w[1].first; h < w[1].last; h++)
                for (int64_t t = w[2].first; t < w[2].last; t++) {
                    const TPL_T item =
                        from[occ_image_place(x_at, 0, 0, begin[0] + d * window->dilation[0],
                                             begin[1] + h * window->dilation[1], begin[2] + t * window->dilation[2])];

                    best = item > best ? item : best;
                }
        y[occ_result_place(&r, y_at)] = best;
    }
}
