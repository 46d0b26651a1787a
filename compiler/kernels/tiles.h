/* tiles.h - what makes a step work in smaller tiles: other arguments, smaller scratch. Knows no kernel. The step has
 * operands and arguments of its own (program/copy.h). */
#ifndef OCC_KERNELS_TILES_H
#define OCC_KERNELS_TILES_H

#include "program/program.h"

/* Sets an argument, or the extents of a shape. */
void tiles_set(const Step *step, const char *name, const int64_t *value, int count);

/* Sets the size of a scratch, and of its spans. */
void tiles_resize(Buffer *scratch, int64_t bytes);

/* Sets the extent of one axis of a step's scratch, and its size in all. */
void tiles_set_scratch(Program *program, Operand *scratch, int axis, int64_t extent, int64_t elements);

#endif
