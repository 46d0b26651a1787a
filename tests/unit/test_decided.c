/* test_decided.c - branches that the device decides: which rows of steps become a graph with branches, when the host
 * waits behind them, and what the second checker refuses. */
#include "device_world.h"

#include "device/recheck.h"
#include "program/flow.h"

#include <string.h>

/* The buffers of the programs below. */
enum { X, CONDITION, SEEN, Y, OUT, INNER_CONDITION, INNER_SEEN, DIMS };

/* The numbers of the steps of the first. */
enum { COMPUTE, COPY, READ, BRANCH, YES, NO, DOWN, FETCH, STEPS };

static void place(World *w, int buffer, int memory)
{
    w->program->buffer[buffer].regions = 1u << memory;
}

static void add_kernel(World *w, int to, int from, HomeForm home)
{
    int s = world_step(w, STEP_KERNEL);

    world_writes(w, s, to);
    world_reads(w, s, from);
    w->program->step[s].home = home;
}

static void add_copy(World *w, int to, int from)
{
    int s = world_step(w, STEP_COPY);

    world_writes(w, s, to);
    world_reads(w, s, from);
}

static void add_decision(World *w, int condition, int seen, Extent set)
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
static void make_buffers(World *w)
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

/* Behind branches: down y | the host reads y. */
static void add_end(World *w)
{
    Program *p = w->program;

    add_copy(w, OUT, Y);
    add_kernel(w, Y, OUT, HOME_HOST);
    p->step[p->nstep - 1].operand[0].buffer = OUT;
}

