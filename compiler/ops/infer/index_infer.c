/* index_infer.c - types of operators that pick elements by index, or write them there. */
#include "infer/infer.h"
#include "ops/rules.h"

/* ----------------------------------------------------------------------------------------------------------- Gather */

/* One element of a followed vector: the element at `at`, if `at` is a constant inside; else a symbol between the least
 * and the greatest element. */
static Extent pick(Infer *infer, const Node *node, const Extent *elem, int count, Extent at, int index)
{
    int64_t lo = INT64_MAX, hi = INT64_MIN, place = at.max + (at.max < 0 ? count : 0);

    if (at.expr < 0 && place >= 0 && place < count)
        return elem[place];
    for (int i = 0; i < count; i++) {
        lo = extent_min(infer->model, elem[i]) < lo ? extent_min(infer->model, elem[i]) : lo;
        hi = elem[i].max > hi ? elem[i].max : hi;
    }
    return extent_symbol(infer->model, EXPR_ELEM, node->out[0]->id, index, lo, hi);
}

static void propagate_gather(Infer *infer, Node *node)
{
    Extent elem[INFER_TRACKED], index[INFER_TRACKED], out[INFER_TRACKED];
    int    count, n;

    if (!infer_wants(node, 0) || node->in[0]->type.rank != 1 || !dtype_in(node->out[0]->type.dtype, "IUB") ||
        !infer_known(node->in[0], elem, &count) || !count || type_elements(&node->in[1]->type) > INFER_TRACKED)
        return;
    if (!infer_known(node->in[1], index, &n)) {
        n = (int)type_elements(&node->in[1]->type);
        for (int i = 0; i < n; i++)
            index[i] = (Extent){0, 0};
    }
    for (int i = 0; i < n; i++)
        out[i] = pick(infer, node, elem, count, index[i], i);
    infer_track(infer, node, 0, out, n);
}

int infer_gather(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *index = infer_in(node, 1);
    Type        type = {.kind = TYPE_TENSOR};
    int         axis;

    if (infer_axis(infer, node, node_int(node, "axis", 0), x->rank, &axis) < 0)
        return -1;
    if (x->rank + index->rank - 1 > MAX_RANK)
        return diag_unsupported(infer->diag, node->loc, "the result would have rank %d; at most %d is supported",
                                x->rank + index->rank - 1, MAX_RANK);
    type.dtype = x->dtype;
    for (int i = 0; i < x->rank; i++) {
        if (i != axis)
            type.dim[type.rank++] = x->dim[i];
        for (int k = 0; i == axis && k < index->rank; k++)
            type.dim[type.rank++] = index->dim[k];
    }
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_gather(infer, node);
    return 0;
}

/* Each index stands for a place of x: beside `axis` its own coordinates say where, so they may not lead outside. */
static int need_within(Infer *infer, const Node *node, int axis)
{
    const Type *x = infer_in(node, 0), *index = infer_in(node, 1);

    for (int i = 0; i < x->rank; i++) {
        Extent outside = extent_op(infer->model, EXPR_LT, x->dim[i], index->dim[i]);

        if (i != axis && infer_check(infer, node, extent_op(infer->model, EXPR_EQ, outside, extent_const(0)),
                                     "the indices have a larger extent than the data beside the axis") < 0)
            return -1;
    }
    return 0;
}

int infer_gather_elements(Infer *infer, Node *node)
{
    int axis, rank;

    rank = node->in[0]->type.rank;
    if (infer_need_rank(infer, node, 1, rank, rank) < 0 ||
        infer_axis(infer, node, node_int(node, "axis", 0), rank, &axis) < 0 || need_within(infer, node, axis) < 0)
        return -1;
    return infer_set(infer, node, 0, infer_shaped(node->in[0]->type.dtype, &node->in[1]->type));
}

/* The last axis of the indices holds places along the axes after the batch axes; it must be constant. */
static int index_depth(Infer *infer, const Node *node, int batch, int64_t *depth)
{
    const Type *x = infer_in(node, 0), *index = infer_in(node, 1);

    if (index->dim[index->rank - 1].expr >= 0)
        return diag_unsupported(infer->diag, node->loc,
                                "the last extent of the indices is known only while running; pin it with --dim");
    *depth = index->dim[index->rank - 1].max;
    if (batch < 0 || batch >= index->rank || *depth < 1 || batch + *depth > x->rank)
        return diag_error(infer->diag, node->loc,
                          "indices of %lld places after %d batch axes do not fit a tensor of rank %d",
                          (long long)*depth, batch, x->rank);
    return 0;
}

