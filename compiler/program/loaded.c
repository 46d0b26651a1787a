/* loaded.c - blocks and tables of the weights file, compared by their bytes. */
#include "program/loaded.h"

#include "codegen_templates/c/base/occ_sum.h"
#include "program/fetch.h"
#include "program/row_table.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

int *program_file_order(const Program *p, int *count)
{
    int *order = arena_array(p->arena, int, p->nbuffer + 1);

    *count = 0;
    for (int s = 0; s < p->nstep; s++)
        if (p->step[s].kind == STEP_FETCH)
            order[(*count)++] = p->step[s].operand[0].buffer;
    for (int b = 0; b < p->nbuffer; b++)
        if (p->buffer[b].kind == BUFFER_TABLE)
            order[(*count)++] = b;
    return order;
}

void loaded_bytes(const Program *p, const Buffer *loaded, int64_t from, int64_t bytes, void *to)
{
    if (loaded->kind == BUFFER_TABLE)
        table_bytes(p, loaded, from, bytes, to);
    else
        block_bytes(p, loaded, from, bytes, to);
}

uint64_t loaded_hash(const Program *p, const Buffer *loaded)
{
    char     room[4096];
    int64_t  bytes = int_min(loaded->size, (int64_t)sizeof room);
    uint64_t hash = (uint64_t)loaded->size;

    loaded_bytes(p, loaded, 0, bytes, room);
    hash = occ_sum(hash, room, (uint64_t)bytes);
    loaded_bytes(p, loaded, loaded->size - bytes, bytes, room);
    return occ_sum(hash, room, (uint64_t)bytes);
}

bool loaded_same(const Program *p, const Buffer *a, const Buffer *b)
{
    ArenaMark mark = arena_mark(p->arena);
    char     *x = arena_array(p->arena, char, WEIGHT_BLOCK), *y = arena_array(p->arena, char, WEIGHT_BLOCK);
    bool      same = a->kind == b->kind && a->size == b->size && a->row == b->row && a->pitch == b->pitch;

    for (int64_t at = 0; at < a->size && same && a != b; at += WEIGHT_BLOCK) {
        int64_t bytes = int_min(a->size - at, WEIGHT_BLOCK);

        loaded_bytes(p, a, at, bytes, x);
        loaded_bytes(p, b, at, bytes, y);
        same = !memcmp(x, y, (size_t)bytes);
    }
    arena_release(p->arena, mark);
    return same;
}

void program_find_loaded(const Program *p, int *same)
{
    int        count;
    const int *order = program_file_order(p, &count);
    uint64_t  *hash = arena_array(p->arena, uint64_t, count + 1);

    for (int i = 0; i < count; i++) {
        int k = 0;

        hash[i] = loaded_hash(p, &p->buffer[order[i]]);
        while (k < i && (hash[k] != hash[i] || same[order[k]] != order[k] ||
                         !loaded_same(p, &p->buffer[order[k]], &p->buffer[order[i]])))
            k++;
        same[order[i]] = order[k];
    }
}
