/* body.c - types of the values that a loop carries; see body.h. A trial walk of the body starts with the initial types.
 * Extents that the walk changes become variables without bounds, and the body is walked again until no further extent
 * changes. Then each variable gets its bound, and the last walk is the real one. A sequence's count is treated as its
 * axis COUNT. */
#include "infer/body.h"

enum { COUNT = MAX_RANK, AXES, MAX_WALKS = 24 };

static const int64_t OPEN = (int64_t)1 << 46; /* stands for a bound that is not known yet */

/* The facts about one carried value that inference has found. */
typedef struct CarriedState {
    Type    type; /* of the parameter; varying extents are filled in before each walk */
    bool    varies[AXES];
    int64_t lo[AXES], hi[AXES];
    int64_t growth[AXES]; /* of a varying extent in one iteration, at most */
    int64_t made[AXES];   /* the greatest that the body makes */
} CarriedState;

/* ---------------------------------------------------------------------------------------------------------- joining */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The extent of the joined value: the one that it has already, if it is joined again. */
static Extent joined_extent(const Join *join, ExprOp op, int axis, int64_t lo, int64_t hi)
{
    Model *model = join->infer->model;
    Extent out = extent_symbol(model, op, join->value->id, axis, lo, hi);

    if (!join->again || out.expr < 0)
        return out;
    model->expr[out.expr].lo = least(model->expr[out.expr].lo, lo);
    model->expr[out.expr].hi = out.max = most(model->expr[out.expr].hi, hi);
    return out;
}

static int join_tensors(const Join *join, const Type *a, const Type *b, Type *out, bool member)
{
    Model *model = join->infer->model;

    if (a->dtype != b->dtype)
        return diag_error(join->infer->diag, join->node->loc, "'%s' is either %s or %s, wanted one element type",
                          join->value->name, dtype_info(a->dtype)->name, dtype_info(b->dtype)->name);
    *out = *a;
    out->text_bytes = most(a->text_bytes, b->text_bytes);
    if (a->rank != b->rank || a->rank < 0) {
        int64_t first = a->rank < 0 ? a->dim[0].max : type_elements(a),
                second = b->rank < 0 ? b->dim[0].max : type_elements(b);
        if (!member)
            return diag_unsupported(
                join->infer->diag, join->node->loc,
                "'%s' has rank %d or %d, which is known only while running; give both the same rank", join->value->name,
                a->rank, b->rank);
        out->rank = -1;
        out->dim[0] = extent_const(most(first, second));
        return 0;
    }
    for (int i = 0; i < a->rank; i++) {
        int64_t lo = least(extent_min(model, a->dim[i]), extent_min(model, b->dim[i])),
                hi = most(a->dim[i].max, b->dim[i].max);
        if (!extent_same(a->dim[i], b->dim[i]))
            out->dim[i] = joined_extent(join, member ? EXPR_VAR : EXPR_OUT, i, lo, hi);
    }
    return 0;
}

static bool never_filled(const Type *sequence)
{
    return sequence->count.expr < 0 && sequence->count.max == 0;
}

static int join_holders(const Join *join, const Type *a, const Type *b, Type *out)
{
    Model *model = join->infer->model;
    Type   item;
    int    status = 0;

    if (never_filled(a) || never_filled(b))
        item = never_filled(a) ? *b->item : *a->item;
    else if (a->item->kind == TYPE_TENSOR && b->item->kind == TYPE_TENSOR)
        status = join_tensors(join, a->item, b->item, &item, true);
    else
        status = join_types(join, a->item, b->item, &item);
    if (status < 0)
        return -1;
    *out = *a;
    out->item = arena_one(model->arena, Type);
    *out->item = item;
    if (!extent_same(a->count, b->count))
        out->count = joined_extent(join, EXPR_OUT, -1, least(extent_min(model, a->count), extent_min(model, b->count)),
                                   most(a->count.max, b->count.max));
    return 0;
}

int join_types(const Join *join, const Type *a, const Type *b, Type *out)
{
    if (a->kind != b->kind)
        return diag_unsupported(
            join->infer->diag, join->node->loc,
            "'%s' is one kind of value (tensor, sequence, optional) or another; make it the same kind always",
            join->value->name);
    return a->kind == TYPE_TENSOR ? join_tensors(join, a, b, out, false) : join_holders(join, a, b, out);
}

/* ------------------------------------------------------------------------------------------------- leaving the body */

