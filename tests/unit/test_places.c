/* test_places.c - ports whose places another plan gives, as those of all sizes that --dim lists: each lies there or the
 * plan is impossible, and the recheck refuses what differs. */
#include "planned.h"

#include <string.h>

/* if { x0 -> a -> y0 } else { x1 -> y1 }: one input and one output, which have 64 bytes in one branch and 32 in the
 * other. */
enum { X0, A, Y0, X1, Y1 };

static void two_sizes(World *w)
{
    Program *p = w->program;
    int      size[] = {64, 64, 64, 32, 32};

    for (int b = X0; b <= Y1; b++) {
        world_buffer(w, b == A ? BUFFER_ACT : b == Y0 || b == Y1 ? BUFFER_OUT : BUFFER_IN, size[b]);
        p->buffer[b].port = b == A ? -1 : 0;
    }
    world_step(w, STEP_IF);
    p->step[0].body[0] = (Range){1, 3};
    p->step[0].body[1] = (Range){3, 4};
    for (int s = 1; s < 4; s++)
        world_step(w, STEP_KERNEL);
    world_reads(w, 1, X0);
    world_writes(w, 1, A);
    world_reads(w, 2, A);
    world_writes(w, 2, Y0);
    world_reads(w, 3, X1);
    world_writes(w, 3, Y1);
    program_liveness(p);
}

static int recheck(World *w, int64_t x1, int64_t y1, const char **said)
{
    int64_t offset[] = {0, 64, 0, x1, y1};
    int     region[5] = {0};
    Plan    plan = {.offset = offset, .region = region, .nshare = 1, .peak = 128};
    Diag    quiet = {.arena = w->arena, .file = "test"};
    int     status = program_recheck(w->program, &plan, &quiet);

    *said = status < 0 ? quiet.message[0] : "";
    return status;
}

static void a_port_has_one_place_at_all_sizes(void **state)
{
    World      *w = *state;
    const char *said;

    two_sizes(w);
    w->program->step[3].kernel = &test_in_place; /* y1 may lie where x1 does */
    program_find_overlaps(w->program);
    assert_int_equal(recheck(w, 0, 0, &said), 0);
    assert_int_equal(recheck(w, 64, 0, &said), -1);
    assert_non_null(strstr(said, "the same port"));
    assert_int_equal(recheck(w, 0, 32, &said), -1);
    assert_non_null(strstr(said, "the same port"));
}

static void a_branch_needs_its_own_ports_apart(void **state)
{
    World      *w = *state;
    const char *said;

    two_sizes(w);
    assert_int_equal(recheck(w, 0, 0, &said), -1);
    assert_non_null(strstr(said, "which is still needed"));
}

/* x -> a -> y with places for x and y. */
static Plan plan_at(World *w, int64_t x, int64_t y)
{
    PortPlace   in[] = {{x, 0}}, out[] = {{y, 0}};
    PlanOptions options = {.planner = "auto", .io_arena = 1, .places = {in, out}};
    Plan        plan;

    for (int b = 0; b < 3; b++) {
        world_buffer(w, b == 0 ? BUFFER_IN : b == 1 ? BUFFER_ACT : BUFFER_OUT, 64);
        w->program->buffer[b].port = b == 1 ? -1 : 0;
    }
    for (int s = 0; s < 2; s++) {
        world_step(w, STEP_KERNEL);
        world_reads(w, s, s);
        world_writes(w, s, s + 1);
    }
    program_liveness(w->program);
    assert_int_equal(program_plan(&w->program, &options, &plan, &w->diag), 0);
    return plan;
}

static void a_given_place_is_kept(void **state)
{
    Plan plan = plan_at(*state, 32, 0);

    assert_int_equal(plan.offset[0], 32);
    assert_int_equal(plan.offset[2], 0);
    assert_int_equal(plan.offset[1], 96);
    assert_int_equal(plan.peak, 160);
}

/* One step that reads x and writes y. */
static void one_step(World *w)
{
    for (int b = 0; b < 2; b++) {
        world_buffer(w, b ? BUFFER_OUT : BUFFER_IN, 64);
        w->program->buffer[b].port = 0;
    }
    world_step(w, STEP_KERNEL);
    world_reads(w, 0, 0);
    world_writes(w, 0, 1);
    program_liveness(w->program);
}

static void ports_on_each_other_have_no_plan(void **state)
{
    World      *w = *state;
    PortPlace   in[] = {{0, 0}}, out[] = {{32, 0}};
    PlanOptions options = {.planner = "auto", .io_arena = 1, .places = {in, out}};
    Plan        plan;

    one_step(w);
    assert_int_equal(program_plan(&w->program, &options, &plan, &w->diag), 0);
    assert_true(plan.peak == PLAN_IMPOSSIBLE);
    out[0].offset = 64;
    assert_int_equal(program_plan(&w->program, &options, &plan, &w->diag), 0);
    assert_int_equal(plan.peak, 128);
}

/* The same with two memories, of which the second holds x. */
static void ports_lie_in_the_memory_that_is_given(void **state)
{
    World      *w = *state;
    PortPlace   in[] = {{0, 1}}, out[] = {{32, 1}};
    PlanOptions options = {.planner = "auto",
                           .io_arena = 1,
                           .places = {in, out},
                           .region = {{"a", 256, 1}, {"b", 256, 1}},
                           .nregion = 2,
                           .ranked = true};
    Plan        plan;

    one_step(w);
    assert_int_equal(program_plan(&w->program, &options, &plan, &w->diag), 0);
    assert_true(plan.peak == PLAN_IMPOSSIBLE);
    out[0].memory = 0;
    assert_int_equal(program_plan(&w->program, &options, &plan, &w->diag), 0);
    assert_int_equal(plan.region[0], 1);
    assert_int_equal(plan.region[1], 0);
    assert_int_equal(plan.offset[0], plan.share[1].base);
    assert_int_equal(plan.offset[1], 32);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_port_has_one_place_at_all_sizes),
        TEST(a_branch_needs_its_own_ports_apart),
        TEST(a_given_place_is_kept),
        TEST(ports_on_each_other_have_no_plan),
        TEST(ports_lie_in_the_memory_that_is_given),
    };

    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
