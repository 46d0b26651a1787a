/* disjunctive.c - exact search by disjunctions.
 * Two buffers that are live together lie one above the other; with windows or an overlap constraint there may be more
 * ways. Each way is a disjunct: a range for the distance of their offsets (propagate.h). The search keeps a range for
 * the offset of each buffer, and repeats:
 *   1. All buffers are put at the lowest offset of their range. If no two of them collide this is a plan.
 *   2. Else a colliding pair is picked, one of its disjuncts is decided for, and all ranges are narrowed to what that
 *      leaves (precedence constraint posting: Cheng and Smith, "Generating Feasible Schedules under Complex Metric
 *      Constraints", AAAI 1994).
 *   3. If a range becomes empty the search goes back to the last decision and takes its next disjunct. If no disjunct
 *      is left at the first decision, there is no plan below the capacity.
 *
 * A bound proven for some of the buffers holds for all of them, and is cheaper. So the bound is raised by the buffers
 * around the fullest sections, then by these with more and more neighbours. In between the search looks for a plan of
 * all buffers that reaches the bound, each time with more effort. */
#include "disjunctive.h"
#include "propagate.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE = 8 };                         /* one search of lower_peak may take 1/SHARE of the effort */
enum { NEAR_PART = 256, MUCH_PART = 32 };   /* gaps below 1/NEAR_PART of the peak are small, above 1/MUCH_PART large */
enum { FEW_NODES = 2000, SOME_FACTOR = 4 }; /* nodes of the first search for all buffers; a multiple for some of them */
enum { FEW_VISITS = 4 };                    /* a refutation of so many nodes for each buffer is cheap */
enum { FIRST_STEP = 1024 };                 /* the first peak tested is 1/FIRST_STEP of the gap above the bound */
enum { MOST_CENTRES = 16 };                 /* sections around which the bound is raised */

static int64_t size_of(const Network *net, int32_t b)
{
    return net->space->problem->buffer[b].size;
}

/* The pair that collides at the lowest offsets and has the most bytes; -1 if none does. */
static int32_t colliding(const Network *net)
{
    int64_t most = -1;
    int32_t found = -1;

    for (int i = 0; i < net->npair; i++) {
        const Disjunction *p = &net->pair[i];
        int64_t            distance = net->lo[p->b] - net->lo[p->a], bytes = size_of(net, p->a) + size_of(net, p->b);
        bool               satisfied = false;
        if (bytes <= most)
            continue;
        for (int w = 0; w < p->ndisjunct && !satisfied; w++)
            satisfied =
                net->disjunct[p->disjunct_at + w].from <= distance && distance <= net->disjunct[p->disjunct_at + w].to;
        if (!satisfied) {
            most = bytes;
            found = i;
        }
    }
    return found;
}

/* Undoes the changes of a decision and of those after it, and decides for its next disjunct; false if none is left. */
static bool next_disjunct(Network *net, Decision *c, Effort *effort)
{
    Disjunction *p = &net->pair[c->pair];

    network_undo(net, (size_t)c->nchange);
    for (; c->tried < p->ndisjunct && effort->nodes > 0 && !net->no_memory; network_undo(net, (size_t)c->nchange)) {
        int     w = c->downward ? p->ndisjunct - 1 - c->tried : c->tried;
        int64_t least = net->lo[p->b] - net->hi[p->a], most = net->hi[p->b] - net->lo[p->a];
        c->tried++;
        if (net->disjunct[p->disjunct_at + w].to < least || net->disjunct[p->disjunct_at + w].from > most)
            continue;
        if (!network_choose(net, c->pair, w))
            break;
        if (network_propagate(net, effort))
            return true;
    }
    return false;
}

/* A new decision for a colliding pair. The disjunct that moves its buffer less is tried first. */
static Decision choose(const Network *net, int32_t pair)
{
    const Disjunction *p = &net->pair[pair];
    int64_t            distance = net->lo[p->b] - net->lo[p->a];
    int                above = 0;

    while (net->disjunct[p->disjunct_at + above].from <= distance)
        above++;
    return (Decision){pair, 0,
                      net->disjunct[p->disjunct_at + above].from - distance <
                          distance - net->disjunct[p->disjunct_at + above - 1].to,
                      (int)net->nchange};
}

/* Resets the ranges to what the capacity leaves, before any decision. */
static bool start(Network *net, int64_t capacity, Effort *effort)
{
    const PlanBuffer *buffer = net->space->problem->buffer;

    network_undo(net, 0);
    for (int b = 0; b < net->space->n; b++) {
        int64_t align = space_align(net->space, b, 0);
        net->lo[b] = buffer[b].fixed >= 0 ? buffer[b].fixed : 0;
        net->hi[b] = buffer[b].fixed >= 0 ? buffer[b].fixed : capacity - buffer[b].size;
        if (net->included[b] && (net->hi[b] < net->lo[b] || net->hi[b] + buffer[b].size > capacity))
            return false;
        net->hi[b] -= net->hi[b] % align;
        if (net->included[b])
            network_wake(net, b);
    }
    return network_propagate(net, effort);
}

