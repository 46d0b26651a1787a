/* expand_skip.c - normalisations as optimisers of transformers write them: of a sum with a skip connection, and of
 * embeddings. */
#include "ops/expand/expand_rules.h"

static float epsilon_of(const Expand *expand, float otherwise)
{
    return node_float(expand->node, "epsilon", otherwise);
}

/* The value, or a half as a float. Sums and norms of halves are computed in float, and only the results are rounded, as
 * in ONNX Runtime. */
static Value *widened(Expand *expand, Value *value)
{
    DType dtype = value->type.dtype;

    return dtype == DTYPE_F16 || dtype == DTYPE_BF16 ? expand_cast(expand, value, DTYPE_F32) : value;
}

/* Gives output `index` in the type of `like` if that is a half, else as it is. */
static void give_as(Expand *expand, int index, Value *value, const Value *like)
{
    DType dtype = like->type.dtype;

    if (expand_wants(expand, index))
        expand_give(expand, index,
                    dtype == DTYPE_F16 || dtype == DTYPE_BF16 ? expand_cast(expand, value, dtype) : value);
}

/* ------------------------------------------------------------------------------------------------- root mean square */

/* One over the root mean square along axes axis..last. */
static Value *inverse_root(Expand *expand, Value *x, int axis, float epsilon)
{
    Value *mean = expand_reduce(expand, OP_onnx_ReduceMean, expand2(expand, OP_onnx_Mul, x, x), axis,
                                expand_rank(expand_in(expand, 0)) - 1, 1);
    Value *sum = expand2(expand, OP_onnx_Add, mean, expand_number(expand, (double)epsilon, DTYPE_F32));

    return expand1(expand, OP_onnx_Reciprocal, expand1(expand, OP_onnx_Sqrt, sum));
}

/* Input 1 is the scale. Output 1 is the factor of each row: one over its root mean square. */
int expand_simplified_layer_norm(Expand *expand)
{
    Value *x = expand_in(expand, 0), *wide = widened(expand, x), *out;
    int    axis = expand_axis(expand, "axis", -1, expand_rank(x));
    float  epsilon = epsilon_of(expand, 1e-5f);

    if (expand_wants(expand, 1))
        expand_give(expand, 1, inverse_root(expand, expand_cast(expand, wide, DTYPE_F32), axis, epsilon));
    out = expand2(expand, OP_onnx_RMSNormalization, wide, widened(expand, expand_in(expand, 1)));
    node_set_int(expand->last, "axis", axis);
    node_set_float(expand->last, "epsilon", epsilon);
    give_as(expand, 0, out, expand_in(expand, 1));
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- skip */

/* x + skip + the bias at input `index`, if there is one. The sum is output 3, too. */
static Value *skip_sum(Expand *expand, int index)
{
    Value *x = expand_in(expand, 0), *bias = expand_in(expand, index), *sum = widened(expand, x);

    sum = expand2(expand, OP_onnx_Add, sum, widened(expand, expand_in(expand, 1)));
    if (bias)
        sum = expand2(expand, OP_onnx_Add, sum, widened(expand, bias));
    give_as(expand, 3, sum, x);
    return sum;
}

/* Inputs: x, skip, scale, shift, bias. Outputs: the norm of the sum, mean and inverse deviation, the sum. */
int expand_skip_layer_norm(Expand *expand)
{
    Value *sum = skip_sum(expand, 4), *shift = expand_in(expand, 3), *scale = widened(expand, expand_in(expand, 2)),
          *out;

    out = expand3(expand, OP_onnx_LayerNormalization, sum, scale, shift ? widened(expand, shift) : NULL);
    node_set_float(expand->last, "epsilon", epsilon_of(expand, 1e-12f));
    expand_give(expand, 1, expand_wants(expand, 1) || expand_wants(expand, 2) ? expand_output(expand, 1) : NULL);
    expand_give(expand, 2, expand_wants(expand, 2) ? expand_output(expand, 2) : NULL);
    give_as(expand, 0, out, expand_in(expand, 0));
    return 0;
}

/* Inputs: x, skip, scale, bias. */
int expand_skip_simplified(Expand *expand)
{
    Value *sum = skip_sum(expand, 3), *out;
    float  epsilon = epsilon_of(expand, 1e-12f);

    if (expand_wants(expand, 2))
        expand_give(expand, 2, inverse_root(expand, sum, expand_rank(expand_in(expand, 0)) - 1, epsilon));
    out = expand2(expand, OP_onnx_RMSNormalization, sum, widened(expand, expand_in(expand, 2)));
    node_set_float(expand->last, "epsilon", epsilon);
    give_as(expand, 0, out, expand_in(expand, 0));
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- embeddings */

/* The position embeddings: the rows that position_ids names, or the first rows of the table. */
static Value *positions(Expand *expand)
{
    Value *table = expand_in(expand, 3), *ids = expand_in(expand, 8),
          *in[4] = {table, make_int(expand->graph, 0), NULL, NULL};

    if (ids)
        return expand_gather(expand, table, ids, 0);
    in[2] = expand_extent(expand, expand_in(expand, 0), 1);
    in[3] = make_int(expand->graph, 0);
    return expand_make(expand, OP_onnx_Slice, 4, in);
}

/* The number of ones in each row of the mask; zeros if there is no mask. */
static Value *mask_lengths(Expand *expand)
{
    Value *mask = expand_in(expand, 7), *ids = expand_in(expand, 0), *count;

    if (!mask)
        return expand_reduce(expand, OP_onnx_ReduceSum, expand2(expand, OP_onnx_Sub, ids, ids), 1, 1, 0);
    count = expand2(expand, OP_onnx_Equal, mask, expand_cast(expand, make_scalar(expand->graph, 1), DTYPE_I32));
    return expand_reduce(expand, OP_onnx_ReduceSum, expand_cast(expand, count, DTYPE_I32), 1, 1, 0);
}

int expand_embed_layer_norm(Expand *expand)
{
    Value *word = expand_in(expand, 2), *segment = expand_in(expand, 4), *sum, *gain, *out;

    sum = widened(expand, expand_gather(expand, word, expand_in(expand, 0), 0));
    sum = expand2(expand, OP_onnx_Add, sum, widened(expand, positions(expand)));
    if (segment)
        sum =
            expand2(expand, OP_onnx_Add, sum, widened(expand, expand_gather(expand, segment, expand_in(expand, 1), 0)));
    gain = widened(expand, expand_in(expand, 5));
    out = expand3(expand, OP_onnx_LayerNormalization, sum, gain, widened(expand, expand_in(expand, 6)));
    node_set_float(expand->last, "epsilon", epsilon_of(expand, 1e-12f));
    give_as(expand, 0, out, word);
    give_as(expand, 2, sum, word);
    if (expand_wants(expand, 1))
        expand_give(expand, 1, mask_lengths(expand));
    return 0;
}
