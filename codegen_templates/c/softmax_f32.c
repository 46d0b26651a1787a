/* softmax_f32.c - softmax, its logarithm and hardmax along one axis. The row's maximum is subtracted, so finite rows
 * never overflow; a NaN spoils its own row only. */
#include "reduce_f32.c"

#define OCC_SOFTMAX 0
#define OCC_SOFTMAX_LOG 1
#define OCC_SOFTMAX_HARD 2
#define OCC_SOFTMAX_SHORT 4 /* elements of a row, at most, that are too few for vectors along it */

/* Elements of n rows that are `apart` elements from each other, one in each lane. */
OCC_HOT occ_vf occ_softmax_load(const float *x, int64_t apart, int n)
{
    return apart == 1 ? occ_vload(x, n) : occ_vloads(x, apart, n);
}

OCC_HOT void occ_softmax_store(float *y, int64_t apart, occ_vf v, int n)
{
    if (apart == 1)
        occ_vstore(y, v, n);
    else
        occ_vstores(y, apart, v, n);
}

/* Softmax of n rows, one in each lane, or of one row for n = 1. Elements along the axis are sx and sy apart, rows lx
 * and ly. */
OCC_HOT void occ_softmax_lanes_apart(float *y, const float *x, int n, int64_t axis, int64_t sx, int64_t sy, int64_t lx,
                                     int64_t ly, int64_t kind)
{
    occ_vf top = occ_softmax_load(x, lx, n), sum = occ_vset(0.0f), none = occ_vset(0.0f);

    for (int64_t i = 1; i < axis; i++)
        top = occ_vmax(top, occ_softmax_load(x + i * sx, lx, n));
    for (int64_t i = 0; i < axis; i++) {
        occ_vf e = occ_softmax_load(x + i * sx, lx, n);

        if (kind == OCC_SOFTMAX_HARD) { /* hardmax: 1 for the first of the largest elements */
            occ_vf hit = occ_vand(occ_veq(e, top), occ_vnot(none));

            none = occ_vor(none, hit);
            occ_softmax_store(y + i * sy, ly, hit, n);
            continue;
        }
        e = occ_vexp_below(occ_vsub(e, top));
        sum = occ_vadd(sum, e);
        if (kind == OCC_SOFTMAX)
            occ_softmax_store(y + i * sy, ly, e, n);
    }
    for (int64_t i = 0; i < axis && kind == OCC_SOFTMAX; i++)
        occ_softmax_store(y + i * sy, ly, occ_vdiv(occ_softmax_load(y + i * sy, ly, n), sum), n);
    if (kind == OCC_SOFTMAX_LOG) {
        sum = occ_vlog_apart(sum);
        for (int64_t i = 0; i < axis; i++)
            occ_softmax_store(y + i * sy, ly, occ_vsub(occ_vsub(occ_softmax_load(x + i * sx, lx, n), top), sum), n);
    }
}

/* The same of neighbouring rows. */
OCC_HOT void occ_softmax_lanes(float *y, const float *x, int n, int64_t axis, int64_t sx, int64_t sy, int64_t kind)
{
    occ_softmax_lanes_apart(y, x, n, axis, sx, sy, 1, 1, kind);
}

#if OCC_W > 1
#define OCC_SOFTMAX_LINE 16 /* neighbouring rows that are gathered: a cache line of them */
#define OCC_SOFTMAX_AXIS 64 /* elements of such a row, at most */

/* occ_softmax_lanes for up to a cache line of rows, gathered into local memory. Where sx is a power of two, the
 * elements of a row would evict each other from the cache before they are read again. */
OCC_HOT void occ_softmax_gathered(float *y, const float *x, int64_t n, int64_t axis, int64_t sx, int64_t sy,
                                  int64_t kind)
{
    float   kept[OCC_SOFTMAX_AXIS * OCC_SOFTMAX_LINE];
    int64_t i = 0;

    do /* do-while: axis is at least 1, and the C compiler must see that all of `kept` that is read was written */
        for (int64_t c = 0; c < n; c += OCC_W)
            occ_vstore(kept + i * OCC_SOFTMAX_LINE + c, occ_vload(x + i * sx + c, (int)occ_min(OCC_W, n - c)), OCC_W);
    while (++i < axis);
    for (int64_t c = 0; c < n; c += OCC_W)
        occ_softmax_lanes(kept + c, kept + c, OCC_W, axis, OCC_SOFTMAX_LINE, OCC_SOFTMAX_LINE, kind);
    for (i = 0; i < axis; i++)
        for (int64_t c = 0; c < n; c += OCC_W)
            occ_vstore(y + i * sy + c, occ_vload(kept + i * OCC_SOFTMAX_LINE + c, OCC_W), (int)occ_min(OCC_W, n - c));
}
#endif

/* Returns the sums of e^(x - top) over a row, one in each lane, and stores the terms in y for kind OCC_SOFTMAX. Four
 * vectors at a time hide latency. */
