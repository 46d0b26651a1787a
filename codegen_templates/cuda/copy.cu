/* copy.cu - copies between strided tensors. If the neighbours of x lie along the same axis as those of y, each thread
 * copies every so many of the elements; where rows begin at multiples of 16 bytes, it copies 16 bytes at a time. If not
 * (a transpose), blocks copy squares of elements by way of shared memory, so that neighbouring threads read neighbours
 * of x and write neighbours of y. Knows nothing of what the elements mean. */
#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

#define OCC_SQUARE \
    32 /* elements of its side; a row of shared memory has one more, so that a column lies in all banks */

/* Elements of y and x from their first ones to the n-th of a tensor, whose axis `leave` is left out. */
OCC_HOT void occ_copy_places(int64_t n, int64_t rank, int64_t leave, const occ_extent *dim, const occ_extent *ystride,
                             const occ_extent *xstride, int64_t *yat, int64_t *xat)
{
    OCC_UNROLLED
    for (int64_t r = rank; r-- > 0;) {
        if (r == leave)
            continue;
        *yat += n % dim[r] * ystride[r];
        *xat += n % dim[r] * xstride[r];
        n /= dim[r];
    }
}

/* One square y[i * ystride[fast] + k * ystride[last]] = x[i * xstride[fast] + k * xstride[last]], i below n0 and k
 * below n1. */
OCC_HOT void occ_copy_square_TPL_N(TPL_T *square, TPL_T *y, const TPL_T *x, int64_t n0, int64_t n1, int64_t ys0,
                                   int64_t ys1, int64_t xs0, int64_t xs1)
{
    for (int n = occ_thread(); n < OCC_SQUARE * OCC_SQUARE; n += occ_threads()) {
        const int i = n % OCC_SQUARE, k = n / OCC_SQUARE;
        if (i < n0 && k < n1)
            square[k * (OCC_SQUARE + 1) + i] = x[i * xs0 + k * xs1];
    }
    occ_barrier();
    for (int n = occ_thread(); n < OCC_SQUARE * OCC_SQUARE; n += occ_threads()) {
        const int k = n % OCC_SQUARE, i = n / OCC_SQUARE;
        if (i < n0 && k < n1)
            y[i * ys0 + k * ys1] = square[k * (OCC_SQUARE + 1) + i];
    }
    occ_barrier();
}

/* The axis along which elements of x are neighbours, if it is another one than the last. */
OCC_HOT int64_t occ_copy_fast(int64_t rank, const occ_extent *dim, const occ_extent *xstride)
{
    int64_t fast = rank - 1;
    OCC_UNROLLED
    for (int64_t r = 0; r < rank - 1; r++)
        if (xstride[r] == 1 && xstride[rank - 1] != 1 && dim[r] > 1)
            fast = r;
    return fast;
}

/* As many elements as 16 bytes hold, moved at once. */
typedef struct OCC_ALIGN_FOUR occ_copy_some_TPL_N {
    TPL_T value[16 / sizeof(TPL_T)];
} occ_copy_some_TPL_N;

/* Whether rows of y and x lie in rising order, begin at multiples of 16 bytes and have few elements behind the last of
 * these. */
OCC_HOT int occ_copy_by_some_TPL_N(const TPL_T *y, const TPL_T *x, int64_t rank, const occ_extent *dim,
                                   const occ_extent *ystride, const occ_extent *xstride)
{
    const int64_t some = 16 / (int64_t)sizeof(TPL_T), row = dim[rank - 1];
    int           begins = 1;
    OCC_UNROLLED
    for (int64_t r = 0; r < rank - 1; r++)
        begins = begins && ystride[r] % some == 0 && xstride[r] % some == 0;
    return begins && ystride[rank - 1] == 1 && xstride[rank - 1] == 1 && row > 0 &&
           (row % some == 0 || row >= 4 * some) && ((uintptr_t)y | (uintptr_t)x) % 16 == 0;
}

/* Copies such rows. */
OCC_HOT void occ_copy_rows_TPL_N(TPL_T *y, const TPL_T *x, int64_t rank, const occ_extent *dim,
                                 const occ_extent *ystride, const occ_extent *xstride)
{
    const int64_t some = 16 / (int64_t)sizeof(TPL_T), row = dim[rank - 1], across = (row + some - 1) / some;
    for (int64_t n = occ_unit(); n < occ_count(rank - 1, dim) * across; n += occ_units()) {
        const int64_t at = n % across * some;
        int64_t       yat = at, xat = at;
        occ_copy_places(n / across, rank - 1, rank, dim, ystride, xstride, &yat, &xat);
        if (at + some <= row) {
            *(occ_copy_some_TPL_N *)(y + yat) = *(const occ_copy_some_TPL_N *)(x + xat);
            continue;
        }
        OCC_ROLLED
        for (int64_t i = 0; i < row - at; i++)
            y[yat + i] = x[xat + i];
    }
}

/* copy - y[i] = x[i] for every index i of `rank` axes; arguments as in C. */
OCC_INLINE void occ_copy_TPL_N(TPL_T *y, const TPL_T *x, int64_t rank, const occ_extent *dim, const occ_extent *ystride,
                               const occ_extent *xstride)
{
    OCC_SHARED_ARRAY(TPL_T, square, OCC_SQUARE * (OCC_SQUARE + 1));
    const int64_t last = rank - 1, fast = occ_copy_fast(rank, dim, xstride), total = occ_count(rank, dim);
    const int64_t down = (dim[fast] + OCC_SQUARE - 1) / OCC_SQUARE, across = (dim[last] + OCC_SQUARE - 1) / OCC_SQUARE;
    if (occ_copy_by_some_TPL_N(y, x, rank, dim, ystride, xstride)) {
        occ_copy_rows_TPL_N(y, x, rank, dim, ystride, xstride);
        return;
    }
    if (fast == last) {
        for (int64_t n = occ_unit(); n < total; n += occ_units()) {
            int64_t yat = 0, xat = 0;
            occ_copy_places(n, rank, rank, dim, ystride, xstride, &yat, &xat);
            y[yat] = x[xat];
        }
        return;
    }
    if (total == 0)
        return;
    for (int64_t n = occ_block(); n < total / (dim[fast] * dim[last]) * down * across; n += occ_grid()) {
        const int64_t i = n / across % down * OCC_SQUARE, k = n % across * OCC_SQUARE;
        int64_t       yat = i * ystride[fast] + k * ystride[last], xat = i * xstride[fast] + k * xstride[last];
        occ_copy_places(n / across / down, last, fast, dim, ystride, xstride, &yat, &xat);
        occ_copy_square_TPL_N(square, y + yat, x + xat, dim[fast] - i, dim[last] - k, ystride[fast], ystride[last],
                              xstride[fast], xstride[last]);
    }
}
