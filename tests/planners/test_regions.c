/* test_regions.c - which memory serves which buffer: against an oracle that tries every share-out and every offset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "oracle.h"

enum { LIMIT = 64, BUFFERS = 5, SAMPLES = 600 };

/* The buffers of the set alone: their least peak, by the oracle; above LIMIT or impossible: LIMIT + 1. */
static int64_t peak_of_set(const PlanProblem *whole, unsigned set)
{
    Sample  part;
    int     index[ORACLE_BUFFERS];
    int64_t least;

    memset(&part, 0, sizeof part);
    part.problem = (PlanProblem){part.buffer, 0, part.span, 0, part.overlap, 0, NULL, 0, whole->nstep};
    for (int b = 0; b < whole->nbuffer; b++)
        if (set >> b & 1u) {
            index[b] = part.problem.nbuffer;
            part.buffer[part.problem.nbuffer] = whole->buffer[b];
            part.buffer[part.problem.nbuffer++].regions = 0;
        }
    for (int i = 0; i < whole->nspan; i++)
        if (set >> whole->span[i].buffer & 1u) {
            part.span[part.problem.nspan] = whole->span[i];
            part.span[part.problem.nspan++].buffer = index[whole->span[i].buffer];
        }
    for (int i = 0; i < whole->noverlap; i++)
        if ((set >> whole->overlap[i].a & 1u) && (set >> whole->overlap[i].b & 1u)) {
            PlanOverlap p = {index[whole->overlap[i].a], index[whole->overlap[i].b], whole->overlap[i].d1,
                             whole->overlap[i].d2};
            part.overlap[part.problem.noverlap++] = p;
        }
    least = oracle_least_peak(&part.problem, LIMIT);
    return least < 0 ? LIMIT + 1 : least;
}

static int is_allowed(const PlanProblem *p, unsigned set, int region)
{
    for (int b = 0; b < p->nbuffer; b++)
        if ((set >> b & 1u) && p->buffer[b].regions && !(p->buffer[b].regions >> region & 1u))
            return 0;
    return 1;
}

static int64_t traffic_of_set(const PlanProblem *p, unsigned set)
{
    int64_t sum = 0;

    for (int b = 0; b < p->nbuffer; b++)
        sum += set >> b & 1u ? p->buffer[b].traffic : 0;
    return sum;
}

/* The most traffic that the first of two regions can serve; -1: no share-out fits. */
static int64_t most_traffic(const PlanProblem *p)
{
    unsigned all = (1u << p->nbuffer) - 1;
    int64_t  most = -1;

    for (unsigned set = 0; set <= all; set++)
        if (traffic_of_set(p, set) > most && is_allowed(p, set, 0) && is_allowed(p, all & ~set, 1) &&
            peak_of_set(p, set) <= p->region[0].size && peak_of_set(p, all & ~set) <= p->region[1].size)
            most = traffic_of_set(p, set);
    return most;
}

static void the_first_region_serves_the_most_traffic(void **state)
{
    uint64_t seed = 31;
    int      impossible = 0;

    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        int64_t    offset[ORACLE_BUFFERS], most, found = 0;
        int32_t    region[ORACLE_BUFFERS];
        PlanResult r = {.offset = offset, .region = region};
        PlanRegion size[2];
        Sample     s;

        oracle_sample(&s, &seed, BUFFERS, WITH_WINDOWS | WITH_OVERLAPS | WITH_ALIGNMENT | WITH_HOLES);
        for (int k = 0; k < 2; k++)
            size[k] = (PlanRegion){4 + oracle_below(&seed, 14), 1};
        s.problem.region = size;
        s.problem.nregion = 2;
        for (int b = 0; b < s.problem.nbuffer; b++) {
            s.buffer[b].traffic = 1 + oracle_below(&seed, 20);
            s.buffer[b].regions = oracle_below(&seed, 5) ? 0 : 1u + (unsigned)oracle_below(&seed, 3);
        }
        assert_int_equal(plan_place(&s.problem, NULL, &r), PLAN_OK);
        most = most_traffic(&s.problem);
        if (most < 0) {
            impossible++;
            assert_int_equal(r.status, PLAN_INFEASIBLE);
            continue;
        }
        assert_int_equal(r.status, PLAN_OPTIMAL);
        assert_true(plan_check(&s.problem, &r));
        for (int b = 0; b < s.problem.nbuffer; b++)
            found += region[b] == 0 ? s.buffer[b].traffic : 0;
        assert_int_equal(found, most);
    }
    print_message("    %d of %d fit\n", SAMPLES - impossible, SAMPLES);
    assert_in_range(impossible, SAMPLES / 20, SAMPLES / 2);
}

