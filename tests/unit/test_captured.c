/* test_captured.c - loops that a graph holds unrolled: which are found, what becomes of the steps around them, and what
 * the second checker refuses. */
#include "device_world.h"

#include <string.h>

/* The buffers of the program below. */
enum { IN, STAGED, X, Y, DOWN_TO, OUT, DIMS };

/* The numbers of its steps when it is made; then FETCH, which is the host's, goes behind all that the device is given.
 */
enum { STAGE, UP, LOOP, OFFSET, COMPUTE, DOWN, REACHED, CHECK, FETCH, STEPS };

/* Expressions, each with the slot of its number: the iteration, 2 * it, it == 3; and one that is the caller's. */
enum { TURN, TWICE, END, GIVEN, TWO, THREE, EXPRESSIONS };

static void step_moves(World *w, StepKind kind, int to, int from, HomeForm home)
{
    int s = world_step(w, kind);

    world_writes(w, s, to);
    world_reads(w, s, from);
    w->program->step[s].home = home;
}

static int step_counts(World *w, StepKind kind, int slot, Extent set)
{
    int s = world_step(w, kind);

    w->program->step[s].slot = slot;
    w->program->step[s].set = set;
    return s;
}

/* x = in | for (i < 3) { o = 2 * i; y[o] = x } | down y | e = i == 3; check e | out = down. */
static void make(World *w)
{
    static const int  where[] = {-1, MEMORY_PINNED, MEMORY_DEVICE, MEMORY_DEVICE, MEMORY_PINNED, -1, MEMORY_HOST};
    static const Expr expr[EXPRESSIONS] = {
        [TURN] = {.op = EXPR_VAR, .a = -1, .b = -1, .c = -1, .hi = 3},
        [TWICE] = {.op = EXPR_MUL, .a = TURN, .b = TWO, .c = -1, .hi = 6},
        [END] = {.op = EXPR_EQ, .a = TURN, .b = THREE, .c = -1, .hi = 1},
        [GIVEN] = {.op = EXPR_DIM, .a = -1, .b = -1, .c = -1, .hi = 3},
        [TWO] = {.op = EXPR_CONST, .a = -1, .b = -1, .c = -1, .lo = 2, .hi = 2},
        [THREE] = {.op = EXPR_CONST, .a = -1, .b = -1, .c = -1, .lo = 3, .hi = 3},
    };
    Program *p = w->program;

    p->language = LANGUAGE_DEVICE;
    p->model->expr = arena_array(w->arena, Expr, EXPRESSIONS);
    p->slot = arena_array(w->arena, int, EXPRESSIONS);
    p->model->nexpr = p->nslot_of = EXPRESSIONS;
    p->nslot = TWO;
    for (int e = 0; e < EXPRESSIONS; e++) {
        p->model->expr[e] = expr[e];
        p->slot[e] = e < TWO ? e : -1;
    }
    for (int b = IN; b <= DIMS; b++) {
        world_buffer(w, b == IN ? BUFFER_IN : b == OUT ? BUFFER_OUT : b == DIMS ? BUFFER_DIMS : BUFFER_ACT, 8);
        p->buffer[b].regions = where[b] < 0 ? 0 : 1u << where[b];
    }
    p->dims = DIMS;
    p->buffer[DIMS].size = 8 * p->nslot;
    step_moves(w, STEP_COPY, STAGED, IN, HOME_HOST);
    step_moves(w, STEP_COPY, X, STAGED, HOME_HOST);
    step_counts(w, STEP_LOOP, TURN, extent_const(3));
    step_counts(w, STEP_SET, TWICE, (Extent){6, TWICE});
    step_moves(w, STEP_KERNEL, Y, X, HOME_UNITS);
    p->step[COMPUTE].operand[0].dim[0] = extent_const(2);
    p->step[COMPUTE].operand[0].offset = (Extent){6, TWICE};
    p->step[LOOP].body[0] = (Range){OFFSET, DOWN};
    step_moves(w, STEP_COPY, DOWN_TO, Y, HOME_HOST);
    step_counts(w, STEP_SET, END, (Extent){1, END});
    step_counts(w, STEP_CHECK, 0, (Extent){1, END});
    step_moves(w, STEP_COPY, OUT, DOWN_TO, HOME_HOST);
}

