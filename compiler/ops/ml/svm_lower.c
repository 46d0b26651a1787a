/* svm_lower.c - SVMRegressor and SVMClassifier: support vectors, or vectors of coefficients. */
#include "ops/ml/scores.h"
#include "ops/rules.h"
#include "lower/call.h"

static int kernel_of(Lower *lower, const Node *node)
{
    static const char *const names[] = {"LINEAR", "POLY", "RBF", "SIGMOID"};

    return node_word(node, lower->diag, "kernel_type", names, 4);
}

/* Entry `index` of a list of floats, or 0. */
static double entry(const Node *node, const char *name, int index)
{
    const Attr *attr = node_attr(node, name);

    return attr && index < attr->count ? (double)attr->floats[index] : 0.0;
}

/* Attribute post_transform stands in the operator's schema, but no runtime applies it: the score is given as it is. */
int lower_svm_regressor(Lower *lower, const Node *node)
{
    static const float one = 1.0f;
    const Attr        *coef = node_attr(node, "coefficients"), *vector = node_attr(node, "support_vectors");
    int64_t vectors = node_int(node, "n_supports", 0), have = coef ? coef->count : 0, size = vector ? vector->count : 0,
            single = 1;
    int     kind = kernel_of(lower, node);
    Operand x, y;
    Extent  rows, features;

    if (scores_input(lower, node, DTYPE_F32, &x, &rows, &features) < 0)
        return -1;
    if (kind < 0)
        return -1;
    if (!extent_is_const(features))
        return diag_unsupported(lower->diag, node->loc, "found a run-time number of features; pin it with --dim");
    if (vectors > 0 ? have != vectors || size != vectors * features.max : have != features.max)
        return diag_error(lower->diag, node->loc,
                          "%lld coefficients and %lld numbers of support vectors do not fit %lld features",
                          (long long)have, (long long)size, (long long)features.max);
    if (lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, "svm_regress", ARG(x, x),
                       ARG(vector, vectors > 0
                                       ? lower_weight(lower, vector->floats, DTYPE_F32, 1, &size, "support vectors")
                                       : lower_weight(lower, coef->floats, DTYPE_F32, 1, &have, "coefficients")),
                       ARG(coef, vectors > 0 ? lower_weight(lower, coef->floats, DTYPE_F32, 1, &have, "coefficients")
                                             : lower_weight(lower, &one, DTYPE_F32, 1, &single, "one")),
                       ARG(rows, rows), ARG(n, features), ARG(vectors, vectors > 0 ? vectors : 1),
                       ARG(kind, vectors > 0 ? kind : 0), ARG(gamma, entry(node, "kernel_params", 0)),
                       ARG(offset, entry(node, "kernel_params", 1)), ARG(degree, entry(node, "kernel_params", 2)),
                       ARG(rho, entry(node, "rho", 0)), ARG(sign, node_int(node, "one_class", 0) != 0));
}

/* --------------------------------------------------------------------------------------------------- classification */

enum { MOST_CLASSES = 64 };

typedef struct VectorMachine {
    const Node *node;
    Operand     x;
    Extent      rows;
    int64_t     features, classes, pairs;
    int64_t     first[MOST_CLASSES + 1]; /* first vector of each class; the last entry: number of vectors */
    bool        coupled;                 /* the model wants probabilities */
} VectorMachine;

/* A list of at least `count` floats as a weight. */
static int floats(Lower *lower, const VectorMachine *m, const char *name, int64_t count, Operand *out)
{
    const Attr *attr = node_attr(m->node, name);

    if (!attr || attr->count < count)
        return diag_error(lower->diag, m->node->loc, "attribute '%s' has %d entries, wanted %lld", name,
                          attr ? attr->count : 0, (long long)count);
    *out = lower_weight(lower, attr->floats, DTYPE_F32, 1, &count, name);
    return 0;
}

static int read_machine(Lower *lower, VectorMachine *m)
{
    const Attr    *text = node_attr(m->node, "classlabels_strings"), *probabilities = node_attr(m->node, "prob_a");
    int            labels, count;
    const int64_t *vectors;
    Extent         features;

    node_ints(m->node, "classlabels_ints", &labels);
    vectors = node_ints(m->node, "vectors_per_class", &count);
    m->classes = text && text->count ? text->count : labels;
    m->pairs = m->classes * (m->classes - 1) / 2;
    m->coupled = probabilities && probabilities->count;
    if (scores_input(lower, m->node, DTYPE_F32, &m->x, &m->rows, &features) < 0)
        return -1;
    m->features = features.max;
    if (!extent_is_const(features) || m->classes > MOST_CLASSES || (count && count != m->classes))
        return diag_unsupported(lower->diag, m->node->loc,
                                "found %lld classes, %d counts of vectors and %s number of features; at most %d "
                                "classes, as many counts and a constant number are supported",
                                (long long)m->classes, count, extent_is_const(features) ? "a constant" : "a run-time",
                                MOST_CLASSES);
    for (int c = 0; c < count; c++) {
        if (vectors[c] < 0 || vectors[c] > INT32_MAX)
            return diag_error(lower->diag, m->node->loc, "attribute 'vectors_per_class' holds %lld",
                              (long long)vectors[c]);
        m->first[c + 1] = m->first[c] + vectors[c];
    }
    return 0;
}

