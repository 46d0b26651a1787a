/* concats.h - concatenations whose members should be copied instead of computed in place. */
#ifndef OCC_ALTERNATIVES_CONCATS_H
#define OCC_ALTERNATIVES_CONCATS_H

#include "program/program.h"

/* Adds to `copied`, by the Value.id of results (Options.copied), the concatenations that are computed in place and are
 * partly written in a step whose live bytes reach the plan's peak. Returns their number; the model must then be lowered
 * again. */
int concats_to_copy(const Program *program, const PlanOptions *options, const Plan *plan, bool *copied);

#endif
