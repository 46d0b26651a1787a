/* operand.h - which bytes of a buffer an operand covers. The basic questions are in program.h; these are for liveness,
 * checking and planning. Knows nothing of kernels. */
#ifndef OCC_PROGRAM_OPERAND_H
#define OCC_PROGRAM_OPERAND_H

#include "program/program.h"

/* Some extent is 0 even at its maximum: nothing is touched. */
bool operand_is_empty(const Operand *operand);

/* Its elements fill their hull without gaps, in any order of axes (channels-last counts), at maximal extents. */
bool operand_is_solid(const Operand *operand);

/* Bytes [*lo, *hi) of its buffer that it can touch at maximal extents. For operands with run-time extents the hull is
 * clipped to the buffer's `size` bytes; for constant ones it is exact and may show that they leave the buffer. */
void operand_hull(const Operand *operand, int64_t size, int64_t *lo, int64_t *hi);

/* The argument of a kernel step by the name of its parameter; NULL: the kernel has none of that name. */
Arg *step_argument(const Step *step, const char *name);

#endif
