/* expand_quant.c - quantised operators, written as integer products with scales, or as float operators between
 * DequantizeLinear and QuantizeLinear. Passes and lowering turn those into integer kernels. */
#include "ops/expand/expand_rules.h"
#include "ops/quant/integer_weights.h"

/* ----------------------------------------------------------------------------------------------------------- pieces */

static void keep_attributes(Expand *expand)
{
    expand->last->attr = expand->node->attr;
    expand->last->nattr = expand->node->nattr;
}

/* Dequantises the tensor at input `index`; inputs index + 1 and index + 2 are its scale and its zero point. */
static Value *dequantised(Expand *expand, int index)
{
    return expand3(expand, OP_onnx_DequantizeLinear, expand_in(expand, index), expand_in(expand, index + 1),
                   expand_in(expand, index + 2));
}

/* Quantises the result by the scale at input `index` and the zero point at index + 1. Without a zero point, the result
 * has the type of input `like`. */
static void give_quantised(Expand *expand, Value *value, int index, int like)
{
    Value *zero = expand_in(expand, index + 1);

    value = expand3(expand, OP_onnx_QuantizeLinear, value, expand_in(expand, index), zero);
    if (!zero)
        node_set_int(expand->last, "output_dtype", expand_in(expand, like)->type.dtype);
    expand_give(expand, 0, value);
}

static bool is_single(const Value *value)
{
    return value->type.rank == 0 ||
           (value->type.rank == 1 && extent_is_const(value->type.dim[0]) && value->type.dim[0].max == 1);
}

/* Reshapes a vector over channels so that it broadcasts to [batch][channels][spatial ...]. */
static Value *along_channels(Expand *expand, Value *value, int rank)
{
    static const int64_t shape[MAX_RANK] = {-1, 1, 1, 1, 1, 1, 1, 1};

    return !value || is_single(value) ? value : expand_reshape(expand, value, shape, rank - 1);
}

static Value *as_float(Expand *expand, Value *value)
{
    return expand_cast(expand, value, DTYPE_F32);
}

/* An integer sum times the scales of its factors. It is divided by the result's scale, unless y is NULL: then the
 * result is a float. */
static Value *rescaled(Expand *expand, Value *sum, Value *a, Value *b, Value *y)
{
    Value *scale = as_float(expand, a);

    scale = expand2(expand, OP_onnx_Mul, scale, as_float(expand, b));
    if (y)
        scale = expand2(expand, OP_onnx_Div, scale, as_float(expand, y));
    return expand2(expand, OP_onnx_Mul, as_float(expand, sum), scale);
}

/* Gives saturate(round(value) + zero point); the value is divided by the scale already. */
static void give_rounded(Expand *expand, Value *value, Value *zero)
{
    expand_give(expand, 0, expand3(expand, OP_onnx_QuantizeLinear, value, expand_number(expand, 1.0, DTYPE_F32), zero));
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
    give_rounded(expand, sum, expand_in(expand, 7));
    return true;
}

/* --------------------------------------------------------------------------------------------- ONNX's own operators */

int expand_qlinear_conv(Expand *expand)
{
    Value *in[] = {expand_in(expand, 0), expand_in(expand, 3), expand_in(expand, 2), expand_in(expand, 5)}, *sum;
    int    rank = expand_rank(in[0]);

    if (rank >= 3 && rank <= 5 && give_sums(expand, OP_ours_IntegerConv, 0))
        return 0;
    sum = expand_make(expand, OP_onnx_ConvInteger, 4, in);
    keep_attributes(expand);
    if (expand_in(expand, 8))
        sum = expand2(expand, OP_onnx_Add, sum, along_channels(expand, expand_in(expand, 8), rank));
    give_rounded(expand,
                 rescaled(expand, sum, expand_in(expand, 1), along_channels(expand, expand_in(expand, 4), rank),
                          expand_in(expand, 6)),
                 expand_in(expand, 7));
    return 0;
}

/* Reshapes zero points or scales of rows to columns, so that they broadcast over the second last axis. */
static Value *along_rows(Expand *expand, Value *value)
{
    return !value || value->type.rank != 1 || is_single(value) ? value : expand_unsqueeze(expand, value, 1);
}

int expand_qlinear_matmul(Expand *expand)
{
    Value *in[] = {expand_in(expand, 0), expand_in(expand, 3), expand_in(expand, 2), expand_in(expand, 5)}, *sum;

    if (expand_rank(in[0]) >= 2 && expand_rank(in[1]) == 2 && give_sums(expand, OP_ours_IntegerProduct, 1))
        return 0;
    sum = expand_make(expand, OP_onnx_MatMulInteger, 4, in);
    give_rounded(
        expand,
        rescaled(expand, sum, along_rows(expand, expand_in(expand, 1)), expand_in(expand, 4), expand_in(expand, 6)),
        expand_in(expand, 7));
    return 0;
}

/* ------------------------------------------------------------------------------------------ com.microsoft: products */

/* alpha * a' * b' + c, where a' and b' are dequantised and c is an integer at the product's scale. */
int expand_qgemm(Expand *expand)
{
    static const int64_t swap[] = {1, 0};
    Value *in[] = {expand_in(expand, 0), expand_in(expand, 3), expand_in(expand, 2), expand_in(expand, 5)}, *sum,
          *scale;
    double alpha = (double)node_float(expand->node, "alpha", 1.0f);

    if (node_int(expand->node, "transA", 0))
        in[0] = expand_transpose(expand, in[0], swap, 2);
    if (node_int(expand->node, "transB", 0))
        in[1] = expand_transpose(expand, in[1], swap, 2);
    sum = expand_make(expand, OP_onnx_MatMulInteger, 4, in);
    if (expand_in(expand, 6))
        sum = expand2(expand, OP_onnx_Add, sum, expand_in(expand, 6));
    scale = expand_in(expand, 1);
    if (alpha != 1.0)
        scale = expand2(expand, OP_onnx_Mul, scale, expand_number(expand, alpha, DTYPE_F32));
    sum = rescaled(expand, sum, scale, expand_in(expand, 4), expand_in(expand, 7));
    if (expand_in(expand, 8))
        give_rounded(expand, sum, expand_in(expand, 8));
    else
        expand_give(expand, 0, sum);
    return 0;
}

