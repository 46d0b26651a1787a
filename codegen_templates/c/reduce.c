/* reduce.c - sums, means, extremes and products over any axes, for element types without vectors. */
#include "occ_base.h"
#include "occ_wrap.h"
#include "reduce_f32.c"

#ifndef TPL_T
#define TPL_T double
#define TPL_N f64
#endif

OCC_HOT TPL_T occ_reduce_join_TPL_N(TPL_T sum, TPL_T term, int64_t kind)
{
    switch (kind) {
    case OCC_REDUCE_MAX:
        return sum < term ? term : sum;
    case OCC_REDUCE_MIN:
        return term < sum ? term : sum;
    case OCC_REDUCE_PROD:
        return occ_wrap_mul_TPL_N(sum, term);
    case OCC_REDUCE_L1:
        return term > 0 ? occ_wrap_add_TPL_N(sum, term) : occ_wrap_sub_TPL_N(sum, term);
    case OCC_REDUCE_SUMSQUARE:
        return occ_wrap_add_TPL_N(sum, occ_wrap_mul_TPL_N(term, term));
    default:
        return occ_wrap_add_TPL_N(sum, term);
    }
}

/* reduce - occ_reduce_f32 for SUM, MEAN, MAX, MIN, PROD, L1 and SUMSQUARE. empty: the result of no terms. */
OCC_INLINE void occ_reduce_TPL_N(TPL_T *y, const TPL_T *x, const TPL_T *empty, int64_t kind, int64_t krank,
                                 const occ_extent *kdim, const occ_extent *kystride, const occ_extent *kxstride,
                                 int64_t rrank, const occ_extent *rdim, const occ_extent *rstride)
{
    occ_walk to = {krank, {0}, 0}, from = {krank, {0}, 0};
    int64_t  count = occ_count(rrank, rdim), places = occ_count(krank, kdim);

    if (!places)
        return;
    do {
        occ_walk walk = {rrank, {0}, 0};
        TPL_T    sum = *empty;

        if (count > 0) {
            if (kind == OCC_REDUCE_MAX || kind == OCC_REDUCE_MIN)
                sum = x[from.offset];
            do
                sum = occ_reduce_join_TPL_N(sum, x[from.offset + walk.offset], kind);
            while (occ_walk_next(&walk, rdim, rstride));
            if (kind == OCC_REDUCE_MEAN)
                sum = (TPL_T)(sum / (TPL_T)count);
        }
        y[to.offset] = sum;
    } while (occ_walk_both(&to, kystride, &from, kxstride, kdim));
}
