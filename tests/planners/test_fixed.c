/* test_fixed.c - fixed buffers, regions that a buffer may not lie in, buffers that are never live: every planner
 * honours them, and the regions of fixed buffers are those of an oracle that tries every share-out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "oracle.h"

static PlanFn planner_under_test(void **state)
{
    return ((const PlanPlanner *)*state)->place;
}

/* Plans, and checks the answer if there is one. */
static PlanResult place(PlanFn planner, const PlanProblem *problem, int64_t *offset, int32_t *region)
{
    PlanResult r = {.offset = offset, .region = region};
    int        code = planner(problem, NULL, &r), good = code == PLAN_OK;

    if (good && (r.status == PLAN_OPTIMAL || r.status == PLAN_FEASIBLE))
        good = plan_check(problem, &r) && (r.nodes > 0 || problem->nbuffer == 0);
    if (!good)
        print_error("%d, %d nodes: %s\n", code, (int)r.nodes, r.why);
    assert_true(good);
    return r;
}

/* Buffers fixed where some plan has them: every planner completes that plan, or makes another around them. */
static void fixed_buffers_stay_where_they_are(void **state)
{
    uint64_t seed = 4;

    for (int i = 0; i < 1000; i++) {
        Sample  s;
        int64_t offset[ORACLE_BUFFERS];
        oracle_sample(&s, &seed, ORACLE_BUFFERS, i % (WITH_ALL + 1) & ~(unsigned)WITH_FIXED);
        place(plan_first_fit, &s.problem, offset, NULL);
        for (int b = 0; b < s.problem.nbuffer; b++)
            if (oracle_below(&seed, 3) == 0)
                s.buffer[b].fixed = offset[b];
        assert_true(place(planner_under_test(state), &s.problem, offset, NULL).peak > 0);
    }
}

/* Buffers that may lie in some of three regions: no planner puts one elsewhere. */
static void buffers_lie_in_regions_that_are_allowed(void **state)
{
    const PlanRegion region[] = {{16, 1}, {24, 2}, {0, 4}};
    uint64_t         seed = 5;

    for (int i = 0; i < 1000; i++) {
        Sample     s;
        int64_t    offset[ORACLE_BUFFERS];
        int32_t    where[ORACLE_BUFFERS];
        PlanResult r;
        oracle_sample(&s, &seed, ORACLE_BUFFERS, i % (WITH_ALL + 1) & ~(unsigned)WITH_FIXED);
        s.problem.region = region;
        s.problem.nregion = 3;
        for (int b = 0; b < s.problem.nbuffer; b++) {
            s.buffer[b].regions = (uint32_t)oracle_below(&seed, 8);
            s.buffer[b].traffic = i % 2 ? oracle_below(&seed, 9) : 0;
        }
        r = place(planner_under_test(state), &s.problem, offset, where);
        for (int b = 0; b < s.problem.nbuffer; b++)
            assert_true(!s.buffer[b].regions || s.buffer[b].regions >> where[b] & 1u);
        assert_true(r.status != PLAN_INFEASIBLE || r.bound > 0);
    }
}

/* Two buffers fixed on each other may both live in either of two regions. */
static void colliding_buffers_lie_in_different_regions(void **state)
{
    const PlanBuffer  buffer[] = {{.size = 64, .align = 16}, {.size = 64, .align = 16}};
    const PlanSpan    span[] = {{0, 0, 2, 0, 64}, {1, 0, 2, 0, 64}};
    const PlanRegion  region[] = {{128, 1}, {128, 1}};
    const PlanProblem problem = {
        .buffer = buffer, .nbuffer = 2, .span = span, .nspan = 2, .region = region, .nregion = 2, .nstep = 2};
    int64_t offset[2];
    int32_t where[2];

    assert_int_equal(place(planner_under_test(state), &problem, offset, where).peak, 128);
    assert_int_equal(where[0] + where[1], 1);
}

/* Offset 8 is no multiple of the first region's alignment, so the buffer lies in the second; without that the problem
 * is not well formed. */
static void a_fixed_offset_needs_a_region_that_admits_it(void **state)
{
    const PlanBuffer buffer[] = {{.size = 8, .align = 8, .fixed = 8}};
    const PlanSpan   span[] = {{0, 0, 2, 0, 8}};
    const PlanRegion region[] = {{128, 64}, {128, 4}};
    PlanProblem      problem = {
             .buffer = buffer, .nbuffer = 1, .span = span, .nspan = 1, .region = region, .nregion = 2, .nstep = 2};
    int64_t    offset[1];
    int32_t    where[1];
    PlanResult r = {.offset = offset, .region = where};

    place(planner_under_test(state), &problem, offset, where);
    assert_int_equal(offset[0], 8);
    assert_int_equal(where[0], 1);
    problem.nregion = 1;
    assert_int_equal(planner_under_test(state)(&problem, NULL, &r), PLAN_EINVAL);
    assert_non_null(strstr(r.why, "fixed at 8"));
}

