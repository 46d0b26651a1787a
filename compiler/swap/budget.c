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
    BudgetPack      pack;
    BudgetOptions   options;
    Places         *places;
    Keeper         *keeper;
    int64_t         least, most; /* bytes of the smallest layout, and of all blocks kept beside theirs */
    double          loss;        /* bytes of the smallest layout over their sum */
    LayoutLevel    *level;       /* [keeper_levels] */
    int             levels;      /* levels that are made, the smallest first */
};

/* A layout that needs exactly the sums of bytes. */
typedef struct Sums {
    const Pipeline *p;
    Arena          *arena;
} Sums;

static int pack_sums(void *context, const int *place, const bool *kept, int64_t arena, int64_t *peak, bool *core)
{
    Sums *sums = context;

    (void)arena;
    (void)core;
    *peak = pipeline_peak(sums->p, place, kept, sums->arena).bytes;
    return 0;
}

static void place_at_readers(const Pipeline *p, int *place)
{
    for (int b = 0; b < p->nblock; b++)
        place[b] = p->block[b].first;
}

Budget *budget_open(Arena *arena, const Pipeline *p, const BudgetPack *pack, const BudgetOptions *options)
{
    Budget *g = arena_one(arena, Budget);
    Sums   *sums = arena_one(arena, Sums);
    int64_t sum = pipeline_peak(p, NULL, NULL, arena).bytes;
    int    *place = arena_array(arena, int, p->nblock + 1);
    bool   *none = arena_array(arena, bool, p->nblock + 1), *all = arena_array(arena, bool, p->nblock + 1);
    bool   *core = arena_array(arena, bool, p->nblock + 1);

    *sums = (Sums){p, arena};
    *g = (Budget){.arena = arena, .p = p, .pack = {pack_sums, sums}, .options = *options};
    if (pack)
        g->pack = *pack;
    g->options.packs = options->packs ? options->packs : 64;
    g->options.trials = options->trials ? options->trials : 2000;
    g->places = places_new(arena, p);
    g->keeper = keeper_new(arena, p, g->places, g->options.trials);
    place_at_readers(p, place);
    for (int b = 0; b < p->nblock; b++)
        all[b] = true;
    if (g->pack.pack(g->pack.context, place, none, 0, &g->least, core) < 0 ||
        g->pack.pack(g->pack.context, place, all, 0, &g->most, core) < 0)
        return NULL;
    g->most = int_max(g->most + pipeline_block_bytes(p), g->least);
    g->loss = sum > 0 ? (double)g->least / (double)sum : 1;
    g->level = arena_array(arena, LayoutLevel, keeper_levels(g->keeper));
    g->level[g->levels++] = (LayoutLevel){g->least, place, g->loss};
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

/* The search for places that can be laid out beside some kept blocks. */
typedef struct Fit {
    Budget     *g;
    const bool *kept;
    double      margin;
    int64_t     arena; /* bytes that there are */
    int64_t     least; /* sum of bytes with each load right before its reader */
    int64_t     guess; /* sum that is tried first: what layouts of about that size had room for */
    int64_t     peak;  /* of the last layout */
    int        *place, *best;
    int64_t     best_peak; /* of the best layout */
    int64_t     best_sum;  /* sum for which its places were made */
    double      best_time; /* nanoseconds of a run with its places; INFINITY: there is none */
    double     *to;        /* [nblock] */
    bool       *core;
    int         left; /* layouts that may still be made */
} Fit;

/* 0: it fits, 1: it does not, -1: failed. */
static int lay_out(Fit *f)
{
    memset(f->core, 0, (size_t)f->g->p->nblock * sizeof *f->core);
    f->left--;
    if (f->g->pack.pack(f->g->pack.context, f->place, f->kept, f->arena, &f->peak, f->core) < 0)
        return -1;
    return f->peak > f->arena;
}

/* Takes the block in the layout's core that waits longest for its reader, and loads it one step later. Blocks behind it
 * whose loads would then begin earlier move along. False: there is no such block. */
static bool delay_one(Fit *f)
{
    const Pipeline *p = f->g->p;
    int             longest = -1;

    for (int b = 0; b < p->nblock; b++)
        if (f->core[b] && !f->kept[b] && f->place[b] < p->block[b].first &&
            (longest < 0 || p->block[b].first - f->place[b] > p->block[longest].first - f->place[longest]))
            longest = b;
    if (longest < 0)
        return false;
    f->place[longest]++;
    for (int b = longest + 1; b < p->nblock; b++)
        if (!f->kept[b] && f->place[b] < f->place[longest])
            f->place[b] = f->place[longest];
    return true;
}

/* The layout becomes the best one if a run with its places takes less time. */
static void take_faster(Fit *f, int64_t sum)
{
    PipelineTrace trace = {f->to, NULL, NULL};
    double        time = pipeline_run(f->g->p, f->place, f->kept, &trace).time;

    if (time >= f->best_time)
        return;
    memcpy(f->best, f->place, (size_t)f->g->p->nblock * sizeof *f->best);
    f->best_time = time;
    f->best_peak = f->peak;
    f->best_sum = sum;
}

/* Finds places for a sum of bytes, with so many loads at a time (0: any number), and lays them out. If that nearly
 * fits, a few blocks are loaded later. Returns as lay_out does. */
static int fit_sum(Fit *f, int64_t sum, int ahead)
{
    enum { DELAYS = 3 };
    int status;

    places_earliest(f->g->places, f->kept, sum, ahead, f->place);
    places_latest(f->g->places, f->kept, f->margin, f->place);
    status = lay_out(f);
    for (int i = 0; i < DELAYS && status == 1 && f->left > 0 && f->peak < f->arena + f->arena / 32; i++)
        status = delay_one(f) ? lay_out(f) : 2;
    if (status == 0)
        take_faster(f, sum);
    return status == 2 ? 1 : status;
}

/* Blocks that wait long for their readers cut the free bytes beside the largest tensors into pieces. So fewer loads are
 * begun at a time: the most with which the sum has a layout. Returns as lay_out does. */
static int fit_fewer(Fit *f, int64_t sum)
{
    static const int ahead[] = {8, 4, 3, 2};
    int              status = 1;

    for (int i = 0; i < 4 && status == 1 && f->left > 0; i++)
        status = fit_sum(f, sum, ahead[i]);
    return status;
}

/* Finds the places of the largest sum whose layout fits. A sum that does not fit shrinks by as much as its layout was
 * too large, at least by 2 %. From a sum that fits, the search goes twice half the way back to the last sum that
 * failed, or to the largest sum. Returns as lay_out does; *failed: the least sum that did not fit, 0: none. */
static int fit_largest(Fit *f, int64_t most, int64_t *failed)
{
    int64_t sum = int_max(f->least, int_min(f->guess, most));
    int     status = 1;

    *failed = sum < most ? most : 0;
    while (status == 1 && f->left > 0) {
        status = fit_sum(f, sum, 0);
        if (status != 1 || sum == f->least)
            break;
        *failed = sum;
        sum = (int64_t)((double)sum * fmin(0.98, (double)f->arena / (double)f->peak));
        sum = int_max(sum, f->least);
    }
    for (int i = 0; i < 2 && status == 0 && *failed - f->best_sum > *failed / 50 && f->left > 0; i++) {
        sum = f->best_sum + (*failed - f->best_sum) / 2;
        status = fit_sum(f, sum, 0);
        *failed = status == 1 ? sum : *failed;
        status = status == 1 ? 0 : status;
    }
    return status;
}

/* Finds places that can be laid out in the arena: those of the largest sum that has a layout, or those of more bytes
 * and fewer loads at a time where they take less time; each load right before its reader where nothing else fits.
 * Returns as lay_out does, with the best layout where that is 0. */
static int fit(Fit *f)
{
    int64_t most = int_max(f->least, (int64_t)((double)f->arena / fmin(f->g->loss, 1))), failed;
    int     status;

    f->left = f->g->options.packs;
    if (fit_largest(f, most, &failed) < 0)
        return -1;
    if ((f->best_time == INFINITY || failed) && fit_fewer(f, most) < 0)
        return -1;
    if (f->best_time == INFINITY && fit_fewer(f, f->least) < 0)
        return -1;
    if (f->best_time < INFINITY)
        return 0;
    place_at_readers(f->g->p, f->best);
    memcpy(f->place, f->best, (size_t)f->g->p->nblock * sizeof *f->best);
    f->best_sum = f->least;
    status = lay_out(f);
    f->best_peak = f->peak;
    return status;
}

/* loss: bytes of layouts of about that size over their sums. */
static Fit fit_new(Budget *g, const bool *kept, int64_t arena, double loss, double margin)
{
    Fit f = {.g = g,
             .kept = kept,
             .arena = arena,
             .margin = margin,
             .guess = (int64_t)((double)arena / loss),
             .best_time = INFINITY};

    f.least = pipeline_peak(g->p, NULL, kept, g->arena).bytes;
    f.place = arena_array(g->arena, int, g->p->nblock + 1);
    f.best = arena_array(g->arena, int, g->p->nblock + 1);
    f.core = arena_array(g->arena, bool, g->p->nblock + 1);
    f.to = arena_array(g->arena, double, g->p->nblock + 1);
    return f;
}

/* Makes all levels whose arena has `bytes` at most. Loads begin early: if blocks are kept, runs wait less, and overtake
 * places that were early enough without kept blocks. Returns 0 or -1. */
static int make_levels(Budget *g, int64_t bytes)
{
    for (; g->levels < keeper_levels(g->keeper); g->levels++) {
        int64_t arena = (int64_t)ceil((double)keeper_level(g->keeper, g->levels) * g->loss);
        Fit     f;

        if (arena > bytes)
            break;
        f = fit_new(g, arena_array(g->arena, bool, g->p->nblock + 1), arena, g->level[g->levels - 1].loss, INFINITY);
        if (fit(&f) != 0) /* the smallest level's places fit */
            return -1;
        g->level[g->levels] = (LayoutLevel){f.best_peak, f.best, (double)arena / (double)int_max(f.best_sum, 1)};
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
    return pipeline_bound(g->p, (int64_t)((double)bytes / fmin(g->loss, 1)), g->arena);
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

/* Tries places made for the arena and the kept blocks of `f`. 0 or -1. */
static int try_fit(Fit *f, double loss, int64_t bytes, BudgetPlan *plan)
{
    int         status = fit(f);
    LayoutLevel level = {f->best_peak, f->best, loss};

    if (status == 0)
        try_layout(f->g, &level, f->kept, keeper_rank(f->g->keeper, level_of(f->g, f->best_peak)), bytes, plan);
    return status < 0 ? -1 : 0;
}

/* The set that is best where sums of bytes decide, with places made for it: *plan becomes that where it takes less
 * time. 0 or -1. */
static int try_search(Budget *g, int64_t bytes, BudgetPlan *plan)
{
    Keep   keep = keep_none(g->arena, g->p);
    double loss = g->loss;
    Fit    f;

    for (int i = 0; i < 3; i++) {
        double next;

        keeper_search(g->keeper, bytes, loss, &keep);
        next = g->level[level_of(g, bytes - keep.bytes)].loss; /* the loss of layouts of that size */
        if (keep.time == INFINITY || next <= loss * 1.01)
            break;
        loss = next;
    }
    if (keep.time >= plan->at.time)
        return 0;
    try_levels(g, bytes, keep.kept, plan);
    f = fit_new(g, keep.kept, bytes - keep.bytes, loss, g->options.margin);
    return try_fit(&f, loss, bytes, plan);
}

/* Places made for all bytes, with no block kept but those that then fit beside. 0 or -1. */
static int try_whole(Budget *g, int64_t bytes, BudgetPlan *plan)
{
    Fit f = fit_new(g, arena_array(g->arena, bool, g->p->nblock + 1), bytes, g->loss, g->options.margin);

    return try_fit(&f, g->loss, bytes, plan);
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

/* As few bytes as possible. */
static int fit_least(Fit *f)
{
    place_at_readers(f->g->p, f->place);
    memcpy(f->best, f->place, (size_t)f->g->p->nblock * sizeof *f->best);
    f->arena = 0;
    return lay_out(f) < 0 ? -1 : 0;
}

int budget_plan_given(Budget *g, const BudgetGiven *given, BudgetPlan *plan)
{
    BudgetPlan next = plan_new(g);
    int64_t    bytes, left = keep_given(g, given, next.kept, &bytes);
    Fit        f = fit_new(g, next.kept, given->arena, g->loss, g->options.margin);
    int        status = fit(&f);

    if (status == 1 && left > 0) {
        f = fit_new(g, next.kept, given->arena + left, g->loss, g->options.margin);
        status = fit(&f);
    }
    if (status == 1) {
        status = fit_least(&f);
        f.best_peak = f.peak;
    }
    memcpy(next.place, f.best, (size_t)g->p->nblock * sizeof *next.place);
    describe(g, f.best_peak, bytes, &next);
    next.at.bytes = int_max(given->arena, f.best_peak) + bytes;
    next.bound = bound_of(g, next.at.bytes);
    next.at.bound = next.bound.time;
    *plan = next;
    return status;
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
        if (g->pack.pack == pack_sums && try_search(g, bytes[i], &plan) < 0)
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
