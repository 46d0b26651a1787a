/* apart_net.c - opens the net of apart.c and narrows its ranges: by the ways of each pair, then by its stacks. */
#include "apart_net.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 20000, MOST_WAYS = 40000 }; /* of one question */

/* -------------------------------------------------------------------------------------------------------- the pairs */

/* Both are in question; each pair counts once, from its later buffer. */
static bool is_asked(const Net *net, int b, const Near *near)
{
    return near->other < b && net->in[b] && net->in[near->other];
}

static int64_t count_pairs(const Net *net, int64_t *ways)
{
    const Space *s = net->space;
    int64_t      pairs = 0;

    *ways = 0;
    for (int b = 0; b < s->n; b++)
        for (int i = s->near_at[b]; i < s->near_at[b + 1]; i++)
            if (is_asked(net, b, &s->near[i])) {
                pairs++;
                *ways += s->near[i].ngap + 1;
            }
    return pairs;
}

/* What the gaps leave, in rising order; returns how many ways. */
static int ways_between(const Clash *gap, int count, Way *way)
{
    int64_t from = INT64_MIN / 4;

    for (int i = 0; i < count; i++) {
        way[i] = (Way){from, gap[i].from};
        from = gap[i].to;
    }
    way[count] = (Way){from, INT64_MAX / 4};
    return count + 1;
}

static int by_first(const void *left, const void *right)
{
    const Pair *a = left, *b = right;
    return a->a - b->a;
}

/* By the later buffer, then the earlier one. */
static void add_pairs(Net *net)
{
    const Space *s = net->space;

    for (int b = 0, nway = 0; b < s->n; b++) {
        int first = net->npair;

        for (int i = s->near_at[b]; i < s->near_at[b + 1]; i++) {
            const Near *near = &s->near[i];
            if (!is_asked(net, b, near))
                continue;
            net->pair[net->npair++] = (Pair){near->other, b, nway, near->ngap + 1, -1};
            nway += ways_between(s->gap + near->gap, near->ngap, net->way + nway);
        }
        qsort(net->pair + first, (size_t)(net->npair - first), sizeof *net->pair, by_first);
    }
}

/* pair_at and pair_of from the pairs. */
static void index_pairs(Net *net)
{
    int n = net->space->n;

    for (int p = 0; p < net->npair; p++) {
        net->pair_at[net->pair[p].a + 1]++;
        net->pair_at[net->pair[p].b + 1]++;
    }
    for (int b = 0; b < n; b++)
        net->pair_at[b + 1] += net->pair_at[b];
    for (int p = net->npair; p-- > 0;) {
        net->pair_of[--net->pair_at[net->pair[p].a + 1]] = p;
        net->pair_of[--net->pair_at[net->pair[p].b + 1]] = p;
    }
    memmove(net->pair_at, net->pair_at + 1, (size_t)n * sizeof *net->pair_at);
    net->pair_at[n] = 2 * net->npair;
}

