/* schedule.c - list scheduling of the program's outermost steps on several queues.
 *
 * Of the units whose predecessors are placed, the one with the longest way to the end is placed next: on the queue
 * where it begins first, or ends first; the best of several such rules counts, since each is short-sighted. A unit
 * begins when its queue is free and its predecessors have ended, those of other queues CROSS later, and takes longer by
 * what it reads from the caches of their processors. Numbers then follow the times at which units begin. */
#include "plan/queues.h"

#include "plan/depend.h"
#include "plan/reorder.h"

#include <stdlib.h>

enum {
    CROSS = 500, /* nanoseconds until another processor sees that a step has ended */
    MOVED = 10   /* bytes per nanosecond read from another processor's cache, besides the usual time of reading */
};

#define LEAST_GAIN 0.08 /* share of the time on one queue; a smaller gain is not worth the memory, and is uncertain */

typedef struct Schedule {
    Program    *program;
    Arena      *arena;
    Touches     touches;
    Dependences needs;
    double     *cost; /* by unit, nanoseconds */
    double     *rest; /* by unit: nanoseconds of the longest path from its begin to the end */
    double     *end;
    double     *begin;
    int        *queue;
    double     *free; /* by queue: the time at which its last step ends */
    int         queues;
    double      weight; /* factor of the extra time of reading, for the choice of a queue: 0 to 1 */
} Schedule;

static void find_costs(Schedule *s, const double *time)
{
    for (int u = 0; u < s->touches.nunit; u++)
        for (int i = s->touches.unit[u].begin; i < s->touches.unit[u].end; i++)
            s->cost[u] += time[i];
    for (int u = s->touches.nunit; u-- > 0;) {
        s->rest[u] += s->cost[u];
        for (int i = 0; i < s->needs.nbefore[u]; i++) {
            double *rest = &s->rest[s->needs.before[u][i].unit];

            *rest = s->rest[u] > *rest ? s->rest[u] : *rest;
        }
    }
}

typedef struct Time {
    double begin, end;
    double rank; /* lower is better */
} Time;

/* The time at which the unit would run on the queue; its predecessors are placed. */
static Time time_on(const Schedule *s, int unit, int queue)
{
    Time   time = {.begin = s->free[queue]};
    double moved = 0.0;

    for (int i = 0; i < s->needs.nbefore[unit]; i++) {
        Need   need = s->needs.before[unit][i];
        bool   crosses = s->queue[need.unit] != queue;
        double begin = s->end[need.unit] + (crosses ? CROSS : 0.0);

        time.begin = begin > time.begin ? begin : time.begin;
        moved += crosses ? (double)need.bytes / MOVED : 0.0;
    }
    time.end = time.begin + s->cost[unit] + moved;
    time.rank = time.begin + s->weight * moved;
    return time;
}

static void place(Schedule *s, int unit)
{
    Time best = time_on(s, unit, 0);

    s->queue[unit] = 0;
    for (int q = 1; q < s->queues; q++) {
        Time time = time_on(s, unit, q);

        if (time.rank < best.rank) {
            best = time;
            s->queue[unit] = q;
        }
    }
    s->begin[unit] = best.begin;
    s->end[unit] = s->free[s->queue[unit]] = best.end;
}

/* The successors of each unit, as lists: next[k] follows entry k, heads by unit. */
typedef struct Followers {
    int *head, *next, *unit;
} Followers;

static Followers find_followers(const Schedule *s, int *missing)
{
    int       count = 0;
    Followers f;

    for (int u = 0; u < s->touches.nunit; u++)
        count += missing[u] = s->needs.nbefore[u];
    f = (Followers){arena_array(s->arena, int, s->touches.nunit + 1), arena_array(s->arena, int, count + 1),
                    arena_array(s->arena, int, count + 1)};
    count = 0; /* heads and nexts are entries plus one; 0 ends a list */
    for (int u = 0; u < s->touches.nunit; u++)
        for (int i = 0; i < s->needs.nbefore[u]; i++) {
            int *head = &f.head[s->needs.before[u][i].unit];

            f.unit[count] = u;
            f.next[count] = *head;
            *head = ++count;
        }
    return f;
}