/* Depth-first search for a plan of the included buffers with no end above capacity; the plan is net->lo. */
static SearchAnswer find(Network *net, int64_t capacity, Effort *effort)
{
    int  nchoice = 0;
    bool good = start(net, capacity, effort);

    while (!effort_is_over(effort) && !net->no_memory) {
        if (good) {
            int32_t pair = colliding(net);
            if (pair < 0)
                return SEARCH_FOUND;
            net->choice[nchoice++] = choose(net, pair);
        }
        while (nchoice && !(good = next_disjunct(net, &net->choice[nchoice - 1], effort)))
            nchoice--;
        if (!nchoice)
            return effort->nodes > 0 && !net->no_memory ? SEARCH_NONE : SEARCH_STOPPED;
    }
    return SEARCH_STOPPED;
}

/* ---------------------------------------------------------------------------------------------------------- proving */

/* The incumbent: the best plan so far, the bound, and the peaks at which the search may stop. */
typedef struct Incumbent {
    const Space *space;
    Effort      *effort;
    int64_t      target;      /* bytes: a plan as small as this needs no improvement */
    int64_t      upper_bound; /* bytes: a larger plan is of no use */
    int64_t     *offset;      /* [n] best plan so far */
    int64_t     *bound;       /* bytes: what is proven */
    bool        *core;        /* [n] the buffers that need *bound bytes; or NULL */
} Incumbent;

/* The largest peak that a new plan may have to be of use. */
static int64_t largest_useful(const Incumbent *q)
{
    int64_t peak = space_peak(q->space, q->offset, NULL);

    return peak - 1 < q->upper_bound ? peak - 1 : q->upper_bound;
}

static bool is_done(const Incumbent *q)
{
    int64_t most = largest_useful(q);

    return most < q->target || most < *q->bound;
}

/* The least peak above `height` that a plan of the included buffers can have. Some buffer ends there, at an offset that
 * its alignment allows. */
static int64_t next_peak(const Network *net, int64_t height)
{
    const PlanBuffer *buffer = net->space->problem->buffer;
    int64_t           next = INT64_MAX;

    for (int b = 0; b < net->space->n; b++) {
        int64_t above = height + 1 - buffer[b].size, end;

        if (!net->included[b])
            continue;
        end = buffer[b].size +
              (buffer[b].fixed >= 0 ? buffer[b].fixed : round_up(above > 0 ? above : 0, space_align(net->space, b, 0)));
        next = height < end && end < next ? end : next;
    }
    return next < INT64_MAX ? next : height + 1;
}

/* Records a proof: the included buffers need so many bytes. */
static void prove(Incumbent *q, const Network *net, int64_t bytes)
{
    *q->bound = bytes;
    if (q->core)
        memcpy(q->core, net->included, (size_t)net->space->n * sizeof *q->core);
}

/* Searches for a plan of `most` bytes with at most so many nodes. A plan of all buffers becomes the incumbent; a
 * refutation raises the bound. */
static SearchAnswer test_peak(Incumbent *q, Network *net, int64_t most, int64_t nodes)
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

/* The peak of the included buffers at their lowest offsets. */
static int64_t peak_of(const Network *net)
{
    int64_t peak = 0;

    for (int b = 0; b < net->space->n; b++)
        if (net->included[b] && net->lo[b] + size_of(net, b) > peak)
            peak = net->lo[b] + size_of(net, b);
    return peak;
}

/* The state of a search for the least peak of the included buffers. */
typedef struct Ascent {
    int64_t most;             /* bytes: the least peak found; at first one more than the largest that is of use */
    int64_t step;             /* bytes above the bound to test next */
    int64_t plan_nodes;       /* nodes that the last plan took, 0: none yet */
    int64_t refutation_nodes; /* nodes that the last refutation took */
} Ascent;

/* The next peak to test. As long as refutations cost hardly more than one visit of each buffer, it grows in doubling
 * steps above the bound. Then it is just below the least peak found. But it is halfway down to the bound where the two
 * are far apart, or where plans cost more than refutations. */
static int64_t next_tested(const Incumbent *q, const Network *net, Ascent *ascent)
{
    int64_t bound = *q->bound, half = bound + (ascent->most - 1 - bound) / 2;

    if (!ascent->plan_nodes && ascent->refutation_nodes <= FEW_VISITS * net->count && bound + ascent->step < half) {
        ascent->step *= 2;
        return bound + ascent->step / 2;
    }
    return ascent->plan_nodes <= ascent->refutation_nodes && ascent->most - bound <= ascent->most / MUCH_PART
               ? ascent->most - 1
               : half;
}

