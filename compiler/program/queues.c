/* queues.c - the waits between queues, and which steps may run beside which.
 *
 * A unit's clock says how many units of each queue have surely ended when it begins: those before it in its own queue, those
 * that it waits for, and what these knew. A wait for what the clock knows already is left out; since units come by rising
 * number and each asks for its latest predecessors first, none that stays is implied by others. */
#include "program/queues.h"

#include "program/depend.h"

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

/* `unit` begins after `before` has ended. */
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

static void find_unit_waits(Clocks *c, int unit)
{
    Program *p = c->program;
    int      queue = queue_of(c, unit);

    c->position[unit] = c->count[queue];
    if (c->count[queue])
        follow(c, unit, c->members[queue][c->count[queue] - 1]);
    c->members[queue][c->count[queue]++] = unit;
    for (int i = c->needs.nbefore[unit]; i-- > 0;) {
        int  before = c->needs.before[unit][i].unit;
        Wait wait = {c->touches.unit[unit].begin, c->touches.unit[before].begin};

        if (is_before(c, before, unit)) {
            p->nimplied += queue_of(c, before) != queue;
            continue;
        }
        follow(c, unit, before);
        ARENA_PUSH(p->arena, p->wait, p->nwait, p->cwait, wait);
    }
}

/* Numbers from the first to the last step that may run beside the unit. */
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

/* A step of the main queue lives at its number; one of another queue at all numbers of what may run beside it. So of two steps
 * that may run together each byte that they touch is live in the step of the main queue, or in both. */
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

void program_find_waits(Program *program)
{
    Clocks c = {.program = program, .touches = program_touches(program, program->arena), .queues = program->nqueue};

    c.needs = program_dependences(&c.touches, program->arena);
    c.position = arena_array(program->arena, int, c.touches.nunit + 1);
    c.clock = arena_array(program->arena, int, (int64_t)c.touches.nunit * c.queues + 1);
    c.members = arena_array(program->arena, int *, c.queues);
    c.count = arena_array(program->arena, int, c.queues);
    for (int q = 0; q < c.queues; q++)
        c.members[q] = arena_array(program->arena, int, c.touches.nunit + 1);
    program->nwait = program->nimplied = 0;
    for (int u = 0; u < c.touches.nunit; u++)
        find_unit_waits(&c, u);
    find_beside(&c);
}

static bool holds(Range range, int step)
{
    return range.begin <= step && step < range.end;
}

bool steps_run_beside(const Program *program, int a, int b)
{
    return program->nqueue > 1 && program->step[a].queue != program->step[b].queue &&
           (holds(program->beside[a], b) || holds(program->beside[b], a));
}