static Plan finish(World *w)
{
    Program *p = w->program;
    Plan     plan = plan_apart(w);

    program_gather_staging(p);
    program_find_decided(p);
    program_find_host_waits(p);
    program_find_graph(p);
    return plan;
}

/* The host's part stands at both ends; what counts is pulled to the loop. */
static void a_loop_of_constants_is_in_the_graph(void **state)
{
    static const StepKind kind[STEPS] = {STEP_COPY, STEP_COPY,  STEP_LOOP, STEP_SET, STEP_KERNEL,
                                         STEP_SET,  STEP_CHECK, STEP_COPY, STEP_COPY};
    World                *w = *state;
    Program              *p = w->program;
    int                   steps;
    int64_t               nodes;
    Plan                  plan;

    make(w);
    plan = finish(w);
    for (int s = 0; s < STEPS; s++) {
        assert_int_equal(p->step[s].kind, kind[s]);
        assert_int_equal(p->step[s].captured, LOOP <= s && s < REACHED + 1);
    }
    assert_int_equal(p->graph.begin, UP);
    assert_int_equal(p->graph.end, FETCH);
    assert_int_equal(program_graphs(p, (Range){0, p->nstep}, &steps, &nodes), 1);
    assert_int_equal(steps, 3);
    assert_int_equal(nodes, 5); /* three of the loop */
    assert_int_equal(program_walked(p, (Range){LOOP, DOWN}, false), 9);
    assert_false(program_has_open_extents(p));
    assert_int_equal(program_recheck_device(p, &plan, &w->diag), 0);
}

/* A loop that is not the same in each run, is too long, or whose integers someone else needs. */
static void change(World *w, int which)
{
    Program *p = w->program;

    switch (which) {
    case 0: /* trips of the caller's */
        p->step[LOOP].set = (Extent){3, GIVEN};
        return;
    case 1: /* a condition */
        p->step[LOOP].until = END;
        return;
    case 2: /* an address that the caller decides */
        p->step[COMPUTE].operand[0].offset.expr = GIVEN;
        return;
    case 3: /* a step of the host's */
        p->step[COMPUTE].home = HOME_HOST;
        p->step[COMPUTE].operand[0].buffer = DOWN_TO;
        p->step[COMPUTE].operand[1].buffer = STAGED;
        return;
    case 4: /* the caller's memory */
        p->buffer[X].kind = BUFFER_IN;
        return;
    case 5: /* an element of a tensor */
        p->step[OFFSET].kind = STEP_READ;
        world_reads(w, OFFSET, STAGED);
        return;
    case 6: /* an extent of an output */
        p->out = arena_array(p->arena, Port, 1);
        p->out[0].type = (Type){.kind = TYPE_TENSOR, .rank = 1, .dim = {{6, TWICE}}};
        p->nout = 1;
        return;
    case 7: /* a step of the host's that needs it */
        p->step[FETCH].operand[0].dim[0] = (Extent){6, TWICE};
        return;
    case 8: /* a kernel that writes run-time integers */
        p->step[FETCH].operand[0].buffer = DIMS;
        return;
    default: /* 1 + 3 * 2731 steps are more than MOST_WALKED */
        p->step[LOOP].set.max = MOST_WALKED / 3 + 1;
    }
}

