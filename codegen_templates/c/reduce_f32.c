/* reduce_f32.c - sums, means, extremes, products and norms over any axes of a float tensor. Vectors run along the axis
 * whose elements are neighbours: across results where that axis is kept, across terms where it is reduced. */
#include "occ_reduce.h"
#include "occ_walk.h"

/* n neighbouring results, one in each lane. The terms of each are at the places of a walk over `dim`. */
OCC_HOT occ_vf occ_reduce_lanes(const float *x, int n, int64_t rank, const occ_extent *dim, const occ_extent *stride,
                                int some, occ_vf top, int64_t kind)
{
    occ_walk walk = {rank, {0}, 0};
    occ_vf   sum = occ_vset(occ_reduce_start(kind));

    if (some)
        do
            sum = occ_reduce_join(sum, occ_vload(x + walk.offset, n), top, kind);
        while (occ_walk_next(&walk, dim, stride));
    return sum;
}

#define OCC_REDUCE_ROWS 4    /* rows of terms that are reduced at the same time */
#define OCC_REDUCE_LINE 1024 /* neighbouring results that stay in the nearest cache while rows are added to them */

/* Joins `rows` rows of n terms, x + at[0], x + at[1], ..., into n results. */
OCC_HOT void occ_reduce_rows(float *y, const float *x, const int64_t *at, int64_t rows, int64_t n, int64_t kind)
{
    for (int64_t c = 0; c < n; c += OCC_W) {
        const int lanes = (int)occ_min(OCC_W, n - c);
        occ_vf    sum = occ_vload(y + c, lanes);

        OCC_UNROLL(OCC_REDUCE_ROWS)
        for (int64_t r = 0; r < rows; r++)
            sum = occ_reduce_join(sum, occ_vload(x + at[r] + c, lanes), occ_vset(0.0f), kind);
        occ_vstore(y + c, sum, lanes);
    }
}

/* n neighbouring results, kept in y while row after row of their terms is joined. For kinds that do not use `top`. */
OCC_HOT void occ_reduce_line(float *y, const float *x, int64_t n, int64_t rank, const occ_extent *dim,
                             const occ_extent *stride, int64_t count, int64_t kind)
{
    occ_walk walk = {rank, {0}, 0};

    for (int64_t c = 0; c < n; c += OCC_W)
        occ_vstore(y + c, occ_vset(occ_reduce_start(kind)), (int)occ_min(OCC_W, n - c));
    for (int64_t k = 0; k < count; k += OCC_REDUCE_ROWS) {
        const int64_t rows = occ_min(OCC_REDUCE_ROWS, count - k);
        int64_t       at[OCC_REDUCE_ROWS];

        for (int64_t r = 0; r < rows; r++) {
            at[r] = walk.offset;
            occ_walk_next(&walk, dim, stride);
        }
        if (rows == OCC_REDUCE_ROWS)
            occ_reduce_rows(y, x, at, OCC_REDUCE_ROWS, n, kind);
        for (int64_t r = 0; r < rows && rows < OCC_REDUCE_ROWS; r++)
            occ_reduce_rows(y, x, at + r, 1, n, kind);
    }
    for (int64_t c = 0; c < n; c += OCC_W) {
        const int lanes = (int)occ_min(OCC_W, n - c);

        occ_vstore(y + c, occ_reduce_end(occ_vload(y + c, lanes), occ_vset(0.0f), (float)count, kind), lanes);
    }
}

/* One result. Terms along the innermost reduced axis (stride s) are taken by vectors, four at a time to hide
 * latency. */
