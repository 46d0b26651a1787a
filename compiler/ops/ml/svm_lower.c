/* svm_lower.c - SVMRegressor and SVMClassifier: support vectors, or vectors of coefficients. */
#include "ops/ml/scores.h"
#include "ops/rules.h"

#include <string.h>

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
    Step   *step;

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
    step = step_begin(lower, node, "svm_regress");
    step_reads(lower, step, x);
    step_reads(lower, step,
               vectors > 0 ? lower_weight(lower, vector->floats, DTYPE_F32, 1, &size, "support vectors")
                           : lower_weight(lower, coef->floats, DTYPE_F32, 1, &have, "coefficients"));
    step_reads(lower, step,
               vectors > 0 ? lower_weight(lower, coef->floats, DTYPE_F32, 1, &have, "coefficients")
                           : lower_weight(lower, &one, DTYPE_F32, 1, &single, "one"));
    step_writes(lower, step, y);
    step_extent(lower, step, rows);
    step_extent(lower, step, features);
    step_int(lower, step, vectors > 0 ? vectors : 1);
    step_int(lower, step, vectors > 0 ? kind : 0);
    for (int i = 0; i < 3; i++) /* gamma, offset, degree */
        step_float(lower, step, entry(node, "kernel_params", i));
    step_float(lower, step, entry(node, "rho", 0));
    step_int(lower, step, node_int(node, "one_class", 0) != 0);
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}

/* --------------------------------------------------------------------------------------------------- classification */

enum { MOST_CLASSES = 64 };

typedef struct VectorMachine {
    const Node *node;
    Operand     x;
    Extent      rows;
    int64_t     features, classes, pairs;
    int64_t     first[MOST_CLASSES + 1]; /* vector of each class; the last entry: how many there are */
    bool        coupled;                 /* probabilities are asked for */
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
    Step       *step;

    if (!m->node->out[0])
        return 0;
    if (lower_output_dense(lower, m->node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, m->node, move_kernel(lower, "gather", dtype));
    step_writes(lower, step, y);
    step_reads(lower, step,
               lower_weight(lower, strings ? (const void *)text->strings : (const void *)ints->ints, dtype, 1,
                            &m->classes, "labels"));
    step_reads(lower, step, best);
    step_int(lower, step, 1);
    step_int(lower, step, m->classes);
    step_extent(lower, step, m->rows);
    step_int(lower, step, 1);
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, m->node, 0, y);
}

/* One vector of coefficients for each class. */
static int linear_machine(Lower *lower, VectorMachine *m)
{
    const Attr *coef = node_attr(m->node, "coefficients");
    bool        positive = true;
    float      *bias = arena_array(lower->program->arena, float, m->classes);
    Operand     w, y, best = best_of_rows(lower, m);
    Step       *step;

    if (floats(lower, m, "coefficients", m->classes * m->features, &w) < 0)
        return -1;
    for (int i = 0; i < coef->count; i++)
        positive &= coef->floats[i] >= 0.0f;
    for (int64_t c = 0; c < m->classes; c++)
        bias[c] = (float)entry(m->node, "rho", 0);
    y = scores_temporary(lower, DTYPE_F32, m->rows, m->classes, "scores");
    step = step_begin(lower, m->node, "linear_scores");
    step_reads(lower, step, m->x);
    step_reads(lower, step, w);
    step_reads(lower, step, lower_weight(lower, bias, DTYPE_F32, 1, &m->classes, "rho"));
    step_writes(lower, step, y);
    step_extent(lower, step, m->rows);
    step_int(lower, step, m->features);
    step_int(lower, step, m->classes);
    if (step_end(lower, step) < 0)
        return -1;
    step = step_begin(lower, m->node, "svm_best");
    step_reads(lower, step, y);
    step_writes(lower, step, best);
    step_extent(lower, step, m->rows);
    step_int(lower, step, m->classes);
    step_float(lower, step, m->coupled ? 1e30 : positive ? 0.5 : 0.0);
    if (step_end(lower, step) < 0 || label_rows(lower, m, best) < 0)
        return -1;
    return scores_finish(lower, m->node, 1, y, m->classes, scores_transform_of(lower, m->node), 0);
}

/* Scores of pairs as probabilities of classes. */
static int couple(Lower *lower, VectorMachine *m, Operand pairs, Operand *out)
{
    Operand a, b;
    Step   *step;

    if (floats(lower, m, "prob_a", m->pairs, &a) < 0 || floats(lower, m, "prob_b", m->pairs, &b) < 0)
        return -1;
    *out = scores_temporary(lower, DTYPE_F32, m->rows, m->classes, "probabilities");
    step = step_begin(lower, m->node, "svm_couple");
    step_reads(lower, step, pairs);
    step_reads(lower, step, a);
    step_reads(lower, step, b);
    step_writes(lower, step, *out);
    step_writes(lower, step, lower_scratch(lower, DTYPE_F64, m->classes * (m->classes + 1), "coupling"));
    step_extent(lower, step, m->rows);
    step_int(lower, step, m->classes);
    return step_end(lower, step);
}

static int vector_machine(Lower *lower, VectorMachine *m)
{
    int     how = scores_transform_of(lower, m->node), kind = kernel_of(lower, m->node);
    int64_t vectors = m->first[m->classes];
    Operand w, coef, rho, y, best = best_of_rows(lower, m);
    Step   *step;

    if (kind < 0 || how < 0)
        return -1;
    if (floats(lower, m, "support_vectors", vectors * m->features, &w) < 0 ||
        floats(lower, m, "coefficients", (m->classes - 1) * vectors, &coef) < 0 ||
        floats(lower, m, "rho", m->pairs, &rho) < 0)
        return -1;
    y = scores_temporary(lower, DTYPE_F32, m->rows, m->pairs, "pairs");
    step = step_begin(lower, m->node, "svm_pairs");
    step_reads(lower, step, m->x);
    step_reads(lower, step, w);
    step_reads(lower, step, coef);
    step_reads(lower, step, rho);
    step_writes(lower, step, y);
    step_writes(lower, step, best);
    step_writes(lower, step, lower_scratch(lower, DTYPE_F32, vectors, "alike"));
    step_writes(lower, step, lower_scratch(lower, DTYPE_I64, m->classes, "votes"));
    step_extent(lower, step, m->rows);
    step_int(lower, step, m->features);
    step_int(lower, step, m->classes);
    step_ints(lower, step, (int)m->classes + 1, m->first);
    step_int(lower, step, kind);
    for (int i = 0; i < 3; i++) /* gamma, offset, degree */
        step_float(lower, step, entry(m->node, "kernel_params", i));
    if (step_end(lower, step) < 0 || label_rows(lower, m, best) < 0)
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
