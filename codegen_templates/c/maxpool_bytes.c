/* maxpool_bytes.c - maxima of bytes over sliding windows, many channels at a time. */
#include "occ_image.h"
#include "occ_vec.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_N u8
#endif

/* Channels that are compared together: as many as stay in registers. */
#define OCC_MAX_CHANNELS (OCC_W == 1 ? 4 : 32)

/* best[i] = the larger of best[i] and x[i]. A literal count is vectorised by compilers. */
OCC_HOT void occ_max_bytes_TPL_N(TPL_T *best, const TPL_T *x, int count)
{
    for (int i = 0; i < count; i++)
        best[i] = x[i] > best[i] ? x[i] : best[i];
}

/* The window of one pixel for `count` (literal) channels, which are neighbours in x and y. */
OCC_HOT void occ_max_window_TPL_N(const TPL_T *x, TPL_T *y, const occ_taps *w, const int64_t *begin,
                                  const occ_image *x_at, const occ_window *window, int count)
{
    TPL_T best[OCC_MAX_CHANNELS];

    memset(best, (TPL_T)-1 < (TPL_T)1 ? 128 : 0, (size_t)count); /* the least value of the type */
    for (int64_t d = w[0].first; d < w[0].last; d++)
        for (int64_t h = w[1].first; h < w[1].last; h++)
            for (int64_t t = w[2].first; t < w[2].last; t++)
                occ_max_bytes_TPL_N(best,
                                    x + occ_image_place(x_at, 0, 0, begin[0] + d * window->dilation[0],
                                                        begin[1] + h * window->dilation[1],
                                                        begin[2] + t * window->dilation[2]),
                                    count);
    memcpy(y, best, (size_t)count);
}

/* The window of one pixel for all channels: OCC_MAX_CHANNELS at a time, then what is left by powers of 2. */
OCC_HOT void occ_max_pixel_TPL_N(const TPL_T *x, TPL_T *y, const occ_taps *w, const int64_t *begin,
                                 const occ_image *x_at, const occ_window *window)
{
    const int64_t channels = x_at->dim[1], rest = channels % OCC_MAX_CHANNELS;

    for (int64_t c = 0; c + OCC_MAX_CHANNELS <= channels; c += OCC_MAX_CHANNELS)
        occ_max_window_TPL_N(x + c, y + c, w, begin, x_at, window, OCC_MAX_CHANNELS);
    x += channels - rest;
    y += channels - rest;
    OCC_UNROLL(5)
    for (int k = 4; k >= 0; k--)
        if (1 << k < OCC_MAX_CHANNELS && rest >> k & 1)
            occ_max_window_TPL_N(x + (rest >> (k + 1) << (k + 1)), y + (rest >> (k + 1) << (k + 1)), w, begin, x_at,
                                 window, 1 << k);
}

/* maxpool_bytes - y = the largest element of each window; geometry as in occ_pool_f32. Channels are neighbours in x and
 * y. */
OCC_INLINE void occ_maxpool_bytes_TPL_N(const TPL_T *x, const occ_image *x_at, TPL_T *y, const occ_image *y_at,
                                        const occ_window *window)
{
    const int64_t plane = y_at->dim[3] * y_at->dim[4], all = y_at->dim[2] * plane;

    for (int64_t n = 0; n < y_at->dim[0] * all; n++) {
        const int64_t at[3] = {n / plane % y_at->dim[2], n / y_at->dim[4] % y_at->dim[3], n % y_at->dim[4]};
        const int64_t image = n / all;
        TPL_T        *to = y + occ_image_place(y_at, image, 0, at[0], at[1], at[2]);
        occ_taps      w[3];
        int64_t       begin[3];

        OCC_UNROLL(3)
        for (int k = 0; k < 3; k++) {
            begin[k] = at[k] * window->stride[k] - window->pad[k];
            w[k] = occ_window_taps(begin[k], x_at->dim[2 + k], window->kernel[k], window->dilation[k]);
        }
        occ_max_pixel_TPL_N(x + image * x_at->stride[0], to, w, begin, x_at, window);
    }
}