static Operand best_of_rows(Lower *lower, const VectorMachine *m)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = DTYPE_I64, .rank = 1, .dim = {m->rows}};

    return lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "best");
}

/* Output 0: the label of the best class. */
static int label_rows(Lower *lower, const VectorMachine *m, Operand best)
{
    const Attr *text = node_attr(m->node, "classlabels_strings"), *ints = node_attr(m->node, "classlabels_ints");
    bool        strings = text && text->count;
    DType       dtype = strings ? DTYPE_TEXT : DTYPE_I64;
    Operand     y;

    if (!m->node->out[0])
        return 0;
    if (lower_output_dense(lower, m->node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, m->node, y, move_kernel(lower, "gather", dtype),
                       ARG(x, lower_weight(lower, strings ? (const void *)text->strings : (const void *)ints->ints,
                                           dtype, 1, &m->classes, "labels")),
                       ARG(index, best), ARG(outer, 1), ARG(axis, m->classes), ARG(count, m->rows), ARG(inner, 1));
}

/* Lowers a machine with one vector of coefficients for each class. */
static int linear_machine(Lower *lower, VectorMachine *m)
{
    const Attr *coef = node_attr(m->node, "coefficients");
    bool        positive = true;
    float      *bias = arena_array(lower->program->arena, float, m->classes);
    Operand     w, y, best = best_of_rows(lower, m);

    if (floats(lower, m, "coefficients", m->classes * m->features, &w) < 0)
        return -1;
    for (int i = 0; i < coef->count; i++)
        positive &= coef->floats[i] >= 0.0f;
    for (int64_t c = 0; c < m->classes; c++)
        bias[c] = (float)entry(m->node, "rho", 0);
    y = scores_temporary(lower, DTYPE_F32, m->rows, m->classes, "scores");
    if (STEP(lower, m->node, "linear_scores", ARG(x, m->x), ARG(coef, w),
             ARG(bias, lower_weight(lower, bias, DTYPE_F32, 1, &m->classes, "rho")), ARG(y, y), ARG(rows, m->rows),
             ARG(features, m->features), ARG(targets, m->classes)) < 0)
        return -1;
    if (STEP(lower, m->node, "svm_best", ARG(x, y), ARG(best, best), ARG(rows, m->rows), ARG(classes, m->classes),
             ARG(limit, m->coupled ? 1e30
                        : positive ? 0.5
                                   : 0.0)) < 0 ||
        label_rows(lower, m, best) < 0)
        return -1;
    return scores_finish(lower, m->node, 1, y, m->classes, scores_transform_of(lower, m->node), 0);
}

/* Scores of pairs as probabilities of classes. */
static int couple(Lower *lower, VectorMachine *m, Operand pairs, Operand *out)
{
    Operand a, b;

    if (floats(lower, m, "prob_a", m->pairs, &a) < 0 || floats(lower, m, "prob_b", m->pairs, &b) < 0)
        return -1;
    *out = scores_temporary(lower, DTYPE_F32, m->rows, m->classes, "probabilities");
    return STEP(lower, m->node, "svm_couple", ARG(x, pairs), ARG(a, a), ARG(b, b), ARG(y, *out),
                ARG(q, lower_scratch(lower, DTYPE_F64, m->classes * (m->classes + 1), "coupling")), ARG(rows, m->rows),
                ARG(classes, m->classes));
}

static int vector_machine(Lower *lower, VectorMachine *m)
{
    int     how = scores_transform_of(lower, m->node), kind = kernel_of(lower, m->node);
    int64_t vectors = m->first[m->classes];
    Operand w, coef, rho, y, best = best_of_rows(lower, m);

    if (kind < 0 || how < 0)
        return -1;
    if (floats(lower, m, "support_vectors", vectors * m->features, &w) < 0 ||
        floats(lower, m, "coefficients", (m->classes - 1) * vectors, &coef) < 0 ||
        floats(lower, m, "rho", m->pairs, &rho) < 0)
        return -1;
    y = scores_temporary(lower, DTYPE_F32, m->rows, m->pairs, "pairs");
    if (STEP(lower, m->node, "svm_pairs", ARG(x, m->x), ARG(vector, w), ARG(coef, coef), ARG(rho, rho), ARG(y, y),
             ARG(best, best), ARG(alike, lower_scratch(lower, DTYPE_F32, vectors, "alike")),
             ARG(votes, lower_scratch(lower, DTYPE_I64, m->classes, "votes")), ARG(rows, m->rows), ARG(n, m->features),
             ARG(classes, m->classes), ARGS(first, (int)m->classes + 1, m->first), ARG(kind, kind),
             ARG(gamma, entry(m->node, "kernel_params", 0)), ARG(offset, entry(m->node, "kernel_params", 1)),
             ARG(degree, entry(m->node, "kernel_params", 2))) < 0 ||
        label_rows(lower, m, best) < 0)
        return -1;
    if (!m->coupled)
        return scores_finish(lower, m->node, 1, y, m->pairs, how, how == SCORE_NONE || how == SCORE_LOGISTIC);
    return couple(lower, m, y, &y) < 0 ? -1 : scores_finish(lower, m->node, 1, y, m->classes, how, 0);
}

int lower_svm_classifier(Lower *lower, const Node *node)
{
    VectorMachine m = {.node = node};

    if (read_machine(lower, &m) < 0)
        return -1;
    return m.first[m.classes] > 0 ? vector_machine(lower, &m) : linear_machine(lower, &m);
}
