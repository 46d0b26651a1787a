/* bound.c - bytes that any plan needs because they are live in the same step.
 * A sweep over the steps at which something is born. Without permits the answer is the sum of the live windows.
 * With permits the union of the live windows is at least both
 *   - the sum less, over each permitted pair, the largest overlap that the permit admits (Bonferroni), and
 *   - the weight of any set of live windows no two of which are permitted to overlap; taken greedily by size.
 * Where offsets are multiples of some grain G, the same holds of cells of G bytes: a window that begins inside a cell
 * gives that one up, and each takes the whole of its last cell. What then is counted but not used (unused_cells) is the
 * rest of the topmost window's last cell, and for each buffer of a smaller alignment one cell, if it can begin where
 * another window ends. */
#include "space.h"

#include <stdlib.h>

enum { MOST_GRAINS = 8 }; /* tried, the smallest first */

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

/* Where the cells of a window begin and end that no other window can touch unless it overlaps this one. */
static int64_t first_cell(const PlanSpan *window, int64_t grain)
{
    return round_up(window->lo, grain);
}

static int64_t last_cell(const PlanSpan *window, int64_t grain)
{
    return round_up(window->hi, grain);
}

/* Bytes of the last cell that are not the window's. */
static int64_t rest_of(const PlanSpan *window, int64_t grain)
{
    return last_cell(window, grain) - window->hi;
}

/* The largest overlap of the cells of two windows that some permit of their buffers admits: it is a trapezoid in the
 * distance x = offset[a] - offset[b], so only the admitted x nearest to its plateau count. */
static int64_t admitted(const Space *s, const PlanSpan *a, const PlanSpan *b, int64_t grain)
{
    int64_t alo = first_cell(a, grain), ahi = last_cell(a, grain), blo = first_cell(b, grain),
            bhi = last_cell(b, grain);
    int64_t left = smaller(blo - alo, bhi - ahi), right = larger(blo - alo, bhi - ahi), best = 0;

    for (int i = s->lag_at[a->buffer]; i < s->lag_at[a->buffer + 1]; i++) {
        const Lag *lag = &s->lag[i];
        int64_t    above = larger(lag->above, left), below = smaller(-lag->below, right);

        if (lag->other != b->buffer)
            continue;
        best = larger(best, smaller(ahi + above, bhi) - larger(alo + above, blo));
        best = larger(best, smaller(ahi + below, bhi) - larger(alo + below, blo));
    }
    return best;
}

/* The live windows of buffers whose offsets are no multiples of the grain: strays. */
static bool is_stray(const Space *s, const PlanSpan *window, int64_t grain)
{
    return space_align(s, window->buffer, 0) % grain != 0;
}

/* The two largest rests among the aligned windows, and how many strays there are. */
typedef struct Rests {
    int64_t first, second;
    int     strays;
} Rests;

static Rests find_rests(const Space *s, PlanSpan *const *live, int nlive, int64_t grain)
{
    Rests r = {0, 0, 0};

    for (int i = 0; i < nlive; i++) {
        int64_t rest = rest_of(live[i], grain);
        if (is_stray(s, live[i], grain)) {
            r.strays++;
        } else if (rest > r.first) {
            r.second = r.first;
            r.first = rest;
        } else {
            r.second = larger(r.second, rest);
        }
    }
    return r;
}

/* What its last cell leaves of a stray that begins with a cell. */
static int64_t own_rest(const PlanSpan *stray, int64_t grain)
{
    return round_up(stray->hi - stray->lo, grain) - (stray->hi - stray->lo);
}

/* Unused where a single stray begins in a rest of `host` bytes and `other` is the largest of the rests that are
 * left. */
static int64_t unused_beside(int64_t host, int64_t other, int64_t own, int64_t grain)
{
    int64_t both = host + own;

    return (both >= grain ? grain : 0) + larger(other, both % grain);
}

/* Of the cells counted for these windows, what need not be covered. A stray touches as many new cells as it counts, or
 * one less where it begins in the rest of another one's last cell and its own rest makes up for the used part of that;
 * the rests of an aligned window are known, those of another stray are not. Of a single stray it counts which rest it
 * takes: the topmost window is another one then. */
static int64_t unused_cells(const Space *s, PlanSpan *const *live, int nlive, int64_t grain)
{
    Rests   r = find_rests(s, live, nlive, grain);
    int64_t shared = 0, top = r.first, rest = r.strays > 1 ? grain - 1 : r.first;

    for (int i = 0; i < nlive && r.strays; i++) {
        int64_t own = own_rest(live[i], grain);

        if (!is_stray(s, live[i], grain))
            continue;
        if (r.strays == 1)
            return larger(unused_beside(r.first, r.second, own, grain), unused_beside(r.second, r.first, own, grain));
        shared += rest + own >= grain ? grain : 0;
        top = larger(top, (rest + own) % grain);
    }
    return shared + top;
}

/* Bytes of the cells that a window counts; of a stray, wherever it begins. */
static int64_t cells_of(const Space *s, const PlanSpan *window, int64_t grain)
{
    return is_stray(s, window, grain) ? round_up(window->hi - window->lo, grain)
                                      : last_cell(window, grain) - first_cell(window, grain);
}

