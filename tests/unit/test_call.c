/* test_call.c - steps with arguments by name: the kernel's order, whatever order they are given in; what is not so is
 * refused. */
#include "world.h"

#include "lower/call.h"
#include "program/operand.h"

#include <string.h>

static Lower *lower_of(World *w)
{
    static Node node = {.loc = {.name = "node"}};

    Lower *lower = arena_one(w->arena, Lower);

    *lower = (Lower){.model = w->program->model,
                     .program = w->program,
                     .diag = &w->diag,
                     .arena = w->arena,
                     .buffer_align = 16,
                     .node = &node};
    return lower;
}

static Operand vector(Lower *lower, const char *name)
{
    return lower_scratch(lower, DTYPE_F32, 8, name);
}

static void arguments_come_in_the_kernels_order(void **state)
{
    Lower      *lower = lower_of(*state);
    Operand     x = vector(lower, "x"), y = vector(lower, "y"), grid = vector(lower, "grid");
    int64_t     dim[] = {7, 9};
    const Step *step;

    assert_int_equal(STEP(lower, NULL, "grid_sample_f32", ARG(corners, 1), ARGS(dim, 2, dim), ARG(axes, 2), ARG(x, x),
                          ARG(grid, grid), ARG(points, 6), ARG(channels, extent_const(5)), ARG(batch, 4), ARG(mode, 3),
                          ARG(padding, 0), ARG(y, y)),
                     0);
    step = &lower->program->step[0];
    assert_int_equal(step->noperand, 3);
    assert_int_equal(step->operand[0].buffer, y.buffer);
    assert_int_equal(step->operand[0].access, OPERAND_WRITES);
    assert_int_equal(step->operand[1].buffer, x.buffer);
    assert_int_equal(step->operand[1].access, OPERAND_READS);
    assert_int_equal(step->operand[2].buffer, grid.buffer);
    assert_int_equal(step_argument(step, "batch")->ints[0].max, 4);
    assert_int_equal(step_argument(step, "dim")->count, 2);
    assert_int_equal(step_argument(step, "dim")->ints[1].max, 9);
    assert_int_equal(step_argument(step, "corners")->ints[0].max, 1);
}

static void what_is_updated_is_read_too(void **state)
{
    Lower  *lower = lower_of(*state);
    Operand y = vector(lower, "y"), index = vector(lower, "index"), update = vector(lower, "update");
    int64_t dim[] = {8};

    assert_int_equal(STEP(lower, NULL, "scatter_nd_f32", UPDATED(y, y), ARG(index, index), ARG(update, update),
                          ARG(count, 1), ARG(depth, 1), ARGS(dim, 1, dim), ARG(inner, 1), ARG(how, 0)),
                     0);
    assert_int_equal(lower->program->step[0].operand[0].access, OPERAND_READS | OPERAND_WRITES);
}

static Operand filled(Lower *lower, const char *name)
{
    Operand y = vector(lower, name);

    assert_int_equal(STEP(lower, NULL, "fill_f32", ARG(y, y), ARG(x, vector(lower, "value")), ARG(count, 8)), 0);
    return y;
}

/* A step whose second argument is made by a step of its own, and whose others stand around it. */
static void arguments_may_be_made_by_steps(void **state)
{
    Lower      *lower = lower_of(*state);
    Operand     y = vector(lower, "y"), x;
    const Step *step;

    assert_int_equal(STEP(lower, NULL, "fill_f32", ARG(y, y), ARG(x, x = filled(lower, "x")), ARG(count, 6)), 0);
    assert_int_equal(lower->program->nstep, 2);
    step = &lower->program->step[1];
    assert_int_equal(step->operand[0].buffer, y.buffer);
    assert_int_equal(step->operand[1].buffer, x.buffer);
    assert_int_equal(step_argument(step, "count")->ints[0].max, 6);
    assert_int_equal(lower->ngiven, 0);
}

static void refused(Lower *lower, int status, const char *message)
{
    assert_int_equal(status, -1);
    assert_non_null(strstr(lower->diag->message[0], message));
    assert_int_equal(lower->program->nstep, 0);
}

static void a_parameter_without_argument_is_refused(void **state)
{
    Lower *lower = lower_of(*state);

    refused(lower, STEP(lower, NULL, "fill_f32", ARG(y, vector(lower, "y")), ARG(x, vector(lower, "x"))),
            "kernel 'fill_f32' got no int64_t for 'count'");
}

static void an_argument_without_parameter_is_refused(void **state)
{
    Lower *lower = lower_of(*state);

    refused(lower,
            STEP(lower, NULL, "fill_f32", ARG(y, vector(lower, "y")), ARG(x, vector(lower, "x")), ARG(counts, 8)),
            "kernel 'fill_f32' has no parameter 'counts'; it has y, x, count");
}

static void an_argument_of_another_kind_is_refused(void **state)
{
    Lower *lower = lower_of(*state);

    refused(lower,
            STEP(lower, NULL, "fill_f32", ARG(y, vector(lower, "y")), ARG(x, vector(lower, "x")), ARG(count, 0.5)),
            "kernel 'fill_f32' got no int64_t for 'count'");
}

static void a_kernel_that_is_not_there_is_refused(void **state)
{
    Lower *lower = lower_of(*state);

    refused(lower, STEP(lower, NULL, "no_such", ARG(count, 8)), "there is no kernel 'no_such'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arguments_come_in_the_kernels_order, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_is_updated_is_read_too, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(arguments_may_be_made_by_steps, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_parameter_without_argument_is_refused, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(an_argument_without_parameter_is_refused, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(an_argument_of_another_kind_is_refused, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_kernel_that_is_not_there_is_refused, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
