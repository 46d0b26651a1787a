/* builder.h - programs made by hand for the tests of emission, and what is done with them: planned, emitted, compiled
 * by a real C compiler into a shared object, loaded. Knows no model file. */
#ifndef OCC_TEST_BUILDER_H
#define OCC_TEST_BUILDER_H

#include "emit/target.h"

typedef struct Build {
    Arena   *arena;
    Diag     diag;
    Model   *model;
    Program *program;
    Options  options;
    Plan     plan;
    Emission emission;
} Build;

Build *build_new(const char *name);
void   build_free(Build *b);

/* A tensor type of constant extents; further axes 0. */
Type tensor(DType dtype, int rank, int64_t a, int64_t b, int64_t c);

int    build_in(Build *b, const char *name, Type type); /* Buffer.id */
int    build_out(Build *b, const char *name, Type type);
int    build_act(Build *b, const char *name, DType dtype, int64_t elements);
int    build_weight(Build *b, const char *name, DType dtype, int64_t elements, const void *data);
int    build_dims(Build *b);                /* the run-time integers */
Extent build_slot(Build *b, Extent extent); /* give it a slot of dims */

Operand whole(const Build *b, int buffer, Type type, int access); /* row-major from the buffer's start */
Step   *build_kernel(Build *b, const char *kernel, const char *op, const char *node);
Step   *build_step(Build *b, StepKind kind);
void    step_operand(Build *b, Step *step, Operand operand, bool is_param);
void    step_arg_int(Build *b, Step *step, Extent value);
void    step_arg_ints(Build *b, Step *step, int count, const Extent *values);

/* Expressions: each returns its node. */
Scalar *scalar_new(Build *b, bool vector, DType stored);
int     node_acc(Build *b, Scalar *s);
int     node_load(Build *b, Scalar *s, DType dtype, int operand, int stride);
int     node_literal(Build *b, Scalar *s, DType dtype, double value);
int     node_op(Build *b, Scalar *s, ScalarOp op, int x, int y, int z);

/* y[i] = expr for i < n: the flat map kernel. The expression's operands follow. */
Step *build_map(Build *b, const char *node, Scalar *expr, Operand y, Extent n, int nx, const Operand *x);

/* Two such steps, not yet emitted: y = (x + w) * 2, then z = y * y; x and z of 1 x n floats, w of n, y in the arena. */
Build *two_maps(const char *name, int64_t n);

/* for (i = 0; i < trips; i++) if (i < 2) y += x; else y += 10 x; the trip count is an element of an input. */
Build *looping(void);

/* Plan (liveness, planner, checks) and emit; fails the running test with the message otherwise. */
void build_emit(Build *b);
void build_emit_again(Build *b); /* without planning */

/* Write the emitted files to build/tests/emit/gen/<tag>/, compile the C file with `flags` as a shared object, load it.
 * Returns the handle of dlopen; fails the running test when the compiler prints anything. */
void *build_load(Build *b, const char *tag, const char *compiler, const char *flags);

/* Write the emitted files to build/tests/emit/gen/<tag>/; returns the folder. */
const char *build_write(Build *b, const char *tag);

/* Run a command; fails the running test when it prints more than nothing or fails. */
void run_quiet(const char *command);

/* Run a command; returns what it printed (released by the caller) and its status. */
char *run_text(const char *command, int *status);

/* A function of a loaded object; fails the running test when there is none. */
void (*build_symbol(void *handle, const char *name))(void);

/* The strict flags of every generated file. */
#define STRICT "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Werror"

#endif
