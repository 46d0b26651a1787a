/* pool_planes_f32.cu - maxima, means and p-norms over windows, each reduced down its columns first and then across
 * them: each thread makes every so many of the results. */
#include "occ_result.h"

/* A column of a window, reduced down; t: the taps of its planes and rows. Outside of the image there is nothing. */
OCC_HOT float occ_pool_column(const float *x, const occ_image *x_at, const occ_window *window, const occ_pool_taps *t,
                              int64_t column, int64_t kind, float p)
{
    occ_vf sum = occ_pool_start(kind);

    if (column < 0 || column >= x_at->dim[4])
        return sum;
    for (int64_t d = t->axis[0].first; d < t->axis[0].last; d++)
        for (int64_t h = t->axis[1].first; h < t->axis[1].last; h++)
            sum = occ_pool_join(sum,
                                x[occ_image_place(x_at, 0, 0, t->begin[0] + d * window->dilation[0],
                                                  t->begin[1] + h * window->dilation[1], column)],
                                kind, p);
    return sum;
}

/* The columns of a window, which begins at column `begin`, joined from left to right. */
OCC_HOT float occ_pool_columns_joined(const float *x, const occ_image *x_at, const occ_window *window,
                                      const occ_pool_taps *t, int64_t begin, int64_t kind, float p)
{
    occ_vf sum = occ_pool_column(x, x_at, window, t, begin, kind, p);

    for (int64_t k = 1; k < window->kernel[2]; k++) {
        const occ_vf tap = occ_pool_column(x, x_at, window, t, begin + k * window->dilation[2], kind, p);

        sum = kind == OCC_POOL_MAX ? occ_vmax(sum, tap) : occ_vadd(sum, tap);
    }
    return sum;
}

/* pool_planes - as pool_f32; arguments as in C. */
OCC_INLINE void occ_pool_planes_f32(const float *x, const occ_image *x_at, float *y, const occ_image *y_at,
                                    const occ_window *window, const occ_extent *pad_end, int64_t kind, float p)
{
    const int64_t total = occ_result_count(y_at), one[3] = {window->kernel[0], window->kernel[1], 1};

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const occ_result r = occ_result_of(n, y_at);
        int64_t          begin[3];

        occ_result_begin(&r, window, begin);
        const int64_t       down[3] = {begin[0], begin[1], 0};
        const occ_pool_taps t = occ_pool_taps_at(down, x_at, one, window, pad_end, kind);
        const float         across =
            (float)occ_pool_count(begin[2], x_at->dim[4], window->kernel[2], window->dilation[2], pad_end[2], kind);
        const occ_vf sum = occ_pool_columns_joined(x + occ_result_plane(&r, x_at), x_at, window, &t, begin[2], kind, p);

        y[occ_result_place(&r, y_at)] = occ_pool_end(sum, occ_vmul((float)t.count, across), kind, p);
    }
}
