/* test_memories.c - several memories: a buffer lies in one that may hold it, and whether the first ones are better is a
 * question of its own. */
#include "planned.h"
#include "random_program.h"

#include <string.h>

static PlanOptions two_memories(int64_t first, int64_t second, bool ranked)
{
    return (PlanOptions){
        .planner = "auto", .region = {{"near", first, 1}, {"far", second, 1}}, .nregion = 2, .ranked = ranked};
}

/* in -> a -> b -> c -> out: a and c 64 bytes, b 32. */
static void chain(World *w)
{
    int in = world_buffer(w, BUFFER_IN, 64), a = world_buffer(w, BUFFER_ACT, 64), b = world_buffer(w, BUFFER_ACT, 32);
    int c = world_buffer(w, BUFFER_ACT, 64), out = world_buffer(w, BUFFER_OUT, 64);
    int from[4] = {in, a, b, c}, to[4] = {a, b, c, out};

    for (int i = 0; i < 4; i++) {
        int s = world_step(w, STEP_KERNEL);

        world_writes(w, s, to[i]);
        world_reads(w, s, from[i]);
    }
}

static void a_buffer_of_any_memory_goes_to_the_first(void **state)
{
    PlanOptions options = two_memories(96, 1000, true);
    World      *w = *state;
    Plan        plan;

    chain(w);
    plan = make_plan(w, &options);
    for (int b = 1; b < 4; b++)
        assert_int_equal(plan.region[b], 0);
    assert_int_equal(plan.share[0].peak, 96);
}

static void a_buffer_says_where_it_may_live(void **state)
{
    PlanOptions options = two_memories(96, 1000, true);
    World      *w = *state;
    Plan        plan;

    chain(w);
    w->program->buffer[1].regions = 1u << 1;
    w->program->buffer[2].regions = 1u << 0;
    plan = make_plan(w, &options);
    assert_int_equal(plan.region[1], 1);
    assert_int_equal(plan.region[2], 0);
    assert_int_equal(plan.region[3], 0);
    assert_int_equal(plan.share[0].peak, 96);
    assert_int_equal(plan.share[1].peak, 64);
}

static void one_arena_holds_what_any_memory_would(void **state)
{
    PlanOptions options = {.planner = "auto"};
    World      *w = *state;

    chain(w);
    w->program->buffer[1].regions = 1u << 1;
    assert_int_equal(make_plan(w, &options).peak, 96);
}

static void the_recheck_refuses_another_memory(void **state)
{
    PlanOptions options = two_memories(1000, 1000, true);
    World      *w = *state;
    Diag        quiet = {.arena = w->arena, .file = "test"};
    Plan        plan;

    chain(w);
    plan = make_plan(w, &options);
    w->program->buffer[1].regions = 1u << (1 - plan.region[1]);
    assert_int_equal(program_recheck(w->program, &plan, &quiet), -1);
    assert_non_null(strstr(quiet.message[0], "which may not hold it"));
}

/* Ranked, the buffers with most traffic are near, though that takes a second memory; alike, the sum of both peaks is as
 * small as one arena would be. */
static void memories_alike_are_filled_by_bytes_only(void **state)
{
    PlanOptions ranked = two_memories(64, 1000, true), alike = two_memories(64, 1000, false);
    World      *w = *state;
    Plan        plan;

    chain(w);
    plan = make_plan(w, &ranked);
    assert_true(plan.ranked);
    assert_true(plan.share[0].traffic > plan.share[1].traffic);
    plan = make_plan(w, &alike);
    assert_false(plan.ranked);
    assert_int_equal(plan.overflow, 0);
    assert_int_equal(plan.share[0].peak + plan.share[1].peak, 96);
}

static void random_sets_of_memories_are_kept(void **state)
{
    World *w = *state;
    Random random = {3};
    int    held[2] = {0, 0};

    for (int round = 0; round < 1000; round++) {
        PlanOptions options = two_memories(12 + random_below(&random, 20), 64, round % 2);
        Plan        plan;

        random_program(w, &random);
        for (int b = 2; b < w->program->nbuffer; b++)
            w->program->buffer[b].regions = (uint32_t)random_below(&random, 4);
        plan = make_plan(w, &options);
        for (int b = 2; b < w->program->nbuffer; b++) {
            uint32_t regions = w->program->buffer[b].regions;

            if (plan.offset[b] < 0 || !w->program->buffer[b].nspan)
                continue;
            assert_true(!regions || (regions >> plan.region[b] & 1));
            held[plan.region[b]]++;
        }
    }
    print_message("%d and %d buffers\n", held[0], held[1]);
    assert_true(held[0] > 500 && held[1] > 500);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_buffer_of_any_memory_goes_to_the_first), TEST(a_buffer_says_where_it_may_live),
        TEST(one_arena_holds_what_any_memory_would),    TEST(the_recheck_refuses_another_memory),
        TEST(memories_alike_are_filled_by_bytes_only),  TEST(random_sets_of_memories_are_kept),
    };

    return cmocka_run_group_tests_name("memories", tests, NULL, NULL);
}
