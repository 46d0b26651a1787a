/* apart.c - exact search where two buffers may lie in more ways than one above the other.
 * For each pair of buffers that are live together the distance of their offsets must lie in one of a few ranges, its ways:
 * what windows and permits leave between the clashes. Offsets start at their lowest; as long as the ranges of the offsets
 * leave several ways to a pair whose lowest offsets clash, one is chosen, and the ranges of all offsets are narrowed to what
 * the chosen ways admit (precedence constraint posting: Cheng and Smith, "Generating Feasible Schedules under Complex Metric
 * Constraints", AAAI 1994). No clash left: the lowest offsets are a plan. No way left: there is none below the capacity.
 *
 * A plan is proven least when no plan one byte smaller exists for some of its buffers. Those around the step that needs the
 * most are asked first, then more and more of their neighbours, at last all of them, or at once where that takes too long. */
#include "apart.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 20000, MOST_WAYS = 40000 };   /* of one question */
enum { SHARE = 8 };                                /* part of the effort that one search may take */
enum { NEAR_PART = 256 };                          /* of the peak: bytes that are near it */

typedef struct Way {
    int64_t from, to;              /* offset[b] - offset[a] lies in [from, to] */
} Way;

typedef struct Pair {
    int32_t a, b;
    int     way_at, nway;          /* way[way_at] .. in rising order */
    int     chosen;                /* one of them, or -1 */
} Pair;

typedef struct Change {
    int32_t buffer, pair;          /* the one whose range was [lo, hi], or -1; the one that had no way chosen, or -1 */
    int64_t lo, hi;
} Change;

typedef struct Choice {
    int32_t pair;
    int     tried;                 /* ways tried in turn */
    bool    downward;              /* from the last way to the first */
    int     nchange;               /* changes before it */
} Choice;

/* Buffers by their index in the space. */
typedef struct Net {
    const Space *space;
    bool        *in;               /* [n] is part of the question */
    bool         all;              /* every live buffer is */
    Pair        *pair;
    int          npair;
    Way         *way;
    int         *pair_at, *pair_of;/* [n+1]; pairs by buffer */
    int64_t     *lo, *hi;          /* [n] ranges of the offsets */
    Change      *change;
    size_t       nchange, cchange;
    Choice      *choice;           /* [npair] */
    int32_t     *queue;            /* [n] ring of buffers whose range changed */
    bool        *queued;           /* [n] */
    int          head, waiting;
    bool         no_memory;
} Net;

/* -------------------------------------------------------------------------------------------------------------- the pairs */

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

static void net_close(Net *net)
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
    return net->pair && net->way && net->pair_at && net->pair_of && net->lo && net->hi && net->choice && net->queue && net->queued;
}

/* The buffers live within `reach` sections of the middle. Without pairs where these are too many. */
static int net_open(Net *net, const Space *s, int middle, int reach)
{
    size_t  n = (size_t)s->n + 1;
    int64_t pairs, ways;

    *net = (Net){.space = s, .in = calloc(n, sizeof *net->in), .all = true};
    for (int b = 0; net->in && b < s->n; b++) {
        net->in[b] = space_live(s, b) && s->begin[b] <= middle + reach && s->end[b] > middle - reach;
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
    return PLAN_OK;
}

/* -------------------------------------------------------------------------------------------------------------- narrowing */

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

static void wake(Net *net, int32_t b)
{
    if (net->queued[b])
        return;
    net->queued[b] = true;
    net->queue[(net->head + net->waiting++) % net->space->n] = b;
}

/* Cuts the range of b to [lo, hi] and to what its alignment allows; false when nothing is left. */
static bool narrow(Net *net, int32_t b, int64_t lo, int64_t hi)
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
    wake(net, b);
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
    return narrow(net, p->b, net->lo[p->a] + from, net->hi[p->a] + to) &&
           narrow(net, p->a, net->lo[p->b] - to, net->hi[p->b] - from);
}

