/* index.c - kernels that pick, place and order elements by indices. Operands are dense and row-major unless a stride is
 * named. Indices may be negative, counted from the back; an index outside its axis ends the run with OCC_EINDEX. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* An index in 0 .. n-1, or -1 when it is outside. */
OCC_HOT int64_t occ_index(int64_t index, int64_t n)
{
    if (index < 0)
        index += n;
    return index >= 0 && index < n ? index : -1;
}

/* gather - y[o][k][i] = x[o][index[k]][i].
 *   y [outer][count][inner], x [outer][axis][inner], index [count] */
OCC_INLINE int occ_gather_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t outer, int64_t axis, int64_t count,
                                int64_t inner)
{
    for (int64_t k = 0; k < count; k++)
        if (occ_index(index[k], axis) < 0)
            return OCC_EINDEX;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < count; k++) {
            const TPL_T *from = x + (o * axis + occ_index(index[k], axis)) * inner;

            for (int64_t i = 0; i < inner; i++)
                *y++ = from[i];
        }
    return 0;
}

/* gather_elements - y[..k..] = x[..index[..k..]..] along one axis; y and index have extents dim, x may be larger elsewhere.
 *   dim, xstride [rank] */
OCC_INLINE int occ_gather_elements_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t rank, const occ_extent *dim,
                                         const occ_extent *xstride, int64_t axis, int64_t extent)
{
    int64_t at[8] = {0}, total = occ_count(rank, dim);

    for (int64_t n = 0; n < total; n++) {
        int64_t from = occ_index(index[n], extent);

        if (from < 0)
            return OCC_EINDEX;
        from *= xstride[axis];
        for (int64_t r = 0; r < rank; r++)
            from += r == axis ? 0 : at[r] * xstride[r];
        y[n] = x[from];
        for (int64_t r = rank; r-- > 0 && ++at[r] == dim[r];)
            at[r] = 0;
    }
    return 0;
}

/* gather_nd - each tuple of index names a slice of x.
 *   y [batch][count][inner], index [batch][count][depth], x [batch][dim[0]]..[dim[depth-1]][inner] */
OCC_INLINE int occ_gather_nd_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t batch, int64_t count, int64_t depth,
                                   const occ_extent *dim, int64_t inner)
{
    int64_t slices = occ_count(depth, dim);

    for (int64_t b = 0; b < batch; b++, x += slices * inner)
        for (int64_t k = 0; k < count; k++, index += depth) {
            int64_t from = 0;

            for (int64_t r = 0; r < depth; r++) {
                int64_t i = occ_index(index[r], dim[r]);

                if (i < 0)
                    return OCC_EINDEX;
                from = from * dim[r] + i;
            }
            for (int64_t i = 0; i < inner; i++)
                *y++ = x[from * inner + i];
        }
    return 0;
}

/* How a scattered element meets the one that is there. */
#define OCC_SCATTER_SET 0
#define OCC_SCATTER_ADD 1
#define OCC_SCATTER_MUL 2
#define OCC_SCATTER_MAX 3
#define OCC_SCATTER_MIN 4

OCC_HOT TPL_T occ_scatter_TPL_N(TPL_T old, TPL_T update, int64_t how)
{
    switch (how) {
    case OCC_SCATTER_ADD:
        return (TPL_T)(old + update);
    case OCC_SCATTER_MUL:
        return (TPL_T)(old * update);
    case OCC_SCATTER_MAX:
        return old < update ? update : old;
    case OCC_SCATTER_MIN:
        return update < old ? update : old;
    default:
        return update;
    }
}

/* scatter_elements - y[..index[..k..]..] takes update[..k..] along one axis, in row-major order of the updates.
 *   y is a copy of the data already, with strides ystride; update and index have extents dim */
OCC_INLINE int occ_scatter_elements_TPL_N(TPL_T *y, const int64_t *index, const TPL_T *update, int64_t rank,
                                          const occ_extent *dim, const occ_extent *ystride, int64_t axis, int64_t extent,
                                          int64_t how)
{
    int64_t at[8] = {0}, total = occ_count(rank, dim);

    for (int64_t n = 0; n < total; n++) {
        int64_t to = occ_index(index[n], extent);

        if (to < 0)
            return OCC_EINDEX;
        to *= ystride[axis];
        for (int64_t r = 0; r < rank; r++)
            to += r == axis ? 0 : at[r] * ystride[r];
        y[to] = occ_scatter_TPL_N(y[to], update[n], how);
        for (int64_t r = rank; r-- > 0 && ++at[r] == dim[r];)
            at[r] = 0;
    }
    return 0;
}

