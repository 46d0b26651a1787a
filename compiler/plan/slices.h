/* slices.h - steps cut into slices that may run at the same time: a static partition, made at compile time. A slice is
 * a step of its own, the same kernel on a window of the result. So no kernel knows of slices, but for those that are
 * called in rounds (KernelRecord), and every bit is that of the whole step. Knows nothing of threads. */
#ifndef OCC_PLAN_SLICES_H
#define OCC_PLAN_SLICES_H

#include "program/program.h"

/* Cuts every step into slices (Step.slices) for `threads` threads with at least `microseconds` of work each, and gives
 * each slice its own scratch (Buffer.copies). A step some of whose extents only the run knows is cut along the others.
 * Steps with run-time offsets, and kernels whose record offers no cuts, stay whole. */
void program_cut_steps(Program *program, int threads, int microseconds);

/* Whether every extent is constant, every operand has a constant offset and no input may be absent, so that a window of
 * the step can be told. */
bool step_is_plain(const Program *program, const Step *step);

/* A deep copy of a step, whose operands and extents may be changed. Memory is the program's arena's. */
Step step_copy(const Program *program, const Step *step);

/* Slice `index` of a step with slices > 1, as a step. Memory is the program's arena's. */
Step step_slice(const Program *program, const Step *step, int index);

#endif
