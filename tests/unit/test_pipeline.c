/* test_pipeline.c - two queues simulated, and what no schedule can beat, against runs watched tick by tick and
 * against every schedule of small instances. */
#include "pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* 4 bytes a nanosecond would load them in 10 ns each; each step computes for 10. */
static const double        even_time[] = {10, 10, 10, 10};
static const int64_t       even_live[] = {100, 100, 100, 100};
static const PipelineBlock even_block[] = {{40, 0, 0, 10}, {40, 1, 1, 10}, {40, 2, 2, 10}, {40, 3, 3, 10}};
static const Pipeline      even = {even_time, even_live, even_block, 4, 4, 4, 0, 0};

static void a_load_right_before_its_reader_is_waited_for_whole(void **unused)
{
    int           place[] = {0, 1, 2, 3};
    double        to[4], from[4], stall[4];
    PipelineTrace trace = {to, from, stall};
    PipelineRun   run = pipeline_run(&even, place, NULL, &trace);

    (void)unused;
    assert_true(run.time == 80 && run.stall == 40);
    assert_true(run.read == 160 && run.loads == 4 && run.ahead == 1);
    for (int i = 0; i < 4; i++)
        assert_true(stall[i] == 10 && from[i] == 20 * i && to[i] == 20 * i + 10);
}

static void a_load_one_step_earlier_hides_behind_it(void **unused)
{
    int           place[] = {0, 0, 1, 2};
    double        to[4], stall[4];
    PipelineTrace trace = {to, NULL, stall};
    PipelineRun   run = pipeline_run(&even, place, NULL, &trace);

    (void)unused;
    assert_true(run.time == 50 && run.stall == 10 && stall[0] == 10 && stall[3] == 0 && run.ahead == 2);
    assert_true(pipeline_peak(&even, place, NULL, arena).bytes == 180);
    assert_true(pipeline_peak(&even, NULL, NULL, arena).bytes == 140);
}

static void what_is_kept_is_neither_loaded_nor_counted(void **unused)
{
    int           place[] = {0, 1, 2, 3};
    bool          kept[] = {true, false, true, true};
    double        to[4];
    PipelineTrace trace = {to, NULL, NULL};
    PipelineRun   run = pipeline_run(&even, place, kept, &trace);

    (void)unused;
    assert_true(run.time == 50 && run.loads == 1 && run.read == 40 && to[0] == 0 && to[1] == 20);
    memset(kept, true, sizeof kept);
    assert_true(pipeline_run(&even, place, kept, &trace).time == pipeline_resident(&even));
    assert_true(pipeline_peak(&even, place, kept, arena).bytes == 100);
}

/* Alone 7 + 10 ns; many in a row, two served at once, 3.5 + 10 each after the first. */
static void latency_is_hidden_by_other_loads(void **unused)
{
    PipelineBlock block[4];
    Pipeline      p = even;
    double        to[4];
    PipelineTrace trace = {to, NULL, NULL};

    (void)unused;
    memcpy(block, even_block, sizeof block);
    for (int i = 0; i < 4; i++)
        block[i].time = pipeline_load_time(40, 4, 7, 2);
    p.block = block;
    p.lead = pipeline_lead(7, 2);
    pipeline_run(&p, (int[]){0, 0, 0, 0}, NULL, &trace);
    assert_true(to[0] == 17 && to[1] == 30.5 && to[2] == 44 && to[3] == 57.5);
    pipeline_run(&p, (int[]){0, 1, 2, 3}, NULL, &trace);
    assert_true(to[0] == 17 && to[1] == 44);
}

/* Places that rise and come before the readers. */
static void make_places(const Instance *x, int *place)
{
    for (int b = x->p.nblock; b-- > 0;) {
        int most = x->block[b].first;

        if (b + 1 < x->p.nblock && place[b + 1] < most)
            most = place[b + 1];
        place[b] = upto(3) ? upto(most) : most;
    }
}

/* One machine with two workers, looked at once a tick: what does each do now? Returns the ticks until all is done. */
static int64_t run_by_ticks(const Instance *x, const int *place, const bool *kept, int64_t *stalled, int *flying)
{
    const Pipeline *p = &x->p;
    bool            there[MOST_BLOCKS] = {false};
    int64_t         issued[MOST_BLOCKS], left = 0, now = 0, computed = 0, loaded = 0;
    int             step = 0, loading = 0; /* which each worker is at */

    memset(issued, -1, sizeof issued);
    *stalled = *flying = 0;
    for (int b = 0; b < p->nblock; b++)
        there[b] = kept && kept[b];
    while (step < p->nstep) {
        bool ready = true;
        int  count = 0;

        for (int b = 0; b < p->nblock; b++)
            if (issued[b] < 0 && place[b] <= step)
                issued[b] = now;
        for (int b = 0; b < p->nblock; b++)
            count += issued[b] >= 0 && x->block[b].first >= step && !(kept && kept[b]);
        *flying = count > *flying ? count : *flying;
        for (bool more = true; more;) { /* loads that take no time follow each other at once */
            more = false;
            while (loading < p->nblock && there[loading])
                loading++;
            if (loading == p->nblock || issued[loading] < 0 || now < issued[loading] + (int64_t)p->lead)
                break;
            left = (int64_t)x->block[loading].time - loaded;
            if (left == 0) {
                there[loading] = more = true;
                loaded = 0;
            }
        }
        for (int b = 0; b < p->nblock; b++)
            ready = ready && (x->block[b].first != step || there[b]);
        if (ready && computed == (int64_t)x->time[step]) {
            step++;
            computed = 0;
            continue; /* the next step begins in the same tick */
        }
        if (loading < p->nblock && issued[loading] >= 0 && now >= issued[loading] + (int64_t)p->lead)
            loaded++;
        computed += ready;
        *stalled += !ready;
        now++;
    }
    return now;
}

