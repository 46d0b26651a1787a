/* copy.c - copies a program as far as planning changes it. */
#include "program/copy.h"

Program *program_copy(const Program *program)
{
    Program *copy = arena_one(program->arena, Program);
    Span    *span;
    int      nspan = 0;

    *copy = *program;
    copy->overlap = NULL;
    copy->noverlap = copy->coverlap = 0;
    copy->cstep = program->nstep;
    copy->step = arena_array(program->arena, Step, program->nstep + 1);
    copy->cbuffer = program->nbuffer;
    copy->buffer = arena_array(program->arena, Buffer, program->nbuffer + 1);
    for (int b = 0; b < program->nbuffer; b++)
        nspan += program->buffer[b].nspan;
    span = arena_array(program->arena, Span, nspan + 1);
    for (int s = 0; s < program->nstep; s++)
        copy->step[s] = program->step[s];
    for (int b = 0; b < program->nbuffer; b++) {
        Buffer *buffer = &copy->buffer[b];

        *buffer = program->buffer[b];
        for (int i = 0; i < buffer->nspan; i++)
            span[i] = buffer->span[i];
        buffer->span = span;
        buffer->cspan = buffer->nspan;
        span += buffer->nspan;
    }
    return copy;
}

Step *program_own_step(Program *program, int index)
{
    Step    *step = &program->step[index];
    Operand *operand = arena_array(program->arena, Operand, step->noperand + 1);
    Arg     *arg = arena_array(program->arena, Arg, step->narg + 1);

    for (int k = 0; k < step->noperand; k++)
        operand[k] = step->operand[k];
    for (int i = 0; i < step->narg; i++) {
        Extent *ints = step->arg[i].ints ? arena_array(program->arena, Extent, step->arg[i].count + 1) : NULL;

        for (int k = 0; ints && k < step->arg[i].count; k++)
            ints[k] = step->arg[i].ints[k];
        arg[i] = step->arg[i];
        arg[i].ints = ints;
    }
    step->operand = operand;
    step->arg = arg;
    return step;
}
