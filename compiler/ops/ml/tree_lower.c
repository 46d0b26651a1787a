/* tree_lower.c - tree ensembles: a walk of each row through all trees, then scores and labels. */
#include "ops/ml/scores.h"
#include "ops/ml/tree.h"
#include "ops/rules.h"
#include "lower/call.h"

static Operand table(Lower *lower, const void *data, DType dtype, int64_t count, const char *name)
{
    return lower_weight(lower, data, dtype, 1, &count, name);
}

/* Sums of the votes [rows][targets]; *seen likewise, whether any leaf voted. */
static int walk(Lower *lower, const Node *node, const Forest *f, int64_t targets, int fold, void *base, Operand *y,
                Operand *seen)
{
    Operand x, nodes, splits, leaves, chosen, weights, roots, members, bases;
    Extent  rows, features;

    if (scores_input(lower, node, f->dtype, &x, &rows, &features) < 0)
        return -1;
    if (!extent_is_const(features))
        return diag_unsupported(lower->diag, node->loc,
                                "the number of features is known only while running; pin it with --dim");
    if (forest_check(lower, node, f, features.max, targets) < 0)
        return -1;
    *y = scores_temporary(lower, f->dtype, rows, targets, "votes");
    *seen = scores_temporary(lower, DTYPE_U8, rows, targets, "voted");
    nodes = table(lower, f->node, DTYPE_I64, f->nodes * TREE_FIELDS, "nodes");
    splits = table(lower, f->split, f->dtype, f->nodes, "splits");
    leaves = table(lower, f->leaf, DTYPE_I64, f->leaves + 1, "leaves");
    chosen = table(lower, f->target, DTYPE_I64, f->votes, "targets");
    weights = table(lower, f->weight, f->dtype, f->votes, "weights");
    roots = table(lower, f->root, DTYPE_I64, f->trees, "roots");
    members = table(lower, f->member, f->dtype, f->members, "members");
    bases = base ? table(lower, base, f->dtype, targets, "base") : operand_absent(f->dtype);
    return STEP(lower, node, f->dtype == DTYPE_F64 ? "trees_f64" : "trees_f32", ARG(x, x), ARG(node, nodes),
                ARG(split, splits), ARG(leaf, leaves), ARG(target, chosen), ARG(weight, weights), ARG(root, roots),
                ARG(member, members), ARG(base, bases), ARG(y, *y), ARG(seen, *seen), ARG(rows, rows),
                ARG(features, features), ARG(trees, f->trees), ARG(targets, targets), ARG(fold, fold));
}

/* As TreeEnsemble numbers them; -1 with a message. */
static int fold_by_name(Lower *lower, const Node *node)
{
    static const char *const names[] = {"SUM", "AVERAGE", "MIN", "MAX"};
    static const int         folds[] = {1, 0, 2, 3};
    int                      word = node_word(node, lower->diag, "aggregate_function", names, 4);

    return word < 0 ? -1 : folds[word];
}

/* Values added to the sums: one for each target, or none. */
static int read_base(Lower *lower, const Node *node, DType dtype, int64_t targets, void **base)
{
    int64_t count;

    *base = forest_numbers(lower, node, "base_values_as_tensor", dtype, &count);
    if (!*base)
        *base = forest_numbers(lower, node, "base_values", dtype, &count);
    if (*base && count != targets)
        return diag_unsupported(lower->diag, node->loc, "%lld base values for %lld targets; give one for each",
                                (long long)count, (long long)targets);
    return 0;
}

