/* skyline.c - the skyline heuristic, lowest support first: a plan built upward that scales to 10^5 buffers.
 *
 *   bytes                     The skyline is the highest end of what is placed in each section. The support of a buffer
 *     |    +-----+            is the skyline's maximum over the buffer's sections: buffer x, live in all three, would
 *     | +--+  b  |            rest on b.
 *     | |a |     +--+
 *     | |  |     |c |
 *     +-------------------> sections
 *
 * A queue holds the unplaced buffers by (support, rank). The lowest is taken. If the skyline has risen under it since
 * it was pushed, it goes back with its new support; else it is placed there. Holes below the skyline are lost, so the
 * rank decides how good the plan becomes: six orders by lifetime (W), area (A), load of the fullest section (T) and
 * size (Z). The skyline is a segment tree with range assignment and range maximum: O(log m) each. */
#include "space.h"

#include <stdlib.h>

/* A node of the segment tree. A buffer is placed at the maximum of its sections, so an assignment only ever raises. It
 * is kept as a floor of whole subtrees that is never pushed down. */
typedef struct Maximum {
    int64_t high;  /* maximum over the subtree, floors of its ancestors aside */
    int64_t floor; /* least value anywhere in the subtree */
} Maximum;

typedef struct Skyline {
    int      leaves; /* a power of two */
    Maximum *node;   /* [2*leaves] */
} Skyline;

typedef struct Entry {
    int64_t support;
    int     rank, buffer;
} Entry;

typedef struct Bucket {
    Entry *entry;
    int    count, room;
} Bucket;

/* A monotone radix heap (Ahuja et al. 1990): supports never fall below the last one taken, so an entry lies in the
 * bucket of the highest bit in which it differs from that one, and moves to lower buckets only. */
typedef struct Queue {
    Bucket  bucket[65];
    int64_t last;
} Queue;

static bool skyline_open(Skyline *k, int sections)
{
    k->leaves = 1;
    while (k->leaves < sections)
        k->leaves *= 2;
    k->node = calloc((size_t)k->leaves * 2, sizeof *k->node);
    return k->node != NULL;
}

/* The maximum over sections [begin,end), not empty. */
static int64_t highest(const Skyline *k, int begin, int end)
{
    const Maximum *node = k->node;
    int            first = begin + k->leaves, last = end + k->leaves - 1, l = first, r = last + 1;
    int64_t        most = 0;

    for (; l < r; l /= 2, r /= 2) {
        if (l & 1)
            most = larger(most, node[l++].high);
        if (r & 1)
            most = larger(most, node[--r].high);
        first /= 2;
        last /= 2;
        most = larger(most, larger(node[first].floor, node[last].floor));
    }
    for (first /= 2; first > 0; first /= 2) /* from here on both have the same ancestors, or neighbours' */
        most = larger(most, node[first].floor);
    for (last /= 2; last > 0; last /= 2)
        most = larger(most, node[last].floor);
    return most;
}

/* Raises sections [begin,end) to value, which is no less than their maximum. */
static void raise_to(Skyline *k, int begin, int end, int64_t value)
{
    Maximum *node = k->node;
    int      first = begin + k->leaves, last = end + k->leaves - 1;

    for (int l = first, r = last + 1; l < r; l /= 2, r /= 2) {
        if (l & 1)
            node[l++] = (Maximum){value, value};
        if (r & 1)
            node[--r] = (Maximum){value, value};
    }
    for (first /= 2, last /= 2; first > 0; first /= 2, last /= 2) {
        node[first].high = larger(node[first].high, value);
        node[last].high = larger(node[last].high, value);
    }
}

static int bits_of(uint64_t x)
{
    int bits = 0;

    for (int half = 32; half > 0; half /= 2)
        if (x >> half) {
            x >>= half;
            bits += half;
        }
    return bits + (x != 0);
}

static bool push(Queue *q, Entry one)
{
    Bucket *b = &q->bucket[bits_of((uint64_t)one.support ^ (uint64_t)q->last)];

    if (b->count == b->room) {
        int    room = b->room ? b->room * 2 : 64;
        Entry *larger = realloc(b->entry, (size_t)room * sizeof *larger);
        if (!larger)
            return false;
        b->entry = larger;
        b->room = room;
    }
    b->entry[b->count++] = one;
    return true;
}

static int by_rank(const void *left, const void *right)
{
    const Entry *a = left, *b = right;
    return a->rank - b->rank;
}

/* Gathers all entries of the lowest support in bucket 0, sorted by rank; false when nothing is left, or no memory. */
static bool gather_lowest(Queue *q, bool *memory)
{
    int     i = 1;
    Bucket *b;

    while (i < 65 && q->bucket[i].count == 0)
        i++;
    if (i == 65)
        return false;
    b = &q->bucket[i];
    q->last = b->entry[0].support;
    for (int k = 1; k < b->count; k++)
        q->last = b->entry[k].support < q->last ? b->entry[k].support : q->last;
    for (int k = 0; k < b->count && *memory; k++)
        *memory = push(q, b->entry[k]);
    b->count = 0;
    qsort(q->bucket[0].entry, (size_t)q->bucket[0].count, sizeof(Entry), by_rank);
    return *memory;
}

