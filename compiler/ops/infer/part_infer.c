/* part_infer.c - types of operators that take parts of tensors, join them, or repeat them. */
#include "infer/axes.h"
#include "infer/data_propagation.h"
#include "ops/rules.h"

/* ----------------------------------------------------------------------------------------------------------- Concat */

int infer_concat(Infer *infer, Node *node)
{
    Type type;
    int  axis;

    if (infer_joined(infer, node, 0, 1, &axis, &type) < 0 || infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_concat(infer, node, axis);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ Split */

/* Parts of equal extent, the last one smaller. */
static Extent even_part(Infer *infer, Extent whole, int parts, int index)
{
    Extent part = extent_op(infer->model, EXPR_CEILDIV, whole, extent_const(parts));
    Extent left = infer_sub(infer, whole, infer_mul(infer, part, extent_const(index)));

    return index < parts - 1 && whole.expr < 0 && whole.max % parts == 0
               ? part
               : infer_clamp(infer, left, extent_const(0), part);
}

static int split_parts(Infer *infer, const Node *node, Extent whole, int parts, Extent *part)
{
    Extent sum = extent_const(0);

    if (!infer_has(node, 1)) {
        for (int i = 0; i < parts; i++)
            part[i] = even_part(infer, whole, parts, i);
        return 0;
    }
    if (infer_need_rank(infer, node, 1, 1, 1) < 0 || infer_elems(infer, node, 1, 0, whole.max, part, INFER_TRACKED) < 0)
        return -1;
    if (type_elements(&node->in[1]->type) != parts)
        return diag_error(infer->diag, node->loc, "found %lld extents in 'split' for %d outputs",
                          (long long)type_elements(&node->in[1]->type), parts);
    for (int i = 0; i < parts; i++)
        sum = infer_add(infer, sum, part[i]);
    return infer_need_equal(infer, node, sum, whole, "the sum of the parts and the extent that is split");
}

int infer_split(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Extent      part[INFER_TRACKED], elem[INFER_TRACKED];
    int         axis, parts, known = 0, at = 0;

    if (infer_axis(infer, node, node_int(node, "axis", 0), x->rank, &axis) < 0)
        return -1;
    parts = (int)node_int(node, "num_outputs", node->nout);
    if (parts < node->nout || parts > INFER_TRACKED)
        return diag_unsupported(infer->diag, node->loc,
                                "split into %d parts with %d outputs; wanted as many, at most %d", parts, node->nout,
                                INFER_TRACKED);
    if (split_parts(infer, node, x->dim[axis], parts, part) < 0)
        return -1;
    if (x->rank != 1 || !infer_known(node->in[0], elem, &known))
        known = 0;
    for (int i = 0; i < node->nout; i++) {
        Type type = infer_shaped(x->dtype, x);
        type.dim[axis] = part[i];
        if (infer_set(infer, node, i, type) < 0)
            return -1;
        if (known && part[i].expr < 0 && at + part[i].max <= known)
            infer_track(infer, node, i, elem + at, (int)part[i].max);
        at += (int)part[i].max;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------ repeated elements */

/* Every element the same: contents of a scalar spread over the output. */
static void propagate_spread(Infer *infer, Node *node)
{
    Extent  elem[INFER_TRACKED];
    int     count;
    int64_t wanted =
        infer_wants(node, 0) && type_is_static(&node->out[0]->type) ? type_elements(&node->out[0]->type) : -1;

    if (wanted < 0 || wanted > INFER_TRACKED || !infer_known(node->in[0], elem, &count) ||
        (count != 1 && count != wanted))
        return;
    for (int64_t i = count; i < wanted; i++)
        elem[i] = elem[0];
    infer_track(infer, node, 0, elem, (int)wanted);
}

int infer_expand(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Extent      wanted[MAX_RANK];
    Type        type = {.kind = TYPE_TENSOR};
    int         n;

    n = infer_elems(infer, node, 1, 0, INT64_MAX, wanted, MAX_RANK);
    if (n < 0 || infer_broadcast_dims(infer, node, x->rank, x->dim, n, wanted, &type.rank, type.dim) < 0)
        return -1;
    type.dtype = x->dtype;
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_spread(infer, node);
    return 0;
}

int infer_tile(Infer *infer, Node *node)
{
    Extent times[MAX_RANK];
    Type   type;
    int    n;

    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    n = infer_elems(infer, node, 1, 0, INT64_MAX, times, MAX_RANK);
    if (n < 0)
        return -1;
    if (n != type.rank)
        return diag_error(infer->diag, node->loc, "'repeats' has %d entries, wanted %d", n, type.rank);
    for (int i = 0; i < n; i++)
        type.dim[i] = infer_mul(infer, type.dim[i], times[i]);
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_spread(infer, node);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- padding */

/* The elements added to axis `axis`: both pads of the entry that names the axis. */
static Extent padding_of(Infer *infer, const Axes *axes, const Extent *pads, int n, int axis, int rank)
{
    Extent sum = extent_const(0);

    if (axes->count < 0)
        return infer_add(infer, pads[axis], pads[n / 2 + axis]);
    for (int k = 0; k < axes->count; k++) {
        Extent named = axes_match(infer, axes, k, axis, rank);
        sum = extent_select(infer->model, named, infer_add(infer, pads[k], pads[n / 2 + k]), sum);
    }
    return sum;
}

/* Input 1 holds begins, then ends, for the axes of input 3 or for all; negative padding cuts. */
int infer_pad(Infer *infer, Node *node)
{
    Extent pads[2 * MAX_RANK];
    Axes   axes;
    Type   type;
    int    n;

    if (axes_read(infer, node, 3, node->in[0]->type.rank, &axes) < 0)
        return -1;
    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    n = infer_elems(infer, node, 1, INT32_MIN, INT64_MAX, pads, 2 * MAX_RANK);
    if (n < 0)
        return -1;
    if (n != 2 * (axes.count >= 0 ? axes.count : type.rank))
        return diag_error(infer->diag, node->loc, "'pads' has %d entries, wanted %d", n,
                          2 * (axes.count >= 0 ? axes.count : type.rank));
    for (int i = 0; i < type.rank; i++) {
        type.dim[i] = infer_add(infer, type.dim[i], padding_of(infer, &axes, pads, n, i, type.rank));
        if (infer_within(infer, node, type.dim[i], 0, INT64_MAX, "a padded extent", &type.dim[i]) < 0)
            return -1;
    }
    return infer_set(infer, node, 0, type);
}

int infer_center_crop_pad(Infer *infer, Node *node)
{
    int            naxes, n;
    const int64_t *axes = node_ints(node, "axes", &naxes);
    Extent         wanted[MAX_RANK];
    Type           type;

    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    n = infer_elems(infer, node, 1, 0, INT64_MAX, wanted, MAX_RANK);
    if (n < 0)
        return -1;
    if (n != (naxes ? naxes : type.rank))
        return diag_error(infer->diag, node->loc, "'shape' has %d entries, wanted %d", n, naxes ? naxes : type.rank);
    for (int i = 0; i < n; i++) {
        int axis;
        if (infer_axis(infer, node, naxes ? axes[i] : i, type.rank, &axis) < 0)
            return -1;
        type.dim[axis] = wanted[i];
    }
    return infer_set(infer, node, 0, type);
}
