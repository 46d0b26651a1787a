/* greedy.c - place buffers one by one in a fixed order, none ever moved again.
 * For each buffer the offsets that would collide with buffers already placed form open intervals; sorted by their lower
 * ends, one walk upward from 0 meets every free gap. Lowest gap: the first. Tightest gap: the one that leaves least room
 * above the buffer before the next interval. Only buffers of the space's list of near ones are looked at; where that would be
 * too long, all placed ones, kept sorted by offset so that the intervals of plain buffers come out sorted already.
 * The orders by birth, lifetime and size are those of Occamy (DAC 2023); area and pressure (bytes live at the buffer's
 * heaviest step) are two more that cost nothing; the latest first puts what may follow another buffer through the same
 * memory below it. */
#include "space.h"

#include <stdlib.h>
#include <string.h>

typedef struct Placed {
    int *buffer;                   /* by rising offset, where the space has no list of near ones */
    int  count;
    int *home;                     /* [n] region of each, or -1: not placed yet */
} Placed;

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
static int collect_near(const Space *s, int b, int region, const Placed *placed, const int64_t *offset, Clash *clash)
{
    int count = 0;

    for (int i = s->near_at[b]; i < s->near_at[b + 1]; i++) {
        const Near *near = &s->near[i];

        for (int k = 0; k < near->ngap && placed->home[near->other] == region; k++)
            clash[count++] = (Clash){offset[near->other] + s->gap[near->gap + k].from, offset[near->other] + s->gap[near->gap + k].to};
    }
    return count;
}

/* The same by looking at all that are placed. */
static int collect_far(const Space *s, int b, int region, const Placed *placed, const int64_t *offset, Clash *clash)
{
    int count = 0;

    for (int i = 0; i < placed->count; i++) {
        int j = placed->buffer[i];
        if (placed->home[j] == region && s->begin[j] < s->end[b] && s->begin[b] < s->end[j])
            count += space_clashes(s, b, j, offset[j], clash + count);
    }
    return count;
}

/* Every interval that b must avoid, sorted by lower end (Shell, 1959, with Ciura's gaps: most lists are short). */
static int collect_clashes(const Space *s, int b, int region, const Placed *placed, const int64_t *offset, Clash *clash)
{
    static const int gaps[] = {132, 57, 23, 10, 4, 1};
    int count = (s->near ? collect_near : collect_far)(s, b, region, placed, offset, clash);

    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int gap = gaps[g], i = gap; i < count; i++) {
            Clash one = clash[i];
            int   at = i;
            for (; at >= gap && clash[at - gap].from > one.from; at -= gap)
                clash[at] = clash[at - gap];
            clash[at] = one;
        }
    return count;
}

/* The lowest or the tightest gap between the intervals; where they leave none, above them all. */
static int64_t choose_gap(const Clash *clash, int count, int64_t align, bool tight)
{
    int64_t x = 0, best = -1, best_room = INT64_MAX;

    for (int i = 0; i < count; i++) {
        if (x <= clash[i].from) {
            if (!tight)
                return x;
            if (clash[i].from - x < best_room) {
                best_room = clash[i].from - x;
                best = x;
            }
        }
        if (clash[i].to > x)
            x = round_up(clash[i].to, align);
    }
    return best >= 0 ? best : x;
}

static void insert(const Space *s, Placed *placed, int b, int region, const int64_t *offset)
{
    int at = placed->count++;

    placed->home[b] = region;
    for (; at > 0 && !s->near && offset[placed->buffer[at - 1]] > offset[b]; at--)
        placed->buffer[at] = placed->buffer[at - 1];
    placed->buffer[at] = b;
}

/* The first region with room; when none has any, the last that is allowed. */
static void place_one(const Space *s, int b, bool tight, Placed *placed, Clash *clash, int64_t *offset, int32_t *region)
{
    const PlanBuffer *buffer = &s->problem->buffer[b];
    int               home = 0;

    for (int r = 0; r < s->nregion; r++) {
        int64_t x = buffer->fixed;
        if (!space_allows(s, b, r))
            continue;
        home = r;
        if (x < 0) {
            int count = collect_clashes(s, b, r, placed, offset, clash);
            x = choose_gap(clash, count, space_align(s, b, r), tight);
        }
        offset[b] = x;
        if (!space_live(s, b) || buffer->size <= s->region[r].size - x)
            break;
    }
    if (region)
        region[b] = home;
    if (space_live(s, b))
        insert(s, placed, b, home, offset);
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

int greedy_place_ranked(const Space *s, const int *buffer, int placed_already, bool tight, int64_t *offset, int32_t *region)
{
    size_t  n = (size_t)s->n + 1;
    Clash  *clash = malloc(most_clashes(s) * sizeof *clash);
    Placed  placed = {malloc(n * sizeof(int)), 0, malloc(n * sizeof(int))};
    bool    good = clash && placed.buffer && placed.home;

    for (int i = 0; i < s->n && good; i++)
        placed.home[i] = -1;
    for (int i = 0; i < placed_already && good; i++)
        if (space_live(s, buffer[i]))
            insert(s, &placed, buffer[i], region ? region[buffer[i]] : 0, offset);
    for (int i = placed_already; i < s->n && good; i++)
        place_one(s, buffer[i], tight, &placed, clash, offset, region);
    free(clash);
    free(placed.buffer);
    free(placed.home);
    return good ? PLAN_OK : PLAN_ENOMEM;
}

int greedy_place(const Space *s, GreedyOrder order, bool tight, int64_t *offset, int32_t *region)
{
    int *buffer = malloc(((size_t)s->n + 1) * sizeof *buffer);
    int  status = PLAN_ENOMEM;

    if (buffer && greedy_rank(s, order, buffer) == PLAN_OK)
        status = greedy_place_ranked(s, buffer, 0, tight, offset, region);
    free(buffer);
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
