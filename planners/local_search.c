/* local_search.c - local search over orders of placement, for problems with windows or overlap constraints where exact
 * search does not end in time. First fit turns an order of the buffers into a plan, and some order yields a best plan.
 * A move takes a buffer that ends at the peak to an earlier place in the order, and is kept if the peak does not grow.
 * After many moves without gain the search goes back to the best plan and shakes it. */
#include "local_search.h"

#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 120, SHAKES = 40 }; /* moves without gain before a shake; shakes without gain before the end */

typedef struct LocalSearch {
    const Space *space;
    Effort      *effort;
    uint64_t     seed;
    int          fixed;         /* number of fixed buffers, which come first in every order */
    int         *order, *trial; /* [n] */
    int64_t     *offset;        /* [n] of the trial */
    Greedy      *greedy;
    int64_t      peak; /* of order */
} LocalSearch;

static int below(LocalSearch *w, int count)
{
    return count > 0 ? (int)(mix_bits(w->seed += UINT64_C(0x9e3779b97f4a7c15)) % (uint64_t)count) : 0;
}

static void move(int *order, int from, int to)
{
    int buffer = order[from];

    memmove(order + to + 1, order + to, (size_t)(from - to) * sizeof *order);
    order[to] = buffer;
}

/* The place in the trial order of a random buffer that ends at the peak; -1 if only fixed ones do. */
static int place_at_peak(LocalSearch *w, const int64_t *offset)
{
    const Space *s = w->space;
    int          found = -1, count = 0;

    for (int i = w->fixed; i < s->n; i++) {
        int b = w->trial[i];
        if (space_live(s, b) && offset[b] + s->problem->buffer[b].size == w->peak && below(w, ++count) == 0)
            found = i;
    }
    return found;
}

/* Moves from w->order until PATIENCE of them gained nothing; best[] and *best_peak follow. *gained: the best peak
 * fell. */
static int descend(LocalSearch *w, int64_t target, int64_t *best, int64_t *best_peak, bool *gained)
{
    size_t   bytes = (size_t)w->space->n * sizeof *w->order;
    int64_t *now = malloc(((size_t)w->space->n + 1) * sizeof *now);
    int      status;

    *gained = false;
    if (now)
        memcpy(now, w->offset, (size_t)w->space->n * sizeof *now);
    for (int idle = 0; now && idle<PATIENCE && * best_peak> target && !effort_is_over(w->effort); idle++) {
        int64_t peak;
        int     from, to;
        bool    good;
        memcpy(w->trial, w->order, bytes);
        from = place_at_peak(w, now);
        if (from < 0)
            break;
        to = w->fixed + below(w, from - w->fixed);
        move(w->trial, from, to);
        memcpy(w->offset, now, (size_t)w->space->n * sizeof *now);
        good = greedy_place_moved(w->greedy, w->trial, to, w->peak, w->offset);
        w->effort->nodes -= w->space->n;
        if (!good)
            continue;
        peak = space_peak(w->space, w->offset, NULL);
        idle = peak < w->peak ? 0 : idle;
        w->peak = peak;
        memcpy(w->order, w->trial, bytes);
        memcpy(now, w->offset, (size_t)w->space->n * sizeof *now);
        if (peak < *best_peak) {
            *best_peak = peak;
            *gained = true;
            memcpy(best, now, (size_t)w->space->n * sizeof *best);
        }
    }
    status = now ? PLAN_OK : PLAN_ENOMEM;
    free(now);
    return status;
}

/* Shakes the best plan: a few buffers of its order are moved to the bottom. */
static int shake(LocalSearch *w, const int64_t *best, int times)
{
    int status = greedy_rank_plan(w->space, best, w->trial);

    for (int i = 0; !status && i < times && w->fixed < w->space->n; i++)
        move(w->trial, w->fixed + below(w, w->space->n - w->fixed), w->fixed);
    if (status)
        return status;
    greedy_place_ranked(w->greedy, w->trial, false, w->offset, NULL);
    w->effort->nodes -= w->space->n;
    w->peak = space_peak(w->space, w->offset, NULL);
    memcpy(w->order, w->trial, (size_t)w->space->n * sizeof *w->order);
    return PLAN_OK;
}

int local_search_improve(const Space *s, Effort *effort, int64_t target, int64_t *offset)
{
    size_t      n = (size_t)s->n + 1;
    LocalSearch w = {s,
                     effort,
                     effort->seed,
                     0,
                     malloc(n * sizeof(int)),
                     malloc(n * sizeof(int)),
                     malloc(n * sizeof(int64_t)),
                     greedy_open(s),
                     0};
    int64_t     peak = space_peak(s, offset, NULL);
    int         status = w.order && w.trial && w.offset && w.greedy ? PLAN_OK : PLAN_ENOMEM;

    for (int b = 0; b < s->n; b++)
        w.fixed += s->problem->buffer[b].fixed >= 0;
    for (int idle = 0; !status && idle < SHAKES && peak > target && !effort_is_over(effort); idle++) {
        bool gained;
        status = shake(&w, offset, idle % 4);
        if (!status)
            status = descend(&w, target, offset, &peak, &gained);
        idle = !status && gained ? -1 : idle;
    }
    free(w.order);
    free(w.trial);
    free(w.offset);
    greedy_close(w.greedy);
    return status;
}
