/* unique.c - the distinct slices of a tensor along an axis. Operands are dense and row-major. Places are counted from
 * 0. */
#include "occ_order.h"
#include "occ_text.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#define occ_order_TPL_N occ_order_f32
#endif

/* The tensor as [outer][n][inner]. A result of fewer than `fewest` or more than `most` slices is an error. */
typedef struct occ_unique_axis {
    int64_t outer, n, inner, sorted, fewest, most;
} occ_unique_axis;

/* unique - the distinct slices of x along an axis, the place where each occurs first, the inverse map and counts.
 *   x [outer][n][inner]; y like x with `count` slices; first, counts [count]; inverse [n]; order [n] is scratch
 *   sorted: slices in rising order; else in the order of their first occurrence
 *   fewer slices than `fewest`: OCC_ESHAPE; more than `most`: OCC_ECAPACITY */
OCC_INLINE int occ_unique_TPL_N(TPL_T *y, int64_t *first, int64_t *inverse, int64_t *counts, int64_t *count,
                                int64_t *order, const TPL_T *x, const occ_unique_axis *form)
{
    const int64_t outer = form->outer, n = form->n, inner = form->inner, sorted = form->sorted;
    const int64_t fewest = form->fewest, most = form->most;
    int64_t       found = 0;

    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0, same = 0;

        for (; at < found; at++) { /* order[]: the first places of the slices found so far */
            int64_t more = 0;

            for (int64_t j = 0; j < outer * inner && !more; j++) {
                TPL_T a = x[(j / inner * n + k) * inner + j % inner],
                      b = x[(j / inner * n + order[at]) * inner + j % inner];

                more = occ_order_TPL_N(a, b);
            }
            same = !more;
            if (same || (sorted && more < 0))
                break;
        }
        if (!same) {
            if (found == most)
                return OCC_ECAPACITY;
            for (int64_t j = found; j > at; j--) {
                order[j] = order[j - 1];
                counts[j] = counts[j - 1];
            }
            for (int64_t j = 0; j < k; j++)
                inverse[j] += inverse[j] >= at;
            order[at] = k;
            counts[at] = 0;
            found++;
        }
        counts[at]++;
        inverse[k] = at;
    }
    for (int64_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < found; k++)
            for (int64_t i = 0; i < inner; i++)
                *y++ = x[(o * n + order[k]) * inner + i];
    for (int64_t k = 0; k < found; k++)
        first[k] = order[k];
    *count = found;
    return found < fewest ? OCC_ESHAPE : 0;
}
