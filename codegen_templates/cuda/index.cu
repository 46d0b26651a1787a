/* index.cu - twins of kernels that pick and place elements: each thread computes every so many of the results, whose
 * places follow from their numbers. What indices and padding mean is said in index.c, whose functions are used. */
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
        const int64_t  tuple = n / inner;
        const int64_t *at = index + tuple * depth;
        int64_t        from = 0;

        for (int64_t r = 0; r < depth; r++) {
            const int64_t i = occ_index(at[r], dim[r]);

            if (i < 0)
                return OCC_EINDEX;
            from = from * dim[r] + i;
        }
        y[n] = x[(tuple / count * slices + from) * inner + n % inner];
    }
    return 0;
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
