/* place.c - the best plan found by every strategy together.
 * Greedy orders first, cheapest first; the search for a smaller plan stops as soon as the peak equals the bound. */
#include "space.h"

#include <stdlib.h>
#include <string.h>

/* Does the plan keep to the regions, and is nothing smaller asked for or possible? */
static bool satisfied(const Space *s, const PlanLimits *limits, int64_t peak, int64_t bound)
{
    return peak <= bound || (limits->fit && s->nregion == 1 && peak <= s->region[0].size);
}

/* Keeps the plan in offset[], region[] if it is the smallest yet; with several regions the first that fits comes before
 * all that do not, which greedy_place shows by its peak alone since overflow only ever adds. */
static void keep_best(const Space *s, const int64_t *offset, const int32_t *region, PlanResult *result)
{
    int64_t peak = space_peak(s, offset, region);

    if (peak >= result->peak)
        return;
    result->peak = peak;
    memcpy(result->offset, offset, (size_t)s->n * sizeof *offset);
    if (result->region)
        memcpy(result->region, region, (size_t)s->n * sizeof *region);
}

static int place(const Space *s, const PlanLimits *limits, PlanResult *result)
{
    int64_t *offset = calloc((size_t)s->n + 1, sizeof *offset);
    int32_t *region = calloc((size_t)s->n + 1, sizeof *region);
    int      status = offset && region ? PLAN_OK : PLAN_ENOMEM;

    result->peak = INT64_MAX;
    for (int order = 0; order < GREEDY_ORDERS && !status; order++)
        for (int tight = 0; tight < 2 && !status && !satisfied(s, limits, result->peak, result->bound); tight++) {
            status = greedy_place(s, (GreedyOrder)order, tight, offset, region);
            result->nodes += s->n;
            if (!status)
                keep_best(s, offset, region, result);
        }
    free(offset);
    free(region);
    return status;
}

int plan_place(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, place);
}

const PlanPlanner plan_planners[] = {
    {"best", plan_place, "everything together"},
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
