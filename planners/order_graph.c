/* order_graph.c - the checker of orders, which reads the problem only, and the problem indexed for the search. */
#include "order_range.h"

#include <stdio.h>
#include <stdlib.h>

#include "basics.h"
#include "planner.h"

/* -- the checker --------------------------------------------------------------------------------------------------- */

static int follows(const OrderProblem *p, const int *position)
{
    for (int i = 0; i < p->nuse; i++) {
        int producer = p->value[p->use[i].value].producer;
        if (producer >= 0 && position[producer] >= position[p->use[i].step])
            return 0;
    }
    for (int i = 0; i < p->nedge; i++)
        if (position[p->edge[i].first] >= position[p->edge[i].then])
            return 0;
    return 1;
}

/* The change of the live bytes by one step. */
typedef struct Turn {
    int64_t made, unread, freed,
        reuse; /* unread: bytes of its results that nobody reads; reuse: the largest reuse of a value that dies */
} Turn;

/* Fills turn[t] of every step; returns the bytes live before the first. last[v] becomes the position of the last use of
 * value v, or -1. */
static int64_t take_turns(const OrderProblem *p, const int *position, int *last, Turn *turn)
{
    int64_t live = 0;

    for (int v = 0; v < p->nvalue; v++)
        last[v] = -1;
    for (int i = 0; i < p->nuse; i++)
        if (position[p->use[i].step] > last[p->use[i].value])
            last[p->use[i].value] = position[p->use[i].step];
    for (int v = 0; v < p->nvalue; v++) {
        const OrderValue *value = &p->value[v];
        int64_t           wanted = last[v] >= 0 || value->keep ? value->bytes : 0;
        if (value->producer < 0) {
            live += wanted;
            continue;
        }
        turn[value->producer].made += value->bytes;
        turn[value->producer].unread += value->bytes - wanted;
    }
    for (int i = 0; i < p->nuse; i++) {
        const OrderUse *use = &p->use[i];
        Turn           *t = &turn[use->step];
        if (p->value[use->value].keep || position[use->step] < last[use->value])
            continue;
        t->freed += p->value[use->value].bytes;
        t->reuse = use->reuse > t->reuse ? use->reuse : t->reuse;
    }
    return live;
}

static int64_t walk(const OrderProblem *p, const int32_t *order, int64_t live, const Turn *turn)
{
    int64_t peak = live;

    for (int i = 0; i < p->nstep; i++) {
        const Turn *t = &turn[order[i]];
        int64_t     scratch = p->scratch ? p->scratch[order[i]] : 0;
        int64_t     during = live + t->made + scratch - (t->reuse < t->made ? t->reuse : t->made);
        peak = during > peak ? during : peak;
        live += t->made - t->unread - t->freed;
    }
    return peak;
}

/* Fills position[t] of every step; 0 if the order omits a step or names one twice. */
static int find_positions(const OrderProblem *p, const int32_t *order, int *position)
{
    for (int t = 0; t < p->nstep; t++)
        position[t] = -1;
    for (int i = 0; i < p->nstep; i++) {
        if (order[i] < 0 || order[i] >= p->nstep || position[order[i]] >= 0)
            return 0;
        position[order[i]] = i;
    }
    return 1;
}

int64_t order_peak(const OrderProblem *p, const int32_t *order)
{
    int *position = malloc(((size_t)p->nstep + 1) * sizeof *position),
        *last = malloc(((size_t)p->nvalue + 1) * sizeof *last);
    Turn   *turn = calloc((size_t)p->nstep + 1, sizeof *turn);
    int64_t peak = position && last && turn ? PLAN_EINVAL : PLAN_ENOMEM;

    if (peak == PLAN_EINVAL && find_positions(p, order, position) && follows(p, position))
        peak = walk(p, order, take_turns(p, position, last, turn), turn);
    free(position);
    free(last);
    free(turn);
    return peak;
}

/* -- the graph ----------------------------------------------------------------------------------------------------- */

