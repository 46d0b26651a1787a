/* regions.c - which buffer lies in which memory.
 * The problem is a knapsack whose content must also be packed. Regions are filled one after another, the fastest first.
 * Depth-first branch and bound: buffers are decided by falling traffic per byte; each is taken into the region if
 * plan_place can pack it with those taken before, then the branch without it is searched. What is left out goes to the
 * next region in the same way, and all that is left into the last.
 * A branch ends where even its upper bound is not better than the incumbent. In each step the live bytes above the
 * region's size must stay outside, at best those with the least traffic, in fractions (Dantzig's bound of the
 * knapsack). Problems of more than MOST_FOR_SEARCH buffers are decided once in each of a few orders, without going
 * back. */
#include "regions.h"
#include "subproblem.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FOR_SEARCH = 40, MOST_FOR_PACKING = 700 }; /* buffers; above: dives, greedy placement */
enum { NODES_OF_PACKING = 2000 };                      /* effort of one question whether a region holds buffers */
enum { DIVES = 3, DECISIONS = 40 }; /* orders for problems that are not searched; their decisions for each buffer */

typedef enum Outcome { FITS, DOES_NOT_FIT, NOT_KNOWN, NO_MEMORY } Outcome;

/* The decision which buffers lie in one region and which go to later ones. */
typedef struct Split {
    int      level; /* the region that is filled */
    int     *order; /* [n] the buffers that are left to it and to later ones, in the order of decision */
    int      n;
    int64_t *best;      /* [nregion] the incumbent's traffic in each region from level on; best[level] -1: none yet */
    bool     once;      /* the first complete decision is enough */
    int      decisions; /* decisions left, if `once` */
} Split;

/* The search through all regions. */
typedef struct Filling {
    const Space *space;
    Effort      *effort;
    int64_t     *offset; /* [space->n] the incumbent */
    int32_t     *region; /* [space->n] */
    int32_t     *choice; /* [space->n] the region that takes the buffer, -1: a later one, -2: not decided */
    bool         exact;  /* no branch was cut for lack of effort so far */
    int64_t     *trial;  /* [space->n] offsets of the region being filled */
    int64_t left; /* decisions left to all dives together, since each decision of a dive can begin dives below it */
} Filling;

static int64_t traffic_of(const Filling *f, int b)
{
    return f->space->problem->buffer[b].traffic;
}

/* ------------------------------------------------------------------------------------------------- one region alone */

/* Can the buffers that region `level` takes be packed into it? Their offsets go to trial[]. least: the smallest peak is
 * wanted. */
static Outcome pack(Filling *f, int level, bool least)
{
    PlanRegion region = f->space->region[level];
    PlanLimits limits = {.nodes = NODES_OF_PACKING, .seed = f->effort->seed, .fit = !least};
    PlanResult result = {0};
    SubProblem k;
    bool       open = subproblem_open(&k, f->space->problem, f->choice, level);
    Outcome    outcome = NO_MEMORY;

    region.size = region.size == INT64_MAX ? 0 : region.size;
    limits.capacity = region.size;
    k.problem.region = &region;
    k.problem.nregion = 1;
    result.offset = open ? calloc((size_t)k.problem.nbuffer + 1, sizeof *result.offset) : NULL;
    if (result.offset && plan_place(&k.problem, &limits, &result) == PLAN_OK) {
        bool found = result.status == PLAN_OPTIMAL || result.status == PLAN_FEASIBLE;

        outcome = found ? FITS : result.status == PLAN_INFEASIBLE ? DOES_NOT_FIT : NOT_KNOWN;
        for (int i = 0; i < k.problem.nbuffer; i++)
            f->trial[k.origin[i]] = result.offset[i];
        f->effort->nodes -= result.nodes + 1;
    }
    free(result.offset);
    subproblem_close(&k);
    return outcome;
}

/* -------------------------------------------------------------------------------------------------------- the bound */

/* The least traffic that must stay outside the region because of one section: its live bytes above the region's size,
 * of the least traffic per byte. Buffers with overlap constraints do not count. The order of the split falls in traffic
 * per byte, so it is walked from its end. */
static double loss_at(const Filling *f, const Split *s, int section)
{
    const Space *space = f->space;
    double       excess = -(double)space->region[s->level].size, loss = 0;

    for (int pass = 0; pass < 2; pass++)
        for (int i = s->n; i-- > 0 && (pass == 0 || excess > 0);) { /* from the least traffic per byte */
            int     b = s->order[i];
            int64_t bytes = 0;

            if (f->choice[b] == -1 || space->safe_at[b] < space->safe_at[b + 1])
                continue;
            for (int k = space->span_at[b]; k < space->span_at[b + 1]; k++)
                if (span_is_live(&space->span[k], section))
                    bytes += space->span[k].hi - space->span[k].lo;
            if (!bytes)
                continue;
            if (pass == 0) {
                excess += (double)bytes;
            } else if (f->choice[b] == -2) {
                double part = excess < (double)bytes ? excess / (double)bytes : 1;

                loss += part * (double)traffic_of(f, b);
                excess -= (double)bytes;
            }
        }
    return loss;
}

