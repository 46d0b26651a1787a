/* occ_order.h - which of two numbers comes first. Knows nothing of tensors. */
#ifndef OCC_ORDER_H
#define OCC_ORDER_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* Returns a number less than, equal to or greater than 0 as a comes before b, is equal or comes behind it. A NaN is
 * equal to another NaN and comes behind every number. */
OCC_HOT int occ_order_TPL_N(TPL_T a, TPL_T b)
{
    const double wide_a = (double)a, wide_b = (double)b;
    const int    nan_a = wide_a != wide_a, nan_b = wide_b != wide_b;

    if (nan_a || nan_b)
        return nan_a - nan_b;
    return a == b ? 0 : a < b ? -1 : 1;
}

#endif
