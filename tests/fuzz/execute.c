/* execute.c - a planned program is run on numbers drawn from the input's bytes, with the kernels of the generated code,
 * twice: each buffer in a block of its own, where the sanitizers see every byte beside it, then as planned, over each
 * other. Both must give the same bits. Programs of text, sequences and optionals are left out, and those that would
 * take long. */
#include "execute.h"

#include "program/flow.h"
#include "program/operand.h"
#include "program/weight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 17, MOST_RUNS = 2000 };

static uint64_t roll(Execution *e)
{
    e->random = e->random * 6364136223846793005u + 1442695040888963407u;
    return e->random >> 33;
}

/* -------------------------------------------------------------------------------------------------- what can be run */

static bool is_plain(const Port *port)
{
    return port->buffer >= 0 && port->type.kind == TYPE_TENSOR && port->type.dtype != DTYPE_TEXT;
}

static bool can_run(const Program *program)
{
    double  runs = 0;
    int64_t total = 0;
    double *often = flow_runs(program->arena, program);

    for (int i = 0; i < program->nin; i++)
        if (!is_plain(&program->in[i]))
            return false;
    for (int i = 0; i < program->nout; i++)
        if (!is_plain(&program->out[i]))
            return false;
    for (int b = 0; b < program->nbuffer; b++) {
        const Buffer *buffer = &program->buffer[b];

        if (buffer->dtype == DTYPE_TEXT || buffer->size > MOST_BYTES)
            return false;
        total += buffer_bytes(buffer);
    }
    for (int s = 0; s < program->nstep; s++) {
        if (program->step[s].kind == STEP_LOOP && program->step[s].set.max > 30)
            return false;
        runs += often[s];
    }
    return total <= MOST_BYTES && runs <= MOST_RUNS;
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static void *block_of(Execution *e, int64_t bytes, int64_t align)
{
    void *block = NULL;

    if (e->nblock == EXECUTE_BLOCKS || posix_memalign(&block, align < 8 ? 8 : (size_t)align, bytes ? (size_t)bytes : 1))
        return NULL;
    memset(block, 0, bytes ? (size_t)bytes : 1);
    return e->block[e->nblock++] = block;
}

static void fill_input(Execution *e, const Buffer *buffer, char *to)
{
    const DTypeInfo *info = dtype_info(buffer->dtype);

    for (int64_t at = 0; at + info->bytes <= buffer->size; at += info->bytes) {
        float   number = (float)((double)(roll(e) % 4001) / 500.0 - 4.0);
        double  wide = number;
        int64_t small = (int64_t)(roll(e) % 6) - (info->class == 'I' && roll(e) % 8 == 0 ? 3 : 0);

        if (buffer->dtype == DTYPE_F32)
            memcpy(to + at, &number, sizeof number);
        else if (buffer->dtype == DTYPE_F64)
            memcpy(to + at, &wide, sizeof wide);
        else if (info->class == 'B')
            to[at] = (char)(small & 1);
        else if (info->class == 'U' || info->class == 'I')
            memcpy(to + at, &small, (size_t)info->bytes); /* little-endian */
        else
            for (int i = 0; i < info->bytes; i++)
                to[at + i] = (char)(roll(e) & 0x3b);
    }
}

/* Extents of inputs are the caller's to say. */
static void fill_dims(Execution *e, const Program *program, int64_t *dims)
{
    for (int i = 0; i < program->nslot_of && i < program->model->nexpr; i++) {
        const Expr *x = &program->model->expr[i];

        if (x->op == EXPR_DIM && program->slot[i] >= 0)
            dims[program->slot[i]] = roll(e) % 3 ? x->hi : x->lo + (int64_t)(roll(e) % (uint64_t)(x->hi - x->lo + 1));
    }
}

/* A block for each buffer, or for those outside the arena that `plan` describes, filled alike each time. NULL: too
 * many. */
static void **give_memory(Execution *e, const Program *program, const Plan *plan)
{
    void **memory = arena_array(program->arena, void *, program->nbuffer + 1);
    char  *shared = plan ? block_of(e, plan->peak, 64) : NULL;

    e->random = e->seed;
    for (int b = 0; b < program->nbuffer; b++) {
        const Buffer *buffer = &program->buffer[b];

        if (plan && shared && plan->offset[b] >= 0)
            memory[b] = shared + plan->offset[b];
        else if (!(memory[b] = block_of(e, buffer_bytes(buffer), buffer->align)))
            return NULL;
        if (buffer->kind == BUFFER_WEIGHT && buffer->size)
            memcpy(memory[b], weight_whole(program->arena, buffer, 1), (size_t)buffer->size);
        else if (buffer->kind == BUFFER_IN)
            fill_input(e, buffer, memory[b]);
    }
    if (program->dims >= 0)
        fill_dims(e, program, memory[program->dims]);
    return memory;
}

/* ------------------------------------------------------------------------------------------------------------- runs */

void execute(Execution *e, const Program *program, const Plan *plan)
{
    void **apart, **shared;
    int    first, second;

    if (plan->nshare > 1 || !can_run(program))
        return;
    apart = give_memory(e, program, NULL);
    first = apart ? program_run(program, apart) : 0;
    shared = apart ? give_memory(e, program, plan) : NULL;
    if (!shared)
        return;
    second = program_run(program, shared);
    for (int i = 0; i < program->nout; i++) {
        int b = program->out[i].buffer;

        if (first == second && (first || !memcmp(apart[b], shared[b], (size_t)program->buffer[b].size)))
            continue;
        fprintf(stderr,
                "output %d: status %d and %d, other bits where buffers lie as planned than where each is alone\n", i,
                first, second);
        abort();
    }
}

void execute_end(Execution *e)
{
    while (e->nblock > 0)
        free(e->block[--e->nblock]);
}
