/* spatial.c - five axes for window kernels. */
#include "ops/spatial.h"

void spatial_dims(Lower *lower, Step *step, const Operand *x, int64_t channels)
{
    Extent out[5] = {x->dim[0], channels < 0 ? x->dim[1] : extent_const(channels)};

    for (int i = 2; i < 5; i++)
        out[i] = i < 7 - x->rank ? extent_const(1) : x->dim[i - 5 + x->rank];
    step_extents(lower, step, 5, out);
}

void spatial_strides(Lower *lower, Step *step, const Operand *x)
{
    Extent out[5] = {x->stride[0], x->stride[1]};

    for (int i = 2; i < 5; i++)
        out[i] = i < 7 - x->rank ? extent_const(0) : x->stride[i - 5 + x->rank];
    step_extents(lower, step, 5, out);
}

void spatial_extents(Lower *lower, Step *step, const Extent *values, int naxes)
{
    Extent out[3];

    for (int i = 0; i < 3; i++)
        out[i] = i < 3 - naxes ? extent_const(0) : values[i - 3 + naxes];
    step_extents(lower, step, 3, out);
}

void spatial_ints(Lower *lower, Step *step, const int64_t *values, int naxes, int64_t missing)
{
    int64_t out[3];

    for (int i = 0; i < 3; i++)
        out[i] = i < 3 - naxes ? missing : values[i - 3 + naxes];
    step_ints(lower, step, 3, out);
}

int spatial_need(Lower *lower, const Node *node)
{
    if (node->in[0]->type.rank >= 3 && node->in[0]->type.rank <= 5)
        return 0;
    return diag_unsupported(lower->diag, node->loc, "found rank %d, wanted one to three spatial axes; fold the others into the batch",
                            node->in[0]->type.rank);
}
