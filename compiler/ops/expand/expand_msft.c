/* expand_msft.c - operators of com.microsoft that exporters and optimisers leave in models: fused activations and
 * products, convolution with channels last, kinds of GELU. */
#include "ops/expand/expand_rules.h"

#include <string.h>

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

/* Transposes a factor for MatMul: its batch may be stored between its rows and columns, [rows][batch...][columns], and
 * both may be swapped. */
static Value *turned(Expand *expand, Value *value, const char *swap_name, const char *batch_name)
{
    bool    swap = node_int(expand->node, swap_name, 0) != 0, apart = node_int(expand->node, batch_name, 0) != 0;
    int     rank = expand_rank(value);
    int64_t perm[MAX_RANK], rows, columns;

    if (rank < 2 || (!swap && !apart))
        return value;
    rows = apart ? 0 : rank - 2;
    columns = rank - 1;
    for (int i = 0; i < rank - 2; i++)
        perm[i] = i + apart;
    perm[rank - 2] = swap ? columns : rows;
    perm[rank - 1] = swap ? rows : columns;
    return expand_transpose(expand, value, perm, rank);
}

int expand_fused_matmul(Expand *expand)
{
    Value *a = expand_in(expand, 0), *out;
    float  alpha = node_float(expand->node, "alpha", 1.0f);

    out = turned(expand, a, "transA", "transBatchA");
    out = expand2(expand, OP_onnx_MatMul, out, turned(expand, expand_in(expand, 1), "transB", "transBatchB"));
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

/* A convolution with channels last, [batch][spatial][channels]: transposes before and behind Conv. The weights are as
 * in Conv. */
int expand_nhwc_conv(Expand *expand)
{
    static const char *const name[] = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};
    int64_t                  first[MAX_RANK] = {0}, last[MAX_RANK] = {0};
    Value                   *x = expand_in(expand, 0), *out;
    int                      rank = expand_rank(x);

    first[1] = rank - 1;
    last[rank - 1] = 1;
    for (int i = 2; i < rank; i++) {
        first[i] = i - 1;
        last[i - 1] = i;
    }
    x = expand_transpose(expand, x, first, rank);
    out = expand3(expand, OP_onnx_Conv, x, expand_in(expand, 1), expand_in(expand, 2));
    hand_attributes(expand, name, 6);
    expand_give(expand, 0, expand_transpose(expand, out, last, rank));
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- GELU */

int expand_gelu(Expand *expand)
{
    expand_give(expand, 0, expand1(expand, OP_onnx_Gelu, expand_in(expand, 0)));
    return 0;
}

static Value *biased(Expand *expand)
{
    Value *x = expand_in(expand, 0), *bias = expand_in(expand, 1);

    return bias ? expand2(expand, OP_onnx_Add, x, bias) : x;
}

int expand_bias_gelu(Expand *expand)
{
    expand_give(expand, 0, expand1(expand, OP_onnx_Gelu, biased(expand)));
    return 0;
}

/* The first half of the channels times the GELU of the second half. */
int expand_bias_split_gelu(Expand *expand)
{
    Value *half = expand1(expand, OP_onnx_Split, biased(expand)), *gate = expand_output(expand, 1);

    node_set_int(expand->last, "axis", -1);
    node_set_int(expand->last, "num_outputs", 2);
    expand_give(expand, 0, expand2(expand, OP_onnx_Mul, half, expand1(expand, OP_onnx_Gelu, gate)));
    return 0;
}

int expand_fast_gelu(Expand *expand)
{
    Value *x = expand1(expand, OP_onnx_Gelu, biased(expand));

    node_set_string(expand->last, "approximate", "tanh");
    expand_give(expand, 0, x);
    return 0;
}

int expand_quick_gelu(Expand *expand)
{
    Value *x = expand_in(expand, 0), *alpha;

    alpha = expand_number(expand, (double)node_float(expand->node, "alpha", 1.702f), x->type.dtype);
    expand_give(
        expand, 0,
        expand2(expand, OP_onnx_Mul, x, expand1(expand, OP_onnx_Sigmoid, expand2(expand, OP_onnx_Mul, x, alpha))));
    return 0;
}
