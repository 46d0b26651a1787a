/* maxpool.cu - maxima over sliding windows and their places: each thread makes every so many of the results. */
#include "occ_result.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* maxpool - y = the largest element of each window; arguments as in C. */
OCC_INLINE void occ_maxpool_TPL_N(const TPL_T *x, const occ_image *x_at, TPL_T *y, const occ_image *y_at,
                                  int64_t *place, const occ_window *window, int64_t columns)
{
    const int64_t total = occ_result_count(y_at);

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const occ_result r = occ_result_of(n, y_at);
        TPL_T            top = 0;
        const int64_t    best =
            occ_maxpool_window_TPL_N(x + occ_result_plane(&r, x_at), x_at, r.at, window, columns, &top);

        y[occ_result_place(&r, y_at)] = top;
        if (place)
            place[(((r.batch * y_at->dim[1] + r.channel) * y_at->dim[2] + r.at[0]) * y_at->dim[3] + r.at[1]) *
                      y_at->dim[4] +
                  r.at[2]] = (r.batch * x_at->dim[1] + r.channel) * x_at->dim[2] * x_at->dim[3] * x_at->dim[4] + best;
    }
}
