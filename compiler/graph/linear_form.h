/* linear_form.h - run-time integers as sums of products, the normal form in which extent_expr.c compares them.
 * Knows nothing of types or nodes. */
#ifndef OCC_GRAPH_LINEAR_FORM_H
#define OCC_GRAPH_LINEAR_FORM_H

#include "graph/ir.h"

enum { MAX_TERMS = 12, MAX_FACTORS = 6 };

/* coef * atom[0] * atom[1] * ...; atoms are indices into Model.expr, ascending, none of them ADD, SUB, MUL or CONST. */
typedef struct Term {
    int64_t coef; /* never 0 */
    int     natom;
    int     atom[MAX_FACTORS];
} Term;

/* The sum of the terms and `constant`. */
typedef struct Linear {
    int64_t constant;
    int     nterm;
    Term    term[MAX_TERMS]; /* no two with the same atoms; ascending by atoms */
} Linear;

/* Each returns false, *out unspecified, when the result overflows or has too many terms or factors. */
bool linear_from(const Model *model, Extent extent, Linear *out);
bool linear_add(const Linear *a, const Linear *b, int64_t times, Linear *out); /* a + times * b */
bool linear_mul(const Linear *a, const Linear *b, Linear *out);

/* a == quotient * divisor + rest, with 0 <= rest.constant < divisor; terms whose coefficient the divisor divides go
 * into the quotient. Example: (6n + 7) / 3: quotient 2n + 2, rest 1. */
bool linear_divide(const Linear *a, int64_t divisor, Linear *quotient, Linear *rest);

/* a / b exactly, where every term of a holds all atoms of the single term b (which must be > 0 at run time). */
bool linear_cancel(const Linear *a, const Term *b, Linear *out);

int64_t int_floor_div(int64_t a, int64_t b); /* by 0: 0 */
int64_t int_saturated_add(int64_t a, int64_t b);
int64_t int_saturated_sub(int64_t a, int64_t b);
int64_t int_saturated_mul(int64_t a, int64_t b);

#endif
