/* apart.c - exact search where two buffers may lie in more ways than one above the other.
 * For each pair of buffers that are live together the distance of their offsets must lie in one of a few ranges, its
 * ways: what windows and permits leave between the clashes. Offsets start at their lowest; as long as the ranges of the
 * offsets leave several ways to a pair whose lowest offsets clash, one is chosen, and the ranges of all offsets are
 * narrowed to what the chosen ways admit (precedence constraint posting: Cheng and Smith, "Generating Feasible
 * Schedules under Complex Metric Constraints", AAAI 1994). No clash left: the lowest offsets are a plan. No way left:
 * there is none below the capacity.
 *
 * A plan is proven least when no smaller one exists for some of its buffers. So the bound is raised by what the buffers
 * around the fullest sections need, then these with more and more of their neighbours; in between all buffers are
 * searched for a plan that reaches the bound, each time with more effort. */
#include "apart.h"
#include "apart_net.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE = 8 };                       /* part of the effort that one search may take */
enum { NEAR_PART = 256, MUCH_PART = 32 }; /* of the peak: bytes that are near it, and more than are little */
enum {
    FEW_NODES = 2000,
    PARTS = 4
}; /* of the first search for all buffers; one for some of them has so many times more */
enum {
    FEW_LOOKS = 4,
    FIRST_STEP = 1024
};                          /* at a buffer; of what lies above the bound, one part in so many is asked first */
enum { MOST_CENTRES = 16 }; /* around which it is asked for some of the buffers */

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

    net_undo(net, (size_t)c->nchange);
    for (; c->tried < p->nway && effort->nodes > 0 && !net->no_memory; net_undo(net, (size_t)c->nchange)) {
        int     w = c->downward ? p->nway - 1 - c->tried : c->tried;
        int64_t least = net->lo[p->b] - net->hi[p->a], most = net->hi[p->b] - net->lo[p->a];
        c->tried++;
        if (net->way[p->way_at + w].to < least || net->way[p->way_at + w].from > most)
            continue;
        if (!net_choose(net, c->pair, w))
            break;
        if (net_settle(net, effort))
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
    return (Choice){pair, 0,
                    net->way[p->way_at + above].from - distance < distance - net->way[p->way_at + above - 1].to,
                    (int)net->nchange};
}

