/* expand_when.c - the conditions of expand.def: which nodes are expanded of operators that have kernels, too. */
#include "ops/expand/expand_rules.h"
#include "program/scalar.h"

#include <string.h>

bool expand_is_not_float(const Node *node)
{
    DType dtype = node->nin && node->in[0] ? node->in[0]->type.dtype : DTYPE_NONE;

    return dtype != DTYPE_F32 && dtype != DTYPE_NONE;
}

/* Is the element type double or an integer? Halves are converted to float elsewhere. */
bool expand_is_double(const Node *node)
{
    return expand_is_not_float(node) && !dtype_in(node->in[0]->type.dtype, "L");
}

bool expand_is_whole(const Node *node)
{
    return dtype_in(node->in[0]->type.dtype, "IU");
}

/* Does Resize interpolate whole numbers, instead of picking some? */
bool expand_mixes_whole(const Node *node)
{
    const char *coordinates = node_string(node, "coordinate_transformation_mode", "half_pixel");
    bool picks = !strcmp(node_string(node, "mode", "nearest"), "nearest") && strcmp(coordinates, "tf_crop_and_resize");

    return !picks && expand_is_whole(node);
}

bool expand_is_unsigned_long(const Node *node)
{
    return node->in[0]->type.dtype == DTYPE_U64;
}

/* Does only attribute `dtype` make the result a half? */
bool expand_makes_half(const Node *node)
{
    return dtype_in(node->out[0]->type.dtype, "L");
}

/* Is this a scatter of halves that adds, multiplies or compares? */
bool expand_concat_is_half(const Node *node)
{
    return dtype_in(node->in[0]->type.dtype, "L") && strcmp(node_string(node, "reduction", "none"), "none") != 0;
}

bool expand_trains(const Node *node)
{
    return node_int(node, "training_mode", 0) != 0 || expand_is_not_float(node);
}

/* May Dropout drop elements? Not if it is known not to train, or to keep everything. */
bool expand_drops(const Node *node)
{
    double training = 0.0, ratio = 0.5;
    bool   rests = node->nin < 3 || !node->in[2] || (const_scalar(node->in[2], &training) && training == 0.0);

    return !rests && !(node->in[1] && const_scalar(node->in[1], &ratio) && ratio == 0.0);
}

bool expand_cdist_has_root(const Node *node)
{
    return !strcmp(node_string(node, "metric", "sqeuclidean"), "euclidean");
}

bool expand_is_many(const Node *node)
{
    return node->nin > SCALAR_MAX_OPERANDS;
}
