/* feature_lower.c - operators of ai.onnx.ml that scale, choose and encode features. */
#include "lower/call.h"
#include "ops/rules.h"

#include <math.h>
#include <string.h>

static int64_t columns_of(const Node *node)
{
    const Type *x = &node->in[0]->type;

    return x->rank ? x->dim[x->rank - 1].max : 1;
}

/* A list of floats or integers as a constant along the last axis, one for all columns or one for each; absent: not
 * used. */
static int column_weight(Lower *lower, const Node *node, const char *name, DType dtype, Operand *out)
{
    const Attr *attr = node_attr(node, name);
    int64_t     count = attr ? attr->count : 0, columns = columns_of(node);

    *out = operand_absent(dtype);
    if (!count)
        return 0;
    if (count != 1 && count != columns)
        return diag_error(lower->diag, node->loc, "%s has %lld entries for %lld features", name, (long long)count,
                          (long long)columns);
    *out = lower_weight(lower, dtype == DTYPE_F32 ? (const void *)attr->floats : (const void *)attr->ints, dtype, 1,
                        &count, name);
    return 0;
}

/* The expression node that loads a constant beside the node's inputs. */
static int load_weight(Lower *lower, const Node *node, Deferred *p, Operand weight)
{
    const Type *type = &node->out[0]->type;

    p->operand[p->noperand] = operand_broadcast(lower, weight, type->rank, type->dim);
    return scalar_load(lower, p->expr, weight.dtype, p->noperand++);
}

/* The input made now, so that the expression has room for constants. */
static Deferred *plain_expression(Lower *lower, const Node *node, int *x)
{
    Operand made;

    return lower_input(lower, node, 0, &made) < 0 ? NULL : lower_elementwise(lower, node, false, x);
}

int lower_binarizer(Lower *lower, const Node *node)
{
    int       x, limit, one, zero;
    Deferred *p = plain_expression(lower, node, &x);
    DType     dtype = node->in[0]->type.dtype;

    if (!p)
        return -1;
    limit = scalar_literal(lower, p->expr, dtype, (double)node_float(node, "threshold", 0.0f));
    one = scalar_literal(lower, p->expr, dtype, 1.0);
    zero = scalar_literal(lower, p->expr, dtype, 0.0);
    scalar_op(lower, p->expr, SCALAR_select, scalar_op(lower, p->expr, SCALAR_lt, limit, x, -1), one, zero);
    return lower_output_deferred(lower, node, 0, p);
}

int lower_scaler(Lower *lower, const Node *node)
{
    Operand   offset, scale;
    int       x;
    Deferred *p = plain_expression(lower, node, &x);

    if (!p || column_weight(lower, node, "offset", DTYPE_F32, &offset) < 0 ||
        column_weight(lower, node, "scale", DTYPE_F32, &scale) < 0)
        return -1;
    x = scalar_cast(lower, p->expr, DTYPE_F32, x, false);
    if (offset.buffer >= 0)
        x = scalar_op(lower, p->expr, SCALAR_sub, x, load_weight(lower, node, p, offset), -1);
    if (scale.buffer >= 0)
        x = scalar_op(lower, p->expr, SCALAR_mul, x, load_weight(lower, node, p, scale), -1);
    if (offset.buffer < 0 && scale.buffer < 0)
        scalar_op(lower, p->expr, SCALAR_add, x, scalar_literal(lower, p->expr, DTYPE_F32, 0.0), -1);
    return lower_output_deferred(lower, node, 0, p);
}

int lower_imputer(Lower *lower, const Node *node)
{
    DType       dtype = node->in[0]->type.dtype;
    bool        real = dtype_info(dtype)->class == 'F';
    const char *name = real ? "imputed_value_floats" : "imputed_value_int64s";
    double      missing = real ? (double)node_float(node, "replaced_value_float", 0.0f)
                               : (double)node_int(node, "replaced_value_int64", 0);
    Operand     imputed;
    int         x, wrong, with;
    Deferred   *p = plain_expression(lower, node, &x);

    if (!p || column_weight(lower, node, name, real ? DTYPE_F32 : DTYPE_I64, &imputed) < 0)
        return -1;
    if (imputed.buffer < 0)
        return diag_error(lower->diag, node->loc, "found no %s; wanted what replaces the missing values", name);
    if (real && isnan(missing))
        wrong = scalar_op(lower, p->expr, SCALAR_isnan, x, -1, -1);
    else
        wrong = scalar_op(lower, p->expr, SCALAR_eq, x, scalar_literal(lower, p->expr, dtype, missing), -1);
    with = scalar_cast(lower, p->expr, dtype, load_weight(lower, node, p, imputed), false);
    scalar_op(lower, p->expr, SCALAR_select, wrong, with, x);
    return lower_output_deferred(lower, node, 0, p);
}

int lower_normalizer(Lower *lower, const Node *node)
{
    const Type *in = &node->in[0]->type;
    const char *norm = node_string(node, "norm", "MAX");
    Operand     x, y;

    if (lower_input(lower, node, 0, &x) < 0 || lower_convert(lower, x, DTYPE_F32, &x) < 0 ||
        lower_dense(lower, x, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, "row_normalize", ARG(x, x), ARG(rows, operand_count(lower, &x, 0, in->rank - 1)),
                       ARG(n, in->dim[in->rank - 1]),
                       ARG(kind, !strcmp(norm, "L1")   ? 1
                                 : !strcmp(norm, "L2") ? 2
                                                       : 0));
}

int lower_feature_vectorizer(Lower *lower, const Node *node)
{
    Extent  start = extent_const(0);
    Operand x, y;

    if (lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    for (int i = 0; i < node->nin; i++) {
        const Type *type = &node->in[i]->type;
        Extent      count = type->dim[type->rank - 1];

        if (lower_input(lower, node, i, &x) < 0 || lower_convert(lower, x, DTYPE_F32, &x) < 0 ||
            lower_copy(lower, node, x, operand_window(lower, y, 1, start, count, 1)) < 0)
            return -1;
        start = extent_op(lower->model, EXPR_ADD, start, count);
    }
    return lower_output_done(lower, node, 0, y);
}

int lower_one_hot_encoder(Lower *lower, const Node *node)
{
    bool        strings = node->in[0]->type.dtype == DTYPE_TEXT;
    const Attr *categories = node_attr(node, strings ? "cats_strings" : "cats_int64s");
    DType       dtype = strings ? DTYPE_TEXT : DTYPE_I64;
    int64_t     count = categories ? categories->count : 0;
    Operand     x, y;

    if (!categories || node->out[0]->type.dim[node->out[0]->type.rank - 1].max != count)
        return diag_error(lower->diag, node->loc, "the categories are not of the input's type");
    if (lower_input(lower, node, 0, &x) < 0 || lower_convert(lower, x, dtype, &x) < 0 ||
        lower_dense(lower, x, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(
        lower, node, y, strings ? "category_one_hot_text" : "category_one_hot_i64", ARG(x, x),
        ARG(category, lower_weight(lower, strings ? (const void *)categories->strings : (const void *)categories->ints,
                                   dtype, 1, &count, "categories")),
        ARG(n, operand_count(lower, &x, 0, x.rank)), ARG(count, count), ARG(zeros, node_int(node, "zeros", 1)));
}
