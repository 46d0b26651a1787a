/* copy.h - copies of a program, which are changed and planned while the original stays as it is. */
#ifndef OCC_PROGRAM_COPY_H
#define OCC_PROGRAM_COPY_H

#include "program/program.h"

/* A program with buffers, spans and a list of steps of its own, and without overlap constraints. Operands and arguments
 * are shared with the original: program_own_step before one of them is changed. */
Program *program_copy(const Program *program);

/* Gives the step operands and arguments of its own, and returns it. */
Step *program_own_step(Program *program, int step);

#endif
