/* training_infer.c - types of losses and optimisers. */
#include "infer/infer.h"
#include "ops/rules.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- losses */

/* scores [N][C][more], labels [N][more], weights [C]: a scalar, or with reduction "none" one loss for each label. */
static int set_loss(Infer *infer, Node *node)
{
    const Type *scores = infer_in(node, 0), *labels = infer_in(node, 1);
    const char *reduction = node_string(node, "reduction", "mean");

    if (infer_need(infer, node, 0, "FL", 2, MAX_RANK) < 0 ||
        infer_need(infer, node, 1, "I", scores->rank - 1, scores->rank - 1) < 0 ||
        infer_need_vector(infer, node, 2, scores->dim[1]) < 0)
        return -1;
    if (strcmp(reduction, "none") && strcmp(reduction, "sum") && strcmp(reduction, "mean"))
        return diag_error(infer->diag, node->loc, "attribute 'reduction' is '%s', wanted none, sum or mean", reduction);
    for (int i = 0; i < labels->rank; i++)
        if (infer_need_equal(infer, node, labels->dim[i], scores->dim[i ? i + 1 : 0], "extents of scores and labels") <
            0)
            return -1;
    return strcmp(reduction, "none") ? infer_set(infer, node, 0, type_tensor(scores->dtype, 0, NULL))
                                     : infer_set(infer, node, 0, infer_shaped(scores->dtype, labels));
}

int infer_likelihood_loss(Infer *infer, Node *node)
{
    return set_loss(infer, node);
}

int infer_cross_entropy_loss(Infer *infer, Node *node)
{
    if (set_loss(infer, node) < 0)
        return -1;
    return infer_set_same(infer, node, 1);
}

/* ------------------------------------------------------------------------------------------------------- optimisers */

/* Rate, step count, then all tensors, all gradients and one or two lists of statistics; outputs are the new tensors and
 * statistics. */
int infer_optimizer(Infer *infer, Node *node)
{
    int lists = node->op == OP_training_Adam ? 4 : 3, tensors = (node->nin - 2) / lists;

    if (tensors < 1 || node->nin != 2 + lists * tensors || node->nout != (lists - 1) * tensors)
        return diag_error(infer->diag, node->loc,
                          "found %d inputs and %d outputs, wanted 2 and %d for each tensor, and %d for each", node->nin,
                          node->nout, lists, lists - 1);
    for (int i = 0; i < tensors * lists; i++)
        if (infer_need_dtype(infer, node, 2 + i, "F") < 0 ||
            infer_need_same_shape(infer, node, 2 + i % tensors, 2 + i) < 0)
            return -1;
    for (int i = 0; i < node->nout; i++) { /* the gradients have no outputs */
        int from = i < tensors ? i : i + tensors;
        if (infer_set(infer, node, i, infer_shaped(node->in[2 + from]->type.dtype, &node->in[2 + from]->type)) < 0)
            return -1;
    }
    return 0;
}

/* Gradient: each output has the type of the input that xs names in its place. */
int infer_gradient(Infer *infer, Node *node)
{
    const Attr *xs = node_attr(node, "xs");

    if (!xs || xs->count < 1 || xs->count != node->nout || xs->count > node->nin)
        return diag_error(infer->diag, node->loc,
                          "attribute 'xs' has %d entries with %d inputs and %d outputs, wanted one for each output",
                          xs ? xs->count : 0, node->nin, node->nout);
    if (infer->depth > 1)
        return diag_unsupported(infer->diag, node->loc, "found a derivative in a body; take it outside");
    for (int i = 0; i < node->nout; i++)
        if (infer_need_dtype(infer, node, i, "F") < 0 ||
            infer_set(infer, node, i, infer_shaped(node->in[i]->type.dtype, &node->in[i]->type)) < 0)
            return -1;
    return 0;
}
