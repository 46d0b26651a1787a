/* upgrade_norm.c - older forms of normalisation, softmax and dropout. */
#include "onnx/upgrade.h"

static bool has_inputs(const Node *node, int count)
{
    for (int i = 0; i < count; i++)
        if (!upgrade_input(node, i))
            return false;
    return true;
}

/* Before version 13 the axes from `axis` on counted as one. */
int upgrade_softmax(Node *node, Diag *diag)
{
    int64_t axis = node_int(node, "axis", 1);
    int     rank = has_inputs(node, 1) ? upgrade_known_rank(node->in[0]) : -1;
    Value  *flat, *soft;

    if (node->opset >= 13)
        return 0;
    if (!has_inputs(node, 1))
        return diag_error(diag, node->loc, "found no input");
    if (axis == -1 || (rank >= 0 && axis == rank - 1)) {
        node_set_int(node, "axis", -1);
        return 0;
    }
    flat = upgrade_make1(node, OP_onnx_Flatten, node->in[0]);
    node_set_int(upgrade_maker(flat), "axis", axis);
    soft = upgrade_make1(node, node->op, flat);
    node_set_int(upgrade_maker(soft), "axis", -1);
    upgrade_become(node, OP_onnx_Reshape);
    upgrade_set_input(node, 1, upgrade_make1(node, OP_onnx_Shape, node->in[0]));
    node->in[0] = soft;
    node_set_int(node, "allowzero", 1);
    return 0;
}

/* Statistics per element instead of per channel: scale (x - mean) / sqrt(variance + epsilon) + bias, all of one
 * shape. */
static void normalise_each(Node *node)
{
    Value *x = node->in[0], *scale = node->in[1], *bias = node->in[2], *mean = node->in[3], *variance = node->in[4];
    Value *epsilon = upgrade_float_like(node, node_float(node, "epsilon", 1e-5f), variance);
    Value *deviation = upgrade_make1(node, OP_onnx_Sqrt, upgrade_make2(node, OP_onnx_Add, variance, epsilon));
    Value *centred = upgrade_make2(node, OP_onnx_Sub, x, mean);
    Value *scaled = upgrade_make2(node, OP_onnx_Mul, upgrade_make2(node, OP_onnx_Div, centred, deviation), scale);

    upgrade_become(node, OP_onnx_Add);
    upgrade_resize_inputs(node, 2);
    node->in[0] = scaled;
    node->in[1] = bias;
}

/* Versions before 14 trained when more than one output was wanted. */
int upgrade_batch_norm(Node *node, Diag *diag)
{
    bool each = node->opset < 9 && !node_int(node, "spatial", 1);
    int  wanted = node->nout;

    while (wanted > 0 && !node->out[wanted - 1])
        wanted--;
    if (node->opset >= 14)
        return 0;
    if (!has_inputs(node, 5))
        return diag_error(diag, node->loc, "found %d inputs, wanted 5", node->nin);
    if (wanted > 3 || (wanted > 1 && (each || node_int(node, "is_test", 0))))
        return diag_unsupported(diag, node->loc,
                                "a batch normalisation that trains with %d outputs; export the model for inference",
                                wanted);
    node->nout = wanted;
    node_drop_attr(node, "is_test");
    node_drop_attr(node, "spatial");
    if (each)
        normalise_each(node);
    else if (wanted > 1)
        node_set_int(node, "training_mode", 1);
    return 0;
}

/* Versions 18 to 20 scaled each group: an instance normalisation over [N][group][rest]. */
int upgrade_group_norm(Node *node, Diag *diag)
{
    const int64_t shape[] = {0, node_int(node, "num_groups", 0), -1};
    float         epsilon = node_float(node, "epsilon", 1e-5f);
    Value        *in[3], *normal;

    if (node->opset >= 21)
        return 0;
    if (!has_inputs(node, 3) || shape[1] < 1)
        return diag_error(diag, node->loc, "found %d inputs and %lld groups, wanted 3 and at least 1", node->nin,
                          (long long)shape[1]);
    in[0] = upgrade_make2(node, OP_onnx_Reshape, node->in[0], make_ints(node->graph, shape, 3));
    in[1] = node->in[1];
    in[2] = node->in[2];
    normal = upgrade_make(node, OP_onnx_InstanceNormalization, 3, in);
    node_set_float(upgrade_maker(normal), "epsilon", epsilon);
    in[0] = upgrade_make1(node, OP_onnx_Shape, node->in[0]);
    upgrade_become(node, OP_onnx_Reshape);
    upgrade_resize_inputs(node, 2);
    node->in[0] = normal;
    node->in[1] = in[0];
    return 0;
}

/* The mask of the versions before 10, numbers of the data's type: all 1, since nothing is dropped. */
static void mask_of_ones(Node *node)
{
    Value *one = upgrade_float_like(node, 1.0f, node->in[0]);
    Node  *ones =
        upgrade_maker(upgrade_make2(node, OP_onnx_Expand, one, upgrade_make1(node, OP_onnx_Shape, node->in[0])));

    ones->out[0] = node->out[1];
    ones->out[0]->def = ones;
    node->nout = 1;
}

/* Inference only: the ratio does not matter. */
int upgrade_dropout(Node *node, Diag *diag)
{
    if (node->opset >= 12)
        return 0;
    if (!has_inputs(node, 1))
        return diag_error(diag, node->loc, "found no input");
    if (node->opset < 10 && node->nout > 1 && node->out[1])
        mask_of_ones(node);
    node_drop_attr(node, "ratio");
    node_drop_attr(node, "is_test");
    return 0;
}
