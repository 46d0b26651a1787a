/* linear_form.c - sums of products of run-time integers; see linear_form.h. */
#include "graph/linear_form.h"

#include <string.h>

int64_t int_floor_div(int64_t a, int64_t b)
{
    if (!b)
        return 0;
    if (b == -1)
        return a == INT64_MIN ? INT64_MAX : -a;
    return a / b - (a % b && (a < 0) != (b < 0));
}

int64_t int_saturated_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

int64_t int_saturated_sub(int64_t a, int64_t b)
{
    int64_t difference;

    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

int64_t int_saturated_mul(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) != (b < 0) ? INT64_MIN : INT64_MAX) : product;
}

static int compare_atoms(const Term *a, const Term *b)
{
    for (int i = 0; i < a->natom && i < b->natom; i++)
        if (a->atom[i] != b->atom[i])
            return a->atom[i] < b->atom[i] ? -1 : 1;
    return a->natom - b->natom;
}

/* *sum += times * term, kept sorted. */
static bool add_term(Linear *sum, const Term *term, int64_t times)
{
    int     at = 0, order = 1;
    int64_t coef;

    if (__builtin_mul_overflow(term->coef, times, &coef))
        return false;
    while (at < sum->nterm && (order = compare_atoms(&sum->term[at], term)) < 0)
        at++;
    if (at < sum->nterm && order == 0) {
        if (__builtin_add_overflow(sum->term[at].coef, coef, &sum->term[at].coef))
            return false;
        if (!sum->term[at].coef) {
            sum->nterm--;
            memmove(sum->term + at, sum->term + at + 1, (size_t)(sum->nterm - at) * sizeof *sum->term);
        }
        return true;
    }
    if (!coef)
        return true;
    if (sum->nterm == MAX_TERMS)
        return false;
    memmove(sum->term + at + 1, sum->term + at, (size_t)(sum->nterm - at) * sizeof *sum->term);
    sum->term[at] = *term;
    sum->term[at].coef = coef;
    sum->nterm++;
    return true;
}

bool linear_add(const Linear *a, const Linear *b, int64_t times, Linear *out)
{
    Linear  sum = *a;
    int64_t scaled;

    if (__builtin_mul_overflow(b->constant, times, &scaled) ||
        __builtin_add_overflow(sum.constant, scaled, &sum.constant))
        return false;
    for (int i = 0; i < b->nterm; i++)
        if (!add_term(&sum, &b->term[i], times))
            return false;
    *out = sum;
    return true;
}

static bool scale(const Linear *a, int64_t times, Linear *out)
{
    Linear zero = {0};

    return linear_add(&zero, a, times, out);
}

static bool add_atom(Term *term, int atom)
{
    int at = term->natom;

    if (term->natom == MAX_FACTORS)
        return false;
    for (; at > 0 && term->atom[at - 1] > atom; at--)
        term->atom[at] = term->atom[at - 1];
    term->atom[at] = atom;
    term->natom++;
    return true;
}

/* The product of two single terms, or of anything and a constant; other products are not multiplied out. */
bool linear_mul(const Linear *a, const Linear *b, Linear *out)
{
    Term term;

    if (!a->nterm)
        return scale(b, a->constant, out);
    if (!b->nterm)
        return scale(a, b->constant, out);
    if (a->nterm != 1 || b->nterm != 1 || a->constant || b->constant)
        return false;
    term = a->term[0];
    if (__builtin_mul_overflow(term.coef, b->term[0].coef, &term.coef))
        return false;
    for (int i = 0; i < b->term[0].natom; i++)
        if (!add_atom(&term, b->term[0].atom[i]))
            return false;
    *out = (Linear){.nterm = 1, .term = {term}};
    return true;
}

/* Reads a product. MUL nodes lean to the left: a * b * c is MUL(MUL(a, b), c). */
static bool term_from(const Model *model, int index, Term *out)
{
    *out = (Term){.coef = 1};
    for (; model->expr[index].op == EXPR_MUL; index = model->expr[index].a) {
        const Expr *right = &model->expr[model->expr[index].b];
        if (right->op == EXPR_CONST) {
            if (__builtin_mul_overflow(out->coef, right->lo, &out->coef))
                return false;
        } else if (!add_atom(out, model->expr[index].b)) {
            return false;
        }
    }
    return add_atom(out, index);
}

bool linear_from(const Model *model, Extent extent, Linear *out)
{
    Term term;
    int  index = extent.expr;

    *out = (Linear){.constant = index < 0 ? extent.max : 0};
    while (index >= 0) {
        const Expr *expr = &model->expr[index];
        bool        sum = expr->op == EXPR_ADD || expr->op == EXPR_SUB;
        const Expr *right = sum ? &model->expr[expr->b] : expr;
        int64_t     times = expr->op == EXPR_SUB ? -1 : 1;
        if (right->op == EXPR_CONST) {
            int64_t scaled;
            if (__builtin_mul_overflow(right->lo, times, &scaled) ||
                __builtin_add_overflow(out->constant, scaled, &out->constant))
                return false;
        } else if (!term_from(model, sum ? expr->b : index, &term) || !add_term(out, &term, times)) {
            return false;
        }
        index = sum ? expr->a : -1;
    }
    return true;
}

bool linear_divide(const Linear *a, int64_t divisor, Linear *quotient, Linear *rest)
{
    *quotient = (Linear){.constant = int_floor_div(a->constant, divisor)};
    *rest = (Linear){.constant = a->constant - quotient->constant * divisor};
    for (int i = 0; i < a->nterm; i++) {
        Term part = a->term[i];
        part.coef = a->term[i].coef / divisor; /* towards 0: quotient and rest then grow in the same direction */
        if (part.coef && !add_term(quotient, &part, 1))
            return false;
        part.coef = a->term[i].coef - part.coef * divisor;
        if (part.coef && !add_term(rest, &part, 1))
            return false;
    }
    return true;
}

/* *term without the atoms of `by`; false when it lacks one. */
static bool remove_atoms(Term *term, const Term *by)
{
    Term out = {.coef = term->coef};
    int  next = 0;

    for (int i = 0; i < term->natom; i++)
        if (next < by->natom && term->atom[i] == by->atom[next])
            next++;
        else
            out.atom[out.natom++] = term->atom[i];
    *term = out;
    return next == by->natom;
}

bool linear_cancel(const Linear *a, const Term *b, Linear *out)
{
    Linear sum = {0};

    if (a->constant)
        return false;
    for (int i = 0; i < a->nterm; i++) {
        Term part = a->term[i];
        if (!remove_atoms(&part, b))
            return false;
        if (!part.natom) {
            if (__builtin_add_overflow(sum.constant, part.coef, &sum.constant))
                return false;
        } else if (!add_term(&sum, &part, 1)) {
            return false;
        }
    }
    *out = sum;
    return true;
}