/* Buffer 0 is never live: it is larger than its region, and it is fixed on buffer 1. */
static void a_buffer_that_is_never_live_takes_no_memory(void **state)
{
    for (int fixed = -1; fixed <= 16; fixed += 17)
        for (int nregion = 0; nregion <= 2; nregion++) {
            const PlanBuffer  buffer[] = {{.size = 900, .align = 16, .regions = nregion == 2 ? 2 : 0, .fixed = fixed},
                                          {.size = 64, .align = 16, .fixed = -1}};
            const PlanSpan    span[] = {{0, 1, 1, 0, 900}, {1, 0, 2, 0, 64}};
            const PlanRegion  region[] = {{128, 1}, {128, 16}};
            const PlanProblem problem = {.buffer = buffer,
                                         .nbuffer = 2,
                                         .span = span,
                                         .nspan = 2,
                                         .region = region,
                                         .nregion = nregion,
                                         .nstep = 2};
            int64_t           offset[2];
            int32_t           where[2];
            PlanResult        r = place(planner_under_test(state), &problem, offset, where);

            assert_int_equal(r.status, PLAN_OPTIMAL);
            assert_int_equal(r.peak, 64);
            assert_true(fixed < 0 || offset[0] == fixed);
        }
}

/* Can buffers b, b + 1 ... lie where no two fixed buffers collide? where[] has the regions of the buffers before. */
static int can_share_out(const PlanProblem *p, int b, int *where, const int64_t *offset)
{
    if (b == p->nbuffer)
        return 1;
    if (p->buffer[b].fixed < 0)
        return can_share_out(p, b + 1, where, offset);
    for (where[b] = 0; where[b] < p->nregion; where[b]++) {
        int good = !p->buffer[b].regions || p->buffer[b].regions >> where[b] & 1u;

        good = good && offset[b] % p->region[where[b]].align == 0;
        for (int a = 0; a < b && good; a++)
            good = p->buffer[a].fixed < 0 || where[a] != where[b] || oracle_pair_agrees(p, a, b, offset);
        if (good && can_share_out(p, b + 1, where, offset))
            return 1;
    }
    return 0;
}

/* Makes a random problem of several regions in which half of the buffers are fixed where their own alignment admits. */
static void sample_fixed(Sample *s, uint64_t *seed, const PlanRegion *region, int i, int64_t *offset)
{
    oracle_sample(s, seed, 9, i % (WITH_ALL + 1) & ~(unsigned)WITH_FIXED);
    s->problem.region = region;
    s->problem.nregion = 2 + i % 2;
    for (int b = 0; b < s->problem.nbuffer; b++) {
        PlanBuffer *x = &s->buffer[b];

        x->regions = oracle_below(seed, 2) ? 0 : 1u + (uint32_t)oracle_below(seed, (1 << s->problem.nregion) - 1);
        x->traffic = i / 2 % 2 ? oracle_below(seed, 9) : 0;
        x->fixed = oracle_below(seed, 2) ? -1 : x->align * oracle_below(seed, 4);
        offset[b] = x->fixed;
    }
}

/* Regions of any size that differ in their alignments: there is a plan if and only if the fixed buffers can be shared
 * out. */
static void fixed_buffers_collide_only_where_the_oracle_says(void **state)
{
    const PlanRegion region[] = {{0, 1}, {0, 4}, {0, 2}};
    uint64_t         seed = 6;
    int              outcome[3] = {0}; /* placed, refused as colliding, not well formed */

    for (int i = 0; i < 2000; i++) {
        Sample     s;
        int64_t    offset[ORACLE_BUFFERS], fixed[ORACLE_BUFFERS];
        int32_t    where[ORACLE_BUFFERS];
        char       why[160];
        PlanResult r;
        sample_fixed(&s, &seed, region, i, fixed);
        if (plan_validate(&s.problem, why) != PLAN_OK) {
            assert_false(can_share_out(&s.problem, 0, where, fixed));
            outcome[2]++;
            continue;
        }
        r = place(planner_under_test(state), &s.problem, offset, where);
        if (can_share_out(&s.problem, 0, where, fixed)) {
            assert_true(r.status == PLAN_OPTIMAL || r.status == PLAN_FEASIBLE);
            outcome[0]++;
        } else {
            assert_true(r.status == PLAN_INFEASIBLE && r.peak == 0);
            outcome[1]++;
        }
    }
    assert_true(outcome[0] > 500 && outcome[1] > 200 && outcome[2] > 20);
}

int main(void)
{
    int failures = 0;

    for (const PlanPlanner *p = plan_planners; p->name; p++) {
        void                   *under_test = (void *)(uintptr_t)p;
        const struct CMUnitTest each[] = {
            cmocka_unit_test_prestate(fixed_buffers_stay_where_they_are, under_test),
            cmocka_unit_test_prestate(buffers_lie_in_regions_that_are_allowed, under_test),
            cmocka_unit_test_prestate(colliding_buffers_lie_in_different_regions, under_test),
            cmocka_unit_test_prestate(a_fixed_offset_needs_a_region_that_admits_it, under_test),
            cmocka_unit_test_prestate(a_buffer_that_is_never_live_takes_no_memory, under_test),
            cmocka_unit_test_prestate(fixed_buffers_collide_only_where_the_oracle_says, under_test),
        };
        failures += cmocka_run_group_tests_name(p->name, each, NULL, NULL);
    }
    return failures != 0;
}
