/* test_decided_shared.c - branches that the device decides by one condition, and those in loops of constants: the rows
 * that are found, and what the second checker refuses. */
#include "decided_world.h"

#include <string.h>

/* Steps of two branches of one condition: compute c | down c | read | if c { y = x } else { y = x } | x = y |
 * if c { y = x } | down y | the host reads y. */
enum { BETWEEN = DOWN, SECOND, SECOND_YES, SECOND_DOWN, SECOND_FETCH, SHARED_STEPS };

static void make_shared(World *w)
{
    Program *p = w->program;

    make_branch(w);
    add_kernel(w, X, Y, HOME_UNITS);
    p->step[world_step(w, STEP_IF)].set = (Extent){1, 0};
    add_kernel(w, Y, X, HOME_UNITS);
    set_bodies(w, SECOND, SECOND_DOWN, SECOND_DOWN);
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
    set_bodies(w, loop, w->program->nstep, w->program->nstep);
}

static void make_looped(World *w)
{
    make_buffers(w);
    make_expressions(w);
    add_loop(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_kernel_at_offset(w, Y, X);
    add_kernel_at_offset(w, Y, X);
    set_bodies(w, LOOP_BRANCH, LOOP_NO, LOOP_LAST);
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
    set_bodies(w, BRANCH, NO, NO);
    add_loop(w);
    p->step[world_step(w, STEP_IF)].set = (Extent){1, 0};
    add_kernel_at_offset(w, Y, X);
    set_bodies(w, EARLY_SECOND, EARLY_LAST, EARLY_LAST);
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
        TEST(branches_share_a_condition),       TEST(what_one_branch_leaves_to_the_host_all_do),
        TEST(another_condition_is_refused),     TEST(a_condition_on_the_device_is_the_devices),
        TEST(a_row_holds_a_loop_with_a_branch), TEST(a_damaged_loop_is_the_hosts),
        TEST(a_part_of_a_loop_is_refused),      TEST(a_loop_keeps_the_condition_that_is_read_in_front),
    };

    return cmocka_run_group_tests_name("decided_shared", tests, NULL, NULL);
}
