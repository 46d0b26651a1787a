/* upgrade_broadcast.c - the one-sided broadcasting of operators before opset 7. Attribute `axis` named the place of the
 * smaller shape in the larger one. With axes of extent 1 behind it, today's rules do the same. */
#include "onnx/upgrade.h"

/* A copy of the constant with `count` further axes of extent 1. */
static Value *extend_constant(Value *value, int count)
{
    Type type = value->type;

    while (count-- > 0)
        type.dim[type.rank++] = extent_const(1);
    return value_constant(value->graph, NULL, type, value->data);
}

static Value *extend_known(Node *node, Value *value, int rank, int count)
{
    int64_t axes[MAX_RANK];

    if (value->data)
        return extend_constant(value, count);
    for (int i = 0; i < count; i++)
        axes[i] = rank + i;
    return upgrade_make2(node, OP_onnx_Unsqueeze, value, make_ints(node->graph, axes, count));
}

static Value *rank_of(Node *node, Value *value)
{
    return upgrade_make1(node, OP_onnx_Shape, upgrade_make1(node, OP_onnx_Shape, value));
}

/* Appends axes of extent 1 where a rank is unknown until inference, which folds these nodes. */
static Value *extend_computed(Node *node, Value *larger, Value *smaller, int64_t axis)
{
    Value *rank = rank_of(node, larger);
    Value *behind = upgrade_make2(node, OP_onnx_Sub, rank, make_int(node->graph, axis));
    Value *count = upgrade_make2(node, OP_onnx_Sub, behind, rank_of(node, smaller));
    Value *ones = upgrade_make2(node, OP_onnx_Expand, make_int(node->graph, 1), count);
    Value *shape = upgrade_make2(node, OP_onnx_Concat, upgrade_make1(node, OP_onnx_Shape, smaller), ones);

    node_set_int(upgrade_maker(shape), "axis", 0);
    return upgrade_make2(node, OP_onnx_Reshape, smaller, shape);
}

/* Input 1 of the node placed at `axis` of input 0. */
static int place_at(Node *node, int64_t axis, Diag *diag)
{
    int larger = upgrade_known_rank(node->in[0]), smaller = upgrade_known_rank(node->in[1]);

    if (larger < 0 || smaller < 0) {
        if (axis < 0)
            return diag_unsupported(diag, node->loc,
                                    "axis %lld of an input of unknown rank; give the input's shape in the model",
                                    (long long)axis);
        node->in[1] = extend_computed(node, node->in[0], node->in[1], axis);
        return 0;
    }
    axis += axis < 0 ? larger : 0;
    if (axis < 0 || axis + smaller > larger)
        return diag_error(diag, node->loc, "%d axes do not fit at axis %lld of %d", smaller, (long long)axis, larger);
    if (axis + smaller < larger)
        node->in[1] = extend_known(node, node->in[1], smaller, larger - smaller - (int)axis);
    return 0;
}

int upgrade_broadcast(Node *node, Diag *diag)
{
    const Attr *axis = node_attr(node, "axis");
    bool        place = node->opset < 7 && axis && node_int(node, "broadcast", 0);
    int64_t     at = node_int(node, "axis", 0);

    if (node->opset >= 7)
        return 0;
    node_drop_attr(node, "axis");
    node_drop_attr(node, "broadcast");
    if (node->nin < 2 || !node->in[0] || !node->in[1])
        return diag_error(diag, node->loc, "found %d inputs, wanted 2", node->nin);
    return place ? place_at(node, at, diag) : 0;
}

/* Before version 7 a slope with one axis was one number for each channel, axis 1. */
int upgrade_prelu(Node *node, Diag *diag)
{
    if (node->opset >= 7 || node->nin < 2 || !node->in[0] || !node->in[1])
        return 0;
    if (node->in[1]->data && type_elements(&node->in[1]->type) == 1)
        return 0;
    return upgrade_known_rank(node->in[1]) == 1 ? place_at(node, 1, diag) : 0;
}

int upgrade_gemm(Node *node, Diag *diag)
{
    (void)diag;
    if (node->opset < 7)
        node_drop_attr(node, "broadcast");
    return 0;
}
