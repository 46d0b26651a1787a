/* test_exact.c - proofs against an oracle that tries every offset, on thousands of random small problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "oracle.h"

enum { LIMIT = 64 }; /* bytes: above the peak of every sample */

/* These buffers of a sample alone. */
static void restrict_to(const Sample *all, const bool *among, Sample *s)
{
    int index[ORACLE_BUFFERS];

    s->problem =
        (PlanProblem){.buffer = s->buffer, .span = s->span, .overlap = s->overlap, .nstep = all->problem.nstep};
    for (int b = 0; b < all->problem.nbuffer; b++)
        if (among[b]) {
            index[b] = s->problem.nbuffer;
            s->buffer[s->problem.nbuffer++] = all->buffer[b];
        }
    for (int i = 0; i < all->problem.nspan; i++)
        if (among[all->span[i].buffer]) {
            s->span[s->problem.nspan] = all->span[i];
            s->span[s->problem.nspan++].buffer = index[all->span[i].buffer];
        }
    for (int i = 0; i < all->problem.noverlap; i++)
        if (among[all->overlap[i].a] && among[all->overlap[i].b]) {
            s->overlap[s->problem.noverlap] = all->overlap[i];
            s->overlap[s->problem.noverlap].a = index[all->overlap[i].a];
            s->overlap[s->problem.noverlap++].b = index[all->overlap[i].b];
        }
}

/* One sample: the plan is right, the proof true, also of the core alone, the bound below the least peak. Returns 1 if
 * optimality was claimed. */
static int agrees(const Sample *s, PlanFn planner)
{
    int64_t    offset[ORACLE_BUFFERS], least = oracle_least_peak(&s->problem, LIMIT);
    bool       core[ORACLE_BUFFERS];
    PlanResult r = {.offset = offset, .core = core};
    Sample     alone;

    assert_int_equal(planner(&s->problem, NULL, &r), PLAN_OK);
    if (least < 0) {
        assert_int_equal(r.status, PLAN_INFEASIBLE);
        return 1;
    }
    assert_true(plan_check(&s->problem, &r));
    assert_true(r.bound <= least && least <= r.peak);
    if (r.status == PLAN_OPTIMAL)
        assert_int_equal(r.peak, least);
    restrict_to(s, core, &alone);
    assert_true(oracle_least_peak(&alone.problem, LIMIT) >= r.bound);
    return r.status == PLAN_OPTIMAL;
}

/* Every problem must be proven, and what is claimed be true. */
static void compare(unsigned features, int samples, int buffers, uint64_t seed)
{
    int proven = 0;

    for (int i = 0; i < samples; i++) {
        Sample s;
        oracle_sample(&s, &seed, buffers, features);
        proven += agrees(&s, plan_place);
    }
    print_message("    %d of %d proven\n", proven, samples);
    assert_int_equal(proven, samples);
}

static void plain_problems_are_solved(void **state)
{
    (void)state;
    compare(0, 3000, 7, 11);
}

static void holes_are_used(void **state)
{
    (void)state;
    compare(WITH_HOLES, 3000, 7, 12);
}

static void mixed_alignment_is_kept(void **state)
{
    (void)state;
    compare(WITH_ALIGNMENT | WITH_HOLES, 3000, 6, 13);
}

static void fixed_buffers_stay(void **state)
{
    (void)state;
    compare(WITH_FIXED | WITH_ALIGNMENT | WITH_HOLES, 3000, 6, 14);
}

static void windows_and_overlap_constraints_are_solved(void **state)
{
    (void)state;
    compare(WITH_ALL, 3000, 6, 15);
}

/* Zero slack: blocks cut from a full rectangle, so the least peak is the bound and every byte of it is used. */
static void perfect_packings_are_found(void **state)
{
    uint64_t seed = 16;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        enum { MOST = 24 };
        PlanBuffer  buffer[MOST];
        PlanSpan    span[MOST] = {{0, 0, 12, 0, 24}};
        int64_t     offset[MOST];
        int         n = 1;
        PlanResult  r = {.offset = offset};
        PlanProblem p = {.buffer = buffer, .span = span, .nstep = 12};
        while (n < MOST) {
            PlanSpan *x = &span[oracle_below(&seed, n)];
            int       width = x->end - x->begin, height = (int)(x->hi - x->lo);
            span[n] = *x;
            if (oracle_below(&seed, 2) && width > 1)
                x->end = span[n].begin = x->begin + 1 + oracle_below(&seed, width - 1);
            else if (height > 1)
                x->hi = x->lo + 1 + oracle_below(&seed, height - 1), span[n].hi -= x->hi;
            else
                continue;
            n++;
        }
        for (int b = 0; b < n; b++) {
            span[b].buffer = b;
            buffer[b] = (PlanBuffer){span[b].hi, 1, 0, -1, 0};
        }
        p.nbuffer = p.nspan = n;
        assert_int_equal(plan_place(&p, NULL, &r), PLAN_OK);
        assert_true(plan_check(&p, &r));
        assert_int_equal(r.peak, 24);
        assert_int_equal(r.status, PLAN_OPTIMAL);
    }
}

