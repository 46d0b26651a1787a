/* place.c - the best plan that all strategies find together.
 * The greedy orders come first, then the skyline's, then exact search and local search from the best of these plans.
 * All of them stop as soon as the peak equals the bound, or fits where nothing more is asked for. */
#include "disjunctive.h"
#include "exact.h"
#include "local_search.h"
#include "regions.h"
#include "slack.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FOR_GREEDY = 6000 };
enum { LITTLE = 1024 }; /* 1/LITTLE of the peak is little to gain */

typedef struct Portfolio {
    const Space      *space;
    const PlanLimits *limits;
    PlanResult       *result; /* holds the best plan so far, its peak, and the bound */
    int64_t          *offset; /* [n] the plan being made */
    int32_t          *region; /* [n] */
    Effort            effort;
} Portfolio;

/* The target: a plan with this peak needs no improvement. */
static int64_t target_peak(const Portfolio *f)
{
    bool fit = f->limits->fit && f->space->nregion == 1 && f->space->region[0].size < INT64_MAX;
    return fit && f->space->region[0].size > f->result->bound ? f->space->region[0].size : f->result->bound;
}

/* The upper bound: a plan with a larger peak is of no use. */
static int64_t upper_bound(const Portfolio *f)
{
    return f->limits->upper_bound > 0 && f->space->nregion == 1 ? f->limits->upper_bound : INT64_MAX;
}

static bool satisfied(const Portfolio *f)
{
    return f->result->bound > upper_bound(f) || f->result->peak <= target_peak(f);
}

/* Keeps the new plan if it is the smallest so far. */
static void keep_best(Portfolio *f)
{
    int64_t peak = space_peak(f->space, f->offset, f->region);

    if (peak >= f->result->peak)
        return;
    f->result->peak = peak;
    memcpy(f->result->offset, f->offset, (size_t)f->space->n * sizeof *f->offset);
    if (f->result->region)
        memcpy(f->result->region, f->region, (size_t)f->space->n * sizeof *f->region);
}

/* Raises the bound to what a search has proven of the whole problem. */
static void raise_bound(Portfolio *f, int64_t bound)
{
    if (bound <= f->result->bound)
        return;
    f->result->bound = bound;
    f->result->proof = PLAN_PROOF_SEARCH;
}

static bool is_spent(const Portfolio *f)
{
    Effort left = f->effort;

    left.nodes -= f->result->nodes;
    return effort_is_over(&left);
}

/* Warm start: a greedy placement in the order of the plan of a similar problem, from its bottom to its top. */
static int try_warm_start(Portfolio *f)
{
    Greedy *greedy = greedy_open(f->space);
    int    *buffer = malloc(((size_t)f->space->n + 1) * sizeof *buffer);
    int     status = greedy && buffer ? greedy_rank_plan(f->space, f->limits->warm_start, buffer) : PLAN_ENOMEM;

    if (!status) {
        greedy_place_ranked(greedy, buffer, false, f->offset, f->region);
        f->result->nodes += f->space->n;
        keep_best(f);
    }
    greedy_close(greedy);
    free(buffer);
    return status;
}

static int try_greedy(Portfolio *f)
{
    int status = PLAN_OK;

    if (f->space->n > MOST_FOR_GREEDY && f->space->plain && !f->space->fixed && f->space->nregion == 1)
        return PLAN_OK; /* quadratic; the skyline is better there */
    for (int order = 0; order < GREEDY_ORDERS && !status; order++)
        for (int tight = 0; tight < 2 && !status && (f->result->peak == INT64_MAX || !satisfied(f)); tight++) {
            status = greedy_place(f->space, (GreedyOrder)order, tight, f->offset, f->region);
            f->result->nodes += f->space->n;
            if (!status)
                keep_best(f);
        }
    return status;
}

static int try_skyline(Portfolio *f)
{
    int status = PLAN_OK;

    if (f->space->fixed || f->space->nregion > 1)
        return PLAN_OK;
    for (int order = 0; order < SKYLINE_ORDERS && !status && !satisfied(f) && (order == 0 || !is_spent(f)); order++) {
        status = skyline_place(f->space, order, f->offset);
        memset(f->region, 0, (size_t)f->space->n * sizeof *f->region);
        f->result->nodes += f->space->n;
        if (!status)
            keep_best(f);
    }
    return status;
}

static int try_exact(Portfolio *f)
{
    int64_t before = f->effort.nodes, bound = f->result->bound;
    int     status;

    if (satisfied(f) || (f->space->nregion == 1 && bound > f->space->region[0].size))
        return PLAN_OK;
    memcpy(f->offset, f->result->offset, (size_t)f->space->n * sizeof *f->offset);
    status = exact_improve(f->space, &f->effort, target_peak(f), f->offset, &bound, f->result->core);
    f->result->nodes += before - f->effort.nodes;
    if (status)
        return status;
    raise_bound(f, bound);
    if (f->space->plain && f->space->nregion == 1)
        keep_best(f);
    return PLAN_OK;
}

