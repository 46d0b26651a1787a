/* step_key.h - the words by which the measured time of a step is known from one compilation to the next: its kernel,
 * its operators and the extents of its operands. Knows nothing of files and times. */
#ifndef OCC_PROGRAM_STEP_KEY_H
#define OCC_PROGRAM_STEP_KEY_H

#include "program/program.h"

/* "conv_f32 Conv+Relu 1x1x3x224x224 864 32 1x32x1x112x112": the operators that it computes, then extents at most, "-"
 * for an operand that is absent, "1" for one element. "": the step is no kernel call. Memory is the arena's. */
const char *step_key(Arena *arena, const Step *step);

#endif