/* Raises the bound to the least peak of the included buffers; false if the nodes do not suffice. */
static bool raise_bound(Incumbent *q, Network *net, int64_t nodes)
{
    int64_t      begin = q->effort->nodes, end = begin - nodes, most = largest_useful(q) + 1;
    Ascent       ascent = {.most = most, .step = (most - *q->bound) / FIRST_STEP + 1};
    SearchAnswer answer = test_peak(q, net, *q->bound, nodes);

    ascent.refutation_nodes = begin - q->effort->nodes;
    while (answer == SEARCH_NONE && *q->bound < ascent.most && !is_done(q)) {
        begin = q->effort->nodes;
        answer = test_peak(q, net, next_tested(q, net, &ascent), begin - end);
        if (answer == SEARCH_FOUND) {
            ascent.most = peak_of(net);
            ascent.plan_nodes = begin - q->effort->nodes;
            answer = SEARCH_NONE;
        } else
            ascent.refutation_nodes = begin - q->effort->nodes;
    }
    return answer != SEARCH_STOPPED;
}

typedef struct Centre {
    int64_t bytes; /* live there */
    int     section;
    int     included; /* buffers around it whose least peak is known */
} Centre;

/* Raises the bound by the buffers within `reach` sections of the centre, unless that adds no buffer to the last
 * time. */
static int raise_around(Incumbent *q, Centre *centre, int reach, int64_t nodes)
{
    Network net;
    int     status = network_open(&net, q->space, centre->section, reach);

    if (status)
        return status;
    if (net.pair && !net.all && net.count > centre->included && raise_bound(q, &net, nodes))
        centre->included = net.count;
    status = net.no_memory ? PLAN_ENOMEM : PLAN_OK;
    network_close(&net);
    return status;
}

static int by_bytes(const void *left, const void *right)
{
    const Centre *a = left, *b = right;
    return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : a->section - b->section;
}

/* The centres: sections with more live bytes than their neighbours, the fullest first; returns how many. */
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

/* Searches for ever smaller plans of all buffers, halfway between what may be possible and the peak, until there is
 * none. A peak whose search took too long is treated as impossible, but proves nothing; near the peak the range is no
 * longer halved. */
static void lower_peak(Incumbent *q, Network *net)
{
    int64_t least = *q->bound, most = least;
    bool    stopped = false;

    while (least <= most && !is_done(q) && !effort_is_over(q->effort)) {
        int64_t      tested = stopped && most - least < most / NEAR_PART ? most : least + (most - least) / 2;
        SearchAnswer answer = test_peak(q, net, tested, q->effort->nodes / SHARE);

        stopped = stopped || answer == SEARCH_STOPPED;
        if (answer != SEARCH_FOUND)
            least = tested + 1;
        most = largest_useful(q);
    }
}

/* Closes the gap from both sides: searches for a plan of all buffers that reaches the bound, a little longer each time,
 * and in between raises the bound by ever more buffers around the centres. */
static int close_gap(Incumbent *q, Network *net, Centre *centre, int count)
{
    int     status = PLAN_OK;
    int64_t nodes = FEW_NODES;

    raise_bound(q, net, nodes);
    for (int reach = 1, round = 0; reach < q->space->nsection && !status && !is_done(q) && !effort_is_over(q->effort);
         reach *= 2, round++) {
        int64_t before = *q->bound;
        for (int i = 0; i < count && i < MOST_CENTRES && !status && !is_done(q) && !effort_is_over(q->effort); i++)
            status = raise_around(q, &centre[i], reach, SOME_FACTOR * nodes);
        nodes *= round % 2 ? 2 : 1;
        if ((round % 2 || *q->bound > before) && !status && !is_done(q))
            raise_bound(q, net, nodes);
    }
    return status;
}

int disjunctive_improve(const Space *s, Effort *effort, int64_t target, int64_t upper_bound, int64_t *offset,
                        int64_t *bound, bool *core)
{
    Incumbent q = {s, effort, target, upper_bound, offset, bound, core};
    Network   net;
    Centre   *centre;
    int64_t   spared = effort->nodes / 2; /* kept for lower_peak, if the bound is not reached */
    int       status = is_done(&q) ? PLAN_OK : network_open(&net, s, 0, s->nsection);

    if (status || is_done(&q))
        return status;
    centre = malloc(((size_t)s->nsection + 1) * sizeof *centre);
    status = centre ? PLAN_OK : PLAN_ENOMEM;
    effort->nodes -= spared;
    if (net.pair && !status)
        status = close_gap(&q, &net, centre, find_centres(s, centre));
    effort->nodes += spared;
    if (net.pair && !status)
        lower_peak(&q, &net);
    status = status ? status : net.no_memory ? PLAN_ENOMEM : PLAN_OK;
    network_close(&net);
    free(centre);
    return status;
}
