/* pipelines.h - random instances of compiler/swap/pipeline.h, and what tests hold its answers against: runs as
 * longest paths, and every set of kept blocks with every list of places; and the arena of such tests. */
#ifndef OCC_TESTS_PIPELINES_H
#define OCC_TESTS_PIPELINES_H

#include "swap/pipeline.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 12, MOST_BLOCKS = 8 };

/* Times are whole numbers, so that ticks meet them. */
typedef struct Instance {
    Pipeline      p;
    double        time[MOST_STEPS];
    int64_t       live[MOST_STEPS];
    PipelineBlock block[MOST_BLOCKS];
} Instance;

static Arena *arena;

static int open_arena(void **unused)
{
    (void)unused;
    arena = arena_new(0);
    return 0;
}

static int close_arena(void **unused)
{
    (void)unused;
    arena_free(arena);
    return 0;
}

static uint64_t state = 88172645463325252u;

static int upto(int most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)(state % (uint64_t)(most + 1));
}

/* Like networks: most steps read a block of their own, a few none or several, some blocks are read again later. */
static void make_instance(Instance *x, int steps, int blocks)
{
    int latency = upto(3) ? 0 : upto(6), depth = 1 + upto(1), rate = 1 + upto(3), slow = 1 + upto(8);

    memset(x, 0, sizeof *x);
    latency *= depth;
    x->p = (Pipeline){x->time, x->live, x->block, 1 + upto(steps - 1), upto(blocks), rate, 0, 0};
    x->p.lead = pipeline_lead(latency, depth);
    x->p.ahead = upto(2) ? 0 : 1 + upto(3);
    for (int s = 0; s < x->p.nstep; s++) {
        x->time[s] = upto(4) ? upto(10 * slow) : 0;
        x->live[s] = upto(30);
    }
    for (int b = 0; b < x->p.nblock; b++) {
        PipelineBlock *block = &x->block[b];

        block->bytes = rate * (1 + (upto(3) ? upto(10) : upto(40)));
        block->first = upto(x->p.nstep - 1);
        block->time = pipeline_load_time(block->bytes, rate, latency, depth);
        for (int i = b; i > 0 && x->block[i].first < x->block[i - 1].first; i--) {
            PipelineBlock other = x->block[i];

            x->block[i] = x->block[i - 1];
            x->block[i - 1] = other;
        }
    }
    for (int b = 0; b < x->p.nblock; b++)
        x->block[b].last = x->block[b].first + (upto(4) ? 0 : upto(x->p.nstep - 1 - x->block[b].first));
}

/* ------------------------------------------------------------------------------------------------------------- runs */

/* The longest chain of steps and loads, each of which waits for others. */
static double end_of_step(const Instance *x, const int *place, const bool *kept, double *step, double *load, int s);

static double end_of_load(const Instance *x, const int *place, const bool *kept, double *step, double *load, int b)
{
    double before, begun;

    if (b < 0)
        return 0;
    if (load[b] >= 0)
        return load[b];
    before = end_of_load(x, place, kept, step, load, b - 1);
    if (kept[b])
        return load[b] = before;
    begun = end_of_step(x, place, kept, step, load, place[b] - 1) + x->p.lead;
    return load[b] = fmax(before, begun) + x->block[b].time;
}

static double end_of_step(const Instance *x, const int *place, const bool *kept, double *step, double *load, int s)
{
    double begin;

    if (s < 0)
        return 0;
    if (step[s] >= 0)
        return step[s];
    begin = end_of_step(x, place, kept, step, load, s - 1);
    for (int b = 0; b < x->p.nblock; b++)
        if (x->block[b].first == s && !kept[b])
            begin = fmax(begin, end_of_load(x, place, kept, step, load, b));
    return step[s] = begin + x->time[s];
}

static double run_by_paths(const Instance *x, const int *place, const bool *kept)
{
    double step[MOST_STEPS], load[MOST_BLOCKS];

    for (int s = 0; s < x->p.nstep; s++)
        step[s] = -1;
    for (int b = 0; b < x->p.nblock; b++)
        load[b] = -1;
    return end_of_step(x, place, kept, step, load, x->p.nstep - 1);
}

/* ----------------------------------------------------------------------------------------------------------- oracle */

/* Every choice in so many bytes; what fits is a matter of sums, or of `fits`. */
typedef struct Oracle {
    const Instance *x;
    int64_t         arena; /* bytes beside the kept blocks */
    bool            kept[MOST_BLOCKS];
    int             place[MOST_BLOCKS];
    int64_t         used[MOST_STEPS];
    double          best;
    bool (*fits)(const Instance *x, const int *place, const bool *kept, int64_t arena);
} Oracle;

static int most_of_a_step(const Instance *x, const bool *kept)
{
    int most = 0;

    for (int s = 0; s < x->p.nstep; s++) {
        int count = 0;

        for (int b = 0; b < x->p.nblock; b++)
            count += x->block[b].first == s && !kept[b];
        most = count > most ? count : most;
    }
    return most;
}

static bool too_many_ahead(const Oracle *o)
{
    int limit = most_of_a_step(o->x, o->kept);

    limit = limit > o->x->p.ahead ? limit : o->x->p.ahead;
    for (int s = 0; s < o->x->p.nstep && o->x->p.ahead; s++) {
        int count = 0;

        for (int b = 0; b < o->x->p.nblock; b++)
            count += o->place[b] <= s && o->x->block[b].first >= s && !o->kept[b];
        if (count > limit)
            return true;
    }
    return false;
}

static bool use(Oracle *o, int from, int to, int64_t bytes)
{
    bool fits = true;

    for (int s = from; s <= to; s++) {
        o->used[s] += bytes;
        fits = fits && o->used[s] <= o->arena;
    }
    return fits;
}

static void try_places(Oracle *o, int b, int least)
{
    const PipelineBlock *block = &o->x->block[b];

    if (b == o->x->p.nblock) {
        double time = too_many_ahead(o) ? INFINITY : run_by_paths(o->x, o->place, o->kept);

        if (time < o->best && (!o->fits || o->fits(o->x, o->place, o->kept, o->arena)))
            o->best = time;
        return;
    }
    if (o->kept[b]) {
        o->place[b] = block->first;
        try_places(o, b + 1, least);
        return;
    }
    for (int p = block->first; p >= least; p--) {
        o->place[b] = p;
        if (use(o, p, block->last, block->bytes))
            try_places(o, b + 1, p);
        else
            p = -1;
        use(o, o->place[b], block->last, -block->bytes);
    }
}

/* Least nanoseconds in so many bytes, INFINITY: nothing fits. */
static double best_of_all(const Instance *x, int64_t bytes,
                          bool (*fits)(const Instance *x, const int *place, const bool *kept, int64_t arena))
{
    Oracle  o = {.x = x, .best = INFINITY, .fits = fits};
    int64_t most = 0;

    for (int s = 0; s < x->p.nstep; s++)
        most = x->live[s] > most ? x->live[s] : most;
    for (int set = 0; set < 1 << x->p.nblock; set++) {
        o.arena = bytes;
        for (int b = 0; b < x->p.nblock; b++) {
            o.kept[b] = set >> b & 1;
            o.arena -= o.kept[b] ? x->block[b].bytes : 0;
        }
        if (o.arena < most)
            continue;
        memcpy(o.used, x->live, sizeof o.used);
        try_places(&o, 0, 0);
    }
    return o.best;
}

#endif
