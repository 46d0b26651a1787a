/* control.c - what If, Loop and Scan share. */
#include "lower/control.h"
#include "infer/infer.h"
#include "lower/sequence.h"
#include <string.h>

static int make_outside(Lower *lower, Value *value)
{
    const Place *place = &lower->place[value->id];
    Operand      x;

    if (place->kind == PLACE_DEFERRED)
        return lower_finish(lower, value);
    if (place->kind == PLACE_NONE && !value->data && lower_is_tracked(lower, value))
        return lower_value(lower, value, &x);
    return 0;
}

static int finish_inputs(Lower *lower, const Graph *outer, const Graph *body)
{
    for (int i = 0; i < body->nnode; i++) {
        const Node *node = body->node[i];

        for (int k = 0; k < node->nin; k++)
            if (node->in[k] && !graph_contains(outer, node->in[k]->graph) && make_outside(lower, node->in[k]) < 0)
                return -1;
        for (int k = 0; k < 2; k++)
            if (node->body[k] && finish_inputs(lower, outer, node->body[k]) < 0)
                return -1;
    }
    for (int i = 0; i < body->nout; i++)
        if (body->out[i] && !graph_contains(outer, body->out[i]->graph) && make_outside(lower, body->out[i]) < 0)
            return -1;
    return 0;
}

int control_finish_outer(Lower *lower, const Graph *body)
{
    return finish_inputs(lower, body, body);
}

int control_integer(Lower *lower, Value *value, int64_t lo, int64_t hi, Extent *out)
{
    int64_t constant;
    int     count;

    if (const_ints(value, &constant, 1, &count))
        *out = extent_const(constant < lo ? lo : constant);
    else if (value->elem)
        *out = value->elem[0];
    else
        *out = extent_symbol(lower->model, EXPR_ELEM, value->id, 0, lo, hi);
    return 0;
}

int control_condition(Lower *lower, Value *value, Extent *out)
{
    double constant;

    if (const_scalar(value, &constant)) {
        *out = extent_const(constant != 0.0);
        return 0;
    }
    return control_integer(lower, value, 0, 1, out);
}

int control_begin(Lower *lower, StepKind kind, Extent set)
{
    return lower_append(lower, (Step){.kind = kind, .until = -1, .set = set});
}

Extent control_iteration(Lower *lower, const Value *counter, int axis, Extent trips)
{
    return extent_symbol(lower->model, EXPR_VAR, counter->id, axis, 0, trips.max > 0 ? trips.max : 1);
}

int control_loop_begin(Lower *lower, Extent trips, Extent iteration, int *mark)
{
    int   loop = control_begin(lower, STEP_LOOP, trips);
    Step *step = &lower->program->step[loop];

    step->slot = (int)lower_slot(lower, iteration).offset.max;
    *mark = lower_range_open(lower);
    step->body[0].begin = lower->program->nstep;
    return loop;
}

void control_loop_end(Lower *lower, int loop, int mark)
{
    lower->program->step[loop].body[0].end = lower->program->nstep;
    lower_range_close(lower, mark);
}

int control_if_begin(Lower *lower, Extent condition, int *mark)
{
    int branch = control_begin(lower, STEP_IF, condition);

    *mark = lower_range_open(lower);
    lower->program->step[branch].body[0].begin = lower->program->nstep;
    return branch;
}

void control_if_end(Lower *lower, int branch, int mark)
{
    int end = lower->program->nstep;

    lower->program->step[branch].body[0].end = end;
    lower->program->step[branch].body[1] = (Range){end, end};
    lower_range_close(lower, mark);
}

bool control_is_nested(const Value *value)
{
    return value->type.kind != TYPE_TENSOR;
}

int control_place(Lower *lower, Value *to)
{
    Operand y;

    if (lower->place[to->id].kind != PLACE_NONE)
        return 0;
    if (control_is_nested(to))
        return sequence_place(lower, to);
    return lower_made_place(lower, to, LAYOUT_ROW_MAJOR, &y);
}

