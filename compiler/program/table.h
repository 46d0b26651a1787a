/* table.h - integers that a step reads and that are known while compiling. */
#ifndef OCC_PROGRAM_TABLE_H
#define OCC_PROGRAM_TABLE_H

#include "program/program.h"

/* What the operand holds when the step that reads it runs, where that is known now; else NULL. *computed: a run works
 * it out again. In the program's arena (table.c). */
const int64_t *program_table(const Program *program, const Operand *operand, bool *computed);

#endif
