/* test_planners.c - every planner on small problems: known answers, random ones against the oracle, mutated plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "oracle.h"

static PlanResult place(PlanFn planner, const PlanProblem *problem, int64_t *offset)
{
    PlanResult r = {.offset = offset};
    int        good = planner(problem, NULL, &r) == PLAN_OK && plan_check(problem, &r);

    if (!good)
        print_error("%s\n", r.why);
    assert_true(good);
    assert_true(r.nodes > 0 || problem->nbuffer == 0);
    return r;
}

static PlanFn planner_under_test(void **state)
{
    return ((const PlanPlanner *)*state)->place;
}

/* a -> b -> c -> d: neighbours live together, so two slots suffice. */
static void a_chain_needs_two_slots(void **state)
{
    const PlanBuffer  buffer[] = {{64, 16, 0, -1, 0}, {32, 16, 0, -1, 0}, {64, 16, 0, -1, 0}, {32, 16, 0, -1, 0}};
    const PlanSpan    span[] = {{0, 0, 2, 0, 64}, {1, 1, 3, 0, 32}, {2, 2, 4, 0, 64}, {3, 3, 5, 0, 32}};
    const PlanProblem chain = {.buffer = buffer, .nbuffer = 4, .span = span, .nspan = 4, .nstep = 5};
    int64_t           offset[4];
    PlanResult        r = place(planner_under_test(state), &chain, offset);

    assert_int_equal(r.peak, 64 + 32);
    assert_int_equal(r.bound, 64 + 32);
    assert_int_equal(r.status, PLAN_OPTIMAL);
    assert_int_equal(r.proof, PLAN_PROOF_BOUND);
}

static void nothing_needs_nothing(void **state)
{
    const PlanProblem empty = {0};
    int64_t           offset[1];
    PlanResult        r = place(planner_under_test(state), &empty, offset);

    assert_int_equal(r.peak, 0);
    assert_int_equal(r.status, PLAN_OPTIMAL);
}

/* The output may start at its input: both together need one slot. */
static void in_place_shares_a_slot(void **state)
{
    const PlanBuffer  buffer[] = {{64, 16, 0, -1, 0}, {64, 16, 0, -1, 0}};
    const PlanSpan    span[] = {{0, 0, 2, 0, 64}, {1, 1, 3, 0, 64}};
    const PlanOverlap overlap[] = {{0, 1, 0, 64}};
    const PlanProblem problem = {
        .buffer = buffer, .nbuffer = 2, .span = span, .nspan = 2, .overlap = overlap, .noverlap = 1, .nstep = 3};
    int64_t    offset[2];
    PlanResult r = place(planner_under_test(state), &problem, offset);

    assert_int_equal(r.peak, 64);
    assert_int_equal(r.status, PLAN_OPTIMAL);
}

/* Two regions: what does not fit the first goes to the second. */
static void a_full_region_overflows_into_the_next(void **state)
{
    const PlanBuffer  buffer[] = {{64, 16, 0, -1, 0}, {64, 16, 0, -1, 0}, {64, 16, 2, -1, 0}};
    const PlanSpan    span[] = {{0, 0, 2, 0, 64}, {1, 0, 2, 0, 64}, {2, 0, 2, 0, 64}};
    const PlanRegion  region[] = {{64, 1}, {0, 64}};
    const PlanProblem problem = {
        .buffer = buffer, .nbuffer = 3, .span = span, .nspan = 3, .region = region, .nregion = 2, .nstep = 2};
    int64_t    offset[3];
    int32_t    where[3];
    PlanResult r = {.offset = offset, .region = where};

    assert_int_equal(planner_under_test(state)(&problem, NULL, &r), PLAN_OK);
    assert_true(plan_check(&problem, &r));
    assert_int_equal(r.peak, 192);
    assert_int_equal(where[2], 1);
    assert_int_equal(where[0] + where[1], 1);
}

static void random_plans_pass_the_checker_and_keep_the_bound(void **state)
{
    uint64_t seed = 1;

    for (int i = 0; i < 3000; i++) {
        Sample     s;
        int64_t    offset[ORACLE_BUFFERS];
        PlanResult r;
        oracle_sample(&s, &seed, ORACLE_BUFFERS, i % (WITH_ALL + 1) & ~(unsigned)WITH_FIXED);
        r = place(planner_under_test(state), &s.problem, offset);
        assert_true(r.bound <= r.peak);
        assert_true(r.bound >= plan_lower_bound(&s.problem));
        for (int a = 0; a < s.problem.nbuffer; a++)
            for (int b = 0; b < a; b++)
                assert_true(oracle_pair_agrees(&s.problem, a, b, offset));
    }
}

static void the_bound_is_never_above_the_least_peak(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        Sample  s;
        int64_t least;
        oracle_sample(&s, &seed, 5, (unsigned)i % (WITH_ALL + 1));
        least = oracle_least_peak(&s.problem, 48);
        if (least >= 0)
            assert_true(plan_lower_bound(&s.problem) <= least);
    }
}

