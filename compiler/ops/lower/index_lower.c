/* index_lower.c - operators that pick, place and order elements by index. */
#include "infer/axes.h"
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/rules.h"
#include <string.h>

/* Constant indices that name a regular grid: the tuple at [p] has first[j] + the sum of step[j][i] * p[i] along axis j.
 * Example: [[[0, 1], [0, 3]], [[1, 1], [1, 3]]], as exporters write x[0:2, 1:5:2], has first 0 and 1; step 1 along the
 * first axis of the tuples and 2 along the second. */
typedef struct Grid {
    int64_t first[MAX_RANK], step[MAX_RANK][MAX_RANK];
    int     depth, places; /* indices of a tuple; axes of tuples */
} Grid;

/* The indices, counted from the front of axes of `dim` elements; NULL: not constant, or some are outside. */
static int64_t *constant_indices(Lower *lower, Value *index, const Extent *dim, int depth)
{
    const Value *constant = lower_constant(lower, index);
    int64_t      count = type_elements(&index->type), *found;
    int          read;

    if (!constant || count < 1 || count > INT32_MAX)
        return NULL;
    found = arena_array(lower->arena, int64_t, count);
    if (!const_ints(constant, found, (int)count, &read))
        return NULL;
    for (int64_t k = 0; k < count; k++) {
        const Extent *of = &dim[k % depth];

        if (found[k] < 0)
            found[k] += of->max;
        if (!extent_is_const(*of) || found[k] < 0 || found[k] >= of->max)
            return NULL;
    }
    return found;
}

/* Reads tuples of `depth` indices of axes of `dim` elements; false: no regular grid of rising indices. */
static bool read_grid(Lower *lower, Value *index, const Extent *dim, int depth, int places, Grid *grid)
{
    const int64_t *tuple = depth ? constant_indices(lower, index, dim, depth) : NULL;
    int64_t        apart = depth;

    if (!tuple)
        return false;
    *grid = (Grid){.depth = depth, .places = places};
    memcpy(grid->first, tuple, (size_t)depth * sizeof *tuple);
    for (int i = places - 1; i >= 0; apart *= index->type.dim[i--].max)
        for (int j = 0; j < depth && index->type.dim[i].max > 1; j++)
            if ((grid->step[j][i] = tuple[apart + j] - tuple[j]) < 0)
                return false;
    for (int64_t at = 0; at < apart; at++) {
        int64_t rest = at / depth, wanted = grid->first[at % depth];

        for (int i = places - 1; i >= 0; rest /= index->type.dim[i--].max)
            wanted += grid->step[at % depth][i] * (rest % index->type.dim[i].max);
        if (tuple[at] != wanted)
            return false;
    }
    return true;
}

/* The elements of x at the grid's tuples for its axes from `axis` on. */
static Operand grid_view(Lower *lower, const Grid *grid, const Type *index, Operand x, int axis)
{
    Model  *model = lower->model;
    Operand y;

    for (int j = 0; j < grid->depth; j++)
        x = operand_window(lower, x, axis + j, extent_const(grid->first[j]), extent_const(1), 1);
    y = x;
    y.rank = x.rank - grid->depth + grid->places;
    for (int i = 0; i < grid->places; i++) {
        y.dim[axis + i] = index->dim[i];
        y.stride[axis + i] = extent_const(0);
        for (int j = 0; j < grid->depth; j++)
            y.stride[axis + i] =
                extent_op(model, EXPR_ADD, y.stride[axis + i],
                          extent_op(model, EXPR_MUL, x.stride[axis + j], extent_const(grid->step[j][i])));
    }
    for (int i = axis + grid->places; i < y.rank; i++) {
        y.dim[i] = x.dim[i - grid->places + grid->depth];
        y.stride[i] = x.stride[i - grid->places + grid->depth];
    }
    return y;
}

/* Constant indices of a regular grid give a view, such as the windows of an unfolded row: [[0, 1, 2], [1, 2, 3]].
 * Everything else is gathered, and the run checks the indices. */
int lower_gather(Lower *lower, const Node *node)
{
    const Type *type = &node->in[1]->type;
    Operand     x, index, y;
    int         axis = node_axis(node, 0, node->in[0]->type.rank);
    Grid        grid;

    if (read_grid(lower, node->in[1], &node->in[0]->type.dim[axis], 1, type->rank, &grid)) {
        if (lower_input(lower, node, 0, &x) < 0)
            return -1;
        return lower_output_view(lower, node, 0, grid_view(lower, &grid, type, x, axis));
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

/* Whether no two tuples are equal: each axis of tuples goes along one axis of the data, which no other does. */
static bool are_apart(const Grid *grid, const Type *index)
{
    bool taken[MAX_RANK] = {0};

    for (int i = 0; i < grid->places; i++) {
        int moved = 0;

        for (int j = 0; j < grid->depth; j++)
            if (grid->step[j][i]) {
                if (taken[j])
                    return false;
                taken[j] = true;
                moved++;
            }
        if (index->dim[i].max > 1 && moved != 1)
            return false;
    }
    return true;
}

int lower_scatter_nd(Lower *lower, const Node *node)
{
    const Type *type = &node->in[1]->type;
    Operand     y, index, update;
    Grid        grid;
    int         depth = (int)type->dim[type->rank - 1].max;

    if (reduction_of(lower, node) == 0 &&
        read_grid(lower, node->in[1], node->in[0]->type.dim, depth, type->rank - 1, &grid) && are_apart(&grid, type)) {
        if (lower_input(lower, node, 2, &update) < 0 || scatter_data(lower, node, &y) < 0 ||
            lower_copy(lower, node, update, grid_view(lower, &grid, type, y, 0)) < 0)
            return -1;
        return lower_output_done(lower, node, 0, y);
    }
    if (scatter_inputs(lower, node, &y, &index, &update) < 0)
        return -1;
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

/* Makes the channels the last axis where they are neighbours in memory, so that the kernel copies them as one row. */
static void put_channels_last(Operand *x, Operand *y, Extent *before)
{
    int    axes[MAX_RANK];
    Extent given[MAX_RANK];

    if (lower_layout_of(y) != LAYOUT_CHANNELS_LAST)
        return;
    memcpy(given, before, (size_t)y->rank * sizeof *given);
    for (int i = 0; i < y->rank; i++) {
        axes[i] = i == y->rank - 1 ? 1 : i > 0 ? i + 1 : 0;
        before[i] = given[axes[i]];
    }
    *x = operand_permute(*x, axes);
    *y = operand_permute(*y, axes);
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
    put_channels_last(&x, &y, before);
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
