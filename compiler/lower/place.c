/* place.c - where values lie: buffers, views, windows of larger values, the caller's memory. */
#include "infer/infer.h"
#include "lower/call.h"
#include "program/weight.h"
#include "support/int.h"
#include <string.h>

static Operand new_buffer(Lower *lower, BufferKind kind, DType dtype, int64_t bytes, const char *name)
{
    Program *p = lower->program;
    Buffer   b = {.kind = kind, .dtype = dtype, .size = bytes, .align = lower->buffer_align};

    b.name = arena_printf(p->arena, "%d:%s", p->nbuffer, name);
    return (Operand){.buffer = program_add_buffer(p, &b), .dtype = dtype, .offset = extent_const(0)};
}

/* Strides of a dense tensor, axes from the innermost outwards in the order of the layout. */
static void dense_strides(Lower *lower, Operand *x, Layout layout)
{
    Extent stride = extent_const(1);
    bool   last = layout == LAYOUT_CHANNELS_LAST && x->rank >= 3;

    if (last) {
        x->stride[1] = stride;
        stride = x->dim[1];
    }
    for (int i = x->rank; i-- > 0;) {
        if (last && i == 1)
            continue;
        x->stride[i] = stride;
        stride = extent_op(lower->model, EXPR_MUL, stride, x->dim[i]);
    }
}

void operand_make_dense(Lower *lower, Operand *x)
{
    dense_strides(lower, x, LAYOUT_ROW_MAJOR);
}

static void set_extents(Operand *x, const Type *type)
{
    x->rank = type->rank;
    for (int i = 0; i < type->rank; i++)
        x->dim[i] = type->dim[i];
}

Operand lower_temporary(Lower *lower, const Type *type, Layout layout, const char *name)
{
    Operand x = new_buffer(lower, BUFFER_ACT, type->dtype, type_bytes(type), name);

    set_extents(&x, type);
    dense_strides(lower, &x, layout);
    return x;
}

Operand lower_scratch(Lower *lower, DType dtype, int64_t elements, const char *name)
{
    Operand x = new_buffer(lower, BUFFER_SCRATCH, dtype, elements * dtype_info(dtype)->bytes, name);

    x.rank = 1;
    x.dim[0] = extent_const(elements);
    x.stride[0] = extent_const(1);
    return x;
}

Operand lower_weight(Lower *lower, const void *data, DType dtype, int rank, const int64_t *dim, const char *name)
{
    Type    type = type_tensor(dtype, rank, dim);
    Operand x = new_buffer(lower, BUFFER_WEIGHT, dtype, type_bytes(&type), name);

    lower->program->buffer[x.buffer].source = data;
    set_extents(&x, &type);
    dense_strides(lower, &x, LAYOUT_ROW_MAJOR);
    return x;
}

Operand lower_packed(Lower *lower, const Packing *packing, DType dtype, int64_t elements, const char *name)
{
    Operand x = lower_weight(lower, NULL, dtype, 1, &elements, name);

    lower->program->buffer[x.buffer].packing = packing;
    return x;
}

/* A constant of one repeated element is stored once, with strides of 0. */
static Operand constant_operand(Lower *lower, Value *value)
{
    const Const *data = value->data;
    Operand      x;

    if (data->text) {
        x = new_buffer(lower, BUFFER_WEIGHT, DTYPE_TEXT, type_bytes(&value->type), value->name);
        lower->program->buffer[x.buffer].source = data->text;
    } else {
        x = new_buffer(lower, BUFFER_WEIGHT, value->type.dtype,
                       data->broadcast ? dtype_info(value->type.dtype)->bytes : data->bytes, value->name);
        lower->program->buffer[x.buffer].source = data->data;
    }
    lower->program->buffer[x.buffer].value = value;
    set_extents(&x, &value->type);
    dense_strides(lower, &x, LAYOUT_ROW_MAJOR);
    for (int i = 0; data->broadcast && i < x.rank; i++)
        x.stride[i] = extent_const(0);
    return x;
}