/* compute c | down c | read | if { y = x } else { y = x } | down y | the host reads y. */
static void make(World *w)
{
    Program *p = w->program;

    make_buffers(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_kernel(w, Y, X, HOME_UNITS);
    add_kernel(w, Y, X, HOME_UNITS);
    p->step[BRANCH].body[0] = (Range){YES, NO};
    p->step[BRANCH].body[1] = (Range){NO, DOWN};
    add_end(w);
}

/* Finds rows and waits. */
static Plan finish(World *w)
{
    Program *p = w->program;
    Plan     plan = plan_apart(w);

    program_find_decided(p);
    program_find_host_waits(p);
    program_find_graph(p);
    return plan;
}

/* The device decides a branch by a buffer. */
static void decide_by(Program *p, int branch, int buffer)
{
    p->step[branch].operand = arena_one(p->arena, Operand);
    p->step[branch].operand[0] =
        (Operand){.buffer = buffer, .dtype = DTYPE_U8, .access = OPERAND_READS, .offset = {0, -1}};
    p->step[branch].noperand = 1;
}

static void a_branch_joins_what_is_around_it(void **state)
{
    World *w = *state;
    Plan   plan;

    make(w);
    plan = finish(w);
    assert_int_equal(w->program->ndecided, 1);
    assert_int_equal(w->program->decided[0].begin, COMPUTE);
    assert_int_equal(w->program->decided[0].end, FETCH);
    assert_int_equal(w->program->step[BRANCH].operand[0].buffer, CONDITION);
    assert_true(w->program->step[READ].waits && w->program->step[FETCH].waits);
    assert_int_equal(program_recheck_device(w->program, &plan, &w->diag), 0);
}

/* A host's step that needs the condition, or changes its slot; a body of the host's, or of run-time size; a condition
 * that no copy has brought, or a larger one. Each makes the row fall, and where the row stays it is refused. */
static void change(Program *p, int which)
{
    switch (which) {
    case 0:
        p->step[FETCH].operand[0].dim[0].expr = 1;
        return;
    case 1:
        p->step[FETCH] = (Step){.kind = STEP_SET, .slot = 0, .until = -1, .set = {3, -1}};
        return;
    case 2:
        p->step[YES].home = HOME_HOST;
        p->step[YES].operand[0].buffer = p->step[YES].operand[1].buffer = OUT;
        return;
    case 3:
        p->step[NO].operand[1].dim[0].expr = 0;
        return;
    case 4:
        p->step[COPY].operand[0].buffer = OUT;
        return;
    case 5:
        p->step[READ].operand[0].dtype = DTYPE_I32;
        return;
    case 6:
        p->step[BRANCH].set.expr = 1;
        return;
    case 7:
        p->out = arena_array(p->arena, Port, 1);
        p->out[0].type = (Type){.kind = TYPE_TENSOR, .rank = 1, .dim = {{2, 1}}};
        p->nout = 1;
        return;
    case 8:
        p->step[FETCH] = (Step){.kind = STEP_LOOP, .slot = 3, .until = 0, .set = {3, -1}, .body = {{STEPS, STEPS}}};
        return;
    default:
        p->step[FETCH] = (Step){.kind = STEP_CHECK, .until = -1, .set = {1, 1}};
    }
}

static void what_the_host_must_know_it_decides(void **state)
{
    enum { CHANGES = 10 };

    for (int which = 0; which < CHANGES; which++) {
        World *w;
        Plan   plan;
        Range  row[] = {{COMPUTE, FETCH}};

        world_teardown(state);
        world_setup(state);
        w = *state;
        make(w);
        change(w->program, which);
        plan = finish(w);
        assert_int_equal(w->program->ndecided, 0);
        w->program->decided = row;
        w->program->ndecided = 1;
        decide_by(w->program, BRANCH, CONDITION);
        program_find_host_waits(w->program);
        assert_int_equal(recheck_unheard(w, &plan), -1);
    }
}

/* An extent behind the branch is made of 2^60 conditions: each integer is the square of the one in front of it. */
static void an_integer_of_many_is_looked_at_once(void **state)
{
    enum { FIRST = 3, ALL = FIRST + 60 };
    World   *w = *state;
    Program *p = w->program;
    Expr    *expr = arena_array(w->arena, Expr, ALL);
    Plan     plan;

    make(w);
    memcpy(expr, p->model->expr, FIRST * sizeof *expr);
    for (int e = FIRST; e < ALL; e++) {
        int root = e > FIRST ? e - 1 : 0;

        expr[e] = (Expr){.op = EXPR_MUL, .a = root, .b = root, .c = -1, .hi = 1};
    }
    p->model->expr = expr;
    p->model->nexpr = ALL;
    p->step[FETCH].operand[0].dim[0].expr = ALL - 1;
    plan = finish(w);
    assert_int_equal(p->ndecided, 0);
    assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
    assert_true(recheck_known_outside(p, (Range){COMPUTE, DOWN}, 0));
}

/* Behind a row the host waits although it has waited inside: the graph has not. */
static void a_row_is_no_wait(void **state)
{
    World   *w = *state;
    Program *p = w->program;
    Plan     plan;

    make(w);
    p->step[DOWN] = p->step[FETCH]; /* which now follows at once, and reads what the branch was decided by */
    p->nstep = FETCH;
    p->step[DOWN].operand[0].buffer = p->step[DOWN].operand[1].buffer = SEEN;
    p->step[DOWN].operand[0].dim[0].max = p->step[DOWN].operand[1].dim[0].max = 1;
    p->step[DOWN].operand[0].access = OPERAND_READS;
    plan = finish(w);
    assert_int_equal(p->decided[0].end, DOWN);
    assert_true(p->step[DOWN].waits);
    assert_int_equal(recheck_unheard(w, &plan), 0);
    p->step[DOWN].waits = false;
    assert_int_equal(recheck_unheard(w, &plan), -1);
    p->ndecided = p->step[BRANCH].noperand = 0; /* only the host decides: then it has waited */
    assert_int_equal(recheck_unheard(w, &plan), 0);
    program_find_host_waits(p);
    assert_false(p->step[DOWN].waits);
}

static void another_row_is_refused(void **state)
{
    static const Range wrong[] = {{READ, FETCH},  {BRANCH, FETCH},      {COMPUTE, STEPS}, {COMPUTE, BRANCH},
                                  {COMPUTE, YES}, {COMPUTE, NO},        {YES, DOWN},      {NO, FETCH},
                                  {-1, FETCH},    {COMPUTE, STEPS + 1}, {DOWN, DOWN}};
    World             *w = *state;
    Plan               plan;

    make(w);
    plan = finish(w);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        w->program->decided[0] = wrong[i];
        assert_int_equal(recheck_unheard(w, &plan), -1);
    }
}

