/* view_lower.c - operators that only rename axes or cut: views of the same bytes, and a copy only where strides cannot
 * express the result. */
#include "infer/infer.h"
#include "lower/lower.h"
#include "ops/rules.h"

/* Copies where strides cannot express the result. Contiguous channels stay contiguous (a channel shuffle), so that the
 * convolutions around it keep their layout. */
static int reshape_by_copy(Lower *lower, const Node *node, Operand x)
{
    const Type *type = &node->out[0]->type;
    Operand     y, like;

    if (lower_layout_of(&x) == LAYOUT_CHANNELS_LAST && type->rank > 3) {
        if (lower_output(lower, node, 0, LAYOUT_CHANNELS_LAST, &y) < 0)
            return -1;
        if (operand_reshape(lower, y, x.rank, x.dim, &like))
            return lower_copy(lower, node, x, like);
        if (lower_dense(lower, x, &x) < 0)
            return -1;
        return operand_reshape(lower, x, type->rank, type->dim, &like) ? lower_copy(lower, node, like, y) : -1;
    }
    if (lower_dense(lower, x, &x) < 0)
        return -1;
    if (!operand_reshape(lower, x, type->rank, type->dim, &like))
        return diag_bug(lower->diag, node->loc, "a dense tensor cannot be reshaped");
    return lower_output_view(lower, node, 0, like);
}

/* Reshape, Flatten, Squeeze, Unsqueeze: the same elements in row-major order under other extents. */
int lower_reshape(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Operand     x, view;

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    if (!type_is_static(type) || !type_is_static(&node->in[0]->type)) {
        Extent before = type_count(lower->model, &node->in[0]->type);

        if (lower_check(lower, extent_op(lower->model, EXPR_EQ, before, type_count(lower->model, type))) < 0)
            return -1;
    }
    if (!operand_reshape(lower, x, type->rank, type->dim, &view))
        return reshape_by_copy(lower, node, x);
    return lower_output_view(lower, node, 0, view);
}

int lower_transpose(Lower *lower, const Node *node)
{
    int            axes[MAX_RANK], count;
    const int64_t *perm = node_ints(node, "perm", &count);
    Operand        x;

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    for (int i = 0; i < x.rank; i++)
        axes[i] = perm ? (int)perm[i] + (perm[i] < 0 ? x.rank : 0) : x.rank - 1 - i;
    return lower_output_view(lower, node, 0, operand_permute(x, axes));
}

/* A view of the same bytes as another type. A boolean result is computed, since its bytes must be 0 or 1. */
int lower_bit_cast(Lower *lower, const Node *node)
{
    DType            to = node->out[0]->type.dtype;
    const DTypeInfo *info = dtype_info(to);
    Operand          x;

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    if (info->bits != 8 * info->bytes && to != x.dtype && to != DTYPE_BOOL)
        return diag_unsupported(lower->diag, node->loc,
                                "found elements of %d bits, which are stored in a byte each; cast them to 8 bits "
                                "before",
                                info->bits);
    if (to == DTYPE_BOOL && lower_convert(lower, x, to, &x) < 0)
        return -1;
    x.dtype = to;
    return lower_output_view(lower, node, 0, x);
}

int lower_expand(Lower *lower, const Node *node)
{
    const Type *type = &node->out[0]->type;
    Operand     x;

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    return lower_output_view(lower, node, 0, operand_broadcast(lower, x, type->rank, type->dim));
}

int lower_split(Lower *lower, const Node *node)
{
    Extent  start = extent_const(0);
    int     axis = node_axis(node, 0, node->in[0]->type.rank);
    Operand x;

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    for (int i = 0; i < node->nout; i++) {
        Extent count = node->out[i] ? node->out[i]->type.dim[axis] : extent_const(0);

        if (node->out[i] && lower_output_part(lower, node, i, operand_window(lower, x, axis, start, count, 1)) < 0)
            return -1;
        start = extent_op(lower->model, EXPR_ADD, start, count);
    }
    return 0;
}

/* Whether the members already lie one after the other in a larger buffer, so that the whole is a view. */
static bool lie_adjacent(Lower *lower, const Node *node, int axis, Operand *whole)
{
    Operand x;

    for (int i = 0; i < node->nin; i++) {
        if (lower_input(lower, node, i, &x) < 0 || x.buffer < 0 || !operand_is_static(&x))
            return false;
        if (i == 0) {
            *whole = x;
            continue;
        }
        if (x.buffer != whole->buffer || x.dtype != whole->dtype ||
            x.offset.max != whole->offset.max + whole->dim[axis].max * whole->stride[axis].max)
            return false;
        for (int k = 0; k < x.rank; k++)
            if (x.stride[k].max != whole->stride[k].max || (k != axis && x.dim[k].max != whole->dim[k].max))
                return false;
        whole->dim[axis].max += x.dim[axis].max;
    }
    return node->nin > 1;
}

/* Members computed in place need no step; the others are copied into their window. */
int lower_concat(Lower *lower, const Node *node)
{
    Extent  start = extent_const(0);
    int     axis = node_axis(node, 1, node->out[0]->type.rank);
    Layout  layout = LAYOUT_ROW_MAJOR;
    Operand y, x, whole;

    if (!type_is_static(&node->out[0]->type)) /* of use where no input lies in its place yet */
        layout = lower_wanted_layout(lower, node->out[0], layout);
    for (int i = 0; i < node->nin; i++) {
        if (lower_input(lower, node, i, &x) < 0)
            return -1;
        if (lower_layout_of(&x) == LAYOUT_CHANNELS_LAST)
            layout = LAYOUT_CHANNELS_LAST;
    }
    if (!lower->no_elision && node->in[0]->type.dtype != DTYPE_TEXT && lie_adjacent(lower, node, axis, &whole))
        if (!lower->inside[node->out[0]->id].parent) /* not itself placed inside another concatenation */
            return lower_output_view(lower, node, 0, whole);
    if (lower_output(lower, node, 0, layout, &y) < 0)
        return -1;
    for (int i = 0; i < node->nin; i++) {
        Operand window = operand_window(lower, y, axis, start, node->in[i]->type.dim[axis], 1);

        start = extent_op(lower->model, EXPR_ADD, start, node->in[i]->type.dim[axis]);
        if (lower_input(lower, node, i, &x) < 0)
            return -1;
        if (lower_copy(lower, node, x, window) < 0)
            return -1;
    }
    return 0;
}
