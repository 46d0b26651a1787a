/* expand_norm.c - normalisations, written with means, square roots and products. */
#include "ops/expand/expand_rules.h"

/* The element type of the statistics: attribute stash_type, by default float. */
static DType stash(const Expand *expand)
{
    return (DType)node_int(expand->node, "stash_type", DTYPE_F32);
}

static Value *epsilon_of(Expand *expand, double otherwise, DType dtype)
{
    const Attr *attr = node_attr(expand->node, "epsilon");

    return expand_number(expand, attr && attr->kind == ATTR_FLOAT ? (double)attr->f : otherwise, dtype);
}

/* x minus its mean over axes first..last. *mean: that mean. */
static Value *centre(Expand *expand, Value *x, int first, int last, Value **mean)
{
    *mean = expand_reduce(expand, OP_onnx_ReduceMean, x, first, last, 1);
    return expand2(expand, OP_onnx_Sub, x, *mean);
}

static Value *inverse_deviation(Expand *expand, Value *centred, int first, int last, DType dtype)
{
    Value *square = expand2(expand, OP_onnx_Mul, centred, centred);
    Value *variance = expand_reduce(expand, OP_onnx_ReduceMean, square, first, last, 1);
    Value *sum = expand2(expand, OP_onnx_Add, variance, epsilon_of(expand, 1e-5, dtype));

    return expand1(expand, OP_onnx_Reciprocal, expand1(expand, OP_onnx_Sqrt, sum));
}

int expand_layer_norm(Expand *expand)
{
    Value *x = expand_in(expand, 0), *bias = expand_in(expand, 2), *mean, *centred, *inverse, *normal, *scaled;
    int    rank = expand_rank(x), axis = expand_axis(expand, "axis", -1, rank);
    DType  wide = stash(expand), dtype = x->type.dtype;

    centred = centre(expand, expand_cast(expand, x, wide), axis, rank - 1, &mean);
    inverse = inverse_deviation(expand, centred, axis, rank - 1, wide);
    normal = expand2(expand, OP_onnx_Mul, centred, inverse);
    if (wide != dtype)
        normal = expand_cast(expand, normal, dtype);
    scaled = expand2(expand, OP_onnx_Mul, normal, expand_in(expand, 1));
    if (bias)
        scaled = expand2(expand, OP_onnx_Add, scaled, bias);
    expand_give(expand, 0, scaled);
    expand_give(expand, 1, mean);
    expand_give(expand, 2, inverse);
    return 0;
}

int expand_rms_norm(Expand *expand)
{
    Value *x = expand_in(expand, 0), *wide_x, *square, *root, *normal;
    int    rank = expand_rank(x), axis = expand_axis(expand, "axis", -1, rank);
    DType  wide = stash(expand), dtype = x->type.dtype;

    wide_x = expand_cast(expand, x, wide);
    square = expand_reduce(expand, OP_onnx_ReduceMean, expand2(expand, OP_onnx_Mul, wide_x, wide_x), axis, rank - 1, 1);
    root = expand1(expand, OP_onnx_Sqrt, expand2(expand, OP_onnx_Add, square, epsilon_of(expand, 1e-5, wide)));
    normal = expand2(expand, OP_onnx_Div, wide_x, root);
    if (wide != dtype)
        normal = expand_cast(expand, normal, dtype);
    expand_give(expand, 0, expand2(expand, OP_onnx_Mul, normal, expand_in(expand, 1)));
    return 0;
}

/* Reshapes [C] to [C][1]..., which broadcasts to [N][C][...] of this rank. */
static Value *per_channel(Expand *expand, Value *value, int rank)
{
    int64_t shape[MAX_RANK] = {-1, 1, 1, 1, 1, 1, 1, 1};

    return rank > 2 ? expand_reshape(expand, value, shape, rank - 1) : value;
}

static Value *scale_and_shift(Expand *expand, Value *normal, Value *scale, Value *bias, int rank)
{
    Value *scaled = expand2(expand, OP_onnx_Mul, normal, per_channel(expand, scale, rank));

    return expand2(expand, OP_onnx_Add, scaled, per_channel(expand, bias, rank));
}