/* Narrows until nothing changes; false when some buffer or pair is left without a way. Takes a node for each buffer. */
static bool settle(Net *net, Effort *effort)
{
    bool good = true;

    while (net->waiting) {
        int32_t b = net->queue[net->head];
        net->head = (net->head + 1) % net->space->n;
        net->waiting--;
        net->queued[b] = false;
        effort->nodes -= good;
        for (int i = net->pair_at[b]; good && i < net->pair_at[b + 1]; i++)
            good = narrow_pair(net, &net->pair[net->pair_of[i]]);
        good = good && effort->nodes > 0;
    }
    return good;
}

/* -------------------------------------------------------------------------------------------------------------- searching */

static void undo(Net *net, size_t nchange)
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

static int64_t size_of(const Net *net, int32_t b)
{
    return net->space->problem->buffer[b].size;
}

/* The pair that clashes at the lowest offsets and has the most bytes; -1 when none does. */
static int32_t clashing(const Net *net)
{
    int64_t most = -1;
    int32_t found = -1;

    for (int i = 0; i < net->npair; i++) {
        const Pair *p = &net->pair[i];
        int64_t     distance = net->lo[p->b] - net->lo[p->a], bytes = size_of(net, p->a) + size_of(net, p->b);
        bool        apart = false;
        if (bytes <= most)
            continue;
        for (int w = 0; w < p->nway && !apart; w++)
            apart = net->way[p->way_at + w].from <= distance && distance <= net->way[p->way_at + w].to;
        if (!apart) {
            most = bytes;
            found = i;
        }
    }
    return found;
}

/* Takes back what the choice and those after it changed and takes its next open way; false when there is none. */
static bool take(Net *net, Choice *c, Effort *effort)
{
    Pair *p = &net->pair[c->pair];

    undo(net, (size_t)c->nchange);
    for (; c->tried < p->nway && effort->nodes > 0 && !net->no_memory; undo(net, (size_t)c->nchange)) {
        int     w = c->downward ? p->nway - 1 - c->tried : c->tried;
        int64_t least = net->lo[p->b] - net->hi[p->a], most = net->hi[p->b] - net->lo[p->a];
        c->tried++;
        if (net->way[p->way_at + w].to < least || net->way[p->way_at + w].from > most)
            continue;
        if (!note(net, (Change){-1, c->pair, 0, 0}))
            break;
        p->chosen = w;
        wake(net, p->a);
        if (settle(net, effort))
            return true;
    }
    return false;
}

/* Ways that raise b come last; those that raise less are tried first. */
static Choice choose(const Net *net, int32_t pair)
{
    const Pair *p = &net->pair[pair];
    int64_t     distance = net->lo[p->b] - net->lo[p->a];
    int         above = 0;

    while (net->way[p->way_at + above].from <= distance)
        above++;
    return (Choice){pair, 0, net->way[p->way_at + above].from - distance < distance - net->way[p->way_at + above - 1].to,
                    (int)net->nchange};
}

/* The ranges before anything is decided. */
static bool start(Net *net, int64_t capacity, Effort *effort)
{
    const PlanBuffer *buffer = net->space->problem->buffer;

    undo(net, 0);
    for (int b = 0; b < net->space->n; b++) {
        int64_t align = space_align(net->space, b, 0);
        net->lo[b] = buffer[b].fixed >= 0 ? buffer[b].fixed : 0;
        net->hi[b] = buffer[b].fixed >= 0 ? buffer[b].fixed : capacity - buffer[b].size;
        if (net->in[b] && (net->hi[b] < net->lo[b] || net->hi[b] + buffer[b].size > capacity))
            return false;
        net->hi[b] -= net->hi[b] % align;
        if (net->in[b])
            wake(net, b);
    }
    return settle(net, effort);
}

