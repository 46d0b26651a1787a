/* make_lower.c - operators that make tensors from extents and scalars, and those that rearrange whole blocks. */
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/infer/slice_infer.h"
#include "ops/rules.h"
#include <string.h>

/* Shape, Size and whatever else inference tracks as run-time integers. */
int lower_elems(Lower *lower, const Node *node)
{
    const Value *value = node->out[0];

    if (!value->elem)
        return diag_bug(lower->diag, node->loc, "inference tracked no contents for '%s'", value->name);
    return lower_tracked(lower, node->out[0]);
}

int lower_constant_of_shape(Lower *lower, const Node *node)
{
    static const double zero = 0;
    const Attr         *attr = node_attr(node, "value");
    DType               dtype = node->out[0]->type.dtype;
    Operand             x, y;

    x = lower_weight(lower, attr ? attr->tensor->data : &zero, dtype, 0, NULL, "value");
    if (lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "fill", dtype), ARG(x, x),
                       ARG(count, operand_count(lower, &y, 0, y.rank)));
}

/* In inference mode: the input itself, and a mask of ones. */
int lower_dropout(Lower *lower, const Node *node)
{
    static const unsigned char yes = 1;
    double                     training = 0.0, ratio = 0.5;
    bool                       known = node->nin < 3 || !node->in[2] || const_scalar(node->in[2], &training);
    Operand                    x;

    if (node->nin > 1 && node->in[1] && !const_scalar(node->in[1], &ratio))
        ratio = 0.5;
    if (!known || (training != 0.0 && ratio != 0.0))
        return diag_unsupported(lower->diag, node->loc,
                                "found training mode, which is random; export the model for inference");
    if (lower_input(lower, node, 0, &x) < 0 || lower_output_view(lower, node, 0, x) < 0)
        return -1;
    if (node->nout < 2 || !node->out[1])
        return 0;
    x = lower_weight(lower, &yes, DTYPE_BOOL, 0, NULL, "kept");
    return lower_output_view(lower, node, 1,
                             operand_broadcast(lower, x, node->out[1]->type.rank, node->out[1]->type.dim));
}

int lower_trilu(Lower *lower, const Node *node)
{
    Infer   infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    Extent  diagonal;
    Operand x, y;

    if (infer_scalar(&infer, node, 1, -INT32_MAX, INT32_MAX, extent_const(0), &diagonal) < 0 ||
        lower_input_dense(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "trilu", x.dtype), ARG(x, x),
                       ARG(batch, operand_count(lower, &x, 0, x.rank - 2)), ARG(rows, x.dim[x.rank - 2]),
                       ARG(cols, x.dim[x.rank - 1]), ARG(k, diagonal), ARG(upper, node_int(node, "upper", 1)));
}

int lower_eyelike(Lower *lower, const Node *node)
{
    Operand y;

    if (lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (dtype_info(y.dtype)->class == 'L')
        return diag_unsupported(lower->diag, node->loc, "found %s elements; make the matrix float and cast it",
                                dtype_info(y.dtype)->name);
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "eye", y.dtype), ARG(rows, y.dim[0]), ARG(cols, y.dim[1]),
                       ARG(k, node_int(node, "k", 0)));
}

/* A run-time count is computed first: a result above its capacity stops the run. */
int lower_range(Lower *lower, const Node *node)
{
    Extent  symbol = node->out[0]->type.dim[0];
    Operand x[3], y;

    for (int i = 0; i < 3; i++)
        if (lower_input(lower, node, i, &x[i]) < 0)
            return -1;
    if (dtype_info(x[0].dtype)->class == 'L')
        return diag_unsupported(lower->diag, node->loc, "found %s elements; make the range float and cast it",
                                dtype_info(x[0].dtype)->name);
    if (symbol.expr >= 0 && lower->model->expr[symbol.expr].op == EXPR_OUT) {
        if (STEP(lower, node, move_kernel(lower, "range_count", x[0].dtype), ARG(count, lower_slot(lower, symbol)),
                 ARG(start, x[0]), ARG(limit, x[1]), ARG(delta, x[2]), ARG(room, symbol.max)) < 0)
            return -1;
    }
    if (lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "range", x[0].dtype), ARG(start, x[0]), ARG(delta, x[2]),
                       ARG(count, symbol));
}