int expand_group_norm(Expand *expand)
{
    Value        *x = expand_in(expand, 0), *grouped, *mean, *centred, *normal;
    int64_t       groups = node_int(expand->node, "num_groups", 1);
    const int64_t shape[] = {0, groups, -1};
    int           rank = expand_rank(x);
    DType         wide = stash(expand), dtype = x->type.dtype;

    grouped = expand_reshape(expand, expand_cast(expand, x, wide), shape, 3);
    centred = centre(expand, grouped, 2, 2, &mean);
    normal = expand2(expand, OP_onnx_Mul, centred, inverse_deviation(expand, centred, 2, 2, wide));
    normal = expand_reshape_like(expand, normal, x);
    if (wide != dtype)
        normal = expand_cast(expand, normal, dtype);
    expand_give(expand, 0, scale_and_shift(expand, normal, expand_in(expand, 1), expand_in(expand, 2), rank));
    return 0;
}

int expand_instance_norm(Expand *expand)
{
    Value *x = expand_in(expand, 0), *mean, *centred, *normal;
    int    rank = expand_rank(x);

    centred = centre(expand, x, 2, rank - 1, &mean);
    normal = expand2(expand, OP_onnx_Mul, centred, inverse_deviation(expand, centred, 2, rank - 1, x->type.dtype));
    expand_give(expand, 0, scale_and_shift(expand, normal, expand_in(expand, 1), expand_in(expand, 2), rank));
    return 0;
}

/* momentum * old + (1 - momentum) * now: the running statistics of training. */
static Value *running(Expand *expand, Value *old, Value *now)
{
    double momentum = (double)node_float(expand->node, "momentum", 0.9f);
    DType  dtype = old->type.dtype;
    Value *kept = expand2(expand, OP_onnx_Mul, old, expand_number(expand, momentum, dtype));
    Value *added = expand2(expand, OP_onnx_Mul, now, expand_number(expand, 1.0 - momentum, dtype));

    return expand2(expand, OP_onnx_Add, kept, added);
}

/* Mean and variance, [C], of the current batch. */
static void batch_statistics(Expand *expand, Value *x, Value **mean, Value **variance)
{
    int64_t axes[MAX_RANK] = {0};
    int     count = 1, rank = expand_rank(x);
    Value  *centred;

    for (int axis = 2; axis < rank; axis++)
        axes[count++] = axis;
    *mean = expand_axes(expand, OP_onnx_ReduceMean, x, axes, count, 0);
    centred = expand2(expand, OP_onnx_Sub, x, per_channel(expand, *mean, rank));
    *variance = expand_axes(expand, OP_onnx_ReduceMean, expand2(expand, OP_onnx_Mul, centred, centred), axes, count, 0);
}

/* x * factor + shift. Both are [C], and constant in a trained network. */
int expand_batch_norm(Expand *expand)
{
    Value *x = expand_in(expand, 0), *scale = expand_in(expand, 1), *bias = expand_in(expand, 2),
          *mean = expand_in(expand, 3);
    Value *variance = expand_in(expand, 4), *factor, *root, *now_mean, *now_variance;
    DType  dtype = x->type.dtype;

    if (node_int(expand->node, "training_mode", 0)) {
        batch_statistics(expand, x, &now_mean, &now_variance);
        expand_give(expand, 1, running(expand, mean, now_mean));
        expand_give(expand, 2, running(expand, variance, now_variance));
        mean = now_mean;
        variance = now_variance;
    }
    root =
        expand1(expand, OP_onnx_Sqrt,
                expand2(expand, OP_onnx_Add, variance,
                        epsilon_of(expand, 1e-5, variance->type.dtype == DTYPE_NONE ? dtype : variance->type.dtype)));
    factor = expand2(expand, OP_onnx_Div, scale, root);
    bias = expand2(expand, OP_onnx_Sub, bias, expand2(expand, OP_onnx_Mul, mean, factor));
    expand_give(expand, 0, scale_and_shift(expand, x, factor, bias, expand_rank(x)));
    return 0;
}

int expand_mean_variance_norm(Expand *expand)
{
    static const int64_t usual[] = {0, 2, 3};
    Value               *x = expand_in(expand, 0), *mean, *centred, *deviation;
    int                  count;
    const int64_t       *axes = node_ints(expand->node, "axes", &count);

    if (!axes) {
        axes = usual;
        count = 3;
    }
    mean = expand_axes(expand, OP_onnx_ReduceMean, x, axes, count, 1);
    centred = expand2(expand, OP_onnx_Sub, x, mean);
    deviation = expand_axes(expand, OP_onnx_ReduceMean, expand2(expand, OP_onnx_Mul, centred, centred), axes, count, 1);
    deviation = expand1(expand, OP_onnx_Sqrt, deviation);
    deviation = expand2(expand, OP_onnx_Add, deviation, expand_number(expand, 1e-9, x->type.dtype));
    expand_give(expand, 0, expand2(expand, OP_onnx_Div, centred, deviation));
    return 0;
}

