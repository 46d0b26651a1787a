/* order.c - the order of execution with the least peak: cut, search, beam, windows.
 * 1. Cut. If each step from position k on has at least k ancestors, then all of the first k steps precede it: k is a
 *    cut. Stretches between cuts are independent, and the peak of the whole is the largest of theirs.
 * 2. Each stretch of at most RANGE_STEPS steps goes to the exact search (order_range.c) with a share of the states.
 * 3. A stretch that remains unproven goes through a beam search (order_beam.c), then through exact search in
 *    overlapping windows around its peak until no window gains.
 * A stretch need not become better than the bound of another: that peak is its target. */
#include "order_range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner.h"

enum { WINDOW = 40, WINDOW_STATES = 3000, MOST_CLOSURE = 30000 };

typedef struct OrderSearch {
    const OrderGraph *graph;
    int32_t          *order;  /* [nstep] the order being improved */
    char             *done;   /* [nstep] */
    int64_t           live;   /* bytes after the steps that are done */
    int64_t           target; /* bytes: a stretch with this peak needs no improvement */
    int64_t           bound;  /* bytes: proven for the whole order */
    int64_t           states; /* states left */
} OrderSearch;

/* Executes step t after the steps in done[]: updates done[] and *live, returns the bytes live during t. */
static int64_t execute(const OrderGraph *g, char *done, int64_t *live, int t)
{
    const OrderProblem *p = g->problem;
    int64_t             made = g->made[t], freed = g->unread[t], reuse = 0, during;

    done[t] = 1;
    for (int k = g->read_at[t]; k < g->read_at[t + 1]; k++) {
        const OrderUse *use = &p->use[g->read[k]];
        bool            last = !p->value[use->value].keep;
        for (int i = g->user_at[use->value]; i < g->user_at[use->value + 1] && last; i++)
            last = done[g->user[i]];
        if (!last)
            continue;
        freed += p->value[use->value].bytes;
        reuse = use->reuse > reuse ? use->reuse : reuse;
    }
    during = *live + made + (p->scratch ? p->scratch[t] : 0) - (reuse < made ? reuse : made);
    *live += made - freed;
    return during;
}

/* The peak of a stretch. With `stay` done[] and live remain as they are, else they move past it. */
static int64_t stretch_peak(OrderSearch *q, const int32_t *order, int count, bool stay)
{
    int64_t live = q->live, peak = live;

    for (int i = 0; i < count; i++) {
        int64_t during = execute(q->graph, q->done, &live, order[i]);
        peak = during > peak ? during : peak;
    }
    for (int i = 0; i < count && stay; i++)
        q->done[order[i]] = 0;
    if (!stay)
        q->live = live;
    return peak;
}

/* Exact search in one window of a stretch: 1 if the window's peak fell, 0 if not, PLAN_ENOMEM. */
static int improve_window(OrderSearch *q, int32_t *order, int from, int count)
{
    int64_t    live = q->live, peak, found, states = WINDOW_STATES;
    OrderRange r;
    int        status;

    stretch_peak(q, order, from, false);
    peak = found = stretch_peak(q, order + from, count, true);
    status = range_open(&r, q->graph, order + from, count, q->live, q->done);
    if (!status) {
        status = range_solve(&r, &found, q->target, &states);
        if (status == 1 && found < peak)
            memcpy(order + from, r.step, (size_t)count * sizeof *order);
        status = status < 0 ? status : status == 1 && found < peak;
        range_close(&r);
    }
    q->states -= WINDOW_STATES - states;
    for (int i = 0; i < from; i++)
        q->done[order[i]] = 0;
    q->live = live;
    return status;
}

/* The position in a stretch at which its peak occurs first. */
static int peak_at(OrderSearch *q, const int32_t *order, int count, int64_t peak)
{
    int64_t live = q->live;
    int     at = 0, i;

    for (i = 0; i < count; i++)
        if (execute(q->graph, q->done, &live, order[i]) >= peak) {
            at = i;
            i++;
            break;
        }
    while (i-- > 0)
        q->done[order[i]] = 0;
    return at;
}

/* Improves windows that hold the peak, until none of them gains. */
static int improve_windows(OrderSearch *q, int32_t *order, int count, int64_t *peak)
{
    int status = 0;

    for (bool gained = true; gained && *peak > q->target && q->states > 0 && status >= 0;) {
        int at = peak_at(q, order, count, *peak);
        gained = false;
        for (int shift = 1; shift <= 5 && !gained && status >= 0; shift++) {
            int length = WINDOW < count ? WINDOW : count, from = at - shift * WINDOW / 6;
            from = from < 0 ? 0 : from > count - length ? count - length : from;
            status = improve_window(q, order, from, length);
            gained = status == 1;
        }
        *peak = stretch_peak(q, order, count, true);
    }
    return status < 0 ? status : PLAN_OK;
}

/* Improves one stretch; *bound becomes what is proven for it. */
static int solve_stretch(OrderSearch *q, int32_t *order, int count, int64_t *bound)
{
    int64_t    peak = stretch_peak(q, order, count, true), share = q->states / 2;
    OrderRange r;
    int        status;

    *bound = 0;
    if (peak <= q->target || count == 1) {
        *bound = count == 1 ? peak : 0;
        return PLAN_OK;
    }
    if (count <= RANGE_STEPS) {
        int64_t left = share;
        status = range_open(&r, q->graph, order, count, q->live, q->done);
        if (status)
            return status;
        status = range_solve(&r, &peak, q->target, &left);
        *bound = status == 1 ? peak : r.bound;
        memcpy(order, r.step, (size_t)count * sizeof *order);
        range_close(&r);
        q->states -= share - left;
        if (status)
            return status < 0 ? status : PLAN_OK;
    }
    for (int width = 8; width <= 512 && (int64_t)width * count <= q->states; width *= 4) {
        int64_t found = beam_order(q->graph, order, count, q->live, q->done, peak, width, &q->states);
        if (found < 0)
            return (int)found;
        peak = found;
    }
    return improve_windows(q, order, count, &peak);
}