/* Moves one buffer of a right plan to a place where an independent reading of the problem finds it wrong. */
static int mutate(const Sample *s, PlanResult *r, uint64_t *seed)
{
    int     b = oracle_below(seed, s->problem.nbuffer), wrong = 0;
    int64_t old = r->offset[b], align = s->buffer[b].align;

    r->offset[b] = oracle_below(seed, (int)r->peak + 1);
    wrong |= r->offset[b] % align != 0;
    wrong |= s->buffer[b].fixed >= 0 && r->offset[b] != s->buffer[b].fixed;
    for (int j = 0; j < s->problem.nbuffer; j++)
        wrong |= j != b && !oracle_pair_agrees(&s->problem, b, j, r->offset);
    if (!wrong)
        r->offset[b] = old;
    return wrong;
}

static void mutated_plans_are_rejected(void **state)
{
    uint64_t seed = 3;
    int      rejected = 0, accepted = 0;

    (void)state;
    while (rejected < 1000) {
        Sample     s;
        int64_t    offset[ORACLE_BUFFERS];
        PlanResult r;
        oracle_sample(&s, &seed, ORACLE_BUFFERS, WITH_ALL & ~(unsigned)WITH_FIXED);
        r = place(plan_bigger_first, &s.problem, offset);
        assert_true(plan_check(&s.problem, &r));
        accepted++;
        if (mutate(&s, &r, &seed)) {
            assert_false(plan_check(&s.problem, &r));
            rejected++;
        }
    }
    assert_true(accepted >= 1000);
}

static void a_wrong_peak_is_rejected(void **state)
{
    const PlanBuffer  buffer[] = {{64, 16, 0, -1, 0}};
    const PlanSpan    span[] = {{0, 0, 2, 0, 64}};
    const PlanProblem problem = {.buffer = buffer, .nbuffer = 1, .span = span, .nspan = 1, .nstep = 2};
    int64_t           offset[] = {0};
    PlanResult        r = {.offset = offset, .peak = 63};

    (void)state;
    assert_false(plan_check(&problem, &r));
    r.peak = 64;
    assert_true(plan_check(&problem, &r));
}

static void malformed_problems_are_refused(void **state)
{
    const PlanBuffer  good[] = {{64, 16, 0, -1, 0}, {64, 16, 0, -1, 0}};
    const PlanBuffer  negative[] = {{-1, 16, 0, -1, 0}, {64, 16, 0, -1, 0}};
    const PlanBuffer  crooked[] = {{64, 16, 0, 8, 0}, {64, 16, 0, -1, 0}};
    const PlanBuffer  vast[] = {{INT64_MAX, 16, 0, -1, 0}, {64, 16, 0, -1, 0}};
    const PlanSpan    fine[] = {{0, 0, 2, 0, 64}};
    const PlanSpan    late[] = {{0, 0, 9, 0, 64}}, wide[] = {{0, 0, 2, 0, 65}}, stray[] = {{2, 0, 2, 0, 64}};
    const PlanSpan    twice[] = {{0, 0, 2, 0, 64}, {0, 1, 3, 0, 1}};
    const PlanOverlap raised[] = {{0, 1, 65, 0}}, same[] = {{1, 1, 0, 0}};
    const PlanProblem bad[] = {
        {.buffer = negative, .nbuffer = 2, .span = fine, .nspan = 1, .nstep = 4},
        {.buffer = crooked, .nbuffer = 2, .span = fine, .nspan = 1, .nstep = 4},
        {.buffer = vast, .nbuffer = 2, .span = fine, .nspan = 1, .nstep = 4},
        {.buffer = good, .nbuffer = 2, .span = late, .nspan = 1, .nstep = 4},
        {.buffer = good, .nbuffer = 2, .span = wide, .nspan = 1, .nstep = 4},
        {.buffer = good, .nbuffer = 2, .span = stray, .nspan = 1, .nstep = 4},
        {.buffer = good, .nbuffer = 2, .span = twice, .nspan = 2, .nstep = 4},
        {.buffer = good, .nbuffer = 2, .span = fine, .nspan = 1, .overlap = raised, .noverlap = 1, .nstep = 4},
        {.buffer = good, .nbuffer = 2, .span = fine, .nspan = 1, .overlap = same, .noverlap = 1, .nstep = 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t    offset[2];
        PlanResult r = {.offset = offset};
        assert_int_equal(plan_place(&bad[i], NULL, &r), PLAN_EINVAL);
        assert_true(strlen(r.why) > 0);
        assert_int_equal(plan_lower_bound(&bad[i]), PLAN_EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest once[] = {
        cmocka_unit_test(the_bound_is_never_above_the_least_peak),
        cmocka_unit_test(mutated_plans_are_rejected),
        cmocka_unit_test(a_wrong_peak_is_rejected),
        cmocka_unit_test(malformed_problems_are_refused),
    };
    int failures = cmocka_run_group_tests(once, NULL, NULL);

    for (const PlanPlanner *p = plan_planners; p->name; p++) {
        void                   *under_test = (void *)(uintptr_t)p;
        const struct CMUnitTest each[] = {
            cmocka_unit_test_prestate(a_chain_needs_two_slots, under_test),
            cmocka_unit_test_prestate(nothing_needs_nothing, under_test),
            cmocka_unit_test_prestate(in_place_shares_a_slot, under_test),
            cmocka_unit_test_prestate(a_full_region_overflows_into_the_next, under_test),
            cmocka_unit_test_prestate(random_plans_pass_the_checker_and_keep_the_bound, under_test),
        };
        failures += cmocka_run_group_tests_name(p->name, each, NULL, NULL);
    }
    return failures != 0;
}
