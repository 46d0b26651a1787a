/* print_program.c - a program and its plan as stable text: what --dump=program and --dump=plan show, and what golden
 * tests keep. */
#include "program/fetch.h"

#include "program/operand.h"
#include "support/text.h"

#include <inttypes.h>

static const char *const kind_name[] = {
    [BUFFER_ACT] = "act",       [BUFFER_SCRATCH] = "scratch",   [BUFFER_DIMS] = "extents",
    [BUFFER_WEIGHT] = "weight", [BUFFER_STATE] = "state",       [BUFFER_DEVICE_STATE] = "device_state",
    [BUFFER_BLOCK] = "block",   [BUFFER_RESIDENT] = "resident", [BUFFER_TABLE] = "table",
    [BUFFER_IN] = "in",         [BUFFER_OUT] = "out",
};
_Static_assert(BUFFER_OUT == 10, "kind_name has a word for each BufferKind");

static const char *const expr_name[] = {
    [EXPR_CONST] = "const",     [EXPR_DIM] = "dim", [EXPR_ELEM] = "elem", [EXPR_OUT] = "out", [EXPR_PART] = "part",
    [EXPR_VAR] = "var",         [EXPR_ADD] = "+",   [EXPR_SUB] = "-",     [EXPR_MUL] = "*",   [EXPR_DIV] = "div",
    [EXPR_CEILDIV] = "ceildiv", [EXPR_MOD] = "mod", [EXPR_MIN] = "min",   [EXPR_MAX] = "max", [EXPR_BCAST] = "bcast",
    [EXPR_SELECT] = "select",   [EXPR_EQ] = "==",   [EXPR_LT] = "<",
};
_Static_assert(EXPR_LT == 17, "expr_name has a word for each ExprOp");

static void put_extent(Text *text, Extent extent)
{
    if (extent_is_const(extent))
        text_printf(text, "%" PRId64, extent.max);
    else
        text_printf(text, "e%d<=%" PRId64, extent.expr, extent.max);
}

static void put_extents(Text *text, const Extent *extents, int count)
{
    text_put(text, "[");
    for (int i = 0; i < count; i++) {
        text_put(text, i ? "," : "");
        put_extent(text, extents[i]);
    }
    text_put(text, "]");
}

static bool expr_is_shown(const Model *model, int expr)
{
    return expr >= 0 && expr < model->nexpr;
}

static void put_definition(Text *text, const Model *model, int expr)
{
    const Expr *e = &model->expr[expr];
    const int   part[3] = {e->a, e->b, e->c};

    text_printf(text, "e%d = %s", expr, expr_name[e->op]);
    if (e->value >= 0 && e->value < model->nvalue)
        text_printf(text, " '%s' %d", model->value[e->value]->name, e->axis);
    for (int i = 0; i < 3; i++) {
        if (!expr_is_shown(model, part[i]))
            continue;
        if (model->expr[part[i]].op == EXPR_CONST)
            text_printf(text, " %" PRId64, model->expr[part[i]].lo);
        else
            text_printf(text, " e%d", part[i]);
    }
    text_printf(text, " in [%" PRId64 ",%" PRId64 "]", e->lo, e->hi);
}

/* ---------------------------------------------------------------------------------------------------------- buffers */

static void put_spans(Text *text, const Buffer *buffer)
{
    for (int i = 0; i < buffer->nspan; i++) {
        const Span *span = &buffer->span[i];

        text_printf(text, " [%d,%d)", span->begin, span->end);
        if (span->lo != 0 || span->hi != buffer->size)
            text_printf(text, ":%" PRId64 "..%" PRId64, span->lo, span->hi);
    }
}