/* scatter_nd - each tuple of index names a slice of y (a copy of the data already) that takes a slice of update.
 *   y [dim[0]]..[dim[depth-1]][inner], index [count][depth], update [count][inner] */
OCC_INLINE int occ_scatter_nd_TPL_N(TPL_T *y, const int64_t *index, const TPL_T *update, int64_t count, int64_t depth,
                                    const occ_extent *dim, int64_t inner, int64_t how)
{
    for (int64_t k = 0; k < count; k++, index += depth) {
        int64_t to = 0;

        for (int64_t r = 0; r < depth; r++) {
            int64_t i = occ_index(index[r], dim[r]);

            if (i < 0)
                return OCC_EINDEX;
            to = to * dim[r] + i;
        }
        for (int64_t i = 0; i < inner; i++, update++)
            y[to * inner + i] = occ_scatter_TPL_N(y[to * inner + i], *update, how);
    }
    return 0;
}

/* Where padding takes its element from. */
#define OCC_PAD_CONSTANT 0
#define OCC_PAD_REFLECT 1
#define OCC_PAD_EDGE 2
#define OCC_PAD_WRAP 3

/* The index in 0 .. n-1 that position i (perhaps outside) shows; -1: the constant. */
OCC_HOT int64_t occ_pad_index(int64_t i, int64_t n, int64_t mode)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == OCC_PAD_CONSTANT || n <= 0)
        return -1;
    if (mode == OCC_PAD_EDGE || n == 1)
        return i < 0 ? 0 : n - 1;
    if (mode == OCC_PAD_WRAP)
        return ((i % n) + n) % n;
    i = ((i % (2 * n - 2)) + (2 * n - 2)) % (2 * n - 2);
    return i < n ? i : 2 * n - 2 - i;
}

/* pad - y is x with `before[r]` elements in front of axis r (negative: cut) and what its extent leaves behind.
 *   ydim, ystride, xdim, xstride, before [rank]; value: one element */
OCC_INLINE void occ_pad_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *value, int64_t rank, const occ_extent *ydim,
                              const occ_extent *ystride, const occ_extent *xdim, const occ_extent *xstride,
                              const occ_extent *before, int64_t mode)
{
    int64_t at[8] = {0}, last = rank - 1, rows = occ_count(last, ydim);

    for (int64_t n = 0; n < rows; n++) {
        TPL_T  *to = y;
        int64_t from = 0, inside = 1;

        for (int64_t r = 0; r < last; r++) {
            int64_t i = occ_pad_index(at[r] - before[r], xdim[r], mode);

            to += at[r] * ystride[r];
            inside = inside && i >= 0;
            from += i * xstride[r];
        }
        for (int64_t k = 0; k < ydim[last]; k++) {
            int64_t i = occ_pad_index(k - before[last], xdim[last], mode);

            to[k * ystride[last]] = inside && i >= 0 ? x[from + i * xstride[last]] : *value;
        }
        for (int64_t r = last; r-- > 0 && ++at[r] == ydim[r];)
            at[r] = 0;
    }
}

/* tile - y is x repeated along every axis.
 *   ydim, xdim, xstride [rank] */
OCC_INLINE void occ_tile_TPL_N(TPL_T *y, const TPL_T *x, int64_t rank, const occ_extent *ydim, const occ_extent *xdim,
                               const occ_extent *xstride)
{
    int64_t at[8] = {0}, total = occ_count(rank, ydim);

    for (int64_t n = 0; n < total; n++) {
        int64_t from = 0;

        for (int64_t r = 0; r < rank; r++)
            from += (at[r] % xdim[r]) * xstride[r];
        y[n] = x[from];
        for (int64_t r = rank; r-- > 0 && ++at[r] == ydim[r];)
            at[r] = 0;
    }
}

/* onehot - y[o][d][i] = on where index[o][i] is d, else off. An index outside the depth gives a row of off.
 *   values: {off, on} */
