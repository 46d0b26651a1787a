/* greedy.c - place buffers one by one in a fixed order, none ever moved again.
 * For each buffer the offsets that would collide with buffers already placed form open intervals. Lowest gap: the offset is
 * lifted over the intervals that contain it, again and again, until none does; where the intervals come by rising offset once
 * is enough, so each buffer's list of those that it may meet is sorted anew when that takes long, and stays nearly sorted from one
 * placement to the next. Tightest gap: the one that leaves least room above the buffer before the next interval. Where the lists
 * would be too long, all placed buffers are looked at, kept sorted by offset.
 * The orders by birth, lifetime and size are those of Occamy (DAC 2023); area and pressure (bytes live at the buffer's
 * heaviest step) are two more that cost nothing; the latest first puts what may follow another buffer through the same
 * memory below it. */
#include "space.h"

#include <stdlib.h>
#include <string.h>

enum { PASSES = 4 };               /* over unsorted intervals */

struct Greedy {
    const Space *space;
    int         *placed;           /* by rising offset, where the space has no list of near ones */
    int          count;
    int         *home;             /* [n] region of each, or -1: not placed yet */
    bool        *stale;            /* [n] something that it may meet has come or moved since it was placed */
    int         *near;             /* indices into the space's list, those of each buffer in an order of their own; or NULL */
    Clash       *clash;
};

typedef struct Ranked {
    int     fixed;                 /* fixed buffers come first in every order */
    double  key;                   /* smaller first */
    int32_t begin;
    int     buffer;
} Ranked;