/* Steps of a branch in a body: if c { compute d | down d | read | if d { y = x } | y = x } else { y = x }. */
enum { FIRST = YES, INNER_COPY, INNER_READ, INNER, DEEP, BEHIND, OTHER, AFTER, LAST, ALL };

static void make_nested(World *w)
{
    Program *p = w->program;

    make_buffers(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_decision(w, INNER_CONDITION, INNER_SEEN, (Extent){1, 2});
    for (int i = DEEP; i <= OTHER; i++)
        add_kernel(w, Y, X, HOME_UNITS);
    p->step[BRANCH].body[0] = (Range){FIRST, OTHER};
    p->step[BRANCH].body[1] = (Range){OTHER, AFTER};
    p->step[INNER].body[0] = (Range){DEEP, BEHIND};
    p->step[INNER].body[1] = (Range){BEHIND, BEHIND};
    add_end(w);
}

static void a_body_holds_a_branch(void **state)
{
    World *w = *state;
    Plan   plan;

    make_nested(w);
    plan = finish(w);
    assert_int_equal(w->program->ndecided, 1);
    assert_int_equal(w->program->decided[0].begin, COMPUTE);
    assert_int_equal(w->program->decided[0].end, LAST);
    assert_int_equal(w->program->step[INNER].operand[0].buffer, INNER_CONDITION);
    assert_true(w->program->step[INNER_READ].waits && w->program->step[LAST].waits);
    assert_int_equal(program_recheck_device(w->program, &plan, &w->diag), 0);
}

/* One change of the nested program: the row that is left, and what the second checker finds in the row that was. */
typedef struct Damage {
    void (*change)(Program *p);
    Range       left;
    int         wrong;
    const char *fault;
} Damage;

static void put_deep_on_host(Program *p)
{
    p->step[DEEP].home = HOME_HOST;
    p->step[DEEP].operand[0].buffer = p->step[DEEP].operand[1].buffer = OUT;
}

static void size_deep_by_outer(Program *p)
{
    p->step[DEEP].operand[1].dim[0].expr = 0;
}

static void size_behind_by_inner(Program *p)
{
    p->step[BEHIND].operand[1].dim[0].expr = 2;
}

static void decide_inner_by_outer(Program *p)
{
    p->step[INNER].set.expr = 0;
}

static void copy_inner_from_host(Program *p)
{
    p->step[INNER_COPY].operand[1].buffer = OUT;
}

/* The one body copies the condition that the other one reads. */
static void copy_inner_in_other_body(Program *p)
{
    p->step[BRANCH].body[0].end = p->step[BRANCH].body[1].begin = INNER_READ;
}

static void size_behind_by_outer(Program *p)
{
    p->step[BEHIND].operand[1].dim[0].expr = 0;
}

static void read_without_branch(Program *p)
{
    p->step[INNER].kind = STEP_CHECK;
}

static void set_inner_elsewhere(Program *p)
{
    p->step[LAST] = (Step){.kind = STEP_SET, .slot = 1, .until = -1, .set = {3, -1}};
}

static void a_damaged_body_is_the_hosts(void **state)
{
    static const char holds[] = "cannot hold it", knows[] = "the host needs to know how",
                      reads[] = "reads what no branch";
    static const Damage damage[] = {
        {put_deep_on_host, {0, 0}, DEEP, holds},
        {size_deep_by_outer, {0, 0}, BRANCH, knows},
        {size_behind_by_outer, {FIRST, BEHIND}, BRANCH, knows},
        {size_behind_by_inner, {0, 0}, INNER, knows},
        {decide_inner_by_outer, {0, 0}, INNER_READ, reads},
        {copy_inner_from_host, {0, 0}, INNER_COPY, holds},
        {copy_inner_in_other_body, {0, 0}, INNER_READ, holds},
        {read_without_branch, {0, 0}, INNER_READ, reads},
        {set_inner_elsewhere, {0, 0}, INNER, knows},
    };

    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        World      *w;
        const char *fault;
        Range       row = {COMPUTE, LAST};

        world_teardown(state);
        world_setup(state);
        w = *state;
        make_nested(w);
        finish(w);
        assert_int_equal(recheck_decided(w->program, &fault), -1);
        damage[i].change(w->program);
        finish(w);
        assert_int_equal(w->program->ndecided, damage[i].left.end > 0);
        for (int k = 0; k < w->program->ndecided; k++)
            assert_memory_equal(&w->program->decided[k], &damage[i].left, sizeof(Range));
        w->program->decided = &row;
        w->program->ndecided = 1;
        decide_by(w->program, BRANCH, CONDITION);
        decide_by(w->program, INNER, INNER_CONDITION);
        assert_int_equal(recheck_decided(w->program, &fault), damage[i].wrong);
        assert_non_null(strstr(fault, damage[i].fault));
    }
}

