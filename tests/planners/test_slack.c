/* test_slack.c - the last bytes of a plan: which buffer lies on top, and whose tail slack holds a filler, that is, a
 * buffer of a smaller alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "oracle.h"
#include "planners/slack.h"

enum { LIMIT = 64 }; /* bytes: above the peak of every sample */

/* Improves a plan towards `target`; returns the peak that it reaches. */
static int64_t improve(const PlanProblem *problem, int64_t target, int64_t *offset)
{
    Space   space;
    Effort  effort = {.nodes = 100000};
    int32_t step;
    int64_t peak;

    assert_int_equal(space_open(&space, problem, 0), PLAN_OK);
    assert_true(bound_live(&space, &step) >= 0);
    assert_int_equal(slack_improve(&space, &effort, step, target, offset), PLAN_OK);
    peak = space_peak(&space, offset, NULL);
    space_close(&space);
    return peak;
}

/* 80 and 96 bytes at multiples of 64, and a filler of 40 bytes: only the slack of the first holds it, so the other must
 * be on top. */
static void a_filler_lies_in_the_slack_of_its_host(void **state)
{
    const PlanBuffer buffer[] = {{80, 64, 0, -1, 0}, {96, 64, 0, -1, 0}, {40, 8, 0, -1, 0}};
    const PlanSpan   span[] = {{0, 0, 2, 0, 80}, {1, 0, 2, 0, 96}, {2, 0, 2, 0, 40}};
    PlanProblem      problem = {.buffer = buffer, .nbuffer = 3, .span = span, .nspan = 3, .nstep = 2};
    int64_t          offset[] = {192, 64, 0};

    (void)state;
    assert_int_equal(improve(&problem, 224, offset), 224);
    assert_int_equal(offset[2], offset[0] + 80);
}

/* 128 and 72 bytes at multiples of 64, 64 bytes twice: the one with tail slack belongs on top, though it lives when the
 * others do not. */
static void the_largest_slack_is_on_top(void **state)
{
    const PlanBuffer buffer[] = {{72, 64, 0, -1, 0}, {128, 64, 0, -1, 0}, {64, 64, 0, -1, 0}, {64, 64, 0, -1, 0}};
    const PlanSpan   span[] = {{0, 0, 4, 0, 72}, {1, 2, 4, 0, 128}, {2, 0, 2, 0, 64}, {3, 1, 4, 0, 64}};
    PlanProblem      problem = {.buffer = buffer, .nbuffer = 4, .span = span, .nspan = 4, .nstep = 4};
    int64_t          offset[] = {0, 128, 128, 256};

    (void)state;
    assert_int_equal(improve(&problem, 264, offset), 264);
    assert_int_equal(offset[0], 192);
}

/* Whatever the plan and the problem: it stays right and grows no larger. */
static void plans_stay_right(void **state)
{
    uint64_t seed = 21;
    int      gained = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        Sample     s;
        int64_t    offset[ORACLE_BUFFERS], before, after;
        PlanResult r = {.offset = offset};
        oracle_sample(&s, &seed, 7, WITH_ALL & ~(unsigned)WITH_FIXED);
        assert_int_equal(plan_first_fit(&s.problem, NULL, &r), PLAN_OK);
        before = r.peak;
        if (before < 1)
            continue;
        after = improve(&s.problem, before - 1, offset);
        r.peak = after;
        assert_true(plan_check(&s.problem, &r) && after <= before && after >= oracle_least_peak(&s.problem, LIMIT));
        gained += after < before;
    }
    assert_true(gained > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filler_lies_in_the_slack_of_its_host),
        cmocka_unit_test(the_largest_slack_is_on_top),
        cmocka_unit_test(plans_stay_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
