/* overlap.c - results that follow their input through the same memory, as the records of kernels allow, and steps that
 * get smaller tiles where that makes it possible or saves scratch. requires: spans */
#include "kernels/record.h"
#include "plan/plan.h"
#include "program/copy.h"
#include "support/int.h"

static const BlockSize coarse = {16384, 24}, fine = {4096, 16};

/* Slices run at the same time, so a step that is cut cannot follow its input. */
bool step_overlaps(const Program *program, int index, int *x, int *y, int64_t *distance)
{
    const Step *step = &program->step[index];
    Follow      f;

    if (program->no_overlap || step->kind != STEP_KERNEL || !step->noperand || step->slices > 1 ||
        !step_code(program, step)->by_rows || !step->kernel->record->follow ||
        !step->kernel->record->follow(program, step, &f) || !extent_is_const(f.from->offset) ||
        !extent_is_const(f.to->offset))
        return false;
    *x = f.from->buffer;
    *y = f.to->buffer;
    *distance = (f.distance + f.to->offset.max - f.from->offset.max) * operand_bytes_per_element(f.to);
    *distance = int_round_up(int_max(*distance, 0), int_min(program->buffer[*x].align,
                                                            program->buffer[*y].align)); /* multiples, as offsets are */
    return *distance < program->buffer[*y].size;
}

/* Whether the step's kernel can work in smaller tiles of rows, and makes more pixels at a time than two of them. */
static bool can_make_small_rows(const Program *program, const Step *step)
{
    const Operand *x, *y;

    return !program->no_overlap && step->slices < 2 && step_code(program, step)->by_rows &&
           step->kernel->record->tiles.can_make_small_rows && step_pair(program, step, &x, &y) &&
           step->kernel->record->tiles.can_make_small_rows(program, step, 2 * coarse.pixels);
}

/* Whether the step's input dies at the step, so that the result could follow it. */
static bool wants_small_rows(const Program *program, int index)
{
    const Operand *x, *y;

    return step_pair(program, &program->step[index], &x, &y) &&
           buffer_dies_beside(program, x->buffer, y->buffer, index);
}

/* The bytes that a step saves if its result follows its input. */
static int64_t joint_bytes(const Program *program, int index)
{
    int64_t distance;
    int     x, y;

    if (!step_overlaps(program, index, &x, &y, &distance))
        return 0;
    return int_min(program->buffer[x].size, program->buffer[y].size - distance);
}

/* Keeps the step as it is, unless it has smaller tiles already. */
static void remember(const Program *program, Step *step)
{
    Step *large = arena_one(program->arena, Step);

    *large = *step;
    step->large = step->large ? step->large : large;
}

void program_use_smaller_tiles(Program *program, int io_arena, int64_t above)
{
    int64_t *live = program_live_bytes(program, io_arena);

    for (int s = 0; s < program->nstep; s++) {
        const Step     *step = &program->step[s];
        const TileRule *rule;

        if (step->kind != STEP_KERNEL || live[s] <= above)
            continue;
        rule = &step->kernel->record->tiles;
        if (can_make_small_rows(program, step) && (above == EVERY_STEP || wants_small_rows(program, s))) {
            rule->small_rows(program, program_own_step(program, s), coarse);
            if (above == EVERY_STEP || live[s] - joint_bytes(program, s) > above)
                rule->small_rows(program, &program->step[s], fine);
        } else if (rule->small_scratch) {
            remember(program, &program->step[s]);
            rule->small_scratch(program, program_own_step(program, s));
        }
    }
}