/* Steps of two branches of one condition: compute c | down c | read | if c { y = x } else { y = x } | x = y |
 * if c { y = x } | down y | the host reads y. */
enum { BETWEEN = DOWN, SECOND, SECOND_YES, SECOND_DOWN, SECOND_FETCH, SHARED_STEPS };

static void make_shared(World *w)
{
    Program *p = w->program;

    make_buffers(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_kernel(w, Y, X, HOME_UNITS);
    add_kernel(w, Y, X, HOME_UNITS);
    p->step[BRANCH].body[0] = (Range){YES, NO};
    p->step[BRANCH].body[1] = (Range){NO, BETWEEN};
    add_kernel(w, X, Y, HOME_UNITS);
    p->step[world_step(w, STEP_IF)].set = (Extent){1, 0};
    add_kernel(w, Y, X, HOME_UNITS);
    p->step[SECOND].body[0] = (Range){SECOND_YES, SECOND_DOWN};
    p->step[SECOND].body[1] = (Range){SECOND_DOWN, SECOND_DOWN};
    add_end(w);
}

/* The condition stays in the device's memory up to the last branch. */
static void branches_share_a_condition(void **state)
{
    World   *w = *state;
    Program *p = w->program;
    Plan     plan;

    make_shared(w);
    plan = finish(w);
    assert_int_equal(p->ndecided, 1);
    assert_int_equal(p->decided[0].begin, COMPUTE);
    assert_int_equal(p->decided[0].end, SECOND_FETCH);
    assert_int_equal(p->step[BRANCH].operand[0].buffer, CONDITION);
    assert_int_equal(p->step[SECOND].operand[0].buffer, CONDITION);
    assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
    program_liveness(p);
    assert_true(world_live(w, CONDITION, 0, BETWEEN));
    assert_false(world_live(w, CONDITION, 0, SECOND_YES));
    assert_false(world_live(w, SEEN, 0, BETWEEN));
}

static void put_between_on_host(Program *p)
{
    p->step[BETWEEN].home = HOME_HOST;
    p->step[BETWEEN].operand[0].buffer = p->step[BETWEEN].operand[1].buffer = OUT;
}

static void put_second_body_on_host(Program *p)
{
    p->step[SECOND_YES].home = HOME_HOST;
    p->step[SECOND_YES].operand[0].buffer = p->step[SECOND_YES].operand[1].buffer = OUT;
}

static void overwrite_between(Program *p)
{
    p->step[BETWEEN].operand[0].buffer = CONDITION;
}

static void overwrite_in_body(Program *p)
{
    p->step[NO].operand[0].buffer = CONDITION;
}

/* Behind the last branch that needs it. */
static void overwrite_behind(Program *p)
{
    p->step[SECOND_YES].operand[0].buffer = CONDITION;
}

static void size_second_by_condition(Program *p)
{
    p->step[SECOND_YES].operand[1].dim[0].expr = 1;
}

/* The one body reads another condition into the same slot: what the host knows behind depends on the way. */
static void read_other_in_body(Program *p)
{
    p->step[BRANCH].body[0].end = p->step[BRANCH].body[1].begin = BETWEEN;
    p->step[YES] = p->step[COPY];
    p->step[YES].operand = arena_array(p->arena, Operand, 2);
    memcpy(p->step[YES].operand, p->step[COPY].operand, 2 * sizeof(Operand));
    p->step[YES].operand[1].buffer = INNER_CONDITION;
    p->step[NO] = p->step[READ];
    p->step[BETWEEN] = p->step[SECOND];
    p->step[BETWEEN].body[0] = p->step[BETWEEN].body[1] = (Range){SECOND, SECOND};
    p->step[BRANCH].body[0].end = SECOND;
    p->step[BRANCH].body[1] = (Range){SECOND, SECOND};
}

static void what_one_branch_leaves_to_the_host_all_do(void **state)
{
    static const char   holds[] = "cannot hold it", knows[] = "the host needs to know how";
    static const Damage damage[] = {
        {put_between_on_host, {0, 0}, BETWEEN, holds},       {put_second_body_on_host, {0, 0}, SECOND_YES, holds},
        {overwrite_between, {0, 0}, SECOND, holds},          {overwrite_in_body, {0, 0}, SECOND, holds},
        {size_second_by_condition, {0, 0}, BRANCH, knows},   {read_other_in_body, {0, 0}, BETWEEN, holds},
        {overwrite_behind, {COMPUTE, SECOND_FETCH}, -1, ""},
    };

    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        World      *w;
        const char *fault;
        Range       row = {COMPUTE, SECOND_FETCH};

        world_teardown(state);
        world_setup(state);
        w = *state;
        make_shared(w);
        damage[i].change(w->program);
        finish(w);
        assert_int_equal(w->program->ndecided, damage[i].left.end > 0);
        w->program->decided = &row;
        w->program->ndecided = 1;
        for (int s = 0; s < w->program->nstep; s++)
            if (w->program->step[s].kind == STEP_IF)
                decide_by(w->program, s, CONDITION);
        assert_int_equal(recheck_decided(w->program, &fault), damage[i].wrong);
        assert_true(damage[i].wrong < 0 || strstr(fault, damage[i].fault));
    }
}

