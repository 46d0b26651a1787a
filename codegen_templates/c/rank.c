/* rank.c - kernels that choose elements by value: the k largest, those that are not zero, the place of the largest.
 * Operands are dense and row-major. Places are counted from 0. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

#define OCC_TOGETHER 16 /* neighbours that are compared together */
#define OCC_LINE 64     /* columns whose best elements so far are kept in registers */

/* Does element a at place i come before element b at place k? The larger (smaller) element comes first, the lower place
 * among equals; NaN is larger than all numbers. */
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

OCC_HOT void occ_swap_TPL_N(TPL_T *value, int64_t *place, int64_t a, int64_t b)
{
    TPL_T   v = value[a];
    int64_t p = place[a];

    value[a] = value[b];
    place[a] = place[b];
    value[b] = v;
    place[b] = p;
}

OCC_HOT void occ_sift_TPL_N(TPL_T *value, int64_t *place, int64_t step, int64_t n, int64_t largest)
{
    for (int64_t i = 0; 2 * i + 1 < n;) { /* the root of the heap is the last element in order */
        int64_t child = 2 * i + 1;

        if (child + 1 < n && occ_ranks_before_TPL_N(value[child * step], place[child * step], value[(child + 1) * step],
                                                    place[(child + 1) * step], largest))
            child++;
        if (!occ_ranks_before_TPL_N(value[i * step], place[i * step], value[child * step], place[child * step],
                                    largest))
            return;
        occ_swap_TPL_N(value, place, i * step, child * step);
        i = child;
    }
}

/* Returns the first place from j on of an element that may come before `root`; n: there is none. Most elements do not,
 * so groups of them are skipped at once. A NaN is not skipped. */
OCC_HOT int64_t occ_topk_next_TPL_N(const TPL_T *x, int64_t j, int64_t n, TPL_T root, int64_t largest)
{
    for (; j + OCC_TOGETHER <= n; j += OCC_TOGETHER) {
        int passed = 0;

        for (int i = 0; i < OCC_TOGETHER; i++)
            passed += largest ? x[j + i] <= root : x[j + i] >= root;
        if (passed < OCC_TOGETHER)
            break;
    }
    while (j < n && (largest ? x[j] <= root : x[j] >= root))
        j++;
    return j;
}

/* topk - the k largest (smallest) of n elements along an axis and their places, in order; the lower place first among
 * equals.
 *   x [outer][n][inner], value and place [outer][k][inner]; 0 <= k <= n, else OCC_EINDEX
 *   The result holds the heap of the k best elements so far. */
OCC_INLINE int occ_topk_TPL_N(TPL_T *value, int64_t *place, const TPL_T *x, int64_t outer, int64_t n, int64_t inner,
                              int64_t k, int64_t largest)
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
            while (c > 0 && occ_ranks_before_TPL_N(v[(c - 1) / 2 * inner], p[(c - 1) / 2 * inner], v[c * inner],
                                                   p[c * inner], largest)) {
                occ_swap_TPL_N(v, p, (c - 1) / 2 * inner, c * inner);
                c = (c - 1) / 2;
            }
        }
        for (int64_t j = k; j < n; j++) {
            if (inner == 1)
                j = occ_topk_next_TPL_N(from, j, n, v[0], largest);
            if (j < n && occ_ranks_before_TPL_N(from[j * inner], j, v[0], p[0], largest)) {
                v[0] = from[j * inner];
                p[0] = j;
                occ_sift_TPL_N(v, p, inner, k, largest);
            }
        }
        for (int64_t j = k - 1; j > 0; j--) { /* sort: the root is the last of the first j + 1 elements */
            occ_swap_TPL_N(v, p, 0, j * inner);
            occ_sift_TPL_N(v, p, inner, j, largest);
        }
    }
    return 0;
}

/* A mask: all ones where element a replaces b, the best so far, else 0. Compilers vectorise loops of such masks. */
OCC_HOT int32_t occ_better_TPL_N(TPL_T a, TPL_T b, int64_t largest, int64_t last)
{
    return -(largest ? (last ? a >= b : a > b) : (last ? a <= b : a < b));
}

/* Merges `count` elements of x, all at place `here`, into the best elements so far and their places. */
OCC_HOT void occ_argmax_join_TPL_N(TPL_T *best, int32_t *place, const TPL_T *x, int32_t here, int64_t count,
                                   int64_t largest, int64_t last)
{
    for (int64_t i = 0; i < count; i++) {
        const int32_t better = occ_better_TPL_N(x[i], best[i], largest, last);

        best[i] = better ? x[i] : best[i];
        place[i] = (here & better) | (place[i] & ~better);
    }
}