/* Schedules all units by one rule; returns the makespan. */
static double place_all(Schedule *s, double weight)
{
    int *missing = arena_array(s->arena, int, s->touches.nunit + 1),
        *ready = arena_array(s->arena, int, s->touches.nunit + 1);
    Followers f = find_followers(s, missing);
    int       nready = 0;
    double    end = 0.0;

    s->weight = weight;
    for (int q = 0; q < s->queues; q++)
        s->free[q] = 0.0;
    for (int u = 0; u < s->touches.nunit; u++)
        if (!missing[u])
            ready[nready++] = u;
    while (nready) {
        int best = 0, unit;

        for (int i = 1; i < nready; i++)
            if (s->rest[ready[i]] > s->rest[ready[best]] ||
                (s->rest[ready[i]] >= s->rest[ready[best]] && ready[i] < ready[best]))
                best = i;
        unit = ready[best];
        ready[best] = ready[--nready];
        place(s, unit);
        for (int k = f.head[unit]; k; k = f.next[k - 1])
            if (!--missing[f.unit[k - 1]])
                ready[nready++] = f.unit[k - 1];
    }
    for (int q = 0; q < s->queues; q++)
        end = s->free[q] > end ? s->free[q] : end;
    return end;
}

/* Schedules by the rule with the least makespan. */
static double place_best(Schedule *s)
{
    static const double weights[] = {0.0, 0.1, 0.3, 1.0};
    double              best = weights[0], least = place_all(s, best);

    for (int i = 1; i < (int)(sizeof weights / sizeof *weights); i++) {
        double end = place_all(s, weights[i]);

        if (end < least) {
            least = end;
            best = weights[i];
        }
    }
    return place_all(s, best);
}

typedef struct Begin {
    double at;
    int    unit;
} Begin;

/* Orders by begin. A unit that takes no time begins together with its successors and had a lower number. */
static int compare(const void *a, const void *b)
{
    const Begin *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at ? 1 : x->unit - y->unit;
}

/* Renumbers the steps by begin; `pace` gets the times in the new order. */
static void renumber(Schedule *s, Pace *pace)
{
    double *begin = arena_array(s->arena, double, s->touches.nunit + 1),
           *end = arena_array(s->arena, double, s->touches.nunit + 1);
    Begin *by_begin = arena_array(s->arena, Begin, s->touches.nunit + 1);
    Order  order = {
         .unit = s->touches.unit, .nunit = s->touches.nunit, .order = arena_array(s->arena, int, s->touches.nunit + 1)};

    for (int u = 0; u < s->touches.nunit; u++) {
        by_begin[u] = (Begin){s->begin[u], u};
        s->program->step[s->touches.unit[u].begin].queue = s->queue[u];
    }
    qsort(by_begin, (size_t)s->touches.nunit, sizeof *by_begin, compare);
    for (int i = 0; i < s->touches.nunit; i++) {
        order.order[i] = by_begin[i].unit;
        begin[i] = s->begin[by_begin[i].unit];
        end[i] = s->end[by_begin[i].unit];
    }
    program_apply_order(s->program, &order);
    pace->begin = begin;
    pace->end = end;
}

bool program_schedule(Program *program, const double *time, int queues, double window)
{
    Schedule s = {.program = program,
                  .arena = program->arena,
                  .touches = program_touches(program, program->arena),
                  .queues = queues};
    int      n = s.touches.nunit + 1;
    double   end;
    Pace     pace;

    s.needs = program_dependences(&s.touches, s.arena);
    s.cost = arena_array(s.arena, double, n);
    s.rest = arena_array(s.arena, double, n);
    s.begin = arena_array(s.arena, double, n);
    s.end = arena_array(s.arena, double, n);
    s.queue = arena_array(s.arena, int, n);
    s.free = arena_array(s.arena, double, queues + 1);
    find_costs(&s, time);
    end = place_best(&s);
    for (int u = 0; u < s.touches.nunit; u++)
        program->sum_time += s.cost[u];
    for (int u = 0; u < s.touches.nunit; u++)
        program->path_time = s.rest[u] > program->path_time ? s.rest[u] : program->path_time;
    if (!(end < (1.0 - LEAST_GAIN) * program->sum_time))
        return false;
    renumber(&s, &pace);
    pace.window = window * end;
    program->queued_time = end;
    program->nqueue = 0;
    for (int u = 0; u < s.touches.nunit; u++) /* units with some work */
        program->nqueue = s.queue[u] >= program->nqueue ? s.queue[u] + 1 : program->nqueue;
    program_find_waits(program, window > 0.0 ? &pace : NULL);
    return true;
}
