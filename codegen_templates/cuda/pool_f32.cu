/* pool_f32.cu - maxima, means and p-norms over windows: each thread makes every so many of the results, with the
 * functions of the C kernel, so the bits are its bits. */
#include "occ_result.h"

/* pool - y = reduction `kind` of x over windows; arguments as in C. */
OCC_INLINE void occ_pool_f32(const float *x, const occ_image *x_at, float *y, const occ_image *y_at,
                             const occ_window *window, const occ_extent *pad_end, int64_t kind, float p)
{
    const int64_t total = occ_result_count(y_at);

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const occ_result r = occ_result_of(n, y_at);
        int64_t          begin[3];

        occ_result_begin(&r, window, begin);
        const occ_pool_taps taps = occ_pool_taps_at(begin, x_at, window->kernel, window, pad_end, kind);
        occ_pool_channels(y + occ_result_place(&r, y_at), 1, x + occ_result_plane(&r, x_at), x_at, window, &taps, 1, 1,
                          kind, p);
    }
}
