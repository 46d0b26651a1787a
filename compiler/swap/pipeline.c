/* pipeline.c - the simulation of the queue of steps and the queue of loads, and what no schedule can beat. */
#include "swap/pipeline.h"

#include <math.h>
#include <string.h>

double pipeline_load_time(int64_t bytes, double rate, double latency, int depth)
{
    return (double)bytes / rate + latency / depth;
}

double pipeline_lead(double latency, int depth)
{
    return latency - latency / depth;
}

int64_t pipeline_block_bytes(const Pipeline *p)
{
    int64_t bytes = 0;

    for (int b = 0; b < p->nblock; b++)
        bytes += p->block[b].bytes;
    return bytes;
}

double pipeline_resident(const Pipeline *p)
{
    double time = 0;

    for (int s = 0; s < p->nstep; s++)
        time += p->time[s];
    return time;
}

/* ------------------------------------------------------------------------------------------------------- simulation */

static bool is_kept(const bool *kept, int block)
{
    return kept && kept[block];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Puts load b, begun at `now`, behind the loads in the queue. Its first byte arrives after the lead, which counts from
 * `now`: a load that waited in the queue for that long loses no time. */
static void load(const Pipeline *p, int b, double now, double *free, PipelineRun *run, const PipelineTrace *trace)
{
    double from = later(*free, now);

    *free = later(*free, now + p->lead) + p->block[b].time;
    run->read += p->block[b].bytes;
    run->loads++;
    trace->to[b] = *free;
    if (trace->from)
        trace->from[b] = from;
}

static void clear(const Pipeline *p, const PipelineTrace *trace)
{
    memset(trace->to, 0, (size_t)p->nblock * sizeof *trace->to);
    if (trace->from)
        memset(trace->from, 0, (size_t)p->nblock * sizeof *trace->from);
}

PipelineRun pipeline_run(const Pipeline *p, const int *place, const bool *kept, const PipelineTrace *trace)
{
    PipelineRun run = {.ahead = 0};
    double      free = 0; /* the time when the last load that has begun ends */
    int         begun = 0, awaited = 0, flying = 0;

    clear(p, trace);
    for (int s = 0; s < p->nstep; s++) {
        double there = run.time;

        for (; begun < p->nblock && (is_kept(kept, begun) || place[begun] <= s); begun++)
            if (!is_kept(kept, begun)) {
                load(p, begun, run.time, &free, &run, trace);
                flying++;
            }
        run.ahead = flying > run.ahead ? flying : run.ahead;
        for (; awaited < begun && p->block[awaited].first <= s; awaited++)
            if (!is_kept(kept, awaited)) {
                there = later(there, trace->to[awaited]);
                flying--;
            }
        if (trace->stall)
            trace->stall[s] = there - run.time;
        run.stall += there - run.time;
        run.time = there + p->time[s];
    }
    return run;
}

/* ------------------------------------------------------------------------------------------------------------- peak */

PipelinePeak pipeline_peak(const Pipeline *p, const int *place, const bool *kept, Arena *arena)
{
    ArenaMark mark = arena_mark(arena);
    int64_t  *change = arena_array(arena, int64_t, p->nstep + 1), blocks = 0; /* of the blocks' bytes, at each step */
    PipelinePeak peak = {.step = -1};

    for (int b = 0; b < p->nblock; b++)
        if (!is_kept(kept, b)) {
            change[place ? place[b] : p->block[b].first] += p->block[b].bytes;
            change[p->block[b].last + 1] -= p->block[b].bytes;
        }
    for (int s = 0; s < p->nstep; s++) {
        blocks += change[s];
        if (p->live[s] + blocks > peak.bytes || peak.step < 0)
            peak = (PipelinePeak){p->live[s] + blocks, p->live[s], blocks, s};
    }
    arena_release(arena, mark);
    return peak;
}

/* ------------------------------------------------------------------------------------------------------------ bound */

/* When step i ends, its own buffers and all blocks that it reads or passes over have been in memory, so of the bytes
 * that later steps read first at most early[i + 1] = bytes - these were there. Step j > i begins when the blocks first
 * read in i + 1..j are all there, so
 *
 *     begin[j] >= end[i] + (read[j + 1] - read[i + 1] - early[i + 1]) / rate
 *
 * where read[s] are the bytes first read by steps before s. i = -1 is the start of the run, when kept blocks alone are
 * there. Since end[i] may be bounded in the same way, windows form chains. It does not matter how many of the bytes are
 * kept: kept bytes take as much as they save in every window. */
typedef struct Windows {
    const Pipeline *p;
    int64_t        *read, *early; /* [nstep + 1] */
    double         *end;          /* [nstep + 1] of step s - 1 at least */
    int            *from; /* [nstep + 1] first step of the window that step s - 1 ends, or -1: it just follows */
} Windows;

static Windows windows_new(const Pipeline *p, int64_t bytes, Arena *arena)
{
    Windows  w = {.p = p};
    int64_t *change = arena_array(arena, int64_t, p->nstep + 1), blocks = 0, most = 0;

    w.read = arena_array(arena, int64_t, p->nstep + 1);
    w.early = arena_array(arena, int64_t, p->nstep + 1);
    w.end = arena_array(arena, double, p->nstep + 1);
    w.from = arena_array(arena, int, p->nstep + 1);
    for (int b = 0; b < p->nblock; b++) {
        w.read[p->block[b].first + 1] += p->block[b].bytes;
        change[p->block[b].first] += p->block[b].bytes;
        change[p->block[b].last + 1] -= p->block[b].bytes;
    }
    for (int s = 0; s < p->nstep; s++) {
        blocks += change[s];
        w.read[s + 1] += w.read[s];
        w.early[s + 1] = bytes - p->live[s] - blocks;
        most = p->live[s] > most ? p->live[s] : most;
    }
    w.early[0] = bytes - most;
    return w;
}

/* The latest begin of step s that a window gives, or -1: none. */
static double begin_of(const Windows *w, int s, int *first)
{
    double latest = -1;

    for (int i = 0; i <= s; i++) {
        int64_t late = w->read[s + 1] - w->read[i] - w->early[i];
        double  begin = w->end[i] + (double)late / w->p->rate;

        if (late > 0 && begin > latest) {
            latest = begin;
            *first = i;
        }
    }
    return latest;
}

/* Of the chain that ends with the last step, the window that costs most. */
static void costliest(const Windows *w, PipelineBound *bound)
{
    double most = 0;

    for (int s = w->p->nstep; s > 0;) {
        int    first = w->from[s];
        double compute = 0, cost;

        if (first < 0) {
            s--;
            continue;
        }
        for (int i = first; i < s - 1; i++)
            compute += w->p->time[i];
        cost = w->end[s] - w->p->time[s - 1] - w->end[first] - compute;
        if (cost > most) {
            most = cost;
            bound->first = first;
            bound->last = s - 1;
            bound->bytes = w->read[s] - w->read[first];
            bound->early = w->early[first];
        }
        s = first;
    }
}

PipelineBound pipeline_bound(const Pipeline *p, int64_t bytes, Arena *arena)
{
    ArenaMark     mark = arena_mark(arena);
    Windows       w = windows_new(p, bytes, arena);
    PipelineBound bound = {.first = -1, .last = -1};

    for (int s = 0; s < p->nstep; s++) {
        double begin;
        int    first = -1;

        if (w.early[s + 1] < 0)
            bound.time = INFINITY;
        begin = w.read[s + 1] > w.read[s] ? begin_of(&w, s, &first) : -1;
        w.from[s + 1] = begin > w.end[s] ? first : -1;
        w.end[s + 1] = later(begin, w.end[s]) + p->time[s];
    }
    if (bound.time < INFINITY) {
        bound.time = w.end[p->nstep];
        costliest(&w, &bound);
    }
    arena_release(arena, mark);
    return bound;
}
