/* pool_infer.c - types of pools. */
#include "infer/window.h"
#include "ops/rules.h"

#include <string.h>

static int set_pool(Infer *infer, Node *node, DType dtype)
{
    const Type *x = infer_in(node, 0);
    Window      window;
    Extent      dim[MAX_RANK];

    if (window_read(infer, node, x, NULL, &window) < 0 ||
        window_extents(infer, node, x, node_int(node, "ceil_mode", 0) != 0, &window) < 0)
        return -1;
    dim[0] = x->dim[0];
    dim[1] = x->dim[1];
    memcpy(dim + 2, window.out, sizeof *dim * (size_t)window.naxes);
    if (infer_set_tensor(infer, node, 0, dtype, x->rank, dim) < 0)
        return -1;
    return infer_set_tensor(infer, node, 1, DTYPE_I64, x->rank, dim); /* MaxPool's places */
}

int infer_pool(Infer *infer, Node *node)
{
    if (dtype_in(node->in[0]->type.dtype, "IU") && dtype_info(node->in[0]->type.dtype)->bits != 8)
        return diag_error(infer->diag, node->loc, "input 0 '%s' holds %s, wanted floats or integers of 8 bits",
                          node->in[0]->name, dtype_info(node->in[0]->type.dtype)->name);
    return set_pool(infer, node, node->in[0]->type.dtype);
}

static int set_global(Infer *infer, Node *node, DType dtype)
{
    const Type *x = infer_in(node, 0);
    Extent      dim[MAX_RANK];

    for (int i = 0; i < x->rank; i++)
        dim[i] = i < 2 ? x->dim[i] : extent_const(1);
    return infer_set_tensor(infer, node, 0, dtype, x->rank, dim);
}

int infer_global_pool(Infer *infer, Node *node)
{
    return set_global(infer, node, node->in[0]->type.dtype);
}

static int need_channels_first(Infer *infer, const Node *node)
{
    return node_int(node, "channels_last", 0)
               ? diag_unsupported(infer->diag, node->loc,
                                  "channels_last pools are not supported; export with channels first")
               : 0;
}

/* com.microsoft: x, its scale and zero point, the result's scale and zero point. */
int infer_qlinear_pool(Infer *infer, Node *node)
{
    if (need_channels_first(infer, node) < 0)
        return -1;
    return set_pool(infer, node, node->in[0]->type.dtype);
}

/* Inputs: x, divisor, zero point of x: sums over windows, divided. */
int infer_integer_pool(Infer *infer, Node *node)
{
    return set_pool(infer, node, DTYPE_F32);
}

int infer_qlinear_global_pool(Infer *infer, Node *node)
{
    if (need_channels_first(infer, node) < 0)
        return -1;
    return set_global(infer, node, node->in[0]->type.dtype);
}

/* Undoes a MaxPool: the extents that it had come from the attributes, or from input 2. */
int infer_max_unpool(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Window      window;
    Extent      dim[MAX_RANK];

    if (infer_need_same_shape(infer, node, 0, 1) < 0)
        return -1;
    if (infer_has(node, 2)) {
        int count = infer_elems(infer, node, 2, 0, INT64_MAX, dim, MAX_RANK);
        if (count < 0)
            return -1;
        if (count != x->rank)
            return diag_error(infer->diag, node->loc, "output_shape has %d entries, wanted %d", count, x->rank);
    } else {
        if (window_read(infer, node, x, NULL, &window) < 0 || window_transposed(infer, node, x, &window) < 0)
            return -1;
        dim[0] = x->dim[0];
        dim[1] = x->dim[1];
        memcpy(dim + 2, window.out, sizeof *dim * (size_t)window.naxes);
    }
    return infer_set_tensor(infer, node, 0, x->dtype, x->rank, dim);
}

/* x [N][C][H][W], rois [R][5]. */
int infer_max_roi_pool(Infer *infer, Node *node)
{
    int            count;
    const int64_t *shape = node_ints(node, "pooled_shape", &count);
    Extent         dim[4];

    if (infer_need_equal(infer, node, node->in[1]->type.dim[1], extent_const(5), "numbers of a region") < 0)
        return -1;
    if (count != 2 || shape[0] < 1 || shape[1] < 1)
        return diag_error(infer->diag, node->loc, "attribute 'pooled_shape' must hold a height and a width");
    dim[0] = node->in[1]->type.dim[0];
    dim[1] = node->in[0]->type.dim[1];
    dim[2] = extent_const(shape[0]);
    dim[3] = extent_const(shape[1]);
    return infer_set_tensor(infer, node, 0, node->in[0]->type.dtype, 4, dim);
}
