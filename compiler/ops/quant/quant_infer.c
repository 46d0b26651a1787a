/* quant_infer.c - types of quantised operators. */
#include "infer/infer.h"
#include "ops/rules.h"

/* ------------------------------------------------------------------------------------------ quantise and dequantise */

/* A zero point has the scale's shape; single ones may differ in rank. */
static int need_zero_point(Infer *infer, const Node *node)
{
    if (!infer_has(node, 2))
        return 0;
    if (infer_need_tensor(infer, node, 2) < 0)
        return -1;
    if (node->in[1]->type.rank != node->in[2]->type.rank) { /* then both hold one element */
        if (infer_need_scalar(infer, node, 1) < 0)
            return -1;
        return infer_need_scalar(infer, node, 2);
    }
    return infer_need_same_shape(infer, node, 1, 2);
}

/* A scale (input 1) is one number, a vector along `axis`, or a tensor of blocks along it; the zero point has its
 * shape. */
static int need_scale(Infer *infer, const Node *node)
{
    const Type *x = infer_in(node, 0), *scale = infer_in(node, 1);
    int64_t     block = node_int(node, "block_size", 0);
    int         axis;

    if (infer_need_dtype(infer, node, 1, "FL-I") < 0 || need_zero_point(infer, node) < 0)
        return -1;
    if (scale->rank == 0 || (scale->rank == 1 && type_elements(scale) == 1 && !block))
        return 0;
    if (infer_axis(infer, node, node_int(node, "axis", 1), x->rank, &axis) < 0)
        return -1;
    if (!block)
        return infer_need_vector(infer, node, 1, x->dim[axis]);
    if (infer_need_rank(infer, node, 1, x->rank, x->rank) < 0)
        return -1;
    for (int i = 0; i < x->rank; i++) {
        Extent wanted = i == axis ? extent_op(infer->model, EXPR_CEILDIV, x->dim[i], extent_const(block)) : x->dim[i];
        if (infer_need_equal(infer, node, scale->dim[i], wanted, "extents of the blocked scale") < 0)
            return -1;
    }
    return 0;
}

/* The quotient is computed in the scale's type; attribute 'precision' may only name that type. */
static int need_precision(Infer *infer, const Node *node)
{
    int64_t precision = node_int(node, "precision", 0);

    if (!precision || precision == (int64_t)node->in[1]->type.dtype)
        return 0;
    return diag_unsupported(
        infer->diag, node->loc,
        "attribute 'precision' is %lld, but the scale is %s; cast input and scale to the precision wanted",
        (long long)precision, dtype_info(node->in[1]->type.dtype)->name);
}

int infer_quantize(Infer *infer, Node *node)
{
    const Type *zero = infer_in(node, 2);
    int64_t     dtype = node_int(node, "output_dtype", 0);
    DType       to;

    if (infer_need_dtype(infer, node, 0, "FLI") < 0 || need_scale(infer, node) < 0 || need_precision(infer, node) < 0)
        return -1;
    if (dtype < 0 || dtype >= DTYPE_COUNT || (dtype && zero && zero->dtype != (DType)dtype))
        return diag_error(infer->diag, node->loc,
                          "attribute 'output_dtype' is %lld, wanted the zero point's element type", (long long)dtype);
    to = zero ? zero->dtype : dtype ? (DType)dtype : DTYPE_U8;
    if (!dtype_in(to, "IUL"))
        return diag_error(infer->diag, node->loc, "the result would hold %s, wanted integers or small floats",
                          dtype_info(to)->name);
    return infer_set(infer, node, 0, infer_shaped(to, &node->in[0]->type));
}

int infer_dequantize(Infer *infer, Node *node)
{
    int64_t dtype = node_int(node, "output_dtype", 0);

    if (infer_need_dtype(infer, node, 0, "IUL") < 0 || need_scale(infer, node) < 0 ||
        infer_need_same_dtype(infer, node, 0, 2) < 0)
        return -1;
    if (dtype < 0 || dtype >= DTYPE_COUNT || (dtype && !dtype_in((DType)dtype, "FL")))
        return diag_error(infer->diag, node->loc, "attribute 'output_dtype' is %lld, wanted a float type",
                          (long long)dtype);
    return infer_set(infer, node, 0, infer_shaped(dtype ? (DType)dtype : node->in[1]->type.dtype, &node->in[0]->type));
}

/* The scale and zero point are found while running. */
int infer_dynamic_quantize(Infer *infer, Node *node)
{
    if (infer_set(infer, node, 0, infer_shaped(DTYPE_U8, &node->in[0]->type)) < 0 ||
        infer_set(infer, node, 1, type_tensor(DTYPE_F32, 0, NULL)) < 0)
        return -1;
    return infer_set(infer, node, 2, type_tensor(DTYPE_U8, 0, NULL));
}

/* ---------------------------------------------------------------------------------------------------- com.microsoft */

/* a, scale, zero point, b, scale, zero point, the result's scale and zero point. */
int infer_qlinear_binary(Infer *infer, Node *node)
{
    Type type;

    if (infer_broadcast(infer, node, &node->in[0]->type, &node->in[3]->type, &type) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

int infer_qlinear_softmax(Infer *infer, Node *node)
{
    int axis;

    if (infer_axis(infer, node, node_int(node, "axis", -1), node->in[0]->type.rank, &axis) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

/* x, scale, zero point, the result's scale and zero point; the axes are an attribute. */
int infer_qlinear_reduce_mean(Infer *infer, Node *node)
{
    const Type    *x = infer_in(node, 0);
    int            count, axis, keep = (int)node_int(node, "keepdims", 1);
    const int64_t *axes = node_ints(node, "axes", &count);
    bool           gone[MAX_RANK] = {false};
    Type           type = {.kind = TYPE_TENSOR, .dtype = x->dtype};

    for (int i = 0; i < count; i++) {
        if (infer_axis(infer, node, axes[i], x->rank, &axis) < 0)
            return -1;
        if (gone[axis])
            return diag_error(infer->diag, node->loc, "axis %lld is given twice", (long long)axes[i]);
        gone[axis] = true;
    }
    for (int i = 0; i < x->rank; i++)
        if (count && !gone[i])
            type.dim[type.rank++] = x->dim[i];
        else if (keep)
            type.dim[type.rank++] = extent_const(1);
    return infer_set(infer, node, 0, type);
}

/* Condition; x, scale, zero point; y, scale, zero point; the result's scale and zero point. */
int infer_qlinear_where(Infer *infer, Node *node)
{
    Type type;

    if (infer_need_same_dtype(infer, node, 1, 4) < 0 ||
        infer_broadcast(infer, node, &node->in[1]->type, &node->in[4]->type, &type) < 0 ||
        infer_broadcast(infer, node, &node->in[0]->type, &type, &type) < 0)
        return -1;
    type.dtype = node->in[1]->type.dtype;
    return infer_set(infer, node, 0, type);
}

/* The result's scale and zero point, then a tensor, scale and zero point for each part. */
int infer_qlinear_concat(Infer *infer, Node *node)
{
    Type type;
    int  axis;

    if (node->nin % 3 != 2)
        return diag_error(infer->diag, node->loc, "found %d inputs, wanted 2 and 3 for each part", node->nin);
    if (infer_need_dtype(infer, node, 2, "IU") < 0 || infer_joined(infer, node, 2, 3, &axis, &type) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}
