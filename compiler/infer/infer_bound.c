/* infer_bound.c - the upper bounds of extents: from --dim, from the types that a model declares, and from shape rules.
 * An extent of an input becomes a symbol whose value the caller passes; inputs whose dimensions share a name share the
 * symbol. An extent that a rule computes keeps its expression; where that has no bound, --dim VALUE:AXIS or the
 * declared type supplies one, and the run checks it. infer_set refuses an extent without a bound. */
#include "infer/infer.h"

#include "support/command.h"

#include <string.h>

/* A run-time extent that may exceed this (elements) counts as unbounded: its interval comes from an integer type, not
 * from the model. For tensors above the second limit (bytes) the bounds are looked up again. */
static const int64_t UNBOUNDED = (int64_t)1 << 28;
static const int64_t LARGE = (int64_t)1 << 36;

enum { MAX_DEPTH = 4000 }; /* operators upon operators in one extent */

typedef struct Bound {
    bool            known;
    int64_t         lo, hi;
    const DimBound *flag; /* the --dim that says it; NULL: the model does */
} Bound;

const DimBound *infer_bound(const Infer *infer, const char *name, int axis)
{
    for (int i = 0; i < infer->model->nbound; i++) {
        DimBound *bound = &infer->model->bound[i];
        if (bound->axis == axis && !strcmp(bound->name, name)) {
            bound->used = true;
            return bound;
        }
    }
    return NULL;
}

static const char *dim_name(const Value *value, int axis)
{
    return value->dim_name && axis >= 0 ? value->dim_name[axis] : NULL;
}

static Bound flag_bound(const Infer *infer, const char *name, int axis)
{
    const DimBound *found = infer_bound(infer, name, axis);

    return found ? (Bound){true, found->lo, found->hi, found} : (Bound){0};
}

/* The --dim bound of an extent, by VALUE:AXIS, else by the name of its dimension. */
static Bound axis_flag(const Infer *infer, const Value *value, int axis)
{
    Bound       bound = flag_bound(infer, value->name, axis);
    const char *name = dim_name(value, axis);

    return bound.known || !name ? bound : flag_bound(infer, name, BOUND_NAME);
}

/* The bound that the model declares: a number, or a dimension name that --dim bounds. */
static Bound declared_bound(const Infer *infer, const Value *value, int axis, int rank)
{
    const Type *type = &value->declared;
    const char *name = dim_name(value, axis);

    while (type && (type->kind == TYPE_SEQUENCE || type->kind == TYPE_OPTIONAL))
        type = type->item;
    if (!type || type->kind != TYPE_TENSOR || type->rank != rank)
        return (Bound){0};
    if (type->dim[axis].max >= 0 && type->dim[axis].expr < 0)
        return (Bound){true, 0, type->dim[axis].max, NULL};
    return name ? flag_bound(infer, name, BOUND_NAME) : (Bound){0};
}

/* ---------------------------------------------------------------------------------------------- inputs of the model */

/* Records an extent without a bound and the option that would bound it, once for all extents that share a name. */
static void note_open(Infer *infer, const char *place, const char *flag)
{
    const char *typed = command_word(infer->model->arena, flag);
    Text       *flags = infer->flags;

    for (const char *at = flags->data; at && *at; at = strstr(at + 1, " --dim "))
        if (!strncmp(at + strlen(" --dim "), typed, strlen(typed)))
            return;
    text_printf(infer->open, "%s%s", infer->open->size ? ", " : "", place);
    text_printf(flags, " --dim %s", typed);
}

static void note_open_axis(Infer *infer, const Value *value, int axis)
{
    Arena      *arena = infer->model->arena;
    const char *name = dim_name(value, axis);

    if (name)
        note_open(infer, arena_printf(arena, "'%s' (extent %d of '%s')", name, axis, value->name),
                  arena_printf(arena, "%s=1..16", name));
    else
        note_open(infer, arena_printf(arena, "extent %d of '%s'", axis, value->name),
                  arena_printf(arena, "%s:%d=1..16", value->name, axis));
}

/* One message names all extents without a bound. */
static int refuse_open(const Infer *infer)
{
    return diag_unsupported(infer->diag, (Loc){0},
                            "inputs have no bound for %s; say how large each may be where 16 stands here:%s",
                            infer->open->data, infer->flags->data);
}

