/* emit_run.c - walks the steps in order and hands each to the target's printer: the function called, the addresses of
 * its operands, the conditions of branches and loops. */
#include "device/device.h"
#include "emit/emit.h"
#include "program/flow.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------------- addresses */

/* The operand's offset as " + N", times `scale` bytes (1: in elements). */
static void put_offset(Emit *emit, Text *text, int64_t base, Extent offset, int64_t scale)
{
    int64_t fixed = base + (offset.expr < 0 ? offset.max * scale : 0);

    if (fixed)
        text_printf(text, " + %lld", (long long)fixed);
    if (offset.expr < 0)
        return;
    text_put(text, " + ");
    if (scale != 1)
        text_printf(text, "%lld * ", (long long)scale);
    emit_extent(emit, text, offset);
}

/* The address of an operand in the caller's memory: a typed pointer plus elements. */
static void put_port(Emit *emit, Text *text, const Buffer *b, const Operand *operand)
{
    bool        in = b->kind == BUFFER_IN;
    const Port *port = in ? &emit->program->in[b->port] : &emit->program->out[b->port];
    const char *side = in ? "in" : "out";
    int64_t     bytes = operand_bytes_per_element(operand);

    if (in && port->type.kind == TYPE_OPTIONAL) {
        text_printf(text, "in_%s", port->name);
        put_offset(emit, text, 0, operand->offset, bytes);
    } else if (extent_is_const(operand->offset) && operand->offset.max == 0) {
        text_printf(text, "%s->%s", side, port->name);
    } else if (port->type.kind == TYPE_TENSOR && bytes == dtype_info(port->type.dtype)->bytes &&
               dtype_info(port->type.dtype)->class != 'C') {
        text_printf(text, "%s->%s", side, port->name);
        put_offset(emit, text, 0, operand->offset, 1);
    } else {
        text_printf(text, "(%sunsigned char *)%s->%s", in ? "const " : "", side, port->name);
        put_offset(emit, text, 0, operand->offset, bytes);
    }
}

void emit_operand(Emit *emit, Text *text, const Operand *operand)
{
    const Buffer *b = &emit->program->buffer[operand->buffer];
    const char   *symbol;
    int64_t       bytes = operand_bytes_per_element(operand);

    switch (b->kind) {
    case BUFFER_IN:
    case BUFFER_OUT:
        if (!emit->io_arena) {
            put_port(emit, text, b, operand);
            return;
        }
        break;
    case BUFFER_WEIGHT:
        symbol = emit->symbol[emit->plan->same[operand->buffer]];
        if (symbol && bytes == dtype_info(b->dtype)->bytes && dtype_info(b->dtype)->class != 'C') {
            text_put(text, symbol);
            put_offset(emit, text, 0, operand->offset, 1);
        } else if (symbol) {
            text_printf(text, "(const unsigned char *)%s", symbol);
            put_offset(emit, text, 0, operand->offset, bytes);
        } else if (!emit->plan->weight_bytes) {
            text_put(
                text,
                "(const unsigned char *)\"\""); /* all weights are empty: nothing is read, but NULL would mean absent */
        } else {
            text_put(text, "weights");
            put_offset(emit, text, emit->plan->stored[emit->plan->same[operand->buffer]], operand->offset, bytes);
        }
        return;
    case BUFFER_BLOCK:
        if (b->kept < 0)
            break;
        text_put(text, "kept");
        put_offset(emit, text, b->kept, operand->offset, bytes);
        return;
    case BUFFER_TABLE:
        text_printf(text, "&(const occ_table){loads, %lld}", (long long)emit->plan->stored[operand->buffer]);
        return;
    case BUFFER_STATE:
        text_put(text, "state");
        put_offset(emit, text, emit->plan->stored[operand->buffer], operand->offset, bytes);
        return;
    default:
        break;
    }
    text_put(text, emit->printer->base(emit, emit->plan->region[operand->buffer]));
    if (b->size) /* a tensor without elements has no place */
        put_offset(emit, text, emit_share_offset(emit, operand->buffer), operand->offset, bytes);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

void emit_step_call(Emit *emit, const Step *step, Text *text)
{
    Text        extra = text_new(emit->arena), arguments = text_new(emit->arena);
    const char *function =
        step_on_device(step) ? emit_launcher(emit, step, &extra) : emit_step_function(emit, step, &extra);
    bool first = true;

    for (int i = 0; i < (step->expr ? step->noperand : step->nparam);
         i++) { /* operands behind `nparam` without an expression are pools of text */
        if (step->operand[i].buffer < 0)
            continue;
        text_put(&arguments, first ? "" : ", ");
        emit_operand(emit, &arguments, &step->operand[i]);
        first = false;
    }
    if (extra.size)
        text_put(&arguments, extra.data + (first ? 2 : 0));
    emit->printer->call(emit, step, function, arguments.size ? arguments.data : "", text);
}

static void put_kernel(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];
    Text        call = text_new(emit->arena);

    if (step->slices > 1)
        emit->printer->slices(emit, index, &call);
    else
        emit_step_call(emit, step, &call);
    if (step->kernel->fails && step->slices < 2)
        emit->printer->launch_failing(emit, index, call.data, depth);
    else
        emit->printer->launch(emit, index, call.data, depth);
}

