/* linear_model_lower.c - LinearClassifier and LinearRegressor, and what all models do with scores. */
#include "ops/ml/scores.h"
#include "ops/rules.h"
#include "lower/call.h"

int scores_transform_of(Lower *lower, const Node *node)
{
    static const char *const names[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};

    return node_word(node, lower->diag, "post_transform", names, 5);
}

int scores_input(Lower *lower, const Node *node, DType dtype, Operand *x, Extent *rows, Extent *features)
{
    const Type *in = &node->in[0]->type;

    *rows = in->rank == 2 ? in->dim[0] : extent_const(1);
    *features = in->dim[in->rank - 1];
    if (lower_input(lower, node, 0, x) < 0 || lower_convert(lower, *x, dtype, x) < 0)
        return -1;
    return lower_dense(lower, *x, x);
}

Operand scores_temporary(Lower *lower, DType dtype, Extent rows, int64_t columns, const char *name)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = dtype, .rank = 2};

    type.dim[0] = rows;
    type.dim[1] = extent_const(columns);
    return lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, name);
}

int scores_finish(Lower *lower, const Node *node, int index, Operand x, int64_t n, int how, int signed_pair)
{
    const Type *type;
    Operand     y;

    if (index >= node->nout || !node->out[index])
        return 0;
    type = &node->out[index]->type;
    if (how < 0)
        return -1;
    if (how == SCORE_NONE && type->dim[1].max == n)
        return lower_output_view(lower, node, index, x);
    if (type->dim[1].max != n && !(n == 1 && type->dim[1].max == 2))
        return diag_unsupported(lower->diag, node->loc, "%lld scores for %lld classes", (long long)n,
                                (long long)type->dim[1].max);
    if (lower_output_dense(lower, node, index, &y) < 0)
        return -1;
    return STEP(lower, node, "score_transform", ARG(x, x), ARG(y, y), ARG(rows, type->dim[0]), ARG(n, n),
                ARG(m, type->dim[1].max), ARG(how, how), ARG(signed_pair, signed_pair)) < 0
               ? -1
               : lower_output_done(lower, node, index, y);
}

int scores_label(Lower *lower, const Node *node, Operand x, Operand seen, int64_t n, const char *texts,
                 const char *numbers, double limit)
{
    const Attr *text = node_attr(node, texts), *ints = node_attr(node, numbers);
    bool        strings = text && text->count;
    int64_t     count = strings ? text->count : ints->count;
    Operand     y;

    if (!node->out[0])
        return 0;
    if (n > count)
        return diag_error(lower->diag, node->loc, "%lld scores for %lld labels", (long long)n, (long long)count);
    if (lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, strings ? "score_label_text" : "score_label_i64", ARG(x, x), ARG(seen, seen),
                       ARG(label, lower_weight(lower, strings ? (const void *)text->strings : (const void *)ints->ints,
                                               strings ? DTYPE_TEXT : DTYPE_I64, 1, &count, "labels")),
                       ARG(rows, node->out[0]->type.dim[0]), ARG(n, n), ARG(labels, count), ARG(limit, limit));
}

/* ---------------------------------------------------------------------------------------------------- linear models */

/* The raw scores [rows][*n]. */
static int raw_scores(Lower *lower, const Node *node, Operand *y, int64_t *n)
{
    const Attr *coef = node_attr(node, "coefficients"), *bias = node_attr(node, "intercepts");
    int64_t     count = coef ? coef->count : 0, nbias = bias ? bias->count : 0;
    Operand     x;
    Extent      rows, features;

    if (scores_input(lower, node, DTYPE_F32, &x, &rows, &features) < 0)
        return -1;
    if (!extent_is_const(features))
        return diag_unsupported(lower->diag, node->loc, "found a run-time number of features; pin it with --dim");
    if (features.max < 1 || count % features.max || !count)
        return diag_error(lower->diag, node->loc, "%lld coefficients do not fit %lld features", (long long)count,
                          (long long)features.max);
    *n = count / features.max;
    if (nbias && nbias != *n)
        return diag_error(lower->diag, node->loc, "%lld intercepts for %lld targets", (long long)nbias, (long long)*n);
    *y = scores_temporary(lower, DTYPE_F32, rows, *n, "scores");
    return STEP(lower, node, "linear_scores", ARG(x, x),
                ARG(coef, lower_weight(lower, coef->floats, DTYPE_F32, 1, &count, "coefficients")),
                ARG(bias, nbias ? lower_weight(lower, bias->floats, DTYPE_F32, 1, &nbias, "intercepts")
                                : operand_absent(DTYPE_F32)),
                ARG(y, *y), ARG(rows, rows), ARG(features, features), ARG(targets, *n));
}

int lower_linear_regressor(Lower *lower, const Node *node)
{
    Operand y;
    int64_t n;

    if (raw_scores(lower, node, &y, &n) < 0)
        return -1;
    return scores_finish(lower, node, 0, y, n, scores_transform_of(lower, node), 0);
}

int lower_linear_classifier(Lower *lower, const Node *node)
{
    Operand y;
    int64_t n;

    if (raw_scores(lower, node, &y, &n) < 0 ||
        scores_label(lower, node, y, operand_absent(DTYPE_U8), n, "classlabels_strings", "classlabels_ints", 0.0) < 0)
        return -1;
    return scores_finish(lower, node, 1, y, n, scores_transform_of(lower, node), 0);
}
