/* series.cu - twins of series along an axis, and of kernels whose results follow from their places: of those each
 * thread computes every so many. A long row of running sums is shared out among the threads of a block. */
#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

#define OCC_RUNNING_LONG 64   /* elements from which on a block takes a row of sums */
#define OCC_RUNNING_LANES 256 /* pieces of such a row */

/* The sum of elements first to last - 1 of a row, counted as in occ_running_row. */
OCC_HOT TPL_T occ_running_sum_TPL_N(const TPL_T *x, int64_t first, int64_t last, int64_t n, int64_t inner,
                                    int64_t reverse)
{
    TPL_T sum = (TPL_T)0;

    for (int64_t k = first; k < last; k++)
        sum = occ_wrap_add_TPL_N(sum, x[(reverse ? n - 1 - k : k) * inner]);
    return sum;
}

/* Running sums of a row by all threads of a block: the sums of 256 pieces; from these the sums of all pieces before, by
 * adding the sum 1 piece before, then 2, 4 and so on; then each piece from there. lane: shared, twice as many as pieces
 */
OCC_HOT void occ_running_block_TPL_N(TPL_T *lane, TPL_T *y, const TPL_T *x, int64_t n, int64_t inner, int64_t exclusive,
                                     int64_t reverse)
{
    const int64_t piece = (n + OCC_RUNNING_LANES - 1) / OCC_RUNNING_LANES;
    int           here = 0;

    for (int l = occ_thread(); l < OCC_RUNNING_LANES; l += occ_threads())
        lane[l] = occ_running_sum_TPL_N(x, l * piece, occ_min((l + 1) * piece, n), n, inner, reverse);
    occ_barrier(); /* all sums are there */
    for (int apart = 1; apart < OCC_RUNNING_LANES; apart *= 2) {
        const TPL_T *from = lane + here;

        here = OCC_RUNNING_LANES - here;
        for (int l = occ_thread(); l < OCC_RUNNING_LANES; l += occ_threads())
            lane[here + l] = l >= apart ? occ_wrap_add_TPL_N(from[l - apart], from[l]) : from[l];
        occ_barrier(); /* the others' sums are there */
    }
    for (int l = occ_thread(); l < OCC_RUNNING_LANES; l += occ_threads())
        occ_running_row_TPL_N(y, x, l * piece, occ_min((l + 1) * piece, n), n, inner, exclusive, reverse, 0,
                              l ? lane[here + l - 1] : (TPL_T)0);
    occ_barrier(); /* all have begun with these sums */
}

/* cumsum - running sums. Long rows: a block for each; short rows, and rows side by side: a thread for each. */
OCC_INLINE void occ_cumsum_TPL_N(TPL_T *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t exclusive,
                                 int64_t reverse)
{
    OCC_SHARED_ARRAY(TPL_T, lane, 2 * OCC_RUNNING_LANES);
    const int blocks = n >= OCC_RUNNING_LONG && inner < 32;

    for (int64_t row = blocks ? occ_block() : occ_unit(); row < outer * inner;
         row += blocks ? occ_grid() : occ_units()) {
        const int64_t at = row / inner * n * inner + row % inner;

        if (blocks)
            occ_running_block_TPL_N(lane, y + at, x + at, n, inner, exclusive, reverse);
        else
            occ_running_row_TPL_N(y + at, x + at, 0, n, n, inner, exclusive, reverse, 0, (TPL_T)0);
    }
}

/* cumprod - running products: a thread for each row, since products of pieces leave the numbers' range where those of
 * the row do not. */
OCC_INLINE void occ_cumprod_TPL_N(TPL_T *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t exclusive,
                                  int64_t reverse)
{
    for (int64_t row = occ_unit(); row < outer * inner; row += occ_units()) {
        const int64_t at = row / inner * n * inner + row % inner;

        occ_running_row_TPL_N(y + at, x + at, 0, n, n, inner, exclusive, reverse, 1, (TPL_T)1);
    }
}

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