const Value *lower_constant(Lower *lower, Value *value)
{
    if (!value->data && value->def) {
        for (int i = 0; i < value->def->nin; i++)
            if (value->def->in[i] && !lower_constant(lower, value->def->in[i]))
                return NULL;
        if (!(op_info[value->def->op].traits & (OP_RANDOM | OP_CONTROL)) && value->def->nin > 0)
            fold_node(lower->model, lower->diag, value->def);
    }
    return value->data ? value : NULL;
}

bool lower_is_tracked(const Lower *lower, const Value *value)
{
    if (!value->elem || !type_is_static(&value->type) ||
        (value->type.dtype != DTYPE_I64 && value->type.dtype != DTYPE_I32))
        return false;
    for (int i = 0; i < value->nelem; i++) {
        const Expr *e = value->elem[i].expr < 0 ? NULL : &lower->model->expr[value->elem[i].expr];

        if (e && e->op == EXPR_ELEM &&
            e->value == value->id) /* an element read from memory: the value must be computed */
            return false;
    }
    return true;
}

int lower_tracked(Lower *lower, Value *value)
{
    Operand y;

    if (lower_made_place(lower, value, LAYOUT_ROW_MAJOR, &y) < 0)
        return -1;
    return STEP(lower, value->def, value->type.dtype == DTYPE_I64 ? "ints_i64" : "ints_i32", ARG(y, y),
                ARGS(value, value->nelem, value->elem), ARG(count, value->nelem));
}

int lower_value(Lower *lower, Value *value, Operand *out)
{
    Place *place = &lower->place[value->id];

    if (place->kind == PLACE_NONE && value->data) {
        place->operand = constant_operand(lower, value);
        place->kind = PLACE_OPERAND;
    }
    if (place->kind == PLACE_DEFERRED && lower_finish(lower, value) < 0)
        return -1;
    if (place->kind == PLACE_NONE && lower_is_tracked(lower, value) && lower_tracked(lower, value) < 0)
        return -1;
    if (place->kind == PLACE_NONE)
        return diag_bug(lower->diag, lower->node ? lower->node->loc : (Loc){0}, "'%s' is read before it is made",
                        value->name);
    *out = place->operand;
    return 0;
}

int lower_input(Lower *lower, const Node *node, int index, Operand *out)
{
    if (index >= node->nin || !node->in[index]) {
        *out = operand_absent(DTYPE_F32);
        return 0;
    }
    return lower_value(lower, node->in[index], out);
}

/* A constant in another order. */
typedef struct Rearranged {
    Packing     base;
    const char *data;  /* of the constant's first element */
    size_t      width; /* bytes of an element */
    int         rank;
    int64_t     dim[MAX_RANK], stride[MAX_RANK]; /* stride: elements */
} Rearranged;

static void make_rearranged(const Packing *packing, int64_t from, int64_t bytes, void *to)
{
    const Rearranged *r = (const Rearranged *)packing;
    int64_t           index[MAX_RANK] = {0}, rest = from / (int64_t)r->width;
    char             *next = to, *end = next + bytes;

    for (int i = r->rank; bytes && i-- > 0; rest /= r->dim[i])
        index[i] = rest % r->dim[i];
    for (; next < end; next += r->width) {
        int64_t at = 0;

        for (int i = 0; i < r->rank; i++)
            at += index[i] * r->stride[i];
        memcpy(next, r->data + at * (int64_t)r->width, r->width);
        for (int i = r->rank; i-- > 0 && ++index[i] == r->dim[i];)
            index[i] = 0;
    }
}

/* A constant in another order becomes another constant, so that nothing is moved at run time. */
static Operand rearranged_constant(Lower *lower, const Operand *x)
{
    const Buffer *from = &lower->program->buffer[x->buffer];
    Buffer       *to;
    Rearranged   *r = arena_one(lower->program->arena, Rearranged);
    Operand       y;

    r->base.make = make_rearranged;
    r->width = (size_t)dtype_info(x->dtype)->bytes;
    r->data = (const char *)(from->packing ? weight_whole(lower->program->arena, from, 1) : from->source) +
              x->offset.max * (int64_t)r->width;
    r->rank = x->rank;
    for (int i = 0; i < x->rank; i++) {
        r->dim[i] = x->dim[i].max;
        r->stride[i] = x->stride[i].max;
    }
    y = lower_weight(lower, NULL, x->dtype, x->rank, r->dim, "constant");
    to = &lower->program->buffer[y.buffer];
    to->packing = &r->base;
    if (x->dtype == DTYPE_TEXT) { /* pointers are no bytes of a file */
        to->source = weight_whole(lower->program->arena, to, 8);
        to->packing = NULL;
    }
    return y;
}