OCC_HOT float occ_reduce_terms(const float *x, int64_t rank, const occ_extent *dim, const occ_extent *stride, int some,
                               float top, int64_t kind)
{
    const int64_t n = rank ? dim[rank - 1] : 1, s = rank ? stride[rank - 1] : 1;
    occ_walk      walk = {rank ? rank - 1 : 0, {0}, 0};
    occ_vf        sum[4], tops = occ_vset(top), start = occ_vset(occ_reduce_start(kind));

    for (int i = 0; i < 4; i++)
        sum[i] = start;
    if (!some)
        return occ_vlane(start, 0);
    do {
        const float *row = x + walk.offset;
        int64_t      i = 0;

        for (; s == 1 && i + 4 * OCC_W <= n; i += 4 * OCC_W) {
            OCC_UNROLL(4)
            for (int k = 0; k < 4; k++)
                sum[k] = occ_reduce_join(sum[k], occ_vload(row + i + k * OCC_W, OCC_W), tops, kind);
        }
        for (; i < n; i += OCC_W) {
            int    lanes = (int)occ_min(OCC_W, n - i);
            occ_vf term = s == 1 ? occ_vload(row + i, lanes) : occ_vloads(row + i * s, s, lanes);

            sum[0] = occ_vpick(occ_vmask_first(lanes), occ_reduce_join(sum[0], term, tops, kind), sum[0]);
        }
    } while (occ_walk_next(&walk, dim, stride));
    sum[0] = occ_reduce_merge(occ_reduce_merge(sum[0], sum[1], kind), occ_reduce_merge(sum[2], sum[3], kind), kind);
    OCC_UNROLL(4)
    for (int lanes = OCC_W; lanes > 1; lanes /= 2)
        sum[0] = occ_reduce_merge(occ_veven(sum[0], sum[0]), occ_vodd(sum[0], sum[0]), kind);
    return occ_vlane(sum[0], 0);
}

/* reduce - y = reduction `kind` of x over the reduced axes, for every place of the kept axes.
 *   kept axes: extents kdim [krank], krank >= 1, with strides kystride in y and kxstride in x, in elements
 *   reduced axes: extents rdim [rrank] with strides rstride in x; an extent of 0 gives the value of the empty set */
OCC_INLINE void occ_reduce_f32(float *y, const float *x, int64_t kind, int64_t krank, const occ_extent *kdim,
                               const occ_extent *kystride, const occ_extent *kxstride, int64_t rrank,
                               const occ_extent *rdim, const occ_extent *rstride)
{
    const int64_t last = krank - 1, wide = kdim[last] > 1 && kxstride[last] == 1 && !(rrank && rstride[rrank - 1] == 1);
    const int64_t lines = wide && kystride[last] == 1 && kdim[last] >= 8 * OCC_W && kind != OCC_REDUCE_LOGSUMEXP;
    occ_walk      to = {last, {0}, 0}, from = {last, {0}, 0};
    int64_t       count = occ_count(rrank, rdim), places = occ_count(krank, kdim);

    if (!places)
        return;
    do {
        for (int64_t c = 0; lines && c < kdim[last]; c += OCC_REDUCE_LINE)
            occ_reduce_line(y + to.offset + c, x + from.offset + c, occ_min(OCC_REDUCE_LINE, kdim[last] - c), rrank,
                            rdim, rstride, count, kind);
        for (int64_t c = 0; !lines && c < kdim[last]; c += wide ? OCC_W : 1) {
            const float *terms = x + from.offset + c * kxstride[last];
            int          n = wide ? (int)occ_min(OCC_W, kdim[last] - c) : 1;
            occ_vf       top = occ_vset(0.0f), sum;

            if (kind == OCC_REDUCE_LOGSUMEXP) {
                top = wide ? occ_reduce_lanes(terms, n, rrank, rdim, rstride, count > 0, top, OCC_REDUCE_MAX)
                           : occ_vset(occ_reduce_terms(terms, rrank, rdim, rstride, count > 0, 0.0f, OCC_REDUCE_MAX));
                top = occ_reduce_top(top);
            }
            sum = wide ? occ_reduce_lanes(terms, n, rrank, rdim, rstride, count > 0, top, kind)
                       : occ_vset(occ_reduce_terms(terms, rrank, rdim, rstride, count > 0, occ_vlane(top, 0), kind));
            occ_vstores(y + to.offset + c * kystride[last], kystride[last],
                        occ_reduce_end(sum, top, (float)count, kind), n);
        }
    } while (occ_walk_both(&to, kystride, &from, kxstride, kdim));
}
