/* index.cu - twins of kernels that pick and place elements: each thread computes every so many of the results, whose
 * places follow from their numbers, or, of scattered slices, of their columns. What indices and padding mean is said in
 * index.c, whose functions are used. */
#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* gather - y[o][k][i] = x[o][index[k]][i]. */
OCC_INLINE int occ_gather_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t outer, int64_t axis,
                                int64_t count, int64_t inner)
{
    const int64_t total = outer * count * inner;

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const int64_t i = n % inner, k = n / inner % count, o = n / inner / count, from = occ_index(index[k], axis);

        if (from < 0)
            return OCC_EINDEX;
        y[n] = x[(o * axis + from) * inner + i];
    }
    return 0;
}

/* gather_elements - y[..k..] = x[..index[..k..]..] along one axis. */
OCC_INLINE int occ_gather_elements_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t rank,
                                         const occ_extent *dim, const occ_extent *xstride, int64_t axis, int64_t extent)
{
    const int64_t total = occ_count(rank, dim);

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        int64_t from = occ_index(index[n], extent);

        if (from < 0)
            return OCC_EINDEX;
        from *= xstride[axis];
        for (int64_t r = rank, rest = n; r-- > 0; rest /= dim[r])
            from += r == axis ? 0 : rest % dim[r] * xstride[r];
        y[n] = x[from];
    }
    return 0;
}

/* gather_nd - each tuple of index names a slice of x. */
OCC_INLINE int occ_gather_nd_TPL_N(TPL_T *y, const TPL_T *x, const int64_t *index, int64_t batch, int64_t count,
                                   int64_t depth, const occ_extent *dim, int64_t inner)
{
    const int64_t total = batch * count * inner, slices = occ_count(depth, dim);

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const int64_t tuple = n / inner, from = occ_slice_at(index + tuple * depth, depth, dim);

        if (from < 0)
            return OCC_EINDEX;
        y[n] = x[(tuple / count * slices + from) * inner + n % inner];
    }
    return 0;
}

#define OCC_SCATTER_UPDATES 256 /* whose slices lie in shared memory at a time */
#define OCC_SCATTER_SHARES 32   /* threads that share the updates of a column, at most: a power of two */

/* Combines updates first to last - 1 with column i of the slices that share `share` of `shares` has. */
OCC_HOT void occ_scatter_column_TPL_N(TPL_T *y, const int64_t *slice, const TPL_T *update, int64_t first, int64_t last,
                                      int64_t inner, int64_t i, int64_t share, int64_t shares, int64_t how)
{
    for (int64_t k = first; k < last; k++) {
        const int64_t to = slice[k - first];

        if (to >= 0 && (to & (shares - 1)) == share)
            y[to * inner + i] = occ_scatter_TPL_N(y[to * inner + i], update[k * inner + i], how);
    }
}

/* scatter_nd - combines each slice of update with the slice of y that a tuple of indices names. Each thread has columns
 * of its own, or where there are fewer columns than threads some slices of a column; it goes through all updates in
 * their order. */
OCC_INLINE int occ_scatter_nd_TPL_N(TPL_T *y, const int64_t *index, const TPL_T *update, int64_t count, int64_t depth,
                                    const occ_extent *dim, int64_t inner, int64_t how)
{
    OCC_SHARED_ARRAY(int64_t, slice, OCC_SCATTER_UPDATES);
    const int64_t columns = occ_min(inner, occ_units()), share = occ_unit() / occ_max(columns, 1);
    int64_t       shares = 1;
    int           code = 0;

    while (shares < OCC_SCATTER_SHARES && 2 * shares * columns <= occ_units())
        shares *= 2;
    for (int64_t first = 0; first < count; first += OCC_SCATTER_UPDATES) {
        const int64_t last = occ_min(first + OCC_SCATTER_UPDATES, count);

        for (int64_t k = first + occ_thread(); k < last; k += occ_threads()) {
            slice[k - first] = occ_slice_at(index + k * depth, depth, dim);
            code = slice[k - first] < 0 ? OCC_EINDEX : code;
        }
        occ_barrier(); /* the slices are there */
        for (int64_t i = occ_unit() % occ_max(columns, 1); share < shares && i < inner; i += columns)
            occ_scatter_column_TPL_N(y, slice, update, first, last, inner, i, share, shares, how);
        occ_barrier(); /* they have been used */
    }
    return code;
}

/* pad - y is x with `before[r]` elements in front of axis r (negative: cut) and what its extent leaves behind. */
OCC_INLINE void occ_pad_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *value, int64_t rank, const occ_extent *ydim,
                              const occ_extent *ystride, const occ_extent *xdim, const occ_extent *xstride,
                              const occ_extent *before, int64_t mode)
{
    const int64_t total = occ_count(rank, ydim);

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        int64_t to = 0, from = 0, inside = 1;

        for (int64_t r = rank, rest = n; r-- > 0; rest /= ydim[r]) {
            const int64_t at = rest % ydim[r], i = occ_pad_index(at - before[r], xdim[r], mode);

            to += at * ystride[r];
            from += i * xstride[r];
            inside = inside && i >= 0;
        }
        y[to] = inside ? x[from] : *value;
    }
}

/* tile - y is x repeated along every axis. */
OCC_INLINE void occ_tile_TPL_N(TPL_T *y, const TPL_T *x, int64_t rank, const occ_extent *ydim, const occ_extent *xdim,
                               const occ_extent *xstride)
{
    const int64_t total = occ_count(rank, ydim);

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        int64_t from = 0;

        for (int64_t r = rank, rest = n; r-- > 0; rest /= ydim[r])
            from += rest % ydim[r] % xdim[r] * xstride[r];
        y[n] = x[from];
    }
}

/* onehot - y[o][d][i] = on where index[o][i] is d, else off; values: {off, on}. */
OCC_INLINE void occ_onehot_TPL_N(TPL_T *y, const int64_t *index, const TPL_T *values, int64_t outer, int64_t depth,
                                 int64_t inner)
{
    const int64_t total = outer * depth * inner;

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const int64_t i = n % inner, d = n / inner % depth, o = n / inner / depth;

        y[n] = values[occ_index(index[o * inner + i], depth) == d];
    }
}