/* Finds the first dimension of an input with this name, so that equal names are one symbol. */
static void find_namesake(const Graph *graph, const char *name, const Value **value, int *axis)
{
    for (int i = 0; name && i < graph->nin; i++)
        for (int a = 0; a < MAX_RANK; a++) {
            const char *other = dim_name(graph->in[i], a);
            if (graph->in[i]->type.kind != TYPE_SEQUENCE && other && !strcmp(other, name)) {
                *value = graph->in[i];
                *axis = a;
                return;
            }
        }
}

/* Remembers an extent of which --dim lists the sizes, once for all inputs that share it. */
static void note_listed(Model *model, Extent extent, const DimBound *flag)
{
    bool known = !flag || !flag->nsize;

    for (int i = 0; i < model->nlisted; i++)
        known |= model->listed[i].expr == extent.expr;
    if (!known)
        ARENA_PUSH(model->arena, model->listed, model->nlisted, model->clisted, ((ListedExtent){extent.expr, flag}));
}

static int bind_axis(Infer *infer, const Value *value, int axis, bool member, Extent *out)
{
    Bound        bound = axis_flag(infer, value, axis);
    const Value *first = value;
    int          first_axis = axis;

    if (!bound.known) {
        note_open_axis(infer, value, axis);
        return 0;
    }
    if (!member && !flag_bound(infer, value->name, axis).known)
        find_namesake(value->graph, dim_name(value, axis), &first, &first_axis);
    *out = extent_symbol(infer->model, member ? EXPR_VAR : EXPR_DIM, first->id, first_axis, bound.lo, bound.hi);
    note_listed(infer->model, *out, bound.flag);
    return 0;
}

/* The rank of an input that declares none is the number of axes that --dim names. */
static int bind_rank(Infer *infer, const Value *value, bool member, Type *type)
{
    Bound elements = flag_bound(infer, value->name, BOUND_ELEMENTS);
    int   rank = 0;

    while (rank < MAX_RANK && flag_bound(infer, value->name, rank).known)
        type->dim[rank++] = extent_const(-1);
    if (rank || (elements.known && elements.hi == 1 && !member))
        type->rank = rank;
    else if (elements.known && member)
        type->dim[0] = extent_const(elements.hi);
    else
        return diag_unsupported(
            infer->diag, (Loc){0},
            "input '%s' declares no rank; give its extents one by one: --dim %s:0=N --dim %s:1=N ...", value->name,
            value->name, value->name);
    return 0;
}

static int bind_tensor(Infer *infer, const Value *value, bool member, Type *type)
{
    if (type->rank < 0 && bind_rank(infer, value, member, type) < 0)
        return -1;
    for (int axis = 0; axis < type->rank; axis++)
        if (type->dim[axis].max < 0 && bind_axis(infer, value, axis, member, &type->dim[axis]) < 0)
            return -1;
    if (type->rank >= 0 && !infer->open->size && type_bytes(type) < 0)
        return diag_unsupported(infer->diag, (Loc){0},
                                "input '%s' needs more bytes than can be counted; bound its extents with --dim",
                                value->name);
    return 0;
}

/* A sequence that is always empty: its members get extents of 0. */
static int bind_no_member(Type *type)
{
    if (type->kind == TYPE_TENSOR && !type_is_static(type)) {
        type->rank = -1;
        type->dim[0] = extent_const(0);
    }
    return 0;
}