OCC_INLINE void occ_onehot_TPL_N(TPL_T *y, const int64_t *index, const TPL_T *values, int64_t outer, int64_t depth,
                                 int64_t inner)
{
    for (int64_t o = 0; o < outer; o++, index += inner)
        for (int64_t d = 0; d < depth; d++)
            for (int64_t i = 0; i < inner; i++)
                *y++ = values[occ_index(index[i], depth) == d];
}

/* Whether element a (at place i) comes before element b (at place k): larger (smaller) first, the lower place among
 * equals, NaN as the largest of all. */
OCC_HOT int occ_ranks_before_TPL_N(TPL_T a, int64_t i, TPL_T b, int64_t k, int64_t largest)
{
    double wide_a = (double)a, wide_b = (double)b;
    int    nan_a = wide_a != wide_a, nan_b = wide_b != wide_b;

    if (nan_a != nan_b)
        return largest ? nan_a : nan_b;
    if (nan_a || a == b)
        return i < k;
    return largest ? a > b : a < b;
}

OCC_HOT void occ_sift_TPL_N(TPL_T *value, int64_t *place, int64_t step, int64_t n, int64_t largest)
{
    for (int64_t i = 0; 2 * i + 1 < n;) { /* a heap whose root is the last of those kept */
        int64_t child = 2 * i + 1;

        if (child + 1 < n && occ_ranks_before_TPL_N(value[child * step], place[child * step], value[(child + 1) * step],
                                                    place[(child + 1) * step], largest))
            child++;
        if (!occ_ranks_before_TPL_N(value[i * step], place[i * step], value[child * step], place[child * step], largest))
            return;
        {
            TPL_T   v = value[i * step];
            int64_t p = place[i * step];

            value[i * step] = value[child * step];
            place[i * step] = place[child * step];
            value[child * step] = v;
            place[child * step] = p;
        }
        i = child;
    }
}

/* topk - the k largest (smallest) of n elements along an axis and their places; sorted, the lower place among equals.
 *   x [outer][n][inner], value and place [outer][k][inner]; 0 <= k <= n, else OCC_EINDEX; a heap of k lies in the result */
OCC_INLINE int occ_topk_TPL_N(TPL_T *value, int64_t *place, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t k,
                              int64_t largest)
{
    if (k < 0 || k > n)
        return OCC_EINDEX;
    for (int64_t row = 0; row < outer * inner && k > 0; row++) {
        int64_t      o = row / inner, i = row % inner;
        const TPL_T *from = x + o * n * inner + i;
        TPL_T       *v = value + o * k * inner + i;
        int64_t     *p = place + o * k * inner + i;

        for (int64_t j = 0; j < k; j++) { /* grow the heap: each new element rises to its place */
            int64_t c = j;

            v[j * inner] = from[j * inner];
            p[j * inner] = j;
            while (c > 0 && occ_ranks_before_TPL_N(v[(c - 1) / 2 * inner], p[(c - 1) / 2 * inner], v[c * inner], p[c * inner], largest)) {
                int64_t up = (c - 1) / 2;
                TPL_T   t = v[up * inner];
                int64_t q = p[up * inner];

                v[up * inner] = v[c * inner];
                p[up * inner] = p[c * inner];
                v[c * inner] = t;
                p[c * inner] = q;
                c = up;
            }
        }
        for (int64_t j = k; j < n; j++)
            if (occ_ranks_before_TPL_N(from[j * inner], j, v[0], p[0], largest)) {
                v[0] = from[j * inner];
                p[0] = j;
                occ_sift_TPL_N(v, p, inner, k, largest);
            }
        for (int64_t j = k - 1; j > 0; j--) { /* the root is the last of the first j + 1 */
            TPL_T   t = v[0];
            int64_t q = p[0];

            v[0] = v[j * inner];
            p[0] = p[j * inner];
            v[j * inner] = t;
            p[j * inner] = q;
            occ_sift_TPL_N(v, p, inner, j, largest);
        }
    }
    return 0;
}

/* argmax - the place of the largest (smallest) of n elements; the first or the last among equals.
 *   x [outer][n][inner], y [outer][inner] */
