/* join_device.c - what a joined program for a device has besides: constants that the device reads lie in blocks that
 * branches share, and rows and engines of the variants get the joined program's numbers. */
#include "alternatives/joining.h"

#include "device/device.h"
#include "device/engines.h"
#include "program/weight.h"

/* Whether some step reads a block at a run-time offset: it holds one constant, in front. */
static bool is_read_moving(const Program *p, int block)
{
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++)
            if (p->step[s].operand[k].buffer == block && !extent_is_const(p->step[s].operand[k].offset))
                return true;
    return false;
}

static int add_block(Joining *j, const Buffer *like, int64_t bytes, const char *name)
{
    Buffer block = *like;

    block.content = NULL;
    block.ncontent = block.ccontent = 0;
    block.size = block.filled = bytes;
    block.name = name;
    return joining_add_buffer(j, block, -1);
}

void joining_add_blocks(Joining *j)
{
    static const char *const name[] = {[MEMORY_DEVICE] = "resident:constants", [MEMORY_PINNED] = "resident:status"};

    bool fails = false;

    for (int i = 0; i < j->count; i++)
        fails |= program_resident(j->variant[i].program, MEMORY_PINNED) >= 0;
    for (int m = MEMORY_DEVICE; m <= MEMORY_PINNED; m++) {
        j->block[m] = -1;
        for (int i = 0; i < j->count && j->block[m] < 0; i++) {
            const Program *p = j->variant[i].program;
            int            like = program_resident(p, m);

            if (like >= 0)
                j->block[m] = add_block(j, &p->buffer[like], fails ? STATUS_BYTES : 0, name[m]);
        }
    }
}

/* The block of a constant that is read at run-time offsets, which variants share. */
static int find_moving(Joining *j, const Buffer *like, int weight)
{
    const Program *p = j->program;

    for (int b = 0; b < p->nbuffer; b++) {
        const Buffer *block = &p->buffer[b];

        if (block->kind == BUFFER_RESIDENT && b != j->block[MEMORY_DEVICE] && block->ncontent &&
            p->buffer[block->content[0].weight].size == p->buffer[weight].size &&
            weight_same(j->arena, &p->buffer[block->content[0].weight], &p->buffer[weight]))
            return b;
    }
    return add_block(j, like, 0, like->name);
}

int joining_take_block(Joining *j, const Renumbering *r, int block)
{
    const Buffer *from = &r->from->buffer[block];
    int           to = j->block[buffer_memory(r->from, block)];

    if (is_read_moving(r->from, block))
        to = find_moving(j, from, r->buffer[from->content[0].weight]);
    for (int i = 0; i < from->ncontent; i++) {
        int weight = from->content[i].weight;

        r->place[weight] = program_place_resident(j->program, to, r->buffer[weight]);
    }
    return to;
}

void joining_move_operand(const Renumbering *r, Operand *x)
{
    const Buffer *block = &r->from->buffer[x->buffer];
    int64_t       bytes = operand_bytes_per_element(x), at = x->offset.max * bytes;
    int           i = block->ncontent - 1;

    if (!extent_is_const(x->offset))
        return;
    while (i > 0 && block->content[i].at > at)
        i--;
    if (i >= 0)
        x->offset.max += (r->place[block->content[i].weight] - block->content[i].at) / bytes;
}

void joining_take_rows(Joining *j, const Renumbering *r)
{
    Program *p = j->program;

    for (int i = 0; i < r->from->ndecided; i++) {
        Range row = {r->first_step + r->from->decided[i].begin, r->first_step + r->from->decided[i].end};

        ARENA_PUSH(j->arena, p->decided, p->ndecided, p->cdecided, row);
    }
    for (int s = 0; s < r->from->nstep; s++)
        if (r->from->step[s].engine)
            p->step[r->first_step + s].engine = 1 + program_engine(p, &r->from->engine[r->from->step[s].engine - 1]);
}
