/* concats.h - concatenations whose members should be copied instead of computed in place. */
#ifndef OCC_ALTERNATIVES_CONCATS_H
#define OCC_ALTERNATIVES_CONCATS_H

#include "program/program.h"

/* Adds to `copied`, by the Value.id of results (Options.copied), the concatenations of the model that are made in place
 * and weigh on a step where as much is live as at the plan's peak. Returns how many; the model is then to be lowered
 * again. */
int concats_to_copy(const Program *program, const PlanOptions *options, const Plan *plan, bool *copied);

#endif
