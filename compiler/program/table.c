/* table.c - integers that a step reads and that are known at compile time: constants, and results of steps on
 * constants. */
#include "program/table.h"

#include "program/operand.h"
#include "program/weight.h"

/* The only step that writes the buffer, or NULL. */
static const Step *only_writer(const Program *program, int buffer)
{
    const Step *writer = NULL;

    for (int s = 0; s < program->nstep; s++)
        for (int k = 0; k < program->step[s].noperand; k++) {
            const Operand *x = &program->step[s].operand[k];

            if (x->buffer != buffer || !(x->access & OPERAND_WRITES))
                continue;
            if (writer)
                return NULL;
            writer = &program->step[s];
        }
    return writer;
}

/* Whether the step depends on constants only. */
static bool is_constant(const Program *program, const Step *step)
{
    if (step->kind != STEP_KERNEL || step->expr || !step_passed_constants(step))
        return false;
    for (int k = 0; k < step->noperand; k++)
        if (step->operand[k].buffer >= 0 && (step->operand[k].access & OPERAND_READS) &&
            program->buffer[step->operand[k].buffer].kind != BUFFER_WEIGHT)
            return false;
    return true;
}

/* Memory for one run of the step, by Buffer.id. */
static void **memory_of(const Program *program, const Step *step)
{
    void **memory = arena_array(program->arena, void *, program->nbuffer + 1);

    for (int k = 0; k < step->noperand; k++) {
        const Buffer *buffer = program_buffer(program, step->operand[k].buffer);

        if (buffer)
            memory[buffer->id] = buffer->kind == BUFFER_WEIGHT
                                     ? weight_whole(program->arena, buffer, sizeof(int64_t))
                                     : arena_calloc(program->arena, (size_t)buffer->size + 1, 1);
    }
    return memory;
}

const int64_t *program_table(const Program *program, const Operand *x, bool *computed)
{
    const Step *writer;
    Program     one = *program;
    void      **memory;

    if (x->buffer < 0 || x->dtype != DTYPE_I64 || !operand_is_static(x) || !operand_is_solid(x))
        return NULL;
    *computed = program->buffer[x->buffer].kind != BUFFER_WEIGHT;
    if (!*computed)
        return (const int64_t *)weight_whole(program->arena, &program->buffer[x->buffer], sizeof(int64_t)) +
               x->offset.max;
    writer = only_writer(program, x->buffer);
    if (!writer || !is_constant(program, writer))
        return NULL;
    memory = memory_of(program, writer);
    one.step = (Step *)(uintptr_t)writer;
    one.nstep = 1;
    one.dims = -1;
    return program_run(&one, memory) ? NULL : (const int64_t *)memory[x->buffer] + x->offset.max;
}
