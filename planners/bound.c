/* bound.c - the lower bound by live bytes: what any plan needs because it is live in the same step.
 * A sweep visits the sections in which something is born. Without overlap constraints the bound is the largest sum of
 * the live windows. With them the union of the live windows is at least each of these two:
 *   - the sum, less for each constrained pair the largest overlap that its constraint admits (Bonferroni);
 *   - the size of any set of live windows no two of which may overlap; the set is chosen greedily by size.
 *
 * Alignment raises the bound. Where offsets are multiples of a granule of G bytes, a window occupies whole granules:
 * with G = 64 a window of 80 bytes occupies two, and its tail slack is 128 - 80 = 48 bytes. The bound counts granules,
 * less the slack that a plan can still use (unused_granules):
 *   - nothing need lie above the topmost window, so its tail slack is not needed;
 *   - a filler, that is a buffer of a smaller alignment, may begin in the tail slack of a window below it. */
#include "space.h"

#include <stdlib.h>

enum { MOST_GRANULES = 8 }; /* alignments tried as granules, the smallest first */

static int by_begin(const void *left, const void *right)
{
    const PlanSpan *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The granules of a window: from the first that begins in it to the end of the last that it touches. With G = 64 those
 * of bytes [32,144) are [64,192). A window that lies beside it cannot touch them. A granule in which the window begins
 * halfway belongs to its neighbour. */
static int64_t first_granule(const PlanSpan *window, int64_t granule)
{
    return round_up(window->lo, granule);
}

static int64_t last_granule(const PlanSpan *window, int64_t granule)
{
    return round_up(window->hi, granule);
}

/* Bytes of the window's last granule behind the window. */
static int64_t tail_slack(const PlanSpan *window, int64_t granule)
{
    return last_granule(window, granule) - window->hi;
}

/* The largest overlap of the granules of two windows that an overlap constraint of their buffers admits. It depends on
 * the distance x = offset[a] - offset[b]: it grows with x up to `left`, is constant up to `right`, as long as one
 * window lies within the other, and then falls. So of the distances from `above` on, and of those up to -below, only
 * the one nearest to that range matters. */
static int64_t admitted(const Space *s, const PlanSpan *a, const PlanSpan *b, int64_t granule)
{
    int64_t alo = first_granule(a, granule), ahi = last_granule(a, granule), blo = first_granule(b, granule),
            bhi = last_granule(b, granule);
    int64_t left = smaller(blo - alo, bhi - ahi), right = larger(blo - alo, bhi - ahi), best = 0;

    for (int i = s->safe_at[a->buffer]; i < s->safe_at[a->buffer + 1]; i++) {
        const SafeDistance *safe = &s->safe[i];
        int64_t             above = larger(safe->above, left), below = smaller(-safe->below, right);

        if (safe->other != b->buffer)
            continue;
        best = larger(best, smaller(ahi + above, bhi) - larger(alo + above, blo));
        best = larger(best, smaller(ahi + below, bhi) - larger(alo + below, blo));
    }
    return best;
}

/* A filler: a window whose buffer need not begin at a multiple of the granule. */
static bool is_filler(const Space *s, const PlanSpan *window, int64_t granule)
{
    return space_align(s, window->buffer, 0) % granule != 0;
}

/* The two largest tail slacks of aligned windows, and the number of fillers. */
typedef struct TwoSlacks {
    int64_t first, second;
    int     fillers;
} TwoSlacks;

static TwoSlacks find_slacks(const Space *s, PlanSpan *const *live, int nlive, int64_t granule)
{
    TwoSlacks r = {0, 0, 0};

    for (int i = 0; i < nlive; i++) {
        int64_t slack = tail_slack(live[i], granule);
        if (is_filler(s, live[i], granule)) {
            r.fillers++;
        } else if (slack > r.first) {
            r.second = r.first;
            r.first = slack;
        } else {
            r.second = larger(r.second, slack);
        }
    }
    return r;
}

/* The tail slack of a filler that begins at a multiple of the granule. */
static int64_t own_slack(const PlanSpan *filler, int64_t granule)
{
    return round_up(filler->hi - filler->lo, granule) - (filler->hi - filler->lo);
}

/* Bytes that a plan need not use where the only filler begins in a tail slack of `host` bytes and `other` is the
 * largest slack that is left. With G = 64, host = 48 and own = 24 the filler saves one granule, because 48 + 24 >= 64,
 * and the remaining 8 bytes count as slack on top. */
static int64_t unused_beside(int64_t host, int64_t other, int64_t own, int64_t granule)
{
    int64_t both = host + own;

    return (both >= granule ? granule : 0) + larger(other, both % granule);
}

/* Of the granules counted for these windows, the bytes that a plan need not use. A filler needs one new granule less
 * than it counts if it begins in a tail slack that, with its own, makes up a whole granule. With several fillers one
 * may begin in the tail slack of another, which can be anything up to G - 1 bytes. A single filler takes the largest
 * slack or the second largest; if it takes the largest, another window must be on top. */
static int64_t unused_granules(const Space *s, PlanSpan *const *live, int nlive, int64_t granule)
{
    TwoSlacks r = find_slacks(s, live, nlive, granule);
    int64_t   shared = 0, top = r.first, slack = r.fillers > 1 ? granule - 1 : r.first;

    for (int i = 0; i < nlive && r.fillers; i++) {
        int64_t own = own_slack(live[i], granule);

        if (!is_filler(s, live[i], granule))
            continue;
        if (r.fillers == 1)
            return larger(unused_beside(r.first, r.second, own, granule),
                          unused_beside(r.second, r.first, own, granule));
        shared += slack + own >= granule ? granule : 0;
        top = larger(top, (slack + own) % granule);
    }
    return shared + top;
}

/* Bytes of the granules that a window is counted with; those of a filler hold wherever it begins. */
static int64_t granules_of(const Space *s, const PlanSpan *window, int64_t granule)
{
    return is_filler(s, window, granule) ? round_up(window->hi - window->lo, granule)
                                         : last_granule(window, granule) - first_granule(window, granule);
}

/* A lower bound of the bytes of granules that the live windows cover together, less what a plan need not use. */
static int64_t union_with_overlaps(const Space *s, PlanSpan **live, int nlive, int64_t granule, char *taken)
{
    int64_t sum = 0, exclusive = 0;

    for (int i = 0; i < nlive; i++) { /* live[] is sorted by falling size */
        bool    free_of_all = true, constrained = s->safe_at[live[i]->buffer] < s->safe_at[live[i]->buffer + 1];
        int64_t granules = granules_of(s, live[i], granule);
        if (constrained && is_filler(s, live[i], granule))
            return 0; /* a filler may share granules with its partner in ways that are not counted here */
        sum += granules;
        for (int j = 0; j < i && constrained; j++) {
            int64_t overlap = admitted(s, live[i], live[j], granule);
            sum -= overlap;
            if (overlap && taken[j])
                free_of_all = false;
        }
        taken[i] = free_of_all;
        if (free_of_all)
            exclusive += granules;
    }
    return larger(sum, exclusive) - unused_granules(s, live, nlive, granule);
}

/* The least alignment of a live buffer above this one; 0 if there is none, or several regions. */
static int64_t next_granule(const Space *s, int64_t above)
{
    int64_t granule = 0;

    for (int b = 0; b < s->n && s->nregion == 1; b++) {
        int64_t align = space_align(s, b, 0);
        if (space_live(s, b) && align > above && (!granule || align < granule))
            granule = align;
    }
    return granule;
}

/* The bound without overlap constraints: the largest sum of granules over the sections, less what a plan need not use
 * of them, if it is above `best`; else `best`. sum[] holds nsection + 1 zeroes, live[] has room for all spans. */
static int64_t bound_without_overlaps(const Space *s, int64_t granule, int64_t best, int64_t *sum, PlanSpan **live,
                                      int32_t *section)
{
    int count = s->span_at[s->n];

    for (int i = 0; i < count; i++) {
        int64_t granules = granules_of(s, &s->span[i], granule);
        sum[s->span[i].begin] += granules;
        sum[s->span[i].end] -= granules;
    }
    for (int t = 1; t < s->nsection; t++)
        sum[t] += sum[t - 1];
    for (int t = 0; t < s->nsection; t++) {
        int nlive = 0;
        if (sum[t] <= best)
            continue;
        for (int i = 0; i < count && granule > 1; i++)
            if (span_is_live(&s->span[i], t))
                live[nlive++] = &s->span[i];
        sum[t] -= unused_granules(s, live, nlive, granule);
        if (sum[t] > best) {
            best = sum[t];
            *section = t;
        }
    }
    return best;
}

/* Adds one span to the live ones, which are sorted by falling size. */
static void enter(PlanSpan **live, int *nlive, PlanSpan *span)
{
    int at = (*nlive)++;

    for (; at > 0 && live[at - 1]->hi - live[at - 1]->lo < span->hi - span->lo; at--)
        live[at] = live[at - 1];
    live[at] = span;
}

/* Drops the spans that end before this section, and sums up the granules of the others. */
static int drop_dead(const Space *s, PlanSpan **live, int nlive, int32_t section, int64_t granule, int64_t *sum)
{
    int kept = 0;

    *sum = 0;
    for (int i = 0; i < nlive; i++)
        if (live[i]->end > section) {
            *sum += granules_of(s, live[i], granule);
            live[kept++] = live[i];
        }
    return kept;
}

/* The bound with overlap constraints: a sweep over the sections, spans sorted by the first of them. The overlaps are
 * computed only for sections whose sum without them is above `best`. */
static int64_t bound_with_overlaps(const Space *s, int64_t granule, int64_t best, PlanSpan *span, PlanSpan **live,
                                   char *taken, int32_t *section)
{
    int count = s->span_at[s->n], nlive = 0;

    for (int i = 0; i < count; i++)
        span[i] = s->span[i];
    qsort(span, (size_t)count, sizeof *span, by_begin);
    for (int i = 0; i < count;) {
        int32_t now = span[i].begin;
        int64_t sum;
        nlive = drop_dead(s, live, nlive, now, granule, &sum);
        for (; i < count && span[i].begin == now; i++) {
            enter(live, &nlive, &span[i]);
            sum += granules_of(s, &span[i], granule);
        }
        if (sum <= best)
            continue;
        sum = union_with_overlaps(s, live, nlive, granule, taken);
        if (sum > best) {
            best = sum;
            *section = now;
        }
    }
    return best;
}

/* The bound by single buffers: each needs its own size, above its offset if that is fixed. */
static int64_t bound_of_one(const Space *s, int64_t best, int32_t *section)
{
    for (int b = 0; b < s->n; b++) {
        int64_t end = s->problem->buffer[b].size + larger(s->problem->buffer[b].fixed, 0);
        if (space_live(s, b) && end > best) {
            best = end;
            *section = s->begin[b];
        }
    }
    return best;
}

/* The bound with this granule, and a section that reaches it, if it is above `best`; else `best`. */
static int64_t bound_in_granules(const Space *s, int64_t granule, int64_t best, int32_t *section)
{
    size_t     count = (size_t)s->span_at[s->n];
    int64_t   *sum = calloc((size_t)s->nsection + 1, sizeof *sum);
    PlanSpan  *span = malloc((count + 1) * sizeof *span);
    PlanSpan **live = malloc((count + 1) * sizeof *live);
    char      *taken = malloc(count + 1);

    if (!sum || !span || !live || !taken)
        best = PLAN_ENOMEM;
    else if (s->problem->noverlap)
        best = bound_with_overlaps(s, granule, best, span, live, taken, section);
    else
        best = bound_without_overlaps(s, granule, best, sum, live, section);
    free(sum);
    free(span);
    free(live);
    free(taken);
    return best;
}

int64_t bound_live(const Space *s, int32_t *witness)
{
    int32_t section = 0;
    int64_t best = bound_in_granules(s, 1, 0, &section), granule = 1;

    for (int tries = 0; best >= 0 && tries < MOST_GRANULES && (granule = next_granule(s, granule)) > 0; tries++)
        best = bound_in_granules(s, granule, best, &section);
    if (best < 0)
        return PLAN_ENOMEM;
    best = bound_of_one(s, best, &section);
    *witness = s->nsection ? s->step_at[section] : -1;
    return best;
}

int64_t plan_lower_bound(const PlanProblem *problem)
{
    Space   space;
    char    why[160];
    int32_t witness;
    int64_t bound = plan_validate(problem, why);

    if (bound)
        return bound;
    if (space_open(&space, problem, 0))
        return PLAN_ENOMEM;
    bound = bound_live(&space, &witness);
    space_close(&space);
    return bound;
}
