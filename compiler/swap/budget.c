/* budget.c - from kept blocks and places to a plan that fits, the curve of time over memory, and its knee. */
#include "swap/budget.h"

#include "support/int.h"
#include "swap/keep.h"

#include <math.h>
#include <string.h>

/* Places that are laid out in so many bytes with no block kept, hence with any kept. */
typedef struct LayoutLevel {
    int64_t arena; /* bytes of the layout */
    int    *place; /* [nblock] */
    double  loss;  /* bytes of the level's arena over the largest sum that fits in it */
} LayoutLevel;

struct Budget {
    Arena          *arena;
    const Pipeline *p;
    Fitter          fitter;
    double          margin;
    Keeper         *keeper;
    int64_t         least, most; /* bytes of the smallest layout, and of all blocks kept beside theirs */
    LayoutLevel    *level;       /* [keeper_levels] */
    int             levels;      /* levels that are made, the smallest first */
};

Budget *budget_open(Arena *arena, const Pipeline *p, const FitPack *pack, const BudgetOptions *options)
{
    Budget *g = arena_one(arena, Budget);
    int64_t sum = pipeline_peak(p, NULL, NULL, arena).bytes;
    bool   *none = arena_array(arena, bool, p->nblock + 1), *all = arena_array(arena, bool, p->nblock + 1);
    Places *places = places_new(arena, p);
    Fit     least, most;

    *g = (Budget){.arena = arena, .p = p, .margin = options->margin};
    g->fitter = (Fitter){arena, p, pack, places, options->packs ? options->packs : 64, 1};
    g->keeper = keeper_new(arena, p, places, options->trials ? options->trials : 2000);
    memset(all, 1, (size_t)p->nblock);
    if (fit_least(&g->fitter, none, &least) < 0 || fit_least(&g->fitter, all, &most) < 0)
        return NULL;
    g->least = least.peak;
    g->most = int_max(most.peak + pipeline_block_bytes(p), g->least);
    if (sum > 0)
        g->fitter.loss = (double)g->least / (double)sum;
    g->level = arena_array(arena, LayoutLevel, keeper_levels(g->keeper));
    g->level[g->levels++] = (LayoutLevel){g->least, least.place, g->fitter.loss};
    return g;
}

int64_t budget_least(const Budget *g)
{
    return g->least;
}

int64_t budget_most(const Budget *g)
{
    return g->most;
}

/* ---------------------------------------------------------------------------------------------------------- layouts */

/* Makes all levels whose arena has `bytes` at most. Loads begin early: if blocks are kept, runs wait less, and overtake
 * places that were early enough without kept blocks. Returns 0 or -1. */