/* Counts the ancestors of every step by transitive closure. False on lack of memory. */
static bool count_ancestors(const OrderGraph *g, int *count)
{
    int       n = g->problem->nstep;
    size_t    words = ((size_t)n + 63) / 64;
    uint64_t *set = calloc((size_t)n * words + 1, sizeof *set);

    for (int t = 0; t < n && set; t++) {
        uint64_t *mine = set + (size_t)t * words;
        for (int k = g->before_at[t]; k < g->before_at[t + 1]; k++) {
            const uint64_t *other = set + (size_t)g->before[k] * words;
            for (size_t w = 0; w < words; w++)
                mine[w] |= other[w];
            mine[g->before[k] / 64] |= UINT64_C(1) << (g->before[k] % 64);
        }
        count[t] = 0;
        for (size_t w = 0; w < words; w++)
            for (uint64_t bits = mine[w]; bits; bits &= bits - 1)
                count[t]++;
    }
    free(set);
    return set != NULL;
}

/* Sets cut[k] for every position k at which a stretch may begin, in the given order. */
static int find_cuts(const OrderGraph *g, char *cut)
{
    int  n = g->problem->nstep, least = n;
    int *ancestors = malloc(((size_t)n + 1) * sizeof *ancestors);
    bool good = ancestors != NULL;

    cut[0] = cut[n] = 1;
    if (good && n <= MOST_CLOSURE)
        good = count_ancestors(g, ancestors);
    for (int k = n - 1; k > 0 && good && n <= MOST_CLOSURE; k--) {
        least = ancestors[k] < least ? ancestors[k] : least;
        cut[k] = least >= k;
    }
    free(ancestors);
    return good ? PLAN_OK : PLAN_ENOMEM;
}

/* Bytes that any order needs at step t: what it reads and makes, and its scratch. */
static int64_t local_need(const OrderGraph *g, int t)
{
    const OrderProblem *p = g->problem;
    int64_t             need = g->made[t] + (p->scratch ? p->scratch[t] : 0), reuse = 0;

    for (int k = g->read_at[t]; k < g->read_at[t + 1]; k++) {
        const OrderUse *use = &p->use[g->read[k]];
        need += p->value[use->value].bytes;
        reuse = use->reuse > reuse ? use->reuse : reuse;
    }
    return need - (reuse < g->made[t] ? reuse : g->made[t]);
}

/* Improves stretch by stretch along the order. */
static int improve(OrderSearch *q, const char *cut)
{
    int n = q->graph->problem->nstep, status = PLAN_OK;

    for (int from = 0, to; from < n && !status; from = to) {
        int64_t bound;
        to = from + 1;
        while (!cut[to])
            to++;
        status = solve_stretch(q, q->order + from, to - from, &bound);
        q->bound = bound > q->bound ? bound : q->bound;
        q->target = q->bound > q->target ? q->bound : q->target;
        stretch_peak(q, q->order + from, to - from, false);
    }
    return status;
}

static void conclude(const OrderProblem *p, OrderResult *result)
{
    result->peak = order_peak(p, result->order);
    if (result->peak > result->given || result->peak < 0) { /* defensive: the search starts from the given order */
        for (int t = 0; t < p->nstep; t++)
            result->order[t] = t;
        result->peak = result->given;
    }
    result->status = result->peak <= result->bound ? ORDER_OPTIMAL : ORDER_FEASIBLE;
    if (result->status == ORDER_OPTIMAL)
        snprintf(result->why, sizeof result->why, "optimal: no order has a smaller peak");
    else
        snprintf(result->why, sizeof result->why, "gap %.2f %%",
                 100.0 * (double)(result->peak - result->bound) / (double)(result->bound > 0 ? result->bound : 1));
}

int order_best(const OrderProblem *p, const OrderLimits *limits, OrderResult *result)
{
    OrderGraph  graph;
    OrderSearch q = {.graph = &graph, .order = result->order, .states = ORDER_DEFAULT_STATES};
    char       *cut;
    int         status;

    result->why[0] = 0;
    if (order_malformed(p, result->why))
        return PLAN_EINVAL;
    if (limits && limits->states > 0)
        q.states = limits->states;
    q.target = limits ? limits->target : 0;
    result->states = q.states;
    status = order_graph_open(&graph, p);
    if (status)
        return status;
    cut = calloc((size_t)p->nstep + 1, 1);
    q.done = calloc((size_t)p->nstep + 1, 1);
    status = cut && q.done ? find_cuts(&graph, cut) : PLAN_ENOMEM;
    for (int t = 0; t < p->nstep; t++)
        result->order[t] = t;
    for (int v = 0; v < p->nvalue; v++)
        if (p->value[v].producer < 0 && order_is_wanted(&graph, v))
            q.live += p->value[v].bytes;
    q.bound = q.live;
    for (int t = 0; t < p->nstep; t++)
        q.bound = local_need(&graph, t) > q.bound ? local_need(&graph, t) : q.bound;
    q.target = q.bound > q.target ? q.bound : q.target;
    if (!status) {
        result->given = order_peak(p, result->order);
        status = improve(&q, cut);
    }
    result->bound = q.bound;
    result->states -= q.states;
    if (!status)
        conclude(p, result);
    free(cut);
    free(q.done);
    order_graph_close(&graph);
    return status;
}
