/* tiles.c - changes of arguments and scratch, each stored with the value before. */
#include "kernels/tiles.h"
#include "program/operand.h"

/* Scratch has spans of its whole size, which follow the new size. */
static void resize(Buffer *buffer, int64_t bytes)
{
    buffer->size = bytes;
    for (int i = 0; i < buffer->nspan; i++)
        buffer->span[i].hi = buffer->size;
}

void tiles_set(Program *program, const Step *step, const char *name, const int64_t *value, int count,
               TileChanges *changes)
{
    TileChange before = {.buffer = -1};

    before.list = step_extents_of(step, name, &before.count);
    for (int i = 0; i < count; i++) {
        before.extent[i] = before.list[i];
        before.list[i] = extent_const(value[i]);
    }
    ARENA_PUSH(program->arena, changes->change, changes->count, changes->capacity, before);
}

void tiles_set_scratch(Program *program, Operand *scratch, int axis, int64_t extent, int64_t elements,
                       TileChanges *changes)
{
    Buffer    *buffer = &program->buffer[scratch->buffer];
    TileChange before = {&scratch->dim[axis], {scratch->dim[axis]}, 1, scratch->buffer, buffer->size};

    scratch->dim[axis] = extent_const(extent);
    resize(buffer, elements * operand_bytes_per_element(scratch));
    ARENA_PUSH(program->arena, changes->change, changes->count, changes->capacity, before);
}

void tiles_restore(Program *program, TileChanges *changes)
{
    while (changes->count > 0) {
        const TileChange *before = &changes->change[--changes->count];

        for (int i = 0; i < before->count; i++)
            before->list[i] = before->extent[i];
        if (before->buffer >= 0)
            resize(&program->buffer[before->buffer], before->bytes);
    }
}