/* Disjunctive search from the new plan. */
static int try_disjunctive(Portfolio *f)
{
    int64_t bound = f->result->bound;
    int     status =
        disjunctive_improve(f->space, &f->effort, target_peak(f), upper_bound(f), f->offset, &bound, f->result->core);

    keep_best(f);
    raise_bound(f, bound);
    return status;
}

/* Local search down to a peak, then disjunctive search if it gained. */
static int try_local_search(Portfolio *f, int64_t peak)
{
    int status = local_search_improve(f->space, &f->effort, peak, f->offset);

    return status || space_peak(f->space, f->offset, NULL) >= f->result->peak ? status : try_disjunctive(f);
}

/* Tail slack: wins the last bytes, where less than two granules are missing. */
static int try_slack(Portfolio *f)
{
    int status = slack_improve(f->space, &f->effort, f->result->witness, target_peak(f), f->offset);

    keep_best(f);
    return status;
}

/* Problems with spans of parts of buffers or overlap constraints: disjunctive search; if it neither ends nor succeeds,
 * local search until little is left to gain, so that effort for a proof is left, and then local search to the end. */
static int try_constrained(Portfolio *f)
{
    int64_t before = f->effort.nodes;
    int     status;

    if (f->space->plain || f->space->nregion > 1 || satisfied(f))
        return PLAN_OK;
    memcpy(f->offset, f->result->offset, (size_t)f->space->n * sizeof *f->offset);
    memset(f->region, 0, (size_t)f->space->n * sizeof *f->region);
    status = try_disjunctive(f);
    if (!status && !satisfied(f))
        status = try_slack(f);
    if (!status && !satisfied(f))
        status = try_local_search(f, target_peak(f) + target_peak(f) / LITTLE);
    if (!status && !satisfied(f))
        status = try_local_search(f, target_peak(f));
    f->result->nodes += before - f->effort.nodes;
    return status;
}

static int try_regions(Portfolio *f)
{
    bool    proven;
    int64_t before = f->effort.nodes;
    int     status = regions_place(f->space, &f->effort, f->result->offset, f->result->region, &proven);

    f->result->nodes += before - f->effort.nodes;
    if (proven)
        f->result->proof = PLAN_PROOF_SEARCH;
    return status;
}

static int run(const Space *s, const PlanLimits *limits, int64_t default_nodes, PlanResult *result)
{
    Portfolio f = {s, limits, result, NULL, NULL, {default_nodes, 0, limits->seed}};
    int       status;

    if (limits->nodes > 0)
        f.effort.nodes = limits->nodes;
    else if (limits->seconds > 0)
        f.effort.nodes = INT64_MAX;
    if (limits->seconds > 0)
        f.effort.deadline = clock() + (clock_t)(limits->seconds * CLOCKS_PER_SEC) + 1;
    if (space_has_choice(s))
        return try_regions(&f);
    f.offset = calloc((size_t)s->n + 1, sizeof *f.offset);
    f.region = calloc((size_t)s->n + 1, sizeof *f.region);
    result->peak = INT64_MAX;
    status = f.offset && f.region ? PLAN_OK : PLAN_ENOMEM;
    if (!status && limits->warm_start)
        status = try_warm_start(&f);
    if (!status && (result->peak == INT64_MAX || !satisfied(&f)))
        status = try_greedy(&f);
    if (!status)
        status = try_skyline(&f);
    if (!status)
        status = try_exact(&f);
    if (!status)
        status = try_constrained(&f);
    free(f.offset);
    free(f.region);
    return status;
}

static int skyline(const Space *s, const PlanLimits *limits, int64_t default_nodes, PlanResult *result)
{
    if (!s->plain || s->fixed || s->nregion > 1)
        return run(s, limits, default_nodes, result);
    result->nodes += s->n;
    return skyline_place(s, 0, result->offset);
}

int plan_place(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, run, PLAN_DEFAULT_NODES);
}

int plan_exact(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, run, INT64_MAX);
}

int plan_skyline(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, skyline, 0);
}

const PlanPlanner plan_planners[] = {
    {"best", plan_place, "every strategy, stopping at the default effort"},
    {"exact", plan_exact, "every strategy, searching until the proof"},
    {"skyline", plan_skyline, "lowest support first, by area; scales to 10^5 buffers"},
    {"first-fit", plan_first_fit, "by birth, lowest gap"},
    {"best-fit", plan_best_fit, "by birth, tightest gap"},
    {"longer-first", plan_longer_first, "by lifetime, lowest gap"},
    {"bigger-first", plan_bigger_first, "by size, lowest gap"},
    {NULL, NULL, NULL},
};

const PlanPlanner *plan_planner(const char *name)
{
    for (const PlanPlanner *p = plan_planners; p->name; p++)
        if (!strcmp(p->name, name))
            return p;
    return NULL;
}