static int bind_type(Infer *infer, const Value *value, bool member, Type *type)
{
    Bound count;

    if (type->kind == TYPE_TENSOR)
        return bind_tensor(infer, value, member, type);
    if (type->kind == TYPE_OPTIONAL) {
        count = flag_bound(infer, value->name, BOUND_COUNT);
        if (!count.known || type->item->kind == TYPE_SEQUENCE)
            count = (Bound){true, 0, 1, NULL};
        type->count = extent_symbol(infer->model, EXPR_DIM, value->id, -1, count.lo, count.hi);
        return bind_type(infer, value, member, type->item);
    }
    if (type->kind == TYPE_MAP && (value->type.kind ? &value->type : &value->declared)->kind != TYPE_MAP)
        return diag_unsupported(infer->diag, (Loc){0}, "input '%s' holds maps; make it one map for each run",
                                value->name);
    if (type->kind == TYPE_MAP)
        return infer_map_input(infer, value, type) < 0 ? -1 : bind_tensor(infer, value, false, type);
    count = flag_bound(infer, value->name, BOUND_COUNT);
    if (!count.known) {
        note_open(infer, arena_printf(infer->model->arena, "the count of members of '%s'", value->name),
                  arena_printf(infer->model->arena, "%s:count=0..16", value->name));
        count = (Bound){true, 0, 1, NULL};
    }
    type->count = extent_symbol(infer->model, EXPR_DIM, value->id, -1, count.lo, count.hi);
    return count.hi ? bind_type(infer, value, true, type->item) : bind_no_member(type->item);
}

int infer_inputs(Infer *infer, Graph *graph)
{
    Text open = text_new(infer->model->arena), flags = text_new(infer->model->arena);
    int  status = 0;

    infer->open = &open;
    infer->flags = &flags;
    for (int i = 0; i < graph->nin; i++) {
        Value *value = graph->in[i];
        Type   type = value->type.kind == TYPE_NONE ? value->declared : value->type;
        if (type.kind == TYPE_NONE)
            status = diag_error(infer->diag, (Loc){0}, "input '%s' declares no type", value->name);
        else if (bind_type(infer, value, false, &type) < 0)
            status = -1;
        value->type = type;
    }
    status = open.size ? refuse_open(infer) : status;
    infer->open = infer->flags = NULL;
    return status;
}

/* ------------------------------------------------------------------------------------------------- computed extents */

static int refuse_extent(Infer *infer, const Node *node, const Value *value, int axis)
{
    return diag_unsupported(infer->diag, node->loc,
                            "output '%s': extent %d has no bound; declare it in the model or give --dim %s:%d=1..N",
                            value->name, axis, value->name, axis);
}

/* The value's own step determines this extent, and infer_unknown_extent has bounded it. */
static bool is_found(const Infer *infer, const Value *value, Extent dim)
{
    return dim.expr >= 0 && infer->model->expr[dim.expr].op == EXPR_OUT &&
           infer->model->expr[dim.expr].value == value->id;
}

/* Clamp one extent; `wide`: the declared extent is wanted too. */
static int bound_axis(Infer *infer, const Node *node, const Value *value, int axis, int rank, bool wide, Extent *dim)
{
    Bound flag = flag_bound(infer, value->name, axis);

    if (!flag.known && dim->expr >= 0 && (wide || dim->max > UNBOUNDED))
        flag = declared_bound(infer, value, axis, rank);
    if (flag.known && is_found(infer, value, *dim))
        return infer_check(infer, node, extent_op(infer->model, EXPR_LT, extent_const(flag.lo - 1), *dim),
                           "an extent that is found out is below its bounds");
    return flag.known ? infer_within(infer, node, *dim, flag.lo, flag.hi, "a computed extent", dim) : 0;
}

/* Gives a tensor without a rank its declared rank; its extents are found at run time. */
static int adopt_rank(Infer *infer, const Node *node, const Value *value, Type *type)
{
    int64_t elements = type->dim[0].max;
    int     output = 0;

    if (value->declared.kind != TYPE_TENSOR || value->declared.rank < 0)
        return 0;
    while (node->out[output] != value)
        output++;
    type->rank = value->declared.rank;
    for (int axis = 0; axis < type->rank; axis++)
        if (infer_unknown_extent(infer, node, output, axis, elements, &type->dim[axis]) < 0)
            return -1;
    return 0;
}

static bool is_large(const Type *type)
{
    int64_t bytes = type_bytes(type);

    return bytes < 0 || bytes > LARGE;
}

