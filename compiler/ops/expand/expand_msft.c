/* expand_msft.c - operators of com.microsoft that exporters and optimisers leave in models: fused activations and
 * products, convolution with channels last. */
#include "ops/expand/expand_rules.h"

/* ------------------------------------------------------------------------------------------------------ activations */

static Value *clipped(Expand *expand, Value *value, float low, float high)
{
    Value *least = make_float(expand->graph, low);

    return expand3(expand, OP_onnx_Clip, value, least, make_float(expand->graph, high));
}

static Value *activate(Expand *expand, Value *value)
{
    const char *name = node_string(expand->node, "activation", "");
    const Attr *params = node_attr(expand->node, "activation_params");
    float       first = params && params->kind == ATTR_FLOATS && params->count > 0 ? params->floats[0] : 0.01f;
    float       second = params && params->kind == ATTR_FLOATS && params->count > 1 ? params->floats[1] : 0.5f;
    OpKind      op = op_find("", name);

    if (op == OP_onnx_Clip)
        return clipped(expand, value, first, second);
    if (op != OP_onnx_Relu && op != OP_onnx_Tanh && op != OP_onnx_Sigmoid && op != OP_onnx_LeakyRelu &&
        op != OP_onnx_HardSigmoid)
        return NULL;
    value = expand1(expand, op, value);
    if (op == OP_onnx_LeakyRelu || op == OP_onnx_HardSigmoid)
        node_set_float(expand->last, "alpha", node_float(expand->node, "activation_alpha", first));
    if (op == OP_onnx_HardSigmoid)
        node_set_float(expand->last, "beta", node_float(expand->node, "activation_beta", second));
    return value;
}

static int give_activated(Expand *expand, Value *value)
{
    const char *name = node_string(expand->node, "activation", "");

    value = name[0] ? activate(expand, value) : value;
    if (!value)
        return diag_unsupported(expand->diag, expand->node->loc,
                                "found the fused activation '%s'; export the model without fusions", name);
    expand_give(expand, 0, value);
    return 0;
}

/* Copies the named attributes of the replaced node to the newest node. */
static void hand_attributes(Expand *expand, const char *const *name, int count)
{
    for (int i = 0; i < count; i++) {
        const Attr *attr = node_attr(expand->node, name[i]);
        if (attr)
            node_set_attr(expand->last, *attr);
    }
}

/* --------------------------------------------------------------------------------------------------- fused products */

int expand_fused_gemm(Expand *expand)
{
    static const char *const name[] = {"alpha", "beta", "transA", "transB"};
    Value *out = expand3(expand, OP_onnx_Gemm, expand_in(expand, 0), expand_in(expand, 1), expand_in(expand, 2));

    hand_attributes(expand, name, 4);
    return give_activated(expand, out);
}

int expand_fused_conv(Expand *expand)
{
    static const char *const name[] = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};
    Value *out = expand3(expand, OP_onnx_Conv, expand_in(expand, 0), expand_in(expand, 1), expand_in(expand, 2));

    hand_attributes(expand, name, 6);
    if (expand_in(expand, 3))
        out = expand2(expand, OP_onnx_Add, out, expand_in(expand, 3));
    return give_activated(expand, out);
}