OCC_HOT occ_vf occ_softmax_weights(float *y, const float *x, int64_t axis, occ_vf top, int64_t kind)
{
    occ_vf  sum[4];
    int64_t i = 0;

    for (int k = 0; k < 4; k++)
        sum[k] = occ_vset(0.0f);
    for (; i + 4 * OCC_W <= axis; i += 4 * OCC_W) {
        OCC_UNROLL(4)
        for (int k = 0; k < 4; k++) {
            const occ_vf e = occ_vexp_below(occ_vsub(occ_vload(x + i + k * OCC_W, OCC_W), top));

            sum[k] = occ_vadd(sum[k], e);
            if (kind == OCC_SOFTMAX)
                occ_vstore(y + i + k * OCC_W, e, OCC_W);
        }
    }
    for (; i < axis; i += OCC_W) {
        const int    n = (int)occ_min(OCC_W, axis - i);
        const occ_vf e = occ_vexp_below(occ_vsub(occ_vload(x + i, n), top));

        sum[0] = occ_vpick(occ_vmask_first(n), occ_vadd(sum[0], e), sum[0]);
        if (kind == OCC_SOFTMAX)
            occ_vstore(y + i, e, n);
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#if OCC_W > 1
/* The result of all lanes of each row, in each of its lanes, which are `count` apart. */
OCC_HOT occ_vf occ_softmax_joined(occ_vf v, int64_t count, int64_t kind)
{
    float lane[OCC_W];

    occ_vstore(lane, v, OCC_W);
    for (int64_t i = count; i < OCC_W; i++)
        lane[i % count] = occ_vlane(occ_reduce_merge(occ_vset(lane[i % count]), occ_vset(lane[i]), kind), 0);
    for (int64_t i = count; i < OCC_W; i++)
        lane[i] = lane[i % count];
    return occ_vload(lane, OCC_W);
}

/* Softmax of `count` rows whose elements alternate without gaps; a vector holds whole sets of them: lane i is one of
 * row i % count. */
OCC_HOT void occ_softmax_dense(float *y, const float *x, int64_t count, int64_t axis)
{
    const int64_t total = count * axis;
    occ_vf        top = occ_vset(occ_reduce_start(OCC_REDUCE_MAX)), by;

    for (int64_t i = 0; i < total; i += OCC_W) {
        const int n = (int)occ_min(OCC_W, total - i);

        top = occ_vpick(occ_vmask_first(n), occ_vmax(top, occ_vload(x + i, n)), top);
    }
    top = occ_softmax_joined(top, count, OCC_REDUCE_MAX);
    by = occ_vrecip(occ_softmax_joined(occ_softmax_weights(y, x, total, top, OCC_SOFTMAX), count, OCC_REDUCE_SUM));
    for (int64_t i = 0; i < total; i += OCC_W) {
        const int n = (int)occ_min(OCC_W, total - i);

        occ_vstore(y + i, occ_vmul(occ_vload(y + i, n), by), n);
    }
}
#endif

/* Softmax of `count` neighbouring rows. The counts of all but the last ones are literals. */
OCC_HOT void occ_softmax_neighbours(float *y, const float *x, int64_t count, int64_t axis, int64_t sx, int64_t sy,
                                    int64_t kind)
{
    int64_t c = 0;

#if OCC_W > 1
    if (kind == OCC_SOFTMAX && sx == count && sy == count && count < OCC_W && OCC_W % count == 0) {
        occ_softmax_dense(y, x, count, axis);
        return;
    }
    if (axis >= 8 && axis <= OCC_SOFTMAX_AXIS) {
        for (; c + OCC_SOFTMAX_LINE <= count; c += OCC_SOFTMAX_LINE)
            occ_softmax_gathered(y + c, x + c, OCC_SOFTMAX_LINE, axis, sx, sy, kind);
        if (c < count)
            occ_softmax_gathered(y + c, x + c, count - c, axis, sx, sy, kind);
        return;
    }
#endif
    for (; c + OCC_W <= count; c += OCC_W)
        occ_softmax_lanes(y + c, x + c, OCC_W, axis, sx, sy, kind);
    if (c < count)
        occ_softmax_lanes(y + c, x + c, (int)(count - c), axis, sx, sy, kind);
}

/* One row whose elements are neighbours: vectors run along the row. */
OCC_HOT void occ_softmax_row(float *y, const float *x, int64_t axis, int64_t kind)
{
    const occ_extent dim[1] = {axis}, one[1] = {1};
    const occ_vf     top = occ_vset(occ_reduce_terms(x, 1, dim, one, 1, 0.0f, OCC_REDUCE_MAX));
    const occ_vf     sum = occ_vset(occ_vsum_lanes(occ_softmax_weights(y, x, axis, top, kind)));
    const occ_vf     by = kind == OCC_SOFTMAX ? occ_vrecip(sum) : occ_vadd(occ_vlog_apart(sum), top);

    for (int64_t i = 0; i < axis; i += OCC_W) {
        int n = (int)occ_min(OCC_W, axis - i);

        occ_vstore(y + i, kind == OCC_SOFTMAX ? occ_vmul(occ_vload(y + i, n), by) : occ_vsub(occ_vload(x + i, n), by),
                   n);
    }
}

/* Softmax of `count` short rows that are lx and ly apart, and whose elements are neighbours. */
OCC_HOT void occ_softmax_short(float *y, const float *x, int64_t count, int64_t axis, int64_t lx, int64_t ly,
                               int64_t kind)
{
    int64_t c = 0;

    for (; c + OCC_W <= count; c += OCC_W)
        occ_softmax_lanes_apart(y + c * ly, x + c * lx, OCC_W, axis, 1, 1, lx, ly, kind);
    if (c < count)
        occ_softmax_lanes_apart(y + c * ly, x + c * lx, (int)(count - c), axis, 1, 1, lx, ly, kind);
}

/* softmax - along `axis` elements, sx and sy apart, for every place of the kept axes.
 *   kept axes: extents kdim [krank], krank >= 1, with strides ky in y and kx in x
 *   y may be x itself, no other overlap */
OCC_INLINE void occ_softmax_f32(float *y, const float *x, int64_t kind, int64_t axis, int64_t sx, int64_t sy,
                                int64_t krank, const occ_extent *kdim, const occ_extent *ky, const occ_extent *kx)
{
    const int64_t last = krank - 1, row = sx == 1 && sy == 1 && kind != OCC_SOFTMAX_HARD;
    const int64_t places = axis * occ_count(krank, kdim);
    occ_walk      to = {last, {0}, 0}, from = {last, {0}, 0};

    if (!places)
        return;
    do {
        float       *y0 = y + to.offset;
        const float *x0 = x + from.offset;

        if (!row && kx[last] == 1 && ky[last] == 1)
            occ_softmax_neighbours(y0, x0, kdim[last], axis, sx, sy, kind);
        else if (row && axis <= OCC_SOFTMAX_SHORT)
            occ_softmax_short(y0, x0, kdim[last], axis, kx[last], ky[last], kind);
        else
            for (int64_t c = 0; c < kdim[last]; c++)
                if (row)
                    occ_softmax_row(y0 + c * ky[last], x0 + c * kx[last], axis, kind);
                else
                    occ_softmax_lanes(y0 + c * ky[last], x0 + c * kx[last], 1, axis, sx, sy, kind);
    } while (occ_walk_both(&to, ky, &from, kx, kdim));
}

/* moments - mean and 1 / sqrt(variance + epsilon) over the reduced axes; kept and reduced axes as in occ_reduce_f32.
 *   centered 0: the mean is taken as 0, so the second moment is the mean of squares */
OCC_INLINE void occ_moments_f32(float *mean, float *inverse, const float *x, int64_t centered, float epsilon,
                                int64_t krank, const occ_extent *kdim, const occ_extent *ky, const occ_extent *kx,
                                int64_t rrank, const occ_extent *rdim, const occ_extent *rstride)
{
    const int64_t last = krank - 1, wide = kdim[last] > 1 && kx[last] == 1 && !(rrank && rstride[rrank - 1] == 1);
    occ_walk      to = {last, {0}, 0}, from = {last, {0}, 0};
    int64_t       count = occ_count(rrank, rdim), places = occ_count(krank, kdim);

    if (!places)
        return;
    do {
        for (int64_t c = 0; c < kdim[last]; c += wide ? OCC_W : 1) {
            const float *terms = x + from.offset + c * kx[last];
            const int    n = wide ? (int)occ_min(OCC_W, kdim[last] - c) : 1;
            const occ_vf by = occ_vset((float)count);
            occ_vf       m = occ_vset(0.0f), v;

            if (centered) {
                m = wide ? occ_reduce_lanes(terms, n, rrank, rdim, rstride, count > 0, m, OCC_REDUCE_SUM)
                         : occ_vset(occ_reduce_terms(terms, rrank, rdim, rstride, count > 0, 0.0f, OCC_REDUCE_SUM));
                m = occ_vdiv(m, by);
            }
            v = wide ? occ_reduce_lanes(terms, n, rrank, rdim, rstride, count > 0, m, OCC_REDUCE_SPREAD)
                     : occ_vset(occ_reduce_terms(terms, rrank, rdim, rstride, count > 0, occ_vlane(m, 0),
                                                 OCC_REDUCE_SPREAD));
            v = occ_vrecip(occ_vsqrt(occ_vadd(occ_vdiv(v, by), occ_vset(epsilon))));
            if (mean)
                occ_vstores(mean + to.offset + c * ky[last], ky[last], m, n);
            occ_vstores(inverse + to.offset + c * ky[last], ky[last], v, n);
        }
    } while (occ_walk_both(&to, ky, &from, kx, kdim));
}
