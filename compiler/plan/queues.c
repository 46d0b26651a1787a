/* queues.c - the waits between queues, and the steps that may run at the same time. A unit's vector clock says how many
 * units of each queue have ended when it begins: its predecessors in its own queue, the units that it waits for, and
 * everything in their clocks. A wait that the clock already implies is left out. Units are visited by rising number,
 * and each asks for its latest predecessors first, so no wait that is kept is implied by others. */
#include "plan/queues.h"

#include "plan/depend.h"
#include "program/flow.h"

#include <stdlib.h>

typedef struct Clocks {
    Program    *program;
    Touches     touches;
    Dependences needs;
    int         queues;
    int        *position; /* by unit: units before it in its queue */
    int        *clock;    /* [unit][queue] */
    int       **members;  /* by queue: its units */
    int        *count;    /* by queue */
} Clocks;

static int queue_of(const Clocks *c, int unit)
{
    return c->program->step[c->touches.unit[unit].begin].queue;
}

static int *clock_of(const Clocks *c, int unit)
{
    return c->clock + (int64_t)unit * c->queues;
}

/* Makes `unit` begin after `before` has ended. */
static void follow(const Clocks *c, int unit, int before)
{
    int *clock = clock_of(c, unit), *known = clock_of(c, before), queue = queue_of(c, before);

    for (int q = 0; q < c->queues; q++)
        clock[q] = known[q] > clock[q] ? known[q] : clock[q];
    clock[queue] = c->position[before] + 1 > clock[queue] ? c->position[before] + 1 : clock[queue];
}

static bool is_before(const Clocks *c, int unit, int other)
{
    return clock_of(c, other)[queue_of(c, unit)] > c->position[unit];
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* The latest unit of the queue that is predicted to end a window before this one begins; -1: the clock implies it. */
static int paced(const Clocks *c, const Pace *pace, int unit, int queue)
{
    int    known = clock_of(c, unit)[queue], at = c->count[queue];
    double since = known ? pace->end[c->members[queue][known - 1]] : 0.0;

    while (at > known && pace->end[c->members[queue][at - 1]] > pace->begin[unit] - pace->window)
        at--;
    return at > known && pace->end[c->members[queue][at - 1]] - since >= pace->window / 2.0 ? c->members[queue][at - 1]
                                                                                            : -1;
}

/* The units that the unit could wait for, in rising order. */
static int candidates(const Clocks *c, const Pace *pace, int unit, int *list)
{
    int count = 0;

    for (int i = 0; i < c->needs.nbefore[unit]; i++)
        list[count++] = c->needs.before[unit][i].unit;
    for (int q = 0; pace && q < c->queues; q++) {
        int before = q == queue_of(c, unit) ? -1 : paced(c, pace, unit, q);

        if (before >= 0)
            list[count++] = before;
    }
    qsort(list, (size_t)count, sizeof *list, compare);
    return count;
}

static void find_unit_waits(Clocks *c, const Pace *pace, int unit)
{
    Program *p = c->program;
    int      queue = queue_of(c, unit), *list = arena_array(p->arena, int, c->needs.nbefore[unit] + c->queues + 1);

    c->position[unit] = c->count[queue];
    if (c->count[queue])
        follow(c, unit, c->members[queue][c->count[queue] - 1]);
    c->members[queue][c->count[queue]++] = unit;
    for (int i = candidates(c, pace, unit, list); i-- > 0;) {
        Wait wait = {c->touches.unit[unit].begin, c->touches.unit[list[i]].begin};

        if (is_before(c, list[i], unit)) {
            p->nimplied += queue_of(c, list[i]) != queue;
            continue;
        }
        follow(c, unit, list[i]);
        ARENA_PUSH(p->arena, p->wait, p->nwait, p->cwait, wait);
    }
}

/* The range of step numbers that may run at the same time as the unit. */
static Range beside_unit(const Clocks *c, int unit)
{
    Range range = {INT32_MAX, 0};

    for (int q = 0; q < c->queues; q++)
        for (int i = q == queue_of(c, unit) ? c->count[q] : clock_of(c, unit)[q]; i < c->count[q]; i++) {
            Unit other = c->touches.unit[c->members[q][i]];

            if (is_before(c, unit, c->members[q][i]))
                break;
            range.begin = other.begin < range.begin ? other.begin : range.begin;
            range.end = other.end > range.end ? other.end : range.end;
        }
    return range;
}

/* Fills Program.beside. A step of the main queue lives at its own number, a step of another queue at all numbers that
 * may run beside it. So of two steps that may run together, every byte that they touch is live at a number of one of
 * them. */
static void find_beside(Clocks *c)
{
    Program *p = c->program;

    p->beside = arena_array(p->arena, Range, p->nstep + 1);
    for (int u = 0; u < c->touches.nunit; u++) {
        Range range = queue_of(c, u) ? beside_unit(c, u) : (Range){INT32_MAX, 0};

        for (int s = c->touches.unit[u].begin; s < c->touches.unit[u].end; s++) {
            p->step[s].queue = queue_of(c, u);
            p->beside[s] = (Range){s < range.begin ? s : range.begin, s + 1 > range.end ? s + 1 : range.end};
        }
    }
}

/* plan NULL: not yet made. */
static void find_waits(Program *program, const Plan *plan, const Pace *pace)
{
    Clocks c = {.program = program, .touches = program_touches(program, program->arena), .queues = program->nqueue};

    c.needs = plan_dependences(&c.touches, plan, program->arena);
    c.position = arena_array(program->arena, int, c.touches.nunit + 1);
    c.clock = arena_array(program->arena, int, (int64_t)c.touches.nunit *c.queues + 1);
    c.members = arena_array(program->arena, int *, c.queues);
    c.count = arena_array(program->arena, int, c.queues);
    for (int q = 0; q < c.queues; q++)
        c.members[q] = arena_array(program->arena, int, c.touches.nunit + 1);
    program->nwait = program->nimplied = 0;
    for (int u = 0; u < c.touches.nunit; u++)
        find_unit_waits(&c, pace, u);
    if (!plan)
        find_beside(&c);
}

void program_find_waits(Program *program, const Pace *pace)
{
    find_waits(program, NULL, pace);
}

void program_settle_waits(Program *program, const Plan *plan)
{
    if (program->nqueue > 1)
        find_waits(program, plan, NULL);
}

bool steps_run_beside(const Program *program, int a, int b)
{
    return program->nqueue > 1 && program->step[a].queue != program->step[b].queue &&
           (range_holds(program->beside[a], b) || range_holds(program->beside[b], a));
}
