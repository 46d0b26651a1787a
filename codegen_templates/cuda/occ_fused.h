/* occ_fused.h - the expression that a kernel for images applies to the results of one pixel. Knows nothing of how these
 * are computed. */
#ifndef OCC_FUSED_H
#define OCC_FUSED_H

#include "occ_nest.h"

/* Returns the caller's expression, e or NULL, with its operands at a pixel. pixel: its number in row-major order */
OCC_HOT occ_expr occ_fused_at(const occ_expr *e, const occ_fused *fused, int64_t pixel)
{
    occ_expr row = occ_expr_start(e);
    OCC_UNROLLED
    for (int64_t k = 0; k < fused->nx; k++)
        row.at[k] += pixel * fused->pitch[k];
    return row;
}

#endif
