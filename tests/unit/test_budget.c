/* test_budget.c - plans for a number of bytes, laid out by planners/, against every choice of small instances; and
 * how long plans for large ones take. */
#include "swap/budget.h"

#include "planners/planner.h"

#include "pipelines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* ---------------------------------------------------------------------------------------------------------- layouts */

/* What is not blocks: `live` is their sum. */
typedef struct Activation {
    int64_t bytes;
    int     begin, end;
} Activation;

typedef struct Layout {
    const Pipeline   *p;
    const Activation *activation;
    int               count;
    int               layouts; /* made so far */
} Layout;

/* Activations first, then the blocks that are not kept; block[i]: which block buffer i is, or -1. */
static int list_buffers(const Layout *l, const int *place, const bool *kept, PlanBuffer *buffer, PlanSpan *span,
                        int *block)
{
    int n = 0;

    for (int i = 0; i < l->count; i++, n++) {
        buffer[n] = (PlanBuffer){.size = l->activation[i].bytes, .fixed = -1};
        span[n] = (PlanSpan){n, l->activation[i].begin, l->activation[i].end, 0, l->activation[i].bytes};
        block[n] = -1;
    }
    for (int b = 0; b < l->p->nblock; b++)
        if (!kept[b]) {
            buffer[n] = (PlanBuffer){.size = l->p->block[b].bytes, .fixed = -1};
            span[n] = (PlanSpan){n, place[b], l->p->block[b].last + 1, 0, l->p->block[b].bytes};
            block[n++] = b;
        }
    return n;
}

