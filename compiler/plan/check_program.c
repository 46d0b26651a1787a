/* check_program.c - every invariant of a program in one list; a failure is a bug of occamyc, never of the model. */
#include "plan/check.h"
#include "plan/plan.h"
#include "program/fetch.h"
#include "program/flow.h"
#include "program/operand.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Checker {
    const Program *program;
    Diag          *diag;
    bool          *assigned; /* by slot: some step, kernel or caller gives it a value */
} Checker;

__attribute__((format(printf, 3, 4))) static int wrong(const Checker *c, int step, const char *format, ...)
{
    char    text[300];
    va_list list;

    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (step < 0)
        return diag_bug(c->diag, (Loc){0}, "the program is wrong: %s", text);
    return diag_bug(c->diag, step_loc(&c->program->step[step]), "the program is wrong: step %d: %s", step, text);
}

/* ---------------------------------------------------------------------------------------------------------- buffers */

static int check_buffer(const Checker *c, int id)
{
    const Buffer *b = &c->program->buffer[id];

    if (b->id != id)
        return wrong(c, -1, "buffer %d calls itself %d", id, b->id);
    if (b->size < 0 || b->size > INT64_MAX / 16)
        return wrong(c, -1, "buffer %d '%s' has %lld bytes", id, b->name, (long long)b->size);
    if (b->align < 1 || (b->align & (b->align - 1)))
        return wrong(c, -1, "buffer %d '%s' has alignment %lld", id, b->name, (long long)b->align);
    if (!b->name)
        return wrong(c, -1, "buffer %d has no name", id);
    if (b->kind == BUFFER_WEIGHT && !b->source && !b->packing && b->size)
        return wrong(c, -1, "weight '%s' has no contents", b->name);
    if (b->copies > 1 && b->kind != BUFFER_SCRATCH)
        return wrong(c, -1, "buffer '%s' has %d copies and is no scratch", b->name, b->copies);
    return 0;
}