static void another_condition_is_refused(void **state)
{
    World      *w = *state;
    Program    *p = w->program;
    Range       two[] = {{COMPUTE, BETWEEN}, {BETWEEN, SECOND_FETCH}};
    const char *fault;

    make_shared(w);
    finish(w);
    p->step[SECOND].operand[0].buffer = INNER_CONDITION;
    assert_int_equal(recheck_decided(p, &fault), SECOND);
    p->step[SECOND].operand[0].buffer = CONDITION;
    p->step[SECOND].operand[0].offset.max = 1;
    assert_int_equal(recheck_decided(p, &fault), SECOND);
    p->step[SECOND].noperand = 0;
    assert_int_equal(recheck_decided(p, &fault), SECOND);
    decide_by(p, SECOND, CONDITION);
    assert_int_equal(recheck_decided(p, &fault), -1);
    p->decided = two; /* in the second of which the host has not read it */
    p->ndecided = 2;
    assert_int_equal(recheck_decided(p, &fault), SECOND);
    p->ndecided = 1; /* behind which the host decides by what the graph has not read */
    assert_int_equal(recheck_decided(p, &fault), BRANCH);
    assert_non_null(strstr(fault, "the host needs to know how"));
}

/* A host's step with an operand on the device is wrong, but a branch that the device decides. */
static void a_condition_on_the_device_is_the_devices(void **state)
{
    World *w = *state;
    Plan   plan;

    make_shared(w);
    plan = finish(w);
    w->program->ndecided = 0;
    assert_int_equal(recheck_unheard(w, &plan), -1);
}