/* Many buffers: no proof is asked for, but the plan is right, and better than what first fit by traffic makes. */
static void large_problems_are_placed_well(void **state)
{
    enum { MANY = 240 };
    static PlanBuffer buffer[MANY];
    static PlanSpan   span[MANY];
    int64_t           offset[MANY], fast = 0, all = 0;
    int32_t           region[MANY];
    PlanRegion        size[2] = {{2000, 1}, {100000, 1}};
    PlanProblem       p = {buffer, MANY, span, MANY, NULL, 0, size, 2, MANY + 10};
    PlanResult        r = {.offset = offset, .region = region};
    uint64_t          seed = 9;

    (void)state;
    for (int b = 0; b < MANY; b++) {
        buffer[b] = (PlanBuffer){100 + oracle_below(&seed, 900), 1, 0, -1, 0};
        buffer[b].traffic = buffer[b].size * (1 + oracle_below(&seed, 4));
        span[b] = (PlanSpan){b, b, b + 1 + oracle_below(&seed, 9), 0, buffer[b].size};
    }
    assert_int_equal(plan_place(&p, NULL, &r), PLAN_OK);
    assert_true(r.status == PLAN_FEASIBLE || r.status == PLAN_OPTIMAL);
    assert_true(plan_check(&p, &r));
    for (int b = 0; b < MANY; b++) {
        fast += region[b] == 0 ? buffer[b].traffic : 0;
        all += buffer[b].traffic;
    }
    print_message("    %d %% of the traffic is served by the fast region\n", (int)(100 * fast / all));
    assert_true(fast > all * 6 / 10);
}

/* Buffers 0 and 1 live in step 0 and are fixed 8 bytes apart; buffer 2 may live anywhere, or in the first. */
static void buffers_fixed_on_each_other_are_refused(void **state)
{
    const PlanSpan   span[] = {{0, 0, 1, 0, 16}, {1, 0, 1, 0, 16}, {2, 0, 1, 0, 8}};
    const PlanRegion region[] = {{64, 1}, {64, 1}};

    (void)state;
    for (int apart = 0; apart < 2; apart++)
        for (int other = 0; other < 2; other++) {
            PlanBuffer  buffer[] = {{.size = 16, .align = 1, .regions = 2},
                                    {.size = 16, .align = 1, .regions = other ? 1 : 2, .fixed = 8},
                                    {.size = 8, .align = 1, .regions = apart, .fixed = -1}};
            PlanProblem problem = {buffer, 3, span, 3, NULL, 0, region, 2, 1};
            int64_t     offset[3];
            int32_t     in[3];
            PlanResult  r = {.offset = offset, .region = in};

            assert_int_equal(plan_place(&problem, NULL, &r), PLAN_OK);
            assert_int_equal(r.status == PLAN_INFEASIBLE && !r.peak, !other);
            assert_true(!other || (offset[0] == 0 && in[0] == 1 && offset[1] == 8 && in[1] == 0));
        }
}

/* 150 pairs that collide, and nine buffers that all collide, in eight regions: the search for regions does not end.
 * With one buffer less it does. */
static void a_search_for_regions_that_is_too_long_gives_up(void **state)
{
    enum { MANY = 309 };
    static PlanBuffer buffer[MANY];
    static PlanSpan   span[MANY];
    PlanRegion        region[8];
    PlanProblem       problem = {buffer, MANY, span, MANY, NULL, 0, region, 8, MANY};
    int64_t           offset[MANY];
    int32_t           in[MANY];
    PlanResult        r = {.offset = offset, .region = in};

    (void)state;
    for (int i = 0; i < 8; i++)
        region[i] = (PlanRegion){4096, 1};
    for (int b = 0; b < MANY; b++) {
        buffer[b] = (PlanBuffer){.size = 16, .align = 1, .fixed = b < 300 ? 0 : 64};
        span[b] = b < 300 ? (PlanSpan){b, b / 2, b / 2 + 1, 0, 16} : (PlanSpan){b, 0, MANY, 0, 16};
    }
    assert_int_equal(plan_place(&problem, NULL, &r), PLAN_OK);
    assert_true(r.status == PLAN_LIMIT && r.peak == 0);
    problem.nbuffer = problem.nspan = MANY - 1;
    assert_int_equal(plan_place(&problem, NULL, &r), PLAN_OK);
    assert_int_equal(r.status, PLAN_FEASIBLE);
    assert_true(plan_check(&problem, &r));
}