static bool is_inside(const Model *model, const Expr *symbol, const void *body)
{
    return (symbol->op == EXPR_ELEM || symbol->op == EXPR_OUT || symbol->op == EXPR_VAR) &&
           graph_contains(body, model->value[symbol->value]->graph);
}

bool body_reads(Model *model, Extent extent, const Graph *body)
{
    return extent_has_symbol(model, extent, is_inside, body);
}

int body_export(Infer *infer, Node *node, const Graph *body, int output, int axis, Extent inside, Extent *out)
{
    *out = inside;
    if (!body_reads(infer->model, inside, body))
        return 0;
    return infer_unknown_extent(infer, node, output, axis, inside.max, out);
}

/* The output has the parameter's last type. */
static int set_output(Infer *infer, Node *node, const Graph *body, const Carry *carry, const CarriedState *state)
{
    Type type = carry->param->type;
    int  axis = type.kind == TYPE_TENSOR ? 0 : COUNT;

    if (!infer_wants(node, carry->output))
        return 0;
    for (; axis < (type.kind == TYPE_TENSOR ? type.rank : COUNT); axis++)
        if (body_export(infer, node, body, carry->output, axis, type.dim[axis], &type.dim[axis]) < 0)
            return -1;
    if (type.kind != TYPE_TENSOR && state->varies[COUNT])
        type.count =
            extent_symbol(infer->model, EXPR_OUT, node->out[carry->output]->id, -1, state->lo[COUNT], state->hi[COUNT]);
    return infer_set(infer, node, carry->output, type);
}

/* -------------------------------------------------------------------------------------------------------- the walks */

static void set_params(Infer *infer, const Carry *carry, CarriedState *state, int ncarry)
{
    for (int i = 0; i < ncarry; i++) {
        CarriedState *s = &state[i];
        for (int a = 0; a < AXES; a++) {
            Extent *extent = a == COUNT ? &s->type.count : &s->type.dim[a];
            if (s->varies[a])
                *extent =
                    extent_symbol(infer->model, EXPR_VAR, carry[i].param->id, a == COUNT ? -1 : a, s->lo[a], s->hi[a]);
        }
        carry[i].param->type = s->type;
        carry[i].param->elem = NULL;
    }
}

/* Compares extent `a` of a parameter with that of the body's result; true when it turns out to vary. */
static bool compare_axis(Infer *infer, CarriedState *s, int a, Extent initial, Extent before, Extent after)
{
    Extent growth;

    if (!s->varies[a] && extent_same(before, after))
        return false;
    growth = infer_sub(infer, after, before);
    s->growth[a] = growth.max;
    s->made[a] = after.max;
    if (s->varies[a]) {
        s->lo[a] = least(extent_min(infer->model, initial), extent_min(infer->model, after));
        return false;
    }
    s->varies[a] = true;
    s->lo[a] = 0;
    s->hi[a] = OPEN;
    return true;
}

static int compare_tensor(Infer *infer, const Node *node, const Carry *carry, CarriedState *s, bool *changed)
{
    const Type *result = &carry->result->type;

    if (result->kind != TYPE_TENSOR || result->dtype != s->type.dtype || result->rank != s->type.rank)
        return diag_unsupported(
            infer->diag, node->loc,
            "'%s' enters an iteration as %s of rank %d and leaves it as %s of rank %d; keep type and rank",
            carry->param->name, dtype_info(s->type.dtype)->name, s->type.rank, dtype_info(result->dtype)->name,
            result->rank);
    for (int a = 0; a < result->rank; a++)
        *changed |= compare_axis(infer, s, a, carry->initial->dim[a], s->type.dim[a], result->dim[a]);
    return 0;
}

/* The item types of sequences are joined. Expressions made on trial are dropped, so their extents are kept as
 * numbers. */
static int compare_holder(Infer *infer, Node *node, const Carry *carry, CarriedState *s, int known, bool *changed)
{
    const Type *result = &carry->result->type;
    Join        join = {infer, node, carry->output, carry->param, false};
    Type        joined;

    if (s->type.item->kind != TYPE_TENSOR && !type_same(&s->type, result))
        return diag_unsupported(infer->diag, node->loc,
                                "'%s' holds sequences and changes from iteration to iteration; carry plain sequences",
                                carry->param->name);
    if (join_types(&join, &s->type, result, &joined) < 0)
        return -1;
    *changed |= compare_axis(infer, s, COUNT, carry->initial->count, s->type.count, result->count);
    for (int a = 0; a < joined.item->rank; a++)
        if (joined.item->dim[a].expr >= known)
            joined.item->dim[a].expr = -2 - a; /* renew_members makes a new extent */
    if (joined.item->kind == TYPE_TENSOR && (s->type.item->rank != joined.item->rank))
        *changed = true;
    for (int a = 0; a < joined.item->rank && s->type.item->rank == joined.item->rank; a++)
        *changed |= s->type.item->dim[a].max != joined.item->dim[a].max;
    s->type.item = joined.item;
    return 0;
}

