/* index.c - kernels that read and write elements by index. Operands are dense and row-major unless a stride is named. A
 * negative index counts from the end; an index outside its axis ends the run with OCC_EINDEX. */
#include "occ_turn.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* Normalises an index to 0 .. n - 1; -1 where it is outside. */
OCC_HOT int64_t occ_index(int64_t index, int64_t n)
{
    if (index < 0)
        index += n;
    return index >= 0 && index < n ? index : -1;
}

/* Are the indices 0, 0, 1, 1, ... to axis - 1, as where an image becomes twice as large? */
OCC_HOT int occ_gather_doubles_TPL_N(const int64_t *index, int64_t axis, int64_t count)
{
    int64_t k = 0;

    while (k < count && index[k] == k / 2)
        k++;
    return k == count && count == 2 * axis;
}

/* y[k] = x[index[k]] for 0 <= k < count. */
OCC_HOT void occ_gather_row_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t axis, int64_t count,
                                  int doubles)
{
    int64_t k = 0;

#if OCC_TURNS_FOURS
    if (doubles && sizeof *y == 4)
        for (; axis - k >= 4; k += 4)
            occ_double_four((char *)(y + 2 * k), (const char *)(x + k));
#endif
    for (; doubles && k < axis; k++) {
        const TPL_T two[2] = {x[k], x[k]};

        memcpy(y + 2 * k, two, sizeof two);
    }
    for (; k < count && !doubles; k++)
        y[k] = x[index[k] + (index[k] < 0 ? axis : 0)];
}

/* gather - y[o][k][i] = x[o][index[k]][i].
 *   y [outer][count][inner], x [outer][axis][inner], index [count] */
OCC_INLINE int occ_gather_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t outer, int64_t axis,
                                int64_t count, int64_t inner)
{
    const int doubles = inner == 1 && occ_gather_doubles_TPL_N(index, axis, count);

    for (int64_t k = 0; k < count; k++)
        if (occ_index(index[k], axis) < 0)
            return OCC_EINDEX;
    for (int64_t o = 0; o < outer; o++) {
        if (inner == 1)
            occ_gather_row_TPL_N(y + o * count, x + o * axis, index, axis, count, doubles);
        for (int64_t k = 0; k < count && inner != 1; k++)
            memcpy(y + (o * count + k) * inner, x + (o * axis + occ_index(index[k], axis)) * inner,
                   (size_t)inner * sizeof *y);
    }
    return 0;
}

/* gather_elements - y[..k..] = x[..index[..k..]..] along one axis. y and index have extents dim; x may be larger along
 * the other axes.
 *   dim, xstride [rank] */
OCC_INLINE int occ_gather_elements_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t rank,
                                         const occ_extent *dim, const occ_extent *xstride, int64_t axis, int64_t extent)
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

/* The number of the slice that a tuple of `depth` indices names; -1: one of them is outside its axis. */
OCC_HOT int64_t occ_slice_at(const int64_t *index, int64_t depth, const occ_extent *dim)
{
    int64_t slice = 0;

    for (int64_t r = 0; r < depth; r++) {
        int64_t i = occ_index(index[r], dim[r]);

        if (i < 0)
            return -1;
        slice = slice * dim[r] + i;
    }
    return slice;
}

/* gather_nd - each tuple of `depth` indices names one slice of x, which is copied to y.
 *   y [batch][count][inner], index [batch][count][depth], x [batch][dim[0]]..[dim[depth-1]][inner] */
OCC_INLINE int occ_gather_nd_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t batch, int64_t count,
                                   int64_t depth, const occ_extent *dim, int64_t inner)
{
    int64_t slices = occ_count(depth, dim);

    for (int64_t b = 0; b < batch; b++, x += slices * inner)
        for (int64_t k = 0; k < count; k++, index += depth) {
            int64_t from = occ_slice_at(index, depth, dim);

            if (from < 0)
                return OCC_EINDEX;
            for (int64_t i = 0; i < inner; i++)
                *y++ = x[from * inner + i];
        }
    return 0;
}

/* How a scattered element is combined with the element that is there. */
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

/* scatter_elements - combines update[..k..] into y[..index[..k..]..] along one axis, in row-major order of the updates.
 *   y is a copy of the data already, with strides ystride; update and index have extents dim */
OCC_INLINE int occ_scatter_elements_TPL_N(TPL_T *y, const int64_t *index, const TPL_T *update, int64_t rank,
                                          const occ_extent *dim, const occ_extent *ystride, int64_t axis,
                                          int64_t extent, int64_t how)
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