/* Gives a float product. Inputs: a, b, scales of a and b, zero points of a and b, bias. */
static void give_float_product(Expand *expand, Value *const *in)
{
    Value *product[] = {in[0], in[1], in[4], in[5]}, *sum = expand_make(expand, OP_onnx_MatMulInteger, 4, product);

    sum = rescaled(expand, sum, in[2], in[3], NULL);
    expand_give(expand, 0, in[6] ? expand2(expand, OP_onnx_Add, sum, in[6]) : sum);
}

int expand_matmul_integer_to_float(Expand *expand)
{
    Value *in[7];

    for (int i = 0; i < 7; i++)
        in[i] = expand_in(expand, i);
    give_float_product(expand, in);
    return 0;
}

/* Inputs: a, b, scale and zero point of b, bias. The range of a at run time decides its quantisation. */
int expand_dynamic_quantize_matmul(Expand *expand)
{
    Value *in[7] = {
        NULL, expand_in(expand, 1), NULL, expand_in(expand, 2), NULL, expand_in(expand, 3), expand_in(expand, 4)};

    in[0] = expand1(expand, OP_onnx_DynamicQuantizeLinear, expand_in(expand, 0));
    in[2] = expand_output(expand, 1);
    in[4] = expand_output(expand, 2);
    give_float_product(expand, in);
    return 0;
}

/* ----------------------------------------------- com.microsoft: float operators between dequantising and quantising */

int expand_msft_dequantize(Expand *expand)
{
    Value *y = dequantised(expand, 0);

    keep_attributes(expand);
    expand_give(expand, 0, y);
    return 0;
}

int expand_msft_quantize(Expand *expand)
{
    Value *y =
        expand3(expand, OP_onnx_QuantizeLinear, expand_in(expand, 0), expand_in(expand, 1), expand_in(expand, 2));

    keep_attributes(expand);
    expand_give(expand, 0, y);
    return 0;
}

static int expand_binary(Expand *expand, OpKind op)
{
    Value *a = dequantised(expand, 0), *b = dequantised(expand, 3);

    give_quantised(expand, expand2(expand, op, a, b), 6, 0);
    return 0;
}

int expand_qlinear_add(Expand *expand)
{
    return expand_binary(expand, OP_onnx_Add);
}

int expand_qlinear_mul(Expand *expand)
{
    return expand_binary(expand, OP_onnx_Mul);
}

static int expand_unary(Expand *expand, OpKind op)
{
    Value *y = expand1(expand, op, dequantised(expand, 0));

    keep_attributes(expand);
    give_quantised(expand, y, 3, 0);
    return 0;
}

int expand_qlinear_sigmoid(Expand *expand)
{
    return expand_unary(expand, OP_onnx_Sigmoid);
}

int expand_qlinear_leaky_relu(Expand *expand)
{
    return expand_unary(expand, OP_onnx_LeakyRelu);
}

int expand_qlinear_average_pool(Expand *expand)
{
    return expand_unary(expand, OP_onnx_AveragePool);
}

int expand_qlinear_global_average_pool(Expand *expand)
{
    return expand_unary(expand, OP_onnx_GlobalAveragePool);
}

/* Before opset 13, Softmax joined all axes from `axis` on. For the last axis that is the same as today. */
int expand_qlinear_softmax(Expand *expand)
{
    int     rank = expand_rank(expand_in(expand, 0));
    int64_t opset = node_int(expand->node, "opset", 13);

    if (opset < 13 && expand_axis(expand, "axis", 1, rank) != rank - 1)
        return diag_unsupported(expand->diag, expand->node->loc,
                                "found Softmax of opset %lld over several axes; export it with opset 13",
                                (long long)opset);
    return expand_unary(expand, OP_onnx_Softmax);
}

/* Inputs: scale and zero point of the result, then for each part a tensor, its scale and its zero point. */
int expand_qlinear_concat(Expand *expand)
{
    int     count = (expand->node->nin - 2) / 3;
    Value **part = arena_array(expand->model->arena, Value *, count + 1), *y;

    for (int i = 0; i < count; i++)
        part[i] = dequantised(expand, 2 + 3 * i);
    y = expand_make(expand, OP_onnx_Concat, count, part);
    keep_attributes(expand);
    give_quantised(expand, y, 0, 2);
    return 0;
}

/* Reduces all axes if `axes` is empty. */
int expand_qlinear_reduce_mean(Expand *expand)
{
    int            count, keep = (int)node_int(expand->node, "keepdims", 1);
    const int64_t *axes = node_ints(expand->node, "axes", &count);
    Value         *x = dequantised(expand, 0);

    x = count ? expand_axes(expand, OP_onnx_ReduceMean, x, axes, count, keep)
              : expand_reduce(expand, OP_onnx_ReduceMean, x, 0, expand_rank(expand_in(expand, 0)) - 1, keep);
    give_quantised(expand, x, 3, 0);
    return 0;
}

int expand_qlinear_where(Expand *expand)
{
    Value *x = dequantised(expand, 1), *y = dequantised(expand, 4);

    give_quantised(expand, expand3(expand, OP_onnx_Where, expand_in(expand, 0), x, y), 7, 1);
    return 0;
}
