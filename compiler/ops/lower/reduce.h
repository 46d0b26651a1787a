/* reduce.h - one reduction step, for operators that are made of them. */
#ifndef OCC_OPS_LOWER_REDUCE_H
#define OCC_OPS_LOWER_REDUCE_H

#include "lower/lower.h"

enum {
    REDUCE_SUM,
    REDUCE_MEAN,
    REDUCE_MAX,
    REDUCE_MIN,
    REDUCE_PROD,
    REDUCE_L1,
    REDUCE_L2,
    REDUCE_SUMSQUARE,
    REDUCE_LOGSUM,
    REDUCE_LOGSUMEXP
}; /* OCC_REDUCE_* */

/* y = kind of x over the axes where `reduced`; y keeps them with extent 1 where keepdims. */
int reduce_append(Lower *lower, const Node *node, Operand x, Operand y, const bool *reduced, bool keepdims, int kind);

#endif