static void the_same_limits_give_the_same_plan(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (int i = 0; i < 200; i++) {
        Sample     s;
        int64_t    first[ORACLE_BUFFERS], second[ORACLE_BUFFERS];
        PlanLimits limits = {.nodes = 50, .seed = 5};
        PlanResult a = {.offset = first}, b = {.offset = second};
        oracle_sample(&s, &seed, ORACLE_BUFFERS, WITH_ALL & ~(unsigned)WITH_FIXED);
        assert_int_equal(plan_place(&s.problem, &limits, &a), PLAN_OK);
        assert_int_equal(plan_place(&s.problem, &limits, &b), PLAN_OK);
        assert_int_equal(a.nodes, b.nodes);
        assert_memory_equal(first, second, (size_t)s.problem.nbuffer * sizeof *first);
    }
}

static void a_capacity_below_the_least_peak_is_refuted(void **state)
{
    uint64_t seed = 18;

    (void)state;
    for (int i = 0; i < 500; i++) {
        Sample     s;
        int64_t    offset[ORACLE_BUFFERS], least;
        PlanResult r = {.offset = offset};
        PlanLimits limits = {.fit = 1};
        oracle_sample(&s, &seed, 7, 0);
        least = oracle_least_peak(&s.problem, LIMIT);
        limits.capacity = least - 1;
        if (least < 2)
            continue;
        assert_int_equal(plan_place(&s.problem, &limits, &r), PLAN_OK);
        assert_int_equal(r.status, PLAN_INFEASIBLE);
        limits.capacity = least;
        assert_int_equal(plan_place(&s.problem, &limits, &r), PLAN_OK);
        assert_int_equal(r.status, PLAN_OPTIMAL);
    }
}

/* Two buffers of 80 bytes at multiples of 64, and one of 56 anywhere: it is too long for what either leaves of its last
 * cell. */
static void what_fits_into_no_rest_of_a_cell_counts_whole(void **state)
{
    const PlanBuffer  buffer[] = {{80, 64, 0, -1, 0}, {80, 64, 0, -1, 0}, {56, 8, 0, -1, 0}};
    const PlanSpan    span[] = {{0, 0, 2, 0, 80}, {1, 0, 2, 0, 80}, {2, 0, 2, 0, 56}};
    const PlanOverlap overlap[] = {{0, 1, 64, 64}};
    PlanProblem problem = {.buffer = buffer, .nbuffer = 3, .span = span, .nspan = 3, .overlap = overlap, .nstep = 2};

    (void)state;
    assert_int_equal(plan_lower_bound(&problem), 128 + 80 + 56);
    problem.noverlap = 1; /* 16 bytes of one may lie below the other */
    assert_int_equal(plan_lower_bound(&problem), 64 + 80 + 56);
}

/* Of 80, 96 and 64 bytes at multiples of 64, and 40 anywhere: these fit only into what the first leaves of its last
 * cell, and then the second may be the topmost, not the first. */
static void a_rest_is_taken_once(void **state)
{
    const PlanBuffer buffer[] = {{80, 64, 0, -1, 0}, {96, 64, 0, -1, 0}, {64, 64, 0, -1, 0}, {40, 8, 0, -1, 0}};
    const PlanSpan   span[] = {{0, 0, 2, 0, 80}, {1, 0, 2, 0, 96}, {2, 0, 2, 0, 64}, {3, 0, 2, 0, 40}};
    PlanProblem      problem = {.buffer = buffer, .nbuffer = 4, .span = span, .nspan = 4, .nstep = 2};

    (void)state;
    assert_int_equal(plan_lower_bound(&problem), 128 + 64 + 96);
}

