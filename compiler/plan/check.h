/* check.h - checks of a program. Knows nothing of plans. */
#ifndef OCC_PLAN_CHECK_H
#define OCC_PLAN_CHECK_H

#include "program/program.h"

/* Every invariant of a program (check_program.c); a failure is a bug of occamyc. Returns 0, or -1 with a message. */
int program_check(const Program *program, Diag *diag);

/* Checks that the arguments of steps describe their operands correctly at every size (check_extents.c). */
int program_check_extents(const Program *program, Diag *diag);

/* Checks the slices of steps that are cut. */
int program_check_slices(const Program *program, Diag *diag);

/* By Model.expr index: whether it consists of constants and of extents that the caller gives, so that it can be read
 * without a slot. In the program's arena. */
bool *program_given(const Program *program);

#endif
