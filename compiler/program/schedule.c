/* schedule.c - list scheduling of the program's outermost steps on several queues.
 *
 * Of the units whose predecessors are placed, the one with the longest way to the end is placed next: on the queue where it
 * begins first. It begins when that queue is free and its predecessors have ended, those of other queues CROSS later. Numbers
 * then follow the times at which units begin. */
#include "program/queues.h"

#include "program/depend.h"
#include "program/flow.h"
#include "program/reorder.h"

#include <stdlib.h>

enum { CROSS = 500 }; /* nanoseconds until another processor has seen that a step ended, and what it made */

#define LEAST_GAIN 0.02 /* of the time on one queue: less is not worth the memory */

typedef struct Schedule {
    Program    *program;
    Arena      *arena;
    Touches     touches;
    Dependences needs;
    double     *cost; /* by unit, nanoseconds */
    double     *rest; /* by unit: of the longest way from its begin to the end */
    double     *begin;
    int        *queue;
    double     *free; /* by queue: when it has ended what it was given */
    int         queues;
} Schedule;

static void find_costs(Schedule *s, const Core *core)
{
    const double *step = cost_steps(core, s->program);

    for (int u = 0; u < s->touches.nunit; u++)
        for (int i = s->touches.unit[u].begin; i < s->touches.unit[u].end; i++)
            s->cost[u] += step[i];
    for (int u = s->touches.nunit; u-- > 0;) {
        s->rest[u] += s->cost[u];
        for (int i = 0; i < s->needs.nbefore[u]; i++) {
            double *rest = &s->rest[s->needs.before[u][i]];

            *rest = s->rest[u] > *rest ? s->rest[u] : *rest;
        }
    }
}

/* When the unit, whose predecessors are placed, could begin on the queue. */
static double begin_on(const Schedule *s, int unit, int queue)
{
    double begin = s->free[queue];

    for (int i = 0; i < s->needs.nbefore[unit]; i++) {
        int    before = s->needs.before[unit][i];
        double end = s->begin[before] + s->cost[before] + (s->queue[before] == queue ? 0.0 : CROSS);

        begin = end > begin ? end : begin;
    }
    return begin;
}

static void place(Schedule *s, int unit)
{
    s->begin[unit] = begin_on(s, unit, 0);
    s->queue[unit] = 0;
    for (int q = 1; q < s->queues; q++) {
        double begin = begin_on(s, unit, q);

        if (begin < s->begin[unit]) {
            s->begin[unit] = begin;
            s->queue[unit] = q;
        }
    }
    s->free[s->queue[unit]] = s->begin[unit] + s->cost[unit];
}

/* Units that wait for each unit, as lists: next[k] follows entry k, heads by unit. */
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
            int *head = &f.head[s->needs.before[u][i]];

            f.unit[count] = u;
            f.next[count] = *head;
            *head = ++count;
        }
    return f;
}

static void place_all(Schedule *s)
{
    int      *missing = arena_array(s->arena, int, s->touches.nunit + 1), *ready = arena_array(s->arena, int, s->touches.nunit + 1);
    Followers f = find_followers(s, missing);
    int       nready = 0;

    for (int u = 0; u < s->touches.nunit; u++)
        if (!missing[u])
            ready[nready++] = u;
    while (nready) {
        int best = 0, unit;

        for (int i = 1; i < nready; i++)
            if (s->rest[ready[i]] > s->rest[ready[best]] || (s->rest[ready[i]] >= s->rest[ready[best]] && ready[i] < ready[best]))
                best = i;
        unit = ready[best];
        ready[best] = ready[--nready];
        place(s, unit);
        for (int k = f.head[unit]; k; k = f.next[k - 1])
            if (!--missing[f.unit[k - 1]])
                ready[nready++] = f.unit[k - 1];
    }
}

typedef struct Begin {
    double at;
    int    unit;
} Begin;

/* Units that take no time begin together with what follows them, and had lower numbers. */
static int compare(const void *a, const void *b)
{
    const Begin *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at ? 1 : x->unit - y->unit;
}

static void renumber(Schedule *s)
{
    Begin *by_begin = arena_array(s->arena, Begin, s->touches.nunit + 1);
    Order  order = {.unit = s->touches.unit, .nunit = s->touches.nunit, .order = arena_array(s->arena, int, s->touches.nunit + 1)};

    for (int u = 0; u < s->touches.nunit; u++) {
        by_begin[u] = (Begin){s->begin[u], u};
        s->program->step[s->touches.unit[u].begin].queue = s->queue[u];
    }
    qsort(by_begin, (size_t)s->touches.nunit, sizeof *by_begin, compare);
    for (int i = 0; i < s->touches.nunit; i++)
        order.order[i] = by_begin[i].unit;
    program_apply_order(s->program, &order);
}

double program_queued_time(const Program *p, const Core *core)
{
    const double *step = cost_steps(core, p);
    double       *end = arena_array(p->arena, double, p->nstep + 1), *free = arena_array(p->arena, double, p->nqueue + 1), last = 0.0;

    for (int s = 0; s < p->nstep; s = flow_after(p, s)) {
        int queue = p->nqueue > 1 ? p->step[s].queue : 0;

        for (int i = 0; i < p->nwait; i++)
            if (p->wait[i].step == s && end[p->wait[i].of] + CROSS > free[queue])
                free[queue] = end[p->wait[i].of] + CROSS;
        for (int i = s; i < flow_after(p, s); i++)
            free[queue] += step[i];
        end[s] = free[queue];
        last = end[s] > last ? end[s] : last;
    }
    return last;
}

bool program_schedule(Program *program, const Core *core, int queues)
{
    Schedule s = {.program = program, .arena = program->arena, .touches = program_touches(program, program->arena), .queues = queues};
    int      n = s.touches.nunit + 1;
    double   one = 0.0, end = 0.0;

    s.needs = program_dependences(&s.touches, s.arena);
    s.cost = arena_array(s.arena, double, n);
    s.rest = arena_array(s.arena, double, n);
    s.begin = arena_array(s.arena, double, n);
    s.queue = arena_array(s.arena, int, n);
    s.free = arena_array(s.arena, double, queues + 1);
    find_costs(&s, core);
    place_all(&s);
    for (int u = 0; u < s.touches.nunit; u++)
        one += s.cost[u];
    for (int q = 0; q < queues; q++)
        end = s.free[q] > end ? s.free[q] : end;
    if (!(end < (1.0 - LEAST_GAIN) * one))
        return false;
    renumber(&s);
    program->nqueue = 0;
    for (int u = 0; u < s.touches.nunit; u++) /* those that have something to do */
        program->nqueue = s.queue[u] >= program->nqueue ? s.queue[u] + 1 : program->nqueue;
    program_find_waits(program);
    return true;
}
