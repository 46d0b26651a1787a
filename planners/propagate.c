/* propagate.c - opens the constraint network of the disjunctive search, and narrows its ranges until nothing changes:
 * by the disjuncts of each pair first, then by edge finding in its stacks. */
#include "propagate.h"

#include <stdlib.h>

enum { MOST_PAIRS = 20000, MOST_DISJUNCTS = 40000 }; /* of one network */

/* -------------------------------------------------------------------------------------------------------- the pairs */

/* Are both buffers of the conflict included? Each pair counts once, from the buffer of the higher index. */
static bool both_included(const Network *net, int b, const Conflict *conflict)
{
    return conflict->other < b && net->included[b] && net->included[conflict->other];
}

static int64_t count_pairs(const Network *net, int64_t *disjuncts)
{
    const Space *s = net->space;
    int64_t      pairs = 0;

    *disjuncts = 0;
    for (int b = 0; b < s->n; b++)
        for (int i = s->conflict_at[b]; i < s->conflict_at[b + 1]; i++)
            if (both_included(net, b, &s->conflict[i])) {
                pairs++;
                *disjuncts += s->conflict[i].count + 1;
            }
    return pairs;
}

/* The ranges of distance between the forbidden intervals, in rising order; returns how many. */
static int disjuncts_between(const Interval *gap, int count, Disjunct *disjunct)
{
    int64_t from = INT64_MIN / 4;

    for (int i = 0; i < count; i++) {
        disjunct[i] = (Disjunct){from, gap[i].from};
        from = gap[i].to;
    }
    disjunct[count] = (Disjunct){from, INT64_MAX / 4};
    return count + 1;
}

static int by_first(const void *left, const void *right)
{
    const Disjunction *a = left, *b = right;
    return a->a - b->a;
}

/* The pairs, sorted by the buffer of the higher index, then the other. */
static void add_pairs(Network *net)
{
    const Space *s = net->space;

    for (int b = 0, ndisjunct = 0; b < s->n; b++) {
        int first = net->npair;

        for (int i = s->conflict_at[b]; i < s->conflict_at[b + 1]; i++) {
            const Conflict *conflict = &s->conflict[i];
            if (!both_included(net, b, conflict))
                continue;
            net->pair[net->npair++] = (Disjunction){conflict->other, b, ndisjunct, conflict->count + 1, -1};
            ndisjunct += disjuncts_between(s->forbidden + conflict->first, conflict->count, net->disjunct + ndisjunct);
        }
        qsort(net->pair + first, (size_t)(net->npair - first), sizeof *net->pair, by_first);
    }
}

/* Fills pair_at and pair_of: the pairs of each buffer. */
static void index_pairs(Network *net)
{
    for (int p = 0; p < net->npair; p++) {
        list_count(net->pair_at, net->pair[p].a);
        list_count(net->pair_at, net->pair[p].b);
    }
    lists_begin(net->pair_at, net->space->n);
    for (int p = 0; p < net->npair; p++) {
        net->pair_of[list_next(net->pair_at, net->pair[p].a)] = p;
        net->pair_of[list_next(net->pair_at, net->pair[p].b)] = p;
    }
}

void network_close(Network *net)
{
    free(net->included);
    free(net->pair);
    free(net->disjunct);
    free(net->pair_at);
    free(net->pair_of);
    free(net->lo);
    free(net->hi);
    free(net->change);
    free(net->choice);
    free(net->queue);
    free(net->queued);
    stacks_close(net);
}

/* Allocates what the counted pairs and disjuncts need. */
static bool network_reserve(Network *net, size_t n, size_t pairs, size_t disjuncts)
{
    net->pair = malloc(pairs * sizeof *net->pair);
    net->disjunct = malloc((disjuncts + 1) * sizeof *net->disjunct);
    net->pair_at = calloc(n + 1, sizeof *net->pair_at);
    net->pair_of = malloc(2 * pairs * sizeof *net->pair_of);
    net->lo = malloc(n * sizeof *net->lo);
    net->hi = malloc(n * sizeof *net->hi);
    net->choice = malloc(pairs * sizeof *net->choice);
    net->queue = malloc(n * sizeof *net->queue);
    net->queued = calloc(n, sizeof *net->queued);
    return net->pair && net->disjunct && net->pair_at && net->pair_of && net->lo && net->hi && net->choice &&
           net->queue && net->queued;
}

int network_open(Network *net, const Space *s, int middle, int reach)
{
    size_t  n = (size_t)s->n + 1;
    int64_t pairs, disjuncts;

    *net = (Network){.space = s, .included = calloc(n, sizeof *net->included), .all = true};
    for (int b = 0; net->included && b < s->n; b++) {
        net->included[b] = space_live(s, b) && s->begin[b] <= middle + reach && s->end[b] > middle - reach;
        net->count += net->included[b];
        net->all &= net->included[b] || !space_live(s, b);
    }
    if (!net->included)
        return PLAN_ENOMEM;
    if (!s->conflict)
        return PLAN_OK;
    pairs = count_pairs(net, &disjuncts);
    if (pairs > MOST_PAIRS || disjuncts > MOST_DISJUNCTS)
        return PLAN_OK;
    if (!network_reserve(net, n, (size_t)pairs + 1, (size_t)disjuncts)) {
        network_close(net);
        return PLAN_ENOMEM;
    }
    add_pairs(net);
    index_pairs(net);
    if (stacks_open(net)) {
        network_close(net);
        return PLAN_ENOMEM;
    }
    return PLAN_OK;
}

