/* index_lower.c - operators that pick, place and order elements by index. */
#include "infer/axes.h"
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/rules.h"
#include <string.h>

/* The index is one constant inside the axis. */
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
    int     axis = node_axis(node, 0, node->in[0]->type.rank);
    int64_t constant;

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
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "gather", x.dtype), ARG(x, x), ARG(index, index),
                       ARG(outer, operand_count(lower, &x, 0, axis)), ARG(axis, x.dim[axis]),
                       ARG(count, operand_count(lower, &index, 0, index.rank)),
                       ARG(inner, operand_count(lower, &x, axis + 1, x.rank)));
}

int lower_gather_elements(Lower *lower, const Node *node)
{
    Operand x, index, y;
    int     axis = node_axis(node, 0, node->in[0]->type.rank);

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_indices(lower, node, 1, &index) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "gather_elements", x.dtype), ARG(x, x), ARG(index, index),
                       ARG(rank, index.rank), ARGS(dim, index.rank, index.dim), ARGS(xstride, x.rank, x.stride),
                       ARG(axis, axis), ARG(extent, x.dim[axis]));
}

int lower_gather_nd(Lower *lower, const Node *node)
{
    Operand x, index, y;
    int     batch = (int)node_int(node, "batch_dims", 0), depth;

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_indices(lower, node, 1, &index) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    depth = (int)index.dim[index.rank - 1].max;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "gather_nd", x.dtype), ARG(x, x), ARG(index, index),
                       ARG(batch, operand_count(lower, &x, 0, batch)),
                       ARG(count, operand_count(lower, &index, batch, index.rank - 1)), ARG(depth, depth),
                       ARGS(dim, depth, x.dim + batch), ARG(inner, operand_count(lower, &x, batch + depth, x.rank)));
}

static int reduction_of(Lower *lower, const Node *node)
{
    static const char *const names[] = {"none", "add", "mul", "max", "min"}; /* OCC_SCATTER_* */

    return node_word(node, lower->diag, "reduction", names, 5);
}

/* The data is copied to the result first; the updates are written over it. */
static int scatter_data(Lower *lower, const Node *node, Operand *y)
{
    int     reduction = reduction_of(lower, node);
    Operand x;

    if (reduction < 0)
        return -1;
    if (reduction && strchr("LBSC", dtype_info(node->in[0]->type.dtype)->class))
        return diag_unsupported(lower->diag, node->loc,
                                "found a reduction of %s elements; cast them to float around the node",
                                dtype_info(node->in[0]->type.dtype)->name);
    if (lower_input(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, y) < 0)
        return -1;
    return lower_copy(lower, node, x, *y);
}

static int scatter_inputs(Lower *lower, const Node *node, Operand *y, Operand *index, Operand *update)
{
    if (lower_indices(lower, node, 1, index) < 0 || lower_input_dense(lower, node, 2, update) < 0)
        return -1;
    return scatter_data(lower, node, y);
}

int lower_scatter_elements(Lower *lower, const Node *node)
{
    Operand y, index, update;
    int     axis = node_axis(node, 0, node->in[0]->type.rank);

    if (scatter_inputs(lower, node, &y, &index, &update) < 0 ||
        STEP(lower, node, move_kernel(lower, "scatter_elements", y.dtype), UPDATED(y, y), ARG(index, index),
             ARG(update, update), ARG(rank, index.rank), ARGS(dim, index.rank, index.dim),
             ARGS(ystride, y.rank, y.stride), ARG(axis, axis), ARG(extent, y.dim[axis]),
             ARG(how, reduction_of(lower, node))) < 0)
        return -1;
    return lower_output_done(lower, node, 0, y);
}

/* Constant tuples of indices that are a regular grid: the one at place p has index first[j] + step[j] * p[along[j]] of
 * axis j of the data; along[j] -1: first[j] alone. Example: [[[0, 1], [0, 3]], [[1, 1], [1, 3]]], as exporters write
 * x[0:2, 1:5:2], has first 0 and 1, step 1 and 2, along 0 and 1. */
typedef struct Grid {
    int64_t first[MAX_RANK], step[MAX_RANK];
    int     along[MAX_RANK], depth;
} Grid;

/* Index j of a tuple, counted from the front of the axis. */
static int64_t index_at(const int64_t *tuple, int j, const Type *data)
{
    return tuple[j] < 0 ? tuple[j] + data->dim[j].max : tuple[j];
}

/* The grid of the first tuples along each axis of `index`; false: no grid in which all tuples differ. */
static bool begin_grid(const int64_t *tuple, const Type *index, const Type *data, Grid *grid)
{
    int64_t apart = grid->depth;

    for (int j = 0; j < grid->depth; j++) {
        grid->first[j] = index_at(tuple, j, data);
        grid->step[j] = 1;
        grid->along[j] = -1;
    }
    for (int i = index->rank - 2; i >= 0; apart *= index->dim[i--].max) {
        int moved = 0;

        for (int j = 0; index->dim[i].max > 1 && j < grid->depth; j++) {
            int64_t step = index_at(tuple + apart, j, data) - grid->first[j];

            if (!step)
                continue;
            if (step < 0 || grid->along[j] >= 0 || moved++)
                return false;
            grid->step[j] = step;
            grid->along[j] = i;
        }
        if (index->dim[i].max > 1 && !moved)
            return false;
    }
    return true;
}

