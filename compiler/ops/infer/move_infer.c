/* move_infer.c - types of operators that give the same elements another shape or order. */
#include "infer/axes.h"
#include "infer/data_propagation.h"
#include "ops/rules.h"

/* ---------------------------------------------------------------------------------------------------- the same data */

int infer_identity(Infer *infer, Node *node)
{
    return infer_set_like(infer, node, 0, 0);
}

/* Set output 0 to the input's elements in another shape; small contents go along. */
static int set_reshaped(Infer *infer, Node *node, Type type)
{
    const Value *x = node->in[0];
    Extent       elem[INFER_TRACKED];
    int          count;

    type.kind = TYPE_TENSOR;
    type.dtype = x->type.dtype;
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    if (infer_wants(node, 0) && infer_known(x, elem, &count))
        infer_track(infer, node, 0, elem, count);
    return 0;
}

/* The extent that Reshape leaves open (-1): all elements over the product of the others. */
static int fill_open_extent(Infer *infer, const Node *node, const Type *x, Type *type, int open)
{
    Extent total = type_count(infer->model, x), others = extent_const(1), rest;

    for (int i = 0; i < type->rank; i++)
        if (i != open)
            others = infer_mul(infer, others, type->dim[i]);
    if (others.expr < 0 && !others.max) {
        type->dim[open] = extent_const(0);
        return infer_need_equal(infer, node, total, others, "elements before and after reshaping");
    }
    type->dim[open] = infer_div(infer, total, others);
    rest = infer_mul(infer, type->dim[open], others);
    return infer_need_equal(infer, node, rest, total, "elements before and after reshaping");
}

/* Reads the new shape. A 0 copies the input's extent, unless allowzero; one -1, at *open, is the extent that is left to
 * infer. */
static int read_new_shape(Infer *infer, const Node *node, Type *type, int *open)
{
    const Type *x = infer_in(node, 0);
    Extent      wanted[MAX_RANK];
    int         count = infer_elems(infer, node, 1, -1, INT64_MAX, wanted, MAX_RANK);
    bool        allow_zero = node_int(node, "allowzero", 0) != 0;

    *open = -1;
    if (count < 0)
        return -1;
    type->rank = count;
    for (int i = 0; i < count; i++) {
        type->dim[i] = wanted[i];
        if (wanted[i].expr < 0 && wanted[i].max == -1) {
            if (*open >= 0)
                return diag_error(infer->diag, node->loc, "the new shape holds -1 twice");
            *open = i;
        } else if (wanted[i].expr < 0 && wanted[i].max == 0 && !allow_zero) {
            if (i >= x->rank)
                return diag_error(infer->diag, node->loc, "the new shape holds 0 at axis %d, but the input has rank %d",
                                  i, x->rank);
            type->dim[i] = x->dim[i];
        }
    }
    return 0;
}

/* The bound of an extent of the result: the declared extent, else the number of all elements. Beside an extent of 0 it
 * is unbounded, but for --dim. */
static int64_t most_of(const Infer *infer, const Node *node, const Type *type, int axis)
{
    const Type     *declared = node->out[0] ? &node->out[0]->declared : &node->in[0]->type;
    int64_t         elements = type_elements(&node->in[0]->type);
    const DimBound *flag = elements || !node->out[0] ? NULL : infer_bound(infer, node->out[0]->name, axis);

    if (declared->kind == TYPE_TENSOR && declared->rank == type->rank && declared->dim[axis].max >= 0 &&
        declared->dim[axis].expr < 0)
        return declared->dim[axis].max;
    return elements ? elements : flag ? flag->hi : INT64_MAX;
}

/* Whether x is a product with `factor` in it, so that it is 0 where the factor is. */
static bool has_factor(const Model *model, int x, int factor)
{
    const Expr *e = &model->expr[x];

    return x == factor || (e->op == EXPR_MUL && (has_factor(model, e->a, factor) || has_factor(model, e->b, factor)));
}

/* Whether entry i of the new shape may be a 0 that copies another extent of the input. */
static bool may_copy(const Infer *infer, const Node *node, const Type *type, int i)
{
    const Type *x = &node->in[0]->type;
    Extent      entry = type->dim[i];

    if (node_int(node, "allowzero", 0) || i >= x->rank || entry.expr < 0 || extent_min(infer->model, entry) > 0)
        return false;
    return x->dim[i].expr < 0 || !has_factor(infer->model, x->dim[i].expr, entry.expr);
}

/* Resolves entries of the new shape that are known only at run time and may be 0 or -1. Zeros are replaced by the
 * input's extents. If one entry is -1 then, the product of all entries is minus the product of the others, which gives
 * that entry. */
