/* greedy.c - greedy placement: buffers are placed one by one in a fixed order, and none is moved again.
 * The orders by birth, lifetime and size are those of Occamy (DAC 2023). Two more are cheap: by area, and by pressure
 * (bytes live at the buffer's fullest step). The order by latest birth suits overlap constraints: a result is placed
 * first, and the input that it overwrites then goes above it. */
#include "greedy.h"

#include <stdlib.h>
#include <string.h>

/* load[t] becomes the bytes live in section t. */
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

/* The key of the buffer in an order: larger ones come first. */
static double key_of(const Space *s, int b, GreedyOrder order, const double *load)
{
    double size = (double)s->problem->buffer[b].size, life = (double)(s->step_at[s->end[b]] - s->step_at[s->begin[b]]);

    switch (order) {
    case GREEDY_LONGER:
        return life;
    case GREEDY_BIGGER:
        return size;
    case GREEDY_AREA:
        return size * life;
    case GREEDY_PRESSURE:
        return pressure(s, b, load);
    case GREEDY_LATEST:
        return (double)s->begin[b];
    default:
        return -(double)s->begin[b];
    }
}

/* Sorts the buffers: fixed ones first in every order, then by key, then by birth. */
static void sort_buffers(const Space *s, RankedBuffer *ranked, int *buffer)
{
    ranked_sort(ranked, s->n);
    for (int i = 0; i < s->n; i++)
        buffer[i] = ranked[i].buffer;
}

/* Lists all buffers in the given order in buffer[0 .. n-1]. */
static int rank_buffers(const Space *s, GreedyOrder order, int *buffer)
{
    double       *load = calloc((size_t)s->nsection + 2, sizeof *load);
    RankedBuffer *ranked = malloc(((size_t)s->n + 1) * sizeof *ranked);

    if (load && ranked) {
        if (order == GREEDY_PRESSURE)
            fill_load(s, load);
        for (int b = 0; b < s->n; b++)
            ranked[b] =
                (RankedBuffer){{s->problem->buffer[b].fixed >= 0, key_of(s, b, order, load), -(double)s->begin[b]}, b};
        sort_buffers(s, ranked, buffer);
    }
    free(load);
    free(ranked);
    return load && ranked ? PLAN_OK : PLAN_ENOMEM;
}

int greedy_rank_plan(const Space *s, const int64_t *offset, int *buffer)
{
    RankedBuffer *ranked = malloc(((size_t)s->n + 1) * sizeof *ranked);

    if (!ranked)
        return PLAN_ENOMEM;
    for (int b = 0; b < s->n; b++)
        ranked[b] = (RankedBuffer){{s->problem->buffer[b].fixed >= 0, -(double)offset[b], 0}, b};
    sort_buffers(s, ranked, buffer);
    free(ranked);
    return PLAN_OK;
}

static void insert(Greedy *g, int b, int region, const int64_t *offset)
{
    int low = 0, high = g->count++;

    g->home[b] = region;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (offset[g->placed[middle]] <= offset[b])
            low = middle + 1;
        else
            high = middle;
    }
    memmove(g->placed + low + 1, g->placed + low, (size_t)(g->count - 1 - low) * sizeof *g->placed);
    g->placed[low] = b;
}

/* Finds the buffer's offset in the first of its regions with room; if none has room, in the last of them. Returns the
 * region. */
static int find_place(Greedy *g, int b, bool tight, int64_t *offset)
{
    const Space *s = g->space;
    int          home = 0;

    for (int r = 0; r < s->nregion; r++) {
        if (!space_allows(s, b, r))
            continue;
        home = r;
        offset[b] = (tight ? greedy_tightest_gap : greedy_lowest_gap)(g, b, r, offset);
        if (!space_live(s, b) || s->problem->buffer[b].size <= s->region[r].size - offset[b])
            break;
    }
    return home;
}

