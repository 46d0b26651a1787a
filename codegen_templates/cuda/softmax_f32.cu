/* softmax_f32.cu - softmax, its logarithm and hardmax along one axis, and the moments of normalizations. Long rows: a
 * block for each, in the fixed order of occ_tree.h. Short rows, and rows side by side: a thread for each. The row's
 * maximum is subtracted, so that finite rows never overflow. */
#include "occ_vmath.h"
#include "reduce_f32.cu"

#define OCC_SOFTMAX 0
#define OCC_SOFTMAX_LOG 1
#define OCC_SOFTMAX_HARD 2

/* Hardmax of one row by one thread: 1 for the first of the largest elements. */
OCC_HOT void occ_softmax_hard(float *y, const float *x, int64_t axis, int64_t sx, int64_t sy)
{
    float   top = x[0];
    int64_t hit = -1;
    for (int64_t i = 1; i < axis; i++)
        top = occ_vmax(top, x[i * sx]);
    for (int64_t i = 0; i < axis; i++) {
        const int here = hit < 0 && x[i * sx] == top;
        hit = here ? i : hit;
        y[i * sy] = here ? 1.0f : 0.0f;
    }
}

/* Softmax or its logarithm of one row by one thread. */
OCC_HOT void occ_softmax_thread(float *y, const float *x, int64_t axis, int64_t sx, int64_t sy, int64_t kind)
{
    float top = x[0], sum = 0.0f;
    for (int64_t i = 1; i < axis; i++)
        top = occ_vmax(top, x[i * sx]);
    for (int64_t i = 0; i < axis; i++) {
        const float e = occ_vexp_below(x[i * sx] - top);
        sum += e;
        if (kind == OCC_SOFTMAX)
            y[i * sy] = e;
    }
    if (kind == OCC_SOFTMAX_LOG)
        sum = occ_vlog_apart(sum);
    for (int64_t i = 0; i < axis; i++)
        y[i * sy] = kind == OCC_SOFTMAX ? y[i * sy] / sum : x[i * sx] - top - sum;
}

/* Softmax or its logarithm of one row by all threads of a block. A thread reads again only what it has written. */
OCC_HOT void occ_softmax_block(float *lane, float *y, const float *x, int64_t axis, int64_t sx, int64_t sy,
                               int64_t kind)
{
    const occ_terms t = {x, axis, 1, &axis, &sx};
    const float     top = occ_terms_join_all(lane, &t, 0.0f, OCC_REDUCE_MAX);
    for (int l = occ_thread(); l < OCC_TREE_LANES; l += occ_threads()) {
        float sum = 0.0f;
        for (int64_t i = l; i < axis; i += OCC_TREE_LANES) {
            const float e = occ_vexp_below(x[i * sx] - top);
            sum += e;
            if (kind == OCC_SOFTMAX)
                y[i * sy] = e;
        }
        lane[l] = sum;
    }
    const float sum = occ_tree_join(lane, OCC_REDUCE_SUM);
    const float by = kind == OCC_SOFTMAX ? 1.0f / sum : occ_vlog_apart(sum) + top;
    for (int l = occ_thread(); l < OCC_TREE_LANES; l += occ_threads())
        for (int64_t i = l; i < axis; i += OCC_TREE_LANES)
            y[i * sy] = kind == OCC_SOFTMAX ? y[i * sy] * by : x[i * sx] - by;
}

/* softmax - along `axis` elements at strides sx, sy, for every place of the kept axes.
 *   kept extents kdim [krank], krank >= 1, with strides ky in y and kx in x; y may be x itself, no other overlap */
OCC_INLINE void occ_softmax_f32(float *y, const float *x, int64_t kind, int64_t axis, int64_t sx, int64_t sy,
                                int64_t krank, const occ_extent *kdim, const occ_extent *ky, const occ_extent *kx)
{
    OCC_SHARED_ARRAY(float, lane, OCC_TREE_LANES);
    const int64_t places = axis ? occ_count(krank, kdim) : 0;
    const int     blocks = kind != OCC_SOFTMAX_HARD && occ_reduce_by_blocks(krank, kdim, kx, 1, &axis, &sx);
    for (int64_t i = blocks ? occ_block() : occ_unit(); i < places; i += blocks ? occ_grid() : occ_units()) {
        float       *to = y + occ_place_offset(i, krank, kdim, ky);
        const float *from = x + occ_place_offset(i, krank, kdim, kx);
        if (blocks)
            occ_softmax_block(lane, to, from, axis, sx, sy, kind);
        else if (kind == OCC_SOFTMAX_HARD)
            occ_softmax_hard(to, from, axis, sx, sy);
        else
            occ_softmax_thread(to, from, axis, sx, sy, kind);
    }
}

/* moments - mean and 1 / sqrt(variance + epsilon) over the reduced axes (kept and reduced as in occ_reduce_f32).
 *   centered 0: the mean is taken as 0, so that the second moment is the mean of squares */
OCC_INLINE void occ_moments_f32(float *mean, float *inverse, const float *x, int64_t centered, float epsilon,
                                int64_t krank, const occ_extent *kdim, const occ_extent *ky, const occ_extent *kx,
                                int64_t rrank, const occ_extent *rdim, const occ_extent *rstride)
{
    OCC_SHARED_ARRAY(float, lane, OCC_TREE_LANES);
    const int64_t places = occ_count(krank, kdim), count = occ_count(rrank, rdim);
    const int     blocks = occ_reduce_by_blocks(krank, kdim, kx, rrank, rdim, rstride);
    for (int64_t i = blocks ? occ_block() : occ_unit(); i < places; i += blocks ? occ_grid() : occ_units()) {
        const occ_terms t = {x + occ_place_offset(i, krank, kdim, kx), count, rrank, rdim, rstride};
        const int64_t   to = occ_place_offset(i, krank, kdim, ky);
        float           m = 0.0f;
        if (centered)
            m = (blocks ? occ_terms_join_all(lane, &t, 0.0f, OCC_REDUCE_SUM)
                        : occ_terms_join(&t, 0, 1, 0.0f, OCC_REDUCE_SUM)) /
                (float)count;
        const float spread = blocks ? occ_terms_join_all(lane, &t, m, OCC_REDUCE_SPREAD)
                                    : occ_terms_join(&t, 0, 1, m, OCC_REDUCE_SPREAD);
        if (blocks && occ_thread() > 0)
            continue;
        if (mean)
            mean[to] = m;
        inverse[to] = 1.0f / occ_vsqrt(spread / (float)count + epsilon);
    }
}