/* Cells that the live windows cover. */
static int64_t union_with_permits(const Space *s, PlanSpan **live, int nlive, int64_t grain, char *taken)
{
    int64_t sum = 0, apart = 0;

    for (int i = 0; i < nlive; i++) { /* live[] is sorted by falling size */
        bool    free_of_all = true, permitted = s->lag_at[live[i]->buffer] < s->lag_at[live[i]->buffer + 1];
        int64_t cells = cells_of(s, live[i], grain);
        if (permitted && is_stray(s, live[i], grain))
            return 0; /* its cells are not told apart from its partner's */
        sum += cells;
        for (int j = 0; j < i && permitted; j++) {
            int64_t overlap = admitted(s, live[i], live[j], grain);
            sum -= overlap;
            if (overlap && taken[j])
                free_of_all = false;
        }
        taken[i] = free_of_all;
        if (free_of_all)
            apart += cells;
    }
    return larger(sum, apart) - unused_cells(s, live, nlive, grain);
}

/* The least alignment of a live buffer above this one; 0: there is none, or regions differ. */
static int64_t next_grain(const Space *s, int64_t above)
{
    int64_t grain = 0;

    for (int b = 0; b < s->n && s->nregion == 1; b++) {
        int64_t align = space_align(s, b, 0);
        if (space_live(s, b) && align > above && (!grain || align < grain))
            grain = align;
    }
    return grain;
}

/* Where nothing may overlap: the largest sum of cells over the sections, less what is unused of them, if it is above
 * `best`. sum[] holds nsection + 1 zeroes, live[] has room for all spans. */
static int64_t bound_of_strangers(const Space *s, int64_t grain, int64_t best, int64_t *sum, PlanSpan **live,
                                  int32_t *section)
{
    int count = s->span_at[s->n];

    for (int i = 0; i < count; i++) {
        int64_t cells = cells_of(s, &s->span[i], grain);
        sum[s->span[i].begin] += cells;
        sum[s->span[i].end] -= cells;
    }
    for (int t = 1; t < s->nsection; t++)
        sum[t] += sum[t - 1];
    for (int t = 0; t < s->nsection; t++) {
        int nlive = 0;
        if (sum[t] <= best)
            continue;
        for (int i = 0; i < count && grain > 1; i++)
            if (span_is_live(&s->span[i], t))
                live[nlive++] = &s->span[i];
        sum[t] -= unused_cells(s, live, nlive, grain);
        if (sum[t] > best) {
            best = sum[t];
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

/* Keeps those that live on, and sums up their cells. */
static int drop_dead(const Space *s, PlanSpan **live, int nlive, int32_t step, int64_t grain, int64_t *sum)
{
    int kept = 0;

    *sum = 0;
    for (int i = 0; i < nlive; i++)
        if (live[i]->end > step) {
            *sum += cells_of(s, live[i], grain);
            live[kept++] = live[i];
        }
    return kept;
}

/* Where permits are: sweep over the sections, spans sorted by their first one; only where they are above `best` side by
 * side, what permits save is asked. */
static int64_t bound_of_permitted(const Space *s, int64_t grain, int64_t best, PlanSpan *span, PlanSpan **live,
                                  char *taken, int32_t *section)
{
    int count = s->span_at[s->n], nlive = 0;

    for (int i = 0; i < count; i++)
        span[i] = s->span[i];
    qsort(span, (size_t)count, sizeof *span, by_begin);
    for (int i = 0; i < count;) {
        int32_t now = span[i].begin;
        int64_t sum;
        nlive = drop_dead(s, live, nlive, now, grain, &sum);
        for (; i < count && span[i].begin == now; i++) {
            enter(live, &nlive, &span[i]);
            sum += cells_of(s, &span[i], grain);
        }
        if (sum <= best)
            continue;
        sum = union_with_permits(s, live, nlive, grain, taken);
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

/* The bound in cells of this grain, and a section that reaches it, where it is above `best`; else that. */
static int64_t bound_in_cells(const Space *s, int64_t grain, int64_t best, int32_t *section)
{
    size_t     count = (size_t)s->span_at[s->n];
    int64_t   *sum = calloc((size_t)s->nsection + 1, sizeof *sum);
    PlanSpan  *span = malloc((count + 1) * sizeof *span);
    PlanSpan **live = malloc((count + 1) * sizeof *live);
    char      *taken = malloc(count + 1);

    if (!sum || !span || !live || !taken)
        best = PLAN_ENOMEM;
    else if (s->problem->npermit)
        best = bound_of_permitted(s, grain, best, span, live, taken, section);
    else
        best = bound_of_strangers(s, grain, best, sum, live, section);
    free(sum);
    free(span);
    free(live);
    free(taken);
    return best;
}

int64_t bound_live(const Space *s, int32_t *witness)
{
    int32_t section = 0;
    int64_t best = bound_in_cells(s, 1, 0, &section), grain = 1;

    for (int tries = 0; best >= 0 && tries < MOST_GRAINS && (grain = next_grain(s, grain)) > 0; tries++)
        best = bound_in_cells(s, grain, best, &section);
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