/* A plan within the upper bound is as good as without that bound; any other plan is at least a right one. */
static void a_plan_above_the_upper_bound_is_not_searched_for(void **state)
{
    uint64_t seed = 19;
    int      spared = 0;

    (void)state;
    for (int i = 0; i < 500; i++) {
        Sample     s;
        int64_t    offset[ORACLE_BUFFERS], least;
        PlanResult r = {.offset = offset};
        PlanLimits limits = {0};
        oracle_sample(&s, &seed, 7, WITH_ALL & ~(unsigned)WITH_FIXED);
        least = oracle_least_peak(&s.problem, LIMIT);
        if (least < 2)
            continue;
        limits.upper_bound = least;
        assert_int_equal(plan_place(&s.problem, &limits, &r), PLAN_OK);
        assert_int_equal(r.peak, least);
        limits.upper_bound = least - 1;
        assert_int_equal(plan_place(&s.problem, &limits, &r), PLAN_OK);
        assert_true(plan_check(&s.problem, &r) && r.peak >= least && r.bound <= least);
        spared += r.status == PLAN_FEASIBLE;
    }
    assert_true(spared > 0);
}

/* The same with shorter windows: every plan of s is one of it. The spans are the caller's. */
static PlanProblem loosen(const Sample *s, PlanSpan *span, uint64_t *seed)
{
    PlanProblem looser = s->problem;

    for (int i = 0; i < looser.nspan; i++) {
        span[i] = s->problem.span[i];
        if (oracle_random(seed) % 2)
            span[i].hi -= (span[i].hi - span[i].lo) / 4;
    }
    looser.span = span;
    return looser;
}

/* What a looser problem needs is a bound, and its plan a hint: the answer is as good as without them and found with
 * less effort. */
static void a_looser_problem_helps(void **state)
{
    uint64_t seed = 31;
    int64_t  alone = 0, helped = 0;

    (void)state;
    for (int i = 0; i < 500; i++) {
        Sample      s;
        PlanSpan    span[ORACLE_SPANS];
        int64_t     hint[ORACLE_BUFFERS], offset[ORACLE_BUFFERS];
        PlanResult  loose = {.offset = hint}, r = {.offset = offset};
        PlanProblem looser;
        PlanLimits  limits = {0};
        oracle_sample(&s, &seed, 7, WITH_ALL & ~(unsigned)WITH_FIXED);
        looser = loosen(&s, span, &seed);
        assert_int_equal(plan_place(&looser, NULL, &loose), PLAN_OK);
        assert_int_equal(plan_place(&s.problem, NULL, &r), PLAN_OK);
        alone += r.nodes;
        limits.lower_bound = loose.bound;
        limits.warm_start = hint;
        assert_int_equal(plan_place(&s.problem, &limits, &r), PLAN_OK);
        assert_int_equal(r.peak, oracle_least_peak(&s.problem, LIMIT));
        assert_int_equal(r.bound, r.peak);
        helped += r.nodes;
    }
    print_message("%lld nodes, %lld with the looser problem's answer\n", (long long)alone, (long long)helped);
    assert_true(helped < alone);
}

/* Found in one go or one by one. */
static void four_peaks_are_those_of_the_four_planners(void **state)
{
    static const PlanFn four[4] = {plan_first_fit, plan_best_fit, plan_longer_first, plan_bigger_first};
    uint64_t            seed = 43;

    (void)state;
    for (int i = 0; i < 300; i++) {
        Sample  s;
        int64_t offset[ORACLE_BUFFERS], peak[4];
        oracle_sample(&s, &seed, 7, WITH_ALL & ~(unsigned)WITH_FIXED);
        assert_int_equal(plan_greedy_peaks(&s.problem, peak), PLAN_OK);
        for (int k = 0; k < 4; k++) {
            PlanResult r = {.offset = offset};
            assert_int_equal(four[k](&s.problem, NULL, &r), PLAN_OK);
            assert_int_equal(peak[k], r.peak);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_problems_are_solved),
        cmocka_unit_test(holes_are_used),
        cmocka_unit_test(mixed_alignment_is_kept),
        cmocka_unit_test(fixed_buffers_stay),
        cmocka_unit_test(windows_and_overlap_constraints_are_solved),
        cmocka_unit_test(perfect_packings_are_found),
        cmocka_unit_test(the_same_limits_give_the_same_plan),
        cmocka_unit_test(a_capacity_below_the_least_peak_is_refuted),
        cmocka_unit_test(what_fits_into_no_rest_of_a_cell_counts_whole),
        cmocka_unit_test(a_rest_is_taken_once),
        cmocka_unit_test(a_plan_above_the_upper_bound_is_not_searched_for),
        cmocka_unit_test(a_looser_problem_helps),
        cmocka_unit_test(four_peaks_are_those_of_the_four_planners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
