/* larger_tiles.c - gives steps back the tiles that planning made smaller, as far as the finished plan has room for
 * them: the scratch of a step lives in that step alone, so it may move to the largest hole beside what lives with it.
 * Example: an arena of 1,720,864 bytes, of which a step needs 1,028,640 with 225,792 bytes of scratch: 918,016 are left
 * to it. requires: spans, a plan. */
#include "kernels/record.h"
#include "kernels/tiles.h"
#include "plan/plan.h"
#include "program/copy.h"

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
    int64_t    before, room, offset = 0;

    for (int k = 0; k < small.noperand && !scratch; k++)
        if (small.operand[k].buffer >= 0 && p->buffer[small.operand[k].buffer].kind == BUFFER_SCRATCH)
            scratch = &p->buffer[small.operand[k].buffer];
    if (!scratch || plan->offset[scratch->id] < 0)
        return;
    before = scratch->size;
    room = program_hole_of(p, plan, scratch, &offset) / scratch->copies;
    small.kernel->record->tiles.large_scratch(p, program_own_step(p, index), room - room % scratch->align);
    if (scratch->size > before && keeps_distance(p, plan, index)) {
        plan->offset[scratch->id] = offset;
        return;
    }
    p->step[index] = small;
    tiles_resize(scratch, before);
}

void program_use_larger_tiles(Program *program, Plan *plan)
{
    for (int s = 0; s < program->nstep; s++)
        if (program->step[s].large && program->step[s].kernel->record->tiles.large_scratch)
            enlarge(program, plan, s);
}
