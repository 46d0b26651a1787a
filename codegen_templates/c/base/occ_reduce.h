/* occ_reduce.h - the arithmetic of reductions of floats: the start value, joining terms, joining partial results, the
 * end. Knows nothing of the order of terms. */
#ifndef OCC_REDUCE_H
#define OCC_REDUCE_H

#include "occ_vapart.h"
#include "occ_vrows.h"

/* The kinds of reductions. */
#define OCC_REDUCE_SUM 0
#define OCC_REDUCE_MEAN 1
#define OCC_REDUCE_MAX 2
#define OCC_REDUCE_MIN 3
#define OCC_REDUCE_PROD 4
#define OCC_REDUCE_L1 5
#define OCC_REDUCE_L2 6
#define OCC_REDUCE_SUMSQUARE 7
#define OCC_REDUCE_LOGSUM 8
#define OCC_REDUCE_LOGSUMEXP 9
#define OCC_REDUCE_SPREAD 10 /* sum of squared distances to `top` */

/* The value of an empty set of terms. */
OCC_HOT float occ_reduce_start(int64_t kind)
{
    const union {
        uint32_t bits;
        float    value;
    } infinity = {0x7f800000u};

    return kind == OCC_REDUCE_MAX    ? -infinity.value
           : kind == OCC_REDUCE_MIN  ? infinity.value
           : kind == OCC_REDUCE_PROD ? 1.0f
                                     : 0.0f;
}

OCC_HOT occ_vf occ_reduce_join(occ_vf sum, occ_vf term, occ_vf top, int64_t kind)
{
    switch (kind) {
    case OCC_REDUCE_MAX:
        return occ_vmax(sum, term);
    case OCC_REDUCE_MIN:
        return occ_vmin(sum, term);
    case OCC_REDUCE_PROD:
        return occ_vmul(sum, term);
    case OCC_REDUCE_L1:
        return occ_vadd(sum, occ_vabs(term));
    case OCC_REDUCE_L2:
    case OCC_REDUCE_SUMSQUARE:
        return sum + term * term;
    case OCC_REDUCE_LOGSUMEXP:
        return occ_vadd(sum, occ_vexp_apart(occ_vsub(term, top)));
    case OCC_REDUCE_SPREAD:
        term = occ_vsub(term, top);
        return sum + term * term;
    default:
        return occ_vadd(sum, term);
    }
}

/* Combines two partial results. */
OCC_HOT occ_vf occ_reduce_merge(occ_vf a, occ_vf b, int64_t kind)
{
    if (kind == OCC_REDUCE_MAX)
        return occ_vmax(a, b);
    if (kind == OCC_REDUCE_MIN)
        return occ_vmin(a, b);
    return kind == OCC_REDUCE_PROD ? occ_vmul(a, b) : occ_vadd(a, b);
}

OCC_HOT occ_vf occ_reduce_end(occ_vf sum, occ_vf top, float count, int64_t kind)
{
    switch (kind) {
    case OCC_REDUCE_MEAN:
        return occ_vdiv(sum, occ_vset(count));
    case OCC_REDUCE_L2:
        return occ_vsqrt(sum);
    case OCC_REDUCE_LOGSUM:
        return occ_vlog_apart(sum);
    case OCC_REDUCE_LOGSUMEXP:
        return occ_vadd(occ_vlog_apart(sum), top);
    default:
        return sum;
    }
}

/* The maximum to subtract: 0 for an infinite one, since infinity minus infinity is not a number. */
OCC_HOT occ_vf occ_reduce_top(occ_vf top)
{
    return occ_vselect(occ_vlt(occ_vabs(top), occ_vset(3.4e38f)), top, occ_vset(0.0f));
}

#endif
