/* interpret.h - scalar expressions run in this process, by the very functions that generated code calls.
 * Knows nothing of steps or memory. */
#ifndef OCC_PROGRAM_INTERPRET_H
#define OCC_PROGRAM_INTERPRET_H

#include "codegen_templates/c/base/occ_expr.h"
#include "program/kernels.h"
#include "program/scalar.h"

typedef struct Interpreter Interpreter;

/* Prepare `expr` (NULL: the accumulator as it is) for kernels whose expression has the type `function` ("occ_fn_vf",
 * "occ_fn_f32", ...). NULL: it cannot be interpreted (an operator that the element type does not have, too many
 * operands). */
Interpreter *interpret_prepare(Arena *arena, const Scalar *expr, const char *function);

/* The kernel's expression arguments: the function, and an occ_expr whose operand k is x[k]. The result is valid as long
 * as the interpreter, which serves one call at a time. */
const occ_expr *interpret_bind(Interpreter *interpreter, void *const *x, int count);
void (*interpret_function(const Interpreter *interpreter))(void);

#endif
