/* occ_order.h - which of two numbers comes first. Knows nothing of tensors. */
#ifndef OCC_ORDER_H
#define OCC_ORDER_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* Returns a number less than, equal to or greater than 0 as a comes before b, is equal or comes behind it. With a NaN
 * on either side, a comes behind b. */
OCC_HOT int occ_order_TPL_N(TPL_T a, TPL_T b)
{
    return a == b ? 0 : a < b ? -1 : 1;
}

#endif
