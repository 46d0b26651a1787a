/* scalar.c - the table of scalar operators. */
#include "program/scalar.h"

#include <stddef.h>

static const ScalarInfo table[] = {
#define SCALAR(name, arity, vector, result) {#name, arity, vector != 0, vector == 2, #result[0]},
#include "schemas/scalars.def"
};

const ScalarInfo *scalar_info(ScalarOp op)
{
    return op > SCALAR_FIRST_ROW && op < SCALAR_OP_COUNT ? &table[op - SCALAR_FIRST_ROW - 1] : NULL;
}
