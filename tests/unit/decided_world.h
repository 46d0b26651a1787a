/* decided_world.h - what unit tests of branches that the device decides share: buffers, the steps of a condition, and
 * the rows that are found. */
#ifndef TEST_DECIDED_WORLD_H
#define TEST_DECIDED_WORLD_H

#include "device_world.h"

#include "device/recheck.h"
#include "program/flow.h"

/* The buffers of the programs. */
enum { X, CONDITION, SEEN, Y, OUT, INNER_CONDITION, INNER_SEEN, DIMS };

/* The numbers of the steps of a program with one branch. */
enum { COMPUTE, COPY, READ, BRANCH, YES, NO, DOWN, FETCH, STEPS };

static inline void place(World *w, int buffer, int memory)
{
    w->program->buffer[buffer].regions = 1u << memory;
}

static inline void add_kernel(World *w, int to, int from, HomeForm home)
{
    int s = world_step(w, STEP_KERNEL);

    world_writes(w, s, to);
    world_reads(w, s, from);
    w->program->step[s].home = home;
}

static inline void add_copy(World *w, int to, int from)
{
    int s = world_step(w, STEP_COPY);

    world_writes(w, s, to);
    world_reads(w, s, from);
}

static inline void add_decision(World *w, int condition, int seen, Extent set)
{
    Program *p = w->program;

    add_kernel(w, condition, X, HOME_UNITS);
    add_copy(w, seen, condition);
    world_reads(w, world_step(w, STEP_READ), seen);
    world_step(w, STEP_IF);
    p->step[p->nstep - 1].set = p->step[p->nstep - 2].set = set;
    p->step[p->nstep - 2].slot = p->slot[set.expr];
}

/* Expression 0 is a condition, 1 is made of it, 2 is the condition of a branch in a body. */
static inline void make_buffers(World *w)
{
    static const int where[] = {MEMORY_DEVICE, MEMORY_DEVICE, MEMORY_PINNED, MEMORY_DEVICE,
                                MEMORY_PINNED, MEMORY_DEVICE, MEMORY_PINNED, MEMORY_HOST};
    Program         *p = w->program;

    p->language = LANGUAGE_DEVICE;
    p->model->nexpr = p->nslot_of = 3;
    p->model->expr = arena_array(w->arena, Expr, 3);
    p->model->expr[0] = p->model->expr[2] = (Expr){.op = EXPR_ELEM, .a = -1, .b = -1, .c = -1, .hi = 1};
    p->model->expr[1] = (Expr){.op = EXPR_ADD, .a = 0, .b = 0, .c = -1, .hi = 2};
    p->slot = arena_array(w->arena, int, 3);
    p->nslot = 4;
    p->slot[1] = -1;
    p->slot[2] = 1;
    for (int b = X; b <= DIMS; b++) {
        bool one = b == CONDITION || b == SEEN || b == INNER_CONDITION || b == INNER_SEEN;

        world_buffer(w, b == DIMS ? BUFFER_DIMS : BUFFER_ACT, one ? 1 : 8);
        place(w, b, where[b]);
    }
    p->dims = DIMS;
}

/* The bodies of a branch: the steps from behind it to `no`, and from there to `end`. */
static inline void set_bodies(World *w, int branch, int no, int end)
{
    w->program->step[branch].body[0] = (Range){branch + 1, no};
    w->program->step[branch].body[1] = (Range){no, end};
}

/* compute c | down c | read | if c { y = x } else { y = x }. */
static inline void make_branch(World *w)
{
    make_buffers(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_kernel(w, Y, X, HOME_UNITS);
    add_kernel(w, Y, X, HOME_UNITS);
    set_bodies(w, BRANCH, NO, DOWN);
}

/* Behind branches: down y | the host reads y. */
static inline void add_end(World *w)
{
    Program *p = w->program;

    add_copy(w, OUT, Y);
    add_kernel(w, Y, OUT, HOME_HOST);
    p->step[p->nstep - 1].operand[0].buffer = OUT;
}

/* Finds rows and waits. */
static inline Plan finish(World *w)
{
    Program *p = w->program;
    Plan     plan = plan_apart(w);

    program_find_decided(p);
    program_find_host_waits(p);
    program_find_graph(p);
    return plan;
}

/* The device decides a branch by a buffer. */
static inline void decide_by(Program *p, int branch, int buffer)
{
    p->step[branch].operand = arena_one(p->arena, Operand);
    p->step[branch].operand[0] =
        (Operand){.buffer = buffer, .dtype = DTYPE_U8, .access = OPERAND_READS, .offset = {0, -1}};
    p->step[branch].noperand = 1;
}

/* One change of a program: the row that is left, and what the second checker finds in the row that was. */
typedef struct Damage {
    void (*change)(Program *p);
    Range       left;
    int         wrong;
    const char *fault;
} Damage;

#endif
