/* reduce_f32.cu - sums, means, extremes, products and norms over any axes. Many terms: a block for each result, which
 * joins them in the fixed order of occ_tree.h; where results are neighbours and terms are not, a block for eight
 * results. Few terms: a thread for each result. Which of them follows from extents and strides alone. */
#include "occ_place.h"
#include "occ_tree.h"

#define OCC_REDUCE_MANY 64 /* terms from which on a block takes a result */

/* The terms of one result: how many, and where. */
typedef struct occ_terms {
    const float      *x;
    int64_t           count, rank;
    const occ_extent *dim, *stride;
} occ_terms;

OCC_HOT float occ_terms_at(const occ_terms *t, int64_t i)
{
    return t->x[occ_place_offset(i, t->rank, t->dim, t->stride)];
}

/* Terms first, first + step, ... joined in rising order. */
OCC_HOT float occ_terms_join(const occ_terms *t, int64_t first, int64_t step, float top, int64_t kind)
{
    float sum = occ_reduce_start(kind);
    for (int64_t i = first; i < t->count; i += step)
        sum = occ_reduce_join(sum, occ_terms_at(t, i), top, kind);
    return sum;
}

/* All terms of a result joined by the threads of a block. */
OCC_HOT float occ_terms_join_all(float *lane, const occ_terms *t, float top, int64_t kind)
{
    for (int l = occ_thread(); l < OCC_TREE_LANES; l += occ_threads())
        lane[l] = occ_terms_join(t, l, OCC_TREE_LANES, top, kind);
    return occ_tree_join(lane, kind);
}

/* Results are neighbours, terms are not. */
OCC_HOT int occ_reduce_side_by_side(int64_t krank, const occ_extent *kdim, const occ_extent *kx, int64_t rrank,
                                    const occ_extent *rstride)
{
    return krank && kdim[krank - 1] >= 32 && kx[krank - 1] == 1 && !(rrank && rstride[rrank - 1] == 1);
}

/* Does a block take each result? */
OCC_HOT int occ_reduce_by_blocks(int64_t krank, const occ_extent *kdim, const occ_extent *kx, int64_t rrank,
                                 const occ_extent *rdim, const occ_extent *rstride)
{
    return occ_count(rrank, rdim) >= OCC_REDUCE_MANY && !occ_reduce_side_by_side(krank, kdim, kx, rrank, rstride);
}

/* A block takes OCC_REDUCE_SIDE neighbouring results: line l of OCC_REDUCE_LINES joins terms l, l + OCC_REDUCE_LINES
 * and so on of each, then lines are joined in pairs. lane: shared, a float for each line and result; arguments as of
 * occ_reduce_f32 */
#define OCC_REDUCE_SIDE 8
#define OCC_REDUCE_LINES 128

OCC_HOT void occ_reduce_lines(float *lane, float *y, const float *x, int64_t kind, int64_t krank,
                              const occ_extent *kdim, const occ_extent *kystride, const occ_extent *kxstride,
                              int64_t rrank, const occ_extent *rdim, const occ_extent *rstride)
{
    const int64_t places = occ_count(krank, kdim), count = occ_count(rrank, rdim);
    for (int64_t first = (int64_t)occ_block() * OCC_REDUCE_SIDE; first < places;
         first += (int64_t)occ_grid() * OCC_REDUCE_SIDE) {
        for (int i = occ_thread(); i < OCC_REDUCE_SIDE * OCC_REDUCE_LINES; i += occ_threads()) {
            const int64_t   place = occ_min(first + i % OCC_REDUCE_SIDE, places - 1);
            const occ_terms t = {x + occ_place_offset(place, krank, kdim, kxstride), count, rrank, rdim, rstride};
            lane[i] = occ_terms_join(&t, i / OCC_REDUCE_SIDE, OCC_REDUCE_LINES, 0.0f, kind);
        }
        occ_barrier();
        for (int half = OCC_REDUCE_LINES / 2 * OCC_REDUCE_SIDE; half >= OCC_REDUCE_SIDE; half /= 2) {
            for (int i = occ_thread(); i < half; i += occ_threads())
                lane[i] = occ_reduce_merge(lane[i], lane[i + half], kind);
            occ_barrier();
        }
        for (int i = occ_thread(); i < OCC_REDUCE_SIDE && first + i < places; i += occ_threads())
            y[occ_place_offset(first + i, krank, kdim, kystride)] = occ_reduce_end(lane[i], 0.0f, (float)count, kind);
        occ_barrier(); /* before the lanes are written again */
    }
}

/* reduce - y = kind of the terms of x over the reduced axes, for every place of the kept axes.
 *   kept    extents kdim [krank] with strides kystride in y and kxstride in x; at least one axis
  * reduced extents rdim [rrank] with strides rstride in x, elements; an extent of 0 gives the value of the empty
  * set */
OCC_INLINE void occ_reduce_f32(float *y, const float *x, int64_t kind, int64_t krank, const occ_extent *kdim,
                               const occ_extent *kystride, const occ_extent *kxstride, int64_t rrank,
                               const occ_extent *rdim, const occ_extent *rstride)
{
    OCC_SHARED_ARRAY(float, lane, OCC_REDUCE_SIDE *OCC_REDUCE_LINES);
    const int64_t places = occ_count(krank, kdim), count = occ_count(rrank, rdim);
    if (count >= OCC_REDUCE_MANY && kind != OCC_REDUCE_LOGSUMEXP &&
        occ_reduce_side_by_side(krank, kdim, kxstride, rrank, rstride)) {
        occ_reduce_lines(lane, y, x, kind, krank, kdim, kystride, kxstride, rrank, rdim, rstride);
        return;
    }
    const int     blocks = occ_reduce_by_blocks(krank, kdim, kxstride, rrank, rdim, rstride);
    for (int64_t i = blocks ? occ_block() : occ_unit(); i < places; i += blocks ? occ_grid() : occ_units()) {
        const occ_terms t = {x + occ_place_offset(i, krank, kdim, kxstride), count, rrank, rdim, rstride};
        float           top = 0.0f;
        if (kind == OCC_REDUCE_LOGSUMEXP)
            top = occ_reduce_top(blocks ? occ_terms_join_all(lane, &t, 0.0f, OCC_REDUCE_MAX)
                                        : occ_terms_join(&t, 0, 1, 0.0f, OCC_REDUCE_MAX));
        const float sum = blocks ? occ_terms_join_all(lane, &t, top, kind) : occ_terms_join(&t, 0, 1, top, kind);
        if (!blocks || occ_thread() == 0)
            y[occ_place_offset(i, krank, kdim, kystride)] = occ_reduce_end(sum, top, (float)count, kind);
    }
}