static void place_one(Greedy *g, int b, bool tight, int64_t *offset, int32_t *region)
{
    const Space *s = g->space;
    int64_t      fixed = s->problem->buffer[b].fixed;
    int          home;

    if (fixed >= 0)
        offset[b] = fixed;
    home = fixed >= 0 ? s->fixed_region[b] : find_place(g, b, tight, offset);
    if (region)
        region[b] = home;
    if (space_live(s, b))
        insert(g, b, home, offset);
}

/* The most forbidden intervals that one buffer can have: one for each pair of its spans and the other buffers'
 * spans. */
static size_t most_intervals(const Space *s)
{
    size_t most = 1;

    for (int b = 0; b < s->n; b++) {
        size_t own = (size_t)(s->span_at[b + 1] - s->span_at[b]);
        most = own > most ? own : most;
    }
    return most * ((size_t)s->span_at[s->n] + 1);
}

static bool open_conflicts(Greedy *g)
{
    int count = g->space->conflict ? g->space->conflict_at[g->space->n] : 0;

    if (!g->space->conflict)
        return true;
    g->conflict = malloc(((size_t)count + 1) * sizeof *g->conflict);
    for (int i = 0; i < count && g->conflict; i++)
        g->conflict[i] = i;
    return g->conflict != NULL;
}

/* Is the buffer simple (greedy.h)? Where some buffers have overlap constraints the space must list the conflicts, since
 * those with buffers that are not simple are looked up there. */
static bool is_simple_box(const Space *s, int b)
{
    const PlanSpan *span = &s->span[s->span_at[b]];

    for (int r = 0; r < s->nregion; r++)
        if (space_align(s, b, r) & (space_align(s, b, r) - 1))
            return false;
    return (s->conflict || s->plain) && s->span_at[b + 1] == s->span_at[b] + 1 && s->safe_at[b + 1] == s->safe_at[b] &&
           span->lo == 0 && span->hi == s->problem->buffer[b].size;
}

static void find_boxes(Greedy *g)
{
    const Space *s = g->space;

    for (int b = 0; b < s->n; b++) {
        g->box[b] = (Box){s->problem->buffer[b].size, INT32_MAX, 0};
        if (is_simple_box(s, b))
            g->box[b] = (Box){s->problem->buffer[b].size, s->begin[b], s->end[b]};
    }
}

static bool open_boxes(Greedy *g)
{
    const Space *s = g->space;
    int          entries = s->conflict ? s->conflict_at[s->n] : 0;

    g->box = malloc(((size_t)s->n + 1) * sizeof *g->box);
    g->mixed_at = calloc((size_t)s->n + 1, sizeof *g->mixed_at);
    g->mixed = malloc(((size_t)entries + 1) * sizeof *g->mixed);
    if (!g->box || !g->mixed_at || !g->mixed)
        return false;
    find_boxes(g);
    for (int b = 0, count = 0; b < s->n; b++) {
        for (int i = s->conflict_at[b]; i < s->conflict_at[b + 1] && s->conflict; i++)
            if (!greedy_is_simple(g, b) || !greedy_is_simple(g, s->conflict[i].other))
                g->mixed[count++] = i;
        g->mixed_at[b + 1] = count;
    }
    return true;
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
    g->interval = malloc(most_intervals(s) * sizeof *g->interval);
    if (open_conflicts(g) && open_boxes(g) && g->placed && g->home && g->stale && g->interval)
        return g;
    greedy_close(g);
    return NULL;
}

