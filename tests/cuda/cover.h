/* cover.h - expressions as generated code has them, for the kernels that are compiled for every architecture. */
#ifndef OCC_COVER_H
#define OCC_COVER_H

#include "occ_expr.h"

/* acc + operand, at least 0 */
OCC_HOT float cover_expression(const occ_expr *e, float acc, int64_t c, int n)
{
    const float *x = (const float *)e->x[0] + e->at[0];
    const float  sum = acc + x[c];
    (void)n;
    return sum > 0.0f ? sum : 0.0f;
}

#endif
