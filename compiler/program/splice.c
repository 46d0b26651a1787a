/* splice.c - steps put into a finished program. */
#include "program/splice.h"

#include <string.h>

/* The new numbers of steps. By old number, [nstep + 1]: the step's new number, and the number of steps put in front of
 * it. */
typedef struct Moves {
    int *to, *before;
} Moves;

static Moves find_moves(const Program *p, const Splice *list, int count)
{
    Moves m = {arena_array(p->arena, int, p->nstep + 1), arena_array(p->arena, int, p->nstep + 1)};
    int   next = 0;

    for (int i = 0, k = 0; i <= p->nstep; i++) {
        int begin = next, removed = 0;

        for (; k < count && list[k].at == i; k++) {
            next += list[k].count;
            removed |= list[k].removed;
        }
        m.before[i] = next - begin;
        m.to[i] = next;
        next += !removed;
    }
    return m;
}

/* Moves the ranges: a body begins behind its owner and includes the steps inserted in front of its first step; it ends
 * with its last step. */
static void move_ranges(Step *step, const Moves *m)
{
    for (int b = 0; b < step_bodies(step); b++) {
        step->body[b].begin = m->to[step->body[b].begin] - m->before[step->body[b].begin];
        step->body[b].end = m->to[step->body[b].end] - m->before[step->body[b].end];
    }
}

void program_splice(Program *p, const Splice *list, int count)
{
    Moves m = find_moves(p, list, count);
    int   nstep = m.to[p->nstep];
    Step *step = arena_array(p->arena, Step, nstep + 1);

    for (int i = 0, k = 0; i <= p->nstep; i++) {
        int at = m.to[i] - m.before[i], removed = 0;

        for (; k < count && list[k].at == i; k++) {
            memcpy(step + at, list[k].step, (size_t)list[k].count * sizeof *step);
            at += list[k].count;
            removed |= list[k].removed;
        }
        if (i == p->nstep || removed)
            continue;
        step[at] = p->step[i];
        move_ranges(&step[at], &m);
    }
    p->step = step;
    p->nstep = nstep;
    p->cstep = nstep + 1;
}