/* Steps of a branch in a loop: for (i < 3) { o = 2 * i; compute c | down c | read |
 * if c { y[o] = x } else { y[o] = x } | x[o] = y } | down y | the host reads y. */
enum {
    LOOP,
    OFFSET,
    LOOP_COMPUTE,
    LOOP_COPY,
    LOOP_READ,
    LOOP_BRANCH,
    LOOP_YES,
    LOOP_NO,
    LOOP_LAST,
    LOOP_DOWN,
    LOOP_FETCH
};

/* Further expressions: the iteration, 2 * it. */
enum { TURN = 3, TWICE, TWO, EXPRESSIONS };

static void make_expressions(World *w)
{
    Program *p = w->program;
    Expr    *expr = arena_array(w->arena, Expr, EXPRESSIONS);
    int     *slot = arena_array(w->arena, int, EXPRESSIONS);

    memcpy(expr, p->model->expr, TURN * sizeof *expr);
    memcpy(slot, p->slot, TURN * sizeof *slot);
    expr[TURN] = (Expr){.op = EXPR_VAR, .a = -1, .b = -1, .c = -1, .hi = 3};
    expr[TWICE] = (Expr){.op = EXPR_MUL, .a = TURN, .b = TWO, .c = -1, .hi = 6};
    expr[TWO] = (Expr){.op = EXPR_CONST, .a = -1, .b = -1, .c = -1, .lo = 2, .hi = 2};
    slot[TURN] = 2;
    slot[TWICE] = 3;
    slot[TWO] = -1;
    p->model->expr = expr;
    p->slot = slot;
    p->model->nexpr = p->nslot_of = EXPRESSIONS;
}

static void add_kernel_at_offset(World *w, int to, int from)
{
    add_kernel(w, to, from, HOME_UNITS);
    w->program->step[w->program->nstep - 1].operand[0].offset = (Extent){6, TWICE};
}

static int add_loop(World *w)
{
    Program *p = w->program;
    int      loop = world_step(w, STEP_LOOP);

    p->step[loop].slot = 2;
    p->step[loop].set = (Extent){3, -1};
    p->step[world_step(w, STEP_SET)].set = (Extent){6, TWICE};
    p->step[loop + 1].slot = 3;
    return loop;
}

static void end_loop(World *w, int loop)
{
    w->program->step[loop].body[0] = (Range){loop + 1, w->program->nstep};
    w->program->step[loop].body[1] = (Range){w->program->nstep, w->program->nstep};
}

