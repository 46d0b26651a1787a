/* flow.h - the order in which steps can run: If and Loop own ranges of the one numbering, everything else follows on.
 * Knows nothing of buffers. */
#ifndef OCC_PROGRAM_FLOW_H
#define OCC_PROGRAM_FLOW_H

#include "program/program.h"

/* Steps that may run right after a step; nstep stands for the end of the run, -1 for none. */
typedef struct Flow {
    int next[2];
} Flow;

/* By step, [nstep]. The ranges must nest as program_check wants them. */
Flow *flow_build(Arena *arena, const Program *program);

/* The expected number of executions of each step, [nstep]: a loop without a condition counts as often as it runs at
 * the largest extents, others once; each of two branches counts half. */
double *flow_runs(Arena *arena, const Program *program);

bool range_holds(Range range, int step);

/* The rows of steps, of which a run takes one: the branches of the IFs that choose, or all steps. Returns how many
 * there are; the IF of each but the last stands before it. */
int flow_rows(Arena *arena, const Program *program, Range **row);

/* The row of a step; of an IF that chooses, it and all rows that it chooses between. */
Range flow_row_of(const Program *program, int step);

/* First step after `step` and the ranges that it owns. */
int flow_after(const Program *program, int step);

/* The successor of a step that owns no ranges: the next step, the loop whose pass it ends, or nstep. */
int flow_next(const Program *program, int step);

#endif
