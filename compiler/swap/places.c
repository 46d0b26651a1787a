/* places.c - the earliest places of loads in so many bytes, and the latest that cost no time. */
#include "swap/places.h"

#include <math.h>
#include <string.h>

struct Places {
    const Pipeline *p;
    int             count;  /* blocks that are not kept */
    int            *block;  /* [nblock + 1] these */
    int64_t        *before; /* [nblock + 1] bytes of the blocks in front of each */
    int64_t        *change; /* [nstep + 1] of the bytes of blocks that their readers hold, at each step */
    int            *read;   /* [nstep + 1] blocks first read before each step */
    int            *begun;  /* [nstep + 1] blocks begun when each step computes, at most */
    double         *to;     /* [nblock + 1] when each block is in memory */
    double         *line;   /* [nstep + 1] when step s - 1 has ended */
    double         *stall;  /* [nstep + 1] */
};

Places *places_new(Arena *arena, const Pipeline *p)
{
    Places *w = arena_one(arena, Places);

    w->p = p;
    w->block = arena_array(arena, int, p->nblock + 1);
    w->before = arena_array(arena, int64_t, p->nblock + 1);
    w->change = arena_array(arena, int64_t, p->nstep + 1);
    w->read = arena_array(arena, int, p->nstep + 1);
    w->begun = arena_array(arena, int, p->nstep + 1);
    w->to = arena_array(arena, double, p->nblock + 1);
    w->line = arena_array(arena, double, p->nstep + 1);
    w->stall = arena_array(arena, double, p->nstep + 1);
    return w;
}

/* Lists the blocks that are loaded. Returns the most blocks that one step reads first. */
static int list_blocks(Places *w, const bool *kept)
{
    const PipelineBlock *block = w->p->block;
    int                  most = 0, run = 0;

    w->count = 0;
    memset(w->change, 0, (size_t)(w->p->nstep + 1) * sizeof *w->change);
    for (int b = 0; b < w->p->nblock; b++) {
        if (kept && kept[b])
            continue;
        run = w->count && block[w->block[w->count - 1]].first == block[b].first ? run + 1 : 1;
        most = run > most ? run : most;
        w->change[block[b].first] += block[b].bytes;
        w->change[block[b].last + 1] -= block[b].bytes;
        w->before[w->count + 1] = w->before[w->count] + block[b].bytes;
        w->block[w->count++] = b;
    }
    for (int s = 0, i = 0; s <= w->p->nstep; s++) {
        while (i < w->count && block[w->block[i]].first < s)
            i++;
        w->read[s] = i;
    }
    return most;
}

/* begun[s] from the last step to the first: no more than at the next step, and of the bytes that readers do not hold no
 * more than are free. Returns whether readers and buffers fit. */
static bool find_begun(Places *w, int64_t arena, int limit)
{
    int64_t held = 0;
    int     begun = w->count;

    for (int s = w->p->nstep; s-- > 0;) {
        int     read = w->read[s + 1]; /* this step's own among them */
        int64_t free;

        held -= w->change[s + 1];
        free = arena - w->p->live[s] - held;
        if (free < 0)
            return false;
        while (begun > read && (w->before[begun] - w->before[read] > free || begun - w->read[s] > limit))
            begun--;
        w->begun[s] = begun;
    }
    return true;
}

/* The time of a run with these counts of loads begun: pipeline_run without its details. */
static double run(Places *w)
{
    const Pipeline *p = w->p;
    double          free = 0, now = 0;
    int             begun = 0;

    for (int s = 0; s < p->nstep; s++) {
        w->line[s] = now;
        for (; begun < w->begun[s]; begun++) {
            double earliest = now + p->lead;

            free = (free > earliest ? free : earliest) + p->block[w->block[begun]].time;
            w->to[begun] = free;
        }
        if (w->read[s + 1] > w->read[s] && w->to[w->read[s + 1] - 1] > now)
            now = w->to[w->read[s + 1] - 1];
        w->stall[s] = now - w->line[s];
        now += p->time[s];
    }
    w->line[p->nstep] = now;
    return now;
}

/* Loads in flight that either count allows, at most; 0: any. */
static int fewer(int a, int b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

double places_earliest(Places *w, const bool *kept, int64_t arena, int ahead, int *place)
{
    int most = list_blocks(w, kept), limit = fewer(w->p->ahead, ahead);

    if (!find_begun(w, arena, limit == 0 ? w->count : most > limit ? most : limit))
        return INFINITY;
    if (place) {
        for (int b = 0; b < w->p->nblock; b++)
            place[b] = w->p->block[b].first;
        for (int s = 0, i = 0; s < w->p->nstep; s++)
            for (; i < w->begun[s]; i++)
                place[w->block[i]] = s;
    }
    return run(w);
}

/* From the last load to the first: each must end before the next one must begin and before its reader begins. A load
 * that would have to begin before its place stays there: it ends as it did, and its reader has waited for it. */
void places_latest(Places *w, const bool *kept, double margin, int *place)
{
    const Pipeline *p = w->p;
    double          next = INFINITY; /* when the next load must begin */
    int             most = p->nstep;

    list_blocks(w, kept);
    for (int s = 0, i = 0; s < p->nstep; s++) {
        while (i < w->count && place[w->block[i]] <= s)
            i++;
        w->begun[s] = i;
    }
    run(w);
    for (int i = w->count; i-- > 0 && margin < INFINITY;) {
        const PipelineBlock *block = &p->block[w->block[i]];
        double               reader = w->line[block->first] + w->stall[block->first];
        int                  at = block->first < most ? block->first : most;

        next = (next < reader ? next : reader) - block->time * (1 + margin);
        while (at > place[w->block[i]] && w->line[at] + p->lead > next)
            at--;
        most = place[w->block[i]] = at;
    }
}