void greedy_close(Greedy *g)
{
    if (!g)
        return;
    free(g->box);
    free(g->mixed_at);
    free(g->mixed);
    free(g->placed);
    free(g->home);
    free(g->stale);
    free(g->conflict);
    free(g->interval);
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

/* Does the move of one buffer leave another one at its lowest gap x? `gap` holds forbidden distances, the offset of the
 * moved buffer less that of the other. The answer is yes if the moved buffer blocked no offset below x before, and does
 * not block x now. With two buffers of 32 bytes, gap -32 to 32, and x = 64: a move from 200 to 96 leaves x, one from
 * 200 to 80 does not. */
static bool is_indifferent(const Interval *gap, int64_t x, int64_t before, int64_t now)
{
    return before - gap->to >= x && (now - gap->to >= x || now - gap->from <= x);
}

/* Marks the conflicting buffers whose lowest gap may differ now that b has come, or moved from offset `before`. */
static void mark_conflicts(Greedy *g, int b, int64_t before, const int64_t *offset)
{
    const Space *s = g->space;

    for (int i = s->conflict_at[b]; s->conflict && i < s->conflict_at[b + 1]; i++) {
        const Conflict *conflict = &s->conflict[i];
        for (int k = 0; k < conflict->count && !g->stale[conflict->other]; k++)
            g->stale[conflict->other] =
                !is_indifferent(&s->forbidden[conflict->first + k], offset[conflict->other], before, offset[b]);
    }
}

bool greedy_place_moved(Greedy *g, const int *buffer, int moved, int64_t limit, int64_t *offset)
{
    const Space *s = g->space;

    forget(g);
    for (int i = 0; i < s->n; i++) {
        int     b = buffer[i];
        int64_t before = offset[b];

        if (i == moved || (i > moved && (g->stale[b] || !s->conflict)))
            place_one(g, b, false, offset, NULL);
        else if (space_live(s, b))
            insert(g, b, 0, offset);
        if (i == moved || offset[b] != before)
            mark_conflicts(g, b, before, offset);
        if (space_live(s, b) && offset[b] + s->problem->buffer[b].size > limit)
            return false;
    }
    return true;
}

int greedy_place(const Space *s, GreedyOrder order, bool tight, int64_t *offset, int32_t *region)
{
    int    *buffer = malloc(((size_t)s->n + 1) * sizeof *buffer);
    Greedy *g = greedy_open(s);
    int     status = buffer && g ? rank_buffers(s, order, buffer) : PLAN_ENOMEM;

    if (!status)
        greedy_place_ranked(g, buffer, tight, offset, region);
    free(buffer);
    greedy_close(g);
    return status;
}

/* The four planners of Occamy: the order, and whether buffers go into the tightest gap. */
enum { FIRST_FIT, BEST_FIT, LONGER_FIRST, BIGGER_FIRST };
static const struct {
    GreedyOrder order;
    bool        tight;
} four[4] = {{GREEDY_BIRTH, false}, {GREEDY_BIRTH, true}, {GREEDY_LONGER, false}, {GREEDY_BIGGER, false}};

static int greedy(const Space *s, const PlanLimits *limits, int64_t which, PlanResult *result)
{
    (void)limits;
    result->nodes += s->n;
    return greedy_place(s, four[which].order, four[which].tight, result->offset, result->region);
}

/* The peaks of all four planners on one space. */
static int greedy_peaks(const Space *s, int64_t peak[4])
{
    int64_t *offset = calloc((size_t)s->n + 1, sizeof *offset);
    int32_t *region = calloc((size_t)s->n + 1, sizeof *region);
    int      status = offset && region ? PLAN_OK : PLAN_ENOMEM;

    for (int i = 0; i < 4 && !status; i++) {
        status = greedy_place(s, four[i].order, four[i].tight, offset, region);
        peak[i] = status ? 0 : space_peak(s, offset, region);
    }
    free(offset);
    free(region);
    return status;
}

int plan_greedy_peaks(const PlanProblem *problem, int64_t peak[4])
{
    Space      space;
    PlanStatus fixed;
    char       why[160];
    int        status = plan_validate(problem, why);

    if (status)
        return status;
    if (space_open(&space, problem, 0))
        return PLAN_ENOMEM;
    status = fixed_open(&space, &fixed, why);
    for (int i = 0; i < 4; i++)
        peak[i] = 0;
    if (!status && fixed == PLAN_FEASIBLE)
        status = greedy_peaks(&space, peak);
    space_close(&space);
    return status;
}

int plan_first_fit(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, greedy, FIRST_FIT);
}

int plan_best_fit(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, greedy, BEST_FIT);
}

int plan_longer_first(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, greedy, LONGER_FIRST);
}

int plan_bigger_first(const PlanProblem *problem, const PlanLimits *limits, PlanResult *result)
{
    return plan_run(problem, limits, result, greedy, BIGGER_FIRST);
}