/* scatter_nd - combines each slice of update into the slice of y that a tuple of `depth` indices names.
 *   y is a copy of the data already: [dim[0]]..[dim[depth-1]][inner], index [count][depth], update [count][inner] */
OCC_INLINE int occ_scatter_nd_TPL_N(TPL_T *y, const int64_t *index, const TPL_T *update, int64_t count, int64_t depth,
                                    const occ_extent *dim, int64_t inner, int64_t how)
{
    for (int64_t k = 0; k < count; k++, index += depth) {
        int64_t to = occ_slice_at(index, depth, dim);

        if (to < 0)
            return OCC_EINDEX;
        for (int64_t i = 0; i < inner; i++, update++)
            y[to * inner + i] = occ_scatter_TPL_N(y[to * inner + i], *update, how);
    }
    return 0;
}

/* The element that a place of the padding holds. */
#define OCC_PAD_CONSTANT 0
#define OCC_PAD_REFLECT 1
#define OCC_PAD_EDGE 2
#define OCC_PAD_WRAP 3

/* The index in 0 .. n - 1 of the element at position i, which may be outside; -1: the constant. OCC_PAD_REFLECT with n
 * = 4 maps -2, -1, 4 and 5 to 2, 1, 2 and 1. */
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
    if (i > -n && i < 2 * n - 1) /* padding is seldom wider than the row, and a division takes long */
        return i < 0 ? -i : 2 * n - 2 - i;
    i = ((i % (2 * n - 2)) + (2 * n - 2)) % (2 * n - 2);
    return i < n ? i : 2 * n - 2 - i;
}

/* Positions `first` to last - 1 of a padded row. */
OCC_HOT void occ_pad_part_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *value, int64_t first, int64_t last,
                                int64_t extent, int64_t before, int64_t ystride, int64_t xstride, int64_t mode)
{
    for (int64_t k = first; k < last; k++) {
        const int64_t i = occ_pad_index(k - before, extent, mode);

        y[k * ystride] = i >= 0 ? x[i * xstride] : *value;
    }
}

/* One row: the padding in front, the `extent` elements of x, the padding behind. */
OCC_HOT void occ_pad_row_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *value, int64_t count, int64_t extent,
                               int64_t before, int64_t ystride, int64_t xstride, int64_t mode)
{
    const int64_t front = occ_min(occ_max(before, 0), count), back = occ_max(front, occ_min(count, extent + before));

    occ_pad_part_TPL_N(y, x, value, 0, front, extent, before, ystride, xstride, mode);
    if (ystride == 1 && xstride == 1)
        memcpy(y + front, x + (front - before), (size_t)(back - front) * sizeof *y);
    for (int64_t k = front; k < back && !(ystride == 1 && xstride == 1); k++)
        y[k * ystride] = x[(k - before) * xstride];
    occ_pad_part_TPL_N(y, x, value, back, count, extent, before, ystride, xstride, mode);
}

/* pad - y is x with before[r] elements in front of axis r (negative: so many are cut off); the extents of y leave room
 * for the padding behind.
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
        if (inside)
            occ_pad_row_TPL_N(to, x + from, value, ydim[last], xdim[last], before[last], ystride[last], xstride[last],
                              mode);
        for (int64_t k = 0; k < ydim[last] && !inside; k++)
            to[k * ystride[last]] = *value;
        for (int64_t r = last; r-- > 0 && ++at[r] == ydim[r];)
            at[r] = 0;
    }
}

/* One row y[i] = x[i * xstride]. */
OCC_HOT void occ_tile_row_TPL_N(TPL_T *y, const TPL_T *x, int64_t n, int64_t xstride)
{
    if (xstride == 1 && n > 1) {
        memcpy(y, x, (size_t)n * sizeof *y);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i * xstride];
}

/* tile - y is x repeated along every axis.
 *   ydim, xdim, xstride [rank] */
OCC_INLINE void occ_tile_TPL_N(TPL_T *y, const TPL_T *x, int64_t rank, const occ_extent *ydim, const occ_extent *xdim,
                               const occ_extent *xstride)
{
    const int64_t last = rank - 1;
    int64_t       at[8] = {0};

    if (rank == 0) {
        *y = *x;
        return;
    }
    for (int64_t rows = occ_count(last, ydim); rows > 0; rows--, y += ydim[last]) {
        const TPL_T *from = x;

        for (int64_t r = 0; r < last; r++)
            from += (at[r] % xdim[r]) * xstride[r];
        for (int64_t k = 0; k < ydim[last]; k += xdim[last])
            occ_tile_row_TPL_N(y + k, from, xdim[last], xstride[last]);
        for (int64_t r = last; r-- > 0 && ++at[r] == ydim[r];)
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
