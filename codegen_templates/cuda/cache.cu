/* cache.cu - the twin of the cache of keys and values: each thread computes every so many of the elements. */
#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* cache_append - each head of y holds the first length[b] rows of the past, then the new rows, then zeros. In place, y
 * holds the past already, and keeps the rows from `total` on. */
OCC_INLINE int occ_cache_append_TPL_N(TPL_T *y, const TPL_T *past, const TPL_T *now, const int64_t *length,
                                      int64_t batch, int64_t heads, int64_t rows, int64_t total, int64_t old,
                                      int64_t fresh, int64_t width, const occ_extent *nstride)
{
    const int64_t count = batch * heads * rows * width, end = past || old == 0 ? rows : occ_min(total, rows);

    for (int64_t b = 0; b < batch; b++)
        if (length[b] < 0 || length[b] > old || length[b] > rows - fresh)
            return OCC_EINDEX;
    for (int64_t n = occ_unit(); n < count; n += occ_units()) {
        const int64_t i = n % width, row = n / width % rows, head = n / width / rows, b = head / heads;
        const int64_t more = row - length[b];

        if (more < 0 && past)
            y[n] = past[(head * old + row) * width + i];
        else if (more >= 0 && more < fresh)
            y[n] = now[b * nstride[0] + head % heads * nstride[1] + more * nstride[2] + i];
        else if (more >= fresh && row < end)
            y[n] = (TPL_T)0;
    }
    return 0;
}
