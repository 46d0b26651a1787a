/* slices.h - steps cut into slices that may run at the same time: a static partition, made at compile time. A slice is
 * a step of its own, the same kernel on a window of the result. So no kernel knows of slices, but for those that are
 * called in rounds (KernelRecord), and every bit is that of the whole step. Knows nothing of threads. */
#ifndef OCC_PLAN_SLICES_H
#define OCC_PLAN_SLICES_H

#include "program/program.h"

/* Cuts every step into slices (Step.slices) for `threads` threads with at least `microseconds` of work each, and gives
 * each slice its own scratch (Buffer.copies). Kernels whose record offers no cuts stay whole. */
void program_cut_steps(Program *program, int threads, int microseconds);

/* Whether every extent is constant, every operand has a constant offset and no input may be absent, so that a window of
 * the step can be told. */
bool step_is_plain(const Program *program, const Step *step);

/* A deep copy of a step, whose operands and extents may be changed. Memory is the program's arena's. */
Step step_copy(const Program *program, const Step *step);

/* Whether two windows of one step differ by the offsets of their operands only. */
bool step_same_but_offsets(const Step *a, const Step *b);

/* Slice `index` of a step with slices > 1, as a step. Where only the run knows the units along the cut, as it is when
 * there are most of them. Memory is the program's arena's; never under a mark of the model's. */
Step step_slice(const Program *program, const Step *step, int index);

/* The axes of EXPR_PART symbols: what the slice that runs is. Their value is the greatest that they take. */
enum { PART_INDEX, PART_FIRST, PART_COUNT };

/* The slices of a cut along an axis whose units only the run knows. Example: of rows in at most 8 slices of at least 4
 * rows, `each` is max(ceil(rows / 8), 4), and slice 2 has the rows from 2 * each on. */
typedef struct OpenSlice {
    Step   slice;              /* in EXPR_PART symbols */
    Extent units, each, count; /* in all; of a slice, the last of which may have fewer; slices that there are */
} OpenSlice;

/* The step as it is cut where a run brings few units (Step.few): along an axis that is a constant. */
Step step_of_few(const Step *step);

/* False: the units are constant, and step_slice tells each slice. Memory is the program's arena's. */
bool step_slice_while_running(const Program *program, const Step *step, OpenSlice *open);

#endif