OCC_INLINE void occ_argmax_TPL_N(int64_t *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t largest,
                                 int64_t last)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            const TPL_T *from = x + o * n * inner + i;
            int64_t      best = 0;

            for (int64_t k = 1; k < n; k++) {
                TPL_T a = from[k * inner], b = from[best * inner];

                if (largest ? (last ? a >= b : a > b) : (last ? a <= b : a < b))
                    best = k;
            }
            y[o * inner + i] = best;
        }
}

/* nonzero - the coordinates of every element that is not zero, one row of y for each axis; count: how many.
 *   x has extents dim [rank]; y [rank][count], written with rows of capacity `room` and drawn together at the end
 *   found fewer than `fewest`: OCC_ESHAPE; more than `room`: OCC_ECAPACITY */
OCC_INLINE int occ_nonzero_TPL_N(int64_t *y, int64_t *count, const TPL_T *x, int64_t rank, const occ_extent *dim, int64_t fewest,
                                 int64_t room)
{
    int64_t at[8] = {0}, total = occ_count(rank, dim), found = 0;

    for (int64_t n = 0; n < total; n++) {
        if (x[n] != 0) {
            if (found == room)
                return OCC_ECAPACITY;
            for (int64_t r = 0; r < rank; r++)
                y[r * room + found] = at[r];
            found++;
        }
        for (int64_t r = rank; r-- > 0 && ++at[r] == dim[r];)
            at[r] = 0;
    }
    for (int64_t r = 1; r < rank; r++)
        for (int64_t n = 0; n < found; n++)
            y[r * found + n] = y[r * room + n];
    *count = found;
    return found < fewest ? OCC_ESHAPE : 0;
}

/* compress - the slices along an axis whose condition is true; count: how many.
 *   x [outer][axis][inner], condition [conditions], conditions may be shorter than the axis
 *   fewer than `fewest` are true: OCC_ESHAPE; more than `most`: OCC_ECAPACITY */
OCC_INLINE int occ_compress_TPL_N(TPL_T *y, int64_t *count, const TPL_T *x, const uint8_t *condition, int64_t outer,
                                  int64_t axis, int64_t inner, int64_t conditions, int64_t fewest, int64_t most)
{
    int64_t kept = 0;

    for (int64_t k = 0; k < conditions; k++)
        kept += condition[k] != 0;
    for (int64_t k = axis; k < conditions; k++)
        if (condition[k])
            return OCC_EINDEX;
    if (kept < fewest || kept > most)
        return kept < fewest ? OCC_ESHAPE : OCC_ECAPACITY;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < axis && k < conditions; k++)
            if (condition[k])
                for (int64_t i = 0; i < inner; i++)
                    *y++ = x[(o * axis + k) * inner + i];
    *count = kept;
    return 0;
}

/* cumsum - running sums along an axis; exclusive: of the elements before; reverse: from the end.
 *   x, y [outer][n][inner] */
OCC_INLINE void occ_cumsum_TPL_N(TPL_T *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t exclusive,
                                 int64_t reverse)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            TPL_T sum = 0;

            for (int64_t k = 0; k < n; k++) {
                int64_t at = (o * n + (reverse ? n - 1 - k : k)) * inner + i;
                TPL_T   item = x[at];

                y[at] = exclusive ? sum : (TPL_T)(sum + item);
                sum = (TPL_T)(sum + item);
            }
        }
}

/* cumprod - running products, likewise. */
OCC_INLINE void occ_cumprod_TPL_N(TPL_T *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t exclusive,
                                  int64_t reverse)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            TPL_T product = 1;

            for (int64_t k = 0; k < n; k++) {
                int64_t at = (o * n + (reverse ? n - 1 - k : k)) * inner + i;
                TPL_T   item = x[at];

                y[at] = exclusive ? product : (TPL_T)(product * item);
                product = (TPL_T)(product * item);
            }
        }
}

/* trilu - the upper (lower) triangle of matrices, zero elsewhere; diagonal k counts to the right.
 *   x, y [batch][rows][cols] */
OCC_INLINE void occ_trilu_TPL_N(TPL_T *y, const TPL_T *x, int64_t batch, int64_t rows, int64_t cols, int64_t k, int64_t upper)
{
    for (int64_t b = 0; b < batch; b++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++, x++)
                *y++ = (upper ? c - r >= k : c - r <= k) ? *x : (TPL_T)0;
}