static int by_rank(const void *left, const void *right)
{
    const Ranked *a = left, *b = right;

    if (a->fixed != b->fixed)
        return a->fixed > b->fixed ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

/* load[t]: bytes live in section t. */
static void fill_load(const Space *s, double *load)
{
    for (int i = 0; i < s->span_at[s->n]; i++) {
        double bytes = (double)(s->span[i].hi - s->span[i].lo);
        load[s->span[i].begin] += bytes;
        load[s->span[i].end] -= bytes;
    }
    for (int t = 0; t < s->nsection; t++)
        load[t + 1] += load[t];
}

static double pressure(const Space *s, int b, const double *load)
{
    double most = 0;

    for (int t = s->begin[b]; t < s->end[b]; t++)
        most = load[t] > most ? load[t] : most;
    return most;
}

static double key_of(const Space *s, int b, GreedyOrder order, const double *load)
{
    double size = (double)s->problem->buffer[b].size, life = (double)(s->step_at[s->end[b]] - s->step_at[s->begin[b]]);

    switch (order) {
    case GREEDY_LONGER:   return -life;
    case GREEDY_BIGGER:   return -size;
    case GREEDY_AREA:     return -size * life;
    case GREEDY_PRESSURE: return -pressure(s, b, load);
    case GREEDY_LATEST:   return -(double)s->begin[b];
    default:              return (double)s->begin[b];
    }
}

int greedy_rank(const Space *s, GreedyOrder order, int *buffer)
{
    double *load = calloc((size_t)s->nsection + 2, sizeof *load);
    Ranked *ranked = malloc(((size_t)s->n + 1) * sizeof *ranked);

    if (load && ranked) {
        if (order == GREEDY_PRESSURE)
            fill_load(s, load);
        for (int b = 0; b < s->n; b++)
            ranked[b] = (Ranked){s->problem->buffer[b].fixed >= 0, key_of(s, b, order, load), s->begin[b], b};
        qsort(ranked, (size_t)s->n, sizeof *ranked, by_rank);
        for (int i = 0; i < s->n; i++)
            buffer[i] = ranked[i].buffer;
    }
    free(load);
    free(ranked);
    return load && ranked ? PLAN_OK : PLAN_ENOMEM;
}

/* The intervals of placed buffers that b may meet, from the list of those. */
static int collect_near(const Greedy *g, int b, int region, const int64_t *offset)
{
    const Space *s = g->space;
    int          count = 0;

    for (int i = s->near_at[b]; i < s->near_at[b + 1]; i++) {
        const Near *near = &s->near[g->near[i]];

        for (int k = 0; k < near->ngap && g->home[near->other] == region; k++) {
            const Clash *gap = &s->gap[near->gap + k];
            g->clash[count++] = (Clash){offset[near->other] + gap->from, offset[near->other] + gap->to};
        }
    }
    return count;
}

/* The same by looking at all that are placed. */
static int collect_far(const Greedy *g, int b, int region, const int64_t *offset)
{
    const Space *s = g->space;
    int          count = 0;

    for (int i = 0; i < g->count; i++) {
        int j = g->placed[i];
        if (g->home[j] == region && s->begin[j] < s->end[b] && s->begin[b] < s->end[j])
            count += space_clashes(s, b, j, offset[j], g->clash + count);
    }
    return count;
}

static int collect(const Greedy *g, int b, int region, const int64_t *offset)
{
    return (g->near ? collect_near : collect_far)(g, b, region, offset);
}

/* Shell, 1959, with Ciura's gaps: most lists are short. */
static const int shell_gaps[] = {132, 57, 23, 10, 4, 1};
enum { SHELL_GAPS = sizeof shell_gaps / sizeof *shell_gaps };

/* Those that b may meet by rising offset, the placed ones first. */
static void sort_near(const Greedy *g, int b, const int64_t *offset)
{
    const Space *s = g->space;
    int         *list = g->near + s->near_at[b], count = s->near_at[b + 1] - s->near_at[b];

    for (int k = 0; k < SHELL_GAPS; k++)
        for (int gap = shell_gaps[k], i = gap; i < count; i++) {
            int     one = list[i], other = s->near[one].other, at = i;
            int64_t key = g->home[other] < 0 ? INT64_MAX : offset[other];

            for (; at >= gap; at -= gap) {
                int lower = s->near[list[at - gap]].other;
                if ((g->home[lower] < 0 ? INT64_MAX : offset[lower]) <= key)
                    break;
                list[at] = list[at - gap];
            }
            list[at] = one;
        }
}

/* By lower end. */
static void sort_clashes(Clash *clash, int count)
{
    for (int k = 0; k < SHELL_GAPS; k++)
        for (int gap = shell_gaps[k], i = gap; i < count; i++) {
            Clash one = clash[i];
            int   at = i;
            for (; at >= gap && clash[at - gap].from > one.from; at -= gap)
                clash[at] = clash[at - gap];
            clash[at] = one;
        }
}

/* Lifts *x over the intervals that contain it, in their order or the opposite one; false: none does. */
static bool lift(const Clash *clash, int count, int64_t align, bool backward, int64_t *x)
{
    int64_t before = *x;

    for (int i = 0; i < count; i++) {
        const Clash *c = &clash[backward ? count - 1 - i : i];
        if (c->from < *x && *x < c->to)
            *x = round_up(c->to, align);
    }
    return *x > before;
}

/* The tightest gap between the intervals; the lowest of several, and above them all where there is none. */
static int64_t tightest_gap(const Greedy *g, int b, int region, const int64_t *offset)
{
    int64_t x = 0, best = -1, best_room = INT64_MAX, align = space_align(g->space, b, region);
    int     count = collect(g, b, region, offset);

    sort_clashes(g->clash, count);
    for (int i = 0; i < count; i++) {
        const Clash *c = &g->clash[i];
        if (x <= c->from && c->from - x < best_room) {
            best_room = c->from - x;
            best = x;
        }
        if (c->to > x)
            x = round_up(c->to, align);
    }
    return best >= 0 ? best : x;
}

static int64_t lowest_gap(const Greedy *g, int b, int region, const int64_t *offset)
{
    int64_t x = 0, align = space_align(g->space, b, region);
    int     count = collect(g, b, region, offset);

    for (int pass = 0; pass < PASSES; pass++)
        if (!lift(g->clash, count, align, pass % 2, &x))
            return x;
    if (g->near) {
        sort_near(g, b, offset);
        count = collect(g, b, region, offset);
    }
    while (lift(g->clash, count, align, false, &x))
        ;
    return x;
}

static void insert(Greedy *g, int b, int region, const int64_t *offset)
{
    int at = g->count++;

    g->home[b] = region;
    for (; at > 0 && !g->near && offset[g->placed[at - 1]] > offset[b]; at--)
        g->placed[at] = g->placed[at - 1];
    g->placed[at] = b;
}

/* The first region with room; when none has any, the last that is allowed. */
static void place_one(Greedy *g, int b, bool tight, int64_t *offset, int32_t *region)
{
    const Space      *s = g->space;
    const PlanBuffer *buffer = &s->problem->buffer[b];
    int               home = 0;

    for (int r = 0; r < s->nregion; r++) {
        int64_t x = buffer->fixed;
        if (!space_allows(s, b, r))
            continue;
        home = r;
        if (x < 0)
            x = (tight ? tightest_gap : lowest_gap)(g, b, r, offset);
        offset[b] = x;
        if (!space_live(s, b) || buffer->size <= s->region[r].size - x)
            break;
    }
    if (region)
        region[b] = home;
    if (space_live(s, b))
        insert(g, b, home, offset);
}

/* Most intervals that one buffer can meet: pairs of its spans with all others. */
static size_t most_clashes(const Space *s)
{
    size_t most = 1;

    for (int b = 0; b < s->n; b++) {
        size_t own = (size_t)(s->span_at[b + 1] - s->span_at[b]);
        most = own > most ? own : most;
    }
    return most * ((size_t)s->span_at[s->n] + 1);
}

static bool open_near(Greedy *g)
{
    int count = g->space->near ? g->space->near_at[g->space->n] : 0;

    if (!g->space->near)
        return true;
    g->near = malloc(((size_t)count + 1) * sizeof *g->near);
    for (int i = 0; i < count && g->near; i++)
        g->near[i] = i;
    return g->near != NULL;
}

Greedy *greedy_open(const Space *s)
{
    size_t  n = (size_t)s->n + 1;
    Greedy *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->space = s;
    g->placed = malloc(n * sizeof *g->placed);
    g->home = malloc(n * sizeof *g->home);
    g->stale = malloc(n * sizeof *g->stale);
    g->clash = malloc(most_clashes(s) * sizeof *g->clash);
    if (open_near(g) && g->placed && g->home && g->stale && g->clash)
        return g;
    greedy_close(g);
    return NULL;
}

void greedy_close(Greedy *g)
{
    if (!g)
        return;
    free(g->placed);
    free(g->home);
    free(g->stale);
    free(g->near);
    free(g->clash);
    free(g);
}

static void forget(Greedy *g)
{
    g->count = 0;
    for (int b = 0; b < g->space->n; b++) {
        g->home[b] = -1;
        g->stale[b] = false;
    }
}

void greedy_place_ranked(Greedy *g, const int *buffer, bool tight, int64_t *offset, int32_t *region)
{
    forget(g);
    for (int i = 0; i < g->space->n; i++)
        place_one(g, buffer[i], tight, offset, region);
}

static void mark_near(Greedy *g, int b)
{
    const Space *s = g->space;

    for (int i = s->near_at[b]; s->near && i < s->near_at[b + 1]; i++)
        g->stale[s->near[i].other] = true;
}

bool greedy_place_moved(Greedy *g, const int *buffer, int moved, int64_t limit, int64_t *offset)
{
    const Space *s = g->space;

    forget(g);
    for (int i = 0; i < s->n; i++) {
        int     b = buffer[i];
        int64_t before = offset[b];

        if (i == moved || (i > moved && (g->stale[b] || !s->near)))
            place_one(g, b, false, offset, NULL);
        else if (space_live(s, b))
            insert(g, b, 0, offset);
        if (i == moved || offset[b] != before)
            mark_near(g, b);
        if (space_live(s, b) && offset[b] + s->problem->buffer[b].size > limit)
            return false;
    }
    return true;
}

int greedy_place(const Space *s, GreedyOrder order, bool tight, int64_t *offset, int32_t *region)
{
    int    *buffer = malloc(((size_t)s->n + 1) * sizeof *buffer);
    Greedy *g = greedy_open(s);
    int     status = buffer && g ? greedy_rank(s, order, buffer) : PLAN_ENOMEM;

    if (!status)
        greedy_place_ranked(g, buffer, tight, offset, region);
    free(buffer);
    greedy_close(g);
    return status;
}

static int run_greedy(const Space *s, GreedyOrder order, bool tight, PlanResult *result)
{
    result->nodes += s->n;
    return greedy_place(s, order, tight, result->offset, result->region);
}

static int first_fit(const Space *s, const PlanLimits *limits, PlanResult *result)
{
    (void)limits;
    return run_greedy(s, GREEDY_BIRTH, false, result);
}

static int best_fit(const Space *s, const PlanLimits *limits, PlanResult *result)
{
    (void)limits;
    return run_greedy(s, GREEDY_BIRTH, true, result);
}

static int longer_first(const Space *s, const PlanLimits *limits, PlanResult *result)
{
    (void)limits;
    return run_greedy(s, GREEDY_LONGER, false, result);
}

static int bigger_first(const Space *s, const PlanLimits *limits, PlanResult *result)
{
    (void)limits;
    return run_greedy(s, GREEDY_BIGGER, false, result);
}

int plan_first_fit(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, first_fit);
}

int plan_best_fit(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, best_fit);
}

int plan_longer_first(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, longer_first);
}

int plan_bigger_first(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, bigger_first);
}
