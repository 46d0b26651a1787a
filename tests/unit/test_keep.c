/* test_keep.c - where loads begin and which blocks stay, against every choice of small instances. */
#include "swap/keep.h"

#include "pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Every list of places for one set of kept blocks. */
static double best_places(const Instance *x, const bool *kept, int64_t bytes)
{
    Oracle o = {.x = x, .best = INFINITY, .arena = bytes};

    memcpy(o.kept, kept, sizeof o.kept);
    memcpy(o.used, x->live, sizeof o.used);
    for (int s = 0; s < x->p.nstep; s++)
        if (x->live[s] > bytes)
            return INFINITY;
    try_places(&o, 0, 0);
    return o.best;
}

static void the_earliest_places_are_the_best(void **unused)
{
    (void)unused;
    for (int i = 0; i < 3000; i++) {
        Instance  x;
        bool      kept[MOST_BLOCKS] = {false};
        int       place[MOST_BLOCKS], limit;
        double    time, to[MOST_BLOCKS];
        int64_t   bytes;
        ArenaMark mark = arena_mark(arena);
        Places   *places;

        make_instance(&x, MOST_STEPS, MOST_BLOCKS);
        for (int b = 0; b < x.p.nblock; b++)
            kept[b] = !upto(4);
        bytes = pipeline_peak(&x.p, NULL, kept, arena).bytes - 1 + upto(60);
        places = places_new(arena, &x.p);
        time = places_earliest(places, kept, bytes, 0, place);
        assert_true(time == best_places(&x, kept, bytes));
        if (time < INFINITY) {
            PipelineTrace trace = {to, NULL, NULL};
            PipelineRun   run = pipeline_run(&x.p, place, kept, &trace);

            limit = most_of_a_step(&x, kept) > x.p.ahead ? most_of_a_step(&x, kept) : x.p.ahead;
            assert_true(run.time == time);
            assert_true(x.p.ahead == 0 || run.ahead <= limit);
            assert_true(pipeline_peak(&x.p, place, kept, arena).bytes <= bytes);
        }
        arena_release(arena, mark);
    }
}

static void the_latest_places_delay_no_step(void **unused)
{
    int moved = 0;

    (void)unused;
    for (int i = 0; i < 20000; i++) {
        Instance      x;
        bool          kept[MOST_BLOCKS] = {false};
        int           early[MOST_BLOCKS], late[MOST_BLOCKS], none = 0;
        double        to[MOST_BLOCKS], before[MOST_STEPS], after[MOST_STEPS], sum = 0;
        PipelineTrace was = {to, NULL, before}, is = {to, NULL, after};
        ArenaMark     mark = arena_mark(arena);
        Places       *places;

        make_instance(&x, MOST_STEPS, MOST_BLOCKS);
        for (int b = 0; b < x.p.nblock; b++)
            kept[b] = !upto(4);
        places = places_new(arena, &x.p);
        places_earliest(places, kept, pipeline_peak(&x.p, NULL, kept, arena).bytes + upto(60), 0, early);
        memcpy(late, early, sizeof late);
        places_latest(places, kept, upto(1) ? 0.25 : 0, late);
        pipeline_run(&x.p, early, kept, &was);
        pipeline_run(&x.p, late, kept, &is);
        for (int s = 0; s < x.p.nstep; s++) {
            sum += after[s] - before[s];
            assert_true(sum <= 1e-9);
        }
        for (int b = 0; b < x.p.nblock; b++) {
            assert_in_range(late[b], early[b], x.block[b].first);
            assert_true(b == 0 || kept[b] || kept[b - 1] || late[b - 1] <= late[b]);
            moved += late[b] > early[b];
            none += late[b] == early[b];
        }
        memcpy(late, early, sizeof late);
        places_latest(places, kept, INFINITY, late);
        assert_memory_equal(late, early, (size_t)x.p.nblock * sizeof *late);
        arena_release(arena, mark);
    }
    assert_true(moved > 1000);
}

static void few_choices_beat_the_search(void **unused)
{
    int    equal = 0, close = 0, count = 0;
    double worst = 1, mean = 0;

    (void)unused;
    for (int i = 0; i < 2000; i++) {
        Instance  x;
        int64_t   least, most, bytes;
        double    best;
        ArenaMark mark = arena_mark(arena);
        Keep      keep;

        make_instance(&x, i % 10 ? 9 : MOST_STEPS, i % 10 ? 7 : MOST_BLOCKS);
        least = pipeline_peak(&x.p, NULL, NULL, arena).bytes;
        most = pipeline_peak(&x.p, (int[MOST_BLOCKS]){0}, NULL, arena).bytes;
        bytes = least + upto((int)(most - least + 10));
        best = best_of_all(&x, bytes, NULL);
        keep = keep_none(arena, &x.p);
        keeper_search(keeper_new(arena, &x.p, places_new(arena, &x.p), 2000), bytes, 1, &keep);
        assert_true(keep.time < INFINITY && keep.time >= best - 1e-9);
        count++;
        equal += keep.time <= best + 1e-9;
        close += keep.time <= best * 1.01 + 1e-9;
        worst = best > 0 && keep.time / best > worst ? keep.time / best : worst;
        mean += best > 0 ? keep.time / best : 1;
        arena_release(arena, mark);
    }
    print_message("of %d: %d as good as the best, %d within 1 %%, mean %.5f, worst %.3f\n", count, equal, close,
                  mean / count, worst);
    assert_true(close >= count * 95 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_places_are_the_best),
        cmocka_unit_test(the_latest_places_delay_no_step),
        cmocka_unit_test(few_choices_beat_the_search),
    };

    return cmocka_run_group_tests_name("keep", tests, open_arena, close_arena);
}
