/* test_schedule.c - steps on several queues, in programs built by hand: which queues the schedule takes, and which
 * waits the steps need. */
#include "kernels/cost.h"
#include "planned.h"
#include "plan/queues.h"

/* ----------------------------------------------------------------------------------------------------------- queues */

/* Steps of some 100 microseconds each. */
enum { LARGE = 2000000 };

static int large_step(World *w, int from, int more)
{
    int to = world_buffer(w, BUFFER_ACT, LARGE), step = world_step(w, STEP_KERNEL);

    world_reads(w, step, from);
    if (more >= 0)
        world_reads(w, step, more);
    world_writes(w, step, to);
    return to;
}

static void a_chain_stays_on_one_queue(void **state)
{
    World *w = *state;
    int    last = world_buffer(w, BUFFER_IN, LARGE);

    for (int i = 0; i < 9; i++)
        last = large_step(w, last, -1);
    assert_false(program_schedule(w->program, cost_steps(&core_unknown, w->program), 2, 0.0));
    assert_int_equal(w->program->nqueue, 0);
    assert_int_equal(w->program->nwait, 0);
}

/* x -> a1 .. a6 and x -> b1 .. b6, then their sum: one wait to begin, one to end. */
static void two_chains_take_two_queues(void **state)
{
    World *w = *state;
    int    x = large_step(w, world_buffer(w, BUFFER_IN, LARGE), -1), a = x, b = x, queue[2] = {0, 0};

    for (int i = 0; i < 6; i++)
        a = large_step(w, a, -1);
    for (int i = 0; i < 6; i++)
        b = large_step(w, b, -1);
    large_step(w, a, b);
    assert_true(program_schedule(w->program, cost_steps(&core_unknown, w->program), 2, 0.0));
    for (int s = 0; s < w->program->nstep; s++)
        queue[w->program->step[s].queue]++;
    assert_true(queue[0] >= 6 && queue[1] >= 6);
    assert_int_equal(w->program->nwait, 2);
    program_liveness(w->program);
    for (int r = 0; r < w->program->nstep; r++) /* readers of x: one of another queue than the main one may be late */
        for (int s = 0;
             s < w->program->nstep && w->program->step[r].queue && w->program->step[r].operand[0].buffer == x; s++)
            assert_true(world_live(w, x, 0, s) || !steps_run_beside(w->program, r, s));
}

/* ------------------------------------------------------------------------------------------------------------ waits */

/* Columns beside each other in one buffer: [rows][4] bytes, of which the operand is [rows][lo..hi). */
static void columns(World *w, int step, int buffer, int lo, int hi, int rows)
{
    Operand *x = &w->program->step[step].operand[w->program->step[step].noperand++];

    *x = (Operand){.buffer = buffer, .dtype = DTYPE_U8, .rank = 2, .access = OPERAND_WRITES, .offset = {lo, -1}};
    x->dim[0] = (Extent){rows, -1};
    x->dim[1] = (Extent){hi - lo, -1};
    x->stride[0] = (Extent){4, -1};
    x->stride[1] = (Extent){1, -1};
}

static void columns_of_one_buffer_need_no_wait(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .io_arena = 1};
    int         parent = world_buffer(w, BUFFER_OUT, 40);
    Diag        quiet = {.arena = w->arena, .file = "test"};
    Plan        plan;

    for (int i = 0; i < 3; i++)
        world_step(w, STEP_KERNEL);
    columns(w, 0, parent, 0, 1, 10);
    columns(w, 1, parent, 1, 3, 10);
    columns(w, 2, parent, 2, 4, 10);
    w->program->nqueue = 3;
    w->program->step[1].queue = 1;
    w->program->step[2].queue = 2;
    program_find_waits(w->program, NULL);
    assert_int_equal(w->program->nwait, 1); /* columns 2 are written twice */
    plan = make_plan(w, &options);
    w->program->nwait = 0;
    assert_int_equal(program_recheck_queues(w->program, &plan, &quiet), -1);
    w->program->step[2].operand[0].offset.max = 3;
    w->program->step[2].operand[0].dim[1].max = 1;
    assert_int_equal(program_recheck_queues(w->program, &plan, &quiet), 0);
}

/*         0 IF     { 1 on queue 0 makes a, 2 on queue 1 reads it }
 *         else     { 3 on queue 0 makes b, 4 on queue 1 reads it } */
static void two_rows(World *w)
{
    Step *choice;

    world_step(w, STEP_IF);
    for (int row = 0; row < 2; row++) {
        int made = world_buffer(w, BUFFER_ACT, 8), out = world_buffer(w, BUFFER_OUT, 8);

        world_window(w, world_step(w, STEP_KERNEL), made, 0, 8, OPERAND_WRITES);
        world_window(w, world_step(w, STEP_KERNEL), made, 0, 8, OPERAND_READS);
        world_window(w, w->program->nstep - 1, out, 0, 8, OPERAND_WRITES);
        w->program->step[w->program->nstep - 1].queue = 1;
    }
    choice = &w->program->step[0];
    choice->set = (Extent){1, -1};
    choice->body[0] = (Range){1, 3};
    choice->body[1] = (Range){3, 5};
    choice->chooses = true;
    w->program->nqueue = 2;
    w->program->beside = arena_array(w->arena, Range, w->program->nstep);
    for (int s = 0; s < w->program->nstep; s++)
        w->program->beside[s] = (Range){s, s + 1};
}

static void waits_stay_in_the_row_that_a_run_takes(void **state)
{
    World      *w = *state;
    PlanOptions options = {.planner = "auto", .io_arena = 1};
    Diag        quiet = {.arena = w->arena, .file = "test"};
    Wait        wait[] = {{2, 1}, {4, 3}};
    Plan        plan;

    two_rows(w);
    w->program->wait = wait;
    w->program->nwait = 2;
    plan = make_plan(w, &options);
    assert_int_equal(program_recheck_queues(w->program, &plan, &quiet), 0);
    w->program->nwait = 1;
    assert_int_equal(program_recheck_queues(w->program, &plan, &quiet), -1);
    w->program->nwait = 2;
    wait[1].of = 1; /* in the other row: it never ends */
    assert_int_equal(program_recheck_queues(w->program, &plan, &quiet), -1);
    wait[1].of = 3;
    w->program->step[0].chooses = false; /* one unit, whose steps cannot wait */
    assert_int_equal(program_recheck_queues(w->program, &plan, &quiet), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_chain_stays_on_one_queue, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(two_chains_take_two_queues, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(columns_of_one_buffer_need_no_wait, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(waits_stay_in_the_row_that_a_run_takes, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
