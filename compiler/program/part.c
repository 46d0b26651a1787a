/* part.c - which steps are cut into how many parts: each rule offers cuts along axes of the result, the one with the best
 * balance is taken. */
#include "program/part.h"
#include "program/part_rules.h"
#include "support/int.h"

#include <string.h>

enum { PART_MICROSECONDS = 20 }; /* of work, at least, in each part: below, waking a thread costs more than it saves */

/* Every argument is known, every element is a byte or more, and what it reads is there. */
static bool is_plain(const Program *program, const Step *step)
{
    for (int i = 0; i < step->narg; i++)
        for (int k = 0; (step->arg[i].kind == ARG_INT || step->arg[i].kind == ARG_INTS) && k < step->arg[i].count; k++)
            if (!extent_is_const(step->arg[i].ints[k]))
                return false;
    for (int i = 0; i < step->noperand; i++) {
        const Buffer *b = step->operand[i].buffer < 0 ? NULL : &program->buffer[step->operand[i].buffer];

        if (b && (dtype_info(step->operand[i].dtype)->bits < 8 ||
                  (b->kind == BUFFER_IN && program->in[b->port].type.kind == TYPE_OPTIONAL)))
            return false;
    }
    return true;
}

/* Units of the largest part. */
static int64_t largest(const Cut *cut, int parts)
{
    return int_ceil_div(int_ceil_div(cut->units, cut->grain), parts) * cut->grain;
}

/* The cut whose largest part is the smallest share of the whole. */
static Cut best_cut(const Step *step, const PartRule *rule, int parts)
{
    Cuts   cuts = {.count = 0};
    Cut    best = {.axis = -1};
    double least = 0.0;

    rule->offer(step, &cuts);
    for (int i = 0; i < cuts.count; i++) {
        double share = (double)largest(&cuts.cut[i], parts) / (double)cuts.cut[i].units * cuts.cut[i].weight;

        if (largest(&cuts.cut[i], parts) < cuts.cut[i].units && (best.axis < 0 || share < least)) {
            best = cuts.cut[i];
            least = share;
        }
    }
    return best;
}

static void partition_step(Program *program, Step *step, int parts)
{
    const PartRule *rule = part_rule(step);
    double      most;
    Cut         cut;

    if (!rule || !is_plain(program, step))
        return;
    most = rule->work(step) / (PART_MICROSECONDS * 1000.0);
    parts = most < parts ? (int)most : parts;
    cut = parts > 1 ? best_cut(step, rule, parts) : (Cut){.axis = -1};
    if (cut.axis < 0)
        return;
    step->parts = (int)int_min(parts, int_ceil_div(cut.units, cut.grain));
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && program->buffer[step->operand[k].buffer].kind == BUFFER_SCRATCH)
            program->buffer[step->operand[k].buffer].copies = step->parts;
}

void program_partition(Program *program, int parts)
{
    for (int s = 0; parts > 1 && s < program->nstep; s++)
        partition_step(program, &program->step[s], parts);
}

/* A step of its own: nothing that is changed below is shared with the whole. */
static Step copy_step(const Program *program, const Step *step)
{
    Step part = *step;

    part.parts = 1;
    part.operand = arena_array(program->arena, Operand, step->noperand + 1);
    memcpy(part.operand, step->operand, (size_t)step->noperand * sizeof *part.operand);
    part.arg = arena_array(program->arena, Arg, step->narg + 1);
    for (int i = 0; i < step->narg; i++) {
        Extent *ints = arena_array(program->arena, Extent, step->arg[i].count + 1);

        part.arg[i] = step->arg[i];
        if (step->arg[i].kind != ARG_INT && step->arg[i].kind != ARG_INTS)
            continue;
        memcpy(ints, step->arg[i].ints, (size_t)step->arg[i].count * sizeof *ints);
        part.arg[i].ints = ints;
    }
    return part;
}

Step step_part(const Program *program, const Step *step, int index)
{
    const PartRule *rule = part_rule(step);
    Cut         cut = best_cut(step, rule, step->parts);
    Step        part = copy_step(program, step);
    int64_t     grains = int_ceil_div(cut.units, cut.grain);
    int64_t     lo = grains * index / step->parts * cut.grain, hi = grains * (index + 1) / step->parts * cut.grain;

    rule->take(&part, cut.axis, lo, int_min(hi, cut.units));
    for (int k = 0; k < part.noperand; k++) {
        const Buffer *b = part.operand[k].buffer < 0 ? NULL : &program->buffer[part.operand[k].buffer];

        if (b && b->kind == BUFFER_SCRATCH)
            part_shift(&part, k, index * int_round_up(b->size, b->align) / operand_bytes_per_element(&part.operand[k]));
    }
    return part;
}
