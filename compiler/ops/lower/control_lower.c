/* control_lower.c - If, Loop and Scan: nested graphs become ranges of the same list of steps.
 *
 *   If     set; body[0] = then, body[1] = else. A branch writes the If's outputs in place where their extents are the
 *          same in both branches, else it copies, and sets the extents that the outputs have at run time.
 *   Loop   carried values have a buffer of their own: initial copy, read by the body, copy on the back edge. Values
 *          that swap places go through a temporary. The iteration number and the extents of carried values are run-time
 *          integers.
 *   Scan   a Loop whose inputs are slices at the iteration number. */
#include "lower/control.h"
#include "lower/lower.h"
#include "lower/sequence.h"
#include "ops/rules.h"

enum {
    STAGED_AXIS = 200,  /* axes of EXPR_VAR symbols of a carried value that hold its next extents */
    ITERATION_AXIS = 0, /* axis of the EXPR_VAR symbol of a Loop's iteration number, the first parameter of its body */
    GO_ON_AXIS = 0      /* axis of the EXPR_VAR symbol of a Loop's condition, the second parameter */
};

int lower_if(Lower *lower, const Node *node)
{
    Extent condition;
    int    at;

    if (control_condition(lower, node->in[0], &condition) < 0)
        return -1;
    if (extent_is_const(condition)) { /* only one branch exists */
        const Graph *body = node->body[condition.max ? 0 : 1];

        if (lower_graph(lower, body) < 0)
            return -1;
        for (int i = 0; i < node->nout; i++)
            if (node->out[i] && control_alias(lower, node, i, body->out[i]) < 0)
                return -1;
        return 0;
    }
    for (int k = 0; k < 2; k++)
        if (control_finish_outer(lower, node->body[k]) < 0)
            return -1;
    for (int i = 0; i < node->nout; i++)
        if (node->out[i] && control_place(lower, node->out[i]) < 0)
            return -1;
    if (lower_extent(lower, condition) < 0)
        return -1;
    at = control_begin(lower, STEP_IF, condition);
    for (int k = 0; k < 2; k++) {
        int mark = lower_range_open(lower);

        lower->program->step[at].body[k].begin = lower->program->nstep;
        for (int i = 0; i < node->nout; i++)
            control_aim(lower, node->body[k]->out[i], node->out[i]);
        if (lower_graph(lower, node->body[k]) < 0)
            return -1;
        for (int i = 0; i < node->nout; i++)
            if (node->out[i] && control_deliver(lower, node->body[k]->out[i], node->out[i]) < 0)
                return -1;
        lower->program->step[at].body[k].end = lower->program->nstep;
        lower_range_close(lower, mark);
    }
    for (int i = 0; i < node->nout; i++)
        if (node->out[i])
            control_define(lower, node->out[i]);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ loops */

/* A value that the loop carries from iteration to iteration. */
typedef struct Carried {
    Value *initial, *parameter, *result, *output; /* outside, body input, body output, outside */
} Carried;

typedef struct LoopPlan {
    const Graph *body;
    Carried     *carried;
    int          ncarried;
    Extent       iteration; /* number of the iteration, a run-time integer */
    Value      **stacked;   /* body outputs that are stacked */
    Value      **stack;     /* the outputs they are stacked in */
    int         *stack_axis;
    bool        *stack_back; /* filled from the end */
    int          nstack;
    Extent       trips; /* iterations at most; exactly, of a Scan */
    int          first; /* buffer that the body may make: those before it are from outside */
} LoopPlan;

static int carry_in(Lower *lower, const LoopPlan *plan)
{
    for (int i = 0; i < plan->ncarried; i++) {
        const Carried *c = &plan->carried[i];

        if (control_place(lower, c->parameter) < 0 || control_deliver(lower, c->initial, c->parameter) < 0)
            return -1;
        control_define(lower, c->parameter);
    }
    return 0;
}

/* Refuses text created in an iteration: the next iteration would overwrite its characters. */
static int refuse_made_text(Lower *lower, const LoopPlan *plan, const Value *value, Operand x)
{
    if (!lower_made_text(lower, x, plan->first))
        return 0;
    return diag_unsupported(
        lower->diag, lower->node->loc,
        "'%s' is text that the loop's body makes and that outlives its iteration; make it outside the loop",
        value->name);
}

/* Whether `x` lies in the buffer of a carried value, other than value `self` itself. */
static bool lies_in_carried(const Lower *lower, const LoopPlan *plan, const Operand *x, int self)
{
    for (int k = 0; k < plan->ncarried; k++) {
        const Operand *carried = &lower->place[plan->carried[k].parameter->id].operand;

        if (carried->buffer != x->buffer)
            continue;
        if (k != self || !extent_same(carried->offset, x->offset) || !operand_same_layout(carried, x))
            return true;
    }
    return false;
}

/* Copies a result aside if it lies in a carried value's buffer and would be overwritten before or while it is copied.
 * The result may be a carried parameter itself, whose own place stays. aside->kind PLACE_NONE: not needed. */
static int put_aside(Lower *lower, const LoopPlan *plan, int i, Place *aside)
{
    Value  *result = plan->carried[i].result;
    Place  *place = &lower->place[result->id];
    Operand x;

    if (lower_value(lower, result, &x) < 0 || refuse_made_text(lower, plan, result, x) < 0)
        return -1;
    if (!lies_in_carried(lower, plan, &x, i))
        return 0;
    if (control_is_nested(result)) {
        Place kept = *place;

        place->kind = PLACE_NONE;
        if (sequence_place(lower, result) < 0)
            return -1;
        *aside = *place;
        *place = kept;
        return sequence_copy_operands(lower, &result->type, x, &result->type, aside->operand);
    }
    *aside =
        (Place){.kind = PLACE_OPERAND, .operand = lower_temporary(lower, &result->type, LAYOUT_ROW_MAJOR, "aside")};
    return lower_copy(lower, NULL, x, aside->operand);
}

/* Copies result i, or its copy aside, to its parameter. */
static int carry_value(Lower *lower, const Carried *carried, const Place *aside)
{
    Place *place = &lower->place[carried->result->id], kept = *place;
    int    status;

    if (aside->kind != PLACE_NONE)
        *place = *aside;
    status = control_is_nested(carried->parameter) ? sequence_copy(lower, carried->result, carried->parameter)
                                                   : control_copy(lower, carried->result, carried->parameter);
    if (aside->kind != PLACE_NONE)
        lower->place[carried->result->id] = kept;
    return status;
}

/* Stores the extents of result i in slots of their own, since the slots of the parameters are overwritten one after
 * another. */
static int stage_extents(Lower *lower, const Carried *carried, Type *staged)
{
    const Value *result = carried->result;

    *staged = result->type;
    if (control_is_nested(result))
        return 0;
    for (int i = 0; i < result->type.rank; i++) {
        Extent extent = result->type.dim[i];
        bool   symbol = extent.expr >= 0 && lower->model->expr[extent.expr].op == EXPR_VAR;

        if (lower_extent(lower, extent) < 0)
            return -1;
        if (!symbol || extent_same(extent, carried->parameter->type.dim[i]))
            continue;
        staged->dim[i] = extent_symbol(lower->model, EXPR_VAR, carried->parameter->id, STAGED_AXIS + i,
                                       extent_min(lower->model, extent), extent.max);
        if (lower_set(lower, staged->dim[i], extent) < 0)
            return -1;
    }
    return 0;
}

/* The back edge: all elements, then all extents, then sequences, so that nothing is read after it was overwritten. */
static int carry_back(Lower *lower, const LoopPlan *plan)
{
    Type  *staged = arena_array(lower->arena, Type, plan->ncarried + 1);
    Place *aside = arena_array(lower->arena, Place, plan->ncarried + 1);

    for (int i = 0; i < plan->ncarried; i++)
        if (put_aside(lower, plan, i, &aside[i]) < 0)
            return -1;
    for (int i = 0; i < plan->ncarried; i++)
        if (stage_extents(lower, &plan->carried[i], &staged[i]) < 0)
            return -1;
    for (int i = 0; i < plan->ncarried; i++)
        if (!control_is_nested(plan->carried[i].parameter) && carry_value(lower, &plan->carried[i], &aside[i]) < 0)
            return -1;
    for (int i = 0; i < plan->ncarried; i++)
        if (!control_is_nested(plan->carried[i].parameter) &&
            control_give_extents(lower, &staged[i], plan->carried[i].parameter) < 0)
            return -1;
    for (int i = 0; i < plan->ncarried; i++)
        if (control_is_nested(plan->carried[i].parameter) && carry_value(lower, &plan->carried[i], &aside[i]) < 0)
            return -1;
    return 0;
}

static int stack_up(Lower *lower, const LoopPlan *plan, int i)
{
    Operand item, whole;
    Value  *from = plan->stacked[i], *to = plan->stack[i];
    int     axis = plan->stack_axis[i];
    Extent  at = plan->iteration;

    if (!to)
        return 0;
    if (plan->stack_back[i])
        at = extent_op(lower->model, EXPR_SUB, extent_op(lower->model, EXPR_SUB, plan->trips, extent_const(1)), at);
    if (lower_value(lower, from, &item) < 0 || refuse_made_text(lower, plan, from, item) < 0)
        return -1;
    whole = lower->place[to->id].operand;
    if (plan->trips.max > to->type.dim[axis].max &&
        lower_check(lower, extent_op(lower->model, EXPR_LT, plan->iteration, extent_const(to->type.dim[axis].max))) < 0)
        return -1;
    if (control_stack_extents(lower, from, to, axis, plan->iteration, plan->trips, &whole) < 0)
        return -1;
    whole = operand_window(lower, whole, axis, at, extent_const(1), 1);
    return lower_copy(lower, NULL, item, control_drop_axis(whole, axis));
}

static int loop_body(Lower *lower, LoopPlan *plan, Value *go_on, Extent go_slot)
{
    plan->first = lower->program->nbuffer;
    if (lower_graph(lower, plan->body) < 0)
        return -1;
    for (int i = 0; i < plan->nstack; i++)
        if (stack_up(lower, plan, i) < 0)
            return -1;
    if (go_on && control_read(lower, go_on, go_slot) < 0) /* before the carried values of which it may be a view */
        return -1;
    return carry_back(lower, plan);
}

static int iterate(Lower *lower, LoopPlan *plan, Value *go_first, Value *go_on, Extent go_slot)
{
    int at, mark;

    if (control_never(plan->trips)) {
        plan->iteration = extent_const(0);
        return 0;
    }
    if (go_on && (go_first ? control_read(lower, go_first, go_slot) : lower_set(lower, go_slot, extent_const(1))) < 0)
        return -1;
    at = control_loop_begin(lower, plan->trips, plan->iteration, &mark);
    if (go_on)
        lower->program->step[at].until = (int)lower_slot(lower, go_slot).offset.max;
    if (loop_body(lower, plan, go_on, go_slot) < 0)
        return -1;
    control_loop_end(lower, at, mark);
    return 0;
}

/* Everything except the iteration: places, the control step, the body, the final values. */
static int lower_loop_plan(Lower *lower, LoopPlan *plan, Value *go_first, Value *go_on, Extent go_slot)
{
    if (control_finish_outer(lower, plan->body) < 0 || carry_in(lower, plan) < 0 ||
        lower_extent(lower, plan->trips) < 0)
        return -1;
    for (int i = 0; i < plan->nstack; i++)
        if (plan->stack[i] &&
            (control_place(lower, plan->stack[i]) < 0 || control_zero_extents(lower, plan->stack[i]) < 0))
            return -1;
    if (iterate(lower, plan, go_first, go_on, go_slot) < 0)
        return -1;
    for (int i = 0; i < plan->ncarried; i++)
        if (plan->carried[i].output && control_final(lower, plan->carried[i].parameter, plan->carried[i].output) < 0)
            return -1;
    for (int i = 0; i < plan->nstack; i++)
        if (plan->stack[i]) {
            if (control_give(lower, plan->stack[i], plan->stack[i]->type.dim[plan->stack_axis[i]], plan->iteration) < 0)
                return -1;
            control_define(lower, plan->stack[i]);
        }
    return 0;
}

static LoopPlan plan_new(Lower *lower, const Graph *body, int ncarried, int nstack)
{
    LoopPlan plan = {.body = body, .ncarried = ncarried, .nstack = nstack};

    plan.carried = arena_array(lower->arena, Carried, ncarried + 1);
    plan.stacked = arena_array(lower->arena, Value *, nstack + 1);
    plan.stack = arena_array(lower->arena, Value *, nstack + 1);
    plan.stack_axis = arena_array(lower->arena, int, nstack + 1);
    plan.stack_back = arena_array(lower->arena, bool, nstack + 1);
    return plan;
}

/* Carried and stacked values of a Loop. */
static void loop_values(const Node *node, LoopPlan *plan)
{
    const Graph *body = node->body[0];
    int          n = plan->ncarried;

    for (int i = 0; i < n; i++)
        plan->carried[i] =
            (Carried){node->in[2 + i], body->in[2 + i], body->out[1 + i], i < node->nout ? node->out[i] : NULL};
    for (int i = 0; i < plan->nstack; i++) {
        plan->stacked[i] = body->out[1 + n + i];
        plan->stack[i] = n + i < node->nout ? node->out[n + i] : NULL;
    }
}

int lower_loop(Lower *lower, const Node *node)
{
    const Graph *body = node->body[0];
    Value       *first = node->nin > 1 ? node->in[1] : NULL;
    LoopPlan     plan = plan_new(lower, body, body->nin - 2, body->nout - body->nin + 1);
    Extent       go_slot = extent_symbol(lower->model, EXPR_VAR, body->in[1]->id, GO_ON_AXIS, 0, 1);

    plan.trips = extent_const(INT64_MAX);
    if (node->in[0] && control_integer(lower, node->in[0], INT64_MIN, INT64_MAX, &plan.trips) < 0)
        return -1;
    plan.iteration = control_iteration(lower, body->in[0], ITERATION_AXIS, plan.trips);
    if (!control_never(plan.trips))
        lower->place[body->in[0]->id] = control_slot_place(lower, plan.iteration, body->in[0]->type.rank);
    control_condition_in(lower, body->in[1]);
    loop_values(node, &plan);
    if (control_always(first, body->out[0]))
        return lower_loop_plan(lower, &plan, NULL, NULL, go_slot);
    return lower_loop_plan(lower, &plan, first, body->out[0], go_slot);
}

static int64_t nth(const int64_t *list, int count, int index, int64_t otherwise)
{
    return list && index < count ? list[index] : otherwise;
}

/* The body's parameter is a slice of the input: a view whose offset moves with the iteration. */
static int scan_slice(Lower *lower, const LoopPlan *plan, Value *from, Value *parameter, int axis, bool backwards,
                      Extent trips)
{
    Extent  at = plan->iteration;
    Operand x;

    if (backwards)
        at = extent_op(lower->model, EXPR_SUB, extent_op(lower->model, EXPR_SUB, trips, extent_const(1)), at);
    if (lower_value(lower, from, &x) < 0)
        return -1;
    x = control_drop_axis(operand_window(lower, x, axis, at, extent_const(1), 1), axis);
    lower->place[parameter->id] = (Place){.kind = PLACE_OPERAND, .operand = x};
    return 0;
}

int lower_scan(Lower *lower, const Node *node)
{
    const Graph   *body = node->body[0];
    int            nscan = (int)node_int(node, "num_scan_inputs", 1), nstate = body->nin - nscan, count[4];
    LoopPlan       plan = plan_new(lower, body, nstate, body->nout - nstate);
    const int64_t *in_axes = node_ints(node, "scan_input_axes", &count[0]);
    const int64_t *in_back = node_ints(node, "scan_input_directions", &count[1]);
    const int64_t *out_axes = node_ints(node, "scan_output_axes", &count[2]);
    const int64_t *out_back = node_ints(node, "scan_output_directions", &count[3]);
    Extent         trips = extent_const(0);

    for (int i = 0; i < nscan; i++) {
        int    axis = (int)nth(in_axes, count[0], i, 0);
        Value *from = node->in[nstate + i];

        axis += axis < 0 ? from->type.rank : 0;
        if (i == 0) {
            trips = from->type.dim[axis];
            plan.iteration = control_iteration(lower, body->in[0], MAX_RANK, trips);
        }
        if (scan_slice(lower, &plan, from, body->in[nstate + i], axis, nth(in_back, count[1], i, 0) == 1, trips) < 0)
            return -1;
    }
    plan.trips = trips;
    for (int i = 0; i < nstate; i++)
        plan.carried[i] = (Carried){node->in[i], body->in[i], body->out[i], i < node->nout ? node->out[i] : NULL};
    for (int i = 0; i < plan.nstack; i++) {
        int axis = (int)nth(out_axes, count[2], i, 0);

        plan.stacked[i] = body->out[nstate + i];
        plan.stack[i] = nstate + i < node->nout ? node->out[nstate + i] : NULL;
        plan.stack_axis[i] = axis + (axis < 0 ? plan.stacked[i]->type.rank + 1 : 0);
        plan.stack_back[i] = nth(out_back, count[3], i, 0) == 1;
    }
    return lower_loop_plan(lower, &plan, NULL, NULL, extent_const(0));
}
