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

/* Adds the answer of one region to that of the whole. */
static void take_answer(const SubProblem *sub, int region, const PlanResult *found, PlanResult *result)
{
    for (int i = 0; i < sub->problem.nbuffer; i++) {
        result->offset[sub->origin[i]] = found->offset[i];
        if (result->region)
            result->region[sub->origin[i]] = region;
        if (result->core)
            result->core[sub->origin[i]] = found->core[i];
    }
    result->peak += found->peak;
    result->bound += found->bound;
    result->nodes += found->nodes;
    if (found->status > result->status)
        result->status = found->status;
    if (found->proof == PLAN_PROOF_NONE)
        result->proof = PLAN_PROOF_NONE;
}

/* Plans one region. warm, found->offset, found->core: room for all buffers; warm is NULL without such a plan. */
static int plan_region(const SubProblem *sub, const PlanLimits *limits, PlanFn place, int64_t *warm, PlanResult *found)
{
    PlanLimits own = {0};

    if (limits)
        own =
            (PlanLimits){.nodes = limits->nodes, .seconds = limits->seconds, .seed = limits->seed, .warm_start = warm};
    for (int i = 0; warm && i < sub->problem.nbuffer; i++)
        warm[i] = limits->warm_start[sub->origin[i]];
    return place(&sub->problem, &own, found);
}

static int plan_part(const PlanProblem *whole, const PlanLimits *limits, const int32_t *only, int region, PlanFn place,
                     PlanResult *result)
{
    SubProblem sub;
    size_t     room = (size_t)whole->nbuffer + 1;
    int64_t   *warm = limits && limits->warm_start ? calloc(room, sizeof *warm) : NULL;
    PlanResult found = {.offset = calloc(room, sizeof *found.offset), .core = calloc(room, sizeof *found.core)};
    bool       open = subproblem_open(&sub, whole, only, region);
    int        code = PLAN_ENOMEM;

    if (open && found.offset && found.core && (warm || !limits || !limits->warm_start)) {
        code = plan_region(&sub, limits, place, warm, &found);
        if (code == PLAN_OK)
            take_answer(&sub, region, &found, result);
        else
            memcpy(result->why, found.why, sizeof result->why);
    }
    subproblem_close(&sub);
    free(warm);
    free(found.offset);
    free(found.core);
    return code;
}

int plan_each_region(const PlanProblem *problem, const PlanLimits *limits, PlanFn place, PlanResult *result)
{
    int32_t *only = calloc((size_t)problem->nbuffer + 1, sizeof *only);
    int      code = only ? PLAN_OK : PLAN_ENOMEM;

    for (int i = 0; only && i < problem->nbuffer; i++)
        only[i] = only_region(problem, i);
    result->peak = result->bound = result->nodes = 0;
    result->status = PLAN_OPTIMAL;
    result->proof = PLAN_PROOF_SEARCH;
    result->witness = -1;
    for (int r = 0; r < problem->nregion && code == PLAN_OK; r++)
        code = plan_part(problem, limits, only, r, place, result);
    free(only);
    if (code == PLAN_OK && result->peak == result->bound)
        snprintf(result->why, sizeof result->why, "optimal: every memory equals its bound");
    else if (code == PLAN_OK)
        snprintf(result->why, sizeof result->why, "gap %.2f %%",
                 100.0 * (double)(result->peak - result->bound) / (double)result->bound);
    return code;
}
