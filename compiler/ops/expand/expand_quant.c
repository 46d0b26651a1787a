/* expand_quant.c - QLinearConv and QLinearMatMul with constant parameters become sums of bytes; QLinearConcat. */
#include "ops/expand/expand_rules.h"
#include "ops/quant/integer_weights.h"

static void keep_attributes(Expand *expand)
{
    expand->last->attr = expand->node->attr;
    expand->last->nattr = expand->node->nattr;
}

/* For each of `count` outputs: the product of the scales at inputs 1 and 4, divided by that at input 6. NULL: a scale
 * is not constant. */
static Value *constant_scale(Expand *expand, int64_t count)
{
    double *scale = arena_array(expand->model->arena, double, count + 1), x, y;

    if (!integer_scales(expand_in(expand, 1), 1, &x) || !integer_scales(expand_in(expand, 6), 1, &y) ||
        !integer_scales(expand_in(expand, 4), count, scale))
        return NULL;
    for (int64_t i = 0; i < count; i++)
        scale[i] = (double)((float)x * (float)scale[i] / (float)y);
    return integer_scale(expand->graph, scale, count);
}

/* QLinearConv and QLinearMatMul with constant parameters become sums that round and store bytes themselves. `axis`: the
 * axis of outputs in the weights. Returns false if a parameter is not constant. */
static bool give_sums(Expand *expand, OpKind op, int axis)
{
    const Value *w = expand_in(expand, 3), *zero = expand_in(expand, 2);
    Value       *in[5] = {expand_in(expand, 0), NULL, NULL, expand_in(expand, 2), expand_in(expand, 8)}, *sum;
    double       number;

    if (in[0]->data || !w->data || !type_is_static(&w->type) || !const_scalar(zero, &number) || (in[4] && !in[4]->data))
        return false;
    in[1] = integer_weights(expand->graph, w, expand_in(expand, 5), axis, false);
    in[2] = in[1] ? constant_scale(expand, w->type.dim[axis].max) : NULL;
    if (!in[2])
        return false;
    sum = expand_make(expand, op, 5, in);
    keep_attributes(expand);
    sum = expand3(expand, OP_onnx_QuantizeLinear, sum, expand_number(expand, 1.0, DTYPE_F32), expand_in(expand, 7));
    expand_give(expand, 0, sum);
    return true;
}

int expand_qlinear_conv(Expand *expand)
{
    int rank = expand_rank(expand_in(expand, 0));

    return rank >= 3 && rank <= 5 && give_sums(expand, OP_ours_IntegerConv, 0) ? 0 : expand_text(expand);
}

int expand_qlinear_matmul(Expand *expand)
{
    bool matrices = expand_rank(expand_in(expand, 0)) >= 2 && expand_rank(expand_in(expand, 3)) == 2;

    return matrices && give_sums(expand, OP_ours_IntegerProduct, 1) ? 0 : expand_text(expand);
}

/* Inputs: scale and zero point of the result, then for each part a tensor, its scale and its zero point. */
int expand_qlinear_concat(Expand *expand)
{
    int     count = (expand->node->nin - 2) / 3;
    Value **part = arena_array(expand->model->arena, Value *, count + 1), *y, *zero = expand_in(expand, 1);

    for (int i = 0; i < count; i++)
        part[i] = expand3(expand, OP_onnx_DequantizeLinear, expand_in(expand, 2 + 3 * i), expand_in(expand, 3 + 3 * i),
                          expand_in(expand, 4 + 3 * i));
    y = expand_make(expand, OP_onnx_Concat, count, part);
    keep_attributes(expand);
    y = expand3(expand, OP_onnx_QuantizeLinear, y, expand_in(expand, 0), zero);
    if (!zero)
        node_set_int(expand->last, "output_dtype", expand_in(expand, 2)->type.dtype);
    expand_give(expand, 0, y);
    return 0;
}
