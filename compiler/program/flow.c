/* flow.c - successors of every step. */
#include "program/flow.h"

int flow_after(const Program *program, int step)
{
    const Step *s = &program->step[step];

    if (s->kind == STEP_IF)
        return s->body[1].end;
    return s->kind == STEP_LOOP ? s->body[0].end : step + 1;
}

Range flow_row_of(const Program *program, int step)
{
    Range rest = {0, program->nstep};

    while (rest.begin < step && program->step[rest.begin].chooses) {
        const Step *choice = &program->step[rest.begin];

        if (range_holds(choice->body[0], step))
            return choice->body[0];
        rest = choice->body[1];
    }
    return rest;
}

int flow_rows(Arena *arena, const Program *program, Range **row)
{
    Range rest = {0, program->nstep};
    int   count = 0;

    *row = arena_array(arena, Range, program->nstep + 1);
    while (rest.begin < rest.end && program->step[rest.begin].chooses && flow_after(program, rest.begin) == rest.end) {
        const Step *choice = &program->step[rest.begin];

        (*row)[count++] = choice->body[0];
        rest = choice->body[1];
    }
    (*row)[count++] = rest;
    return count;
}

bool range_holds(Range range, int step)
{
    return range.begin <= step && step < range.end;
}

int flow_next(const Program *program, int step)
{
    int next = step + 1;

    for (int i = step; i-- > 0;) { /* the owners of the step, the innermost first */
        const Step *s = &program->step[i];

        for (int b = 0; b < step_bodies(s); b++) {
            if (!range_holds(s->body[b], step))
                continue;
            if (next < s->body[b].end)
                return next;
            if (s->kind == STEP_LOOP)
                return i;
            next = s->body[1].end;
        }
    }
    return next;
}

/* How often a loop runs, at the largest extents; without a bound that means something, once. */
static double trips_of(const Step *loop)
{
    enum { MOST_TRIPS = 1 << 20 };

    return extent_is_const(loop->set) || (loop->until < 0 && loop->set.max < MOST_TRIPS) ? (double)loop->set.max : 1.0;
}

/* The steps of `range` run `often` times. */
static void count_runs(const Program *program, Range range, double often, double *runs)
{
    for (int i = range.begin; i < range.end; i = flow_after(program, i)) {
        const Step *s = &program->step[i];
        double      inside = often;

        runs[i] = often;
        if (s->kind == STEP_LOOP)
            inside *= trips_of(s);
        if (s->kind == STEP_IF && s->body[1].end > s->body[1].begin)
            inside *= 0.5;
        for (int b = 0; b < step_bodies(s); b++)
            count_runs(program, s->body[b], inside, runs);
    }
}

double *flow_runs(Arena *arena, const Program *program)
{
    double *runs = arena_array(arena, double, program->nstep + 1);

    count_runs(program, (Range){0, program->nstep}, 1.0, runs);
    return runs;
}

/* The first step of a range, or `follow` when it is empty. */
static int enter(Range range, int follow)
{
    return range.begin < range.end ? range.begin : follow;
}

/* Steps of [begin,end); what runs after the last of them is `follow`. */
static void walk(const Program *program, Flow *flow, Range range, int follow)
{
    int after;

    for (int i = range.begin; i < range.end; i = after) {
        const Step *s = &program->step[i];
        int         next;

        after = flow_after(program, i);
        next = after < range.end ? after : follow;
        if (s->kind == STEP_IF) {
            flow[i] = (Flow){{enter(s->body[0], next), enter(s->body[1], next)}};
            walk(program, flow, s->body[0], next);
            walk(program, flow, s->body[1], next);
        } else if (s->kind == STEP_LOOP) {
            flow[i] = (Flow){{enter(s->body[0], i), next}};
            walk(program, flow, s->body[0], i);
        } else {
            flow[i] = (Flow){{next, -1}};
        }
    }
}

Flow *flow_build(Arena *arena, const Program *program)
{
    Flow *flow = arena_array(arena, Flow, program->nstep + 1);

    walk(program, flow, (Range){0, program->nstep}, program->nstep);
    return flow;
}
