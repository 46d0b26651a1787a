/* expand_quant.c - QLinearConv, QLinearMatMul and QGemm with constant parameters become sums of bytes;
 * QLinearConcat. */
#include "ops/expand/expand_rules.h"
#include "ops/quant/integer_weights.h"

#include <math.h>

static void keep_attributes(Expand *expand)
{
    expand->last->attr = expand->node->attr;
    expand->last->nattr = expand->node->nattr;
}

/* A quantised operator whose second operand is constant: places of its inputs among those of the node. */
typedef struct Quantised {
    OpKind op;            /* what becomes of it */
    int    axis;          /* of outputs in the weights */
    bool   swap;          /* the weights are transposed */
    float  alpha;         /* a factor of the first scale */
    int    bias;          /* input */
    int    y_scale, zero; /* inputs: scale and zero point of the result; without a scale it is a float */
} Quantised;

/* For each of `count` outputs: alpha times the product of the scales at inputs 1 and 4, divided by that of the result.
 * NULL: a scale is not constant. */
static Value *constant_scale(Expand *expand, const Quantised *form, int64_t count)
{
    double      *scale = arena_array(expand->model->arena, double, count + 1), x, y = 1.0;
    const Value *divisor = expand_in(expand, form->y_scale);

    if (!integer_scales(expand_in(expand, 1), 1, &x) || (divisor && !integer_scales(divisor, 1, &y)) ||
        !integer_scales(expand_in(expand, 4), count, scale))
        return NULL;
    for (int64_t i = 0; i < count; i++)
        scale[i] = (double)((float)x * form->alpha * (float)scale[i] / (float)y);
    return integer_scale(expand->graph, scale, count);
}

/* A bias that is omitted, or one constant integer for each output, along the last axis. */
static bool is_bias(const Value *bias, int64_t count)
{
    return !bias ||
           (bias->data && bias->type.dtype == DTYPE_I32 && type_is_static(&bias->type) && bias->type.rank > 0 &&
            bias->type.dim[bias->type.rank - 1].max == count && type_elements(&bias->type) == count);
}

/* A quantised operator with constant parameters becomes a sum that rounds and stores bytes itself. Returns false if a
 * parameter is not constant. */
static bool give_sums(Expand *expand, const Quantised *form)
{
    const Value *w = expand_in(expand, 3), *zero = expand_in(expand, 2);
    Value       *in[5] = {expand_in(expand, 0), NULL, NULL, expand_in(expand, 2), expand_in(expand, form->bias)}, *sum;
    double       number;

    if (in[0]->data || !w->data || !type_is_static(&w->type) || (zero && !const_scalar(zero, &number)) ||
        !is_bias(in[4], w->type.dim[form->axis].max))
        return false;
    in[1] = integer_weights(expand->graph, w, expand_in(expand, 5), form->axis, form->swap);
    in[2] = in[1] ? constant_scale(expand, form, w->type.dim[form->axis].max) : NULL;
    if (!in[2])
        return false;
    sum = expand_make(expand, form->op, 5, in);
    if (form->op == OP_ours_IntegerConv)
        keep_attributes(expand);
    if (expand_in(expand, form->y_scale))
        sum = expand3(expand, OP_onnx_QuantizeLinear, sum, expand_number(expand, 1.0, DTYPE_F32),
                      expand_in(expand, form->zero));
    expand_give(expand, 0, sum);
    return true;
}

int expand_qlinear_conv(Expand *expand)
{
    const Quantised form = {OP_ours_IntegerConv, 0, false, 1.0f, 8, 6, 7};
    int             rank = expand_rank(expand_in(expand, 0));

    return rank >= 3 && rank <= 5 && give_sums(expand, &form) ? 0 : expand_text(expand);
}

int expand_qlinear_matmul(Expand *expand)
{
    const Quantised form = {OP_ours_IntegerProduct, 1, false, 1.0f, 8, 6, 7};
    bool            matrices = expand_rank(expand_in(expand, 0)) >= 2 && expand_rank(expand_in(expand, 3)) == 2;

    return matrices && give_sums(expand, &form) ? 0 : expand_text(expand);
}

/* The result has a scale and a zero point, or neither. */
int expand_qgemm(Expand *expand)
{
    const Node *node = expand->node;
    bool        swap = node_int(node, "transB", 0) != 0;
    Quantised   form = {OP_ours_IntegerProduct, swap ? 0 : 1, swap, node_float(node, "alpha", 1.0f), 6, 7, 8};
    bool        whole = !expand_in(expand, 7) == !expand_in(expand, 8);

    return whole && !node_int(node, "transA", 0) && isfinite(form.alpha) && form.alpha != 0.0f &&
                   give_sums(expand, &form)
               ? 0
               : expand_text(expand);
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