int lower_reverse_sequence(Lower *lower, const Node *node)
{
    int     time = (int)node_int(node, "time_axis", 0), batch = (int)node_int(node, "batch_axis", 1);
    Operand x, y, length;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_indices(lower, node, 1, &length) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "reverse_sequence", x.dtype), ARG(x, x), ARG(length, length),
                       ARG(time, x.dim[time]), ARG(batch, x.dim[batch]), ARG(tstride, x.stride[time]),
                       ARG(bstride, x.stride[batch]), ARG(inner, operand_count(lower, &x, 2, x.rank)));
}

/* Blocks become axes, axes are permuted, axes become blocks: one strided copy at most. */
static int permute_blocks(Lower *lower, const Node *node, int rank, const Extent *split, const int *axes)
{
    const Type *type = &node->out[0]->type;
    Operand     x, parts, y, target;
    Extent      dim[MAX_RANK];

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    if (!operand_reshape(lower, x, rank, split, &parts)) {
        if (lower_dense(lower, x, &x) < 0)
            return -1;
        operand_reshape(lower, x, rank, split, &parts);
    }
    parts = operand_permute(parts, axes);
    if (operand_reshape(lower, parts, type->rank, type->dim, &y))
        return lower_output_view(lower, node, 0, y);
    if (lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    memcpy(dim, parts.dim, sizeof dim);
    if (operand_reshape(lower, y, rank, dim, &target))
        return lower_copy(lower, node, parts, target);
    if (lower_output_dense(lower, node, 0, &y) < 0 || !operand_reshape(lower, y, rank, dim, &target) ||
        lower_copy(lower, node, parts, target) < 0)
        return -1;
    return lower_output_done(lower, node, 0, y);
}

int lower_depth_to_space(Lower *lower, const Node *node)
{
    const Extent    *d = node->in[0]->type.dim;
    Extent           b = extent_const(node_int(node, "blocksize", 1));
    Extent           c = extent_op(lower->model, EXPR_DIV, d[1], extent_op(lower->model, EXPR_MUL, b, b));
    bool             crd = !strcmp(node_string(node, "mode", "DCR"), "CRD");
    const Extent     dcr_split[] = {d[0], b, b, c, d[2], d[3]}, crd_split[] = {d[0], c, b, b, d[2], d[3]};
    static const int dcr_axes[] = {0, 3, 4, 1, 5, 2}, crd_axes[] = {0, 1, 4, 2, 5, 3};

    return permute_blocks(lower, node, 6, crd ? crd_split : dcr_split, crd ? crd_axes : dcr_axes);
}

int lower_space_to_depth(Lower *lower, const Node *node)
{
    const Extent *d = node->in[0]->type.dim;
    Extent        b = extent_const(node_int(node, "blocksize", 1));
    Extent rows = extent_op(lower->model, EXPR_DIV, d[2], b), columns = extent_op(lower->model, EXPR_DIV, d[3], b);
    const Extent     split[] = {d[0], d[1], rows, b, columns, b};
    static const int dcr_axes[] = {0, 3, 5, 1, 2, 4}, crd_axes[] = {0, 1, 3, 5, 2, 4};
    bool             crd = !strcmp(node_string(node, "mode", "DCR"), "CRD");

    return permute_blocks(lower, node, 6, split, crd ? crd_axes : dcr_axes);
}

/* ------------------------------------------------------------------------------------------------------------ Slice */

/* A view: every axis has another start and a longer or negative stride. The checks are recorded already. */
int lower_slice(Lower *lower, const Node *node)
{
    Infer     infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    SliceAxis axis[MAX_RANK];
    Operand   x;

    if (lower_input(lower, node, 0, &x) < 0 || slice_read(&infer, node, axis) < 0)
        return -1;
    for (int i = 0; i < x.rank; i++) {
        x = operand_window(lower, x, i, axis[i].start, node->out[0]->type.dim[i], 1);
        x.stride[i] = extent_op(lower->model, EXPR_MUL, x.stride[i], axis[i].step);
    }
    return lower_output_part(lower, node, 0, x);
}
