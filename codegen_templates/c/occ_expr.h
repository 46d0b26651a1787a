/* occ_expr.h - the expression that a kernel applies to each result before storing it, and that maps consist of.
 * Knows nothing of kernels. */
#ifndef OCC_EXPR_H
#define OCC_EXPR_H

#include "occ_bytes.h"

/* What an expression reads besides the kernel's accumulator. */
typedef struct occ_expr {
    const void *x[8]; /* base of operand k */
    int64_t at[8];    /* elements from there to the row in hand, kept by the kernel */
} occ_expr;

/* n consecutive results, 1 <= n <= OCC_W, at inner index c of the row in hand. */
typedef occ_vf (*occ_fn_vf)(const occ_expr *e, occ_vf acc, int64_t c, int n);

OCC_HOT occ_vf occ_apply_vf(const occ_expr *e, occ_vf acc, int64_t c, int n, occ_fn_vf fn)
{
    return fn ? fn(e, acc, c, n) : acc;
}

#endif
