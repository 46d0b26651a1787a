/* ml_infer.c - types of the operators of ai.onnx.ml: tables, scalings, trees and linear models. */
#include "infer/infer.h"
#include "ops/rules.h"

/* ----------------------------------------------------------------------------------------------------------- tables */

int infer_label_encoder(Infer *infer, Node *node)
{
    const Attr *tensor = node_attr(node, "values_tensor");
    const Type *x = infer_in(node, 0);
    DType       to = DTYPE_NONE;

    if (tensor)
        to = tensor->type.dtype;
    else if (node_attr(node, "values_strings"))
        to = DTYPE_TEXT;
    else if (node_attr(node, "values_int64s"))
        to = DTYPE_I64;
    else if (node_attr(node, "values_floats"))
        to = DTYPE_F32;
    else if (node_attr(node, "classes_strings")) /* version 1: to the place in the list, or from it */
        to = x->dtype == DTYPE_TEXT ? DTYPE_I64 : DTYPE_TEXT;
    if (!to)
        return diag_error(infer->diag, node->loc, "found no values_*; wanted the labels that keys stand for");
    return infer_set(infer, node, 0, infer_shaped(to, x));
}

int infer_category_mapper(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);

    return infer_set(infer, node, 0, infer_shaped(x->dtype == DTYPE_TEXT ? DTYPE_I64 : DTYPE_TEXT, x));
}

int infer_array_feature_extractor(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0), *places = infer_in(node, 1);
    Type        type;

    type = infer_shaped(x->dtype, x);
    if (x->rank == 1) {
        type.rank = 2;
        type.dim[0] = extent_const(1);
    }
    type.dim[type.rank - 1] = infer_product(infer, places, 0, places->rank);
    return infer_set(infer, node, 0, type);
}

int infer_one_hot_encoder(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    const Attr *text = node_attr(node, "cats_strings");
    int         count;
    Type        type;

    node_ints(node, "cats_int64s", &count);
    type = infer_shaped(DTYPE_F32, x);
    type.dim[type.rank++] = extent_const(text ? text->count : count);
    return infer_set(infer, node, 0, type);
}

/* --------------------------------------------------------------------------------------------- scalings of features */

/* Numbers in, numbers of the same shape and type out. */
int infer_binarizer(Infer *infer, Node *node)
{
    return infer_set(infer, node, 0, infer_shaped(infer_in(node, 0)->dtype, infer_in(node, 0)));
}

/* Numbers in, floats of the same shape out. */
int infer_scaler(Infer *infer, Node *node)
{
    return infer_set(infer, node, 0, infer_shaped(DTYPE_F32, infer_in(node, 0)));
}

/* FeatureVectorizer: the inputs, vectors or matrices, are concatenated along the row. */
int infer_feature_vectorizer(Infer *infer, Node *node)
{
    Extent         dim[2] = {extent_const(1), extent_const(0)};
    int            count;
    const int64_t *columns = node_ints(node, "inputdimensions", &count);

    if (columns && count != node->nin)
        return diag_error(infer->diag, node->loc, "attribute 'inputdimensions' has %d entries for %d inputs", count,
                          node->nin);
    for (int i = 0; i < node->nin; i++) {
        const Type *x = infer_in(node, i);
        if (infer_need(infer, node, i, "FI", 1, 2) < 0)
            return -1;
        if (columns &&
            infer_need_equal(infer, node, x->dim[x->rank - 1], extent_const(columns[i]), "columns of an input") < 0)
            return -1;
        if (x->rank == 2 && i > 0 && infer_need_equal(infer, node, x->dim[0], dim[0], "the rows of all inputs") < 0)
            return -1;
        if (x->rank == 2)
            dim[0] = x->dim[0];
        dim[1] = infer_add(infer, dim[1], x->dim[x->rank - 1]);
    }
    return infer_set_tensor(infer, node, 0, DTYPE_F32, 2, dim);
}

/* ----------------------------------------------------------------------------------------------------------- models */

/* Rows of the input: a vector is one row. */
static int rows_of(Infer *infer, const Node *node, Extent *rows)
{
    if (infer_need(infer, node, 0, "FI", 1, 2) < 0)
        return -1;
    *rows = infer_in(node, 0)->rank == 2 ? infer_in(node, 0)->dim[0] : extent_const(1);
    return 0;
}

static int scores(Infer *infer, Node *node, int output, DType dtype, int64_t columns)
{
    Extent dim[2];

    if (rows_of(infer, node, &dim[0]) < 0)
        return -1;
    dim[1] = extent_const(columns);
    return infer_set_tensor(infer, node, output, dtype, 2, dim);
}

/* A label and the scores of all classes for each row. */
static int classified(Infer *infer, Node *node, const char *texts, const char *numbers, int64_t columns)
{
    const Attr *text = node_attr(node, texts);
    int         count;
    Extent      rows;

    node_ints(node, numbers, &count);
    if (text && text->count)
        count = text->count;
    if (!count)
        return diag_error(infer->diag, node->loc, "found neither %s nor %s; wanted the classes' labels", texts,
                          numbers);
    if (rows_of(infer, node, &rows) < 0 ||
        infer_set_tensor(infer, node, 0, text && text->count ? DTYPE_TEXT : DTYPE_I64, 1, &rows) < 0)
        return -1;
    return scores(infer, node, 1, DTYPE_F32, columns > 0 ? columns : count);
}

int infer_linear_regressor(Infer *infer, Node *node)
{
    return scores(infer, node, 0, DTYPE_F32, node_int(node, "targets", 1));
}

int infer_linear_classifier(Infer *infer, Node *node)
{
    return classified(infer, node, "classlabels_strings", "classlabels_ints", 0);
}

int infer_tree_regressor(Infer *infer, Node *node)
{
    return scores(infer, node, 0, DTYPE_F32, node_int(node, "n_targets", 1));
}

int infer_tree_classifier(Infer *infer, Node *node)
{
    return classified(infer, node, "classlabels_strings", "classlabels_int64s", 0);
}

int infer_tree_ensemble(Infer *infer, Node *node)
{
    return scores(infer, node, 0, infer_in(node, 0)->dtype, node_int(node, "n_targets", 1));
}

int infer_svm_regressor(Infer *infer, Node *node)
{
    return scores(infer, node, 0, DTYPE_F32, 1);
}

/* Machines of vectors without probabilities give a score for every two classes, where there are more than two. */
int infer_svm_classifier(Infer *infer, Node *node)
{
    const Attr *text = node_attr(node, "classlabels_strings"), *probabilities = node_attr(node, "prob_a");
    int         labels, vectors;
    int64_t     classes;

    node_ints(node, "classlabels_ints", &labels);
    node_ints(node, "vectors_per_class", &vectors);
    classes = text && text->count ? text->count : labels;
    if (!vectors || (probabilities && probabilities->count) || classes < 3)
        classes = 0;
    return classified(infer, node, "classlabels_strings", "classlabels_ints", classes * (classes - 1) / 2);
}
