/* infer_type.c - making types: setting outputs, broadcasting, arithmetic on extents. */
#include "infer/infer.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- arithmetic */

Extent infer_add(Infer *infer, Extent a, Extent b)
{
    return extent_op(infer->model, EXPR_ADD, a, b);
}

Extent infer_sub(Infer *infer, Extent a, Extent b)
{
    return extent_op(infer->model, EXPR_SUB, a, b);
}

Extent infer_mul(Infer *infer, Extent a, Extent b)
{
    return extent_op(infer->model, EXPR_MUL, a, b);
}

Extent infer_div(Infer *infer, Extent a, Extent b)
{
    return extent_op(infer->model, EXPR_DIV, a, b);
}

Extent infer_clamp(Infer *infer, Extent value, Extent lo, Extent hi)
{
    value = extent_op(infer->model, EXPR_MAX, value, lo);
    return extent_op(infer->model, EXPR_MIN, value, hi);
}

Extent infer_product(Infer *infer, const Type *type, int first, int end)
{
    return extent_product(infer->model, type->dim, first, end);
}

/* ------------------------------------------------------------------------------------------------------------ types */

Type infer_shaped(DType dtype, const Type *like)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = dtype, .rank = like->rank};

    memcpy(type.dim, like->dim, sizeof type.dim);
    return type;
}

static Type type_holding(Model *model, TypeKind kind, Type item, Extent count)
{
    Type type = {.kind = kind, .rank = -1, .count = count, .item = arena_one(model->arena, Type)};

    *type.item = item;
    return type;
}

Type type_sequence(Model *model, Type item, Extent count)
{
    return type_holding(model, TYPE_SEQUENCE, item, count);
}

Type type_optional(Model *model, Type item, Extent present)
{
    return type_holding(model, TYPE_OPTIONAL, item, present);
}

int infer_set(Infer *infer, Node *node, int index, Type type)
{
    Value      *value = index < node->nout ? node->out[index] : NULL;
    const Type *part = &type;

    if (!value)
        return 0;
    while (part->kind != TYPE_TENSOR && part->item)
        part = part->item;
    if (part->kind == TYPE_TENSOR && part->dtype == DTYPE_C128)
        return diag_unsupported(infer->diag, node->loc,
                                "output %d '%s' holds complex128; use complex64, or two tensors of doubles", index,
                                value->name);
    if (type.kind == TYPE_TENSOR && value->declared.kind == TYPE_TENSOR && value->declared.dtype != DTYPE_NONE &&
        value->declared.dtype != type.dtype)
        return diag_error(infer->diag, node->loc, "output %d '%s' holds %s, but the model declares %s", index,
                          value->name, dtype_info(type.dtype)->name, dtype_info(value->declared.dtype)->name);
    if (infer_bound_type(infer, node, value, &type) < 0)
        return -1;
    value->type = type;
    return 0;
}

int infer_set_tensor(Infer *infer, Node *node, int index, DType dtype, int rank, const Extent *dim)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = dtype, .rank = rank};

    if (rank > MAX_RANK)
        return diag_unsupported(infer->diag, node->loc, "output %d would have rank %d; at most %d is supported", index,
                                rank, MAX_RANK);
    for (int i = 0; i < rank; i++)
        type.dim[i] = dim[i];
    return infer_set(infer, node, index, type);
}

int infer_set_same(Infer *infer, Node *node, int index)
{
    return infer_set(infer, node, index, infer_shaped(node->in[0]->type.dtype, &node->in[0]->type));
}

int infer_set_like(Infer *infer, Node *node, int index, int input)
{
    const Value *from = node->in[input];
    Type         type = from->type;

    type.text_bytes = 0;
    if (infer_set(infer, node, index, type) < 0)
        return -1;
    if (infer_wants(node, index) && from->elem)
        infer_track(infer, node, index, from->elem, from->nelem);
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- broadcasting */

static Extent aligned_extent(int rank, const Extent *dim, int out_rank, int axis)
{
    int own = axis - (out_rank - rank);

    return own < 0 ? extent_const(1) : dim[own];
}

/* Needs two extents to be equal or one of them to be 1. */
static int need_broadcast(Infer *infer, const Node *node, Extent x, Extent y, int axis)
{
    Model *model = infer->model;
    Extent one = extent_const(1), fits = extent_op(model, EXPR_EQ, x, y), single;
    char   text[160];

    single = extent_op(model, EXPR_EQ, x, one);
    fits = extent_op(model, EXPR_MAX, fits, single);
    single = extent_op(model, EXPR_EQ, y, one);
    fits = extent_op(model, EXPR_MAX, fits, single);
    snprintf(text, sizeof text, "extents %lld and %lld of axis %d do not broadcast; wanted equal ones or a 1",
             (long long)x.max, (long long)y.max, axis);
    return infer_check(infer, node, fits, text);
}

int infer_broadcast_dims(Infer *infer, const Node *node, int rank_a, const Extent *a, int rank_b, const Extent *b,
                         int *rank, Extent *out)
{
    Extent result[MAX_RANK];

    *rank = rank_a > rank_b ? rank_a : rank_b;
    for (int i = 0; i < *rank; i++) {
        Extent x = aligned_extent(rank_a, a, *rank, i), y = aligned_extent(rank_b, b, *rank, i);

        if (need_broadcast(infer, node, x, y, i) < 0)
            return -1;
        result[i] = extent_op(infer->model, EXPR_BCAST, x, y);
    }
    memcpy(out, result, sizeof *out * (size_t)*rank);
    return 0;
}

int infer_broadcast(Infer *infer, const Node *node, const Type *a, const Type *b, Type *out)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = a->dtype};

    if (infer_broadcast_dims(infer, node, a->rank, a->dim, b->rank, b->dim, &type.rank, type.dim) < 0)
        return -1;
    *out = type;
    return 0;
}

int infer_broadcast_inputs(Infer *infer, const Node *node, int first, int count, Type *out)
{
    bool any = false;

    for (int i = first; i < first + count; i++) {
        const Type *type = infer_in(node, i);
        if (!type)
            continue;
        if (infer_need_tensor(infer, node, i) < 0)
            return -1;
        if (!any)
            *out = infer_shaped(type->dtype, type);
        else if (infer_broadcast(infer, node, out, type, out) < 0)
            return -1;
        any = true;
    }
    return any ? 0 : diag_error(infer->diag, node->loc, "all inputs are omitted");
}
