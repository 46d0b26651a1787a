/* larger_tiles.c - gives steps back the tiles that planning made smaller, as far as the finished plan has room for
 * them: the scratch of a step lives in that step alone, so it may move to the largest hole beside what lives with it.
 * Example: an arena of 1,720,864 bytes, of which a step needs 1,028,640 with 225,792 bytes of scratch: 917,504 are left
 * to it. requires: spans, a plan. */
#include "kernels/record.h"
#include "plan/plan.h"
#include "program/copy.h"
#include "support/int.h"

#include <stdlib.h>

/* Bytes of the arena. */
typedef struct Hole {
    int64_t lo, hi;
} Hole;

static int compare_holes(const void *a, const void *b)
{
    const Hole *x = a, *y = b;

    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static bool live_together(const Buffer *a, const Span *b)
{
    for (int i = 0; i < a->nspan; i++)
        if (a->span[i].begin < b->end && b->begin < a->span[i].end)
            return true;
    return false;
}

/* The largest hole in the buffer's memory beside all that lives with it. */
static Hole largest_hole(const Program *p, const Plan *plan, const Buffer *buffer)
{
    const PlanShare *share = &plan->share[plan->region[buffer->id]];
    Hole            *taken = NULL, best = {0, 0};
    int64_t          top = share->base, end = share->base + share->peak;
    int              count = 0, capacity = 0;

    for (int b = 0; b < p->nbuffer; b++)
        for (int i = 0; i < p->buffer[b].nspan && b != buffer->id && plan->offset[b] >= 0; i++) {
            const Span *span = &p->buffer[b].span[i];
            bool        whole = p->buffer[b].copies > 1;
            Hole        used = {plan->offset[b] + (whole ? 0 : span->lo),
                                plan->offset[b] + (whole ? buffer_bytes(&p->buffer[b]) : span->hi)};

            if (plan->region[b] == plan->region[buffer->id] && live_together(buffer, span))
                ARENA_PUSH(p->arena, taken, count, capacity, used);
        }
    if (count)
        qsort(taken, (size_t)count, sizeof *taken, compare_holes);
    ARENA_PUSH(p->arena, taken, count, capacity, ((Hole){end, end}));
    for (int i = 0; i < count; i++) {
        Hole hole = {share->base + int_round_up(top - share->base, buffer->align), taken[i].lo};

        if (hole.hi - hole.lo > best.hi - best.lo)
            best = hole;
        top = int_max(top, taken[i].hi);
    }
    return best;
}

/* Whether the step's result may lie where the plan has it: larger tiles need a larger distance to its input. */
static bool keeps_distance(const Program *p, const Plan *plan, int index)
{
    const Step    *step = &p->step[index];
    const Operand *x, *y;
    int64_t        distance, at_x, at_y;
    int            from, to;

    if (!step_pair(p, step, &x, &y) || plan->offset[x->buffer] < 0 || plan->offset[y->buffer] < 0)
        return true;
    at_x = plan->offset[x->buffer];
    at_y = plan->offset[y->buffer];
    if (at_x >= at_y + buffer_bytes(&p->buffer[y->buffer]) || at_y >= at_x + buffer_bytes(&p->buffer[x->buffer]))
        return true;
    return step_overlaps(p, index, &from, &to, &distance) && from == x->buffer && to == y->buffer &&
           at_x - at_y >= distance;
}

static void enlarge(Program *p, Plan *plan, int index)
{
    const Step small = p->step[index];
    Buffer    *scratch = NULL;
    Hole       hole;
    int64_t    before, room;

    for (int k = 0; k < small.noperand && !scratch; k++)
        if (small.operand[k].buffer >= 0 && p->buffer[small.operand[k].buffer].kind == BUFFER_SCRATCH)
            scratch = &p->buffer[small.operand[k].buffer];
    if (!scratch || plan->offset[scratch->id] < 0)
        return;
    before = scratch->size;
    hole = largest_hole(p, plan, scratch);
    room = (hole.hi - hole.lo) / scratch->copies;
    small.kernel->record->tiles.large_scratch(p, program_own_step(p, index), room - room % scratch->align);
    if (scratch->size > before && keeps_distance(p, plan, index)) {
        plan->offset[scratch->id] = hole.lo;
        return;
    }
    p->step[index] = small;
    scratch->size = before;
    for (int i = 0; i < scratch->nspan; i++)
        scratch->span[i].hi = before;
}

void program_use_larger_tiles(Program *program, Plan *plan)
{
    for (int s = 0; s < program->nstep; s++)
        if (program->step[s].large && program->step[s].kernel->record->tiles.large_scratch)
            enlarge(program, plan, s);
}
