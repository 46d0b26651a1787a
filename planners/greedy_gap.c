/* greedy_gap.c - the lowest and the tightest gap for a buffer between the buffers that are placed.
 * Each placed buffer forbids an open interval of offsets. A buffer of 32 bytes beside a placed one at [64,128) must
 * avoid 32 < x < 128. The lowest gap: x starts at 0 and is lifted to the upper end of every interval that contains it.
 * The tightest gap: the gap between two intervals that leaves the least free room above the buffer.
 * The intervals between simple buffers come sorted, because placed buffers are kept sorted by offset; one sweep finds
 * the gap, and often ends early. Between other buffers all intervals are collected, and x is lifted over them until
 * nothing changes. One pass is enough if they are sorted. So where many passes are needed the buffer's list of
 * conflicts is sorted by offset; it stays nearly sorted from one placement to the next, which keeps later passes
 * few. */
#include "greedy.h"

enum { PASSES = 4 }; /* over unsorted intervals, before they are sorted */

/* The forbidden offsets by one conflict, if its other buffer is placed in the region; returns how many intervals. */
static int collect_one(const Greedy *g, const Conflict *conflict, int region, const int64_t *offset, Interval *interval)
{
    if (g->home[conflict->other] != region)
        return 0;
    for (int k = 0; k < conflict->count; k++) {
        const Interval *gap = &g->space->forbidden[conflict->first + k];
        interval[k] = (Interval){offset[conflict->other] + gap->from, offset[conflict->other] + gap->to};
    }
    return conflict->count;
}

/* All forbidden offsets of b, from the listed conflicts. */
static int collect_listed(const Greedy *g, int b, int region, const int64_t *offset)
{
    const Space *s = g->space;
    int          count = 0;

    for (int i = s->conflict_at[b]; i < s->conflict_at[b + 1]; i++)
        count += collect_one(g, &s->conflict[g->conflict[i]], region, offset, g->interval + count);
    return count;
}

/* Collects the placed neighbours where conflicts are not listed: every placed buffer is tested. */
static int collect_unlisted(const Greedy *g, int b, int region, const int64_t *offset)
{
    const Space *s = g->space;
    int          count = 0;

    for (int i = 0; i < g->count; i++) {
        int j = g->placed[i];
        if (g->home[j] == region && s->begin[j] < s->end[b] && s->begin[b] < s->end[j])
            count += space_forbidden(s, b, j, offset[j], g->interval + count);
    }
    return count;
}

static int collect(const Greedy *g, int b, int region, const int64_t *offset)
{
    return (g->conflict ? collect_listed : collect_unlisted)(g, b, region, offset);
}

/* Shell sort (1959) with the gaps of Ciura (2001): most lists here are short. */
static const int shell_gaps[] = {132, 57, 23, 10, 4, 1};
enum { SHELL_GAPS = sizeof shell_gaps / sizeof *shell_gaps };

/* Sorts the conflicts of b by the offset of the other buffer; buffers that are not placed come last. */
static void sort_conflicts(const Greedy *g, int b, const int64_t *offset)
{
    const Space *s = g->space;
    int         *list = g->conflict + s->conflict_at[b], count = s->conflict_at[b + 1] - s->conflict_at[b];

    for (int k = 0; k < SHELL_GAPS; k++)
        for (int gap = shell_gaps[k], i = gap; i < count; i++) {
            int     one = list[i], other = s->conflict[one].other, at = i;
            int64_t key = g->home[other] < 0 ? INT64_MAX : offset[other];

            for (; at >= gap; at -= gap) {
                int lower = s->conflict[list[at - gap]].other;
                if ((g->home[lower] < 0 ? INT64_MAX : offset[lower]) <= key)
                    break;
                list[at] = list[at - gap];
            }
            list[at] = one;
        }
}

/* Sorts intervals by their lower end. */
static void sort_intervals(Interval *interval, int count)
{
    for (int k = 0; k < SHELL_GAPS; k++)
        for (int gap = shell_gaps[k], i = gap; i < count; i++) {
            Interval one = interval[i];
            int      at = i;
            for (; at >= gap && interval[at - gap].from > one.from; at -= gap)
                interval[at] = interval[at - gap];
            interval[at] = one;
        }
}

/* Lifts *x over the intervals that contain it, in one pass forward or backward; false if none contains it. */
static bool lift(const Interval *interval, int count, int64_t align, bool backward, int64_t *x)
{
    int64_t before = *x;

    for (int i = 0; i < count; i++) {
        const Interval *c = &interval[backward ? count - 1 - i : i];
        if (c->from < *x && *x < c->to)
            *x = round_up(c->to, align);
    }
    return *x > before;
}

/* The forbidden intervals of a simple buffer by rising lower end: a merge of two sorted lists, the placed simple
 * buffers and the collected intervals of the others. */