/* The text without its outer parentheses. */
static const char *bare(Emit *emit, const char *value)
{
    int depth = 0;

    if (*value != '(')
        return value;
    for (const char *c = value; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (!depth && c[1])
            return value;
    }
    return arena_strndup(emit->arena, value + 1, strlen(value) - 2);
}

/* Sets the slot of the step; the run stops if the value is outside the interval that the plan assumes. */
static void put_slot(Emit *emit, int index, const char *value, int depth)
{
    const Step *step = &emit->program->step[index];
    const Expr *e = step->set.expr >= 0 ? &emit->model->expr[step->set.expr] : NULL;
    bool        given = e && e->op == EXPR_DIM && emit_in_extent(emit, step->set.expr);
    bool        any = !e || given || e->lo <= INT64_MIN / 2 || e->hi >= INT64_MAX / 2;

    emit->printer->set(emit, index, value, any ? NULL : e, depth);
}

static void put_set(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];
    Text        value = text_new(emit->arena);

    if (program_slot(emit->program, step->set.expr) == step->slot)
        emit_extent_value(emit, &value, step->set.expr);
    else if (step->set.expr >= 0) /* a copy of another one */
        emit_extent(emit, &value, step->set);
    else
        text_int64(&value, step->set.max);
    put_slot(emit, index, bare(emit, value.data), depth);
}

static void put_read(Emit *emit, int index, int depth)
{
    Text value = text_new(emit->arena);

    emit->printer->read(emit, &emit->program->step[index].operand[0], &value);
    put_slot(emit, index, value.data, depth);
}

/* The condition or count of a control step, as text. */
static const char *condition(Emit *emit, const Step *step)
{
    Text text = text_new(emit->arena);

    emit_extent(emit, &text, step->set);
    return text.data;
}

const char *emit_condition(Emit *emit, const Step *step)
{
    return bare(emit, condition(emit, step));
}

void emit_open_control(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];

    emit->printer->open(emit, index, step->kind == STEP_IF ? emit_condition(emit, step) : condition(emit, step), depth);
}

static void put_if(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];

    emit_open_control(emit, index, depth);
    emit_range(emit, step->body[0], depth + 1);
    if (step->body[1].begin < step->body[1].end) {
        emit->printer->otherwise(emit, index, depth);
        emit_range(emit, step->body[1], depth + 1);
    }
    emit->printer->close(emit, index, depth);
}

static void put_loop(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];

    emit_open_control(emit, index, depth);
    emit_range(emit, step->body[0], depth + 1);
    emit->printer->close(emit, index, depth);
}

static void put_step(Emit *emit, int index, int depth)
{
    const Step *step = &emit->program->step[index];

    if (step->waits)
        emit->printer->join(emit, index, depth);
    switch (step->kind) {
    case STEP_KERNEL:
        put_kernel(emit, index, depth);
        break;
    case STEP_SET:
        put_set(emit, index, depth);
        break;
    case STEP_READ:
        put_read(emit, index, depth);
        break;
    case STEP_CHECK:
        emit->printer->check(emit, index, condition(emit, step), depth);
        break;
    case STEP_FETCH:
        emit->printer->fetch(emit, index, depth);
        break;
    case STEP_AWAIT:
        emit->printer->await(emit, index, depth);
        break;
    case STEP_COPY:
        emit->printer->copy(emit, index, depth);
        break;
    case STEP_IF:
        put_if(emit, index, depth);
        break;
    case STEP_LOOP:
        put_loop(emit, index, depth);
        break;
    }
}

static void put_waits(Emit *emit, int index, int depth)
{
    const Program *p = emit->program;

    for (int k = 0; k < p->nwait; k++)
        if (p->wait[k].step == index)
            emit->printer->wait(emit, index, p->wait[k].of, depth);
}

void emit_steps(Emit *emit, Range range, int depth)
{
    for (int i = range.begin; i < range.end; i = flow_after(emit->program, i)) {
        put_waits(emit, i, depth);
        put_step(emit, i, depth);
    }
}

void emit_stretches_of(Emit *emit, Range range, int depth)
{
    const Program *p = emit->program;

    for (int i = range.begin, next; i < range.end; i = next) {
        int stretch = program_stretch_at(p, i);

        next = stretch < 0 ? flow_after(p, i) : p->stretch[stretch].end;
        if (stretch < 0)
            emit_steps(emit, (Range){i, next}, depth);
        else
            emit->printer->stretch(emit, stretch, depth);
    }
}

void emit_range(Emit *emit, Range range, int depth)
{
    const Program *p = emit->program;

    for (int i = range.begin, next; i < range.end; i = next) {
        int row = program_decided_at(p, i);

        next = row < 0 ? flow_after(p, i) : p->decided[row].end;
        while (row < 0 && next < range.end && program_decided_at(p, next) < 0)
            next = flow_after(p, next);
        if (row < 0)
            emit_stretches_of(emit, (Range){i, next}, depth);
        else
            emit->printer->row(emit, row, depth);
    }
}
