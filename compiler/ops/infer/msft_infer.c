/* msft_infer.c - types of operators of com.microsoft that transformers are exported with. */
#include "infer/infer.h"
#include "ops/rules.h"

/* ----------------------------------------------------------------------------------------------- activations, norms */

/* Gelu of the input plus a bias, which FastGelu may lack. */
int infer_bias_gelu(Infer *infer, Node *node)
{
    if (infer_need_vector(infer, node, 1, node->in[0]->type.dim[node->in[0]->type.rank - 1]) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

/* [batch][rows][2 n] -> [batch][rows][n]. */
int infer_bias_split_gelu(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type = infer_shaped(x->dtype, x);
    Extent      two = extent_const(2);

    type.dim[2] = infer_div(infer, x->dim[2], two);
    if (infer_need_vector(infer, node, 1, x->dim[2]) < 0 ||
        infer_need_equal(infer, node, infer_mul(infer, type.dim[2], two), x->dim[2], "channels and twice their half") <
            0)
        return -1;
    return infer_set(infer, node, 0, type);
}

/* Output `index`: statistics of the axes from `axis` on. */
static int set_statistic(Infer *infer, Node *node, int index, int axis)
{
    Type type = infer_shaped(DTYPE_F32, &node->in[0]->type);

    for (int i = axis; i < type.rank; i++)
        type.dim[i] = extent_const(1);
    return infer_set(infer, node, index, type);
}

int infer_simplified_layer_norm(Infer *infer, Node *node)
{
    int axis;

    if (infer_rms_norm(infer, node) < 0 ||
        infer_axis(infer, node, node_int(node, "axis", -1), node->in[0]->type.rank, &axis) < 0)
        return -1;
    if (infer_wants(node, 1) && node_int(node, "stash_type", DTYPE_F32) != DTYPE_F32)
        return diag_unsupported(infer->diag, node->loc,
                                "found statistics of stash_type %lld; export them as floats (1)",
                                (long long)node_int(node, "stash_type", DTYPE_F32));
    return set_statistic(infer, node, 1, axis);
}

/* The skip has the input's extents, or lacks the batch. */
int infer_skip_simplified(Infer *infer, Node *node)
{
    Type sum;
    int  last;

    if (infer_need(infer, node, 0, "FL", 2, 3) < 0 || infer_need_same_dtype(infer, node, 0, 1) < 0 ||
        infer_broadcast_inputs(infer, node, 0, 2, &sum) < 0)
        return -1;
    if (infer_wants(node, 1))
        return diag_unsupported(infer->diag, node->loc,
                                "found the output 'mean', which this norm does not compute; leave it out");
    last = node->in[0]->type.rank - 1;
    for (int i = 2; i < 4; i++)
        if (infer_need_vector(infer, node, i, node->in[0]->type.dim[last]) < 0)
            return -1;
    if (infer_set_same(infer, node, 0) < 0 || set_statistic(infer, node, 2, last) < 0)
        return -1;
    return infer_set_same(infer, node, 3);
}

/* ------------------------------------------------------------------------------------------------------- embeddings */

/* Rows of the table of positions are enough for the sequence, or position_ids name them. */
static int check_positions(Infer *infer, const Node *node, const Type *ids)
{
    const Type *table = infer_in(node, 3), *positions = infer_in(node, 8);
    Extent      length;

    if (!positions)
        return extent_is_const(table->dim[0])
                   ? infer_within(infer, node, ids->dim[1], 0, table->dim[0].max, "the sequence's length", &length)
                   : 0;
    if (infer_need(infer, node, 8, "I", 2, 2) < 0 ||
        infer_need_equal(infer, node, positions->dim[1], ids->dim[1], "lengths of the positions") < 0)
        return -1;
    return extent_is(positions->dim[0], 1)
               ? 0
               : infer_need_equal(infer, node, positions->dim[0], ids->dim[0], "batches of the positions");
}

/* Inputs ids, segments, tables of words, positions and segments, scale, shift, mask, position ids. */
int infer_embed_layer_norm(Infer *infer, Node *node)
{
    const Type *ids = infer_in(node, 0);
    Extent      dim[3];

    for (int i = 0; i < 2; i++)
        if (infer_has(node, i ? 1 : 0) && infer_need(infer, node, i, "I", 2, 2) < 0)
            return -1;
    if (infer_need(infer, node, 0, "I", 2, 2) < 0 || infer_need(infer, node, 2, "FL", 2, 2) < 0 ||
        infer_need(infer, node, 3, "FL", 2, 2) < 0)
        return -1;
    if (infer_has(node, 1) != infer_has(node, 4))
        return diag_error(infer->diag, node->loc,
                          "found one of segment_ids and segment_embedding, wanted both or none");
    dim[0] = ids->dim[0];
    dim[1] = ids->dim[1];
    dim[2] = node->in[2]->type.dim[1];
    if ((infer_has(node, 1) &&
         (infer_need_same_shape(infer, node, 0, 1) < 0 || infer_need(infer, node, 4, "FL", 2, 2) < 0 ||
          infer_need_equal(infer, node, node->in[4]->type.dim[1], dim[2], "sizes of the embeddings") < 0)) ||
        (infer_has(node, 7) &&
         (infer_need(infer, node, 7, "I", 2, 2) < 0 || infer_need_same_shape(infer, node, 0, 7) < 0)) ||
        infer_need_equal(infer, node, node->in[3]->type.dim[1], dim[2], "sizes of the embeddings") < 0 ||
        check_positions(infer, node, ids) < 0)
        return -1;
    for (int i = 5; i < 7; i++)
        if (infer_need_tensor(infer, node, i) < 0 || infer_need_vector(infer, node, i, dim[2]) < 0)
            return -1;
    if (infer_set_tensor(infer, node, 0, node->in[2]->type.dtype, 3, dim) < 0 ||
        infer_set_tensor(infer, node, 1, DTYPE_I32, 1, dim) < 0)
        return -1;
    return infer_set_tensor(infer, node, 2, node->in[2]->type.dtype, 3, dim);
}