int infer_gather_nd(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *index = infer_in(node, 1);
    int64_t     batch = node_int(node, "batch_dims", 0), depth;
    Type        type = {.kind = TYPE_TENSOR};

    if (batch < 0 || batch > MAX_RANK || index_depth(infer, node, (int)batch, &depth) < 0)
        return -1;
    if (index->rank - 1 + x->rank - batch - depth > MAX_RANK)
        return diag_unsupported(infer->diag, node->loc, "the result would have more than %d axes", MAX_RANK);
    type.dtype = x->dtype;
    for (int i = 0; i < index->rank - 1; i++)
        type.dim[type.rank++] = index->dim[i];
    for (int i = (int)(batch + depth); i < x->rank; i++)
        type.dim[type.rank++] = x->dim[i];
    for (int i = 0; i < batch; i++)
        if (infer_need_equal(infer, node, x->dim[i], index->dim[i], "batch extents") < 0)
            return -1;
    return infer_set(infer, node, 0, type);
}

/* ---------------------------------------------------------------------------------------------------------- Scatter */

int infer_scatter_elements(Infer *infer, Node *node)
{
    int axis, rank;

    rank = node->in[0]->type.rank;
    if (infer_need_rank(infer, node, 1, rank, rank) < 0 || infer_need_same_shape(infer, node, 1, 2) < 0 ||
        infer_axis(infer, node, node_int(node, "axis", 0), rank, &axis) < 0 || need_within(infer, node, axis) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

int infer_scatter_nd(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *index = infer_in(node, 1), *update = infer_in(node, 2);
    int64_t     depth;
    int         prefix;

    if (index_depth(infer, node, 0, &depth) < 0)
        return -1;
    prefix = index->rank - 1;
    if (update->rank != prefix + x->rank - depth)
        return diag_error(infer->diag, node->loc, "the updates have rank %d, wanted %lld", update->rank,
                          (long long)(prefix + x->rank - depth));
    for (int i = 0; i < update->rank; i++)
        if (infer_need_equal(infer, node, update->dim[i], i < prefix ? index->dim[i] : x->dim[i - prefix + depth],
                             "extents of the updates") < 0)
            return -1;
    return infer_set_same(infer, node, 0);
}

/* Updates are written into a cache along one axis, each batch member at its own place. */
int infer_tensor_scatter(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *update = infer_in(node, 1);
    int         axis;

    if (infer_need_rank(infer, node, 1, x->rank, x->rank) < 0 ||
        infer_axis(infer, node, node_int(node, "axis", -2), x->rank, &axis) < 0 ||
        infer_need_vector(infer, node, 2, x->dim[0]) < 0)
        return -1;
    if (axis == 0)
        return diag_error(infer->diag, node->loc, "axis 0 is the batch, wanted another one");
    for (int i = 0; i < x->rank; i++)
        if (i != axis && infer_need_equal(infer, node, x->dim[i], update->dim[i], "extents of cache and update") < 0)
            return -1;
    return infer_set_same(infer, node, 0);
}

/* The axis of the depth is new; `depth` may be given as a float. */
int infer_one_hot(Infer *infer, Node *node)
{
    const Type *index = infer_in(node, 0);
    Extent      depth;
    Type        type = {.kind = TYPE_TENSOR};
    int         axis, n, from = 0;

    if (infer_need_vector(infer, node, 2, extent_const(2)) < 0 ||
        infer_axis(infer, node, node_int(node, "axis", -1), index->rank + 1, &axis) < 0)
        return -1;
    if (dtype_in(node->in[1]->type.dtype, "FL")) {
        if (!infer_known(node->in[1], &depth, &n) || depth.expr >= 0)
            if (infer_unknown_extent(infer, node, 0, axis, -1, &depth) < 0)
                return -1;
    } else if (infer_elems(infer, node, 1, 0, INT64_MAX, &depth, 1) < 0)
        return -1;
    type.dtype = node->in[2]->type.dtype;
    type.rank = index->rank + 1;
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = i == axis ? depth : index->dim[from++];
    return infer_set(infer, node, 0, type);
}
