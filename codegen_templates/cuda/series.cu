/* series.cu - twins of kernels whose results follow from their places: each thread computes
 * every so many of the results. */
#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* trilu - the upper (lower) triangle of matrices, zero elsewhere; diagonal k counts to the right. */
OCC_INLINE void occ_trilu_TPL_N(TPL_T *y, const TPL_T *x, int64_t batch, int64_t rows, int64_t cols, int64_t k,
                                int64_t upper)
{
    const int64_t total = batch * rows * cols;

    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const int64_t c = n % cols, r = n / cols % rows;

        y[n] = (upper ? c - r >= k : c - r <= k) ? x[n] : (TPL_T)0;
    }
}

/* eye - ones on diagonal k, zeros elsewhere. y [rows][cols] */
OCC_INLINE void occ_eye_TPL_N(TPL_T *y, int64_t rows, int64_t cols, int64_t k)
{
    for (int64_t n = occ_unit(); n < rows * cols; n += occ_units())
        y[n] = (TPL_T)(n % cols - n / cols == k);
}

/* range - start, start + delta, ...; y [count] */
OCC_INLINE void occ_range_TPL_N(TPL_T *y, const TPL_T *start, const TPL_T *delta, int64_t count)
{
    for (int64_t i = occ_unit(); i < count; i += occ_units())
        y[i] = (TPL_T)(*start + (TPL_T)i * *delta);
}

/* fill - y [count] becomes the one element of x. */
OCC_INLINE void occ_fill_TPL_N(TPL_T *y, const TPL_T *x, int64_t count)
{
    for (int64_t i = occ_unit(); i < count; i += occ_units())
        y[i] = *x;
}