/* Divides each vector by its norm; a vector of zeros stays. */
int expand_lp_norm(Expand *expand)
{
    Value *x = expand_in(expand, 0), *zero = expand_number(expand, 0, x->type.dtype), *norm, *is_zero;
    int    axis = expand_axis(expand, "axis", -1, expand_rank(x));

    norm = expand_reduce(expand, node_int(expand->node, "p", 2) == 1 ? OP_onnx_ReduceL1 : OP_onnx_ReduceL2, x, axis,
                         axis, 1);
    is_zero = expand2(expand, OP_onnx_Equal, norm, zero);
    expand_give(expand, 0, expand3(expand, OP_onnx_Where, is_zero, zero, expand2(expand, OP_onnx_Div, x, norm)));
    return 0;
}

/* Local response normalisation. The mean of squares over neighbouring channels is an average pooling along the
 * channels, which counts padding. It needs the channels last: a transpose before and behind. Where channels are
 * neighbours in memory anyway, these copy nothing, and the means can overwrite the squares. */
int expand_lrn(Expand *expand)
{
    Value        *x = expand_in(expand, 0), *last, *mean, *base;
    int64_t       size = node_int(expand->node, "size", 1), to[MAX_RANK], from[MAX_RANK];
    const int64_t shape[] = {0, 1, -1, x->type.dim[1].max}, kernel[] = {1, size},
                  pads[] = {0, (size - 1) / 2, 0, size / 2};
    DType dtype = x->type.dtype;
    int   rank = expand_rank(x);

    if (!extent_is_const(x->type.dim[1]))
        return diag_unsupported(expand->diag, expand->node->loc,
                                "found a run-time number of channels; make it constant");
    for (int i = 0; i < rank; i++) {
        to[i] = i == 0 ? 0 : i + 1 < rank ? i + 1 : 1;
        from[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
    }
    last = expand_transpose(expand, expand2(expand, OP_onnx_Mul, x, x), to, rank);
    mean = expand1(expand, OP_onnx_AveragePool, expand_reshape(expand, last, shape, 4));
    node_set_ints(expand->last, "kernel_shape", kernel, 2);
    node_set_ints(expand->last, "pads", pads, 4);
    node_set_int(expand->last, "count_include_pad", 1);
    mean = expand_transpose(expand, expand_reshape_like(expand, mean, last), from, rank);
    base = expand2(expand, OP_onnx_Mul, mean,
                   expand_number(expand, (double)node_float(expand->node, "alpha", 1e-4f), dtype));
    base = expand2(expand, OP_onnx_Add, base,
                   expand_number(expand, (double)node_float(expand->node, "bias", 1.0f), dtype));
    base = expand2(expand, OP_onnx_Pow, base,
                   expand_number(expand, (double)node_float(expand->node, "beta", 0.75f), dtype));
    expand_give(expand, 0, expand2(expand, OP_onnx_Div, x, base));
    return 0;
}

int expand_global_lp_pool(Expand *expand)
{
    Value  *x = expand_in(expand, 0), *sum;
    int64_t p = node_int(expand->node, "p", 2);
    int     last = expand_rank(x) - 1;
    DType   dtype = x->type.dtype;

    if (p == 1 || p == 2) {
        expand_give(expand, 0, expand_reduce(expand, p == 1 ? OP_onnx_ReduceL1 : OP_onnx_ReduceL2, x, 2, last, 1));
        return 0;
    }
    sum = expand1(expand, OP_onnx_Abs, x);
    sum = expand2(expand, OP_onnx_Pow, sum, expand_number(expand, (double)p, dtype));
    sum = expand_reduce(expand, OP_onnx_ReduceSum, sum, 2, last, 1);
    expand_give(expand, 0, expand2(expand, OP_onnx_Pow, sum, expand_number(expand, 1.0 / (double)p, dtype)));
    return 0;
}