/* y[i] = the place of the best element of column i, for `count` neighbouring columns of n elements, `inner` apart.
 * count: at most OCC_TOGETHER, or a multiple of it up to OCC_LINE. */
OCC_HOT void occ_argmax_columns_TPL_N(int64_t *y, const TPL_T *x, int64_t n, int64_t inner, int64_t count,
                                      int64_t largest, int64_t last)
{
    const int64_t step = occ_min(count, OCC_TOGETHER);
    TPL_T         best[OCC_LINE];
    int32_t       place[OCC_LINE];

    for (int64_t i = 0; i < count; i++) {
        best[i] = x[i];
        place[i] = 0;
    }
    for (int64_t k = 1; k < n; k++)
        for (int64_t i = 0; i < count; i += step)
            occ_argmax_join_TPL_N(best + i, place + i, x + k * inner + i, (int32_t)k, step, largest, last);
    for (int64_t i = 0; i < count; i++)
        y[i] = place[i];
}

/* The place of the best of n neighbouring elements: first the best for each remainder of the place modulo OCC_TOGETHER,
 * then the best of those. */
OCC_HOT int64_t occ_argmax_row_TPL_N(const TPL_T *x, int64_t n, int64_t largest, int64_t last)
{
    int64_t k = 0, place = 0;
    TPL_T   top = x[0];

    if (n >= 2 * OCC_TOGETHER) {
        TPL_T   best[OCC_TOGETHER];
        int32_t turn[OCC_TOGETHER]; /* the group that has it; -1: element 0 */

        for (int64_t i = 0; i < OCC_TOGETHER; i++) {
            best[i] = top;
            turn[i] = -1;
        }
        for (; k + OCC_TOGETHER <= n; k += OCC_TOGETHER)
            occ_argmax_join_TPL_N(best, turn, x + k, (int32_t)(k / OCC_TOGETHER), OCC_TOGETHER, largest, last);
        for (int64_t i = 0; i < OCC_TOGETHER; i++) {
            const int64_t at = turn[i] < 0 ? 0 : turn[i] * OCC_TOGETHER + i;

            if (occ_better_TPL_N(best[i], top, largest, 0) || (best[i] == top && (last ? at > place : at < place))) {
                top = best[i];
                place = at;
            }
        }
    }
    for (; k < n; k++)
        if (occ_better_TPL_N(x[k], top, largest, last)) {
            top = x[k];
            place = k;
        }
    return place;
}

/* argmax - the place of the largest (smallest) of n elements, 1 <= n < 2^31; the first or the last place among equals.
 * A NaN neither replaces an element nor is replaced, so it is found only as the first element.
 *   y [outer][inner], x [outer][n][inner] */
OCC_INLINE void occ_argmax_TPL_N(int64_t *y, const TPL_T *x, int64_t outer, int64_t n, int64_t inner, int64_t largest,
                                 int64_t last)
{
    for (int64_t o = 0; o < outer; o++, y += inner, x += n * inner) {
        int64_t i = 0;

        if (inner == 1) {
            *y = occ_argmax_row_TPL_N(x, n, largest, last);
            continue;
        }
        for (; i + OCC_LINE <= inner; i += OCC_LINE)
            occ_argmax_columns_TPL_N(y + i, x + i, n, inner, OCC_LINE, largest, last);
        for (; inner >= OCC_TOGETHER && i < inner; i += OCC_TOGETHER) { /* the last group may overlap the one before */
            i = occ_min(i, inner - OCC_TOGETHER);
            occ_argmax_columns_TPL_N(y + i, x + i, n, inner, OCC_TOGETHER, largest, last);
        }
        if (inner < OCC_TOGETHER)
            occ_argmax_columns_TPL_N(y, x, n, inner, inner, largest, last);
    }
}

/* nonzero - the coordinates of every element that is not zero: y has one row for each axis. count: how many elements.
 *   x has extents dim [rank]; y [rank][count], written with rows of capacity `room` and compacted at the end
 *   fewer than `fewest`: OCC_ESHAPE; more than `room`: OCC_ECAPACITY */
OCC_INLINE int occ_nonzero_TPL_N(int64_t *y, int64_t *count, const TPL_T *x, int64_t rank, const occ_extent *dim,
                                 int64_t fewest, int64_t room)
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

/* compress - the slices along an axis whose condition is true. count: how many slices.
 *   x [outer][axis][inner], condition [conditions]; it may be shorter than the axis; true behind it: OCC_EINDEX
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
