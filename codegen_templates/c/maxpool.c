/* maxpool.c - maxima over sliding windows and their places, for any element type. */
#include "pool_f32.c"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* The largest element of the window of one result, at {depth, row, column}, in *top; returns its index in its plane,
 * row-major or, with `columns`, column-major. */
OCC_HOT int64_t occ_maxpool_window_TPL_N(const TPL_T *x, const occ_image *x_at, const int64_t *at,
                                         const occ_window *window, int64_t columns, TPL_T *top)
{
    occ_taps w[3];
    int64_t  begin[3], best = 0, some = 0;

    OCC_UNROLL(3)
    for (int k = 0; k < 3; k++) {
        begin[k] = at[k] * window->stride[k] - window->pad[k];
        w[k] = occ_window_taps(begin[k], x_at->dim[2 + k], window->kernel[k], window->dilation[k]);
    }
    for (int64_t d = w[0].first; d < w[0].last; d++)
        for (int64_t h = w[1].first; h < w[1].last; h++)
            for (int64_t t = w[2].first; t < w[2].last; t++) {
                const int64_t i = begin[0] + d * window->dilation[0], j = begin[1] + h * window->dilation[1];
                const int64_t k = begin[2] + t * window->dilation[2];
                const TPL_T   item = x[i * x_at->stride[2] + j * x_at->stride[3] + k * x_at->stride[4]];

                if (some && item <= *top)
                    continue;
                some = 1;
                *top = item;
                best = columns ? (k * x_at->dim[3] + j) * x_at->dim[2] + i : (i * x_at->dim[3] + j) * x_at->dim[4] + k;
            }
    return best;
}

/* maxpool - y = the largest element of each window; place = its index in x as if x were dense and row-major.
 *   geometry as in occ_pool_f32; place NULL: not wanted
 *   columns: indices count the spatial axes in column-major order, the first axis fastest */
OCC_INLINE void occ_maxpool_TPL_N(const TPL_T *x, const occ_image *x_at, TPL_T *y, const occ_image *y_at,
                                  int64_t *place, const occ_window *window, int64_t columns)
{
    int64_t next = 0;

    for (int64_t b = 0; b < y_at->dim[0]; b++)
        for (int64_t c = 0; c < y_at->dim[1]; c++)
            for (int64_t n = 0; n < y_at->dim[2] * y_at->dim[3] * y_at->dim[4]; n++, next++) {
                const int64_t at[3] = {n / (y_at->dim[3] * y_at->dim[4]), n / y_at->dim[4] % y_at->dim[3],
                                       n % y_at->dim[4]};
                TPL_T         top = 0;
                const int64_t best = occ_maxpool_window_TPL_N(x + b * x_at->stride[0] + c * x_at->stride[1], x_at, at,
                                                              window, columns, &top);

                y[occ_image_place(y_at, b, c, at[0], at[1], at[2])] = top;
                if (place)
                    place[next] = (b * x_at->dim[1] + c) * x_at->dim[2] * x_at->dim[3] * x_at->dim[4] + best;
            }
}
