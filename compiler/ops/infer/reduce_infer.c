/* reduce_infer.c - types of reductions and running sums. */
#include "infer/axes.h"
#include "infer/data_propagation.h"
#include "ops/rules.h"

/* Finds the axes that are reduced: input 1, else all axes, or none with noop_with_empty_axes. */
static int reduced_axes(Infer *infer, const Node *node, Axes *axes)
{
    int rank = node->in[0]->type.rank;

    if (axes_read(infer, node, 1, rank, axes) < 0)
        return -1;
    if (axes->count <= 0 && !node_int(node, "noop_with_empty_axes", 0)) {
        axes->count = rank;
        for (int i = 0; i < rank; i++)
            axes->named[i] = extent_const(1);
    }
    return 0;
}

/* A small vector reduced to one element. */
static void propagate_reduce(Infer *infer, Node *node)
{
    Extent       elem[INFER_TRACKED], all;
    PropagatedOp op = propagated_op(node->op);
    int          count;

    if (op == PROPAGATED_NONE || !infer_wants(node, 0) || type_elements(&node->out[0]->type) != 1 ||
        !dtype_in(node->out[0]->type.dtype, "IUB") || !infer_known(node->in[0], elem, &count) || !count)
        return;
    all = elem[0];
    for (int i = 1; i < count; i++)
        all = propagated_apply(infer, op, all, elem[i]);
    infer_track(infer, node, 0, &all, 1);
}

int infer_reduce(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type = {.kind = TYPE_TENSOR};
    Axes        axes;

    if (reduced_axes(infer, node, &axes) < 0)
        return -1;
    type.dtype = x->dtype;
    type.rank = x->rank;
    if (node_int(node, "keepdims", 1))
        for (int i = 0; i < x->rank; i++)
            type.dim[i] = extent_select(infer->model, axes.named[i], extent_const(1), x->dim[i]);
    else
        type.rank = axes_drop(infer, &axes, x, type.dim);
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_reduce(infer, node);
    return 0;
}

int infer_arg_reduce(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type = {.kind = TYPE_TENSOR, .dtype = DTYPE_I64};
    int         axis;

    if (infer_axis(infer, node, node_int(node, "axis", 0), x->rank, &axis) < 0)
        return -1;
    if (x->dim[axis].max == 0)
        return diag_error(infer->diag, node->loc, "axis %d is empty; wanted at least one element", axis);
    for (int i = 0; i < x->rank; i++)
        if (i != axis || node_int(node, "keepdims", 1))
            type.dim[type.rank++] = i == axis ? extent_const(1) : x->dim[i];
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    infer_track_range(infer, node, 0, 0, x->dim[axis].max - 1);
    return 0;
}

static void propagate_running(Infer *infer, Node *node)
{
    Extent elem[INFER_TRACKED];
    int    count;

    if (node->in[0]->type.rank != 1 || node_int(node, "exclusive", 0) || node_int(node, "reverse", 0) ||
        !dtype_in(node->in[0]->type.dtype, "IU") || !infer_known(node->in[0], elem, &count))
        return;
    for (int i = 1; i < count; i++)
        elem[i] = propagated_apply(infer, propagated_op(node->op), elem[i - 1], elem[i]);
    infer_track(infer, node, 0, elem, count);
}

/* The axis may be known only at run time; the type does not depend on it. */
int infer_cumulative(Infer *infer, Node *node)
{
    Extent axis;
    int    rank;

    rank = node->in[0]->type.rank;
    if (infer_elems(infer, node, 1, -rank, rank - 1, &axis, 1) < 0 || infer_set_same(infer, node, 0) < 0)
        return -1;
    propagate_running(infer, node);
    return 0;
}