/* -------------------------------------------------------------------------------------------------------- narrowing */

static bool note(Network *net, RangeChange change)
{
    if (net->nchange == net->cchange) {
        size_t       capacity = net->cchange ? 2 * net->cchange : 1024;
        RangeChange *grown = realloc(net->change, capacity * sizeof *grown);
        if (!grown) {
            net->no_memory = true;
            return false;
        }
        net->change = grown;
        net->cchange = capacity;
    }
    net->change[net->nchange++] = change;
    return true;
}

void network_wake(Network *net, int32_t b)
{
    if (net->queued[b])
        return;
    net->queued[b] = true;
    net->queue[(net->head + net->waiting++) % net->space->n] = b;
}

bool network_narrow(Network *net, int32_t b, int64_t lo, int64_t hi)
{
    int64_t align = space_align(net->space, b, 0);

    lo = lo > net->lo[b] ? round_up(lo, align) : net->lo[b];
    hi = hi < net->hi[b] ? hi : net->hi[b];
    if (lo > hi)
        return false;
    hi -= hi % align;
    if (lo == net->lo[b] && hi == net->hi[b])
        return true;
    if (lo > hi || !note(net, (RangeChange){b, -1, net->lo[b], net->hi[b]}))
        return false;
    net->lo[b] = lo;
    net->hi[b] = hi;
    network_wake(net, b);
    return true;
}

/* The first and the last disjunct of a pair that the ranges still allow; false when there is none. */
static bool open_disjuncts(const Network *net, const Disjunction *p, int *first, int *last)
{
    int64_t least = net->lo[p->b] - net->hi[p->a], most = net->hi[p->b] - net->lo[p->a];
    int     begin = p->chosen < 0 ? 0 : p->chosen, end = p->chosen < 0 ? p->ndisjunct : p->chosen + 1;

    *first = -1;
    for (int i = begin; i < end; i++) {
        const Disjunct *disjunct = &net->disjunct[p->disjunct_at + i];
        if (disjunct->to < least || disjunct->from > most)
            continue;
        *first = *first < 0 ? i : *first;
        *last = i;
    }
    return *first >= 0;
}

static bool narrow_pair(Network *net, const Disjunction *p)
{
    int     first, last;
    int64_t from, to;

    if (!open_disjuncts(net, p, &first, &last))
        return false;
    from = net->disjunct[p->disjunct_at + first].from;
    to = net->disjunct[p->disjunct_at + last].to;
    return network_narrow(net, p->b, net->lo[p->a] + from, net->hi[p->a] + to) &&
           network_narrow(net, p->a, net->lo[p->b] - to, net->hi[p->b] - from);
}

static int32_t next_buffer(Network *net)
{
    int32_t b = net->queue[net->head];

    net->head = (net->head + 1) % net->space->n;
    net->waiting--;
    net->queued[b] = false;
    return b;
}

static int next_stack(Network *net)
{
    int stack = net->waiting_stack[--net->nwaiting_stack];

    net->stack_waits[stack] = false;
    return stack;
}

/* Propagates a changed range through the buffer's pairs, and queues its stacks. */
static bool propagate_buffer(Network *net, int32_t b)
{
    for (int i = net->pair_at[b]; i < net->pair_at[b + 1]; i++)
        if (!narrow_pair(net, &net->pair[net->pair_of[i]]))
            return false;
    for (int i = net->stack_at[b]; i < net->stack_at[b + 1]; i++) {
        int stack = net->stack_of[i];
        if (!net->stack_waits[stack])
            net->waiting_stack[net->nwaiting_stack++] = stack;
        net->stack_waits[stack] = true;
    }
    return true;
}

bool network_propagate(Network *net, Effort *effort)
{
    bool good = true;

    while (net->waiting || net->nwaiting_stack) {
        effort->nodes -= good;
        if (net->waiting) {
            int32_t b = next_buffer(net);
            good = good && propagate_buffer(net, b);
        } else {
            int stack = next_stack(net);
            good = good && stack_narrow(net, stack);
        }
        good = good && effort->nodes > 0;
    }
    return good;
}

bool network_choose(Network *net, int32_t pair, int disjunct)
{
    if (!note(net, (RangeChange){-1, pair, 0, 0}))
        return false;
    net->pair[pair].chosen = disjunct;
    network_wake(net, net->pair[pair].a);
    return true;
}

void network_undo(Network *net, size_t nchange)
{
    while (net->nchange > nchange) {
        const RangeChange *c = &net->change[--net->nchange];
        if (c->pair >= 0) {
            net->pair[c->pair].chosen = -1;
        } else {
            net->lo[c->buffer] = c->lo;
            net->hi[c->buffer] = c->hi;
        }
    }
}
