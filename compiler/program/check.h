/* check.h - parts of program_check. Knows nothing of plans. */
#ifndef OCC_PROGRAM_CHECK_H
#define OCC_PROGRAM_CHECK_H

#include "program/program.h"

/* What the arguments of steps say of their operands fits these at every size (check_extents.c). */
int program_check_extents(const Program *program, Diag *diag);

/* The parts of steps that are cut; part of program_check. */
int program_check_parts(const Program *program, Diag *diag);

#endif
