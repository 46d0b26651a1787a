/* table.h - integers that a step reads and that are known while compiling. */
#ifndef OCC_PROGRAM_TABLE_H
#define OCC_PROGRAM_TABLE_H

#include "program/program.h"

/* The elements of the operand at the step that reads it, if they are known at compile time; else NULL. *computed: the
 * run computes them too. In the program's arena (table.c). */
const int64_t *program_table(const Program *program, const Operand *operand, bool *computed);

#endif
