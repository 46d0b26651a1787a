/* expand_ml.c - the operators of ai.onnx.ml that are arithmetic on feature vectors. */
#include "ops/expand_rules.h"

#include <string.h>

/* A list attribute as a constant [n] ([1] for one number: it is broadcast). */
static Value *floats(Expand *expand, const char *name, float otherwise)
{
    const Attr *attr = node_attr(expand->node, name);

    if (!attr || attr->kind != ATTR_FLOATS || !attr->count)
        return make_constant(expand->graph, DTYPE_F32, 1, 1, &otherwise);
    return make_constant(expand->graph, DTYPE_F32, 1, attr->count, attr->floats);
}

/* Columns of the last axis, chosen by index. */
int expand_array_features(Expand *expand)
{
    static const int64_t flat[] = {-1}, row[] = {1, -1};
    Value *x = expand_in(expand, 0), *out;

    out = expand_gather(expand, x, expand_reshape(expand, expand_in(expand, 1), flat, 1), -1);
    expand_give(expand, 0, expand_rank(x) == 1 ? expand_reshape(expand, out, row, 2) : out);
    return 0;
}

int expand_binarizer(Expand *expand)
{
    Value *x = expand_in(expand, 0), *limit = expand_number(expand, (double)node_float(expand->node, "threshold", 0.0f), x->type.dtype);
    Value *out = expand1(expand, OP_onnx_Cast, expand2(expand, OP_onnx_Greater, x, limit));

    node_set_int(expand->last, "to", x->type.dtype);
    expand_give(expand, 0, out);
    return 0;
}

int expand_scaler(Expand *expand)
{
    Value *x = expand_cast(expand, expand_in(expand, 0), DTYPE_F32);

    x = expand2(expand, OP_onnx_Sub, x, floats(expand, "offset", 0.0f));
    expand_give(expand, 0, expand2(expand, OP_onnx_Mul, x, floats(expand, "scale", 1.0f)));
    return 0;
}

/* Each row over its largest element (MAX), the sum of magnitudes (L1) or its length (L2); a row of zeros stays. */
int expand_normalizer(Expand *expand)
{
    const char *norm = node_string(expand->node, "norm", "MAX");
    OpKind      op = !strcmp(norm, "L1") ? OP_onnx_ReduceL1 : !strcmp(norm, "L2") ? OP_onnx_ReduceL2 : OP_onnx_ReduceMax;
    Value      *x = expand_cast(expand, expand_in(expand, 0), DTYPE_F32), *size, *none;
    int         last = expand_rank(expand_in(expand, 0)) - 1;

    if (last < 0)
        return diag_error(expand->diag, expand->node->loc, "found a scalar, wanted rows");
    size = expand_reduce(expand, op, x, last, last, 1);
    none = expand2(expand, OP_onnx_Equal, size, make_float(expand->graph, 0.0f));
    size = expand3(expand, OP_onnx_Where, none, make_float(expand->graph, 1.0f), size);
    expand_give(expand, 0, expand2(expand, OP_onnx_Div, x, size));
    return 0;
}

/* What equals the placeholder (or is NaN, if that is it) is replaced, by column. */
int expand_imputer(Expand *expand)
{
    const Attr *numbers = node_attr(expand->node, "imputed_value_int64s");
    Value      *x = expand_in(expand, 0), *missing, *with;
    float       place = node_float(expand->node, "replaced_value_float", 0.0f);

    if (x->type.dtype == DTYPE_I64 && numbers && numbers->kind == ATTR_INTS) {
        missing = expand2(expand, OP_onnx_Equal, x, make_scalar(expand->graph, node_int(expand->node, "replaced_value_int64", 0)));
        with = make_ints(expand->graph, numbers->ints, numbers->count);
    } else if (x->type.dtype == DTYPE_F32) {
        missing = place != place ? expand1(expand, OP_onnx_IsNaN, x) : expand2(expand, OP_onnx_Equal, x, make_float(expand->graph, place));
        with = floats(expand, "imputed_value_floats", 0.0f);
    } else {
        return diag_unsupported(expand->diag, expand->node->loc, "found %s elements, wanted float or int64; cast the input",
                                dtype_info(x->type.dtype)->name);
    }
    expand_give(expand, 0, expand3(expand, OP_onnx_Where, missing, with, x));
    return 0;
}

int expand_feature_vectorizer(Expand *expand)
{
    static const int64_t rows[] = {0, -1}, row[] = {1, -1};
    Value *parts[64], *out;

    if (expand->node->nin > 64)
        return diag_unsupported(expand->diag, expand->node->loc, "found %d inputs, at most 64 are supported; concatenate some before",
                                expand->node->nin);
    for (int i = 0; i < expand->node->nin; i++)
        parts[i] = expand_reshape(expand, expand_cast(expand, expand_in(expand, i), DTYPE_F32),
                                  expand_rank(expand_in(expand, i)) > 1 ? rows : row, 2);
    out = expand_make(expand, OP_onnx_Concat, expand->node->nin, parts);
    node_set_int(expand->last, "axis", 1);
    expand_give(expand, 0, out);
    return 0;
}

/* x [N][features] times coefficients [targets][features], turned. */
int expand_linear_regressor(Expand *expand)
{
    const Attr *attr = node_attr(expand->node, "coefficients");
    int64_t     targets = node_int(expand->node, "targets", 1);
    const char *post = node_string(expand->node, "post_transform", "NONE");
    int64_t     shape[] = {targets, -1};
    Value      *weights, *x = expand_cast(expand, expand_in(expand, 0), DTYPE_F32), *out;

    if (!attr || attr->kind != ATTR_FLOATS || targets < 1 || attr->count % targets)
        return diag_error(expand->diag, expand->node->loc, "found no coefficients for %lld targets", (long long)targets);
    if (strcmp(post, "NONE"))
        return diag_unsupported(expand->diag, expand->node->loc, "found post_transform '%s'; apply it outside the node", post);
    weights = expand_reshape(expand, floats(expand, "coefficients", 0.0f), shape, 2);
    out = expand3(expand, OP_onnx_Gemm, x, weights, floats(expand, "intercepts", 0.0f));
    node_set_int(expand->last, "transB", 1);
    expand_give(expand, 0, out);
    return 0;
}