typedef struct GapSweep {
    const Greedy  *greedy;
    const int64_t *offset;
    Box            box;
    int            region, at, nmixed, mixed; /* positions: `at` in Greedy.placed, `mixed` in Greedy.interval */
} GapSweep;

static GapSweep sweep_open(const Greedy *g, int b, int region, const int64_t *offset)
{
    const Space *s = g->space;
    GapSweep     sweep = {g, offset, g->box[b], region, 0, 0, 0};

    for (int i = g->mixed_at[b]; i < g->mixed_at[b + 1]; i++)
        sweep.nmixed += collect_one(g, &s->conflict[g->mixed[i]], region, offset, g->interval + sweep.nmixed);
    sort_intervals(g->interval, sweep.nmixed);
    return sweep;
}

/* The next interval; false at the end. */
static bool sweep_next(GapSweep *w, Interval *interval)
{
    const Greedy *g = w->greedy;
    bool          mixed = w->mixed < w->nmixed;
    int64_t       stop = mixed ? g->interval[w->mixed].from : INT64_MAX;

    for (; w->at < g->count; w->at++) {
        int        j = g->placed[w->at];
        const Box *other = &g->box[j];
        if (w->offset[j] - w->box.size >= stop)
            break;
        if (other->begin < w->box.end && w->box.begin < other->end && g->home[j] == w->region) {
            *interval = (Interval){w->offset[j] - w->box.size, w->offset[j] + other->size};
            w->at++;
            return true;
        }
    }
    if (mixed)
        *interval = g->interval[w->mixed++];
    return mixed;
}

/* The search for the tightest gap; the lowest of several equal ones, and above all intervals where there is none. */
typedef struct Tightest {
    int64_t x, best, room; /* bytes; x: above the intervals so far; best: offset of the gap, -1: none yet */
} Tightest;

static void pass_interval(Tightest *t, const Interval *c, int64_t align)
{
    if (t->x <= c->from && c->from - t->x < t->room) {
        t->room = c->from - t->x;
        t->best = t->x;
    }
    if (c->to > t->x)
        t->x = round_up(c->to, align);
}

int64_t greedy_tightest_gap(const Greedy *g, int b, int region, const int64_t *offset)
{
    Tightest t = {0, -1, INT64_MAX};
    int64_t  align = space_align(g->space, b, region);

    if (greedy_is_simple(g, b)) {
        GapSweep sweep = sweep_open(g, b, region, offset);
        Interval interval;
        while (sweep_next(&sweep, &interval))
            pass_interval(&t, &interval, align);
    } else {
        int count = collect(g, b, region, offset);
        sort_intervals(g->interval, count);
        for (int i = 0; i < count; i++)
            pass_interval(&t, &g->interval[i], align);
    }
    return t.best >= 0 ? t.best : t.x;
}

/* x lifted over the intervals of simple buffers that begin below x and below `stop`. `mask` is the alignment less one.
 * The loop masks instead of branching, since whether a placed buffer is in the way is hard to predict. */
static int64_t lift_over_placed(GapSweep *w, int64_t x, int64_t stop, int64_t mask)
{
    const Greedy *g = w->greedy;

    for (; w->at < g->count; w->at++) {
        int        j = g->placed[w->at];
        const Box *other = &g->box[j];
        int64_t    from = w->offset[j] - w->box.size, to = w->offset[j] + other->size, in_the_way;
        if (from >= x || from >= stop)
            break;
        in_the_way = (other->begin < w->box.end) & (w->box.begin < other->end) & (g->home[j] == w->region) & (to > x);
        x += (((to + mask) & ~mask) - x) & -in_the_way;
    }
    return x;
}

static int64_t lowest_gap_of_simple(const Greedy *g, int b, int region, const int64_t *offset)
{
    int64_t  x = 0, mask = space_align(g->space, b, region) - 1;
    GapSweep w = sweep_open(g, b, region, offset);

    for (; w.mixed < w.nmixed; w.mixed++) {
        const Interval *mixed = &g->interval[w.mixed];
        x = lift_over_placed(&w, x, mixed->from, mask);
        if (mixed->from >= x)
            return x;
        x = mixed->to > x ? (mixed->to + mask) & ~mask : x;
    }
    return lift_over_placed(&w, x, INT64_MAX, mask);
}

int64_t greedy_lowest_gap(const Greedy *g, int b, int region, const int64_t *offset)
{
    int64_t x = 0, align = space_align(g->space, b, region);
    int     count;

    if (greedy_is_simple(g, b))
        return lowest_gap_of_simple(g, b, region, offset);
    count = collect(g, b, region, offset);
    for (int pass = 0; pass < PASSES; pass++)
        if (!lift(g->interval, count, align, pass % 2, &x))
            return x;
    if (g->conflict) {
        sort_conflicts(g, b, offset);
        count = collect(g, b, region, offset);
    }
    while (lift(g->interval, count, align, false, &x))
        ;
    return x;
}