static void another_loop_is_walked_by_the_host(void **state)
{
    enum { CHANGES = 10 };

    for (int which = 0; which < CHANGES; which++) {
        World   *w;
        Plan     plan;
        Program *p;

        world_teardown(state);
        world_setup(state);
        w = *state;
        p = w->program;
        make(w);
        change(w, which);
        plan = finish(w);
        assert_int_equal(p->graph.end, 0);
        for (int s = 0; s < p->nstep; s++)
            assert_false(p->step[s].captured);
        for (int s = 0; s < p->nstep; s++) /* the decision, broken */
            p->step[s].captured = p->step[s].kind == STEP_LOOP || (s > 0 && p->step[s - 1].captured && s < CHECK);
        assert_int_equal(recheck_unheard(w, &plan), -1);
    }
}

/* As many steps as may be, and one more iteration. */
static void a_loop_has_a_limit(void **state)
{
    World *w = *state;
    Plan   plan;

    make(w);
    w->program->step[LOOP].set.max = (MOST_WALKED - 2) / 3;
    plan = finish(w);
    assert_true(w->program->step[LOOP].captured);
    assert_int_equal(recheck_unheard(w, &plan), 0);
    w->program->step[LOOP].set.max++;
    assert_int_equal(recheck_unheard(w, &plan), -1);
}

/* An address that is made of 2^60 iteration numbers: each integer is the square of the one in front of it. */
static void an_integer_of_many_is_looked_at_once(void **state)
{
    enum { SQUARES = 60, LAST = EXPRESSIONS + SQUARES - 1 };
    World   *w = *state;
    Program *p = w->program;
    Expr    *expr = arena_array(w->arena, Expr, LAST + 1);
    int     *slot = arena_array(w->arena, int, LAST + 1);

    make(w);
    memcpy(expr, p->model->expr, EXPRESSIONS * sizeof *expr);
    memcpy(slot, p->slot, EXPRESSIONS * sizeof *slot);
    for (int e = EXPRESSIONS; e <= LAST; e++) {
        int root = e > EXPRESSIONS ? e - 1 : TURN;

        expr[e] = (Expr){.op = EXPR_MUL, .a = root, .b = root, .c = -1, .hi = 3};
        slot[e] = p->nslot++;
    }
    p->model->expr = expr;
    p->slot = slot;
    p->model->nexpr = p->nslot_of = LAST + 1;
    p->step[COMPUTE].operand[0].offset.expr = LAST;
    program_capture_loops(p);
    assert_true(p->step[LOOP].captured);
}

/* A branch that holds a loop of more iterations than can be counted. */
static void what_is_walked_saturates(void **state)
{
    World *w = *state;

    make(w);
    w->program->step[UP].kind = STEP_IF;
    w->program->step[UP].body[0] = (Range){LOOP, DOWN};
    w->program->step[UP].body[1] = (Range){DOWN, DOWN};
    w->program->step[LOOP].set.max = INT64_MAX;
    assert_true(program_walked(w->program, (Range){UP, DOWN}, false) == INT64_MAX);
}

/* Each step of the loop without its mark, each step besides with one, and graphs that hold a part of the loop. */
static void another_mark_is_refused(void **state)
{
    World *w = *state;
    Plan   plan;
    Range  graph;

    make(w);
    plan = finish(w);
    graph = w->program->graph;
    for (int s = 0; s < STEPS; s++) {
        bool *captured = &w->program->step[s].captured;

        *captured = !*captured;
        assert_int_equal(recheck_unheard(w, &plan),
                         w->program->step[s].kind == STEP_COPY && graph.begin <= s && s < graph.end ? 0 : -1);
        *captured = !*captured;
    }
    for (int begin = 0; begin < STEPS; begin++)
        for (int end = begin + 1; end <= STEPS; end++) {
            w->program->graph = (Range){begin, end};
            assert_int_equal(recheck_unheard(w, &plan), begin == graph.begin && end == graph.end ? 0 : -1);
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_loop_of_constants_is_in_the_graph),
        TEST(another_loop_is_walked_by_the_host),
        TEST(a_loop_has_a_limit),
        TEST(an_integer_of_many_is_looked_at_once),
        TEST(what_is_walked_saturates),
        TEST(another_mark_is_refused),
    };

    return cmocka_run_group_tests_name("captured", tests, NULL, NULL);
}
