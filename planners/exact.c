/* exact.c - the smallest peak by search: the parts of a problem are solved one by one, the heaviest first.
 * For a part the capacity starts at its bound, where search is sharpest. A refuted capacity raises the bound to the
 * next one at which any conclusion could change. Where the effort of a round ends without an answer, the gap between
 * bound and best plan is halved as long as plans are found; then the next round has twice the effort. A part need not
 * be better than the bound of another. Only plain problems of one region; see apart.c for the others. */
#include "exact.h"
#include "search.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROUND = 20000, MOST_BUFFERS = 8000, MOST_PAIRS = 40000000 };

typedef struct Solver {
    const Space *space;
    Effort      *effort;
    int64_t      enough; /* a peak of this size is as good as any smaller one */
    int64_t     *offset; /* [space->n] best plan so far */
    int64_t     *trial;  /* [space->n] */
} Solver;

static int64_t part_peak(const Part *p, const int64_t *offset)
{
    int64_t peak = 0;

    for (int b = 0; b < p->n; b++) {
        int64_t end = offset[p->origin[b]] + p->need[b];
        peak = end > peak ? end : peak;
    }
    return peak;
}

/* One search at capacity; keeps what it finds. */
static SearchAnswer try_capacity(Solver *v, const Part *p, Search *search, int64_t capacity, int64_t nodes,
                                 int64_t *next)
{
    int64_t      before = v->effort->nodes;
    Effort       share = *v->effort;
    SearchAnswer answer;

    share.nodes = nodes < before ? nodes : before;
    answer = search_run(search, capacity, &share, v->trial, next);
    v->effort->nodes -= (nodes < before ? nodes : before) - share.nodes;
    if (answer == SEARCH_FOUND)
        for (int b = 0; b < p->n; b++)
            v->offset[p->origin[b]] = v->trial[b];
    return answer;
}

/* Halves the gap between what is refuted or too hard and the best plan. *bound may rise. */
static SearchAnswer close_in(Solver *v, const Part *p, Search *search, int64_t *bound, int64_t nodes)
{
    int64_t hard = *bound, next;

    while (!effort_is_over(v->effort)) {
        int64_t      best = part_peak(p, v->offset), middle = hard + (best - hard) / 2;
        SearchAnswer answer;
        middle -= middle % p->grain;
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

/* Rounds of growing effort until the part's peak is proven, or small enough. */
static int solve_part(Solver *v, const Part *p, Search *search, int64_t *bound)
{
    int64_t nodes = FIRST_ROUND, next;

    for (;;) {
        int64_t      goal = *bound > v->enough ? *bound : v->enough;
        SearchAnswer answer;
        if (part_peak(p, v->offset) <= goal || effort_is_over(v->effort))
            return PLAN_OK;
        answer = try_capacity(v, p, search, goal, nodes, &next);
        if (answer == SEARCH_NONE)
            *bound = next < part_peak(p, v->offset) ? next : part_peak(p, v->offset);
        if (answer == SEARCH_STOPPED && v->enough < *bound + p->grain)
            answer = close_in(v, p, search, bound, nodes);
        if (answer == SEARCH_NO_MEMORY)
            return PLAN_ENOMEM;
        if (answer == SEARCH_STOPPED)
            nodes = nodes < INT64_MAX / 4 ? nodes * 2 : nodes;
    }
}

static int heavier_first(const void *left, const void *right)
{
    const Part *const *a = left, *const *b = right;
    return (*a)->bound != (*b)->bound ? ((*a)->bound > (*b)->bound ? -1 : 1) : (*a)->origin[0] - (*b)->origin[0];
}

/* Pairs of buffer and section, at most. */
static bool too_large(const Space *s)
{
    int64_t pairs = 0;

    for (int b = 0; b < s->n; b++)
        pairs += s->end[b] - s->begin[b];
    return pairs > MOST_PAIRS;
}

/* The part needs so many bytes. */
static void prove(const Part *p, int64_t own, int64_t *bound, bool *core, int n)
{
    *bound = own;
    for (int b = 0; b < n && core; b++)
        core[b] = false;
    for (int b = 0; b < p->n && core; b++)
        core[p->origin[b]] = true;
}

int exact_improve(const Space *s, Effort *effort, int64_t enough, int64_t *offset, int64_t *bound, bool *core)
{
    Part        *part;
    const Part **order;
    int          count, status;
    Solver       v = {s, effort, enough > *bound ? enough : *bound, offset, NULL};

    if (!s->plain || s->nregion > 1 || too_large(s))
        return PLAN_OK;
    status = parts_open(s, &part, &count);
    if (status)
        return status;
    v.trial = malloc(((size_t)s->n + 1) * sizeof *v.trial);
    order = malloc(((size_t)count + 1) * sizeof *order);
    if (!v.trial || !order)
        status = PLAN_ENOMEM;
    for (int k = 0; k < count && !status; k++)
        order[k] = &part[k];
    if (!status)
        qsort(order, (size_t)count, sizeof *order, heavier_first);
    for (int k = 0; k < count && !status; k++) {
        int64_t own = order[k]->bound;
        Search *search;
        if (order[k]->n > MOST_BUFFERS || part_peak(order[k], offset) <= (own > v.enough ? own : v.enough))
            continue;
        search = search_open(order[k]);
        status = search ? solve_part(&v, order[k], search, &own) : PLAN_ENOMEM;
        if (own > *bound)
            prove(order[k], own, bound, core, s->n);
        v.enough = own > v.enough ? own : v.enough;
        if (search)
            search_close(search);
    }
    free(v.trial);
    free(order);
    parts_close(part, count);
    return status;
}
