/* bound.c - bytes that any plan needs because they are live in the same step.
 * A sweep over the steps at which something is born. Without permits the answer is the sum of the live windows; where
 * every offset is a multiple of some G, each whole buffer but the topmost takes a multiple of G.
 * With permits the union of the live windows is at least both
 *   - the sum less, over each permitted pair, the largest overlap that the permit admits (Bonferroni), and
 *   - the weight of any set of live windows no two of which are permitted to overlap; taken greedily by size. */
#include "space.h"

#include <stdlib.h>

static int by_begin(const void *left, const void *right)
{
    const PlanSpan *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bytes shared by window a, moved by x, and window b. */
static int64_t shared(const PlanSpan *a, const PlanSpan *b, int64_t x)
{
    return larger(0, smaller(a->hi + x, b->hi) - larger(a->lo + x, b->lo));
}

/* The largest overlap of two windows that some permit of their buffers admits: it is a trapezoid in the distance
 * x = offset[a] - offset[b], so only the admitted x nearest to its plateau count. */
static int64_t admitted(const Space *s, const PlanSpan *a, const PlanSpan *b)
{
    int64_t left = smaller(b->lo - a->lo, b->hi - a->hi), right = larger(b->lo - a->lo, b->hi - a->hi), best = 0;

    for (int i = s->lag_at[a->buffer]; i < s->lag_at[a->buffer + 1]; i++) {
        const Lag *lag = &s->lag[i];
        if (lag->other != b->buffer)
            continue;
        best = larger(best, shared(a, b, larger(lag->above, left)));
        best = larger(best, shared(a, b, smaller(-lag->below, right)));
    }
    return best;
}

/* Union of the live windows, from below. */
static int64_t union_with_permits(const Space *s, PlanSpan **live, int nlive, char *taken)
{
    int64_t sum = 0, apart = 0;

    for (int i = 0; i < nlive; i++) {           /* live[] is sorted by falling size */
        bool free_of_all = true;
        sum += live[i]->hi - live[i]->lo;
        for (int j = 0; j < i && s->lag_at[live[i]->buffer] < s->lag_at[live[i]->buffer + 1]; j++) {
            int64_t overlap = admitted(s, live[i], live[j]);
            sum -= overlap;
            if (overlap && taken[j])
                free_of_all = false;
        }
        taken[i] = free_of_all;
        if (free_of_all)
            apart += live[i]->hi - live[i]->lo;
    }
    return larger(sum, apart);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* What every offset is a multiple of; 1 where windows or permits let bytes between two multiples be used. */
static int64_t grain(const Space *s)
{
    int64_t g = 0;

    if (!s->plain || s->nregion > 1)
        return 1;
    for (int b = 0; b < s->n; b++)
        if (space_live(s, b))
            g = common_divisor(space_align(s, b, 0), g);
    return g ? g : 1;
}

/* Where nothing may overlap: the largest sum over the sections of the sizes rounded up to the grain, less the most that
 * one live buffer gained by it. sum[] holds nsection + 1 zeroes. */
static int64_t bound_of_strangers(const Space *s, int64_t grain_size, int64_t *sum, int32_t *section)
{
    int     count = s->span_at[s->n];
    int64_t best = 0;

    for (int i = 0; i < count; i++) {
        int64_t whole = round_up(s->span[i].hi - s->span[i].lo, grain_size);
        sum[s->span[i].begin] += whole;
        sum[s->span[i].end] -= whole;
    }
    for (int t = 1; t < s->nsection; t++)
        sum[t] += sum[t - 1];
    for (int t = 0; t < s->nsection; t++) {
        int64_t slack = 0;
        if (sum[t] <= best)
            continue;
        for (int i = 0; i < count && grain_size > 1; i++)
            if (s->span[i].begin <= t && t < s->span[i].end) {
                int64_t size = s->span[i].hi - s->span[i].lo;
                slack = larger(slack, round_up(size, grain_size) - size);
            }
        if (sum[t] - slack > best) {
            best = sum[t] - slack;
            *section = t;
        }
    }
    return best;
}

/* Adds one span to the live ones, keeping them sorted by falling size. */
static void enter(PlanSpan **live, int *nlive, PlanSpan *span)
{
    int at = (*nlive)++;

    for (; at > 0 && live[at - 1]->hi - live[at - 1]->lo < span->hi - span->lo; at--)
        live[at] = live[at - 1];
    live[at] = span;
}

static int drop_dead(PlanSpan **live, int nlive, int32_t step)
{
    int kept = 0;

    for (int i = 0; i < nlive; i++)
        if (live[i]->end > step)
            live[kept++] = live[i];
    return kept;
}

/* Where permits are: sweep over the sections, spans sorted by their first one. */
static int64_t bound_of_permitted(const Space *s, PlanSpan *span, PlanSpan **live, char *taken, int32_t *section)
{
    int     count = s->span_at[s->n], nlive = 0;
    int64_t best = 0;

    for (int i = 0; i < count; i++)
        span[i] = s->span[i];
    qsort(span, (size_t)count, sizeof *span, by_begin);
    for (int i = 0; i < count;) {
        int32_t now = span[i].begin;
        int64_t sum;
        nlive = drop_dead(live, nlive, now);
        for (; i < count && span[i].begin == now; i++)
            enter(live, &nlive, &span[i]);
        sum = union_with_permits(s, live, nlive, taken);
        if (sum > best) {
            best = sum;
            *section = now;
        }
    }
    return best;
}

/* No buffer is cut: each needs its own size, above the offset at which it may be fixed. */
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

int64_t bound_live(const Space *s, int32_t *witness)
{
    size_t     count = (size_t)s->span_at[s->n];
    int64_t   *sum = calloc((size_t)s->nsection + 1, sizeof *sum);
    PlanSpan  *span = malloc((count + 1) * sizeof *span);
    PlanSpan **live = malloc((count + 1) * sizeof *live);
    char      *taken = malloc(count + 1);
    int64_t    best = PLAN_ENOMEM;
    int32_t    section = 0;

    if (sum && span && live && taken) {
        best = s->problem->npermit ? bound_of_permitted(s, span, live, taken, &section)
                                   : bound_of_strangers(s, grain(s), sum, &section);
        best = bound_of_one(s, best, &section);
    }
    *witness = s->nsection ? s->step_at[section] : -1;
    free(sum);
    free(span);
    free(live);
    free(taken);
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