int lower_dense(Lower *lower, Operand x, Operand *out)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = x.dtype, .rank = x.rank};

    *out = x;
    if (x.buffer < 0 || operand_is_dense(lower->model, &x))
        return 0;
    if (lower->program->buffer[x.buffer].kind == BUFFER_WEIGHT && operand_is_static(&x)) {
        *out = rearranged_constant(lower, &x);
        return 0;
    }
    memcpy(type.dim, x.dim, sizeof type.dim);
    *out = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "dense");
    return lower_copy(lower, NULL, x, *out);
}

int lower_input_dense(Lower *lower, const Node *node, int index, Operand *out)
{
    Operand x;

    if (lower_input(lower, node, index, &x) < 0 || lower_dense(lower, x, out) < 0)
        return -1;
    return 0;
}

Layout lower_wanted_layout(const Lower *lower, const Value *value, Layout layout)
{
    const Node *user = lower->uses[value->id] == 1 ? lower->user[value->id] : NULL;

    return user && user->op == OP_onnx_Conv && user->in[0] == value ? LAYOUT_CHANNELS_LAST : layout;
}

/* The place of a value whose step comes next. */
static Operand new_place(Lower *lower, Value *value, Layout layout)
{
    Place  *place = &lower->place[value->id];
    Inside *inside = &lower->inside[value->id];

    if (place->kind == PLACE_OPERAND) /* the caller's output, or a parent that another member has placed */
        return place->operand;
    if (inside->parent) {
        Operand parent = new_place(lower, inside->parent, lower_wanted_layout(lower, inside->parent, layout));

        place->operand = operand_window(lower, parent, inside->axis, inside->start, value->type.dim[inside->axis], 1);
    } else {
        place->operand = lower_temporary(lower, &value->type, layout, value->name);
        lower->program->buffer[place->operand.buffer].value = value;
    }
    place->kind = PLACE_OPERAND;
    return place->operand;
}

int lower_made_place(Lower *lower, Value *value, Layout layout, Operand *out)
{
    *out = new_place(lower, value, layout);
    return 0;
}

int lower_output(Lower *lower, const Node *node, int index, Layout layout, Operand *out)
{
    if (index >= node->nout || !node->out[index]) {
        *out = operand_absent(DTYPE_F32);
        return 0;
    }
    *out = new_place(lower, node->out[index], layout);
    return 0;
}

int lower_output_dense(Lower *lower, const Node *node, int index, Operand *out)
{
    if (lower_output(lower, node, index, LAYOUT_ROW_MAJOR, out) < 0)
        return -1;
    if (out->buffer >= 0 && !operand_is_dense(lower->model, out))
        *out = lower_temporary(lower, &node->out[index]->type, LAYOUT_ROW_MAJOR, node->out[index]->name);
    return 0;
}

int lower_output_done(Lower *lower, const Node *node, int index, Operand written)
{
    Operand place;

    if (written.buffer < 0)
        return 0;
    place = lower->place[node->out[index]->id].operand;
    if (place.buffer == written.buffer)
        return 0;
    return lower_copy(lower, node, written, place);
}

int lower_output_part(Lower *lower, const Node *node, int index, Operand part)
{
    Operand y;

    if (!lower->no_elision)
        return lower_output_view(lower, node, index, part);
    if (lower_output(lower, node, index, lower_layout_of(&part), &y) < 0)
        return -1;
    return lower_copy(lower, node, part, y);
}

int lower_output_view(Lower *lower, const Node *node, int index, Operand view)
{
    Value *value = index < node->nout ? node->out[index] : NULL;
    Place *place;

    if (!value)
        return 0;
    place = &lower->place[value->id];
    if (place->kind == PLACE_OPERAND || lower->inside[value->id].parent)
        return lower_copy(lower, node, view, new_place(lower, value, lower_layout_of(&view)));
    place->kind = PLACE_OPERAND;
    place->operand = view;
    return 0;
}
