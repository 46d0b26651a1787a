/* weight.c - the bytes of constants. */
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

const void *weight_block(const Buffer *weight, int64_t from, int64_t bytes, void *room)
{
    if (!weight->packing)
        return (const char *)weight->source + from;
    weight->packing->make(weight->packing, from, bytes, room);
    return room;
}

void *weight_whole(Arena *arena, const Buffer *weight, int64_t align)
{
    void *copy;

    if (!weight->packing && (uintptr_t)weight->source % (uintptr_t)align == 0)
        return (void *)(uintptr_t)weight->source;
    copy = arena_alloc(arena, (size_t)weight->size + 1);
    if (weight->packing)
        weight->packing->make(weight->packing, 0, weight->size, copy);
    else
        memcpy(copy, weight->source, (size_t)weight->size);
    return copy;
}

bool weight_same(Arena *arena, const Buffer *a, const Buffer *b)
{
    ArenaMark mark = arena_mark(arena);
    char     *room = arena_alloc(arena, 2 * WEIGHT_BLOCK);
    bool      same = a->size == b->size;

    for (int64_t at = 0; same && at < a->size; at += WEIGHT_BLOCK) {
        int64_t     bytes = int_min(a->size - at, WEIGHT_BLOCK);
        const void *left = weight_block(a, at, bytes, room), *right = weight_block(b, at, bytes, room + WEIGHT_BLOCK);

        same = !memcmp(left, right, (size_t)bytes);
    }
    arena_release(arena, mark);
    return same;
}
