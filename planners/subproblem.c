/* subproblem.c - see subproblem.h. */
#include "subproblem.h"

#include <stdlib.h>

static void *room_for(int count, size_t each)
{
    return calloc((size_t)count + 1, each);
}

static void take_buffers(SubProblem *sub, const PlanProblem *whole, const int32_t *part, int wanted)
{
    for (int b = 0; b < whole->nbuffer; b++) {
        int at = sub->problem.nbuffer;

        sub->index[b] = -1;
        if (part[b] != wanted)
            continue;
        sub->buffer[at] = whole->buffer[b];
        sub->buffer[at].regions = 0;
        sub->origin[at] = b;
        sub->index[b] = sub->problem.nbuffer++;
    }
}

static void take_constraints(SubProblem *sub, const PlanProblem *whole)
{
    for (int i = 0; i < whole->nspan; i++) {
        PlanSpan span = whole->span[i];

        span.buffer = sub->index[span.buffer];
        if (span.buffer >= 0)
            sub->span[sub->problem.nspan++] = span;
    }
    for (int i = 0; i < whole->noverlap; i++) {
        PlanOverlap overlap = whole->overlap[i];

        overlap.a = sub->index[overlap.a];
        overlap.b = sub->index[overlap.b];
        if (overlap.a >= 0 && overlap.b >= 0)
            sub->overlap[sub->problem.noverlap++] = overlap;
    }
}

bool subproblem_open(SubProblem *sub, const PlanProblem *whole, const int32_t *part, int wanted)
{
    *sub = (SubProblem){.buffer = room_for(whole->nbuffer, sizeof *sub->buffer),
                        .span = room_for(whole->nspan, sizeof *sub->span),
                        .overlap = room_for(whole->noverlap, sizeof *sub->overlap),
                        .origin = room_for(whole->nbuffer, sizeof *sub->origin),
                        .index = room_for(whole->nbuffer, sizeof *sub->index)};
    if (!sub->buffer || !sub->span || !sub->overlap || !sub->origin || !sub->index)
        return false;
    take_buffers(sub, whole, part, wanted);
    take_constraints(sub, whole);
    sub->problem.buffer = sub->buffer;
    sub->problem.span = sub->span;
    sub->problem.overlap = sub->overlap;
    sub->problem.nstep = whole->nstep;
    return true;
}

void subproblem_close(SubProblem *sub)
{
    free(sub->buffer);
    free(sub->span);
    free(sub->overlap);
    free(sub->origin);
    free(sub->index);
}