static bool same_constant_extents(const Type *a, const Type *b)
{
    return type_is_static(a) && type_is_static(b) && type_same(a, b);
}

void control_aim(Lower *lower, Value *from, Value *to)
{
    if (!from || !to || !from->def || from->data || from->def->graph == to->graph || lower->uses[from->id] != 1 ||
        lower->place[from->id].kind != PLACE_NONE || !same_constant_extents(&from->type, &to->type))
        return;
    if (!graph_contains(from->graph, from->def->graph) || from->def->nout == 0)
        return;
    lower->inside[from->id] = (Inside){to, 0, extent_const(0)};
}

static Operand dense_over(Lower *lower, Operand to, const Operand *from)
{
    to.rank = from->rank;
    memcpy(to.dim, from->dim, sizeof to.dim);
    operand_make_dense(lower, &to);
    return to;
}

Extent control_symbol(const Lower *lower, const Value *value, Extent extent)
{
    const Expr *e = extent.expr >= 0 ? &lower->model->expr[extent.expr] : NULL;
    Extent      found = extent_const(0);

    if (!e)
        return found;
    if ((e->op == EXPR_OUT || e->op == EXPR_VAR || e->op == EXPR_DIM) && e->value == value->id)
        return (Extent){e->hi, extent.expr};
    for (int k = 0; k < 3 && found.expr < 0; k++) {
        int operand = k == 0 ? e->a : k == 1 ? e->b : e->c;

        if (operand >= 0)
            found = control_symbol(lower, value, (Extent){0, operand});
    }
    return found;
}

static bool owns(const Lower *lower, const Value *value, Extent extent)
{
    return control_symbol(lower, value, extent).expr >= 0;
}

/* A symbol whose bounds inference checks separately: the symbol itself is set. */
int control_give(Lower *lower, const Value *to, Extent extent, Extent value)
{
    Extent symbol = control_symbol(lower, to, extent);

    if (extent_same(extent, value))
        return 0;
    if (symbol.expr < 0)
        return lower_check(lower, extent_op(lower->model, EXPR_EQ, value, extent));
    if (lower_check(lower, extent_op(lower->model, EXPR_LT, value, extent_const(extent.max + 1))) < 0)
        return -1;
    return lower_set(lower, symbol, value);
}

int control_give_extents(Lower *lower, const Type *from, const Value *to)
{
    for (int i = 0; i < to->type.rank; i++)
        if (control_give(lower, to, to->type.dim[i], from->dim[i]) < 0)
            return -1;
    return 0;
}

/* Stops the run before copying members that do not fit. */
static int check_room(Lower *lower, const Type *from, const Type *to)
{
    for (int i = 0; i < to->rank; i++)
        if (lower_check(lower, extent_op(lower->model, EXPR_LT, from->dim[i], extent_const(to->dim[i].max + 1))) < 0)
            return -1;
    return 0;
}

int control_copy(Lower *lower, Value *from, Value *to)
{
    Operand x, y;

    if (lower_value(lower, from, &x) < 0 || check_room(lower, &from->type, &to->type) < 0)
        return -1;
    y = lower->place[to->id].operand;
    if (!same_constant_extents(&from->type, &to->type))
        y = dense_over(lower, y, &x);
    if (x.buffer == y.buffer && extent_same(x.offset, y.offset) && operand_same_layout(&x, &y))
        return 0;
    return lower_copy(lower, NULL, x, y);
}

int control_deliver(Lower *lower, Value *from, Value *to)
{
    if (control_is_nested(to))
        return sequence_copy(lower, from, to);
    if (control_is_nested(from))
        return optional_unwrap(lower, from, to);
    return control_copy(lower, from, to) < 0 ? -1 : control_give_extents(lower, &from->type, to);
}

int control_alias(Lower *lower, const Node *node, int index, Value *from)
{
    Operand x;

    if (control_is_nested(from))
        return sequence_alias(lower, from, node->out[index]);
    if (lower_value(lower, from, &x) < 0 || control_give_extents(lower, &from->type, node->out[index]) < 0)
        return -1;
    return lower_output_view(lower, node, index, x);
}

