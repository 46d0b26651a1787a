/* upgrade_axes.c - attributes that became inputs: axes, shapes, counts. */
#include "onnx/upgrade.h"

/* A list attribute becomes input `index`; absent: the input is left out. */
static void list_to_input(Node *node, const char *name, int index)
{
    int            count;
    const int64_t *list = node_ints(node, name, &count);

    if (list)
        upgrade_set_input(node, index, make_ints(node->graph, list, count));
    node_drop_attr(node, name);
}

static int need_input(Diag *diag, const Node *node)
{
    if (node->nin && node->in[0])
        return 0;
    return diag_error(diag, node->loc, "found no first input");
}

int upgrade_squeeze(Node *node, Diag *diag)
{
    if (need_input(diag, node))
        return -1;
    if (node->opset < 13)
        list_to_input(node, "axes", 1);
    return 0;
}

static int reduce_before(Node *node, int version, Diag *diag)
{
    if (need_input(diag, node))
        return -1;
    if (node->opset < version)
        list_to_input(node, "axes", 1);
    return 0;
}

int upgrade_reduce(Node *node, Diag *diag)
{
    return reduce_before(node, 18, diag);
}

int upgrade_reduce_sum(Node *node, Diag *diag)
{
    return reduce_before(node, 13, diag);
}

int upgrade_slice(Node *node, Diag *diag)
{
    int starts, ends;

    if (node->opset >= 10)
        return 0;
    if (need_input(diag, node))
        return -1;
    node_ints(node, "starts", &starts);
    node_ints(node, "ends", &ends);
    if (!starts || starts != ends)
        return diag_error(diag, node->loc, "found %d starts and %d ends, wanted as many of each", starts, ends);
    list_to_input(node, "starts", 1);
    list_to_input(node, "ends", 2);
    list_to_input(node, "axes", 3);
    return 0;
}

/* Version 1 also took the sizes as an input; before 18 their absence meant equal parts, one for each output. */
int upgrade_split(Node *node, Diag *diag)
{
    if (need_input(diag, node))
        return -1;
    if (node->opset < 2 && upgrade_input(node, 1)) { /* sizes of the data's own element type */
        upgrade_set_input(node, 1, upgrade_make1(node, OP_onnx_Cast, node->in[1]));
        node_set_int(upgrade_maker(node->in[1]), "to", DTYPE_I64);
    }
    if (node->opset < 13)
        list_to_input(node, "split", 1);
    if (node->opset < 18 && !upgrade_input(node, 1))
        node_set_int(node, "num_outputs", node->nout);
    return 0;
}

int upgrade_pad(Node *node, Diag *diag)
{
    float value = node_float(node, "value", 0.0f);

    if (node->opset >= 11)
        return 0;
    if (need_input(diag, node))
        return -1;
    list_to_input(node, node->opset < 2 ? "paddings" : "pads", 1);
    if (!upgrade_input(node, 1))
        return diag_error(diag, node->loc, "found no pads");
    if (value != 0.0f)
        upgrade_set_input(node, 2, upgrade_float_like(node, value, node->in[0]));
    node_drop_attr(node, "value");
    return 0;
}

int upgrade_top_k(Node *node, Diag *diag)
{
    if (node->opset >= 10)
        return 0;
    if (need_input(diag, node))
        return -1;
    if (!node_attr(node, "k"))
        return diag_error(diag, node->loc, "found no attribute 'k'");
    upgrade_set_input(node, 1, make_int(node->graph, node_int(node, "k", 0)));
    node_drop_attr(node, "k");
    return 0;
}

int upgrade_reshape(Node *node, Diag *diag)
{
    int            count;
    const int64_t *shape = node_ints(node, "shape", &count);

    if (node->opset >= 5)
        return 0;
    if (need_input(diag, node))
        return -1;
    upgrade_set_input(node, 1, make_ints(node->graph, shape, count));
    node_drop_attr(node, "shape");
    return 0;
}

/* Version 1: the axis defaulted to 0; from version 4 on it is required. */
int upgrade_concat(Node *node, Diag *diag)
{
    (void)diag;
    if (node->opset < 4 && !node_attr(node, "axis"))
        node_set_int(node, "axis", 1);
    return 0;
}

/* Version 1 repeated one axis: (data, count, axis) become repeats that are 1 elsewhere. */
int upgrade_tile(Node *node, Diag *diag)
{
    Value *rank, *ones, *scatter[3];

    if (node->opset >= 6 || node->nin < 3)
        return 0;
    if (need_input(diag, node) || !node->in[1] || !node->in[2])
        return diag_error(diag, node->loc, "found fewer than the inputs data, tiles and axis");
    rank = upgrade_make1(node, OP_onnx_Shape, upgrade_make1(node, OP_onnx_Shape, node->in[0]));
    ones = upgrade_make2(node, OP_onnx_Expand, make_int(node->graph, 1), rank);
    scatter[0] = ones;
    for (int i = 1; i < 3; i++) {
        scatter[i] = upgrade_make2(node, OP_onnx_CastLike, node->in[3 - i], rank);
        scatter[i] = upgrade_make2(node, OP_onnx_Reshape, scatter[i], make_int(node->graph, 1));
    }
    node->in[1] = upgrade_make(node, OP_onnx_ScatterElements, 3, scatter);
    upgrade_resize_inputs(node, 2);
    return 0;
}

int upgrade_dft(Node *node, Diag *diag)
{
    if (node->opset >= 20)
        return 0;
    if (need_input(diag, node))
        return -1;
    upgrade_set_input(node, 2, make_scalar(node->graph, node_int(node, "axis", 1)));
    node_drop_attr(node, "axis");
    return 0;
}
