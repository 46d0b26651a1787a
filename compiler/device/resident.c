/* resident.c - constants in the device's memory: they lie there from open on, one behind the other in blocks, of which
 * the operands of steps are windows. Equal constants lie there once.
 *
 *   resident:constants   | status | weight1 | weight3 ...      all that are read at constant offsets
 *   resident:weight2     | weight2 |                           read at a run-time offset, which an operand in a block
 *                                                              with others could not say */
#include "device/device.h"

#include "program/weight.h"
#include "support/int.h"

#include <string.h>

int64_t program_place_resident(Program *p, int resident, int weight)
{
    Buffer *block = &p->buffer[resident];
    Content content = {weight, int_round_up(block->filled, 256)};

    for (int i = 0; i < block->ncontent; i++)
        if (block->content[i].weight == weight ||
            (p->buffer[block->content[i].weight].size == p->buffer[weight].size &&
             weight_same(p->arena, &p->buffer[block->content[i].weight], &p->buffer[weight])))
            return block->content[i].at;
    ARENA_PUSH(p->arena, block->content, block->ncontent, block->ccontent, content);
    block->filled = content.at + p->buffer[weight].size;
    block->size = int_round_up(block->filled, 256);
    return content.at;
}

static int add_resident(Program *p, const char *name, int64_t bytes, int memory)
{
    Buffer b = {.kind = BUFFER_RESIDENT,
                .dtype = DTYPE_U8,
                .align = 256,
                .size = bytes,
                .filled = bytes,
                .regions = 1u << memory,
                .name = arena_printf(p->arena, "resident:%s", name)};

    return program_add_buffer(p, &b);
}

static bool is_weight_of_device(const Program *p, const Step *step, const Operand *x)
{
    return step_on_device(step) && x->buffer >= 0 && p->buffer[x->buffer].kind == BUFFER_WEIGHT;
}

/* By weight: a block of its own for each that some step reads at a run-time offset, because such an operand cannot be
 * moved; -1: none. */
static int *add_moving(Program *p)
{
    int *block = arena_array(p->arena, int, p->nbuffer + 1);

    memset(block, -1, (size_t)p->nbuffer * sizeof *block);
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            const Operand *x = &p->step[s].operand[k];

            if (is_weight_of_device(p, &p->step[s], x) && !extent_is_const(x->offset) && block[x->buffer] < 0)
                block[x->buffer] = add_resident(p, p->buffer[x->buffer].name, 0, MEMORY_DEVICE);
        }
    return block;
}

void program_make_resident(Program *p)
{
    int        common = -1;
    const int *moving;

    if (program_device_fails(p)) {
        common = add_resident(p, "constants", STATUS_BYTES, MEMORY_DEVICE);
        add_resident(p, "status", STATUS_BYTES, MEMORY_PINNED);
    }
    moving = add_moving(p);
    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            Operand *x = &p->step[s].operand[k];
            int      block;
            int64_t  at;

            if (!is_weight_of_device(p, &p->step[s], x))
                continue;
            block = moving[x->buffer];
            if (block < 0 && common < 0)
                common = add_resident(p, "constants", 0, MEMORY_DEVICE);
            block = block < 0 ? common : block;
            at = program_place_resident(p, block, x->buffer);
            x->buffer = block;
            x->offset.max += at / operand_bytes_per_element(x);
        }
}

int program_resident(const Program *program, int memory)
{
    for (int b = 0; b < program->nbuffer; b++)
        if (program->buffer[b].kind == BUFFER_RESIDENT && buffer_memory(program, b) == memory)
            return b;
    return -1;
}

int64_t program_constant_bytes(const Program *program)
{
    int64_t bytes = 0;

    for (int b = 0; b < program->nbuffer; b++)
        if (program->buffer[b].kind == BUFFER_RESIDENT && buffer_memory(program, b) == MEMORY_DEVICE)
            bytes += program->buffer[b].size;
    return bytes;
}
