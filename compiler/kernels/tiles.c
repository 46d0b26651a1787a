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

void tiles_resize(Buffer *scratch, int64_t bytes)
{
    scratch->size = bytes;
    for (int i = 0; i < scratch->nspan; i++) /* spans cover the whole buffer, and follow its new size */
        scratch->span[i].hi = bytes;
}

void tiles_set_scratch(Program *program, Operand *scratch, int axis, int64_t extent, int64_t elements)
{
    scratch->dim[axis] = extent_const(extent);
    tiles_resize(&program->buffer[scratch->buffer], elements * operand_bytes_per_element(scratch));
}