void control_define(Lower *lower, const Value *value)
{
    bool nested = control_is_nested(value);

    for (int i = 0; i < (nested ? 1 : value->type.rank); i++) {
        Extent symbol = control_symbol(lower, value, nested ? value->type.count : value->type.dim[i]);

        if (symbol.expr >= 0)
            lower_slot(lower, symbol);
    }
}

int control_zero_extents(Lower *lower, const Value *to)
{
    for (int i = 0; i < to->type.rank; i++)
        if (lower_set(lower, control_symbol(lower, to, to->type.dim[i]), extent_const(0)) < 0)
            return -1;
    return 0;
}

int control_read(Lower *lower, Value *value, Extent symbol)
{
    Operand x;

    return lower_value(lower, value, &x) < 0 ? -1 : lower_read(lower, x, symbol);
}

void control_condition_in(Lower *lower, Value *parameter)
{
    static const unsigned char yes = 1;
    int64_t                    dim[MAX_RANK];

    for (int i = 0; i < parameter->type.rank; i++)
        dim[i] = 1;
    lower->place[parameter->id].operand = lower_weight(lower, &yes, DTYPE_BOOL, parameter->type.rank, dim, "true");
    lower->place[parameter->id].kind = PLACE_OPERAND;
}

static bool is_true(const Value *value)
{
    double constant;

    return !value || (const_scalar(value, &constant) && constant != 0.0);
}

bool control_always(const Value *initial, const Value *result)
{
    return is_true(initial) && is_true(result);
}

int control_final(Lower *lower, Value *parameter, Value *output)
{
    const Node *node = output->def;

    if (control_is_nested(output) || control_is_nested(parameter))
        return sequence_alias(lower, parameter, output);
    if (control_give_extents(lower, &parameter->type, output) < 0)
        return -1;
    for (int i = 0; i < node->nout; i++)
        if (node->out[i] == output) {
            Operand x = lower->place[parameter->id].operand;

            if (!same_constant_extents(&parameter->type, &output->type)) {
                Operand over = {.rank = output->type.rank};

                memcpy(over.dim, output->type.dim, sizeof over.dim);
                x = dense_over(lower, x, &over);
            }
            return lower_output_view(lower, node, i, x);
        }
    return 0;
}

/* The first iteration's item determines the extents; later ones must agree. */
static int same_item(Lower *lower, const Value *stack, Extent known, Extent found, Extent iteration)
{
    Model *model = lower->model;
    Extent first = extent_op(model, EXPR_EQ, iteration, extent_const(0));

    if (extent_same(known, found))
        return 0;
    if (!owns(lower, stack, known))
        return control_give(lower, stack, known, found);
    if (lower_check(lower, extent_op(model, EXPR_EQ, extent_select(model, first, found, known), found)) < 0)
        return -1;
    return control_give(lower, stack, known, found);
}

int control_stack_extents(Lower *lower, const Value *item, const Value *stack, int axis, Extent iteration, Extent trips,
                          Operand *whole)
{
    for (int i = whole->rank, k = item->type.rank; i-- > 0;) {
        if (i != axis && same_item(lower, stack, stack->type.dim[i], item->type.dim[--k], iteration) < 0)
            return -1;
        whole->dim[i] = i == axis ? trips : item->type.dim[k];
    }
    operand_make_dense(lower, whole);
    return 0;
}

Operand control_drop_axis(Operand x, int axis)
{
    x.rank--;
    for (int i = axis; i < x.rank; i++) {
        x.dim[i] = x.dim[i + 1];
        x.stride[i] = x.stride[i + 1];
    }
    return x;
}

Place control_slot_place(Lower *lower, Extent symbol, int rank)
{
    Place place = {.kind = PLACE_OPERAND, .operand = lower_slot(lower, symbol)};

    place.operand.rank = rank;
    for (int i = 0; i < rank; i++)
        place.operand.dim[i] = place.operand.stride[i] = extent_const(1);
    return place;
}