static bool read_grid(Lower *lower, const Node *node, Grid *grid)
{
    const Type    *data = &node->in[0]->type, *index = &node->in[1]->type;
    const Value   *constant = lower_constant(lower, node->in[1]);
    const int64_t *tuple;
    int64_t        count = type_elements(index);

    grid->depth = (int)index->dim[index->rank - 1].max;
    if (!constant || index->dtype != DTYPE_I64 || count < 1)
        return false;
    for (int j = 0; j < grid->depth; j++)
        if (!extent_is_const(data->dim[j]))
            return false;
    tuple = const_aligned(lower->arena, constant);
    if (!begin_grid(tuple, index, data, grid))
        return false;
    for (int64_t at = 0; at < count; at += grid->depth) {
        int64_t place[MAX_RANK], rest = at / grid->depth;

        for (int i = index->rank - 2; i >= 0; rest /= index->dim[i--].max)
            place[i] = rest % index->dim[i].max;
        for (int j = 0; j < grid->depth; j++) {
            int64_t found = index_at(tuple + at, j, data);

            if (found != grid->first[j] + (grid->along[j] < 0 ? 0 : grid->step[j] * place[grid->along[j]]) ||
                found < 0 || found >= data->dim[j].max)
                return false;
        }
    }
    return true;
}

/* The updates go to a window of the result. */
static int scatter_grid(Lower *lower, const Node *node, const Grid *grid, Operand *y)
{
    Operand update, window, to;
    int     places = node->in[1]->type.rank - 1;

    if (lower_input(lower, node, 2, &update) < 0 || scatter_data(lower, node, y) < 0)
        return -1;
    window = *y;
    for (int j = 0; j < grid->depth; j++)
        window = operand_window(lower, window, j, extent_const(grid->first[j]),
                                grid->along[j] < 0 ? extent_const(1) : update.dim[grid->along[j]], grid->step[j]);
    to = window;
    to.rank = update.rank;
    for (int i = 0; i < places; i++) {
        to.dim[i] = update.dim[i];
        to.stride[i] = extent_const(1); /* of one element, unless an axis of the data lies along it */
        for (int j = 0; j < grid->depth; j++)
            if (grid->along[j] == i)
                to.stride[i] = window.stride[j];
    }
    for (int i = places; i < to.rank; i++) {
        to.dim[i] = window.dim[grid->depth + i - places];
        to.stride[i] = window.stride[grid->depth + i - places];
    }
    return lower_copy(lower, node, update, to);
}

int lower_scatter_nd(Lower *lower, const Node *node)
{
    Operand y, index, update;
    Grid    grid;
    int     depth;

    if (reduction_of(lower, node) == 0 && read_grid(lower, node, &grid))
        return scatter_grid(lower, node, &grid, &y) < 0 ? -1 : lower_output_done(lower, node, 0, y);
    if (scatter_inputs(lower, node, &y, &index, &update) < 0)
        return -1;
    depth = (int)index.dim[index.rank - 1].max;
    if (STEP(lower, node, move_kernel(lower, "scatter_nd", y.dtype), UPDATED(y, y), ARG(index, index),
             ARG(update, update), ARG(count, operand_count(lower, &index, 0, index.rank - 1)), ARG(depth, depth),
             ARGS(dim, depth, y.dim), ARG(inner, operand_count(lower, &y, depth, y.rank)),
             ARG(how, reduction_of(lower, node))) < 0)
        return -1;
    return lower_output_done(lower, node, 0, y);
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

    if (mode < 0 || lower_input(lower, node, 0, &x) < 0 || lower_input(lower, node, 2, &value) < 0 ||
        pad_before(lower, node, x.rank, before) < 0)
        return -1;
    if (lower_output(lower, node, 0, lower_layout_of(&x), &y) < 0)
        return -1;
    if (value.buffer < 0)
        value = lower_weight(lower, zero, x.dtype, 0, NULL, "zero");
    if (x.rank == 0)
        return lower_output_view(lower, node, 0, x);
    return STEP(lower, node, move_kernel(lower, "pad", x.dtype), ARG(y, y), ARG(x, x), ARG(value, value),
                ARG(rank, x.rank), ARGS(ydim, x.rank, y.dim), ARGS(ystride, x.rank, y.stride),
                ARGS(xdim, x.rank, x.dim), ARGS(xstride, x.rank, x.stride), ARGS(before, x.rank, before),
                ARG(mode, mode));
}

int lower_tile(Lower *lower, const Node *node)
{
    Operand x, y;

    if (lower_input(lower, node, 0, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "tile", x.dtype), ARG(x, x), ARG(rank, x.rank),
                       ARGS(ydim, y.rank, y.dim), ARGS(xdim, x.rank, x.dim), ARGS(xstride, x.rank, x.stride));
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
    int     axis = node_axis(node, -1, node->in[0]->type.rank + 1);

    if (onehot_depth(lower, node, node->out[0]->type.dim[axis]) < 0)
        return -1;
    if (lower_indices(lower, node, 0, &index) < 0 || lower_input_dense(lower, node, 2, &values) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "onehot", y.dtype), ARG(index, index), ARG(values, values),
                       ARG(outer, operand_count(lower, &index, 0, axis)), ARG(depth, y.dim[axis]),
                       ARG(inner, operand_count(lower, &index, axis, index.rank)));
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

    if (lower_input_dense(lower, node, 0, &x) < 0 || around_axis(lower, node, &x, part) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (dtype_info(x.dtype)->class == 'L')
        return diag_unsupported(lower->diag, node->loc, "found %s elements; cast them to float around the node",
                                dtype_info(x.dtype)->name);
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, node->op == OP_onnx_CumSum ? "cumsum" : "cumprod", x.dtype),
                       ARG(x, x), ARG(outer, part[0]), ARG(n, part[1]), ARG(inner, part[2]),
                       ARG(exclusive, node_int(node, "exclusive", 0)), ARG(reverse, node_int(node, "reverse", 0)));
}
