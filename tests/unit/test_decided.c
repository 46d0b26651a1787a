/* test_decided.c - branches that the device decides: which rows of steps become a graph with branches, when the host
 * waits behind them, and what the second checker refuses. Of branches that share a condition, and in loops:
 * test_decided_shared.c. */
#include "decided_world.h"

#include <string.h>

/* A branch | down y | the host reads y. */
static void make(World *w)
{
    make_branch(w);
    add_end(w);
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
    make_buffers(w);
    add_decision(w, CONDITION, SEEN, (Extent){1, 0});
    add_decision(w, INNER_CONDITION, INNER_SEEN, (Extent){1, 2});
    for (int i = DEEP; i <= OTHER; i++)
        add_kernel(w, Y, X, HOME_UNITS);
    set_bodies(w, BRANCH, OTHER, AFTER);
    set_bodies(w, INNER, BEHIND, BEHIND);
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
    };

    return cmocka_run_group_tests_name("decided", tests, NULL, NULL);
}
