/* world.h - small programs built by hand for unit tests: byte buffers, steps that read and write windows of them. */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include "kernels/record.h"
#include "plan/plan.h"
#include "program/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct World {
    Arena   *arena;
    Diag     diag;
    Program *program;
} World;

/* A kernel of bytes without arguments; the flag decides whether it may work in place. */
static const Kernel test_kernel = {.name = "test", .record = &kernel_plain, .code = {{.file = "test.c"}}};
static const Kernel test_in_place = {
    .name = "test_in_place", .record = &kernel_plain, .code = {{.file = "test.c", .in_place = true}}};

static const Kernel test_same_place = {
    .name = "test_same_place", .record = &kernel_plain, .code = {{.file = "test.c", .same_place = true}}};

static inline int world_setup(void **state)
{
    World *w = calloc(1, sizeof *w);

    w->arena = arena_new(0);
    w->diag = (Diag){.arena = w->arena, .file = "test.onnx"};
    w->program = arena_one(w->arena, Program);
    w->program->arena = w->arena;
    w->program->model = model_new(w->arena, "test.onnx");
    w->program->dims = -1;
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    arena_free(((World *)*state)->arena);
    free(*state);
    return 0;
}

static inline int world_buffer(World *w, BufferKind kind, int64_t size)
{
    Program *p = w->program;
    Buffer   b = {.id = p->nbuffer, .kind = kind, .dtype = DTYPE_U8, .size = size, .align = 1, .copies = 1, .port = -1};

    b.name = arena_printf(w->arena, "b%d", b.id);
    ARENA_PUSH(p->arena, p->buffer, p->nbuffer, p->cbuffer, b);
    return b.id;
}

static inline int world_step(World *w, StepKind kind)
{
    Program *p = w->program;
    Step     s = {.kind = kind, .kernel = kind == STEP_KERNEL ? &test_kernel : NULL, .until = -1};

    s.operand = arena_array(w->arena, Operand, 16);
    s.set = (Extent){1, -1};
    ARENA_PUSH(p->arena, p->step, p->nstep, p->cstep, s);
    return p->nstep - 1;
}

/* Bytes [lo,hi) of a buffer become an operand of a step. */
static inline void world_window(World *w, int step, int buffer, int64_t lo, int64_t hi, int access)
{
    Step    *s = &w->program->step[step];
    Operand *x = &s->operand[s->noperand++];

    *x = (Operand){.buffer = buffer, .dtype = DTYPE_U8, .rank = 1, .access = access, .offset = {lo, -1}};
    x->dim[0] = (Extent){hi - lo, -1};
    x->stride[0] = (Extent){1, -1};
    s->nparam = s->noperand;
}

static inline void world_reads(World *w, int step, int buffer)
{
    world_window(w, step, buffer, 0, w->program->buffer[buffer].size, OPERAND_READS);
}

static inline void world_writes(World *w, int step, int buffer)
{
    world_window(w, step, buffer, 0, w->program->buffer[buffer].size, OPERAND_WRITES);
}

/* Is byte `at` of the buffer live in `step`? */
static inline bool world_live(const World *w, int buffer, int64_t at, int step)
{
    const Buffer *b = &w->program->buffer[buffer];

    for (int i = 0; i < b->nspan; i++)
        if (b->span[i].begin <= step && step < b->span[i].end && b->span[i].lo <= at && at < b->span[i].hi)
            return true;
    return false;
}

/* The steps in which the buffer's first byte is live, as "0110": one digit a step. */
static inline const char *world_steps(const World *w, int buffer)
{
    char *text = arena_alloc(w->arena, (size_t)w->program->nstep + 1);

    for (int s = 0; s < w->program->nstep; s++)
        text[s] = world_live(w, buffer, 0, s) ? '1' : '0';
    return text;
}

#endif
