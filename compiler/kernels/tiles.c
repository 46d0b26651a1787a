/* tiles.c - changes of arguments and scratch. */
#include "kernels/tiles.h"
#include "program/operand.h"

void tiles_set(const Step *step, const char *name, const int64_t *value, int count)
{
    int     all;
    Extent *list = step_extents_of(step, name, &all);

    for (int i = 0; i < count; i++)
        list[i] = extent_const(value[i]);
}

void tiles_set_scratch(Program *program, Operand *scratch, int axis, int64_t extent, int64_t elements)
{
    Buffer *buffer = &program->buffer[scratch->buffer];

    scratch->dim[axis] = extent_const(extent);
    buffer->size = elements * operand_bytes_per_element(scratch);
    for (int i = 0; i < buffer->nspan; i++) /* spans cover the whole buffer, and follow its new size */
        buffer->span[i].hi = buffer->size;
}