static int lay_out(void *context, const int *place, const bool *kept, int64_t bytes, int64_t *peak, bool *core)
{
    Layout     *l = context;
    int         most = l->count + l->p->nblock, *block = malloc(sizeof *block * (size_t)(most + 1));
    PlanBuffer *buffer = malloc(sizeof *buffer * (size_t)(most + 1));
    PlanSpan   *span = malloc(sizeof *span * (size_t)(most + 1));
    int64_t    *offset = malloc(sizeof *offset * (size_t)(most + 1));
    bool       *in_core = calloc((size_t)most + 1, sizeof *in_core);
    PlanProblem problem = {.buffer = buffer, .span = span, .nstep = l->p->nstep};
    PlanLimits  limits = {.capacity = bytes, .fit = bytes > 0, .nodes = 20000};
    PlanResult  result = {.offset = offset, .core = in_core};
    int         status;

    problem.nbuffer = problem.nspan = list_buffers(l, place, kept, buffer, span, block);
    status = plan_place(&problem, &limits, &result);
    *peak = result.peak;
    for (int i = 0; i < problem.nbuffer && result.peak > bytes; i++)
        if (block[i] >= 0)
            core[block[i]] = in_core[i];
    l->layouts++;
    free(block);
    free(buffer);
    free(span);
    free(offset);
    free(in_core);
    return status == PLAN_OK ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------------------------ small */

enum { MOST_ACTIVATIONS = 6 };

static Activation activation[MOST_ACTIVATIONS];

/* The instance's live bytes become those of activations. */
static Layout make_activations(Instance *x)
{
    Layout l = {&x->p, activation, 1 + upto(MOST_ACTIVATIONS - 1), 0};

    memset(x->live, 0, sizeof x->live);
    for (int i = 0; i < l.count; i++) {
        Activation *a = &activation[i];

        a->bytes = 1 + upto(20);
        a->begin = upto(x->p.nstep - 1);
        a->end = a->begin + 1 + upto(x->p.nstep - 1 - a->begin);
        for (int s = a->begin; s < a->end; s++)
            x->live[s] += a->bytes;
    }
    return l;
}

/* The oracle's layouts. */
static bool fits(const Instance *x, const int *place, const bool *kept, int64_t bytes)
{
    Layout  l = {&x->p, activation, 0, 0};
    bool    core[MOST_BLOCKS];
    int64_t peak;

    for (int s = 0; s < x->p.nstep; s++) /* all that were made */
        while (l.count < MOST_ACTIVATIONS && activation[l.count].end > 0)
            l.count++;
    return lay_out(&l, place, kept, bytes > 0 ? bytes : 1, &peak, core) == 0 && peak <= bytes;
}

static const BudgetOptions usual = {.margin = 0.25};

static void few_choices_beat_plans_that_are_laid_out(void **unused)
{
    int    equal = 0, close = 0, count = 0;
    double worst = 1;

    (void)unused;
    for (int i = 0; i < 2000; i++) {
        Instance   x;
        Layout     l;
        FitPack    pack = {lay_out, &l};
        ArenaMark  mark = arena_mark(arena);
        Budget    *g;
        BudgetPlan plan;
        int64_t    bytes, peak;
        double     best;
        bool       core[MOST_BLOCKS];

        memset(activation, 0, sizeof activation);
        make_instance(&x, 8, 6);
        l = make_activations(&x);
        g = budget_open(arena, &x.p, &pack, &usual);
        bytes = budget_least(g) + upto((int)(budget_most(g) - budget_least(g) + 2));
        best = best_of_all(&x, bytes, fits);
        assert_int_equal(budget_plan(g, bytes, &plan), 0);
        assert_int_equal(lay_out(&l, plan.place, plan.kept, plan.at.arena, &peak, core), 0);
        assert_true(peak <= plan.at.arena && plan.at.arena + plan.at.kept <= bytes);
        assert_true(plan.at.bound <= best + 1e-9 && best <= plan.at.time + 1e-9);
        assert_true(run_by_paths(&x, plan.place, plan.kept) == plan.at.time);
        count++;
        equal += plan.at.time <= best + 1e-9;
        close += plan.at.time <= best * 1.01 + 1e-9;
        worst = best > 0 && plan.at.time / best > worst ? plan.at.time / best : worst;
        arena_release(arena, mark);
    }
    print_message("of %d laid out: %d as good as the best, %d within 1 %%, worst %.3f\n", count, equal, close, worst);
    assert_true(close >= count * 95 / 100);
}

static void more_bytes_never_cost_time(void **unused)
{
    enum { COUNT = 8 };

    (void)unused;
    for (int i = 0; i < 1000; i++) {
        Instance    x;
        ArenaMark   mark = arena_mark(arena);
        Budget     *g;
        int64_t     bytes[COUNT];
        BudgetPoint point[COUNT];

        make_instance(&x, MOST_STEPS, MOST_BLOCKS);
        g = budget_open(arena, &x.p, NULL, &usual);
        for (int k = 0; k < COUNT; k++)
            bytes[k] = budget_least(g) + (budget_most(g) - budget_least(g)) * k / (COUNT - 1);
        budget_curve(g, bytes, COUNT, point);
        for (int k = 0; k < COUNT; k++) {
            assert_true(point[k].bytes == bytes[k] && point[k].arena + point[k].kept <= bytes[k]);
            assert_true(point[k].bound <= point[k].time + 1e-9);
            assert_true(k == 0 || point[k].time <= point[k - 1].time * (1 + 1e-8));
            assert_true(k == 0 || point[k].bound <= point[k - 1].bound + 1e-9);
        }
        assert_true(point[COUNT - 1].read == 0 && point[COUNT - 1].time == pipeline_resident(&x.p));
        assert_in_range(budget_knee(g), bytes[0], bytes[COUNT - 1]);
        arena_release(arena, mark);
    }
}

static void what_cannot_fit_is_said(void **unused)
{
    double        time[] = {10, 10};
    int64_t       live[] = {100, 20};
    PipelineBlock block[] = {{500, 1, 1, 50}};
    Pipeline      p = {time, live, block, 2, 1, 10, 0, 0};
    Budget       *g = budget_open(arena, &p, NULL, &usual);
    BudgetPlan    plan;
    BudgetPoint   point;

    (void)unused;
    assert_true(budget_least(g) == 520 && budget_most(g) == 600);
    assert_int_equal(budget_plan(g, 519, &plan), 1);
    budget_curve(g, (int64_t[]){519}, 1, &point);
    assert_true(point.time == INFINITY && point.bound == INFINITY);
    assert_int_equal(budget_plan(g, 520, &plan), 0);
    assert_true(plan.at.time == 70 && plan.place[0] == 1 && plan.at.arena == 520 && plan.at.read == 500);
    assert_true(plan.stall[1] == 50 && plan.from[0] == 10 && plan.to[0] == 60);
    assert_int_equal(budget_plan(g, 600, &plan), 0);
    assert_true(plan.at.time == 20 && plan.kept[0] && plan.at.arena == 100 && plan.at.read == 0);
}

static void without_blocks_there_is_nothing_to_choose(void **unused)
{
    double     time[] = {10, 10};
    int64_t    live[] = {100, 20};
    Pipeline   p = {time, live, NULL, 2, 0, 1, 0, 0}, none = {.rate = 1};
    Budget    *g = budget_open(arena, &p, NULL, &usual);
    BudgetPlan plan;

    (void)unused;
    assert_int_equal(budget_plan(g, 100, &plan), 0);
    assert_true(plan.at.time == 20 && plan.at.arena == 100 && plan.at.bound == 20);
    assert_int_equal(budget_knee(g), 100);
    g = budget_open(arena, &none, NULL, &usual);
    assert_int_equal(budget_plan(g, 0, &plan), 0);
    assert_true(plan.at.time == 0);
}

static int fail_after(void *context, const int *place, const bool *kept, int64_t bytes, int64_t *peak, bool *core)
{
    int *left = context;

    (void)place;
    (void)kept;
    (void)bytes;
    (void)core;
    *peak = 1000;
    return (*left)-- ? 0 : -1;
}

static void a_layout_that_fails_ends_the_search(void **unused)
{
    double        time[] = {10, 10};
    int64_t       live[] = {100, 20};
    PipelineBlock block[] = {{500, 1, 1, 50}};
    Pipeline      p = {time, live, block, 2, 1, 10, 0, 0};
    int           left = 0;
    FitPack       pack = {fail_after, &left};
    BudgetPlan    plan;
    Budget       *g;

    (void)unused;
    assert_null(budget_open(arena, &p, &pack, &usual));
    left = 1;
    assert_null(budget_open(arena, &p, &pack, &usual));
    left = 2;
    g = budget_open(arena, &p, &pack, &usual);
    assert_int_equal(budget_plan(g, 2000, &plan), -1);
}

/* A layout that needs much more as soon as a block waits for its reader for longer than a step. */
static int cut_by_waiting(void *context, const int *place, const bool *kept, int64_t bytes, int64_t *peak, bool *core)
{
    const Pipeline *p = context;
    bool            waits = false;

    (void)bytes;
    (void)core;
    for (int b = 0; b < p->nblock; b++)
        waits |= !kept[b] && place[b] < p->block[b].first - 1;
    *peak = pipeline_peak(p, place, kept, arena).bytes + (waits ? 400 : 0);
    return 0;
}

static void fewer_loads_at_a_time_beat_loads_at_their_readers(void **unused)
{
    enum { STEPS = 8 };
    double        time[STEPS];
    int64_t       live[STEPS];
    PipelineBlock block[STEPS];
    Pipeline      p = {time, live, block, STEPS, STEPS, 5, 0, 0};
    FitPack       pack = {cut_by_waiting, &p};
    BudgetPlan    plan;

    (void)unused;
    for (int s = 0; s < STEPS; s++) {
        time[s] = 10;
        live[s] = s / 2 % 2 ? 20 : 100; /* where there is room, loads would begin early */
        block[s] = (PipelineBlock){50, s, s, 10};
    }
    assert_int_equal(budget_plan(budget_open(arena, &p, &pack, &usual), 200, &plan), 0);
    assert_true(plan.at.time == 90 && plan.run.ahead == 2); /* at their readers 20 a step */
}

/* A plan that is given another's arena and the blocks that stay keeps as much, in no larger arena. With bytes to spare
 * it keeps all; with less arena than any layout needs, it takes what it needs. */
static void what_is_given_is_used(void **unused)
{
    Instance x;
    int      fitted = 0;

    (void)unused;
    for (int i = 0; i < 500; i++) {
        bool        none[MOST_BLOCKS] = {false};
        Budget     *g;
        BudgetPlan  plan, next;
        BudgetGiven given;

        make_instance(&x, MOST_STEPS, MOST_BLOCKS);
        g = budget_open(arena, &x.p, NULL, &usual);
        assert_int_equal(budget_plan(g, budget_least(g) + upto(60), &plan), 0);
        given = (BudgetGiven){plan.kept, plan.at.arena, 0};
        assert_int_equal(budget_plan_given(g, &given, &next), 0);
        assert_true(next.at.arena <= plan.at.arena && next.at.kept == plan.at.kept && next.at.read == plan.at.read);
        assert_true(next.at.time == pipeline_run(&x.p, next.place, next.kept, &(PipelineTrace){next.to, 0, 0}).time);
        assert_true(next.at.time >= next.bound.time * (1 - 1e-9));
        assert_true(pipeline_peak(&x.p, next.place, next.kept, arena).bytes <= next.at.arena);
        fitted += next.at.time <= plan.at.time;
        given = (BudgetGiven){none, plan.at.arena, pipeline_block_bytes(&x.p)};
        assert_int_equal(budget_plan_given(g, &given, &next), 0);
        assert_true(next.at.read == 0 && next.at.kept == pipeline_block_bytes(&x.p));
        given = (BudgetGiven){none, 0, -1};
        assert_int_equal(budget_plan_given(g, &given, &next), 0);
        assert_true(next.at.arena == budget_least(g) && next.at.kept == 0);
    }
    assert_true(fitted > 400);
}

/* ------------------------------------------------------------------------------------------------------------ large */

/* ResNet-152 with its convolutions cut into slices of at most 1 MB: 56 x 56 to 7 x 7 pixels, 64 to 512 channels inside
 * blocks whose sum is added in place. */
enum { STEPS = 700, BLOCKS = 700, SLICE = 1 << 20 };

typedef struct Large {
    Pipeline      p;
    double        time[STEPS];
    int64_t       live[STEPS];
    PipelineBlock block[BLOCKS];
    Activation    activation[STEPS];
    Layout        layout;
} Large;

/* An activation of so many channels that is born now; returns which. */
static int born(Large *x, int64_t side, int64_t channels)
{
    x->activation[x->layout.count] = (Activation){side * side * channels * 4, x->p.nstep, 0};
    return x->layout.count++;
}

/* Slices of a convolution of so many weights, computed for each of so many pixels. */
static void convolve(Large *x, int64_t weights, int64_t pixels)
{
    int count = (int)((weights * 4 + SLICE - 1) / SLICE);

    for (int i = 0; i < count; i++) {
        PipelineBlock *block = &x->block[x->p.nblock++];

        block->bytes = (weights * 4 / count + 4095) / 4096 * 4096;
        block->first = block->last = x->p.nstep;
        block->time = pipeline_load_time(block->bytes, x->p.rate, 8e4, 2);
        x->time[x->p.nstep++] = (double)(weights / count * pixels) / 118.0;
    }
}

/* Reduces, convolves 3 x 3, expands into what it read; the first of a stage into a new one. */
static int bottleneck(Large *x, int in, int64_t side, int64_t from, int64_t inside, int stride)
{
    int64_t small = side / stride;
    int     out = in, y = born(x, side, inside), z;

    convolve(x, from * inside, side * side);
    z = born(x, small, inside);
    convolve(x, inside * inside * 9, small * small);
    x->activation[y].end = x->p.nstep;
    if (from != inside * 4) {
        out = born(x, small, inside * 4);
        convolve(x, from * inside * 4, small * small);
        x->activation[in].end = x->p.nstep;
    }
    convolve(x, inside * inside * 4, small * small);
    x->activation[z].end = x->p.nstep;
    return out;
}

static void make_large(Large *x)
{
    static const int blocks[] = {3, 8, 36, 3};
    int              last;

    x->p = (Pipeline){x->time, x->live, x->block, 0, 0, 2.3, pipeline_lead(8e4, 2), 8};
    x->layout = (Layout){&x->p, x->activation, 0, 0};
    last = born(x, 112, 64);
    convolve(x, 64 * 49 * 3, 112 * 112);
    x->activation[last].end = x->p.nstep;
    last = born(x, 56, 64);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[stage]; i++)
            last = bottleneck(x, last, i || !stage ? 56 >> stage : 112 >> stage,
                              i       ? 256 << stage
                              : stage ? 128 << stage
                                      : 64,
                              64 << stage, i || !stage ? 1 : 2);
    convolve(x, 2048 * 1000, 1);
    x->activation[last].end = x->p.nstep;
    for (int i = 0; i < x->layout.count; i++)
        for (int s = x->activation[i].begin; s < x->activation[i].end; s++)
            x->live[s] += x->activation[i].bytes;
}

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void large_plans_take_no_time(void **unused)
{
    enum { COUNT = 32 };
    Large      *x = calloc(1, sizeof *x);
    FitPack     pack = {lay_out, &x->layout};
    Budget     *g;
    int64_t     bytes[COUNT];
    BudgetPoint point[COUNT];
    double      start = seconds(), share[] = {0, 0.062, 0.12, 0.25, 0.5}, resident, open, curve;

    (void)unused;
    make_large(x);
    resident = pipeline_resident(&x->p);
    g = budget_open(arena, &x->p, &pack, &usual);
    open = seconds() - start;
    for (int k = 0; k < COUNT; k++)
        bytes[k] = budget_least(g) + (budget_most(g) - budget_least(g)) * k / (COUNT - 1);
    budget_curve(g, bytes, COUNT, point);
    curve = seconds() - start - open;
    print_message("%d steps in %.1f ms, %d blocks of %.1f MB: %.0f ms of processor time to open, %.0f for %d budgets, "
                  "knee at %.1f MB\n",
                  x->p.nstep, resident / 1e6, x->p.nblock, (double)pipeline_block_bytes(&x->p) / 1e6, open * 1e3,
                  curve * 1e3, COUNT, (double)budget_knee(g) / 1e6);
    for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
        BudgetPlan plan;
        int64_t    most = (int64_t)(share[i] * (double)budget_most(g));

        start = seconds();
        x->layout.layouts = 0;
        assert_int_equal(budget_plan(g, most > budget_least(g) ? most : budget_least(g), &plan), 0);
        print_message(
            "%6.1f MB: time / resident %.3f, time / bound %.3f; arena %.1f, kept %.1f; %d ahead; %d layouts in "
            "%.0f ms; bound by steps %d to %d\n",
            (double)plan.at.bytes / 1e6, plan.at.time / resident, plan.at.time / plan.at.bound,
            (double)plan.at.arena / 1e6, (double)plan.at.kept / 1e6, plan.run.ahead, x->layout.layouts,
            1e3 * (seconds() - start), plan.bound.first, plan.bound.last);
        assert_true(i == 0 || plan.at.time <= plan.at.bound * 1.12);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_choices_beat_plans_that_are_laid_out),
        cmocka_unit_test(more_bytes_never_cost_time),
        cmocka_unit_test(what_cannot_fit_is_said),
        cmocka_unit_test(without_blocks_there_is_nothing_to_choose),
        cmocka_unit_test(a_layout_that_fails_ends_the_search),
        cmocka_unit_test(fewer_loads_at_a_time_beat_loads_at_their_readers),
        cmocka_unit_test(what_is_given_is_used),
        cmocka_unit_test(large_plans_take_no_time),
    };

    return cmocka_run_group_tests_name("budget", tests, open_arena, close_arena);
}