static int make_levels(Budget *g, int64_t bytes)
{
    const bool *none = arena_array(g->arena, bool, g->p->nblock + 1);

    for (; g->levels < keeper_levels(g->keeper); g->levels++) {
        int64_t arena = (int64_t)ceil((double)keeper_level(g->keeper, g->levels) * g->fitter.loss);
        FitGoal goal = {none, arena, g->level[g->levels - 1].loss, INFINITY};
        Fit     fit;

        if (arena > bytes)
            break;
        if (fit_arena(&g->fitter, &goal, &fit) != 0) /* the smallest level's places fit */
            return -1;
        g->level[g->levels] = (LayoutLevel){fit.peak, fit.place, (double)arena / (double)int_max(fit.sum, 1)};
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ plans */

static BudgetPlan plan_new(const Budget *g)
{
    BudgetPlan plan = {.at = {.time = INFINITY}};

    plan.place = arena_array(g->arena, int, g->p->nblock + 1);
    plan.kept = arena_array(g->arena, bool, g->p->nblock + 1);
    plan.stall = arena_array(g->arena, double, g->p->nstep + 1);
    plan.from = arena_array(g->arena, double, g->p->nblock + 1);
    plan.to = arena_array(g->arena, double, g->p->nblock + 1);
    return plan;
}

/* Sets the figures of a run with these kept blocks and places. */
static void describe(const Budget *g, int64_t arena, int64_t kept, BudgetPlan *plan)
{
    PipelineTrace trace = {plan->to, plan->from, plan->stall};

    plan->run = pipeline_run(g->p, plan->place, plan->kept, &trace);
    plan->at.arena = arena;
    plan->at.kept = kept;
    plan->at.read = plan->run.read;
    plan->at.loads = plan->run.loads;
    plan->at.time = plan->run.time;
}

/* The bound of runs with an arena of `bytes`. A sum counts bytes twice that two buffers share: if an arena's bytes are
 * fewer than their sum (`loss` below 1), the bound is that of the larger sum. */
static PipelineBound bound_of(const Budget *g, int64_t bytes)
{
    return pipeline_bound(g->p, (int64_t)((double)bytes / fmin(g->fitter.loss, 1)), g->arena);
}

double budget_bound(const Budget *budget, int64_t bytes)
{
    return bound_of(budget, bytes).time;
}

/* Tries a layout with the blocks of `kept` kept (NULL: none), and with further blocks kept as long as they fit in
 * `bytes`. Blocks are kept in the order of `rank`, since at equal time a run that reads less is better. The layout
 * replaces *plan if its run takes less time, or the same time and reads less. */
static void try_layout(Budget *g, const LayoutLevel *level, const bool *kept, const int *rank, int64_t bytes,
                       BudgetPlan *plan)
{
    BudgetPlan    next = plan_new(g);
    PipelineTrace trace = {next.to, NULL, NULL};
    PipelineRun   run;
    int64_t       left = bytes - level->arena, all = left;

    for (int pass = kept ? 0 : 1; pass < 2; pass++)
        for (int i = 0; i < g->p->nblock; i++) {
            int b = rank[i];

            if ((pass || kept[b]) && !next.kept[b] && g->p->block[b].bytes <= left) {
                next.kept[b] = true;
                left -= g->p->block[b].bytes;
            }
        }
    memcpy(next.place, level->place, (size_t)g->p->nblock * sizeof *next.place);
    run = pipeline_run(g->p, next.place, next.kept, &trace);
    if (left < 0 || run.time > plan->at.time || (run.time == plan->at.time && run.read >= plan->at.read))
        return;
    describe(g, level->arena, all - left, &next);
    *plan = next;
}

/* Tries the layout with all blocks kept. */
static void try_all(Budget *g, int64_t bytes, BudgetPlan *plan)
{
    LayoutLevel level = {g->most - pipeline_block_bytes(g->p), g->level[0].place, 1};

    if (bytes >= g->most)
        try_layout(g, &level, NULL, keeper_rank(g->keeper, 0), bytes, plan);
}

static void try_levels(Budget *g, int64_t bytes, const bool *kept, BudgetPlan *plan)
{
    for (int i = 0; i < g->levels && g->level[i].arena <= bytes; i++)
        try_layout(g, &g->level[i], kept, keeper_rank(g->keeper, i), bytes, plan);
}

static int level_of(const Budget *g, int64_t arena)
{
    int i = g->levels - 1;

    while (i > 0 && g->level[i].arena > arena)
        i--;
    return i;
}

/* Tries places made for an arena beside kept blocks. 0 or -1. */
static int try_fit(Budget *g, const FitGoal *goal, int64_t bytes, BudgetPlan *plan)
{
    Fit         fit;
    int         status = fit_arena(&g->fitter, goal, &fit);
    LayoutLevel level;

    if (status)
        return status < 0 ? -1 : 0;
    level = (LayoutLevel){fit.peak, fit.place, goal->loss};
    try_layout(g, &level, goal->kept, keeper_rank(g->keeper, level_of(g, fit.peak)), bytes, plan);
    return 0;
}

/* The set that is best where sums of bytes decide, with places made for it: *plan becomes that where it takes less
 * time. 0 or -1. */
static int try_search(Budget *g, int64_t bytes, BudgetPlan *plan)
{
    Keep    keep = keep_none(g->arena, g->p);
    FitGoal goal = {.loss = g->fitter.loss, .margin = g->margin};

    for (int i = 0; i < 3; i++) {
        double next;

        keeper_search(g->keeper, bytes, goal.loss, &keep);
        next = g->level[level_of(g, bytes - keep.bytes)].loss; /* the loss of layouts of that size */
        if (keep.time == INFINITY || next <= goal.loss * 1.01)
            break;
        goal.loss = next;
    }
    if (keep.time >= plan->at.time)
        return 0;
    try_levels(g, bytes, keep.kept, plan);
    goal.kept = keep.kept;
    goal.arena = bytes - keep.bytes;
    return try_fit(g, &goal, bytes, plan);
}

/* Places made for all bytes, with no block kept but those that then fit beside. 0 or -1. */
static int try_whole(Budget *g, int64_t bytes, BudgetPlan *plan)
{
    FitGoal goal = {arena_array(g->arena, bool, g->p->nblock + 1), bytes, g->fitter.loss, g->margin};

    return try_fit(g, &goal, bytes, plan);
}

int budget_plan(Budget *g, int64_t bytes, BudgetPlan *plan)
{
    BudgetPlan best = plan_new(g);

    if (bytes < g->least)
        return 1;
    if (make_levels(g, bytes) < 0)
        return -1;
    try_levels(g, bytes, NULL, &best);
    if (try_search(g, bytes, &best) < 0 || try_whole(g, bytes, &best) < 0)
        return -1;
    try_all(g, bytes, &best);
    best.at.bytes = bytes;
    best.bound = bound_of(g, bytes);
    best.at.bound = best.bound.time;
    *plan = best;
    return 0;
}

/* Keeps what is given, and more blocks in the order of the smallest level's rank while there are spare bytes. Returns
 * the bytes that are left of these. */
static int64_t keep_given(Budget *g, const BudgetGiven *given, bool *kept, int64_t *bytes)
{
    const int *rank = keeper_rank(g->keeper, 0);
    int64_t    left = int_max(given->spare, 0);

    *bytes = 0;
    for (int i = 0; i < g->p->nblock; i++) {
        int64_t size = g->p->block[rank[i]].bytes;

        kept[rank[i]] = given->kept[rank[i]] || size <= left;
        left -= kept[rank[i]] && !given->kept[rank[i]] ? size : 0;
        *bytes += kept[rank[i]] ? size : 0;
    }
    return left;
}

int budget_plan_given(Budget *g, const BudgetGiven *given, BudgetPlan *plan)
{
    BudgetPlan next = plan_new(g);
    int64_t    bytes, left = keep_given(g, given, next.kept, &bytes);
    FitGoal    goal = {next.kept, given->arena, g->fitter.loss, g->margin};
    Fit        fit;
    int        status = fit_arena(&g->fitter, &goal, &fit);

    if (status == 1 && left > 0) {
        goal.arena += left;
        status = fit_arena(&g->fitter, &goal, &fit);
    }
    if (status == 1)
        status = fit_least(&g->fitter, next.kept, &fit);
    if (status < 0)
        return -1;
    next.place = fit.place;
    describe(g, fit.peak, bytes, &next);
    next.at.bytes = int_max(given->arena, fit.peak) + bytes;
    next.bound = bound_of(g, next.at.bytes);
    next.at.bound = next.bound.time;
    *plan = next;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ curve */

/* Without a planner's layouts, sums of bytes decide, and a search chooses the kept blocks. With a planner, the curve
 * uses the levels' layouts with the first blocks of their ranks kept. */
int budget_curve(Budget *g, const int64_t *bytes, int count, BudgetPoint *point)
{
    BudgetPlan plan = plan_new(g);

    for (int i = 0; i < count; i++) {
        point[i] = (BudgetPoint){.bytes = bytes[i], .time = INFINITY, .bound = INFINITY};
        if (bytes[i] < g->least)
            continue;
        if (make_levels(g, bytes[i]) < 0)
            return -1;
        try_levels(g, bytes[i], NULL, &plan);
        if (!g->fitter.pack && try_search(g, bytes[i], &plan) < 0)
            return -1;
        try_all(g, bytes[i], &plan);
        point[i] = plan.at;
        point[i].bytes = bytes[i];
        point[i].bound = bound_of(g, bytes[i]).time;
    }
    return 0;
}

int64_t budget_knee(Budget *g)
{
    enum { COUNT = 33 };
    BudgetPoint point[COUNT];
    int64_t     bytes[COUNT];
    double      least = (double)g->least, most = (double)budget_most(g), deepest = 0;
    int         knee = 0;

    for (int i = 0; i < COUNT; i++)
        bytes[i] = i ? (int64_t)ceil(least * pow(most / fmax(least, 1), i / (COUNT - 1.0))) : g->least;
    if (budget_curve(g, bytes, COUNT, point) < 0)
        return -1;
    if (point[0].time <= point[COUNT - 1].time * 1.01)
        return bytes[0];
    for (int i = 1; i < COUNT; i++) {
        double along = (double)(bytes[i] - bytes[0]) / (double)(bytes[COUNT - 1] - bytes[0]);
        double line = point[0].time + along * (point[COUNT - 1].time - point[0].time);

        if (line - point[i].time > deepest) {
            deepest = line - point[i].time;
            knee = i;
        }
    }
    return bytes[knee];
}
