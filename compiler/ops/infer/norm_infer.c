/* norm_infer.c - types of normalisations. */
#include "infer/infer.h"
#include "ops/rules.h"

int infer_softmax(Infer *infer, Node *node)
{
    int axis, rank;

    rank = node->in[0]->type.rank;
    if (rank && infer_axis(infer, node, node_int(node, "axis", -1), rank, &axis) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

/* Scale, bias, mean and variance are [C]; with training_mode the running mean and variance are outputs 1 and 2. */
int infer_batch_norm(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Extent      channels;

    channels = x->rank > 1 ? x->dim[1] : extent_const(1);
    for (int i = 1; i <= 4; i++)
        if (infer_need_vector(infer, node, i, channels) < 0 || infer_need_same_width(infer, node, 0, i) < 0)
            return -1;
    if (!node_int(node, "training_mode", 0) && (infer_wants(node, 1) || infer_wants(node, 2)))
        return diag_error(infer->diag, node->loc, "found outputs for running statistics without training_mode");
    if (infer_set_same(infer, node, 0) < 0)
        return -1;
    for (int i = 1; i <= 2; i++)
        if (infer_set_tensor(infer, node, i, node->in[3]->type.dtype, 1, &channels) < 0)
            return -1;
    return 0;
}

int infer_instance_norm(Infer *infer, Node *node)
{
    if (infer_need_vector(infer, node, 1, node->in[0]->type.dim[1]) < 0 ||
        infer_need_vector(infer, node, 2, node->in[0]->type.dim[1]) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

/* Scale and bias have one element a channel. */
int infer_group_norm(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    int64_t     groups = node_int(node, "num_groups", 0);

    if (groups < 1 || (x->dim[1].expr < 0 && x->dim[1].max % groups))
        return diag_error(infer->diag, node->loc,
                          "attribute 'num_groups' is %lld, wanted a divisor of the %lld channels", (long long)groups,
                          (long long)x->dim[1].max);
    if (infer_need_vector(infer, node, 1, x->dim[1]) < 0 || infer_need_vector(infer, node, 2, x->dim[1]) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

/* Input `index` (scale, bias) broadcasts to the axes from `axis` on. */
static int need_normalized(Infer *infer, const Node *node, int index, int axis)
{
    const Type *x = infer_in(node, 0), *scale = infer_in(node, index);
    Extent      out[MAX_RANK];
    int         rank;

    (void)axis;
    if (!scale)
        return 0;
    if (infer_need_rank(infer, node, index, 0, x->rank) < 0)
        return -1;
    return infer_broadcast_dims(infer, node, x->rank, x->dim, scale->rank, scale->dim, &rank, out);
}

/* Mean and reciprocal deviation keep their axes, reduced to 1, in the type that stash_type names. */
static int set_statistics(Infer *infer, Node *node, int first, int axis, DType dtype)
{
    Type type = infer_shaped(dtype, &node->in[0]->type);

    for (int i = axis; i < type.rank; i++)
        type.dim[i] = extent_const(1);
    return infer_set(infer, node, first, type) < 0 ? -1 : infer_set(infer, node, first + 1, type);
}

int infer_layer_norm(Infer *infer, Node *node)
{
    int axis;

    if (infer_axis(infer, node, node_int(node, "axis", -1), node->in[0]->type.rank, &axis) < 0 ||
        need_normalized(infer, node, 1, axis) < 0 || need_normalized(infer, node, 2, axis) < 0 ||
        infer_set_same(infer, node, 0) < 0)
        return -1;
    return set_statistics(infer, node, 1, axis, (DType)node_int(node, "stash_type", DTYPE_F32));
}

/* The result has the scale's element type. */
int infer_rms_norm(Infer *infer, Node *node)
{
    int axis;

    if (infer_need_same_width(infer, node, 0, 1) < 0 ||
        infer_axis(infer, node, node_int(node, "axis", -1), node->in[0]->type.rank, &axis) < 0 ||
        need_normalized(infer, node, 1, axis) < 0)
        return -1;
    return infer_set(infer, node, 0, infer_shaped(node->in[1]->type.dtype, &node->in[0]->type));
}

/* com.microsoft: layer norm of input + skip (+ bias); mean, deviation and the sum are optional outputs. */
int infer_skip_layer_norm(Infer *infer, Node *node)
{
    int last;

    last = node->in[0]->type.rank - 1;
    for (int i = 2; i < node->nin; i++)
        if (infer_need_vector(infer, node, i, node->in[0]->type.dim[last]) < 0)
            return -1;
    if (infer_set_same(infer, node, 0) < 0 || set_statistics(infer, node, 1, last, DTYPE_F32) < 0)
        return -1;
    return infer_set_same(infer, node, 3);
}

int infer_lrn(Infer *infer, Node *node)
{
    if (node_int(node, "size", 0) < 1)
        return diag_error(infer->diag, node->loc, "attribute 'size' is %lld, wanted 1 or more",
                          (long long)node_int(node, "size", 0));
    return infer_set_same(infer, node, 0);
}

int infer_mean_variance(Infer *infer, Node *node)
{
    static const int64_t usual[] = {0, 2, 3};
    int                  count;
    const int64_t       *axes = node_ints(node, "axes", &count);
    bool                 chosen[MAX_RANK];

    if (infer_axes(infer, node, axes ? axes : usual, axes ? count : 3, node->in[0]->type.rank, chosen) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}