void net_close(Net *net)
{
    free(net->in);
    free(net->pair);
    free(net->way);
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

/* Room for the pairs that count_pairs counted. */
static bool net_room(Net *net, size_t n, size_t pairs, size_t ways)
{
    net->pair = malloc(pairs * sizeof *net->pair);
    net->way = malloc((ways + 1) * sizeof *net->way);
    net->pair_at = calloc(n + 1, sizeof *net->pair_at);
    net->pair_of = malloc(2 * pairs * sizeof *net->pair_of);
    net->lo = malloc(n * sizeof *net->lo);
    net->hi = malloc(n * sizeof *net->hi);
    net->choice = malloc(pairs * sizeof *net->choice);
    net->queue = malloc(n * sizeof *net->queue);
    net->queued = calloc(n, sizeof *net->queued);
    return net->pair && net->way && net->pair_at && net->pair_of && net->lo && net->hi && net->choice && net->queue &&
           net->queued;
}

int net_open(Net *net, const Space *s, int middle, int reach)
{
    size_t  n = (size_t)s->n + 1;
    int64_t pairs, ways;

    *net = (Net){.space = s, .in = calloc(n, sizeof *net->in), .all = true};
    for (int b = 0; net->in && b < s->n; b++) {
        net->in[b] = space_live(s, b) && s->begin[b] <= middle + reach && s->end[b] > middle - reach;
        net->count += net->in[b];
        net->all &= net->in[b] || !space_live(s, b);
    }
    if (!net->in)
        return PLAN_ENOMEM;
    if (!s->near)
        return PLAN_OK;
    pairs = count_pairs(net, &ways);
    if (pairs > MOST_PAIRS || ways > MOST_WAYS)
        return PLAN_OK;
    if (!net_room(net, n, (size_t)pairs + 1, (size_t)ways)) {
        net_close(net);
        return PLAN_ENOMEM;
    }
    add_pairs(net);
    index_pairs(net);
    if (stacks_open(net)) {
        net_close(net);
        return PLAN_ENOMEM;
    }
    return PLAN_OK;
}

/* -------------------------------------------------------------------------------------------------------- narrowing */

static bool note(Net *net, Change change)
{
    if (net->nchange == net->cchange) {
        size_t  capacity = net->cchange ? 2 * net->cchange : 1024;
        Change *grown = realloc(net->change, capacity * sizeof *grown);
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

void net_wake(Net *net, int32_t b)
{
    if (net->queued[b])
        return;
    net->queued[b] = true;
    net->queue[(net->head + net->waiting++) % net->space->n] = b;
}

bool net_narrow(Net *net, int32_t b, int64_t lo, int64_t hi)
{
    int64_t align = space_align(net->space, b, 0);

    lo = lo > net->lo[b] ? round_up(lo, align) : net->lo[b];
    hi = hi < net->hi[b] ? hi : net->hi[b];
    if (lo > hi)
        return false;
    hi -= hi % align;
    if (lo == net->lo[b] && hi == net->hi[b])
        return true;
    if (lo > hi || !note(net, (Change){b, -1, net->lo[b], net->hi[b]}))
        return false;
    net->lo[b] = lo;
    net->hi[b] = hi;
    net_wake(net, b);
    return true;
}

/* The range of the distance that the ways still open to a pair span; false when none is open. */
static bool open_ways(const Net *net, const Pair *p, int *first, int *last)
{
    int64_t least = net->lo[p->b] - net->hi[p->a], most = net->hi[p->b] - net->lo[p->a];
    int     begin = p->chosen < 0 ? 0 : p->chosen, end = p->chosen < 0 ? p->nway : p->chosen + 1;

    *first = -1;
    for (int i = begin; i < end; i++) {
        const Way *way = &net->way[p->way_at + i];
        if (way->to < least || way->from > most)
            continue;
        *first = *first < 0 ? i : *first;
        *last = i;
    }
    return *first >= 0;
}

static bool narrow_pair(Net *net, const Pair *p)
{
    int     first, last;
    int64_t from, to;

    if (!open_ways(net, p, &first, &last))
        return false;
    from = net->way[p->way_at + first].from;
    to = net->way[p->way_at + last].to;
    return net_narrow(net, p->b, net->lo[p->a] + from, net->hi[p->a] + to) &&
           net_narrow(net, p->a, net->lo[p->b] - to, net->hi[p->b] - from);
}

static int32_t next_buffer(Net *net)
{
    int32_t b = net->queue[net->head];

    net->head = (net->head + 1) % net->space->n;
    net->waiting--;
    net->queued[b] = false;
    return b;
}

static int next_stack(Net *net)
{
    int stack = net->waiting_stack[--net->nwaiting_stack];

    net->stack_waits[stack] = false;
    return stack;
}

/* The ways of a buffer's pairs; its stacks are to follow. */
static bool settle_buffer(Net *net, int32_t b)
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

bool net_settle(Net *net, Effort *effort)
{
    bool good = true;

    while (net->waiting || net->nwaiting_stack) {
        effort->nodes -= good;
        if (net->waiting) {
            int32_t b = next_buffer(net);
            good = good && settle_buffer(net, b);
        } else {
            int stack = next_stack(net);
            good = good && stack_narrow(net, stack);
        }
        good = good && effort->nodes > 0;
    }
    return good;
}

bool net_choose(Net *net, int32_t pair, int way)
{
    if (!note(net, (Change){-1, pair, 0, 0}))
        return false;
    net->pair[pair].chosen = way;
    net_wake(net, net->pair[pair].a);
    return true;
}

void net_undo(Net *net, size_t nchange)
{
    while (net->nchange > nchange) {
        const Change *c = &net->change[--net->nchange];
        if (c->pair >= 0) {
            net->pair[c->pair].chosen = -1;
        } else {
            net->lo[c->buffer] = c->lo;
            net->hi[c->buffer] = c->hi;
        }
    }
}
