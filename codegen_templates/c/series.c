/* series.c - running sums and products, triangles, ranges and other series along an axis. Operands are dense and
 * row-major. */
#include "occ_base.h"
#include "occ_wrap.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* Elements first to last - 1 of one row, `inner` apart; so_far: the sum or product of those before. reverse: the row is
 * counted from its end. */
OCC_HOT void occ_running_row_TPL_N(TPL_T *y, const TPL_T *x, int64_t first, int64_t last, int64_t n, int64_t inner,
                                   int64_t exclusive, int64_t reverse, int is_product, TPL_T so_far)
{
    for (int64_t k = first; k < last; k++) {
        const int64_t at = (reverse ? n - 1 - k : k) * inner;
        const TPL_T   next = is_product ? occ_wrap_mul_TPL_N(so_far, x[at]) : occ_wrap_add_TPL_N(so_far, x[at]);

        y[at] = exclusive ? so_far : next;
        so_far = next;
    }
}

/* Running sums or products along an axis. exclusive: only of the elements before; reverse: from the end.
 *   x, y [outer][n][inner] */
OCC_HOT void occ_running_TPL_N(TPL_T *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t exclusive,
                               int64_t reverse, int is_product)
{
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++)
            occ_running_row_TPL_N(y + o * n * inner + i, x + o * n * inner + i, 0, n, n, inner, exclusive, reverse,
                                  is_product, (TPL_T)is_product);
}

/* cumsum - running sums; x, y [outer][n][inner] */
OCC_INLINE void occ_cumsum_TPL_N(TPL_T *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t exclusive,
                                 int64_t reverse)
{
    occ_running_TPL_N(y, x, outer, n, inner, exclusive, reverse, 0);
}

/* cumprod - running products; x, y [outer][n][inner] */
OCC_INLINE void occ_cumprod_TPL_N(TPL_T *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t exclusive,
                                  int64_t reverse)
{
    occ_running_TPL_N(y, x, outer, n, inner, exclusive, reverse, 1);
}

/* trilu - the upper (lower) triangle of matrices, zero elsewhere. k: its diagonal, counted to the right of the main
 * one.
 *   x, y [batch][rows][cols] */
OCC_INLINE void occ_trilu_TPL_N(TPL_T *y, const TPL_T *x, int64_t batch, int64_t rows, int64_t cols, int64_t k,
                                int64_t upper)
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

/* range_count - the number of elements of a range: max(ceil((limit - start) / delta), 0); above `room`:
 * OCC_ECAPACITY. */
OCC_INLINE int occ_range_count_TPL_N(int64_t *count, const TPL_T *start, const TPL_T *limit, const TPL_T *delta,
                                     int64_t room)
{
    double n = ((double)*limit - (double)*start) / (double)*delta;

    if (!(n <= (double)room)) /* also for NaN: a delta of 0 */
        return OCC_ECAPACITY;
    *count = n > 0.0 ? (int64_t)n : 0;
    if ((double)*count < n)
        ++*count;
    return 0;
}

/* fill - sets y [count] to the one element of x. */
OCC_INLINE void occ_fill_TPL_N(TPL_T *y, const TPL_T *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = *x;
}

/* ints - sets y [count] to integers of the run. */
OCC_INLINE void occ_ints_TPL_N(TPL_T *y, const occ_extent *value, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = (TPL_T)value[i];
}

/* reverse_sequence - reverses the first length[b] elements along the time axis, for each member b of the batch.
 *   x, y: strides tstride, bstride over [time], [batch]; each element is a row of `inner` elements
 *   a length outside 0 .. time: OCC_EINDEX */
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