/* A plan of the buffers in question with no end above capacity: their lowest offsets. */
static SearchAnswer find(Net *net, int64_t capacity, Effort *effort)
{
    int  nchoice = 0;
    bool good = start(net, capacity, effort);

    while (!effort_is_over(effort) && !net->no_memory) {
        if (good) {
            int32_t pair = clashing(net);
            if (pair < 0)
                return SEARCH_FOUND;
            net->choice[nchoice++] = choose(net, pair);
        }
        while (nchoice && !(good = take(net, &net->choice[nchoice - 1], effort)))
            nchoice--;
        if (!nchoice)
            return effort->nodes > 0 && !net->no_memory ? SEARCH_NONE : SEARCH_STOPPED;
    }
    return SEARCH_STOPPED;
}

/* ---------------------------------------------------------------------------------------------------------------- proving */

static int section_of(const Space *s, int32_t step)
{
    int section = 0;

    while (section + 1 < s->nsection && s->step_at[section + 1] <= step)
        section++;
    return section;
}

/* A plan below the peak is asked for, and of no more than `worth` bytes. */
static bool is_settled(const Space *s, int64_t enough, int64_t worth, const int64_t *offset, int64_t bound)
{
    int64_t peak = space_peak(s, offset, NULL);

    return peak <= enough || peak <= bound || worth < bound;
}

/* Asks for a plan of `most` bytes with a share of the effort: one that was found for all buffers goes to offset, that there is
 * none raises the bound. */
static SearchAnswer ask(Net *net, Effort *effort, int64_t most, int64_t *offset, int64_t *bound)
{
    int64_t      before = effort->nodes;
    Effort       share = *effort;
    SearchAnswer answer;

    share.nodes = before / SHARE;
    answer = find(net, most, &share);
    effort->nodes = before - (before / SHARE - share.nodes);
    if (answer == SEARCH_NONE)
        *bound = most + 1;
    if (answer == SEARCH_FOUND && net->all)
        memcpy(offset, net->lo, (size_t)net->space->n * sizeof *offset);
    return answer;
}

/* Asks for a plan of some of the buffers below the peak; false when the effort did not suffice. */
static bool lower_part(Net *net, Effort *effort, int64_t worth, int64_t *offset, int64_t *bound)
{
    int64_t peak = space_peak(net->space, offset, NULL);

    return ask(net, effort, peak - 1 < worth ? peak - 1 : worth, offset, bound) != SEARCH_STOPPED;
}

/* Asks for ever smaller plans of all buffers until there is none: for one that reaches the bound, then halfway between what may be
 * possible and the peak. What took too long is taken as impossible, but proves nothing; near the peak it is not halved further. */
static void lower(Net *net, Effort *effort, int64_t enough, int64_t worth, int64_t *offset, int64_t *bound)
{
    int64_t least = *bound, most = least;
    bool    stopped = false;

    while (least <= most && !is_settled(net->space, enough, worth, offset, *bound) && !effort_is_over(effort)) {
        int64_t      peak, asked = stopped && most - least < most / NEAR_PART ? most : least + (most - least) / 2;
        SearchAnswer answer = ask(net, effort, asked, offset, bound);

        stopped = stopped || answer == SEARCH_STOPPED;
        if (answer != SEARCH_FOUND)
            least = asked + 1;
        peak = space_peak(net->space, offset, NULL);
        most = peak - 1 < worth ? peak - 1 : worth;
    }
}

int apart_improve(const Space *s, Effort *effort, int32_t step, int64_t enough, int64_t worth, int64_t *offset, int64_t *bound)
{
    int  status = PLAN_OK;
    bool further = true;

    for (int reach = 1; !status && further;) {
        Net net;
        status = net_open(&net, s, section_of(s, step), reach);
        if (status)
            return status;
        further = net.pair && !net.all && !is_settled(s, enough, worth, offset, *bound);
        if (further)
            reach = lower_part(&net, effort, worth, offset, bound) ? 2 * reach : s->nsection;
        else if (net.pair)
            lower(&net, effort, enough, worth, offset, bound);
        status = net.no_memory ? PLAN_ENOMEM : PLAN_OK;
        net_close(&net);
    }
    return status;
}