static int bound_tensor(Infer *infer, const Node *node, Value *value, Type *type)
{
    if (type->rank < 0 && adopt_rank(infer, node, value, type) < 0)
        return -1;
    for (int wide = 0; wide <= 1; wide++)
        for (int axis = 0; axis < type->rank; axis++)
            if ((!wide || is_large(type)) &&
                bound_axis(infer, node, value, axis, type->rank, wide, &type->dim[axis]) < 0)
                return -1;
    if (infer->trial || type->rank < 0)
        return 0;
    for (int axis = 0; axis < type->rank; axis++) {
        if (type->dim[axis].expr >= 0 && type->dim[axis].max > UNBOUNDED)
            return refuse_extent(infer, node, value, axis);
        if (extent_depth(infer->model, type->dim[axis]) > MAX_DEPTH)
            return diag_unsupported(
                infer->diag, node->loc,
                "output '%s': extent %d depends on more than %d extents before it; pin some with --dim", value->name,
                axis, MAX_DEPTH);
    }
    if (type_bytes(type) < 0)
        return diag_unsupported(infer->diag, node->loc,
                                "output '%s' needs more bytes than can be counted; bound its extents with --dim",
                                value->name);
    return 0;
}

/* Members of different extents are bounded by --dim; the run stops when a larger one is inserted. */
static void bound_members(Infer *infer, const Value *value, Type *item)
{
    for (int axis = 0; item->kind == TYPE_TENSOR && axis < item->rank; axis++) {
        Bound flag = flag_bound(infer, value->name, axis);
        if (flag.known && item->dim[axis].expr >= 0 && flag.hi < item->dim[axis].max)
            item->dim[axis] = extent_symbol(infer->model, EXPR_VAR, value->id, axis, 0, flag.hi);
    }
}

int infer_bound_type(Infer *infer, const Node *node, Value *value, Type *type)
{
    Bound count;

    if (type->kind == TYPE_TENSOR)
        return bound_tensor(infer, node, value, type);
    count = flag_bound(infer, value->name, BOUND_COUNT);
    if (type->item)
        bound_members(infer, value, type->item);
    if (type->kind == TYPE_SEQUENCE && count.known && is_found(infer, value, type->count) &&
        type->count.max <= count.hi)
        return infer_check(infer, node, extent_op(infer->model, EXPR_LT, extent_const(count.lo - 1), type->count),
                           "a count of members that is found out is below its bounds");
    if (type->kind == TYPE_SEQUENCE && count.known &&
        infer_within(infer, node, type->count, count.lo, count.hi, "the count of members", &type->count) < 0)
        return -1;
    if (type->kind == TYPE_SEQUENCE && type->count.max > UNBOUNDED && !infer->trial)
        return diag_unsupported(infer->diag, node->loc,
                                "output '%s': the count of its members has no bound; give --dim %s:count=0..N",
                                value->name, value->name);
    return 0;
}

int infer_unknown_extent(Infer *infer, const Node *node, int output, int axis, int64_t max, Extent *out)
{
    const Value *value = output < node->nout ? node->out[output] : NULL;
    Bound        flag, from_declared;

    if (!value) {
        *out = extent_const(max < 0 ? 0 : max);
        return 0;
    }
    flag = axis_flag(infer, value, axis);
    from_declared = declared_bound(infer, value, axis, value->declared.rank);
    if (!flag.known && from_declared.known)
        flag = from_declared;
    if (!flag.known && infer->trial && max < 0)
        max = (int64_t)1 << 47;
    if (!flag.known && !infer->trial && (max < 0 || max > UNBOUNDED))
        return refuse_extent(infer, node, value, axis);
    if (!flag.known || (max >= 0 && max < flag.hi))
        flag.hi = max;
    *out = extent_symbol(infer->model, EXPR_OUT, value->id, axis, flag.lo < flag.hi ? flag.lo : 0, flag.hi);
    return 0;
}

int infer_text_bytes(Infer *infer, const Node *node, int output, int64_t max, int64_t *out)
{
    const Value *value = output < node->nout ? node->out[output] : NULL;
    Bound        flag = value ? flag_bound(infer, value->name, BOUND_BYTES) : (Bound){true, 0, 0, NULL};

    if (!flag.known && (max < 0 || max > UNBOUNDED))
        return diag_unsupported(infer->diag, node->loc,
                                "output '%s': the text that is made has no bound; give --dim %s:bytes=0..N",
                                value->name, value->name);
    *out = flag.known ? flag.hi : max;
    return 0;
}
