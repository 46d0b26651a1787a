/* test_profile.c - measured times: what a file says of loads and steps, whose share a step gets, and lines that say
 * nothing. */
#include "alternatives/profile.h"
#include "program/step_key.h"
#include "world.h"

#include <stdio.h>
#include <unistd.h>

/* A file of these lines behind the first one. */
static const char *write_lines(World *w, const char *lines)
{
    char *path = arena_strdup(w->arena, "/tmp/profile_XXXXXX");
    int   file = mkstemp(path);
    FILE *stream = fdopen(file, "w");

    assert_non_null(stream);
    fprintf(stream, "occamyc profile 1\n%s", lines);
    fclose(stream);
    return path;
}

static int read_lines(World *w, const char *lines, Profile *profile)
{
    const char *path = write_lines(w, lines);
    Diag        quiet = {.arena = w->arena, .file = "test"};
    int         status = profile_read(profile, path, &quiet);

    remove(path);
    return status;
}

static void loads_of_two_sizes_tell_rate_and_latency(void **state)
{
    Profile profile;

    assert_int_equal(read_lines(*state, "load 60000 3 40000\nload 110000 1 140000\nstream 5 1 9\n", &profile), 0);
    assert_true(profile.rate > 1.999 && profile.rate < 2.001); /* 100,000 bytes in 50 us */
    assert_true(profile.latency > 39999 && profile.latency < 40001);
    assert_int_equal(read_lines(*state, "run 70000 5 8192\nrun 60000 5 9000\n", &profile), 0);
    assert_int_equal(profile.nrun, 2);
    assert_int_equal(profile.run[1].ram, 9000);
    assert_true(profile.run[1].time > 59999 && profile.run[1].time < 60001);
    assert_int_equal(read_lines(*state, "load 60000 3 120000\n", &profile), 0);
    assert_true(profile.rate > 1.999 && profile.rate < 2.001 && profile.latency <= 0.0);
}

static void lines_that_say_nothing_are_refused(void **state)
{
    static const char *const bad[] = {"step 5 1\n", "step x 1 conv\n", "step 5 0 conv\n", "load 5 1 x\n", "load 5\n"};
    Profile                  profile;

    for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++)
        assert_int_equal(read_lines(*state, bad[i], &profile), -1);
}

/* Two steps of eight bytes and two of four: the first kind was measured, and one of six bytes, which the others are. */
static void steps_get_what_was_measured_or_their_share(void **state)
{
    World  *w = *state;
    Profile profile;
    double  time[4] = {10, 10, 30, 10};

    for (int s = 0; s < 4; s++) {
        int buffer = world_buffer(w, BUFFER_ACT, s < 2 ? 8 : 4);

        world_step(w, STEP_KERNEL);
        world_window(w, s, buffer, 0, s < 2 ? 8 : 4, OPERAND_WRITES);
    }
    assert_string_equal(step_key(w->arena, &w->program->step[0]), "test - 8");
    assert_int_equal(read_lines(w, "step 70 2 test - 8\nstep 200 1 test - 6\n", &profile), 0);
    profile_apply(&profile, w->program, time);
    assert_true(time[0] == 70 && time[1] == 70);
    assert_true(time[2] == 150 && time[3] == 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loads_of_two_sizes_tell_rate_and_latency, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(lines_that_say_nothing_are_refused, world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(steps_get_what_was_measured_or_their_share, world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
