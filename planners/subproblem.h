/* subproblem.h - some buffers of a problem as a problem of their own, with their spans and the overlap constraints
 * among them. Private to planners/; knows nothing of any strategy. */
#ifndef OCC_SUBPROBLEM_H
#define OCC_SUBPROBLEM_H

#include "planner.h"

typedef struct SubProblem {
    PlanProblem  problem; /* without regions, which the caller sets; its buffers may live anywhere */
    PlanBuffer  *buffer;
    PlanSpan    *span;
    PlanOverlap *overlap;
    int         *origin; /* by buffer of the problem: that of the whole */
    int         *index;  /* by buffer of the whole: that of the problem, or -1 */
} SubProblem;

/* The buffers b with part[b] == wanted. False: out of memory; subproblem_close frees it in either case. */
bool subproblem_open(SubProblem *sub, const PlanProblem *whole, const int32_t *part, int wanted);
void subproblem_close(SubProblem *sub);

#endif