static int check_port(const Checker *c, const Port *port, int index, bool is_out)
{
    const Buffer *b;

    if (port->buffer < 0)
        return 0;
    if (port->buffer >= c->program->nbuffer)
        return wrong(c, -1, "port '%s' names buffer %d of %d", port->name, port->buffer, c->program->nbuffer);
    b = &c->program->buffer[port->buffer];
    if (!buffer_is_state(b) && b->kind != (is_out ? BUFFER_OUT : BUFFER_IN))
        return wrong(c, -1, "port '%s' lies in buffer '%s' of another kind", port->name, b->name);
    if (!buffer_is_state(b) && b->port != index)
        return wrong(c, -1, "buffer '%s' does not know that it is port %d", b->name, index);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- ranges */

static int check_range(const Checker *c, int owner, Range range, int begin, int end)
{
    if (range.begin != begin || range.end < range.begin || range.end > end)
        return wrong(c, owner, "a body is steps %d..%d, wanted a range that begins at %d and ends by %d", range.begin,
                     range.end, begin, end);
    return 0;
}

/* Checks that the ranges of a control step follow it directly and lie inside the range around it. */
static int check_ranges(const Checker *c, Range range)
{
    for (int i = range.begin; i < range.end; i = flow_after(c->program, i)) {
        const Step *s = &c->program->step[i];

        if (s->kind != STEP_IF && s->kind != STEP_LOOP)
            continue;
        if (check_range(c, i, s->body[0], i + 1, range.end) < 0 || check_ranges(c, s->body[0]) < 0)
            return -1;
        if (s->kind == STEP_IF &&
            (check_range(c, i, s->body[1], s->body[0].end, range.end) < 0 || check_ranges(c, s->body[1]) < 0))
            return -1;
    }
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- operands */

bool *program_given(const Program *p)
{
    bool *given = arena_array(p->arena, bool, p->model->nexpr + 1);

    for (int i = 0; i < p->nin; i++)
        for (int axis = 0; axis < p->in[i].type.rank; axis++)
            if (p->in[i].type.dim[axis].expr >= 0)
                given[p->in[i].type.dim[axis].expr] = true;
    for (int i = 0; i < p->model->nexpr; i++) {
        const Expr *e = &p->model->expr[i];

        given[i] =
            (given[i] && e->op == EXPR_DIM) || e->op == EXPR_CONST ||
            (e->op > EXPR_VAR && (e->a < 0 || given[e->a]) && (e->b < 0 || given[e->b]) && (e->c < 0 || given[e->c]));
    }
    return given;
}

static int check_extent(const Checker *c, int step, Extent extent, const char *what)
{
    const Program *p = c->program;

    if (extent_is_const(extent))
        return 0;
    if (extent.expr >= p->model->nexpr)
        return wrong(c, step, "%s is expression %d of %d", what, extent.expr, p->model->nexpr);
    if (extent.expr >= p->nslot_of || p->slot[extent.expr] < 0)
        return wrong(c, step, "%s is expression %d, which no slot holds", what, extent.expr);
    if (!c->assigned[p->slot[extent.expr]])
        return wrong(c, step, "%s reads slot %d, which nothing gives a value", what, p->slot[extent.expr]);
    return 0;
}

static int check_operand(const Checker *c, int step, int index)
{
    const Operand *x = &c->program->step[step].operand[index];
    const Buffer  *b;
    int64_t        lo, hi;

    if (x->buffer < 0)
        return 0;
    if (x->buffer >= c->program->nbuffer)
        return wrong(c, step, "operand %d names buffer %d of %d", index, x->buffer, c->program->nbuffer);
    b = &c->program->buffer[x->buffer];
    if (x->rank < 0 || x->rank > MAX_RANK || !x->dtype)
        return wrong(c, step, "operand %d has rank %d and element type %d", index, x->rank, (int)x->dtype);
    if (!x->access)
        return wrong(c, step, "operand %d ('%s') is neither read nor written", index, b->name);
    if ((x->access & OPERAND_WRITES) &&
        (b->kind == BUFFER_WEIGHT || b->kind == BUFFER_RESIDENT || b->kind == BUFFER_IN))
        return wrong(c, step, "operand %d writes to '%s', which is constant", index, b->name);
    if (check_extent(c, step, x->offset, "an operand's offset") < 0)
        return -1;
    operand_hull(x, b->size, &lo, &hi);
    if (!operand_is_empty(x) && (lo < 0 || hi > b->size))
        return wrong(c, step, "operand %d touches bytes %lld..%lld of '%s', which has %lld", index, (long long)lo,
                     (long long)hi, b->name, (long long)b->size);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- kernels */

static bool is_pointer(ParamKind kind)
{
    return kind == PARAM_READS || kind == PARAM_WRITES;
}

static int check_arg(const Checker *c, int step, int index, const Param *param)
{
    static const ArgKind wanted[] = {
        [PARAM_INT] = ARG_INT, [PARAM_INTS] = ARG_INTS, [PARAM_FLOAT] = ARG_FLOAT, [PARAM_FLOATS] = ARG_FLOATS};
    const Step *s = &c->program->step[step];
    const Arg  *arg = &s->arg[index];

    if (index >= s->narg)
        return wrong(c, step, "%s has no argument for '%s'", s->kernel->name, param->name);
    if (arg->kind != wanted[param->kind])
        return wrong(c, step, "%s: argument '%s' has the wrong kind", s->kernel->name, param->name);
    if ((arg->kind == ARG_INT || arg->kind == ARG_FLOAT) && arg->count != 1)
        return wrong(c, step, "%s: argument '%s' has %d values", s->kernel->name, param->name, arg->count);
    if (param->count && arg->count > param->count)
        return wrong(c, step, "%s: argument '%s' has %d values, which is more than %d", s->kernel->name, param->name,
                     arg->count, param->count);
    for (int i = 0; i < arg->count && (arg->kind == ARG_INT || arg->kind == ARG_INTS); i++)
        if (check_extent(c, step, arg->ints[i], param->name) < 0)
            return -1;
    return 0;
}

/* The element size that the kernel's parameter requires; 0: text, or any. */
static int param_bytes(const Param *param)
{
    static const struct {
        const char *type;
        int         bytes;
    } known[] = {{"double", 8},   {"int64_t", 8}, {"uint64_t", 8}, {"float", 4}, {"int32_t", 4},
                 {"uint32_t", 4}, {"int16_t", 2}, {"uint16_t", 2}, {"int8_t", 1}};
    const char *type = strncmp(param->ctype, "const ", 6) ? param->ctype : param->ctype + 6;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(type, known[i].type, strlen(known[i].type)) && !strcmp(type + strlen(known[i].type), " *"))
            return known[i].bytes;
    return 0;
}

static int check_pointer(const Checker *c, int step, int index, const Param *param)
{
    const Step *s = &c->program->step[step];
    int         bytes = param_bytes(param);

    if (index >= s->nparam)
        return wrong(c, step, "%s has no operand for '%s'", s->kernel->name, param->name);
    if (s->operand[index].buffer >= 0 && param->kind == PARAM_READS && (s->operand[index].access & OPERAND_WRITES))
        return wrong(c, step, "%s only reads '%s', but its operand is written", s->kernel->name, param->name);
    if (s->operand[index].buffer >= 0 && param->kind == PARAM_WRITES && !(s->operand[index].access & OPERAND_WRITES))
        return wrong(c, step, "%s writes '%s', but its operand is only read", s->kernel->name, param->name);
    if (s->operand[index].buffer >= 0 && bytes && bytes != operand_bytes_per_element(&s->operand[index]))
        return wrong(c, step, "%s: '%s' has elements of %d bytes, its operand of %d", s->kernel->name, param->name,
                     bytes, operand_bytes_per_element(&s->operand[index]));
    return 0;
}

static int check_expression(const Checker *c, int step)
{
    const Step *s = &c->program->step[step];
    int         room = s->noperand - s->nparam;

    if (s->expr->nnode < 1 || s->expr->noperand > room || room > SCALAR_MAX_OPERANDS)
        return wrong(c, step, "the expression has %d nodes over %d operands, the step gives %d", s->expr->nnode,
                     s->expr->noperand, room);
    for (int i = 0; i < s->expr->nnode; i++) {
        const ScalarNode *n = &s->expr->node[i];

        if (n->a >= i || n->b >= i || n->c >= i)
            return wrong(c, step, "node %d of the expression uses a later one", i);
        if (n->op == SCALAR_LOAD && (n->operand < 0 || n->operand >= s->expr->noperand))
            return wrong(c, step, "node %d of the expression loads operand %d of %d", i, n->operand, s->expr->noperand);
    }
    return 0;
}

/* Checks that a shape has the number of axes that the kernel takes, and that the step provides every extent. */
static int check_shape(const Checker *c, int step, const Param *param)
{
    const Step    *s = &c->program->step[step];
    const Operand *x = step_shape(s, param);

    if (!x || (param->ranked ? x->rank > param->count : x->rank != param->count))
        return wrong(c, step, "%s: '%s' has %d axes, its operand %d", s->kernel->name, param->name, param->count,
                     x ? x->rank : -1);
    for (int i = 0; i < x->rank; i++)
        if (check_extent(c, step, x->dim[i], param->name) < 0 || check_extent(c, step, x->stride[i], param->name) < 0)
            return -1;
    return 0;
}

static int check_kernel(const Checker *c, int step)
{
    const Step *s = &c->program->step[step];
    int         narg = 0, npointer = 0;
    bool        takes_expr = false;

    if (!s->kernel)
        return wrong(c, step, "there is no kernel");
    for (int i = 0; i < s->kernel->nparam; i++) {
        const Param *param = &s->kernel->param[i];

        if (is_pointer(param->kind)) {
            if (check_pointer(c, step, npointer++, param) < 0)
                return -1;
        } else if (param->kind == PARAM_EXPR || param->kind == PARAM_FN) {
            takes_expr = true;
        } else if (param->kind == PARAM_SHAPE) {
            if (check_shape(c, step, param) < 0)
                return -1;
        } else if (check_arg(c, step, narg++, param) < 0) {
            return -1;
        }
    }
    if (npointer != s->nparam || narg != s->narg)
        return wrong(c, step, "%s takes %d operands and %d arguments, found %d and %d", s->kernel->name, npointer, narg,
                     s->nparam, s->narg);
    if (s->expr && !takes_expr)
        return wrong(c, step, "%s takes no expression", s->kernel->name);
    return s->expr ? check_expression(c, step) : 0;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static void note_slot(const Checker *c, int slot)
{
    if (slot >= 0 && slot < c->program->nslot)
        c->assigned[slot] = true;
}

/* Marks the slots that the caller, steps or kernels set anywhere. */
static void note_slots(const Checker *c)
{
    const Program *p = c->program;

    for (int i = 0; i < p->nslot_of; i++)
        if (p->slot[i] >= 0 && i < p->model->nexpr && p->model->expr[i].op == EXPR_DIM)
            note_slot(c, p->slot[i]);
    for (int i = 0; i < p->nstep; i++) {
        const Step *s = &p->step[i];

        if (step_sets(s))
            note_slot(c, s->slot);
        for (int k = 0; k < s->noperand; k++) {
            const Operand *x = &s->operand[k];
            int64_t        lo, hi;

            if (x->buffer != p->dims || p->dims < 0 || !(x->access & OPERAND_WRITES))
                continue;
            operand_hull(x, p->buffer[p->dims].size, &lo, &hi);
            for (int64_t at = lo / 8; at < (hi + 7) / 8; at++)
                note_slot(c, (int)at);
        }
    }
}

static int check_step(const Checker *c, int index)
{
    const Step *s = &c->program->step[index];

    for (int i = 0; i < s->noperand; i++)
        if (check_operand(c, index, i) < 0)
            return -1;
    if (step_sets(s) && (s->slot < 0 || s->slot >= c->program->nslot || c->program->dims < 0))
        return wrong(c, index, "slot %d of %d", s->slot, c->program->nslot);
    if (s->kind == STEP_LOOP && s->until >= c->program->nslot)
        return wrong(c, index, "condition in slot %d of %d", s->until, c->program->nslot);
    if (s->kind == STEP_READ && s->noperand != 1)
        return wrong(c, index, "loads from %d operands", s->noperand);
    if (s->kind == STEP_IF && s->set.expr >= 0 && s->set.expr < c->program->model->nexpr &&
        program_slot(c->program, s->set.expr) < 0 && program_given(c->program)[s->set.expr])
        return 0;
    if ((s->kind == STEP_CHECK || s->kind == STEP_IF || s->kind == STEP_LOOP) &&
        check_extent(c, index, s->set, "a condition or count") < 0)
        return -1;
    return s->kind == STEP_KERNEL ? check_kernel(c, index) : 0;
}

/* Checks that every read of an activation, scratch or output can follow a write. */
static int check_written(const Checker *c)
{
    const Program *p = c->program;
    int           *first = arena_array(p->arena, int, p->nbuffer + 1); /* by buffer: 1 + first step that writes it */

    for (int s = 0; s < p->nstep; s++)
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < p->step[s].noperand; k++) {
                const Operand *x = &p->step[s].operand[k];

                if (x->buffer < 0 || operand_is_empty(x))
                    continue;
                if (pass && (x->access & OPERAND_WRITES) && !first[x->buffer])
                    first[x->buffer] = s + 1;
                if (!pass && (x->access & OPERAND_READS) && !(x->access & OPERAND_WRITES) && !first[x->buffer] &&
                    (p->buffer[x->buffer].kind == BUFFER_ACT || p->buffer[x->buffer].kind == BUFFER_OUT ||
                     p->buffer[x->buffer].kind == BUFFER_BLOCK))
                    return wrong(c, s, "reads '%s' before anything was written to it", p->buffer[x->buffer].name);
            }
    return 0;
}

/* Checks that every scratch buffer belongs to one step. */
static int check_scratch(const Checker *c)
{
    const Program *p = c->program;
    int           *user = arena_array(p->arena, int, p->nbuffer + 1); /* by buffer: 1 + step */

    for (int s = 0; s < p->nstep; s++)
        for (int k = 0; k < p->step[s].noperand; k++) {
            int b = p->step[s].operand[k].buffer;

            if (b < 0 || p->buffer[b].kind != BUFFER_SCRATCH)
                continue;
            if (user[b] && user[b] != s + 1)
                return wrong(c, s, "uses scratch '%s' of step %d", p->buffer[b].name, user[b] - 1);
            user[b] = s + 1;
        }
    return 0;
}

int program_check(const Program *program, Diag *diag)
{
    Checker c = {.program = program, .diag = diag, .assigned = arena_array(program->arena, bool, program->nslot + 1)};

    for (int b = 0; b < program->nbuffer; b++)
        if (check_buffer(&c, b) < 0)
            return -1;
    for (int i = 0; i < program->nin; i++)
        if (check_port(&c, &program->in[i], i, false) < 0)
            return -1;
    for (int i = 0; i < program->nout; i++)
        if (check_port(&c, &program->out[i], i, true) < 0)
            return -1;
    if (check_ranges(&c, (Range){0, program->nstep}) < 0)
        return -1;
    note_slots(&c);
    for (int s = 0; s < program->nstep; s++)
        if (check_step(&c, s) < 0)
            return -1;
    return check_written(&c) < 0 || check_scratch(&c) < 0 || program_check_fetches(program, diag) < 0 ||
                   program_check_slices(program, diag) < 0 || program_check_extents(program, diag) < 0
               ? -1
               : 0;
}
