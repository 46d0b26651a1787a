/* constants.c - where constants and the state lie: in blocks of their own, outside the arena. Equal constants exist
 * once. */
#include "codegen_templates/c/base/occ_sum.h"
#include "program/loaded.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

/* Above this many bytes C compilers take long over literals (about a second for each 2 MiB). */
enum { INLINE_LIMIT = 2 << 20 };

/* A hash table of constants by content: open addressing, Buffer.id + 1. */
typedef struct Known {
    const Program *program;
    WeightForm     form;
    int           *table;
    int            size; /* a power of two */
} Known;

/* Hashes the first and the last bytes; equality compares all. */
static uint64_t hash_weight(const Buffer *b)
{
    _Alignas(16) char room[4096];
    int64_t           bytes = int_min(b->size, (int64_t)sizeof room);
    uint64_t          hash = occ_sum((uint64_t)b->size, weight_block(b, 0, bytes, room), (uint64_t)bytes);

    return occ_sum(hash, weight_block(b, b->size - bytes, bytes, room), (uint64_t)bytes);
}

/* Whether two constants may share their storage: equal bytes and, as arrays of literals, equal element types. */
static bool is_same(const Known *known, const Buffer *a, const Buffer *b)
{
    if (a->dtype == DTYPE_TEXT || b->dtype == DTYPE_TEXT)
        return false;
    if (known->form == WEIGHTS_INLINE && strcmp(dtype_info(a->dtype)->ctype, dtype_info(b->dtype)->ctype))
        return false;
    return weight_same(known->program->arena, a, b);
}

static int find_same(Known *known, int id)
{
    const Buffer *b = &known->program->buffer[id];
    uint64_t      hash = b->dtype == DTYPE_TEXT || !b->size ? (uint64_t)b->size : hash_weight(b);
    int           at = (int)((hash ^ (hash >> 32)) & (uint64_t)(known->size - 1));

    for (; known->table[at]; at = (at + 1) & (known->size - 1))
        if (is_same(known, &known->program->buffer[known->table[at] - 1], b))
            return known->table[at] - 1;
    known->table[at] = id + 1;
    return id;
}

/* Constants that some step reads, or of which resident ones are made, by Buffer.id. */
static bool *used_weights(const Program *p)
{
    bool *used = arena_array(p->arena, bool, p->nbuffer + 1);

    for (int i = 0; i < p->nstep; i++)
        for (int k = 0; k < p->step[i].noperand; k++) {
            int b = p->step[i].operand[k].buffer;

            if (b >= 0)
                used[b] = p->buffer[b].kind == BUFFER_WEIGHT;
        }
    for (int b = 0; b < p->nbuffer; b++) /* constants that resident blocks copy */
        for (int i = 0; i < p->buffer[b].ncontent && p->buffer[b].kind == BUFFER_RESIDENT; i++)
            used[p->buffer[b].content[i].weight] |= p->buffer[p->buffer[b].content[i].weight].size > 0;
    return used;
}

static WeightForm choose_form(const Program *p, const PlanOptions *options, const bool *used)
{
    int64_t total = 0;

    for (int i = 0; i < p->nbuffer; i++)
        total += used[i] ? p->buffer[i].size : 0;
    if (options->weights == WEIGHTS_SWAP) /* constants that are in no block */
        return WEIGHTS_INLINE;
    if (options->weights != WEIGHTS_AUTO)
        return options->weights;
    return total <= INLINE_LIMIT || options->one_file ? WEIGHTS_INLINE : WEIGHTS_OBJECT;
}

int64_t program_place_state(const Program *p, int64_t *stored, int64_t *align)
{
    int64_t bytes = 0, most = 1;

    for (int i = 0; i < p->nbuffer; i++) {
        const Buffer *b = &p->buffer[i];

        if (b->kind != BUFFER_STATE)
            continue;
        bytes = int_round_up(bytes, b->align);
        if (stored)
            stored[i] = bytes;
        bytes += b->size;
        most = int_max(most, b->align);
    }
    if (align)
        *align = most;
    return bytes;
}

/* Places a constant in the common block, or in an array of its own; text (pointers) cannot lie in a file. */
static void place_weight(const Program *p, Plan *plan, int id)
{
    const Buffer *b = &p->buffer[id];
    bool          in_block = plan->weight_form != WEIGHTS_INLINE;

    if (in_block && b->dtype == DTYPE_TEXT)
        return;
    if (in_block && b->size) /* an empty one at the end adds no gap either */
        plan->weight_bytes = int_round_up(plan->weight_bytes, WEIGHT_ALIGN);
    plan->stored[id] = plan->weight_bytes;
    plan->weight_bytes += b->size;
}

/* Places blocks behind the file's header, in the order of their loads, and tables behind them. Those with the same
 * bytes, as several listed sizes have, share them. */
static void place_blocks(const Program *p, Plan *plan)
{
    int64_t    at = WEIGHT_HEADER;
    int        count;
    const int *order = program_file_order(p, &count);

    program_find_loaded(p, plan->same);
    for (int i = 0; i < count; i++) {
        int id = order[i];

        plan->stored[id] = plan->same[id] == id ? int_round_up(at, p->buffer[id].align) : plan->stored[plan->same[id]];
        at = int_max(at, plan->stored[id] + p->buffer[id].size);
    }
    plan->swap->file = at;
    plan->weight_form = WEIGHTS_SWAP;
}

void program_place_constants(const Program *p, const PlanOptions *options, Plan *plan)
{
    bool *used = used_weights(p);
    Known known = {.program = p, .form = choose_form(p, options, used), .size = 64};

    while (known.size < p->nbuffer * 2)
        known.size *= 2;
    known.table = arena_array(p->arena, int, known.size);
    plan->weight_form = known.form;
    plan->weight_bytes = 0;
    plan->same = arena_array(p->arena, int, p->nbuffer + 1);
    plan->stored = arena_array(p->arena, int64_t, p->nbuffer + 1);
    for (int i = 0; i < p->nbuffer; i++) {
        plan->same[i] = used[i] ? find_same(&known, i) : -1;
        if (plan->same[i] == i)
            place_weight(p, plan, i);
    }
    if (plan->swap)
        place_blocks(p, plan);
    plan->state_bytes = program_place_state(p, plan->stored, &plan->state_align);
}