static void runs_are_those_of_a_clock_that_ticks(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20000; i++) {
        Instance      x;
        int           place[MOST_BLOCKS], flying;
        bool          kept[MOST_BLOCKS] = {false};
        double        to[MOST_BLOCKS], from[MOST_BLOCKS], stall[MOST_STEPS], sum = 0;
        PipelineTrace trace = {to, from, stall};
        PipelineRun   run;
        int64_t       stalled;

        make_instance(&x, MOST_STEPS, MOST_BLOCKS);
        make_places(&x, place);
        for (int b = 0; b < x.p.nblock; b++)
            kept[b] = !upto(3);
        run = pipeline_run(&x.p, place, kept, &trace);
        assert_int_equal((int64_t)run.time, run_by_ticks(&x, place, kept, &stalled, &flying));
        assert_int_equal((int64_t)run.stall, stalled);
        assert_int_equal(run.ahead, flying);
        assert_true(run.time == run_by_paths(&x, place, kept));
        assert_true(run.time == pipeline_resident(&x.p) + run.stall);
        for (int s = 0; s < x.p.nstep; s++)
            sum += stall[s];
        assert_true(sum == run.stall);
    }
}

static void no_schedule_beats_the_bound(void **unused)
{
    int tight = 0, finite = 0;

    (void)unused;
    for (int i = 0; i < 2000; i++) {
        Instance      x;
        int64_t       least, most, bytes;
        PipelineBound bound;
        double        best;

        make_instance(&x, i % 20 ? 8 : MOST_STEPS, i % 20 ? 6 : MOST_BLOCKS);
        least = pipeline_peak(&x.p, NULL, NULL, arena).bytes;
        most = pipeline_peak(&x.p, (int[MOST_BLOCKS]){0}, NULL, arena).bytes;
        bytes = least - 2 + upto((int)(most - least + 4));
        bound = pipeline_bound(&x.p, bytes, arena);
        best = best_of_all(&x, bytes, NULL);
        assert_true(bytes >= least ? best < INFINITY : best == INFINITY);
        assert_true(bytes >= least ? bound.time <= best + 1e-9 : bound.time == INFINITY);
        assert_true(bytes < least || bound.time >= pipeline_resident(&x.p));
        finite += best < INFINITY;
        tight += best < INFINITY && bound.time > 0.8 * best;
    }
    print_message("bound above 0.8 of the best time: %d of %d\n", tight, finite);
    assert_true(tight > finite / 2);
}

/* Each of steps 2 to 9 reads 10 MB, which take 10 ms, and computes for 1 ms. While step 2 computes, 15 of 25 MB are
 * free for what later steps read; the other 55 of their 70 MB come afterwards. */
static void the_bound_names_the_steps_that_bind(void **unused)
{
    double        time[10];
    int64_t       live[10];
    PipelineBlock block[8];
    Pipeline      p = {time, live, block, 10, 8, 1, 0, 0};
    PipelineBound bound;

    (void)unused;
    for (int s = 0; s < 10; s++) {
        time[s] = 1e6;
        live[s] = 60;
    }
    for (int b = 0; b < 8; b++)
        block[b] = (PipelineBlock){10000000, 2 + b, 2 + b, 1e7};
    bound = pipeline_bound(&p, 25000060, arena);
    assert_true(bound.time == 3e6 + 55e6 + 1e6);
    assert_true(bound.first == 3 && bound.last == 9 && bound.bytes == 70000000 && bound.early == 15000000);
    bound = pipeline_bound(&p, 100000000, arena);
    assert_true(bound.time == 10e6 && bound.first == -1);
    assert_true(pipeline_bound(&p, 10000059, arena).time == INFINITY);
    bound = pipeline_bound(&p, 10000060, arena);
    assert_true(bound.time == 10e6 + 70e6); /* the first block might be kept */
    assert_true(bound.first == 9 && bound.last == 9 && bound.bytes == 10000000 && bound.early == 0);
}

static void nothing_takes_no_time(void **unused)
{
    Pipeline      none = {.rate = 1};
    double        to[1];
    PipelineTrace trace = {to, NULL, NULL};

    (void)unused;
    assert_true(pipeline_run(&none, NULL, NULL, &trace).time == 0);
    assert_true(pipeline_bound(&none, 0, arena).time == 0);
    assert_int_equal(pipeline_peak(&none, NULL, NULL, arena).step, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_right_before_its_reader_is_waited_for_whole),
        cmocka_unit_test(a_load_one_step_earlier_hides_behind_it),
        cmocka_unit_test(what_is_kept_is_neither_loaded_nor_counted),
        cmocka_unit_test(latency_is_hidden_by_other_loads),
        cmocka_unit_test(runs_are_those_of_a_clock_that_ticks),
        cmocka_unit_test(no_schedule_beats_the_bound),
        cmocka_unit_test(the_bound_names_the_steps_that_bind),
        cmocka_unit_test(nothing_takes_no_time),
    };

    return cmocka_run_group_tests_name("pipeline", tests, open_arena, close_arena);
}