static void make_looped(World *w)
{
    Program *p = w->program;

    make_buffers(w);
    make_expressions(w);
    add_loop(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_kernel_at_offset(w, Y, X);
    add_kernel_at_offset(w, Y, X);
    p->step[LOOP_BRANCH].body[0] = (Range){LOOP_YES, LOOP_NO};
    p->step[LOOP_BRANCH].body[1] = (Range){LOOP_NO, LOOP_LAST};
    add_kernel_at_offset(w, X, Y);
    end_loop(w, LOOP);
    add_end(w);
}

static void a_row_holds_a_loop_with_a_branch(void **state)
{
    World   *w = *state;
    Program *p = w->program;
    Plan     plan;

    make_looped(w);
    program_capture_loops(p);
    assert_false(p->step[LOOP].captured);
    plan = finish(w);
    assert_int_equal(p->ndecided, 1);
    assert_int_equal(p->decided[0].begin, LOOP);
    assert_int_equal(p->decided[0].end, LOOP_FETCH);
    assert_true(p->step[LOOP].unrolled && p->step[LOOP_LAST].unrolled && !p->step[LOOP_DOWN].unrolled);
    assert_true(p->step[LOOP_READ].waits && p->step[LOOP_FETCH].waits);
    assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
    p->step[LOOP_YES].unrolled = false;
    assert_int_equal(recheck_unheard(w, &plan), -1);
}

static void end_by_condition(Program *p)
{
    p->step[LOOP].until = 1;
}

static void count_by_condition(Program *p)
{
    p->step[LOOP].set.expr = 0;
}

/* Either body has a node for each iteration: seven steps, where a run goes through six. */
static void turn_too_often(Program *p)
{
    p->step[LOOP].set.max = MOST_WALKED / 8 + 1;
}

static void set_in_one_body(Program *p)
{
    p->step[LOOP_YES] = (Step){.kind = STEP_SET, .slot = 3, .until = -1, .set = {4, -1}};
}

static void put_last_on_host(Program *p)
{
    p->step[LOOP_LAST].home = HOME_HOST;
    p->step[LOOP_LAST].operand[0].buffer = p->step[LOOP_LAST].operand[1].buffer = OUT;
}

static void size_behind_by_turn(Program *p)
{
    p->step[LOOP_FETCH].operand[0].dim[0].expr = TURN;
}

static void size_behind_by_condition(Program *p)
{
    p->step[LOOP_FETCH].operand[0].dim[0].expr = 0;
}

/* The copy of a value and the value that is read of it are no longer one. */
static void read_elsewhere(Program *p)
{
    p->step[LOOP_READ].operand[0].buffer = INNER_SEEN;
}

/* Makes a row of steps, whose branches the condition decides and whose loop is unrolled. Returns the first wrong step.
 */
static int recheck_row(World *w, Range row, int loop, const char **fault)
{
    Program *p = w->program;
    int      wrong;

    p->decided = arena_one(p->arena, Range);
    p->decided[0] = row;
    p->ndecided = 1;
    for (int s = 0; s < p->nstep; s++) {
        p->step[s].unrolled = s == loop || range_holds(p->step[loop].body[0], s);
        if (p->step[s].kind == STEP_IF)
            decide_by(p, s, CONDITION);
    }
    wrong = recheck_captured(p, fault);
    return wrong < 0 ? recheck_decided(p, fault) : wrong;
}

static void a_damaged_loop_is_the_hosts(void **state)
{
    static const char   changes[] = "changes from run to run", holds[] = "cannot hold it";
    static const Damage damage[] = {
        {end_by_condition, {0, 0}, LOOP, "that a condition ends"},
        {count_by_condition, {0, 0}, LOOP, "iterations are not known"},
        {turn_too_often, {0, 0}, -2, "too many steps"},
        {set_in_one_body, {0, 0}, LOOP_LAST, changes},
        {put_last_on_host, {0, 0}, LOOP_LAST, changes},
        {size_behind_by_turn, {0, 0}, LOOP, "needed elsewhere"},
        {size_behind_by_condition, {0, 0}, LOOP_BRANCH, "the host needs to know how"},
        {read_elsewhere, {0, 0}, LOOP_READ, holds},
    };

    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        World      *w;
        const char *fault;
        int         wrong;

        world_teardown(state);
        world_setup(state);
        w = *state;
        make_looped(w);
        damage[i].change(w->program);
        finish(w);
        assert_int_equal(w->program->ndecided, damage[i].left.end > 0);
        wrong = recheck_row(w, (Range){LOOP, LOOP_FETCH}, LOOP, &fault);
        assert_true(damage[i].wrong == -2 ? wrong >= 0 : wrong == damage[i].wrong);
        assert_non_null(strstr(fault, damage[i].fault));
    }
}

