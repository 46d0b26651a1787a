/* part.h - steps cut into parts that may run at the same time: a static partition, made at compile time.
 * A part is a step of its own, the same kernel on a piece of the result, so no kernel knows of it and every bit is what
 * the whole step would have made. Knows nothing of threads. */
#ifndef OCC_PLAN_PART_H
#define OCC_PLAN_PART_H

#include "program/program.h"

/* Cut every step into parts (Step.parts) for `threads` threads that have `microseconds` of work each, at least, and
 * give each part its own scratch (Buffer.copies). Steps whose extents or places are known only while running, and
 * kernels whose record offers no cuts, stay whole. */
void program_partition(Program *program, int threads, int microseconds);

/* A step of its own: operands and extents may be changed, nothing of them is shared. Memory is the program's
 * arena's. */
Step step_copy(const Program *program, const Step *step);

/* Part `index` of a step with parts > 1, as a step. Memory is the program's arena's. */
Step step_part(const Program *program, const Step *step, int index);

#endif
