/* expand_msft.c - operators of com.microsoft that exporters and optimisers leave in models. */
#include "ops/expand_rules.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ activations */

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
    if (op != OP_onnx_Relu && op != OP_onnx_Tanh && op != OP_onnx_Sigmoid && op != OP_onnx_LeakyRelu && op != OP_onnx_HardSigmoid)
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
        return diag_unsupported(expand->diag, expand->node->loc, "found the fused activation '%s'; export the model without fusions", name);
    expand_give(expand, 0, value);
    return 0;
}

/* The newest node takes over those attributes of the replaced one that are named here. */
static void hand_attributes(Expand *expand, const char *const *name, int count)
{
    for (int i = 0; i < count; i++) {
        const Attr *attr = node_attr(expand->node, name[i]);
        if (attr)
            node_set_attr(expand->last, *attr);
    }
}

/* -------------------------------------------------------------------------------------------------------- fused products */

static Value *turned(Expand *expand, Value *value, const char *name)
{
    int64_t perm[MAX_RANK];
    int     rank = expand_rank(value);

    if (!node_int(expand->node, name, 0) || rank < 2)
        return value;
    for (int i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return expand_transpose(expand, value, perm, rank);
}

int expand_fused_matmul(Expand *expand)
{
    Value *a = expand_in(expand, 0), *out;
    float  alpha = node_float(expand->node, "alpha", 1.0f);

    if (node_int(expand->node, "transBatchA", 0) || node_int(expand->node, "transBatchB", 0))
        return diag_unsupported(expand->diag, expand->node->loc, "found a transposed batch; export the model without fusions");
    out = turned(expand, a, "transA");
    out = expand2(expand, OP_onnx_MatMul, out, turned(expand, expand_in(expand, 1), "transB"));
    if (alpha != 1.0f)
        out = expand2(expand, OP_onnx_Mul, out, expand_number(expand, (double)alpha, a->type.dtype));
    expand_give(expand, 0, out);
    return 0;
}

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

/* ------------------------------------------------------------------------------------------------------------ GELU, norms */

int expand_gelu(Expand *expand)
{
    expand_give(expand, 0, expand1(expand, OP_onnx_Gelu, expand_in(expand, 0)));
    return 0;
}

int expand_fast_gelu(Expand *expand)
{
    Value *x = expand_in(expand, 0);

    if (expand_in(expand, 1))
        x = expand2(expand, OP_onnx_Add, x, expand_in(expand, 1));
    x = expand1(expand, OP_onnx_Gelu, x);
    node_set_string(expand->last, "approximate", "tanh");
    expand_give(expand, 0, x);
    return 0;
}

int expand_quick_gelu(Expand *expand)
{
    Value *x = expand_in(expand, 0), *alpha;

    alpha = expand_number(expand, (double)node_float(expand->node, "alpha", 1.702f), x->type.dtype);
    expand_give(expand, 0, expand2(expand, OP_onnx_Mul, x, expand1(expand, OP_onnx_Sigmoid, expand2(expand, OP_onnx_Mul, x, alpha))));
    return 0;
}

/* Inputs x, skip, scale, shift, bias; outputs the norm of the sum, its statistics, and the sum. */
int expand_skip_layer_norm(Expand *expand)
{
    Value *sum = expand2(expand, OP_onnx_Add, expand_in(expand, 0), expand_in(expand, 1)), *out;

    if (expand_in(expand, 4))
        sum = expand2(expand, OP_onnx_Add, sum, expand_in(expand, 4));
    out = expand3(expand, OP_onnx_LayerNormalization, sum, expand_in(expand, 2), expand_in(expand, 3));
    node_set_float(expand->last, "epsilon", node_float(expand->node, "epsilon", 1e-12f));
    expand_give(expand, 0, out);
    expand_give(expand, 1, expand_wants(expand, 1) ? expand_output(expand, 1) : NULL);
    expand_give(expand, 2, expand_wants(expand, 2) ? expand_output(expand, 2) : NULL);
    expand_give(expand, 3, sum);
    return 0;
}
