/* check.h - whether a program is one. Knows nothing of plans. */
#ifndef OCC_PLAN_CHECK_H
#define OCC_PLAN_CHECK_H

#include "program/program.h"

/* Every invariant of a program (check_program.c); a failure is a bug of occamyc. Returns 0, or -1 with a message. */
int program_check(const Program *program, Diag *diag);

/* Parts of it: what the arguments of steps say of their operands fits these at every size (check_extents.c). */
int program_check_extents(const Program *program, Diag *diag);

/* And the parts of steps that are cut. */
int program_check_parts(const Program *program, Diag *diag);

#endif