/* A row that holds a part of such a loop is refused. */
static void a_part_of_a_loop_is_refused(void **state)
{
    World      *w = *state;
    const char *fault;

    make_looped(w);
    finish(w);
    assert_int_equal(recheck_row(w, (Range){LOOP, LOOP_FETCH}, LOOP, &fault), -1);
    assert_int_equal(recheck_row(w, (Range){LOOP_COMPUTE, LOOP_LAST}, LOOP, &fault), LOOP);
    assert_non_null(strstr(fault, "of which a graph holds a part"));
}

/* compute c | down c | read | if c { y = x } else {} |
 * for (i < 3) { o = 2 * i; if c { y[o] = x } else {} | x[o] = y } | down y | the host reads y.
 * `overwrites`: the loop ends with c = y. */
enum { EARLY_LOOP = BRANCH + 2, EARLY_SECOND = EARLY_LOOP + 2, EARLY_LAST = EARLY_SECOND + 2 };

static void make_read_in_front(World *w, bool overwrites)
{
    Program *p = w->program;

    make_buffers(w);
    make_expressions(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_kernel(w, Y, X, HOME_UNITS);
    p->step[BRANCH].body[0] = (Range){YES, NO};
    p->step[BRANCH].body[1] = (Range){NO, NO};
    add_loop(w);
    p->step[world_step(w, STEP_IF)].set = (Extent){1, 0};
    add_kernel_at_offset(w, Y, X);
    p->step[EARLY_SECOND].body[0] = (Range){EARLY_SECOND + 1, EARLY_LAST};
    p->step[EARLY_SECOND].body[1] = (Range){EARLY_LAST, EARLY_LAST};
    if (overwrites)
        add_kernel(w, CONDITION, Y, HOME_UNITS);
    else
        add_kernel_at_offset(w, X, Y);
    end_loop(w, EARLY_LOOP);
    add_end(w);
}

/* An iteration must not overwrite what the next one is decided by. */
static void a_loop_keeps_the_condition_that_is_read_in_front(void **state)
{
    World      *w = *state;
    Program    *p = w->program;
    const Range row = {COMPUTE, EARLY_LAST + 2};
    const char *fault;
    Plan        plan;

    make_read_in_front(w, false);
    plan = finish(w);
    assert_int_equal(p->ndecided, 1);
    assert_memory_equal(&p->decided[0], &row, sizeof row);
    assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
    program_liveness(p);
    assert_true(world_live(w, CONDITION, 0, EARLY_LAST));
    world_teardown(state);
    world_setup(state);
    w = *state;
    make_read_in_front(w, true);
    finish(w);
    assert_int_equal(w->program->ndecided, 0);
    assert_int_equal(recheck_row(w, row, EARLY_LOOP, &fault), EARLY_SECOND);
    assert_non_null(strstr(fault, "cannot hold it"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_branch_joins_what_is_around_it),
        TEST(an_integer_of_many_is_looked_at_once),
        TEST(what_the_host_must_know_it_decides),
        TEST(a_row_is_no_wait),
        TEST(another_row_is_refused),
        TEST(a_body_holds_a_branch),
        TEST(a_damaged_body_is_the_hosts),
        TEST(branches_share_a_condition),
        TEST(what_one_branch_leaves_to_the_host_all_do),
        TEST(another_condition_is_refused),
        TEST(a_condition_on_the_device_is_the_devices),
        TEST(a_row_holds_a_loop_with_a_branch),
        TEST(a_damaged_loop_is_the_hosts),
        TEST(a_part_of_a_loop_is_refused),
        TEST(a_loop_keeps_the_condition_that_is_read_in_front),
    };

    return cmocka_run_group_tests_name("decided", tests, NULL, NULL);
}