/* An upper bound of the region's traffic over all plans that complete the decisions. */
static double most_traffic(const Filling *f, const Split *s)
{
    double all = 0, loss = 0;

    for (int i = 0; i < s->n; i++)
        if (f->choice[s->order[i]] != -1)
            all += (double)traffic_of(f, s->order[i]);
    for (int t = 0; t < f->space->nsection; t++) {
        double here = loss_at(f, s, t);
        loss = here > loss ? here : loss;
    }
    return all - loss;
}

/* ------------------------------------------------------------------------------------------------------- the search */

static Outcome fill(Filling *f, int level, const int *buffer, int n, int64_t *best);

static bool is_better(const int64_t *a, const int64_t *b, int from, int count)
{
    for (int r = from; r < count; r++)
        if (a[r] != b[r])
            return a[r] > b[r];
    return false;
}

/* Packs a region whose buffers are decided, and fills the later ones. Keeps the plan if it beats the incumbent. */
static Outcome close_region(Filling *f, const Split *s)
{
    int     *left = calloc((size_t)s->n + 1, sizeof *left), count = 0;
    int64_t  found[32] = {0}, *offset = malloc(((size_t)f->space->n + 1) * sizeof *offset);
    int32_t *region = malloc(((size_t)f->space->n + 1) * sizeof *region);
    size_t   n = (size_t)f->space->n;
    Outcome  outcome = left && offset && region ? FITS : NO_MEMORY;

    if (outcome == FITS)
        outcome = pack(f, s->level, false);
    if (outcome == FITS) {
        memcpy(offset, f->offset, n * sizeof *offset);
        memcpy(region, f->region, n * sizeof *region);
        for (int i = 0; i < s->n; i++) {
            int b = s->order[i];

            if (f->choice[b] != s->level) {
                left[count++] = b;
                continue;
            }
            f->offset[b] = f->trial[b];
            f->region[b] = s->level;
            found[s->level] += traffic_of(f, b);
        }
        outcome = fill(f, s->level + 1, left, count, found);
        for (int i = 0; i < count; i++)
            f->choice[left[i]] = -1;
        if (outcome == FITS && (s->best[s->level] < 0 || is_better(found, s->best, s->level, f->space->nregion))) {
            memcpy(s->best + s->level, found + s->level, (size_t)(f->space->nregion - s->level) * sizeof *found);
        } else {
            memcpy(f->offset, offset, n * sizeof *offset);
            memcpy(f->region, region, n * sizeof *region);
        }
    }
    free(left);
    free(offset);
    free(region);
    return outcome;
}

/* Can no completion of the decisions beat the incumbent? */
static bool is_hopeless(const Filling *f, const Split *s)
{
    bool   ties = f->space->nregion - s->level > 2; /* equal traffic here may come with more in a later region */
    double most;

    if (s->best[s->level] < 0)
        return false;
    most = most_traffic(f, s) + 1e-6;
    return most < (double)s->best[s->level] || (!ties && most < (double)s->best[s->level] + 1);
}

/* Decides for order[at] and all buffers behind it. FITS: a plan was found. */
static Outcome decide(Filling *f, Split *s, int at)
{
    Outcome result = DOES_NOT_FIT;
    int     b;

    while (at < s->n && !space_allows(f->space, s->order[at], s->level))
        f->choice[s->order[at++]] = -1;
    if (at == s->n)
        return close_region(f, s);
    if (s->once ? s->decisions-- <= 0 || f->left-- <= 0 : effort_is_over(f->effort))
        return NOT_KNOWN;
    if (!s->once && is_hopeless(f, s))
        return DOES_NOT_FIT;
    b = s->order[at];
    f->effort->nodes--;
    for (int taken = 1; taken >= 0; taken--) {
        Outcome outcome;

        f->choice[b] = taken ? s->level : -1;
        outcome = taken ? pack(f, s->level, false) : FITS;
        if (outcome == FITS)
            outcome = decide(f, s, at + 1);
        if (outcome == NO_MEMORY)
            return outcome;
        if (outcome == NOT_KNOWN)
            f->exact = false;
        result = outcome == FITS || result == FITS ? FITS : outcome == NOT_KNOWN ? outcome : result;
        if (s->once && outcome == FITS)
            break;
    }
    for (int i = at; i < s->n; i++)
        f->choice[s->order[i]] = -2;
    return result;
}

