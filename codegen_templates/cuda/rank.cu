/* rank.cu - twins of kernels that choose elements by value. A row is what lies along the axis; several threads share a
 * long one. Which of two elements comes first, equal ones included, is said in rank.c, whose functions are used: so no
 * bit depends on which thread compares them. */
#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

#define OCC_RANK_LONG 64   /* elements from which on several threads take a row */
#define OCC_RANK_LANES 256 /* that share a row of argmax */
#define OCC_RANK_EACH 8    /* elements that a lane compares between two sums of topk */

/* The place of the best element of a row, by one thread. */
OCC_HOT int32_t occ_argmax_thread_TPL_N(const TPL_T *x, int64_t n, int64_t inner, int64_t largest, int64_t last)
{
    TPL_T   best = x[0];
    int32_t place = 0;

    for (int64_t k = 1; k < n; k++)
        occ_argmax_join_TPL_N(&best, &place, x + k * inner, (int32_t)k, 1, largest, last);
    return place;
}

/* Lane a takes over what lane b has found, if it is better, or equal and at the place that counts. */
OCC_HOT void occ_argmax_merge_TPL_N(TPL_T *best, int32_t *place, int a, int b, int64_t largest, int64_t last)
{
    const int equal = best[b] == best[a] && (last ? place[b] > place[a] : place[b] < place[a]);

    if (equal || occ_better_TPL_N(best[b], best[a], largest, 0)) {
        best[a] = best[b];
        place[a] = place[b];
    }
}

/* y = the same, by all threads of a block: each lane begins with element 0, since a NaN there is not replaced, and goes
 * on with every 256th; lanes are joined in pairs. best, place: shared */
OCC_HOT void occ_argmax_block_TPL_N(int64_t *y, TPL_T *best, int32_t *place, const TPL_T *x, int64_t n, int64_t inner,
                                    int64_t largest, int64_t last)
{
    for (int l = occ_thread(); l < OCC_RANK_LANES; l += occ_threads()) {
        TPL_T   top = x[0];
        int32_t at = 0;

        for (int64_t k = l; k < n; k += OCC_RANK_LANES)
            occ_argmax_join_TPL_N(&top, &at, x + k * inner, (int32_t)k, 1, largest, last);
        best[l] = top;
        place[l] = at;
    }
    occ_barrier(); /* all lanes are there */
    for (int half = OCC_RANK_LANES / 2; half > 0; half /= 2) {
        for (int l = occ_thread(); l < half; l += occ_threads())
            occ_argmax_merge_TPL_N(best, place, l, l + half, largest, last);
        occ_barrier(); /* these lanes are joined */
    }
    if (occ_thread() == 0) /* which alone writes lane 0 of the next row */
        *y = place[0];
}

/* argmax - the place of the largest (smallest) of n elements. Long rows: a block for each; short rows, and rows side by
 * side: a thread for each. */
OCC_INLINE void occ_argmax_TPL_N(int64_t *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t largest,
                                 int64_t last)
{
    OCC_SHARED_ARRAY(TPL_T, best, OCC_RANK_LANES);
    OCC_SHARED_ARRAY(int32_t, place, OCC_RANK_LANES);
    const int blocks = n >= OCC_RANK_LONG && inner < 32;

    for (int64_t row = blocks ? occ_block() : occ_unit(); row < outer * inner;
         row += blocks ? occ_grid() : occ_units()) {
        const TPL_T *from = x + row / inner * n * inner + row % inner;

        if (blocks)
            occ_argmax_block_TPL_N(y + row, best, place, from, n, inner, largest, last);
        else
            y[row] = occ_argmax_thread_TPL_N(from, n, inner, largest, last);
    }
}

/* Elements of a row that come before element j, by one thread. */
OCC_HOT int32_t occ_rank_thread_TPL_N(const TPL_T *x, int64_t n, int64_t inner, int64_t j, int64_t largest)
{
    const TPL_T own = x[j * inner];
    int32_t     before = 0;

    for (int64_t i = 0; i < n; i++)
        before += occ_ranks_before_TPL_N(x[i * inner], i, own, j, largest);
    return before;
}

/* The same by the lanes of a warp; where k or more come before j, the others are not counted any more. */
OCC_HOT int32_t occ_rank_warp_TPL_N(const TPL_T *x, int64_t n, int64_t inner, int64_t j, int64_t k, int64_t largest)
{
    const TPL_T own = x[j * inner];
    int32_t     before = 0;

    for (int64_t first = occ_lane(); first - occ_lane() < n && before < k; first += 32 * OCC_RANK_EACH) {
        int32_t found = 0;

        OCC_UNROLLED
        for (int i = 0; i < OCC_RANK_EACH; i++)
            if (first + 32 * i < n)
                found += occ_ranks_before_TPL_N(x[(first + 32 * i) * inner], first + 32 * i, own, j, largest);
        OCC_UNROLLED
        for (int apart = 16; apart > 0; apart /= 2)
            found += occ_shuffle(found, occ_lane() ^ apart);
        before += found;
    }
    return before;
}

/* topk - the k largest (smallest) of n elements along an axis and their places, in order: an element's place in the
 * result is the number of those that come before it. Short rows: a thread for each element; long rows: a warp. */
OCC_INLINE int occ_topk_TPL_N(TPL_T *value, int64_t *place, const TPL_T *x, int64_t outer, int64_t n, int64_t inner,
                              int64_t k, int64_t largest)
{
    const int     lanes = n >= OCC_RANK_LONG ? 32 : 1;
    const int64_t total = k > 0 ? outer * n * inner : 0;

    if (k < 0 || k > n)
        return OCC_EINDEX;
    for (int64_t e = occ_unit() / lanes; e < total; e += occ_units() / lanes) {
        const int64_t o = e / inner / n, j = e / inner % n, i = e % inner;
        const TPL_T  *from = x + o * n * inner + i;
        const int32_t rank = lanes > 1 ? occ_rank_warp_TPL_N(from, n, inner, j, k, largest)
                                       : occ_rank_thread_TPL_N(from, n, inner, j, largest);
        const int64_t to = (o * k + rank) * inner + i;

        if (rank < k && (lanes == 1 || occ_lane() == 0)) {
            value[to] = from[j * inner];
            place[to] = j;
        }
    }
    return 0;
}