/* Trees compute on doubles where their input or their weights are doubles. */
static DType working_type(const Node *node)
{
    return node->in[0]->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

static int finish_scores(Lower *lower, const Node *node, int output, Operand y, int64_t targets, int how,
                         int signed_pair)
{
    DType to = node->out[output] ? node->out[output]->type.dtype : y.dtype;

    if (how == SCORE_NONE && node->out[output] && node->out[output]->type.dim[1].max == targets)
        return lower_convert(lower, y, to, &y) < 0 ? -1 : lower_output_view(lower, node, output, y);
    if (to != DTYPE_F32)
        return diag_unsupported(lower->diag, node->loc, "scores of %s are not transformed; cast them to float",
                                dtype_info(to)->name);
    if (lower_convert(lower, y, DTYPE_F32, &y) < 0)
        return -1;
    return scores_finish(lower, node, output, y, targets, how, signed_pair);
}

int lower_tree_ensemble(Lower *lower, const Node *node)
{
    static const int hows[] = {SCORE_NONE, SCORE_SOFTMAX, SCORE_LOGISTIC, SCORE_SOFTMAX_ZERO, SCORE_PROBIT};
    Forest           forest = {.dtype = working_type(node)};
    int64_t          targets = node_int(node, "n_targets", 1), how = node_int(node, "post_transform", 0);
    int64_t          fold = node_int(node, "aggregate_function", 1);
    Operand          y, seen;

    if (how < 0 || how > 4 || fold < 0 || fold > 3)
        return diag_error(lower->diag, node->loc, "post_transform %lld, aggregate_function %lld", (long long)how,
                          (long long)fold);
    if (forest_read(lower, node, &forest) < 0 || walk(lower, node, &forest, targets, (int)fold, NULL, &y, &seen) < 0)
        return -1;
    return finish_scores(lower, node, 0, y, targets, hows[how], 0);
}

int lower_tree_regressor(Lower *lower, const Node *node)
{
    Forest  forest = {.dtype = working_type(node)};
    int64_t targets = node_int(node, "n_targets", 1);
    int     fold = fold_by_name(lower, node), how = scores_transform_of(lower, node);
    void   *base;
    Operand y, seen;

    if (fold < 0 || how < 0 || forest_read_classic(lower, node, "target", &forest) < 0 ||
        read_base(lower, node, forest.dtype, targets, &base) < 0 ||
        walk(lower, node, &forest, targets, fold, base, &y, &seen) < 0)
        return -1;
    return finish_scores(lower, node, 0, y, targets, how, 0);
}

/* --------------------------------------------------------------------------------------------------- classification */

static bool all_positive(const Forest *f)
{
    for (int64_t i = 0; i < f->votes; i++)
        if ((f->dtype == DTYPE_F64 ? ((double *)f->weight)[i] : (double)((float *)f->weight)[i]) < 0.0)
            return false;
    return true;
}

/* Two classes and votes for one of them only: its number, else -1. Votes for class 0 then stand for the second class,
 * and the first one's score follows from it; votes for class 1 leave the first without a score (as ONNX Runtime has
 * it). */
static int64_t one_sided(const Forest *f, int64_t classes)
{
    for (int64_t i = 1; i < f->votes; i++)
        if (f->target[i] != f->target[0])
            return -1;
    return classes == 2 && f->votes ? f->target[0] : -1;
}

/* The last of the targets' scores, by itself. */
static int last_column(Lower *lower, const Node *node, Operand y, int64_t targets, Operand *out)
{
    Operand column = operand_window(lower, y, 1, extent_const(targets - 1), extent_const(1), 1);

    *out = scores_temporary(lower, DTYPE_F32, y.dim[0], 1, "score");
    return lower_copy(lower, node, column, *out);
}

int lower_tree_classifier(Lower *lower, const Node *node)
{
    Forest      forest = {.dtype = working_type(node)};
    const Attr *text = node_attr(node, "classlabels_strings"), *ints = node_attr(node, "classlabels_int64s");
    int64_t     classes = text && text->count ? text->count : ints ? ints->count : 0, targets, side;
    double      limit;
    void       *base;
    Operand     y, seen, decides;

    if (forest_read_classic(lower, node, "class", &forest) < 0)
        return -1;
    side = one_sided(&forest, classes);
    limit = all_positive(&forest) ? 0.5 : 0.0;
    targets = side == 0 ? 1 : classes;
    if (read_base(lower, node, forest.dtype, targets, &base) < 0 ||
        walk(lower, node, &forest, targets, 1, base, &y, &seen) < 0 || lower_convert(lower, y, DTYPE_F32, &y) < 0)
        return -1;
    decides = y;
    if (side == 1 && last_column(lower, node, y, targets, &decides) < 0)
        return -1;
    if (side >= 0 || base || classes == 2) /* else a class that no leaf of the row votes for has no score */
        seen = operand_absent(DTYPE_U8);
    if (scores_label(lower, node, decides, seen, side >= 0 ? 1 : targets, "classlabels_strings", "classlabels_int64s",
                     limit) < 0)
        return -1;
    return scores_finish(lower, node, 1, y, targets, scores_transform_of(lower, node), limit == 0.0);
}