int order_malformed(const OrderProblem *p, char *why)
{
    if (p->nstep < 0 || p->nvalue < 0 || p->nuse < 0 || p->nedge < 0)
        return snprintf(why, 160, "a negative count");
    for (int v = 0; v < p->nvalue; v++)
        if (p->value[v].bytes < 0 || p->value[v].bytes > ORDER_MOST_BYTES || p->value[v].producer < -1 ||
            p->value[v].producer >= p->nstep)
            return snprintf(why, 160, "value %d: negative or beyond 2^44 bytes, or made by no step", v);
    for (int i = 0; i < p->nuse; i++) {
        const OrderUse *u = &p->use[i];
        if (u->value < 0 || u->value >= p->nvalue || u->step < 0 || u->step >= p->nstep || u->reuse < 0 ||
            u->reuse > p->value[u->value].bytes)
            return snprintf(why, 160, "use %d: names no value or no step, or reuses more than there is", i);
        if (p->value[u->value].producer >= u->step)
            return snprintf(why, 160, "use %d: step %d reads value %d before it is made", i, (int)u->step,
                            (int)u->value);
    }
    for (int i = 0; i < p->nedge; i++)
        if (p->edge[i].first < 0 || p->edge[i].first >= p->edge[i].then || p->edge[i].then >= p->nstep)
            return snprintf(why, 160, "edge %d: does not lead from a step to a later one", i);
    for (int t = 0; p->scratch && t < p->nstep; t++)
        if (p->scratch[t] < 0 || p->scratch[t] > ORDER_MOST_BYTES)
            return snprintf(why, 160, "step %d: negative scratch, or beyond 2^44 bytes", t);
    return 0;
}

/* The lists of one kind, see basics.h. */
typedef struct Filing {
    int *at, *item;
} Filing;

static void file_one(Filing f, int key, int item, bool fill)
{
    if (fill)
        f.item[list_next(f.at, key)] = item;
    else
        list_count(f.at, key);
}

/* Counts all items, or fills them in. */
static void file_all(const OrderProblem *p, const Filing f[5], bool fill)
{
    enum { MAKE, READ, USER, BEFORE, AFTER };
    for (int v = 0; v < p->nvalue; v++)
        if (p->value[v].producer >= 0)
            file_one(f[MAKE], p->value[v].producer, v, fill);
    for (int i = 0; i < p->nuse; i++) {
        int step = p->use[i].step, v = p->use[i].value, producer = p->value[v].producer;
        file_one(f[READ], step, i, fill);
        file_one(f[USER], v, step, fill);
        if (producer >= 0) {
            file_one(f[BEFORE], step, producer, fill);
            file_one(f[AFTER], producer, step, fill);
        }
    }
    for (int i = 0; i < p->nedge; i++) {
        file_one(f[BEFORE], p->edge[i].then, p->edge[i].first, fill);
        file_one(f[AFTER], p->edge[i].first, p->edge[i].then, fill);
    }
}

static void sum_results(OrderGraph *g)
{
    for (int t = 0; t < g->problem->nstep; t++)
        for (int k = g->make_at[t]; k < g->make_at[t + 1]; k++) {
            int64_t bytes = g->problem->value[g->make[k]].bytes;
            g->made[t] += bytes;
            g->unread[t] += order_is_wanted(g, g->make[k]) ? 0 : bytes;
        }
}

void order_graph_close(OrderGraph *g)
{
    void *all[] = {g->make_at,   g->make,   g->read_at,  g->read,  g->user_at, g->user,
                   g->before_at, g->before, g->after_at, g->after, g->made,    g->unread};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

int order_graph_open(OrderGraph *g, const OrderProblem *p)
{
    size_t edges = (size_t)p->nuse + (size_t)p->nedge + 1, steps = (size_t)p->nstep + 3, values = (size_t)p->nvalue + 3;

    *g = (OrderGraph){p,
                      calloc(steps, sizeof(int)),
                      calloc(values, sizeof(int)),
                      calloc(steps, sizeof(int)),
                      calloc(edges, sizeof(int)),
                      calloc(values, sizeof(int)),
                      calloc(edges, sizeof(int)),
                      calloc(steps, sizeof(int)),
                      calloc(edges, sizeof(int)),
                      calloc(steps, sizeof(int)),
                      calloc(edges, sizeof(int)),
                      calloc(steps, sizeof(int64_t)),
                      calloc(steps, sizeof(int64_t))};
    if (!g->make_at || !g->make || !g->read_at || !g->read || !g->user_at || !g->user || !g->before_at || !g->before ||
        !g->after_at || !g->after || !g->made || !g->unread) {
        order_graph_close(g);
        return PLAN_ENOMEM;
    }
    const Filing f[5] = {{g->make_at, g->make},
                         {g->read_at, g->read},
                         {g->user_at, g->user},
                         {g->before_at, g->before},
                         {g->after_at, g->after}};
    file_all(p, f, false);
    for (int k = 0; k < 5; k++)
        lists_begin(f[k].at, k == 2 ? p->nvalue : p->nstep);
    file_all(p, f, true);
    sum_results(g);
    return PLAN_OK;
}
