/* each_region.c - problems in which every buffer may live in one region only: each region is a problem of its own, with
 * a bound and a proof of its own; peak and bound are their sums. */
#include "subproblem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The region that the buffer must live in, or -1. */
static int only_region(const PlanProblem *problem, int buffer)
{
    for (int r = 0; r < problem->nregion; r++)
        if (problem->buffer[buffer].regions == 1u << r)
            return r;
    return -1;
}

bool plan_regions_are_apart(const PlanProblem *problem)
{
    for (int i = 0; i < problem->nbuffer; i++)
        if (only_region(problem, i) < 0)
            return false;
    return problem->nregion > 1;
}

/* How much worse a status is than others: one region without a plan decides for the whole. */
static int severity(PlanStatus status)
{
    static const int of[] = {[PLAN_OPTIMAL] = 0, [PLAN_FEASIBLE] = 1, [PLAN_LIMIT] = 2, [PLAN_INFEASIBLE] = 3};
    return of[status];
}

/* Adds the answer of one region to that of the whole. */
static void take_answer(const SubProblem *sub, int region, const PlanResult *found, PlanResult *result)
{
    for (int i = 0; i < sub->problem.nbuffer; i++) {
        result->offset[sub->origin[i]] = found->offset[i];
        result->region[sub->origin[i]] = region;
        if (result->core)
            result->core[sub->origin[i]] = found->core[i];
    }
    result->peak += found->peak;
    result->bound += found->bound;
    result->nodes += found->nodes;
    if (severity(found->status) > severity(result->status)) {
        result->status = found->status;
        snprintf(result->why, sizeof result->why, "region %d: %.140s", region, found->why);
    }
    if (found->proof == PLAN_PROOF_NONE)
        result->proof = PLAN_PROOF_NONE;
}

/* Plans one region by itself. warm, found->offset, found->core: room for all buffers; warm is NULL without one. */
static int plan_region(SubProblem *sub, const PlanRegion *region, const PlanLimits *limits, PlanFn place, int64_t *warm,
                       PlanResult *found)
{
    PlanLimits own = {0};

    sub->problem.region = region;
    sub->problem.nregion = 1;
    if (limits)
        own =
            (PlanLimits){.nodes = limits->nodes, .seconds = limits->seconds, .seed = limits->seed, .warm_start = warm};
    for (int i = 0; warm && i < sub->problem.nbuffer; i++)
        warm[i] = limits->warm_start[sub->origin[i]];
    return place(&sub->problem, &own, found);
}

/* Plans one region and adds its answer. *placed becomes false if its fixed buffers collide, so that it has none. */
static int plan_part(const PlanProblem *whole, const PlanLimits *limits, const int32_t *only, int region, PlanFn place,
                     bool *placed, PlanResult *result)
{
    SubProblem sub;
    size_t     room = (size_t)whole->nbuffer + 1;
    int64_t   *warm = limits && limits->warm_start ? calloc(room, sizeof *warm) : NULL;
    PlanResult found = {.offset = calloc(room, sizeof *found.offset), .core = calloc(room, sizeof *found.core)};
    bool       open = subproblem_open(&sub, whole, only, region);
    int        code = PLAN_ENOMEM;

    snprintf(found.why, sizeof found.why, "out of memory");
    if (open && found.offset && found.core && (warm || !limits || !limits->warm_start)) {
        code = plan_region(&sub, &whole->region[region], limits, place, warm, &found);
    }
    if (code == PLAN_OK) {
        take_answer(&sub, region, &found, result);
        *placed = *placed && (severity(found.status) < severity(PLAN_LIMIT) || found.peak > 0);
    } else {
        memcpy(result->why, found.why, sizeof result->why);
    }
    subproblem_close(&sub);
    free(warm);
    free(found.offset);
    free(found.core);
    return code;
}

/* Is this a problem for plan_each_region, and an answer with room for the regions? */
static int check_arguments(const PlanProblem *problem, PlanResult *result)
{
    int code = plan_validate(problem, result->why);

    if (code != PLAN_OK)
        return code;
    if (plan_regions_are_apart(problem) && result->region)
        return PLAN_OK;
    snprintf(result->why, sizeof result->why,
             result->region ? "a buffer may live in several regions, or there is one region only"
                            : "several regions need an array for the answer's regions");
    return PLAN_EINVAL;
}

/* States what is known of the sums. Where a region has no plan, `why` has its reason already. */
static void conclude(PlanResult *result)
{
    if (result->status == PLAN_OPTIMAL)
        snprintf(result->why, sizeof result->why, "optimal: every memory equals its bound");
    else if (result->status == PLAN_FEASIBLE)
        snprintf(result->why, sizeof result->why, "gap %.2f %%",
                 100.0 * (double)(result->peak - result->bound) / (double)result->bound);
}

int plan_each_region(const PlanProblem *problem, const PlanLimits *limits, PlanFn place, PlanResult *result)
{
    int32_t *only;
    bool     placed = true;
    int      code = check_arguments(problem, result);

    result->peak = result->bound = result->nodes = 0;
    result->status = PLAN_OPTIMAL;
    result->proof = PLAN_PROOF_SEARCH;
    result->witness = -1;
    if (code != PLAN_OK)
        return code;
    only = calloc((size_t)problem->nbuffer + 1, sizeof *only);
    if (!only) {
        snprintf(result->why, sizeof result->why, "out of memory");
        return PLAN_ENOMEM;
    }
    for (int i = 0; i < problem->nbuffer; i++)
        only[i] = only_region(problem, i);
    for (int r = 0; r < problem->nregion && code == PLAN_OK; r++)
        code = plan_part(problem, limits, only, r, place, &placed, result);
    free(only);
    if (!placed)
        result->peak = 0;
    if (code == PLAN_OK)
        conclude(result);
    return code;
}