static void renew_members(Infer *infer, const Carry *carry, CarriedState *s)
{
    for (int a = 0; s->type.item && a < s->type.item->rank; a++)
        if (s->type.item->dim[a].expr <= -2)
            s->type.item->dim[a] =
                extent_symbol(infer->model, EXPR_VAR, carry->param->id, a, 0, s->type.item->dim[a].max);
}

/* Infers the body once, on trial. *changed: some parameter's type did not include the result's. */
static int try_body(Infer *infer, Node *node, Graph *body, const Carry *carry, CarriedState *state, int ncarry,
                    bool *changed)
{
    int known, status;

    known =
        infer->model->nexpr; /* the variables of the parameters are dropped as well and made again with other bounds */
    set_params(infer, carry, state, ncarry);
    infer->trial++;
    status = infer_nodes(infer, body);
    infer->trial--;
    for (int i = 0; i < ncarry && !status; i++)
        status = state[i].type.kind == TYPE_TENSOR ? compare_tensor(infer, node, &carry[i], &state[i], changed)
                                                   : compare_holder(infer, node, &carry[i], &state[i], known, changed);
    extent_forget(infer->model, known);
    for (int i = 0; i < ncarry && !status; i++)
        if (state[i].type.kind != TYPE_TENSOR)
            renew_members(infer, &carry[i], &state[i]);
    return status;
}

/* ----------------------------------------------------------------------------------------------------------- bounds */

/* The --dim bound of extent `a` of a value, by its axis or by the name of its dimension. */
static const DimBound *flag_of(const Infer *infer, const Value *value, int a)
{
    const DimBound *flag = infer_bound(infer, value->name, a == COUNT ? BOUND_COUNT : a);

    if (!flag && a != COUNT && value->dim_name && value->dim_name[a])
        flag = infer_bound(infer, value->dim_name[a], BOUND_NAME);
    return flag;
}

/* The bound of extent `a` from --dim or from the model's declarations, or -1. */
static int64_t given_bound(Infer *infer, const Node *node, const Carry *carry, int a)
{
    const Value    *output = infer_wants(node, carry->output) ? node->out[carry->output] : NULL;
    const DimBound *flag = output ? flag_of(infer, output, a) : NULL;
    const Type     *declared[2] = {output ? &output->declared : NULL, &carry->param->declared};

    if (!flag)
        flag = flag_of(infer, carry->param, a);
    if (flag)
        return flag->hi;
    for (int i = 0; i < 2; i++)
        if (declared[i] && a != COUNT && declared[i]->kind == TYPE_TENSOR && declared[i]->rank > a &&
            declared[i]->dim[a].expr < 0 && declared[i]->dim[a].max >= 0)
            return declared[i]->dim[a].max;
    return -1;
}

/* A bound for extent `a` from what the last walk found; -1: not yet. */
static int64_t found_bound(const CarriedState *s, int a, Extent initial, Extent trips)
{
    if (s->made[a] < OPEN)
        return most(initial.max, s->made[a]);
    if (s->growth[a] <= 0)
        return initial.max;
    if (s->growth[a] < OPEN && trips.max < OPEN && s->growth[a] < OPEN / (trips.max + 1))
        return initial.max + s->growth[a] * trips.max;
    return -1;
}

static int refuse(Infer *infer, const Node *node, const Carry *carry, int a)
{
    const char *name = infer_wants(node, carry->output) ? node->out[carry->output]->name : carry->param->name;

    if (a == COUNT)
        return diag_unsupported(infer->diag, node->loc,
                                "the members of '%s' grow without a bound; give --dim %s:count=0..N", name, name);
    return diag_unsupported(infer->diag, node->loc, "extent %d of '%s' grows without a bound; give --dim %s:%d=0..N", a,
                            name, name, a);
}