static int resolve_run_time_entries(Infer *infer, Node *node, Type *type, int open)
{
    Model *model = infer->model;
    Type   x = node->in[0]->type, entry = *type;
    Extent zero = extent_const(0), product = extent_const(1), count, left;

    for (int i = 0; i < type->rank; i++) {
        if (may_copy(infer, node, type, i))
            entry.dim[i] = extent_select(model, extent_op(model, EXPR_EQ, type->dim[i], zero), x.dim[i], type->dim[i]);
        product = infer_mul(infer, product, entry.dim[i]);
    }
    count = type_count(model, &x);
    left = infer_div(infer, count, infer_sub(infer, zero, product));
    for (int i = 0; i < type->rank; i++) {
        if (i == open || type->dim[i].expr < 0)
            continue;
        if (extent_min(model, type->dim[i]) >= 0) {
            type->dim[i] = entry.dim[i];
            continue;
        }
        if (open < 0)
            entry.dim[i] = extent_select(model, extent_op(model, EXPR_LT, entry.dim[i], zero), left, entry.dim[i]);
        if (infer_within(infer, node, entry.dim[i], 0, most_of(infer, node, type, i), "an extent of the new shape",
                         &type->dim[i]) < 0)
            return -1;
    }
    return 0;
}

/* Refuses results that are far too large for the bounds of their extents. Memory is planned for all bounds at once, but
 * a run-time shape is bounded axis by axis: 128 elements in five axes of at most 128 each would be planned as 128^5. */
static int need_plannable(Infer *infer, const Node *node)
{
    int64_t given = type_elements(&node->in[0]->type), planned = node->out[0] ? type_elements(&node->out[0]->type) : 0;

    if (infer->trial || planned <= INT32_MAX || planned <= given)
        return 0;
    return diag_unsupported(infer->diag, node->loc,
                            "by the bounds of its extents '%s' has %lld elements, but what it is reshaped from at most "
                            "%lld; bound its extents more closely with --dim=%s:AXIS=LEAST..MOST",
                            node->out[0]->name, (long long)planned, (long long)given, node->out[0]->name);
}

int infer_reshape(Infer *infer, Node *node)
{
    Type   type = {0};
    Extent before;
    int    open;

    if (read_new_shape(infer, node, &type, &open) < 0 || resolve_run_time_entries(infer, node, &type, open) < 0)
        return -1;
    if (open >= 0) {
        if (fill_open_extent(infer, node, infer_in(node, 0), &type, open) < 0)
            return -1;
    } else {
        before = type_count(infer->model, infer_in(node, 0));
        if (infer_need_equal(infer, node, before, type_count(infer->model, &type),
                             "elements before and after reshaping") < 0)
            return -1;
    }
    return set_reshaped(infer, node, type) < 0 ? -1 : need_plannable(infer, node);
}

int infer_flatten(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type = {.rank = 2};
    int64_t     axis = node_int(node, "axis", 1);

    if (axis < -x->rank || axis > x->rank)
        return diag_error(infer->diag, node->loc, "axis %lld is outside the tensor's rank %d", (long long)axis,
                          x->rank);
    axis += axis < 0 ? x->rank : 0;
    type.dim[0] = infer_product(infer, x, 0, (int)axis);
    type.dim[1] = infer_product(infer, x, (int)axis, x->rank);
    return set_reshaped(infer, node, type);
}

/* Without axes every extent that is 1 goes. One that may or may not be 1 stays and is checked to be another, unless the
 * declared rank says that all such go. */
static int squeeze_all(Infer *infer, const Node *node, const Type *x, bool *chosen)
{
    const Type *declared = node->out[0] ? &node->out[0]->declared : x;
    int         sure = 0, unsure = 0;

    for (int i = 0; i < x->rank; i++) {
        chosen[i] = x->dim[i].expr < 0 && x->dim[i].max == 1;
        sure += chosen[i];
        unsure += x->dim[i].expr >= 0 && extent_min(infer->model, x->dim[i]) <= 1;
    }
    for (int i = 0; unsure && i < x->rank; i++) {
        Extent one = extent_op(infer->model, EXPR_EQ, x->dim[i], extent_const(1));
        if (one.expr < 0)
            continue;
        if (declared->kind == TYPE_TENSOR && declared->rank == x->rank - sure - unsure)
            chosen[i] = true;
        else if (infer_check(infer, node, extent_op(infer->model, EXPR_EQ, one, extent_const(0)),
                             "an extent that must not be 1 is") < 0)
            return -1;
    }
    return 0;
}

int infer_squeeze(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type = {0};
    Axes        axes;
    bool        chosen[MAX_RANK] = {false};

    if (axes_read(infer, node, 1, x->rank, &axes) < 0)
        return -1;
    if (axes.count < 0) {
        axes.count = 0;
        if (squeeze_all(infer, node, x, chosen) < 0)
            return -1;
        for (int i = 0; i < x->rank; i++) {
            axes.named[i] = extent_const(chosen[i]);
            axes.count += chosen[i];
        }
    }
    for (int i = 0; i < x->rank; i++) {
        Extent left = extent_select(infer->model, axes.named[i], x->dim[i], extent_const(1));
        if (infer_need_equal(infer, node, left, extent_const(1), "an extent to squeeze and 1") < 0)
            return -1;
    }
    type.rank = axes_drop(infer, &axes, x, type.dim);
    return set_reshaped(infer, node, type);
}

