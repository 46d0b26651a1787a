/* extent_expr.c - run-time integers: every expression exists once, in a normal form, with the interval of its
 * values. Sums and products go through linear_form.h, so that (n + 3) / 2 - 1 and (n + 1) / 2 are one expression;
 * the extents of two branches that a convolutional network joins again are then equal without a check at run time. */
#include "graph/interval.h"
#include "graph/linear_form.h"

#include <string.h>

Extent extent_const(int64_t value)
{
    return (Extent){value, -1};
}

bool extent_is_const(Extent extent)
{
    return extent.expr < 0;
}

bool extent_is(Extent extent, int64_t value)
{
    return extent_is_const(extent) && extent.max == value;
}

bool extent_same(Extent a, Extent b)
{
    return a.expr == b.expr && (a.expr >= 0 || a.max == b.max);
}

int64_t extent_min(const Model *model, Extent extent)
{
    return extent.expr < 0 ? extent.max : model->expr[extent.expr].lo;
}

static int64_t extent_max(const Model *model, Extent extent)
{
    return extent.expr < 0 ? extent.max : model->expr[extent.expr].hi;
}

/* ----------------------------------------------------------------------------------------------------- hash-consing */

static uint64_t hash_expr(const Expr *expr)
{
    const int64_t part[] = {
        (int64_t)expr->op, expr->a, expr->b, expr->c, expr->value, expr->axis, expr->op == EXPR_CONST ? expr->lo : 0};
    uint64_t hash = 0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        hash = (hash ^ (uint64_t)part[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    return hash;
}

static bool same_expr(const Expr *a, const Expr *b)
{
    return a->op == b->op && a->a == b->a && a->b == b->b && a->c == b->c && a->value == b->value &&
           a->axis == b->axis && (a->op != EXPR_CONST || a->lo == b->lo);
}

/* Open addressing; an entry is an index plus one. */
static int *find_bucket(const Model *model, const Expr *expr)
{
    unsigned mask = (unsigned)model->expr_buckets - 1, at = (unsigned)hash_expr(expr) & mask;

    while (model->expr_hash[at] && !same_expr(&model->expr[model->expr_hash[at] - 1], expr))
        at = (at + 1) & mask;
    return &model->expr_hash[at];
}

static void grow_buckets(Model *model)
{
    model->expr_buckets = model->expr_buckets ? model->expr_buckets * 2 : 64;
    model->expr_hash = arena_array(model->arena, int, model->expr_buckets);
    for (int i = 0; i < model->nexpr; i++)
        *find_bucket(model, &model->expr[i]) = i + 1;
}

void extent_forget(Model *model, int count)
{
    model->nexpr = count;
    if (!model->expr_buckets)
        return;
    memset(model->expr_hash, 0, (size_t)model->expr_buckets * sizeof *model->expr_hash);
    for (int i = 0; i < count; i++)
        *find_bucket(model, &model->expr[i]) = i + 1;
}

static int depth_above(const Model *model, const Expr *expr)
{
    const int operand[] = {expr->a, expr->b, expr->c};
    int       depth = 0;

    for (int i = 0; i < 3; i++)
        if (operand[i] >= 0 && model->expr[operand[i]].depth >= depth)
            depth = model->expr[operand[i]].depth + 1;
    return depth;
}

/* The one copy of `expr` (hash-consing). A symbol that exists already keeps its interval. */
static int intern(Model *model, Expr expr)
{
    int *bucket;

    if ((model->nexpr + 1) * 2 > model->expr_buckets)
        grow_buckets(model);
    bucket = find_bucket(model, &expr);
    if (!*bucket) {
        expr.depth = depth_above(model, &expr);
        *bucket = model->nexpr + 1;
        ARENA_PUSH(model->arena, model->expr, model->nexpr, model->cexpr, expr);
    }
    return *bucket - 1;
}

static Extent extent_of(Model *model, Expr expr)
{
    int index;

    if (expr.lo == expr.hi)
        return extent_const(expr.lo);
    index = intern(model, expr);
    return (Extent){model->expr[index].hi, index};
}

static int index_of(Model *model, Extent extent)
{
    if (extent.expr >= 0)
        return extent.expr;
    return intern(model,
                  (Expr){.op = EXPR_CONST, .a = -1, .b = -1, .c = -1, .value = -1, .lo = extent.max, .hi = extent.max});
}

Extent extent_symbol(Model *model, ExprOp op, int value, int axis, int64_t lo, int64_t hi)
{
    return extent_of(model,
                     (Expr){.op = op, .a = -1, .b = -1, .c = -1, .value = value, .axis = axis, .lo = lo, .hi = hi});
}

int extent_depth(const Model *model, Extent extent)
{
    return extent.expr < 0 ? 0 : model->expr[extent.expr].depth;
}

/* Operands have smaller indices than their users, so one backward pass over the marks visits each expression once. */
bool extent_has_symbol(Model *model, Extent extent, bool (*wanted)(const Model *, const Expr *, const void *),
                       const void *context)
{
    ArenaMark mark = arena_mark(model->arena);
    char     *needed;
    bool      found = false;

    if (extent.expr < 0)
        return false;
    needed = arena_calloc(model->arena, (size_t)extent.expr + 1, 1);
    needed[extent.expr] = 1;
    for (int i = extent.expr; i >= 0 && !found; i--) {
        const Expr *expr = &model->expr[i];
        const int   operand[] = {expr->a, expr->b, expr->c};

        if (!needed[i])
            continue;
        for (int k = 0; k < 3; k++)
            if (operand[k] >= 0)
                needed[operand[k]] = 1;
        found = expr->op <= EXPR_VAR && wanted(model, expr, context);
    }
    arena_release(model->arena, mark);
    return found;
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* Makes the node (op, a, b) without simplifying it. */
static Extent make(Model *model, ExprOp op, Extent a, Extent b)
{
    Expr out = {.op = op, .a = index_of(model, a), .c = -1, .value = -1};

    out.b = index_of(model, b);
    interval_set(&out, &model->expr[out.a], &model->expr[out.b]);
    return extent_of(model, out);
}

/* ------------------------------------------------------------------------------------ from the normal form and back */

static Extent build_term(Model *model, const Term *term, int64_t coef)
{
    Extent product = {model->expr[term->atom[0]].hi, term->atom[0]};

    for (int i = 1; i < term->natom; i++)
        product = make(model, EXPR_MUL, product, (Extent){model->expr[term->atom[i]].hi, term->atom[i]});
    return coef == 1 ? product : make(model, EXPR_MUL, product, extent_const(coef));
}

/* Positive terms first, so that a sum rarely starts with a negation. */
static Extent build(Model *model, const Linear *sum)
{
    Extent total = extent_const(0);

    for (int i = 0; i < sum->nterm; i++)
        if (sum->term[i].coef > 0) {
            Extent term = build_term(model, &sum->term[i], sum->term[i].coef);
            total = extent_same(total, extent_const(0)) ? term : make(model, EXPR_ADD, total, term);
        }
    for (int i = 0; i < sum->nterm; i++)
        if (sum->term[i].coef < 0) {
            int64_t coef = sum->term[i].coef == INT64_MIN ? INT64_MAX : -sum->term[i].coef;
            total = make(model, EXPR_SUB, total, build_term(model, &sum->term[i], coef));
        }
    if (!sum->constant)
        return total;
    return sum->nterm ? make(model, EXPR_ADD, total, extent_const(sum->constant)) : extent_const(sum->constant);
}

/* --------------------------------------------------------------------------------------------------- simplification */

/* floor((inner / a + c) / b) is floor((inner + c a) / (a b)) for constants a, b > 0. */
static bool flatten_quotient(Model *model, const Linear *dividend, int64_t divisor, Linear *inner, int64_t *product)
{
    const Expr *atom;
    Linear      shift = {0};

    if (dividend->nterm != 1 || dividend->term[0].natom != 1 || dividend->term[0].coef != 1)
        return false;
    atom = &model->expr[dividend->term[0].atom[0]];
    if (atom->op != EXPR_DIV || model->expr[atom->b].op != EXPR_CONST || model->expr[atom->b].lo <= 0)
        return false;
    if (__builtin_mul_overflow(model->expr[atom->b].lo, divisor, product) ||
        __builtin_mul_overflow(dividend->constant, model->expr[atom->b].lo, &shift.constant))
        return false;
    return linear_from(model, (Extent){0, atom->a}, inner) && linear_add(inner, &shift, 1, inner);
}

static Extent divide_by_constant(Model *model, Extent a, int64_t divisor)
{
    Linear  dividend, inner, quotient, rest;
    Extent  whole;
    int64_t product;

    if (!linear_from(model, a, &dividend))
        return make(model, EXPR_DIV, a, extent_const(divisor));
    if (flatten_quotient(model, &dividend, divisor, &inner, &product)) {
        dividend = inner;
        divisor = product;
    }
    if (!linear_divide(&dividend, divisor, &quotient, &rest))
        return make(model, EXPR_DIV, a, extent_const(divisor));
    whole = build(model, &quotient);
    if (rest.nterm)
        return extent_op(model, EXPR_ADD, whole, make(model, EXPR_DIV, build(model, &rest), extent_const(divisor)));
    return whole;
}

static Extent divide(Model *model, Extent a, Extent b)
{
    Linear dividend, divisor;
    Term   coef = {.coef = 1};

    if (b.expr < 0 && b.max > 0)
        return divide_by_constant(model, a, b.max);
    if (extent_min(model, b) > 0 && linear_from(model, a, &dividend) && linear_from(model, b, &divisor) &&
        divisor.nterm == 1 && !divisor.constant && divisor.term[0].coef > 0) {
        int64_t number = divisor.term[0].coef;
        coef = divisor.term[0];
        if (linear_cancel(&dividend, &coef, &dividend))
            return divide_by_constant(model, build(model, &dividend), number);
    }
    return make(model, EXPR_DIV, a, b);
}

static Extent divide_up(Model *model, Extent a, Extent b)
{
    if (b.expr < 0 && b.max > 0 && b.max < INT32_MAX)
        return divide_by_constant(model, extent_op(model, EXPR_ADD, a, extent_const(b.max - 1)), b.max);
    if (extent_same(a, b) && extent_min(model, a) > 0)
        return extent_const(1);
    return make(model, EXPR_CEILDIV, a, b);
}

static Extent remainder_of(Model *model, Extent a, Extent b)
{
    Linear dividend, quotient, rest;
    Extent left = a;

    if (b.expr >= 0 || b.max <= 0)
        return extent_same(a, b) ? extent_const(0) : make(model, EXPR_MOD, a, b);
    if (linear_from(model, a, &dividend) && linear_divide(&dividend, b.max, &quotient, &rest))
        left = build(model, &rest);
    if (extent_min(model, left) >= 0 && extent_max(model, left) < b.max)
        return left;
    return make(model, EXPR_MOD, left, b);
}

static Extent sum_or_product(Model *model, ExprOp op, Extent a, Extent b)
{
    Linear left, right, result;
    bool   known = linear_from(model, a, &left) && linear_from(model, b, &right);

    if (known && op == EXPR_MUL && linear_mul(&left, &right, &result))
        return build(model, &result);
    if (known && op != EXPR_MUL && linear_add(&left, &right, op == EXPR_SUB ? -1 : 1, &result))
        return build(model, &result);
    if (op == EXPR_MUL && a.expr > b.expr && b.expr >= 0)
        return make(model, op, b, a);
    return make(model, op, a, b);
}

/* The interval of a - b, from the normal form: n + 2 and n differ by 2 whatever n is. */
static void difference(Model *model, Extent a, Extent b, int64_t *lo, int64_t *hi)
{
    Extent delta = extent_op(model, EXPR_SUB, a, b);

    *lo = extent_min(model, delta);
    *hi = extent_max(model, delta);
}

static Extent least_or_greatest(Model *model, ExprOp op, Extent a, Extent b)
{
    int64_t lo, hi;
    bool    least = op == EXPR_MIN;

    difference(model, a, b, &lo, &hi);
    if (hi <= 0)
        return least ? a : b;
    if (lo >= 0)
        return least ? b : a;
    if (a.expr < 0 || (b.expr >= 0 && a.expr > b.expr)) {
        Extent swap = a;
        a = b;
        b = swap;
    }
    if (b.expr < 0 && model->expr[a.expr].op == op && model->expr[model->expr[a.expr].b].op == EXPR_CONST) {
        const Expr *inner = &model->expr[a.expr];
        b = extent_const(interval_evaluate(op, model->expr[inner->b].lo, b.max));
        a = (Extent){model->expr[inner->a].hi, inner->a};
    }
    return make(model, op, a, b);
}

/* The extents are known to broadcast (checked elsewhere), so they are equal or one of them is 1. */
static Extent broadcast(Model *model, Extent a, Extent b)
{
    if (extent_same(a, b) || (b.expr < 0 && b.max == 1) || extent_min(model, a) > 1)
        return b.expr < 0 && b.max != 1 ? b : a;
    if ((a.expr < 0 && a.max == 1) || extent_min(model, b) > 1)
        return a.expr < 0 && a.max != 1 ? a : b;
    if (a.expr < 0)
        return a;
    if (b.expr < 0)
        return b;
    return a.expr < b.expr ? make(model, EXPR_BCAST, a, b) : make(model, EXPR_BCAST, b, a);
}

/* Whether `extent` is min(x, ...) or max(x, ...) with exactly this x as an operand. */
static bool is_choice_of(const Model *model, ExprOp op, Extent extent, Extent x)
{
    const Expr *e = extent.expr >= 0 ? &model->expr[extent.expr] : NULL;

    return e && e->op == op && x.expr >= 0 && (e->a == x.expr || e->b == x.expr);
}

static Extent compare(Model *model, ExprOp op, Extent a, Extent b)
{
    int64_t lo, hi;

    if (op == EXPR_LT && (is_choice_of(model, EXPR_MIN, b, a) || is_choice_of(model, EXPR_MAX, a, b)))
        return extent_const(0);

    difference(model, a, b, &lo, &hi);
    if (lo == hi && op == EXPR_EQ)
        return extent_const(lo == 0);
    if (lo > 0 || (op == EXPR_EQ && hi < 0) || (op == EXPR_LT && lo == 0))
        return extent_const(0);
    if (hi < 0)
        return extent_const(1);
    if (op == EXPR_EQ && (a.expr < 0 || (b.expr >= 0 && a.expr > b.expr)))
        return make(model, op, b, a);
    return make(model, op, a, b);
}

Extent extent_op(Model *model, ExprOp op, Extent a, Extent b)
{
    if (a.expr < 0 && b.expr < 0)
        return extent_const(interval_evaluate(op, a.max, b.max));
    switch (op) {
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
        return sum_or_product(model, op, a, b);
    case EXPR_DIV:
        return divide(model, a, b);
    case EXPR_CEILDIV:
        return divide_up(model, a, b);
    case EXPR_MOD:
        return remainder_of(model, a, b);
    case EXPR_MIN:
    case EXPR_MAX:
        return least_or_greatest(model, op, a, b);
    case EXPR_BCAST:
        return broadcast(model, a, b);
    default:
        return compare(model, op, a, b);
    }
}

Extent extent_select(Model *model, Extent condition, Extent a, Extent b)
{
    Expr out = {.op = EXPR_SELECT, .value = -1};

    if (condition.expr < 0)
        return condition.max ? a : b;
    if (extent_same(a, b))
        return a;
    out.a = index_of(model, a);
    out.b = index_of(model, b);
    out.c = condition.expr;
    interval_join(&out, &model->expr[out.a], &model->expr[out.b]);
    return extent_of(model, out);
}
