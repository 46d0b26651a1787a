/* lrn_f32.c - local response normalisation: each element divided by a power of the sum of squares of its neighbours
 * along one axis. Vectors run along that axis where its elements are neighbours in memory, else along an axis where
 * they are. */
#include "occ_vapart.h"
#include "occ_walk.h"

#define OCC_LRN_CHUNK 256 /* elements that are computed together */
#define OCC_LRN_REACH 64  /* the most neighbours on one side for which the squares of a chunk are kept in a line */

/* How far the windows extend along an axis of `axis` elements, and the divisor (factor * u + bias)^beta for a sum u. */
typedef struct occ_lrn {
    int64_t axis, before, behind;
    float   factor, bias, beta;
} occ_lrn;

/* Divides x by (factor * sum + bias)^beta; square roots serve the usual exponents. */
OCC_HOT occ_vf occ_lrn_divide(occ_vf x, occ_vf sum, const occ_lrn *l)
{
    const occ_vf base = occ_vfma(sum, occ_vset(l->factor), occ_vset(l->bias));
    occ_vf       root;

    if (l->beta != 0.75f && l->beta != 0.5f)
        return x / occ_vpow_apart(base, occ_vset(l->beta));
    root = occ_vsqrt(base);
    return x / (l->beta == 0.5f ? root : root * occ_vsqrt(root));
}

/* n neighbours at every place along the axis, whose elements are sx and sy apart. */
OCC_HOT void occ_lrn_lanes(float *y, const float *x, int64_t n, int64_t sx, int64_t sy, const occ_lrn *l)
{
    for (int64_t c = 0; c < l->axis; c++) {
        const int64_t first = occ_max(0, c - l->before), last = occ_min(l->axis - 1, c + l->behind);

        for (int64_t i = 0; i < n; i += OCC_W) {
            const int lanes = (int)occ_min(OCC_W, n - i);
            occ_vf    sum = occ_vset(0.0f);

            for (int64_t k = first; k <= last; k++) {
                const occ_vf v = occ_vload(x + k * sx + i, lanes);

                sum = occ_vfma(v, v, sum);
            }
            occ_vstore(y + c * sy + i, occ_lrn_divide(occ_vload(x + c * sx + i, lanes), sum, l), lanes);
        }
    }
}

/* line[i] = the square of element from + i along the axis; elements outside count as 0. */
OCC_HOT void occ_lrn_squares(float *line, const float *x, int64_t from, int64_t count, int64_t axis)
{
    const int64_t first = occ_min(count, occ_max(0, -from)), last = occ_max(first, occ_min(count, axis - from));

    for (int64_t i = 0; i < first; i++)
        line[i] = 0.0f;
    for (int64_t i = first; i < last; i += OCC_W) {
        const int n = (int)occ_min(OCC_W, last - i);

        occ_vstore(line + i, occ_vsquare(occ_vload(x + from + i, n)), n);
    }
    for (int64_t i = last; i < count; i++)
        line[i] = 0.0f;
}

/* All elements along the axis, which are neighbours. */
OCC_HOT void occ_lrn_row(float *y, const float *x, const occ_lrn *l)
{
    float line[OCC_LRN_CHUNK + 2 * OCC_LRN_REACH + OCC_W];

    for (int64_t from = 0; from < l->axis; from += OCC_LRN_CHUNK) {
        const int64_t n = occ_min(OCC_LRN_CHUNK, l->axis - from);

        occ_lrn_squares(line, x, from - l->before, l->before + n + l->behind, l->axis);
        for (int64_t i = 0; i < n; i += OCC_W) {
            const int lanes = (int)occ_min(OCC_W, n - i);
            occ_vf    sum = occ_vset(0.0f);

            for (int64_t k = 0; k <= l->before + l->behind; k++)
                sum = occ_vadd(sum, occ_vload(line + i + k, lanes));
            occ_vstore(y + from + i, occ_lrn_divide(occ_vload(x + from + i, lanes), sum, l), lanes);
        }
    }
}

/* The axis of channels: its elements, their strides in x and y, and how many neighbours before and behind are
 * summed. */
typedef struct occ_lrn_axis {
    int64_t axis, sx, sy, before, behind;
    float   factor, bias, beta;
} occ_lrn_axis;

/* lrn - y = x / (bias + factor * sum)^beta along `axis` elements, sx and sy apart. sum: the squares of x, of the
 * `before` elements before it and of the `behind` elements behind it.
 *   For every place of the kept axes: extents kdim [krank], krank >= 1, strides ky and kx. */
OCC_INLINE void occ_lrn_f32(float *y, const float *x, const occ_lrn_axis *form, int64_t krank, const occ_extent *kdim,
                            const occ_extent *ky, const occ_extent *kx)
{
    const int64_t axis = form->axis, sx = form->sx, sy = form->sy, before = form->before, behind = form->behind;
    const float   factor = form->factor, bias = form->bias, beta = form->beta;
    const occ_lrn l = {axis, before, behind, factor, bias, beta};
    const int64_t last = krank - 1, row = sx == 1 && sy == 1 && before <= OCC_LRN_REACH && behind <= OCC_LRN_REACH;
    const int64_t step = !row && kx[last] == 1 && ky[last] == 1 ? OCC_LRN_CHUNK : 1;
    occ_walk      to = {last, {0}, 0}, from = {last, {0}, 0};

    if (!occ_count(krank, kdim))
        return;
    do {
        for (int64_t i = 0; i < kdim[last]; i += step) {
            float       *yi = y + to.offset + i * ky[last];
            const float *xi = x + from.offset + i * kx[last];

            if (row)
                occ_lrn_row(yi, xi, &l);
            else
                occ_lrn_lanes(yi, xi, occ_min(step, kdim[last] - i), sx, sy, &l);
        }
    } while (occ_walk_both(&to, ky, &from, kx, kdim));
}