static void put_buffer(Text *text, const Buffer *buffer)
{
    text_printf(text, "buffer %d %s %s %" PRId64 " bytes align %" PRId64, buffer->id, kind_name[buffer->kind],
                buffer->dtype ? dtype_info(buffer->dtype)->suffix : "-", buffer->size, buffer->align);
    if (buffer->copies > 1)
        text_printf(text, " copies %d", buffer->copies);
    if (buffer->port >= 0)
        text_printf(text, " port %d", buffer->port);
    text_printf(text, " '%s'\n", buffer->name);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void put_operand(Text *text, const Program *program, const Operand *x)
{
    static const char *const mark[] = {[0] = "?",
                                       [OPERAND_READS] = "<",
                                       [OPERAND_WRITES] = ">",
                                       [OPERAND_READS | OPERAND_WRITES] = "<>",
                                       [OPERAND_FORGETS] = "~"};

    if (x->buffer < 0) {
        text_put(text, " none");
        return;
    }
    text_printf(text, " %sb%d:%s", mark[x->access], x->buffer, dtype_info(x->dtype)->suffix);
    put_extents(text, x->dim, x->rank);
    if (!operand_is_dense(program->model, x)) {
        text_put(text, "/");
        put_extents(text, x->stride, x->rank);
    }
    if (!extent_is_const(x->offset) || x->offset.max) {
        text_put(text, "+");
        put_extent(text, x->offset);
    }
}

static void put_arg(Text *text, const Arg *arg)
{
    text_put(text, " ");
    switch (arg->kind) {
    case ARG_INT:
        put_extent(text, arg->ints[0]);
        break;
    case ARG_INTS:
        put_extents(text, arg->ints, arg->count);
        break;
    case ARG_FLOAT:
        text_double(text, arg->floats[0]);
        break;
    case ARG_FLOATS:
        text_put(text, "[");
        for (int i = 0; i < arg->count; i++) {
            text_put(text, i ? "," : "");
            text_double(text, arg->floats[i]);
        }
        text_put(text, "]");
        break;
    }
}

static void put_literal(Text *text, const ScalarNode *n)
{
    char class = dtype_info(n->dtype)->class;

    if (class == 'I' || class == 'U' || class == 'B')
        text_printf(text, "%" PRId64, n->integer);
    else
        text_double(text, n->literal);
}

/* One expression, as a nested term. */
static void put_scalar(Text *text, const Scalar *expr, int at)
{
    const ScalarNode *n = &expr->node[at];
    const int         part[3] = {n->a, n->b, n->c};
    const ScalarInfo *info = scalar_info(n->op);

    switch (n->op) {
    case SCALAR_ACC:
        text_put(text, "acc");
        return;
    case SCALAR_LOAD:
        text_printf(text, "x%d", n->operand);
        if (n->stride != 1)
            text_printf(text, "/%d", n->stride);
        return;
    case SCALAR_LITERAL:
        put_literal(text, n);
        return;
    case SCALAR_CAST:
        text_printf(text, "%s%s", dtype_info(n->dtype)->suffix, n->saturate ? "_saturated" : "");
        break;
    case SCALAR_ROUND_TO:
        text_printf(text, "round_to_%s", dtype_info(n->dtype_to)->suffix);
        break;
    default:
        text_put(text, info ? info->name : "?");
        break;
    }
    text_put(text, "(");
    for (int i = 0; i < 3 && part[i] >= 0; i++) {
        text_put(text, i ? ", " : "");
        put_scalar(text, expr, part[i]);
    }
    text_put(text, ")");
}

static void put_kernel(Text *text, const Program *program, const Step *step)
{
    text_put(text, step->kernel->name);
    for (int i = 0; i < step->noperand; i++) {
        text_put(text, i == step->nparam ? " with" : "");
        put_operand(text, program, &step->operand[i]);
    }
    text_put(text, step->narg ? " |" : "");
    for (int i = 0; i < step->narg; i++)
        put_arg(text, &step->arg[i]);
    if (!step->expr)
        return;
    text_put(text, " = ");
    put_scalar(text, step->expr, step->expr->nnode - 1);
}

static void put_step_body(Text *text, const Program *program, const Step *step)
{
    switch (step->kind) {
    case STEP_KERNEL:
        put_kernel(text, program, step);
        break;
    case STEP_SET:
        text_printf(text, "slot %d = ", step->slot);
        put_extent(text, step->set);
        break;
    case STEP_READ:
        text_printf(text, "slot %d = element", step->slot);
        put_operand(text, program, &step->operand[0]);
        break;
    case STEP_CHECK:
        text_put(text, "check ");
        put_extent(text, step->set);
        break;
    case STEP_FETCH:
    case STEP_AWAIT:
        text_put(text, step->kind == STEP_FETCH ? "fetch" : "await");
        for (int k = 0; k < step->noperand; k++)
            put_operand(text, program, &step->operand[k]);
        break;
    case STEP_COPY:
        text_put(text, "copy");
        for (int k = 0; k < step->noperand; k++)
            put_operand(text, program, &step->operand[k]);
        break;
    case STEP_IF:
        text_put(text, "if ");
        put_extent(text, step->set);
        for (int k = 0; k < step->noperand; k++)
            put_operand(text, program, &step->operand[k]);
        text_printf(text, " steps %d..%d else %d..%d", step->body[0].begin, step->body[0].end, step->body[1].begin,
                    step->body[1].end);
        break;
    case STEP_LOOP:
        text_printf(text, "loop slot %d below ", step->slot);
        put_extent(text, step->set);
        if (step->until >= 0)
            text_printf(text, " while slot %d", step->until);
        text_printf(text, " steps %d..%d", step->body[0].begin, step->body[0].end);
        break;
    }
}

static void put_origin(Text *text, const Step *step)
{
    for (int i = 0; i < step->norigin; i++)
        text_printf(text, "%s%s '%s'", i ? ", " : "   # ", step->origin[i]->loc.op ? step->origin[i]->loc.op : "-",
                    step->origin[i]->loc.name ? step->origin[i]->loc.name : "");
}

/* The number of control steps around `step`, for its indentation. */
static int depth_of(const Program *program, int step)
{
    int depth = 0;

    for (int i = 0; i < step; i++)
        for (int k = 0; k < 2; k++) {
            const Step *s = &program->step[i];

            if ((s->kind == STEP_IF || (s->kind == STEP_LOOP && k == 0)) && s->body[k].begin <= step &&
                step < s->body[k].end)
                depth++;
        }
    return depth;
}

static bool has_control(const Program *program)
{
    for (int i = 0; i < program->nstep; i++)
        if (step_bodies(&program->step[i]))
            return true;
    return false;
}

/* "queue 1 after 3 5: ", of a program that has several. */
static void put_queue(Text *text, const Program *program, int step)
{
    bool waits = false;

    if (program->nqueue < 2)
        return;
    text_printf(text, "queue %d", program->step[step].queue);
    for (int i = 0; i < program->nwait; i++)
        if (program->wait[i].step == step) {
            text_printf(text, "%s %d", waits ? "" : " after", program->wait[i].of);
            waits = true;
        }
    text_put(text, ": ");
}

/* "device units: ", of a program for a device. */
static void put_home(Text *text, const Step *step)
{
    static const char *const home[] = {[HOME_NONE] = "",
                                       [HOME_TWIN] = "device twin: ",
                                       [HOME_UNITS] = "device units: ",
                                       [HOME_ONE] = "device one: ",
                                       [HOME_HOST] = "host: "};
    _Static_assert(HOME_HOST == 4, "home has words for each HomeForm");

    text_printf(text, "%s%s", step->waits ? "wait, " : "", home[step->kind == STEP_KERNEL ? step->home : HOME_NONE]);
}

void program_print(Text *text, const Program *program)
{
    bool control = has_control(program);

    text_printf(text, "program: %d buffers, %d steps, %d run-time integers\n", program->nbuffer, program->nstep,
                program->nslot);
    for (int i = 0; i < program->nin; i++)
        text_printf(text, "in %d '%s' b%d\n", i, program->in[i].name, program->in[i].buffer);
    for (int i = 0; i < program->nout; i++)
        text_printf(text, "out %d '%s' b%d\n", i, program->out[i].name, program->out[i].buffer);
    for (int i = 0; i < program->nstate; i++)
        text_printf(text, "state %d out %d in %d\n", i, program->state[i].output, program->state[i].input);
    for (int i = 0; i < program->nbuffer; i++)
        put_buffer(text, &program->buffer[i]);
    for (int i = 0; i < program->nslot_of; i++)
        if (program->slot[i] >= 0) {
            text_printf(text, "slot %d: ", program->slot[i]);
            put_definition(text, program->model, i);
            text_put(text, "\n");
        }
    for (int i = 0; i < program->nstep; i++) {
        text_printf(text, "%*sstep %d: ", control ? 2 * depth_of(program, i) : 0, "", i);
        put_queue(text, program, i);
        put_home(text, &program->step[i]);
        put_step_body(text, program, &program->step[i]);
        put_origin(text, &program->step[i]);
        text_put(text, "\n");
    }
}

/* ------------------------------------------------------------------------------------------------------------- plan */

/* One line for each load: its block, place in the file, fetch step and wait step. */
static void put_loads(Text *text, const Program *program, const Plan *plan)
{
    for (int s = 0; s < program->nstep; s++) {
        const Buffer *block =
            program->step[s].kind == STEP_FETCH ? &program->buffer[program->step[s].operand[0].buffer] : NULL;

        if (!block)
            continue;
        text_printf(text, "load %d: b%d, file %" PRId64 "..%" PRId64 ", step %d, awaited by %d",
                    fetch_number(program, s), block->id, plan->stored[block->id], plan->stored[block->id] + block->size,
                    s, fetch_awaited_by(program, s));
        if (block->kept >= 0)
            text_printf(text, ", stays at %" PRId64, block->kept);
        text_put(text, "\n");
    }
}

const char *const plan_greedy_name[4] = {"first-fit", "best-fit", "longer-first", "bigger-first"};

void plan_print(Text *text, const Program *program, const Plan *plan)
{
    text_printf(text, "plan: peak %" PRId64 " bytes, bound %" PRId64 ", align %" PRId64 ", by %s: %s\n", plan->peak,
                plan->bound, plan->align, plan->planner, plan->status);
    for (int i = 0; i < 4; i++)
        text_printf(text, "%s %" PRId64 "%s", plan_greedy_name[i], plan->greedy[i], i < 3 ? ", " : "\n");
    for (int b = 0; b < program->nbuffer; b++) {
        const Buffer *buffer = &program->buffer[b];

        if (plan->offset[b] < 0)
            continue;
        text_printf(text, "buffer %d at %" PRId64 "..%" PRId64 " region %d", b, plan->offset[b],
                    plan->offset[b] + buffer_bytes(buffer), plan->region[b]);
        put_spans(text, buffer);
        text_printf(text, " '%s'\n", buffer->name);
    }
    for (int i = 0; i < program->noverlap; i++)
        text_printf(text, "overlap b%d, b%d: %" PRId64 " %" PRId64 "\n", program->overlap[i].a, program->overlap[i].b,
                    program->overlap[i].d1, program->overlap[i].d2);
    if (plan->swap)
        put_loads(text, program, plan);
}
