/* c_steps.c - the lines of a run in C, one for each step, and the function that a step calls. */
#include "emit/emit.h"

const char *c_blanks(int depth)
{
    static const char spaces[] = "                                                                ";
    int               n = depth * 4 > 60 ? 60 : depth * 4;

    return spaces + sizeof spaces - 1 - n;
}

/* The extents of the written value, as the model has them; the kernel's operand may have other axes. */
static const char *written_shape(Emit *emit, const Operand *y)
{
    const Value *value = emit->program->buffer[y->buffer].value;
    const Type  *type = value && value->type.kind == TYPE_TENSOR ? &value->type : NULL;
    double       written = 1.0, all = 1.0;

    for (int i = 0; i < y->rank; i++)
        written *= (double)y->dim[i].max;
    for (int i = 0; type && i < type->rank; i++)
        all *= (double)type->dim[i].max;
    if (type && written == all)
        return emit_shape(emit, type->rank, type->dim);
    return emit_shape(emit, y->rank, y->dim);
}

/* "12 Conv 'conv1' [1][8][28][28]" */
const char *c_step_comment(Emit *emit, int index)
{
    const Step *step = &emit->program->step[index];
    const char *shape = "";

    for (int i = 0; i < step->noperand && !*shape; i++)
        if (step->operand[i].access & OPERAND_WRITES && step->operand[i].buffer >= 0)
            shape = written_shape(emit, &step->operand[i]);
    return arena_printf(emit->arena, "%d %s %s", index, emit_origin(emit, step), shape);
}

void c_expression(Emit *emit, const char *type, const char *name, const char *body)
{
    text_printf(&emit->code.functions, "OCC_INLINE %s %s%s\n", type, name, body);
}

void c_function(Emit *emit, const Step *step, const char *name, const char *body)
{
    text_printf(&emit->code.functions, "OCC_STEP %s %s%s\n", step->kernel->fails ? "int" : "void", name, body);
}

void c_call(Emit *emit, const Step *step, const char *function, const char *arguments, Text *text)
{
    (void)emit;
    (void)step;
    text_printf(text, "%s(%s)", function, arguments);
}

static void put_launch(Emit *emit, const char *macro, int index, const char *call, int depth)
{
    text_printf(&emit->run, "%s%s%s(%d, %s); /* %s */\n", c_blanks(depth), macro,
                emit_in_regions(emit) ? "_IN_REGIONS" : "", index, call, c_step_comment(emit, index));
}

void c_launch(Emit *emit, int index, const char *call, int depth)
{
    put_launch(emit, "OCC_RUN", index, call, depth);
}

void c_launch_failing(Emit *emit, int index, const char *call, int depth)
{
    put_launch(emit, "OCC_TRY", index, call, depth);
}

void c_set(Emit *emit, int index, const char *value, const Expr *within, int depth)
{
    const Step *step = &emit->program->step[index];

    if (!within) {
        text_printf(&emit->run, "%sd[%d] = %s;", c_blanks(depth), step->slot, value);
    } else {
        text_printf(&emit->run, "%sOCC_SET(d[%d], %s, ", c_blanks(depth), step->slot, value);
        text_int64(&emit->run, within->lo);
        text_put(&emit->run, ", ");
        text_int64(&emit->run, within->hi);
        text_put(&emit->run, ");");
    }
    if (step->kind == STEP_READ)
        text_printf(&emit->run, " /* %d extent of %s */\n", index, emit_origin(emit, step));
    else
        text_printf(&emit->run, " /* %d extent */\n", index);
}

void c_read(Emit *emit, const Operand *operand, Text *text)
{
    text_printf(text, "(int64_t)*(const %s *)(const void *)(", emit_ctype(operand->dtype));
    emit_operand(emit, text, operand);
    text_put(text, ")");
}

void c_check(Emit *emit, int index, const char *condition, int depth)
{
    text_printf(&emit->run, "%sOCC_CHECK(%s); /* %d %s */\n", c_blanks(depth), condition, index,
                emit_origin(emit, &emit->program->step[index]));
}

static void open_loop(Emit *emit, int index, const char *count, int depth)
{
    const Step *step = &emit->program->step[index];

    text_printf(&emit->run, "%sfor (d[%d] = 0; d[%d] < %s", c_blanks(depth), step->slot, step->slot, count);
    if (step->until >= 0)
        text_printf(&emit->run, " && d[%d]", step->until);
    text_printf(&emit->run, "; d[%d]++) { /* %d %s */\n", step->slot, index, emit_origin(emit, step));
}

void c_open(Emit *emit, int index, const char *condition, int depth)
{
    const Step *step = &emit->program->step[index];

    if (step->kind == STEP_LOOP)
        open_loop(emit, index, condition, depth);
    else
        text_printf(&emit->run, "%sif (%s) { /* %d %s */\n", c_blanks(depth), condition, index,
                    emit_origin(emit, step));
}

void c_otherwise(Emit *emit, int index, int depth)
{
    (void)index;
    text_printf(&emit->run, "%s} else {\n", c_blanks(depth));
}

void c_close(Emit *emit, int index, int depth)
{
    (void)index;
    text_printf(&emit->run, "%s}\n", c_blanks(depth));
}

void c_fetch(Emit *emit, int index, int depth)
{
    emit_fetch(emit, index, c_blanks(depth));
}

void c_await(Emit *emit, int index, int depth)
{
    emit_await(emit, index, c_blanks(depth));
}

/* Writes nothing: a C program has one memory, so it neither copies between memories nor waits for a device. */
void c_nothing(Emit *emit, int index, int depth)
{
    (void)emit;
    (void)index;
    (void)depth;
}

/* Writes nothing: the waits are in the table of the queues' units, see emit_queues.c. */
void c_wait(Emit *emit, int index, int of, int depth)
{
    (void)emit;
    (void)index;
    (void)of;
    (void)depth;
}
