/* command_line.h - the options that the command line gives. Knows nothing of models. */
#ifndef OCC_COMMAND_LINE_H
#define OCC_COMMAND_LINE_H

#include "program/options.h"
#include "support/text.h"

/* Read the command line. Strings stay the caller's (argv); lists live in diag->arena. Returns 0, or -1 with usage
 * messages: one for each option that is unknown or whose value is not understood. */
int options_parse(Options *options, int argc, char *const *argv, Diag *diag);

/* Appends the text of --help: every option in one line or two. */
void options_help(Text *text);

#endif