/* eye - ones on diagonal k, zeros elsewhere. y [rows][cols] */
OCC_INLINE void occ_eye_TPL_N(TPL_T *y, int64_t rows, int64_t cols, int64_t k)
{
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++)
            *y++ = (TPL_T)(c - r == k);
}

/* range - start, start + delta, ...; y [count] */
OCC_INLINE void occ_range_TPL_N(TPL_T *y, const TPL_T *start, const TPL_T *delta, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = (TPL_T)(*start + (TPL_T)i * *delta);
}

/* range_count - how many elements a range has: max(ceil((limit - start) / delta), 0). */
OCC_INLINE int occ_range_count_TPL_N(int64_t *count, const TPL_T *start, const TPL_T *limit, const TPL_T *delta, int64_t room)
{
    double n = ((double)*limit - (double)*start) / (double)*delta;

    if (!(n <= (double)room)) /* NaN too: a step of 0 */
        return OCC_ECAPACITY;
    *count = n > 0.0 ? (int64_t)n : 0;
    if ((double)*count < n)
        ++*count;
    return 0;
}

/* fill - y [count] becomes the one element of x. */
OCC_INLINE void occ_fill_TPL_N(TPL_T *y, const TPL_T *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = *x;
}

/* ints - y [count] becomes integers known to the run. */
OCC_INLINE void occ_ints_TPL_N(TPL_T *y, const occ_extent *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = (TPL_T)value[i];
}

/* reverse_sequence - the first length[b] elements along the time axis in reverse.
 *   x, y: strides tstride, bstride over [time], [batch], each of `inner` elements; lengths outside 0 .. time: OCC_EINDEX */
OCC_INLINE int occ_reverse_sequence_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *length, int64_t time, int64_t batch,
                                          int64_t tstride, int64_t bstride, int64_t inner)
{
    for (int64_t b = 0; b < batch; b++) {
        if (length[b] < 0 || length[b] > time)
            return OCC_EINDEX;
        for (int64_t t = 0; t < time; t++) {
            int64_t from = t < length[b] ? length[b] - 1 - t : t;

            for (int64_t i = 0; i < inner; i++)
                y[t * tstride + b * bstride + i] = x[from * tstride + b * bstride + i];
        }
    }
    return 0;
}

/* unique - the different slices of x along an axis, with the place of their first one, the inverse map and counts.
 *   x [outer][n][inner]; y like x with count slices; first, counts [count]; inverse [n]; order [n] is scratch;
 *   sorted: slices in rising order, else in the order of their first appearance
 *   found fewer than `fewest`: OCC_ESHAPE; more than `most`: OCC_ECAPACITY */
OCC_INLINE int occ_unique_TPL_N(TPL_T *y, int64_t *first, int64_t *inverse, int64_t *counts, int64_t *count, int64_t *order,
                                const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t sorted, int64_t fewest,
                                int64_t most)
{
    int64_t found = 0;

    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0, same = 0;

        for (; at < found; at++) { /* order[] lists the first places, in the order of the result */
            int64_t more = 0;

            for (int64_t j = 0; j < outer * inner && !more; j++) {
                TPL_T a = x[(j / inner * n + k) * inner + j % inner], b = x[(j / inner * n + order[at]) * inner + j % inner];

                more = a == b ? 0 : a < b ? -1 : 1;
            }
            same = !more;
            if (same || (sorted && more < 0))
                break;
        }
        if (!same) {
            if (found == most)
                return OCC_ECAPACITY;
            for (int64_t j = found; j > at; j--) {
                order[j] = order[j - 1];
                counts[j] = counts[j - 1];
            }
            for (int64_t j = 0; j < k; j++)
                inverse[j] += inverse[j] >= at;
            order[at] = k;
            counts[at] = 0;
            found++;
        }
        counts[at]++;
        inverse[k] = at;
    }
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < found; k++)
            for (int64_t i = 0; i < inner; i++)
                *y++ = x[(o * n + order[k]) * inner + i];
    for (int64_t k = 0; k < found; k++)
        first[k] = order[k];
    *count = found;
    return found < fewest ? OCC_ESHAPE : 0;
}