/* Three regions of which each holds its own buffers: `second` is the size of the second, whose two buffers need 96
 * bytes. */
static int place_each(int64_t second, int fixed, PlanResult *r)
{
    const PlanSpan   span[] = {{0, 0, 1, 0, 40}, {1, 0, 1, 0, 40}, {2, 0, 1, 0, 40}, {3, 0, 1, 0, 40}, {4, 0, 1, 0, 8}};
    const PlanRegion region[] = {{128, 1}, {second, 64}, {0, 1}};
    const PlanBuffer buffer[] = {
        {40, 1, 1, fixed, 0}, {40, 1, 1, 16, 0}, {40, 1, 2, -1, 0}, {40, 1, 2, -1, 0}, {8, 1, 4, -1, 0}};
    PlanProblem problem = {buffer, 5, span, 5, NULL, 0, region, 3, 1};
    char        why[160] = "";
    int         code = plan_each_region(&problem, NULL, plan_place, r);

    if (code == PLAN_OK && r->peak > 0 && plan_verify_answer(&problem, r, why) != 1) {
        print_error("%s\n", why);
        return PLAN_EINTERNAL;
    }
    return code;
}

/* plan_each_region keeps to the regions' sizes and alignments, and says which region has no plan. */
static void each_region_is_planned_in_its_size_and_alignment(void **state)
{
    int64_t    offset[5];
    int32_t    in[5];
    PlanResult r = {.offset = offset, .region = in};

    (void)state;
    assert_int_equal(place_each(104, 56, &r), PLAN_OK);
    assert_true(r.status == PLAN_OPTIMAL && r.peak == 96 + 104 + 8 && r.bound == r.peak);
    assert_int_equal(offset[2] + offset[3], 64);
    assert_int_equal(place_each(103, 56, &r), PLAN_OK);
    assert_int_equal(r.status, PLAN_INFEASIBLE);
    assert_string_equal(r.why, "region 1: infeasible at 103: proven, at least 104 bytes are needed");
    assert_int_equal(place_each(104, 0, &r), PLAN_OK);
    assert_true(r.status == PLAN_INFEASIBLE && r.peak == 0);
    assert_string_equal(r.why, "region 0: infeasible: buffers 0 and 1 are fixed on each other");
    r.region = NULL;
    assert_int_equal(place_each(104, 56, &r), PLAN_EINVAL);
}

/* Dives go back within dives if the last region has no room: they took 250,000 nodes before they shared an end. */
static void dives_end_where_the_last_region_has_no_room(void **state)
{
    enum { MANY = 120 };
    static PlanBuffer buffer[MANY];
    static PlanSpan   span[MANY];
    const PlanRegion  region[] = {{64, 1}, {1024, 1}, {2048, 1}};
    PlanProblem       problem = {buffer, MANY, span, MANY, NULL, 0, region, 3, 1};
    int64_t           offset[MANY];
    int32_t           in[MANY];
    PlanResult        r = {.offset = offset, .region = in};

    (void)state;
    for (int b = 0; b < MANY; b++) {
        buffer[b] = (PlanBuffer){.size = 16 + b, .align = 1, .traffic = 1 + b % 7, .fixed = -1};
        span[b] = (PlanSpan){b, 0, 1, 0, 16 + b};
    }
    assert_int_equal(plan_place(&problem, NULL, &r), PLAN_OK);
    assert_int_equal(r.status, PLAN_LIMIT);
    assert_true(r.nodes < 10 * MANY * MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_region_serves_the_most_traffic),
        cmocka_unit_test(large_problems_are_placed_well),
        cmocka_unit_test(buffers_fixed_on_each_other_are_refused),
        cmocka_unit_test(a_search_for_regions_that_is_too_long_gives_up),
        cmocka_unit_test(each_region_is_planned_in_its_size_and_alignment),
        cmocka_unit_test(dives_end_where_the_last_region_has_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
