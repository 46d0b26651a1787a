/* select_infer.c - types of operators whose result's extent depends on the data, or on an order of it. */
#include "infer/infer.h"
#include "ops/rules.h"

int infer_non_zero(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Extent      dim[2];

    dim[0] = extent_const(x->rank);
    if (infer_unknown_extent(infer, node, 0, 1, type_elements(x), &dim[1]) < 0)
        return -1;
    return infer_set_tensor(infer, node, 0, DTYPE_I64, 2, dim);
}

/* The number of elements that a condition keeps; counted here when the condition is constant. */
static int kept(Infer *infer, Node *node, int axis, Extent extent, Extent *out)
{
    const Value *condition = node->in[1];
    Extent       elem[INFER_TRACKED], sum = extent_const(0);
    int          count;
    int64_t      most = type_elements(&condition->type);

    if (infer_known(condition, elem, &count)) {
        for (int i = 0; i < count; i++)
            sum = infer_add(infer, sum, elem[i]);
        *out = sum;
        return 0;
    }
    return infer_unknown_extent(infer, node, 0, axis, most < extent.max ? most : extent.max, out);
}

int infer_compress(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    const Attr *attr = node_attr(node, "axis");
    Type        type;
    int         axis = 0;

    if (attr && infer_axis(infer, node, attr->i, x->rank, &axis) < 0)
        return -1;
    type = infer_shaped(x->dtype, x);
    if (!attr) {
        type.rank = 1;
        type.dim[0] = type_count(infer->model, x);
    }
    return kept(infer, node, axis, type.dim[axis], &type.dim[axis]) < 0 ? -1 : infer_set(infer, node, 0, type);
}

/* Outputs: the distinct elements, first places, for each input element its place among them, counts. */
int infer_unique(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    const Attr *attr = node_attr(node, "axis");
    Type        type;
    Extent      whole, found;
    int         axis = 0;

    if (attr && infer_axis(infer, node, attr->i, x->rank, &axis) < 0)
        return -1;
    type = infer_shaped(x->dtype, x);
    whole = attr ? x->dim[axis] : type_count(infer->model, x);
    if (infer_unknown_extent(infer, node, 0, axis, whole.max, &found) < 0)
        return -1;
    if (!attr)
        type.rank = 1;
    type.dim[axis] = found;
    if (infer_set(infer, node, 0, type) < 0 || infer_set_tensor(infer, node, 1, DTYPE_I64, 1, &found) < 0 ||
        infer_set_tensor(infer, node, 2, DTYPE_I64, 1, &whole) < 0)
        return -1;
    return infer_set_tensor(infer, node, 3, DTYPE_I64, 1, &found);
}

int infer_top_k(Infer *infer, Node *node)
{
    Type   type;
    Extent k;
    int    axis;

    if (infer_axis(infer, node, node_int(node, "axis", -1), node->in[0]->type.rank, &axis) < 0)
        return -1;
    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    if (infer_elems(infer, node, 1, 0, type.dim[axis].max, &k, 1) < 0 ||
        infer_check(
            infer, node,
            extent_op(infer->model, EXPR_EQ, extent_op(infer->model, EXPR_LT, type.dim[axis], k), extent_const(0)),
            "k is larger than the extent that it selects from") < 0)
        return -1;
    type.dim[axis] = k;
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    type.dtype = DTYPE_I64;
    if (infer_set(infer, node, 1, type) < 0)
        return -1;
    infer_track_range(infer, node, 1, 0, node->in[0]->type.dim[axis].max - 1);
    return 0;
}

/* boxes [batch][n][4], scores [batch][classes][n]: triples (batch, class, box), as many as pass. */
int infer_non_max_suppression(Infer *infer, Node *node)
{
    const Type *boxes = infer_in(node, 0), *scores = infer_in(node, 1);
    Extent      most, dim[2];
    int64_t     count;

    if (infer_need_equal(infer, node, boxes->dim[0], scores->dim[0], "batches of boxes and scores") < 0 ||
        infer_need_equal(infer, node, boxes->dim[1], scores->dim[2], "numbers of boxes and scores") < 0 ||
        infer_need_equal(infer, node, boxes->dim[2], extent_const(4), "corners of a box") < 0)
        return -1;
    if (!infer_has(node, 2))
        most = extent_const(0);
    else if (infer_elems(infer, node, 2, INT64_MIN, INT64_MAX, &most, 1) < 0)
        return -1;
    most = infer_clamp(infer, most, extent_const(0), boxes->dim[1]);
    count = infer_mul(infer, infer_mul(infer, scores->dim[0], scores->dim[1]), most).max;
    if (infer_unknown_extent(infer, node, 0, 0, count, &dim[0]) < 0)
        return -1;
    dim[1] = extent_const(3);
    return infer_set_tensor(infer, node, 0, DTYPE_I64, 2, dim);
}
