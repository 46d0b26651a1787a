/* python.h - the Python that is asked for ONNX Runtime's answers, and what to type where it cannot give them. Knows
 * nothing of what it is asked. */
#ifndef OCC_TRIAL_PYTHON_H
#define OCC_TRIAL_PYTHON_H

#include "support/diag.h"

/* Its command, which runs in any folder: that of OCCAMYC_PYTHON, else the virtual environment `venv` beside this
 * program's file, else python3. */
const char *python_command(Arena *arena);

/* Refuses in two lines: the interpreter that was asked, with what it `lacks`, and how to have one. Returns -1. */
int python_refuse(Arena *arena, Diag *diag, const char *python, const char *lacks);

#endif
