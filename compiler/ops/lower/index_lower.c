/* index_lower.c - operators that pick, place and order elements by index. */
#include "infer/axes.h"
#include "infer/infer.h"
#include "lower/lower.h"
#include "ops/rules.h"
#include <string.h>

static int axis_of(const Node *node, const char *name, int64_t otherwise, int rank)
{
    int64_t axis = node_int(node, name, otherwise);

    return (int)(axis < 0 ? axis + rank : axis);
}

static void put_dims(Lower *lower, Step *step, const Operand *x)
{
    step_extents(lower, step, x->rank, x->dim);
}

static void put_strides(Lower *lower, Step *step, const Operand *x)
{
    step_extents(lower, step, x->rank, x->stride);
}

static int end(Lower *lower, const Node *node, Step *step, Operand y)
{
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}

/* Whether the index is one constant inside the axis. */
static bool is_inside(const Value *index, Extent extent, int64_t *constant)
{
    int count;

    return index->type.rank == 0 && const_ints(index, constant, 1, &count) && extent_is_const(extent) &&
           *constant >= -extent.max && *constant < extent.max;
}

/* A constant index of one element gives a view. Everything else is gathered, and the run checks the indices. */
int lower_gather(Lower *lower, const Node *node)
{
    Operand x, index, y;
    int     axis = axis_of(node, "axis", 0, node->in[0]->type.rank);
    int64_t constant;
    Step   *step;

    if (is_inside(node->in[1], node->in[0]->type.dim[axis], &constant)) {
        if (lower_input(lower, node, 0, &x) < 0)
            return -1;
        constant += constant < 0 ? x.dim[axis].max : 0;
        x = operand_window(lower, x, axis, extent_const(constant), extent_const(1), 1);
        for (int i = axis; i + 1 < x.rank; i++) {
            x.dim[i] = x.dim[i + 1];
            x.stride[i] = x.stride[i + 1];
        }
        x.rank--;
        return lower_output_view(lower, node, 0, x);
    }
    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_indices(lower, node, 1, &index) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "gather", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, index);
    step_extent(lower, step, operand_count(lower, &x, 0, axis));
    step_extent(lower, step, x.dim[axis]);
    step_extent(lower, step, operand_count(lower, &index, 0, index.rank));
    step_extent(lower, step, operand_count(lower, &x, axis + 1, x.rank));
    return end(lower, node, step, y);
}

int lower_gather_elements(Lower *lower, const Node *node)
{
    Operand x, index, y;
    int     axis = axis_of(node, "axis", 0, node->in[0]->type.rank);
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_indices(lower, node, 1, &index) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "gather_elements", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, index);
    step_int(lower, step, index.rank);
    put_dims(lower, step, &index);
    put_strides(lower, step, &x);
    step_int(lower, step, axis);
    step_extent(lower, step, x.dim[axis]);
    return end(lower, node, step, y);
}