/* Sorts the buffers by falling traffic per byte (0), per byte and step (1), or in sum (2). */
static bool rank(const Filling *f, const int *buffer, int n, int which, int *order)
{
    RankedBuffer *ranked = malloc(((size_t)n + 1) * sizeof *ranked);

    for (int i = 0; i < n && ranked; i++) {
        int    b = buffer[i];
        double size = (double)f->space->problem->buffer[b].size + 1, life = f->space->end[b] - f->space->begin[b] + 1;

        ranked[i] = (RankedBuffer){{(double)traffic_of(f, b) / (which == 2 ? 1 : which == 1 ? size * life : size)}, b};
    }
    if (ranked)
        ranked_sort(ranked, n);
    for (int i = 0; i < n && ranked; i++)
        order[i] = ranked[i].buffer;
    free(ranked);
    return ranked != NULL;
}

/* The last region takes all that is left. */
static Outcome fill_last(Filling *f, int level, const int *buffer, int n, int64_t *best)
{
    Outcome outcome = FITS;

    best[level] = 0;
    for (int i = 0; i < n; i++) {
        f->choice[buffer[i]] = level;
        f->region[buffer[i]] = level;
        best[level] += traffic_of(f, buffer[i]);
        if (!space_allows(f->space, buffer[i], level))
            outcome = DOES_NOT_FIT;
    }
    if (outcome == FITS)
        outcome = pack(f, level, false);
    for (int i = 0; i < n && outcome == FITS; i++)
        f->offset[buffer[i]] = f->trial[buffer[i]];
    return outcome;
}

/* The best plan of these buffers in the regions from `level` on; best[] becomes the traffic of each. */
static Outcome fill(Filling *f, int level, const int *buffer, int n, int64_t *best)
{
    Split   s = {level, malloc(((size_t)n + 1) * sizeof(int)), n, best, n > MOST_FOR_SEARCH, 0};
    Outcome outcome = s.order ? DOES_NOT_FIT : NO_MEMORY;
    bool    known = true;

    if (s.order && level + 1 == f->space->nregion)
        outcome = fill_last(f, level, buffer, n, best);
    else if (s.order) {
        best[level] = -1;
        for (int which = n <= MOST_FOR_SEARCH ? 0 : DIVES - 1; which >= 0 && outcome != NO_MEMORY; which--) {
            Outcome one = NO_MEMORY;

            for (int i = 0; i < n; i++)
                f->choice[buffer[i]] = -2;
            s.decisions = 3 * n;
            if (rank(f, buffer, n, which, s.order))
                one = decide(f, &s, 0);
            known = known && one != NOT_KNOWN && !s.once;
            outcome = one == NO_MEMORY || one == FITS ? one : outcome;
        }
        f->exact = f->exact && known;
        outcome = outcome == DOES_NOT_FIT && !known ? NOT_KNOWN : outcome;
    }
    free(s.order);
    return outcome;
}

/* -------------------------------------------------------------------------------------------------------- the whole */

/* Packs each region anew for its smallest peak; its buffers are decided. */
static Outcome compact(Filling *f)
{
    Outcome outcome = FITS;

    memcpy(f->choice, f->region, (size_t)f->space->n * sizeof *f->choice);
    for (int r = 0; r < f->space->nregion && outcome != NO_MEMORY; r++) {
        outcome = pack(f, r, true);
        for (int b = 0; b < f->space->n && outcome == FITS; b++)
            if (f->region[b] == r)
                f->offset[b] = f->trial[b];
    }
    return outcome;
}

static int place_all(Filling *f, int *buffer, bool *proven)
{
    int64_t best[32];
    int     n = f->space->n;
    Outcome outcome = NOT_KNOWN;

    for (int b = 0; b < n; b++)
        buffer[b] = b;
    if (n <= MOST_FOR_PACKING)
        outcome = fill(f, 0, buffer, n, best);
    if (outcome == FITS)
        outcome = compact(f) == NO_MEMORY ? NO_MEMORY : FITS;
    *proven = f->exact && (outcome == FITS || outcome == DOES_NOT_FIT);
    if (outcome == FITS)
        return PLAN_OK;
    if (outcome == NO_MEMORY)
        return PLAN_ENOMEM;
    f->effort->nodes -= n;
    return greedy_place(f->space, GREEDY_BIGGER, false, f->offset,
                        f->region); /* each buffer in the first region with room */
}

int regions_place(const Space *s, Effort *effort, int64_t *offset, int32_t *region, bool *proven)
{
    size_t  n = (size_t)s->n + 1;
    Filling f = {.space = s,
                 .effort = effort,
                 .offset = offset,
                 .region = region,
                 .choice = malloc(n * sizeof(int32_t)),
                 .exact = true,
                 .trial = calloc(n, sizeof(int64_t)),
                 .left = DECISIONS * (int64_t)s->n};
    int    *buffer = malloc(n * sizeof *buffer), status = PLAN_ENOMEM;

    *proven = false;
    for (int b = 0; b < s->n && f.choice; b++)
        f.choice[b] = -2;
    if (f.choice && f.trial && buffer)
        status = place_all(&f, buffer, proven);
    free(f.choice);
    free(f.trial);
    free(buffer);
    return status;
}
