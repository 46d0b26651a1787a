/* greedy_gap.c - the lowest and the tightest gap for a buffer between those that are placed.
 * The offsets that would collide with buffers already placed form open intervals. Lowest gap: the offset is lifted over
 * the intervals that contain it. Tightest gap: the one that leaves least room above the buffer before the next
 * interval. Those of a simple buffer's intervals that stem from other simple ones come by rising offset like the
 * buffers placed, which are kept sorted, and the first gap is met early. For the others all intervals are collected and
 * lifted over again and again; where they come by rising offset once is enough, so each buffer's list of those that it
 * may meet is sorted anew when that takes long, and stays nearly sorted from one placement to the next. */
#include "greedy.h"

enum { PASSES = 4 }; /* over unsorted intervals */

/* The intervals of one buffer if it is placed; returns how many. */
static int collect_one(const Greedy *g, const Near *near, int region, const int64_t *offset, Clash *clash)
{
    if (g->home[near->other] != region)
        return 0;
    for (int k = 0; k < near->ngap; k++) {
        const Clash *gap = &g->space->gap[near->gap + k];
        clash[k] = (Clash){offset[near->other] + gap->from, offset[near->other] + gap->to};
    }
    return near->ngap;
}

/* The intervals of placed buffers that b may meet, from the list of those. */
static int collect_near(const Greedy *g, int b, int region, const int64_t *offset)
{
    const Space *s = g->space;
    int          count = 0;

    for (int i = s->near_at[b]; i < s->near_at[b + 1]; i++)
        count += collect_one(g, &s->near[g->near[i]], region, offset, g->clash + count);
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

/* The intervals of a simple buffer by lower end: those with simple ones from the list of placed ones, the others
 * collected. */
typedef struct Sweep {
    const Greedy  *greedy;
    const int64_t *offset;
    Shape          shape;
    int            region, at, nodd, odd; /* at: in placed; odd: in clash */
} Sweep;

static Sweep sweep_open(const Greedy *g, int b, int region, const int64_t *offset)
{
    const Space *s = g->space;
    Sweep        sweep = {g, offset, g->shape[b], region, 0, 0, 0};

    for (int i = g->odd_at[b]; i < g->odd_at[b + 1]; i++)
        sweep.nodd += collect_one(g, &s->near[g->odd[i]], region, offset, g->clash + sweep.nodd);
    sort_clashes(g->clash, sweep.nodd);
    return sweep;
}

/* The next interval; false: there is none. */
static bool sweep_next(Sweep *w, Clash *clash)
{
    const Greedy *g = w->greedy;
    bool          odd = w->odd < w->nodd;
    int64_t       stop = odd ? g->clash[w->odd].from : INT64_MAX;

    for (; w->at < g->count; w->at++) {
        int          j = g->placed[w->at];
        const Shape *other = &g->shape[j];
        if (w->offset[j] - w->shape.size >= stop)
            break;
        if (other->begin < w->shape.end && w->shape.begin < other->end && g->home[j] == w->region) {
            *clash = (Clash){w->offset[j] - w->shape.size, w->offset[j] + other->size};
            w->at++;
            return true;
        }
    }
    if (odd)
        *clash = g->clash[w->odd++];
    return odd;
}

/* The tightest gap between the intervals; the lowest of several, and above them all where there is none. */
typedef struct Tightest {
    int64_t x, best, room; /* bytes; x: above the intervals so far; best: -1, none yet */
} Tightest;

static void pass_interval(Tightest *t, const Clash *c, int64_t align)
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
        Sweep sweep = sweep_open(g, b, region, offset);
        Clash clash;
        while (sweep_next(&sweep, &clash))
            pass_interval(&t, &clash, align);
    } else {
        int count = collect(g, b, region, offset);
        sort_clashes(g->clash, count);
        for (int i = 0; i < count; i++)
            pass_interval(&t, &g->clash[i], align);
    }
    return t.best >= 0 ? t.best : t.x;
}

/* x lifted over the intervals of simple buffers that begin below it and below `stop`. Free of branches on what cannot
 * be foretold: many buffers placed are not in the way. `mask`: the alignment less one. */
static int64_t lift_over_placed(Sweep *w, int64_t x, int64_t stop, int64_t mask)
{
    const Greedy *g = w->greedy;

    for (; w->at < g->count; w->at++) {
        int          j = g->placed[w->at];
        const Shape *other = &g->shape[j];
        int64_t      from = w->offset[j] - w->shape.size, to = w->offset[j] + other->size, in_the_way;
        if (from >= x || from >= stop)
            break;
        in_the_way =
            (other->begin < w->shape.end) & (w->shape.begin < other->end) & (g->home[j] == w->region) & (to > x);
        x += (((to + mask) & ~mask) - x) & -in_the_way;
    }
    return x;
}

static int64_t lowest_gap_of_simple(const Greedy *g, int b, int region, const int64_t *offset)
{
    int64_t x = 0, mask = space_align(g->space, b, region) - 1;
    Sweep   w = sweep_open(g, b, region, offset);

    for (; w.odd < w.nodd; w.odd++) {
        const Clash *odd = &g->clash[w.odd];
        x = lift_over_placed(&w, x, odd->from, mask);
        if (odd->from >= x)
            return x;
        x = odd->to > x ? (odd->to + mask) & ~mask : x;
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