int lower_gather_nd(Lower *lower, const Node *node)
{
    Operand x, index, y;
    int     batch = (int)node_int(node, "batch_dims", 0), depth;
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_indices(lower, node, 1, &index) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    depth = (int)index.dim[index.rank - 1].max;
    step = step_begin(lower, node, move_kernel(lower, "gather_nd", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, index);
    step_extent(lower, step, operand_count(lower, &x, 0, batch));
    step_extent(lower, step, operand_count(lower, &index, batch, index.rank - 1));
    step_int(lower, step, depth);
    step_extents(lower, step, depth, x.dim + batch);
    step_extent(lower, step, operand_count(lower, &x, batch + depth, x.rank));
    return end(lower, node, step, y);
}

static int reduction_of(Lower *lower, const Node *node)
{
    static const char *const names[] = {"none", "add", "mul", "max", "min"}; /* OCC_SCATTER_* */

    return node_word(node, lower->diag, "reduction", names, 5);
}

/* The data is copied to the result first; the updates are written over it. */
static int scatter_begin(Lower *lower, const Node *node, const char *name, Operand *y, Operand *index, Operand *update,
                         Step **step)
{
    int     reduction = reduction_of(lower, node);
    Operand x;

    if (reduction < 0)
        return -1;
    if (reduction && strchr("LBSC", dtype_info(node->in[0]->type.dtype)->class))
        return diag_unsupported(lower->diag, node->loc,
                                "found a reduction of %s elements; cast them to float around the node",
                                dtype_info(node->in[0]->type.dtype)->name);
    if (lower_input(lower, node, 0, &x) < 0 || lower_indices(lower, node, 1, index) < 0 ||
        lower_input_dense(lower, node, 2, update) < 0 || lower_output_dense(lower, node, 0, y) < 0 ||
        lower_copy(lower, node, x, *y) < 0)
        return -1;
    *step = step_begin(lower, node, move_kernel(lower, name, x.dtype));
    step_updates(lower, *step, *y);
    step_reads(lower, *step, *index);
    step_reads(lower, *step, *update);
    return 0;
}

int lower_scatter_elements(Lower *lower, const Node *node)
{
    Operand y, index, update;
    int     axis = axis_of(node, "axis", 0, node->in[0]->type.rank);
    Step   *step;

    if (scatter_begin(lower, node, "scatter_elements", &y, &index, &update, &step) < 0)
        return -1;
    step_int(lower, step, index.rank);
    put_dims(lower, step, &index);
    put_strides(lower, step, &y);
    step_int(lower, step, axis);
    step_extent(lower, step, y.dim[axis]);
    step_int(lower, step, reduction_of(lower, node));
    return end(lower, node, step, y);
}

int lower_scatter_nd(Lower *lower, const Node *node)
{
    Operand y, index, update;
    int     depth;
    Step   *step;

    if (scatter_begin(lower, node, "scatter_nd", &y, &index, &update, &step) < 0)
        return -1;
    depth = (int)index.dim[index.rank - 1].max;
    step_extent(lower, step, operand_count(lower, &index, 0, index.rank - 1));
    step_int(lower, step, depth);
    step_extents(lower, step, depth, y.dim);
    step_extent(lower, step, operand_count(lower, &y, depth, y.rank));
    step_int(lower, step, reduction_of(lower, node));
    return end(lower, node, step, y);
}

static int pad_mode(Lower *lower, const Node *node)
{
    static const char *const names[] = {"constant", "reflect", "edge", "wrap"}; /* OCC_PAD_* */

    return node_word(node, lower->diag, "mode", names, 4);
}

/* Elements in front of each axis: from the pads input, for the axes that it names. */
static int pad_before(Lower *lower, const Node *node, int rank, Extent *before)
{
    Extent pads[2 * MAX_RANK];
    Axes   axes;
    Infer  infer = {.model = lower->model, .diag = lower->diag, .trial = 1};

    if (infer_elems(&infer, node, 1, INT32_MIN, INT64_MAX, pads, 2 * MAX_RANK) < 0 ||
        axes_read(&infer, node, 3, rank, &axes) < 0)
        return -1;
    for (int i = 0; i < rank; i++) {
        before[i] = axes.count < 0 ? pads[i] : extent_const(0);
        for (int k = 0; k < axes.count; k++)
            before[i] = extent_select(lower->model, axes_match(&infer, &axes, k, i, rank), pads[k], before[i]);
    }
    return 0;
}

int lower_pad(Lower *lower, const Node *node)
{
    static const double zero[2] = {0};
    int                 mode = pad_mode(lower, node);
    Extent              before[MAX_RANK];
    Operand             x, y, value;
    Step               *step;

    if (mode < 0 || lower_input(lower, node, 0, &x) < 0 || lower_input(lower, node, 2, &value) < 0 ||
        pad_before(lower, node, x.rank, before) < 0)
        return -1;
    if (lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    if (value.buffer < 0)
        value = lower_weight(lower, zero, x.dtype, 0, NULL, "zero");
    step = step_begin(lower, node, move_kernel(lower, "pad", x.dtype));
    if (x.rank == 0)
        return lower_output_view(lower, node, 0, x);
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, value);
    step_int(lower, step, x.rank);
    put_dims(lower, step, &y);
    put_strides(lower, step, &y);
    put_dims(lower, step, &x);
    put_strides(lower, step, &x);
    step_extents(lower, step, x.rank, before);
    step_int(lower, step, mode);
    return step_end(lower, step);
}

int lower_tile(Lower *lower, const Node *node)
{
    Operand x, y;
    Step   *step;

    if (lower_input(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "tile", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_int(lower, step, x.rank);
    put_dims(lower, step, &y);
    put_dims(lower, step, &x);
    put_strides(lower, step, &x);
    return end(lower, node, step, y);
}

/* A computed depth, of any number type, is read once into the result's extent. */
static int onehot_depth(Lower *lower, const Node *node, Extent symbol)
{
    Operand depth;

    if (symbol.expr < 0 || lower->model->expr[symbol.expr].op != EXPR_OUT)
        return 0;
    return lower_indices(lower, node, 1, &depth) < 0 ? -1 : lower_read(lower, depth, symbol);
}

int lower_onehot(Lower *lower, const Node *node)
{
    Operand index, values, y;
    int     axis = axis_of(node, "axis", -1, node->in[0]->type.rank + 1);
    Step   *step;

    if (onehot_depth(lower, node, node->out[0]->type.dim[axis]) < 0)
        return -1;
    if (lower_indices(lower, node, 0, &index) < 0 || lower_input_dense(lower, node, 2, &values) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, move_kernel(lower, "onehot", y.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, index);
    step_reads(lower, step, values);
    step_extent(lower, step, operand_count(lower, &index, 0, axis));
    step_extent(lower, step, y.dim[axis]);
    step_extent(lower, step, operand_count(lower, &index, axis, index.rank));
    return end(lower, node, step, y);
}

/* Elements before, along and behind the axis that input 1 names, perhaps as a run-time integer. */
static int around_axis(Lower *lower, const Node *node, const Operand *x, Extent *part)
{
    Infer infer = {.model = lower->model, .diag = lower->diag, .trial = 1};
    Axes  axes;

    if (axes_read(&infer, node, 1, x->rank, &axes) < 0)
        return -1;
    for (int k = 0; k < 3; k++)
        part[k] = extent_const(1);
    for (int i = 0; i < x->rank; i++) {
        Extent here[3] = {operand_count(lower, x, 0, i), x->dim[i]};

        here[2] = operand_count(lower, x, i + 1, x->rank);
        for (int k = 0; k < 3; k++)
            part[k] = extent_select(lower->model, axes.named[i], here[k], part[k]);
    }
    return 0;
}

/* Running sums and products. */
int lower_cumulative(Lower *lower, const Node *node)
{
    Extent  part[3];
    Operand x, y;
    Step   *step;

    if (lower_input_dense(lower, node, 0, &x) < 0 || around_axis(lower, node, &x, part) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (dtype_info(x.dtype)->class == 'L')
        return diag_unsupported(lower->diag, node->loc, "found %s elements; cast them to float around the node",
                                dtype_info(x.dtype)->name);
    step = step_begin(lower, node, move_kernel(lower, node->op == OP_onnx_CumSum ? "cumsum" : "cumprod", x.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    for (int k = 0; k < 3; k++)
        step_extent(lower, step, part[k]);
    step_int(lower, step, node_int(node, "exclusive", 0));
    step_int(lower, step, node_int(node, "reverse", 0));
    return end(lower, node, step, y);
}