/* heaviest[b] becomes the bytes live in the fullest section of buffer b, by a tree of maxima. */
static bool fill_loads(const Space *s, double *heaviest)
{
    Skyline  k = {0};
    int64_t *load = calloc((size_t)s->nsection + 2, sizeof *load);
    bool     good = skyline_open(&k, s->nsection) && load;

    for (int i = 0; i < s->span_at[s->n] && good; i++) {
        load[s->span[i].begin] += s->span[i].hi - s->span[i].lo;
        load[s->span[i].end] -= s->span[i].hi - s->span[i].lo;
    }
    for (int t = 0; t < s->nsection && good; t++) {
        load[t + 1] += load[t];
        k.node[k.leaves + t].high = load[t];
    }
    for (int i = k.leaves - 1; i > 0 && good; i--)
        k.node[i].high = larger(k.node[2 * i].high, k.node[2 * i + 1].high);
    for (int b = 0; b < s->n && good; b++)
        heaviest[b] = space_live(s, b) ? (double)highest(&k, s->begin[b], s->end[b]) : 0;
    free(load);
    free(k.node);
    return good;
}

/* rank[b] in one of the six orders. */
static bool rank_all(const Space *s, int order, int *rank)
{
    enum { W, A, T, Z };
    static const int pick[SKYLINE_ORDERS][3] = {{A, W, T}, {T, A, W}, {T, W, A}, {Z, W, A}, {W, A, T}, {W, Z, T}};
    RankedBuffer    *ranked = malloc(((size_t)s->n + 1) * sizeof *ranked);
    double          *load = calloc((size_t)s->n + 1, sizeof *load);
    bool             good = ranked && load && fill_loads(s, load);

    for (int b = 0; b < s->n && good; b++) {
        double life = (double)(s->step_at[s->end[b]] - s->step_at[s->begin[b]]),
               size = (double)s->problem->buffer[b].size;
        double value[4] = {life, life * size, load[b], size};
        ranked[b] = (RankedBuffer){{value[pick[order][0]], value[pick[order][1]], value[pick[order][2]]}, b};
    }
    if (good)
        ranked_sort(ranked, s->n);
    for (int i = 0; i < s->n && good; i++)
        rank[ranked[i].buffer] = i;
    free(ranked);
    free(load);
    return good;
}

typedef struct SkylineRun {
    Skyline  skyline;
    int64_t *top; /* [nsection] the skyline as an array, for single sections */
    Queue    queue;
    int     *rank;
    int     *watch; /* [n] the section that determined the buffer's support when it was last computed */
    int64_t *align;
} SkylineRun;

/* Recomputes the support of a buffer, and the section that determines it. */
static int64_t look_up(const Space *s, SkylineRun *run, int b)
{
    int64_t support = 0;

    for (int i = s->span_at[b]; i < s->span_at[b + 1]; i++) {
        int64_t one = highest(&run->skyline, s->span[i].begin, s->span[i].end);
        int     t = s->span[i].begin;
        if (one <= support)
            continue;
        support = one;
        while (run->top[t] != one)
            t++;
        run->watch[b] = t;
    }
    return run->align[b] > 1 ? round_up(support, run->align[b]) : support;
}

static void place_at(const Space *s, SkylineRun *run, int b, int64_t end)
{
    for (int i = s->span_at[b]; i < s->span_at[b + 1]; i++) {
        raise_to(&run->skyline, s->span[i].begin, s->span[i].end, end);
        for (int t = s->span[i].begin; t < s->span[i].end; t++)
            run->top[t] = end;
    }
}

/* Places the buffers of the lowest entries, or puts them back with a higher support. */
static bool place_lowest(const Space *s, SkylineRun *run, int64_t *offset)
{
    Bucket *lowest = &run->queue.bucket[0];
    bool    good = true;

    for (int k = 0; k < lowest->count && good; k++) {
        Entry   one = lowest->entry[k];
        int     b = one.buffer;
        int64_t support = run->top[run->watch[b]];
        if (support <= one.support) /* usually the watched section has risen, and the tree need not be asked */
            support = look_up(s, run, b);
        if (support > one.support) {
            good = push(&run->queue, (Entry){support, one.rank, b});
            continue;
        }
        offset[b] = support;
        place_at(s, run, b, support + s->problem->buffer[b].size);
    }
    lowest->count = 0;
    return good;
}

static void run_close(SkylineRun *run)
{
    for (int i = 0; i < 65; i++)
        free(run->queue.bucket[i].entry);
    free(run->rank);
    free(run->align);
    free(run->watch);
    free(run->top);
    free(run->skyline.node);
}

int skyline_place_some(const Space *s, int order, int first, const bool *left_out, int64_t *offset)
{
    SkylineRun run = {.queue = {.last = -1}};
    bool       good;

    run.rank = malloc(((size_t)s->n + 1) * sizeof *run.rank);
    run.align = malloc(((size_t)s->n + 1) * sizeof *run.align);
    run.watch = malloc(((size_t)s->n + 1) * sizeof *run.watch);
    run.top = calloc((size_t)s->nsection + 1, sizeof *run.top);
    good = run.rank && run.align && run.watch && run.top && skyline_open(&run.skyline, s->nsection) &&
           rank_all(s, order, run.rank);
    if (good && first >= 0)
        run.rank[first] = -1;
    for (int b = 0; b < s->n && good; b++) {
        offset[b] = 0;
        run.align[b] = space_align(s, b, 0);
        run.watch[b] = s->begin[b];
        if (space_live(s, b) && !(left_out && left_out[b]))
            good = push(&run.queue, (Entry){0, run.rank[b], b});
    }
    while (good && gather_lowest(&run.queue, &good))
        good = place_lowest(s, &run, offset);
    run_close(&run);
    return good ? PLAN_OK : PLAN_ENOMEM;
}

int skyline_place(const Space *s, int order, int64_t *offset)
{
    return skyline_place_some(s, order, -1, NULL, offset);
}
