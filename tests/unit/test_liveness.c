/* test_liveness.c - spans of buffers: pictures of the rules, and random nested programs against byte by byte
 * execution. */
#include "random_program.h"

#include <string.h>

/* a -> b -> c: neighbours live together. */
static void a_chain_hands_over(void **state)
{
    World *w = *state;
    int    a = world_buffer(w, BUFFER_ACT, 8), b = world_buffer(w, BUFFER_ACT, 8);

    world_writes(w, world_step(w, STEP_KERNEL), a);
    world_step(w, STEP_KERNEL);
    world_reads(w, 1, a);
    world_writes(w, 1, b);
    world_reads(w, world_step(w, STEP_KERNEL), b);
    program_liveness(w->program);
    assert_string_equal(world_steps(w, a), "110");
    assert_string_equal(world_steps(w, b), "011");
}

/* 0 write a, b   1 if { 2 read a } else { 3 read b }   4 end */
static void a_value_of_one_branch_has_a_hole_over_the_other(void **state)
{
    World *w = *state;
    int    a = world_buffer(w, BUFFER_ACT, 8), b = world_buffer(w, BUFFER_ACT, 8), r = world_buffer(w, BUFFER_ACT, 8);

    world_step(w, STEP_KERNEL);
    world_writes(w, 0, a);
    world_writes(w, 0, b);
    world_step(w, STEP_IF);
    w->program->step[1].body[0] = (Range){2, 3};
    w->program->step[1].body[1] = (Range){3, 4};
    for (int k = 0; k < 2; k++) {
        world_step(w, STEP_KERNEL);
        world_reads(w, 2 + k, k ? b : a);
        world_writes(w, 2 + k, r);
    }
    world_reads(w, world_step(w, STEP_KERNEL), r);
    program_liveness(w->program);
    assert_string_equal(world_steps(w, a), "11100");
    assert_string_equal(world_steps(w, b), "11010");
    assert_string_equal(world_steps(w, r), "00111");
}

/* 0 write c, x   1 loop { 2 read c write t   3 read x   4 read t write c }   5 read c */
static void a_loop_keeps_what_it_reads_and_carries(void **state)
{
    World *w = *state;
    int    c = world_buffer(w, BUFFER_ACT, 8), x = world_buffer(w, BUFFER_ACT, 8), t = world_buffer(w, BUFFER_ACT, 8);

    world_step(w, STEP_KERNEL);
    world_writes(w, 0, c);
    world_writes(w, 0, x);
    world_step(w, STEP_LOOP);
    w->program->step[1].body[0] = (Range){2, 5};
    world_step(w, STEP_KERNEL);
    world_reads(w, 2, c);
    world_writes(w, 2, t);
    world_reads(w, world_step(w, STEP_KERNEL), x);
    world_step(w, STEP_KERNEL);
    world_reads(w, 4, t);
    world_writes(w, 4, c);
    world_reads(w, world_step(w, STEP_KERNEL), c);
    program_liveness(w->program);
    assert_string_equal(world_steps(w, x), "111110"); /* read outside: to the loop's end */
    assert_string_equal(world_steps(w, t), "001110"); /* of one iteration */
    assert_string_equal(world_steps(w, c), "111011"); /* dead between its last read and the copy on the back edge */
}

/* The children of a concatenation are born one by one: 0 write [0,4)  1 -  2 write [4,8)  3 read all. */
static void a_concat_parent_is_a_staircase(void **state)
{
    World *w = *state;
    int    p = world_buffer(w, BUFFER_ACT, 8);

    for (int i = 0; i < 4; i++)
        world_step(w, STEP_KERNEL);
    world_window(w, 0, p, 0, 4, OPERAND_WRITES);
    world_window(w, 2, p, 4, 8, OPERAND_WRITES);
    world_reads(w, 3, p);
    program_liveness(w->program);
    assert_true(world_live(w, p, 0, 1));
    assert_false(world_live(w, p, 4, 1));
    assert_true(world_live(w, p, 4, 2));
    assert_int_equal(program_live_bytes(w->program, 0)[1], 4);
    assert_int_equal(program_live_bytes(w->program, 0)[3], 8);
}

static void inputs_live_from_the_start_and_outputs_to_the_end(void **state)
{
    World *w = *state;
    int    in = world_buffer(w, BUFFER_IN, 8), unread = world_buffer(w, BUFFER_IN, 8),
        out = world_buffer(w, BUFFER_OUT, 8);

    for (int i = 0; i < 4; i++)
        world_step(w, STEP_KERNEL);
    world_reads(w, 2, in);
    world_writes(w, 1, out);
    program_liveness(w->program);
    assert_string_equal(world_steps(w, in), "1110");
    assert_string_equal(world_steps(w, unread), "1000"); /* the caller writes it */
    assert_string_equal(world_steps(w, out), "0111");
}

static void what_nobody_reads_lives_in_its_own_step(void **state)
{
    World *w = *state;
    int    a = world_buffer(w, BUFFER_ACT, 8);

    for (int i = 0; i < 3; i++)
        world_step(w, STEP_KERNEL);
    world_writes(w, 1, a);
    program_liveness(w->program);
    assert_string_equal(world_steps(w, a), "010");
}

/* ------------------------------------------------------------------------------------------------- random programs */

typedef struct Seen {
    const World *w;
    bool         held[RANDOM_BUFFERS][RANDOM_BYTES][64]; /* by buffer, byte, step: some path keeps it there */
} Seen;

static void note_held(void *data, int buffer, int64_t byte, int step)
{
    Seen *seen = data;

    seen->held[buffer][byte][step] = true;
}

/* Whether any step touches the byte at all or, for one never written, nothing needs it. */
static void compare(const Seen *seen, int round)
{
    const Program *p = seen->w->program;

    for (int b = 0; b < p->nbuffer; b++)
        for (int byte = 0; byte < p->buffer[b].size; byte++)
            for (int s = 0; s < p->nstep; s++) {
                bool live = world_live(seen->w, b, byte, s), held = seen->held[b][byte][s];

                if (p->buffer[b].kind == BUFFER_IN && s == 0)
                    held = true; /* the caller fills it before the first step */
                if (live != held)
                    fail_msg("program %d: byte %d of b%d in step %d: live %d, some path keeps it %d", round, byte, b, s,
                             live, held);
            }
}

static void random_programs_agree_with_their_paths(void **state)
{
    World *w = *state;
    Random random = {2026};
    Trace *trace = arena_one(w->arena, Trace);
    Seen  *seen = arena_one(w->arena, Seen);

    for (int round = 0; round < 400; round++) {
        random_program(w, &random);
        program_liveness(w->program);
        memset(seen, 0, sizeof *seen);
        seen->w = w;
        for (int path = 0; path < 600; path++) {
            trace->length = 0;
            random_path(w->program, &random, (Range){0, w->program->nstep}, trace);
            random_walk(w->program, trace, note_held, seen);
        }
        compare(seen, round);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_chain_hands_over, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_value_of_one_branch_has_a_hole_over_the_other, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_loop_keeps_what_it_reads_and_carries, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_concat_parent_is_a_staircase, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(inputs_live_from_the_start_and_outputs_to_the_end, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_nobody_reads_lives_in_its_own_step, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(random_programs_agree_with_their_paths, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
