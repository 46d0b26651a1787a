/* operand.h - which bytes of a buffer an operand covers. The basic questions are in program.h; these are for liveness,
 * checking and planning. Knows nothing of kernels. */
#ifndef OCC_PROGRAM_OPERAND_H
#define OCC_PROGRAM_OPERAND_H

#include "program/program.h"

/* The first `bytes` bytes of a buffer. */
Operand operand_of_bytes(int buffer, int64_t bytes, int access);

/* The operand with another axis, along which its elements are repeated. */
Operand operand_with_axis(Operand operand, int axis, Extent dim);

/* Whether some extent is 0 even at its maximum, so that no byte is touched. */
bool operand_is_empty(const Operand *operand);

/* Whether the elements fill their hull without gaps at maximal extents, in any order of axes (channels-last too). */
bool operand_is_solid(const Operand *operand);

/* The hull: bytes [*lo, *hi) of the buffer that the operand can touch at maximal extents. With run-time extents it is
 * clipped to the buffer's `size` bytes; with constant ones it is exact, and may show that the operand leaves the
 * buffer. */
void operand_hull(const Operand *operand, int64_t size, int64_t *lo, int64_t *hi);

/* The argument of a kernel step by the name of its parameter; NULL: the kernel has none of that name. */
Arg *step_argument(const Step *step, const char *name);

/* The extents of an argument, by the name of its parameter; of a shape x_at they are "xdim" and "xstride". *count: how
 * many. They may be changed if the step is the caller's own. NULL: the kernel has none of that name. */
Extent *step_extents_of(const Step *step, const char *name, int *count);

/* The operand whose extents and strides a parameter of the step's kernel is; NULL: it is no shape. */
const Operand *step_shape(const Step *step, const Param *param);

typedef struct Passed {
    const Extent *extent;
    int           count;
} Passed;

/* List `index` of the extents that the kernel is called with: first the arguments, then extents and strides of each
 * shape. false: there are no more. */
bool step_passed(const Step *step, int index, Passed *passed);
bool step_passed_constants(const Step *step); /* none of them is a run-time integer */

#endif
