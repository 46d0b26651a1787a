/* occ_expr.h - expressions: what a kernel applies to each result before storing it, and what maps consist of. Knows
 * nothing of kernels. */
#ifndef OCC_EXPR_H
#define OCC_EXPR_H

#include "occ_bytes.h"
#include "occ_vrows.h"

/* The operands of an expression, besides the kernel's accumulator. */
typedef struct occ_expr {
    const void *x[8]; /* base of operand k */
    int64_t
        at[8 + (OCC_W >
                1)]; /* elements from there to the row in hand, kept by the kernel; of vectors, one more: 0, added to
                                       the places of literals */
} occ_expr;

/* Computes n results, 1 <= n <= OCC_W, from inner index c of the current row on. acc: the kernel's accumulator. */
typedef occ_vf (*occ_fn_vf)(const occ_expr *e, occ_vf acc, int64_t c, int n);

/* How a kernel applies an expression of nx operands; fn NULL: there is none. pitch: for each operand, the elements from
 * one pixel to the next in row-major order; its channels are neighbours. */
typedef struct occ_fused {
    int64_t    nx;
    occ_extent pitch[8];
    occ_fn_vf  fn;
} occ_fused;

/* Hides the literals from the compiler between the sums and the results of a tile. It would keep their vectors in
 * registers across all tiles, and some sums in memory instead. */
OCC_HOT void occ_hide_literals(occ_expr *e)
{
#if OCC_W > 1
    OCC_HIDE(e->at[8]);
#else
    (void)e;
#endif
}

/* Literal number k of an expression. */
OCC_HOT occ_vf occ_vliteral(const occ_expr *e, const float *literal, int64_t k)
{
#if OCC_W == 1
    (void)e;
    return literal[k];
#else
    return occ_vset(literal[e->at[8] + k]);
#endif
}

OCC_HOT occ_vf occ_apply_vf(const occ_expr *e, occ_vf acc, int64_t c, int n, occ_fn_vf fn)
{
    return fn ? fn(e, acc, c, n) : acc;
}

#endif
