/* interval.c - the least and greatest value that an operator on run-time integers can give. */
#include "graph/interval.h"

#include "graph/linear_form.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t mod(int64_t a, int64_t b)
{
    int64_t rest = b > 0 ? a % b : 0;

    return rest < 0 ? rest + b : rest;
}

static int64_t ceil_div(int64_t a, int64_t b)
{
    return b ? int_floor_div(a, b) + (mod(a, b) != 0) : 0;
}

int64_t interval_evaluate(ExprOp op, int64_t a, int64_t b)
{
    switch (op) {
    case EXPR_ADD:
        return int_saturated_add(a, b);
    case EXPR_SUB:
        return int_saturated_sub(a, b);
    case EXPR_MUL:
        return int_saturated_mul(a, b);
    case EXPR_DIV:
        return int_floor_div(a, b);
    case EXPR_CEILDIV:
        return ceil_div(a, b);
    case EXPR_MOD:
        return mod(a, b);
    case EXPR_MIN:
        return smaller(a, b);
    case EXPR_MAX:
        return larger(a, b);
    case EXPR_BCAST:
        return a == 1 ? b : a;
    case EXPR_EQ:
        return a == b;
    default: /* EXPR_LT */
        return a < b;
    }
}

/* Widen [lo,hi] of `out` by the corners of op over [a.lo,a.hi] x {b}. */
static void include(Expr *out, ExprOp op, const Expr *a, int64_t b)
{
    int64_t one = interval_evaluate(op, a->lo, b), two = interval_evaluate(op, a->hi, b);

    out->lo = smaller(out->lo, smaller(one, two));
    out->hi = larger(out->hi, larger(one, two));
}

/* The interval of DIV, MUL or CEILDIV from its corners: all are monotone in each operand, except that a quotient
 * changes direction where its divisor is 0. */
static void corners(Expr *out, const Expr *a, const Expr *b)
{
    out->lo = INT64_MAX;
    out->hi = INT64_MIN;
    include(out, out->op, a, b->lo);
    include(out, out->op, a, b->hi);
    if (out->op == EXPR_MUL)
        return;
    for (int64_t near = -1; near <= 1; near++)
        if (b->lo <= near && near <= b->hi)
            include(out, out->op, a, near);
}

void interval_set(Expr *out, const Expr *a, const Expr *b)
{
    switch (out->op) {
    case EXPR_MUL:
    case EXPR_DIV:
    case EXPR_CEILDIV:
        corners(out, a, b);
        break;
    case EXPR_SUB:
        out->lo = interval_evaluate(EXPR_SUB, a->lo, b->hi);
        out->hi = interval_evaluate(EXPR_SUB, a->hi, b->lo);
        break;
    case EXPR_MOD:
        out->lo = 0;
        out->hi = larger(b->hi - 1, 0);
        break;
    case EXPR_BCAST: /* extents are equal or one is 1: the larger one, but 0 if an empty axis meets a 1 */
        out->lo = a->lo >= 1 && b->lo >= 1 ? larger(a->lo, b->lo) : smaller(a->lo, b->lo);
        out->hi = larger(a->hi, b->hi);
        break;
    case EXPR_EQ:
    case EXPR_LT:
        out->lo = 0;
        out->hi = 1;
        break;
    default: /* ADD, MIN, MAX: monotone */
        out->lo = interval_evaluate(out->op, a->lo, b->lo);
        out->hi = interval_evaluate(out->op, a->hi, b->hi);
    }
}

void interval_join(Expr *out, const Expr *a, const Expr *b)
{
    out->lo = smaller(a->lo, b->lo);
    out->hi = larger(a->hi, b->hi);
}