/* The ranges before anything is decided. */
static bool start(Net *net, int64_t capacity, Effort *effort)
{
    const PlanBuffer *buffer = net->space->problem->buffer;

    net_undo(net, 0);
    for (int b = 0; b < net->space->n; b++) {
        int64_t align = space_align(net->space, b, 0);
        net->lo[b] = buffer[b].fixed >= 0 ? buffer[b].fixed : 0;
        net->hi[b] = buffer[b].fixed >= 0 ? buffer[b].fixed : capacity - buffer[b].size;
        if (net->in[b] && (net->hi[b] < net->lo[b] || net->hi[b] + buffer[b].size > capacity))
            return false;
        net->hi[b] -= net->hi[b] % align;
        if (net->in[b])
            net_wake(net, b);
    }
    return net_settle(net, effort);
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

/* ---------------------------------------------------------------------------------------------------------- proving */

/* What is looked for: plans of more than `enough` and at most `worth` bytes. */
typedef struct Quest {
    const Space *space;
    Effort      *effort;
    int64_t      enough, worth;
    int64_t     *offset; /* [n] best plan so far */
    int64_t     *bound;  /* what is proven, */
    bool        *core;   /* and [n] of which buffers; or NULL */
} Quest;

/* The largest plan that would be of use. */
static int64_t useful(const Quest *q)
{
    int64_t peak = space_peak(q->space, q->offset, NULL);

    return peak - 1 < q->worth ? peak - 1 : q->worth;
}

static bool is_settled(const Quest *q)
{
    int64_t most = useful(q);

    return most < q->enough || most < *q->bound;
}

/* The least peak above `height` that a plan of the buffers in question can have: one of them ends there, at its
 * alignment. */
static int64_t next_peak(const Net *net, int64_t height)
{
    const PlanBuffer *buffer = net->space->problem->buffer;
    int64_t           next = INT64_MAX;

    for (int b = 0; b < net->space->n; b++) {
        int64_t above = height + 1 - buffer[b].size, end;

        if (!net->in[b])
            continue;
        end = buffer[b].size +
              (buffer[b].fixed >= 0 ? buffer[b].fixed : round_up(above > 0 ? above : 0, space_align(net->space, b, 0)));
        next = height < end && end < next ? end : next;
    }
    return next < INT64_MAX ? next : height + 1;
}

/* The buffers in question need so many bytes. */
static void prove(Quest *q, const Net *net, int64_t bytes)
{
    *q->bound = bytes;
    if (q->core)
        memcpy(q->core, net->in, (size_t)net->space->n * sizeof *q->core);
}

/* Asks for a plan of `most` bytes with no more than so many nodes: one that was found for all buffers goes to offset,
 * that there is none raises the bound. */
static SearchAnswer ask(Quest *q, Net *net, int64_t most, int64_t nodes)
{
    int64_t      before = q->effort->nodes;
    Effort       share = *q->effort;
    SearchAnswer answer;

    share.nodes = nodes < before ? nodes : before;
    nodes = share.nodes;
    answer = find(net, most, &share);
    q->effort->nodes = before - (nodes - share.nodes);
    if (answer == SEARCH_NONE)
        prove(q, net, next_peak(net, most));
    if (answer == SEARCH_FOUND && net->all)
        memcpy(q->offset, net->lo, (size_t)net->space->n * sizeof *q->offset);
    return answer;
}

/* The end of the highest buffer in question where they lie lowest. */
static int64_t peak_of(const Net *net)
{
    int64_t peak = 0;

    for (int b = 0; b < net->space->n; b++)
        if (net->in[b] && net->lo[b] + size_of(net, b) > peak)
            peak = net->lo[b] + size_of(net, b);
    return peak;
}

/* How the bound of some buffers is raised. */
typedef struct Climb {
    int64_t most;       /* bytes: the least peak that is found, or the most of use and one more */
    int64_t step;       /* bytes above the bound to ask next */
    int64_t plan, none; /* nodes that the last plan took, 0: none yet, and that it took to show that there is none */
} Climb;

/* What to ask next. As long as hardly more than a look at each buffer shows that there is no plan: ever more above the
 * bound. Then just below the least peak; or halfway down to the bound where much lies between, or plans take more
 * effort than refutations. */
static int64_t next_asked(const Quest *q, const Net *net, Climb *climb)
{
    int64_t bound = *q->bound, half = bound + (climb->most - 1 - bound) / 2;

    if (!climb->plan && climb->none <= FEW_LOOKS * net->count && bound + climb->step < half) {
        climb->step *= 2;
        return bound + climb->step / 2;
    }
    return climb->plan <= climb->none && climb->most - bound <= climb->most / MUCH_PART ? climb->most - 1 : half;
}

/* Raises the bound to what the buffers in question need. False when so many nodes do not suffice. */
static bool raise_bound(Quest *q, Net *net, int64_t nodes)
{
    int64_t      begin = q->effort->nodes, end = begin - nodes, most = useful(q) + 1;
    Climb        climb = {.most = most, .step = (most - *q->bound) / FIRST_STEP + 1};
    SearchAnswer answer = ask(q, net, *q->bound, nodes);

    climb.none = begin - q->effort->nodes;
    while (answer == SEARCH_NONE && *q->bound < climb.most && !is_settled(q)) {
        begin = q->effort->nodes;
        answer = ask(q, net, next_asked(q, net, &climb), begin - end);
        if (answer == SEARCH_FOUND) {
            climb.most = peak_of(net);
            climb.plan = begin - q->effort->nodes;
            answer = SEARCH_NONE;
        } else
            climb.none = begin - q->effort->nodes;
    }
    return answer != SEARCH_STOPPED;
}

typedef struct Centre {
    int64_t bytes; /* live there */
    int     section;
    int     asked; /* buffers around it of which it is known what they need */
} Centre;

/* The same for the buffers within `reach` sections of the centre, unless the same were in question before. */
static int raise_around(Quest *q, Centre *centre, int reach, int64_t nodes)
{
    Net net;
    int status = net_open(&net, q->space, centre->section, reach);

    if (status)
        return status;
    if (net.pair && !net.all && net.count > centre->asked && raise_bound(q, &net, nodes))
        centre->asked = net.count;
    status = net.no_memory ? PLAN_ENOMEM : PLAN_OK;
    net_close(&net);
    return status;
}

static int by_bytes(const void *left, const void *right)
{
    const Centre *a = left, *b = right;
    return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : a->section - b->section;
}

/* The sections with more live bytes than those beside them, the fullest first; returns how many. */
static int find_centres(const Space *s, Centre *centre)
{
    int     count = 0;
    int64_t before = 0;

    for (int t = 0; t < s->nsection; t++)
        centre[t] = (Centre){0, t, 0};
    for (int i = 0; i < s->span_at[s->n]; i++)
        for (int t = s->span[i].begin; t < s->span[i].end; t++)
            centre[t].bytes += s->span[i].hi - s->span[i].lo;
    for (int t = 0; t < s->nsection; t++) {
        int64_t now = centre[t].bytes;
        bool    most = now > before && (t + 1 == s->nsection || now >= centre[t + 1].bytes);
        before = now;
        if (most)
            centre[count++] = centre[t];
    }
    qsort(centre, (size_t)count, sizeof *centre, by_bytes);
    return count;
}

/* Asks for ever smaller plans of all buffers until there is none: for one that reaches the bound, then halfway between
 * what may be possible and the peak. What took too long is taken as impossible, but proves nothing; near the peak it is
 * not halved further. */
static void lower(Quest *q, Net *net)
{
    int64_t least = *q->bound, most = least;
    bool    stopped = false;

    while (least <= most && !is_settled(q) && !effort_is_over(q->effort)) {
        int64_t      asked = stopped && most - least < most / NEAR_PART ? most : least + (most - least) / 2;
        SearchAnswer answer = ask(q, net, asked, q->effort->nodes / SHARE);

        stopped = stopped || answer == SEARCH_STOPPED;
        if (answer != SEARCH_FOUND)
            least = asked + 1;
        most = useful(q);
    }
}

/* Searches all buffers for a plan that reaches the bound, a little longer each time, and in between ever more of the
 * buffers around the centres for a higher bound. */
static int meet(Quest *q, Net *net, Centre *centre, int count)
{
    int     status = PLAN_OK;
    int64_t nodes = FEW_NODES;

    raise_bound(q, net, nodes);
    for (int reach = 1, round = 0;
         reach < q->space->nsection && !status && !is_settled(q) && !effort_is_over(q->effort); reach *= 2, round++) {
        int64_t before = *q->bound;
        for (int i = 0; i < count && i < MOST_CENTRES && !status && !is_settled(q) && !effort_is_over(q->effort); i++)
            status = raise_around(q, &centre[i], reach, PARTS * nodes);
        nodes *= round % 2 ? 2 : 1;
        if ((round % 2 || *q->bound > before) && !status && !is_settled(q))
            raise_bound(q, net, nodes);
    }
    return status;
}

int apart_improve(const Space *s, Effort *effort, int64_t enough, int64_t worth, int64_t *offset, int64_t *bound,
                  bool *core)
{
    Quest   q = {s, effort, enough, worth, offset, bound, core};
    Net     net;
    Centre *centre;
    int64_t spared = effort->nodes / 2; /* for smaller plans, where the bound is not reached */
    int     status = is_settled(&q) ? PLAN_OK : net_open(&net, s, 0, s->nsection);

    if (status || is_settled(&q))
        return status;
    centre = malloc(((size_t)s->nsection + 1) * sizeof *centre);
    status = centre ? PLAN_OK : PLAN_ENOMEM;
    effort->nodes -= spared;
    if (net.pair && !status)
        status = meet(&q, &net, centre, find_centres(s, centre));
    effort->nodes += spared;
    if (net.pair && !status)
        lower(&q, &net);
    status = status ? status : net.no_memory ? PLAN_ENOMEM : PLAN_OK;
    net_close(&net);
    free(centre);
    return status;
}