/* Bounds every extent whose bound is known now; *open: some extents depend on others that have none yet. */
static bool settle(Infer *infer, const Node *node, const Carry *carry, CarriedState *state, int ncarry, Extent trips,
                   bool *open)
{
    bool progress = false;

    *open = false;
    for (int i = 0; i < ncarry; i++)
        for (int a = 0; a < AXES; a++) {
            Extent  initial;
            int64_t bound;
            if (!state[i].varies[a] || state[i].hi[a] < OPEN)
                continue;
            initial = a == COUNT ? carry[i].initial->count : carry[i].initial->dim[a];
            bound = given_bound(infer, node, &carry[i], a);
            bound = bound < 0 ? found_bound(&state[i], a, initial, trips)
                              : most(bound, initial.max); /* the value may be the initial one */
            if (bound < 0)
                *open = true;
            else {
                state[i].hi[a] = bound;
                progress = true;
            }
        }
    return progress;
}

static int refuse_open(Infer *infer, const Node *node, const Carry *carry, const CarriedState *state, int ncarry)
{
    for (int i = 0; i < ncarry; i++)
        for (int a = 0; a < AXES; a++)
            if (state[i].varies[a] && state[i].hi[a] >= OPEN)
                return refuse(infer, node, &carry[i], a);
    return 0;
}

/* Walk the body on trial until the parameters' types hold every iteration's results. */
static int find_types(Infer *infer, Node *node, Graph *body, const Carry *carry, CarriedState *state, int ncarry,
                      Extent trips)
{
    bool changed = true, open = true, progress = true;

    for (int walk = 0; changed; walk++) {
        changed = false;
        if (walk == MAX_WALKS)
            return diag_unsupported(infer->diag, node->loc,
                                    "types of the carried values do not settle; declare their shapes in the model");
        if (try_body(infer, node, body, carry, state, ncarry, &changed) < 0)
            return -1;
    }
    while (open && progress) {
        progress = settle(infer, node, carry, state, ncarry, trips, &open);
        if (open && progress && try_body(infer, node, body, carry, state, ncarry, &changed) < 0)
            return -1;
    }
    return refuse_open(infer, node, carry, state, ncarry);
}

/* Requires that every result has the extents that the iteration started with. */
static int check_unchanged(Infer *infer, const Node *node, const Carry *carry)
{
    const Type *before = &carry->param->type, *after = &carry->result->type;
    const Node *maker = carry->result->def ? carry->result->def : node;

    if (before->kind != TYPE_TENSOR || after->kind != TYPE_TENSOR || before->dtype != after->dtype ||
        before->rank != after->rank)
        return diag_error(infer->diag, node->loc, "'%s' leaves an iteration as another type than it entered",
                          carry->param->name);
    for (int i = 0; i < before->rank; i++)
        if (infer_need_equal(infer, maker, before->dim[i], after->dim[i],
                             "extents of a state before and after an iteration") < 0)
            return -1;
    return 0;
}

/* The results of one iteration must fit the parameters of the next. */
static int check_fits(Infer *infer, const Node *node, const Carry *carry, const CarriedState *state)
{
    const Type *after = &carry->result->type;

    for (int a = 0; a < after->rank && after->kind == TYPE_TENSOR; a++)
        if (state->varies[a] && extent_min(infer->model, after->dim[a]) > state->hi[a])
            return diag_error(
                infer->diag, node->loc, "extent %d of '%s' is at least %lld after an iteration, and its bound is %lld",
                a, carry->param->name, (long long)extent_min(infer->model, after->dim[a]), (long long)state->hi[a]);
    return 0;
}

int body_infer(Infer *infer, Node *node, Graph *body, const Carry *carry, int ncarry, Extent trips, bool fixed)
{
    CarriedState *state = arena_array(infer->model->arena, CarriedState, ncarry + 1);

    for (int i = 0; i < ncarry; i++) {
        state[i].type = *carry[i].initial;
        state[i].type.text_bytes = 0;
    }
    if (!fixed && ncarry && find_types(infer, node, body, carry, state, ncarry, trips) < 0)
        return -1;
    set_params(infer, carry, state, ncarry);
    if (infer_nodes(infer, body) < 0)
        return -1;
    for (int i = 0; i < ncarry; i++)
        if ((fixed && check_unchanged(infer, node, &carry[i]) < 0) ||
            check_fits(infer, node, &carry[i], &state[i]) < 0 ||
            set_output(infer, node, body, &carry[i], &state[i]) < 0)
            return -1;
    return 0;
}
