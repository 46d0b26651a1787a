/* axes.c - axes that an input names; see axes.h. */
#include "infer/axes.h"

Extent axes_match(Infer *infer, const Axes *axes, int entry, int axis, int rank)
{
    Extent front = extent_op(infer->model, EXPR_EQ, axes->entry[entry], extent_const(axis));
    Extent back = extent_op(infer->model, EXPR_EQ, axes->entry[entry], extent_const(axis - rank));

    return extent_op(infer->model, EXPR_MAX, front, back);
}

/* Checks that no axis is named twice: the number of named axes equals the number of entries. */
static int check_distinct(Infer *infer, const Node *node, const Axes *axes, int rank)
{
    Extent total = extent_const(0);

    for (int i = 0; i < rank; i++)
        total = infer_add(infer, total, axes->named[i]);
    return infer_check(infer, node, extent_op(infer->model, EXPR_EQ, total, extent_const(axes->count)),
                       "an axis is given twice");
}

int axes_read(Infer *infer, const Node *node, int input, int rank, Axes *out)
{
    *out = (Axes){.count = -1, .constant = true};
    for (int i = 0; i < rank; i++)
        out->named[i] = extent_const(0);
    if (!infer_has(node, input))
        return 0;
    if (infer_need_dtype(infer, node, input, "I") < 0 || infer_need_rank(infer, node, input, 0, 1) < 0)
        return -1;
    if (type_elements(&node->in[input]->type) > rank)
        return diag_error(infer->diag, node->loc, "%lld axes are named, but there are %d",
                          (long long)type_elements(&node->in[input]->type), rank);
    out->count = infer_elems(infer, node, input, -rank, rank - 1, out->entry, MAX_RANK);
    if (out->count < 0)
        return -1;
    for (int i = 0; i < rank; i++)
        for (int k = 0; k < out->count; k++)
            out->named[i] = extent_op(infer->model, EXPR_MAX, out->named[i], axes_match(infer, out, k, i, rank));
    for (int i = 0; i < rank; i++)
        out->constant &= out->named[i].expr < 0;
    return check_distinct(infer, node, out, rank);
}

static Extent unnamed(Infer *infer, const Axes *axes, int axis)
{
    return extent_op(infer->model, EXPR_EQ, axes->named[axis], extent_const(0));
}

int axes_drop(Infer *infer, const Axes *axes, const Type *x, Extent *out)
{
    int    rank = x->rank - (axes->count < 0 ? 0 : axes->count);
    Extent place = extent_const(0); /* of axis i among those that stay */

    for (int k = 0; k < rank; k++)
        out[k] = extent_const(0);
    for (int i = 0; i < x->rank; i++) {
        Extent stays = unnamed(infer, axes, i);
        for (int k = 0; k < rank; k++) {
            Extent here =
                extent_op(infer->model, EXPR_MIN, stays, extent_op(infer->model, EXPR_EQ, place, extent_const(k)));
            out[k] = extent_select(infer->model, here, x->dim[i], out[k]);
        }
        place = infer_add(infer, place, stays);
    }
    return rank;
}

int axes_insert(Infer *infer, const Axes *axes, const Type *x, Extent *out)
{
    int    rank = x->rank + (axes->count < 0 ? 0 : axes->count);
    Extent from = extent_const(0); /* the axis of x that comes next */

    for (int i = 0; i < rank; i++) {
        Extent next = extent_const(0);
        for (int k = 0; k < x->rank; k++)
            next =
                extent_select(infer->model, extent_op(infer->model, EXPR_EQ, from, extent_const(k)), x->dim[k], next);
        out[i] = extent_select(infer->model, axes->named[i], extent_const(1), next);
        from = infer_add(infer, from, unnamed(infer, axes, i));
    }
    return rank;
}
