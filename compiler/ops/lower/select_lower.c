/* select_lower.c - operators that choose elements by their value: the largest, those that are not zero, the different
 * ones. */
#include "infer/axes.h"
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/rules.h"

/* A result that the model does not ask for needs a place all the same. */
static int output_or_scratch(Lower *lower, const Node *node, int index, DType dtype, int64_t elements, Operand *out)
{
    if (index < node->nout && node->out[index])
        return lower_output_dense(lower, node, index, out);
    *out = lower_scratch(lower, dtype, elements, "unused");
    return 0;
}

/* Low-precision floats are compared as float. */
static int comparable(Lower *lower, const Node *node, Operand *x)
{
    if (lower_input(lower, node, 0, x) < 0)
        return -1;
    if (dtype_info(x->dtype)->class == 'L' && lower_convert(lower, *x, DTYPE_F32, x) < 0)
        return -1;
    return lower_dense(lower, *x, x);
}

/* The place of output 0, or a temporary if elements of x were converted to be compared. */
static int chosen_output(Lower *lower, const Node *node, DType dtype, const Type *type, int64_t elements,
                         Operand *value)
{
    Type wide = *type;

    if (dtype == node->in[0]->type.dtype)
        return output_or_scratch(lower, node, 0, dtype, elements, value);
    wide.dtype = dtype;
    *value = lower_temporary(lower, &wide, LAYOUT_ROW_MAJOR, "values");
    return 0;
}

/* Converts the chosen elements back to the type of output 0, where it is wanted. */
static int chosen_done(Lower *lower, const Node *node, Operand value)
{
    if (!node->out[0])
        return 0;
    if (value.dtype != node->out[0]->type.dtype && lower_convert(lower, value, node->out[0]->type.dtype, &value) < 0)
        return -1;
    if (lower->place[node->out[0]->id].kind == PLACE_NONE)
        return lower_output_view(lower, node, 0, value);
    return lower_output_done(lower, node, 0, value);
}

int lower_topk(Lower *lower, const Node *node)
{
    int         axis = node_axis(node, -1, node->in[0]->type.rank);
    const Type *type = node->out[0] ? &node->out[0]->type : &node->out[1]->type;
    int64_t     elements = type_elements(type);
    Operand     x, value, place;

    if (comparable(lower, node, &x) < 0 || output_or_scratch(lower, node, 1, DTYPE_I64, elements, &place) < 0)
        return -1;
    if (chosen_output(lower, node, x.dtype, type, elements, &value) < 0)
        return -1;
    if (STEP(lower, node, move_kernel(lower, "topk", x.dtype), ARG(value, value), ARG(place, place), ARG(x, x),
             ARG(outer, operand_count(lower, &x, 0, axis)), ARG(n, x.dim[axis]),
             ARG(inner, operand_count(lower, &x, axis + 1, x.rank)), ARG(k, type->dim[axis]),
             ARG(largest, node_int(node, "largest", 1))) < 0)
        return -1;
    if (chosen_done(lower, node, value) < 0)
        return -1;
    return node->nout > 1 && node->out[1] ? lower_output_done(lower, node, 1, place) : 0;
}

int lower_argmax(Lower *lower, const Node *node)
{
    int     axis = node_axis(node, 0, node->in[0]->type.rank);
    Operand x, y;

    if (node->in[0]->type.dim[axis].max > INT32_MAX)
        return diag_unsupported(lower->diag, node->loc, "found an axis of %lld elements, wanted 2147483647 at most",
                                (long long)node->in[0]->type.dim[axis].max);
    if (comparable(lower, node, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "argmax", x.dtype), ARG(x, x),
                       ARG(outer, operand_count(lower, &x, 0, axis)), ARG(n, x.dim[axis]),
                       ARG(inner, operand_count(lower, &x, axis + 1, x.rank)), ARG(largest, node->op == OP_onnx_ArgMax),
                       ARG(last, node_int(node, "select_last_index", 0)));
}

int lower_nonzero(Lower *lower, const Node *node)
{
    Operand     x, y;
    const Type *type = &node->out[0]->type;

    if (comparable(lower, node, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "nonzero", x.dtype),
                       ARG(count, step_finds(lower, type->dim[1])), ARG(x, x), ARG(rank, x.rank),
                       ARGS(dim, x.rank, x.dim), ARG(fewest, extent_min(lower->model, type->dim[1])),
                       ARG(room, type->dim[1].max));
}

int lower_compress(Lower *lower, const Node *node)
{
    const Attr *attr = node_attr(node, "axis");
    int         axis = attr ? node_axis(node, 0, node->in[0]->type.rank) : -1;
    Operand     x, condition, y;
    Extent      symbol = node->out[0]->type.dim[attr ? axis : 0];

    if (lower_input_dense(lower, node, 0, &x) < 0 || lower_input_dense(lower, node, 1, &condition) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(
        lower, node, y, move_kernel(lower, "compress", x.dtype), ARG(count, step_finds(lower, symbol)), ARG(x, x),
        ARG(condition, condition), ARG(outer, attr ? operand_count(lower, &x, 0, axis) : extent_const(1)),
        ARG(axis, attr ? x.dim[axis] : operand_count(lower, &x, 0, x.rank)),
        ARG(inner, attr ? operand_count(lower, &x, axis + 1, x.rank) : extent_const(1)),
        ARG(conditions, condition.dim[0]), ARG(fewest, extent_min(lower->model, symbol)), ARG(most, symbol.max));
}

int lower_unique(Lower *lower, const Node *node)
{
    const Attr *attr = node_attr(node, "axis");
    Operand     x, y, part[3], order;
    int         axis;
    int64_t     n;
    Extent      symbol;

    if (comparable(lower, node, &x) < 0)
        return -1;
    axis = attr ? (int)(attr->i < 0 ? attr->i + x.rank : attr->i) : 0;
    n = attr ? x.dim[axis].max : operand_count(lower, &x, 0, x.rank).max;
    symbol = node->out[0]->type.dim[axis];
    if (chosen_output(lower, node, x.dtype, &node->out[0]->type, type_elements(&node->out[0]->type), &y) < 0)
        return -1;
    for (int i = 0; i < 3; i++) /* first, inverse, counts */
        if (output_or_scratch(lower, node, i + 1, DTYPE_I64, n, &part[i]) < 0)
            return -1;
    order = lower_scratch(lower, DTYPE_I64, n, "order");
    if (STEP(lower, node, x.dtype == DTYPE_TEXT ? "unique_text" : move_kernel(lower, "unique", x.dtype), ARG(y, y),
             ARG(first, part[0]), ARG(inverse, part[1]), ARG(counts, part[2]), ARG(count, step_finds(lower, symbol)),
             ARG(order, order), ARG(x, x), ARG(outer, attr ? operand_count(lower, &x, 0, axis) : extent_const(1)),
             ARG(n, attr ? x.dim[axis] : operand_count(lower, &x, 0, x.rank)),
             ARG(inner, attr ? operand_count(lower, &x, axis + 1, x.rank) : extent_const(1)),
             ARG(sorted, node_int(node, "sorted", 1)), ARG(fewest, extent_min(lower->model, symbol)),
             ARG(most, symbol.max)) < 0 ||
        chosen_done(lower, node, y) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (i + 1 < node->nout && node->out[i + 1] && lower_output_done(lower, node, i + 1, part[i]) < 0)
            return -1;
    return 0;
}
