/* coalesce.c - in-place permits: an output may take the memory of an input that dies at its step.
 * requires: spans    adds: permits. A permit never forces an overlap; the planner takes it where it helps. */
#include "program/operand.h"
#include "program/plan.h"

#include <string.h>

static bool in_memory_of_run(const Buffer *buffer)
{
    return buffer->kind == BUFFER_ACT || buffer->kind == BUFFER_IN || buffer->kind == BUFFER_OUT;
}

/* The two buffers are live together in `step` and in no other. */
static bool meet_only_in(const Buffer *a, const Buffer *b, int step)
{
    for (int i = 0; i < a->nspan; i++)
        for (int j = 0; j < b->nspan; j++) {
            int begin = a->span[i].begin > b->span[j].begin ? a->span[i].begin : b->span[j].begin;
            int end = a->span[i].end < b->span[j].end ? a->span[i].end : b->span[j].end;

            if (begin < end && (begin != step || end != step + 1))
                return false;
        }
    return true;
}

/* The kernel walks the axes of its result in the order given; addresses rise only when strides fall. */
static bool writes_in_rising_order(const Step *step)
{
    int arg = 0;

    for (int p = 0; p < step->kernel->nparam; p++) {
        const Param *param = &step->kernel->param[p];

        if (param->kind == PARAM_READS || param->kind == PARAM_WRITES)
            continue;
        if (param->kind == PARAM_INTS && !strcmp(param->name, "ystride"))
            for (int i = 1; i < step->arg[arg].count; i++)
                if (step->arg[arg].ints[i].max > step->arg[arg].ints[i - 1].max)
                    return false;
        arg++;
    }
    return true;
}

static bool is_whole(const Operand *x)
{
    return extent_is_const(x->offset) && x->offset.max == 0 && operand_is_solid(x);
}

/* Every operand of the step on x's buffer reads it element by element beside y. */
static bool reads_beside(const Step *step, const Operand *y, const Operand *x)
{
    for (int k = 0; k < step->noperand; k++) {
        const Operand *other = &step->operand[k];

        if (other->buffer == x->buffer &&
            (other->access != OPERAND_READS || other->dtype != y->dtype || !is_whole(other) || !operand_same_layout(other, y)))
            return false;
    }
    return true;
}

static bool already_permitted(const Program *program, int a, int b)
{
    for (int i = program->npermit; i-- > 0;)
        if (program->permit[i].a == a && program->permit[i].b == b)
            return true;
    return false;
}

static void permit_step(Program *program, int index)
{
    const Step *step = &program->step[index];

    for (int i = 0; i < step->noperand; i++)
        for (int k = 0; k < step->noperand; k++) {
            const Operand *y = &step->operand[i], *x = &step->operand[k];
            Permit         permit;

            if (y->buffer < 0 || x->buffer < 0 || y->buffer == x->buffer || y->access != OPERAND_WRITES ||
                x->access != OPERAND_READS || !is_whole(y) || !reads_beside(step, y, x))
                continue;
            if (!in_memory_of_run(&program->buffer[y->buffer]) || !in_memory_of_run(&program->buffer[x->buffer]) ||
                !meet_only_in(&program->buffer[y->buffer], &program->buffer[x->buffer], index) ||
                already_permitted(program, y->buffer, x->buffer))
                continue;
            permit = (Permit){y->buffer, x->buffer, program->buffer[x->buffer].size, 0};
            ARENA_PUSH(program->arena, program->permit, program->npermit, program->cpermit, permit);
        }
}

void program_coalesce(Program *program)
{
    for (int s = 0; s < program->nstep; s++) {
        const Step *step = &program->step[s];

        if (step->kind == STEP_KERNEL && step->kernel->in_place && writes_in_rising_order(step))
            permit_step(program, s);
    }
}
