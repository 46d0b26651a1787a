/* summary.h - what the command tells of a compilation: the plan's figures for people. */
#ifndef OCC_LIMITS_SUMMARY_H
#define OCC_LIMITS_SUMMARY_H

#include "limits/usage.h"

/* Appends the summary. no_winograd: Winograd's kernels gave way to the budget. */
void summary_tell(const Emission *emission, const Usage *usage, bool no_winograd, Text *text);

#endif
