/* call.h - a step with its arguments by name:
 *
 *     STEP(lower, node, "svm_best", ARG(x, scores), ARG(best, best), ARG(rows, rows), ARG(classes, n), ARG(limit, 0.5))
 *
 * The order is that of the kernel's own parameters, and so is what is read and what is written. A field of a struct
 * that the kernel takes has the field's name, or "window.kernel" where that alone would not do. */
#ifndef OCC_LOWER_CALL_H
#define OCC_LOWER_CALL_H

#include "lower/lower.h"

typedef struct Given {
    const char *name; /* of the kernel's parameter; "": of the expression; NULL begins or ends a list */
    enum {
        GIVEN_OPERAND,
        GIVEN_UPDATED,
        GIVEN_EXPR,
        GIVEN_INT,
        GIVEN_EXTENTS,
        GIVEN_INTS,
        GIVEN_FLOAT,
        GIVEN_FLOATS
    } kind;
    Operand       operand;
    Extent        extent; /* INT */
    double        real;   /* FLOAT */
    int           count;  /* EXTENTS, INTS, FLOATS: elements of `list`; EXPR: operands there */
    const void   *list;
    const Scalar *expr;
} Given;

/* The arguments of a step, each of which is given to `lower`, a variable of that name where the step is made. Commas
 * put them in order: what an argument appends to the program comes before what those behind it append. */

/* Operands, run-time integers, integers and floats. */
#define ARG(parameter, value) \
    step_give(lower, _Generic((value), Operand \
                              : given_operand, Extent \
                              : given_extent, float \
                              : given_float, double \
                              : given_float, default \
                              : given_int)(#parameter, value))

/* Lists: `count` elements of Extent, int64_t or double. */
#define ARGS(parameter, count, list) \
    step_give(lower, \
              _Generic(&(list)[0], Extent *: given_extents, const Extent *: given_extents, double *: given_floats, \
             const double *: given_floats, default: given_ints)(#parameter, count, list))

/* An operand that the kernel changes: what it held stays alive until then. */
#define UPDATED(parameter, operand) step_give(lower, given_updated(#parameter, operand))

/* An argument for kernels that have the parameter, where one of several is called. */
#define GIVE_IF(condition, argument) ((condition) ? (argument) : (void)0)
#define ARG_IF(condition, parameter, value) GIVE_IF(condition, ARG(parameter, value))

/* Operands that the kernel's expression reads; `expression` may be NULL. */
#define EXPR(expression, operands, count) step_give(lower, given_expr(expression, operands, count))

#define STEP(lower, node, kernel, ...) (step_open(lower), __VA_ARGS__, step_call(lower, node, kernel))

/* A step whose parameter `y` is output 0 of the node, made by lower_output_dense. */
#define STEP_OUTPUT(lower, node, made, kernel, ...) \
    (step_open(lower), ARG(y, made), __VA_ARGS__, step_output(lower, node, made, kernel))

/* Begins a list of arguments, inside of another one where an argument is made by steps. */
void step_open(Lower *lower);
void step_give(Lower *lower, Given given);

/* Appends the step with the arguments given since step_open, and ends their list. Returns 0, or -1 with a message.
 * `node` NULL: the node that is being lowered. */
int step_call(Lower *lower, const Node *node, const char *kernel);
int step_output(Lower *lower, const Node *node, Operand y, const char *kernel);

Given given_expr(const Scalar *expr, const Operand *operands, int count);
Given given_operand(const char *name, Operand operand);
Given given_updated(const char *name, Operand operand);
Given given_extent(const char *name, Extent value);
Given given_int(const char *name, int64_t value);
Given given_float(const char *name, double value);
Given given_extents(const char *name, int count, const Extent *list);
Given given_ints(const char *name, int count, const int64_t *list);
Given given_floats(const char *name, int count, const double *list);

/* The slot to which a kernel writes an extent that it finds. */
Operand step_finds(Lower *lower, Extent found);

#endif
