/* compile.h - one compilation from options to output files. Prints nothing and never exits. */
#ifndef OCC_COMPILE_H
#define OCC_COMPILE_H

#include "program/options.h"
#include "support/text.h"

/* The text that the command prints. occ_compile itself writes the files. */
typedef struct Output {
    Text standard; /* for standard output: a dump, or the source with `-o -`; empty: nothing */
    Text summary;  /* the plan's figures for people; empty with --quiet */
} Output;

/* Compile options->model. Everything lives in diag->arena. Returns 0, or -1: messages in diag, its status is the exit
 * code, and no output file was touched. An exhausted arena is such a failure too. */
int occ_compile(const Options *options, Diag *diag, Output *output);

#endif
