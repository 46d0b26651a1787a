/* each_region.c - problems in which every buffer may live in one region only: each region is a problem of its own, with
 * a bound and a proof of its own; peak and bound are their sums. */
#include "planner.h"

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

/* The part of a problem that lies in one region. */
typedef struct RegionPart {
    PlanProblem  problem;
    PlanBuffer  *buffer;
    PlanSpan    *span;
    PlanOverlap *overlap;
    int         *origin, *index; /* by position: buffer of the whole; by buffer: position, or -1 */
    int64_t     *offset, *warm;
    bool        *core;
} RegionPart;

static void part_free(RegionPart *part)
{
    free(part->buffer);
    free(part->span);
    free(part->overlap);
    free(part->origin);
    free(part->index);
    free(part->offset);
    free(part->warm);
    free(part->core);
}

static void *room_for(int count, size_t each)
{
    return calloc((size_t)count + 1, each);
}

/* Makes the part; false: out of memory. */
static bool part_make(const PlanProblem *whole, int region, const int64_t *warm, RegionPart *part)
{
    *part = (RegionPart){.buffer = room_for(whole->nbuffer, sizeof *part->buffer),
                         .span = room_for(whole->nspan, sizeof *part->span),
                         .overlap = room_for(whole->noverlap, sizeof *part->overlap),
                         .origin = room_for(whole->nbuffer, sizeof *part->origin),
                         .index = room_for(whole->nbuffer, sizeof *part->index),
                         .offset = room_for(whole->nbuffer, sizeof *part->offset),
                         .warm = room_for(whole->nbuffer, sizeof *part->warm),
                         .core = room_for(whole->nbuffer, sizeof *part->core)};
    if (!part->buffer || !part->span || !part->overlap || !part->origin || !part->index || !part->offset ||
        !part->warm || !part->core)
        return false;
    for (int i = 0; i < whole->nbuffer; i++) {
        int at = part->problem.nbuffer;

        part->index[i] = -1;
        if (only_region(whole, i) != region)
            continue;
        part->buffer[at] = whole->buffer[i];
        part->buffer[at].regions = 0;
        part->warm[at] = warm ? warm[i] : 0;
        part->origin[at] = i;
        part->index[i] = part->problem.nbuffer++;
    }
    for (int i = 0; i < whole->nspan; i++) {
        PlanSpan span = whole->span[i];

        span.buffer = part->index[span.buffer];
        if (span.buffer >= 0)
            part->span[part->problem.nspan++] = span;
    }
    for (int i = 0; i < whole->noverlap; i++) {
        PlanOverlap overlap = whole->overlap[i];

        overlap.a = part->index[overlap.a];
        overlap.b = part->index[overlap.b];
        if (overlap.a >= 0 && overlap.b >= 0)
            part->overlap[part->problem.noverlap++] = overlap;
    }
    part->problem.buffer = part->buffer;
    part->problem.span = part->span;
    part->problem.overlap = part->overlap;
    part->problem.nstep = whole->nstep;
    return true;
}

/* Adds the answer of one part to that of the whole. */
static void part_take(const RegionPart *part, int region, const PlanResult *found, PlanResult *result)
{
    for (int i = 0; i < part->problem.nbuffer; i++) {
        result->offset[part->origin[i]] = found->offset[i];
        if (result->region)
            result->region[part->origin[i]] = region;
        if (result->core)
            result->core[part->origin[i]] = found->core[i];
    }
    result->peak += found->peak;
    result->bound += found->bound;
    result->nodes += found->nodes;
    if (found->status > result->status)
        result->status = found->status;
    if (found->proof == PLAN_PROOF_NONE)
        result->proof = PLAN_PROOF_NONE;
}

static int plan_part(const PlanProblem *whole, const PlanLimits *limits, int region, PlanFn place, PlanResult *result)
{
    RegionPart part;
    PlanLimits own = {0};
    PlanResult found = {0};
    int        code = PLAN_ENOMEM;

    if (limits)
        own = (PlanLimits){.nodes = limits->nodes, .seconds = limits->seconds, .seed = limits->seed};
    if (part_make(whole, region, limits ? limits->warm_start : NULL, &part)) {
        own.warm_start = limits && limits->warm_start ? part.warm : NULL;
        found.offset = part.offset;
        found.core = part.core;
        code = place(&part.problem, &own, &found);
        if (code == PLAN_OK)
            part_take(&part, region, &found, result);
        else
            memcpy(result->why, found.why, sizeof result->why);
    }
    part_free(&part);
    return code;
}

int plan_each_region(const PlanProblem *problem, const PlanLimits *limits, PlanFn place, PlanResult *result)
{
    int code = PLAN_OK;

    result->peak = result->bound = result->nodes = 0;
    result->status = PLAN_OPTIMAL;
    result->proof = PLAN_PROOF_SEARCH;
    result->witness = -1;
    for (int r = 0; r < problem->nregion && code == PLAN_OK; r++)
        code = plan_part(problem, limits, r, place, result);
    if (code == PLAN_OK && result->peak == result->bound)
        snprintf(result->why, sizeof result->why, "optimal: every memory equals its bound");
    else if (code == PLAN_OK)
        snprintf(result->why, sizeof result->why, "gap %.2f %%",
                 100.0 * (double)(result->peak - result->bound) / (double)result->bound);
    return code;
}