int infer_unsqueeze(Infer *infer, Node *node)
{
    const Type *x = infer_in(node, 0);
    Type        type = {0};
    Axes        axes;
    int64_t     more;

    more = type_elements(&node->in[1]->type);
    if (more < 0 || more > MAX_RANK - x->rank)
        return diag_unsupported(infer->diag, node->loc, "the result would have rank %lld; at most %d is supported",
                                (long long)(x->rank + more), MAX_RANK);
    if (axes_read(infer, node, 1, x->rank + (int)more, &axes) < 0)
        return -1;
    type.rank = axes_insert(infer, &axes, x, type.dim);
    return set_reshaped(infer, node, type);
}

/* ------------------------------------------------------------------------------------------------------------ order */

static void propagate_transpose(Infer *infer, Node *node, const int64_t *permutation)
{
    int64_t stride[MAX_RANK], permuted[MAX_RANK];
    int     rank = node->in[0]->type.rank;

    if (!propagate_strides(&node->in[0]->type, stride))
        return;
    for (int i = 0; i < rank; i++)
        permuted[i] =
            stride[permutation ? (permutation[i] < 0 ? permutation[i] + rank : permutation[i]) : rank - 1 - i];
    propagate_view(infer, node, 0, permuted);
}

int infer_transpose(Infer *infer, Node *node)
{
    const Type    *x = infer_in(node, 0);
    int            count;
    const int64_t *permutation = node_ints(node, "perm", &count);
    bool           chosen[MAX_RANK];
    Type           type;

    if (count && count != x->rank)
        return diag_error(infer->diag, node->loc, "attribute 'perm' has %d entries, wanted %d", count, x->rank);
    if (infer_axes(infer, node, permutation, count, x->rank, chosen) < 0)
        return -1;
    type = infer_shaped(x->dtype, x);
    for (int i = 0; i < x->rank; i++)
        type.dim[i] =
            x->dim[count ? (permutation[i] < 0 ? permutation[i] + x->rank : permutation[i]) : x->rank - 1 - i];
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_transpose(infer, node, permutation);
    return 0;
}

static int read_block(Infer *infer, const Node *node, int64_t *block)
{
    *block = node_int(node, "blocksize", 0);
    if (*block < 1 || *block > INT16_MAX)
        return diag_error(infer->diag, node->loc, "attribute 'blocksize' is %lld, wanted 1 or more", (long long)*block);
    return infer_need_rank(infer, node, 0, 4, 4);
}

/* *out = x / by. Needs x to be a multiple of `by`. */
static int divide_exactly(Infer *infer, const Node *node, Extent x, int64_t by, Extent *out)
{
    *out = infer_div(infer, x, extent_const(by));
    return infer_need_equal(infer, node, infer_mul(infer, *out, extent_const(by)), x,
                            "an extent and its multiple of the block size");
}

int infer_depth_to_space(Infer *infer, Node *node)
{
    int64_t block;
    Type    type;

    if (read_block(infer, node, &block) < 0)
        return -1;
    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    if (divide_exactly(infer, node, type.dim[1], block * block, &type.dim[1]) < 0)
        return -1;
    type.dim[2] = infer_mul(infer, type.dim[2], extent_const(block));
    type.dim[3] = infer_mul(infer, type.dim[3], extent_const(block));
    return infer_set(infer, node, 0, type);
}

int infer_space_to_depth(Infer *infer, Node *node)
{
    int64_t block;
    Type    type;

    if (read_block(infer, node, &block) < 0)
        return -1;
    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    type.dim[1] = infer_mul(infer, type.dim[1], extent_const(block * block));
    if (divide_exactly(infer, node, type.dim[2], block, &type.dim[2]) < 0 ||
        divide_exactly(infer, node, type.dim[3], block, &type.dim[3]) < 0)
        return -1;
    return infer_set(infer, node, 0, type);
}

/* sequence_lens [batch]; batch_axis and time_axis are 0 and 1 in either order. */
int infer_reverse_sequence(Infer *infer, Node *node)
{
    int64_t batch = node_int(node, "batch_axis", 1), time = node_int(node, "time_axis", 0);

    if (batch < 0 || batch > 1 || time != 1 - batch)
        return diag_error(infer->diag, node->loc, "batch_axis %lld and time_axis %lld, wanted 0 and 1 or 1 and 0",
                          (long long)batch, (long long)time);
    if (infer_need_vector(infer, node, 1, node->in[0]->type.dim[batch]) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

int infer_trilu(Infer *infer, Node *node)
{
    Extent diagonal;

    if (infer_scalar(infer, node, 1, -INT32_MAX, INT32_MAX, extent_const(0), &diagonal) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}
