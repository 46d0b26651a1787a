/* test_decided.c - branches that the device decides: which rows of steps become a graph with branches, when the host
 * waits behind them, and what the second checker refuses. */
#include "device_world.h"

/* The buffers of the program below. */
enum { X, CONDITION, SEEN, Y, OUT, DIMS };

/* The numbers of its steps. */
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

/* compute c | down c | read | if { y = x } else { y = x } | down y | the host reads y. Expression 0 is the condition, 1
 * is made of it. */
static void make(World *w)
{
    static const int where[] = {MEMORY_DEVICE, MEMORY_DEVICE, MEMORY_PINNED, MEMORY_DEVICE, MEMORY_PINNED, MEMORY_HOST};
    Program         *p = w->program;

    p->language = LANGUAGE_DEVICE;
    p->model->expr = arena_array(w->arena, Expr, 2);
    p->model->expr[0] = (Expr){.op = EXPR_ELEM, .a = -1, .b = -1, .c = -1, .hi = 1};
    p->model->expr[1] = (Expr){.op = EXPR_ADD, .a = 0, .b = 0, .c = -1, .hi = 2};
    p->slot = arena_array(w->arena, int, 2);
    p->slot[1] = -1;
    for (int b = X; b <= DIMS; b++) {
        world_buffer(w, b == DIMS ? BUFFER_DIMS : BUFFER_ACT, b == CONDITION || b == SEEN ? 1 : 8);
        place(w, b, where[b]);
    }
    p->dims = DIMS;
    add_kernel(w, CONDITION, X, HOME_UNITS);
    add_copy(w, SEEN, CONDITION);
    world_reads(w, world_step(w, STEP_READ), SEEN);
    world_step(w, STEP_IF);
    add_kernel(w, Y, X, HOME_UNITS);
    add_kernel(w, Y, X, HOME_UNITS);
    p->step[READ].set = p->step[BRANCH].set = (Extent){1, 0};
    p->step[BRANCH].body[0] = (Range){YES, NO};
    p->step[BRANCH].body[1] = (Range){NO, DOWN};
    add_copy(w, OUT, Y);
    add_kernel(w, Y, OUT, HOME_HOST);
    p->step[FETCH].operand[0].buffer = OUT;
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

static void a_branch_joins_what_is_around_it(void **state)
{
    World *w = *state;
    Plan   plan;

    make(w);
    plan = finish(w);
    assert_int_equal(w->program->ndecided, 1);
    assert_int_equal(w->program->decided[0].begin, COMPUTE);
    assert_int_equal(w->program->decided[0].end, FETCH);
    assert_int_equal(branch_condition(w->program, BRANCH).buffer, CONDITION);
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
        program_find_host_waits(w->program);
        assert_int_equal(recheck_unheard(w, &plan), -1);
    }
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
    p->ndecided = 0; /* only the host decides: then it has waited */
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_branch_joins_what_is_around_it),
        TEST(what_the_host_must_know_it_decides),
        TEST(a_row_is_no_wait),
        TEST(another_row_is_refused),
    };

    return cmocka_run_group_tests_name("decided", tests, NULL, NULL);
}
