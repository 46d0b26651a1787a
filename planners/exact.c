/* exact.c - the least peak by search: the partitions of a problem are solved one by one, the heaviest first.
 * The search of a partition asks whether a capacity suffices. The first capacity asked is the partition's bound, since
 * search refutes best there. A refutation raises the bound to the next capacity at which a conclusion could change.
 * Where the effort of a round ends without an answer, the gap between bound and best plan is halved as long as plans
 * are found; then the next round has twice the effort. A partition need not become better than the bound of another. */
#include "exact.h"
#include "search.h"

#include <stdlib.h>

enum { FIRST_ROUND = 20000, MOST_BUFFERS = 8000, MOST_PAIRS = 40000000 };

typedef struct Solver {
    const Space *space;
    Effort      *effort;
    int64_t      target; /* bytes: a peak of this size needs no improvement */
    int64_t     *offset; /* [space->n] best plan so far */
    int64_t     *trial;  /* [space->n] */
} Solver;

static int64_t partition_peak(const Partition *p, const int64_t *offset)
{
    int64_t peak = 0;

    for (int b = 0; b < p->n; b++) {
        int64_t end = offset[p->origin[b]] + p->need[b];
        peak = end > peak ? end : peak;
    }
    return peak;
}

/* Searches once at this capacity, and keeps the plan that it finds. */
static SearchAnswer try_capacity(Solver *v, const Partition *p, Search *search, int64_t capacity, int64_t nodes,
                                 int64_t *next)
{
    int64_t      given = smaller(nodes, v->effort->nodes);
    Effort       share = {given, v->effort->deadline, v->effort->seed};
    SearchAnswer answer = search_run(search, capacity, &share, v->trial, next);

    v->effort->nodes -= given - share.nodes;
    if (answer == SEARCH_FOUND)
        for (int b = 0; b < p->n; b++)
            v->offset[p->origin[b]] = v->trial[b];
    return answer;
}

/* Halves the gap between the capacities that are refuted or too hard and the best plan. *bound may rise. */
static SearchAnswer close_in(Solver *v, const Partition *p, Search *search, int64_t *bound, int64_t nodes)
{
    int64_t hard = *bound, next;

    while (!effort_is_over(v->effort)) {
        int64_t      best = partition_peak(p, v->offset), middle = hard + (best - hard) / 2;
        SearchAnswer answer;
        middle -= middle % p->granule;
        if (middle <= hard)
            break;
        answer = try_capacity(v, p, search, middle, nodes, &next);
        if (answer == SEARCH_NO_MEMORY)
            return answer;
        if (answer == SEARCH_NONE)
            *bound = next > *bound ? next : *bound;
        if (answer != SEARCH_FOUND)
            hard = middle > *bound ? middle : *bound;
    }
    return SEARCH_STOPPED;
}

/* Rounds of growing effort until the partition's peak is proven least, or as small as the target. */
static int solve_partition(Solver *v, const Partition *p, Search *search, int64_t *bound)
{
    int64_t nodes = FIRST_ROUND, next;

    for (;;) {
        int64_t      goal = *bound > v->target ? *bound : v->target;
        SearchAnswer answer;
        if (partition_peak(p, v->offset) <= goal || effort_is_over(v->effort))
            return PLAN_OK;
        answer = try_capacity(v, p, search, goal, nodes, &next);
        if (answer == SEARCH_NONE)
            *bound = next < partition_peak(p, v->offset) ? next : partition_peak(p, v->offset);
        if (answer == SEARCH_STOPPED && v->target < *bound + p->granule)
            answer = close_in(v, p, search, bound, nodes);
        if (answer == SEARCH_NO_MEMORY)
            return PLAN_ENOMEM;
        if (answer == SEARCH_STOPPED)
            nodes = nodes < INT64_MAX / 4 ? nodes * 2 : nodes;
    }
}

static int heavier_first(const void *left, const void *right)
{
    const Partition *const *a = left, *const *b = right;
    return (*a)->bound != (*b)->bound ? ((*a)->bound > (*b)->bound ? -1 : 1) : (*a)->origin[0] - (*b)->origin[0];
}

/* Are there too many pairs of a buffer and a section? */
static bool too_large(const Space *s)
{
    int64_t pairs = 0;

    for (int b = 0; b < s->n; b++)
        pairs += s->end[b] - s->begin[b];
    return pairs > MOST_PAIRS;
}

/* Records a proof: the partition needs so many bytes. */
static void prove(const Partition *p, int64_t own, int64_t *bound, bool *core, int n)
{
    *bound = own;
    for (int b = 0; b < n && core; b++)
        core[b] = false;
    for (int b = 0; b < p->n && core; b++)
        core[p->origin[b]] = true;
}

int exact_improve(const Space *s, Effort *effort, int64_t target, int64_t *offset, int64_t *bound, bool *core)
{
    Partition        *partition;
    const Partition **order;
    int               count, status;
    Solver            v = {s, effort, target > *bound ? target : *bound, offset, NULL};

    if (!s->plain || s->nregion > 1 || too_large(s))
        return PLAN_OK;
    status = partitions_open(s, &partition, &count);
    if (status)
        return status;
    v.trial = malloc(((size_t)s->n + 1) * sizeof *v.trial);
    order = malloc(((size_t)count + 1) * sizeof *order);
    if (!v.trial || !order)
        status = PLAN_ENOMEM;
    for (int k = 0; k < count && !status; k++)
        order[k] = &partition[k];
    if (!status)
        qsort(order, (size_t)count, sizeof *order, heavier_first);
    for (int k = 0; k < count && !status; k++) {
        int64_t own = order[k]->bound;
        Search *search;
        if (order[k]->n > MOST_BUFFERS || partition_peak(order[k], offset) <= (own > v.target ? own : v.target))
            continue;
        search = search_open(order[k]);
        status = search ? solve_partition(&v, order[k], search, &own) : PLAN_ENOMEM;
        if (own > *bound)
            prove(order[k], own, bound, core, s->n);
        v.target = own > v.target ? own : v.target;
        if (search)
            search_close(search);
    }
    free(v.trial);
    free(order);
    partitions_close(partition, count);
    return status;
}
