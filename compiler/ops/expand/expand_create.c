/* expand_create.c - operators that make grids, windows and random samples, that crop or pad to a size, and that
 * quantise by a tensor's own range. */
#include "ops/expand/expand_rules.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- windows */

/* The coefficients of a window of N elements: a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N). */
static const double *coefficients(OpKind op)
{
    static const double hann[] = {0.5, 0.5, 0.0}, hamming[] = {25.0 / 46.0, 21.0 / 46.0, 0.0},
                        blackman[] = {0.42, 0.5, 0.08};

    return op == OP_onnx_HannWindow ? hann : op == OP_onnx_HammingWindow ? hamming : blackman;
}

int expand_window(Expand *expand)
{
    const double *a = coefficients(expand->node->op);
    Graph        *graph = expand->graph;
    Value        *size = expand_in(expand, 0), *last, *angle, *out;
    DType         wanted = (DType)node_int(expand->node, "output_datatype", DTYPE_F32);
    DType         dtype = wanted == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;

    size = expand_cast(expand, size, DTYPE_I64);
    last = node_int(expand->node, "periodic", 1) ? size : expand2(expand, OP_onnx_Sub, size, make_scalar(graph, 1));
    angle = expand_range(expand, size);
    expand_bound(angle, DTYPE_I64, &expand->node->out[0]->type, 0, 1);
    angle = expand_cast(expand, angle, dtype);
    angle = expand2(expand, OP_onnx_Mul, angle, expand_number(expand, 2.0 * acos(-1.0), dtype));
    angle = expand2(expand, OP_onnx_Div, angle, expand_cast(expand, last, dtype));
    out = expand1(expand, OP_onnx_Cos, angle);
    out = expand2(expand, OP_onnx_Mul, out, expand_number(expand, a[1], dtype));
    out = expand2(expand, OP_onnx_Sub, expand_number(expand, a[0], dtype), out);
    if (a[2] != 0.0) {
        Value *twice = expand1(expand, OP_onnx_Cos, expand2(expand, OP_onnx_Add, angle, angle));
        out =
            expand2(expand, OP_onnx_Add, out, expand2(expand, OP_onnx_Mul, twice, expand_number(expand, a[2], dtype)));
    }
    expand_give(expand, 0, wanted == dtype ? out : expand_cast(expand, out, wanted));
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- affine grids */

/* Repeats `value` over all points of the grid, with a last axis of 1. The bounds of the extents are the result's. */
static Value *over_grid(Expand *expand, Value *value, Value *shape, int rank, DType dtype)
{
    Value *out = expand2(expand, OP_onnx_Expand, value, expand_concat(expand, shape, make_int(expand->graph, 1), 0));

    expand_bound(out, dtype, &expand->node->out[0]->type, 1, rank);
    out->declared.dim[out->declared.rank++] = extent_const(1);
    return out;
}

/* The coordinates, from -1 to 1, of all points of the grid along spatial axis `axis` of `rank`, with a last axis of
 * 1. */
static Value *coordinate(Expand *expand, Value *shape, int axis, int rank, bool corners, DType dtype)
{
    int64_t along[MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    Graph  *graph = expand->graph;
    Value  *count = expand_gather(expand, shape, make_scalar(graph, axis), 0), *width, *at;

    along[axis] = -1;
    at = expand_range(expand, count);
    expand_bound(at, DTYPE_I64, &expand->node->out[0]->type, 1 + axis, 1);
    at = expand_cast(expand, at, dtype);
    at = expand2(expand, OP_onnx_Add, at, at);
    if (!corners)
        at = expand2(expand, OP_onnx_Add, at, expand_number(expand, 1, dtype));
    width = corners ? expand2(expand, OP_onnx_Sub, count, make_scalar(graph, 1)) : count;
    if (corners) /* a single point has coordinate -1, as in the reference implementation */
        width = expand2(expand, OP_onnx_Max, width, make_scalar(graph, 1));
    at = expand2(expand, OP_onnx_Div, at, expand_cast(expand, width, dtype));
    at = expand2(expand, OP_onnx_Sub, at, expand_number(expand, 1, dtype));
    at = expand_reshape(expand, at, along, rank + 1);
    return over_grid(expand, at, shape, rank, dtype);
}

/* Multiplies theta, [N][2][3] or [N][3][4], with (x, y, 1) or (x, y, z, 1) of every point. */
int expand_affine_grid(Expand *expand)
{
    static const int64_t swap[] = {0, 2, 1};
    Value               *theta = expand_in(expand, 0), *size = expand_in(expand, 1), *shape, *parts[4], *points, *grid;
    int                  rank = (int)theta->type.dim[1].max;
    bool                 corners = node_int(expand->node, "align_corners", 0) != 0;
    DType                dtype = theta->type.dtype;
    int64_t              flat[] = {1, -1, rank + 1};

    if (!extent_is_const(theta->type.dim[1]))
        return diag_unsupported(expand->diag, expand->node->loc,
                                "found theta of a run-time number of rows; make it 2 or 3 with --dim");
    if (rank < 2 || rank > 3)
        return diag_error(expand->diag, expand->node->loc, "found theta of other than 2 or 3 rows");
    shape = expand_slice(expand, size, 0, 2, INT64_MAX, 1);
    for (int i = 0; i < rank; i++) /* x is the innermost axis */
        parts[i] = coordinate(expand, shape, rank - 1 - i, rank, corners, dtype);
    parts[rank] = over_grid(expand, expand_number(expand, 1, dtype), shape, rank, dtype);
    points = expand_make(expand, OP_onnx_Concat, rank + 1, parts);
    node_set_int(expand->last, "axis", -1);
    points = expand_reshape(expand, points, flat, 3);
    grid = expand2(expand, OP_onnx_MatMul, points, expand_transpose(expand, theta, swap, 3));
    parts[0] = expand_slice(expand, size, 0, 0, 1, 1);
    parts[1] = shape;
    parts[2] = make_int(expand->graph, rank);
    shape = expand_make(expand, OP_onnx_Concat, 3, parts);
    node_set_int(expand->last, "axis", 0);
    expand_give(expand, 0, expand2(expand, OP_onnx_Reshape, grid, shape));
    return 0;
}

/* ------------------------------------------------------------------------------------------ cut or padded to a size */

/* max(a - b, 0) */
static Value *surplus_of(Expand *expand, Value *a, Value *b)
{
    Value *difference = expand2(expand, OP_onnx_Sub, a, b);

    return expand2(expand, OP_onnx_Max, difference, make_int(expand->graph, 0));
}

/* Crops or pads each axis to the wanted extent. Half of the difference, rounded down, is in front, the rest behind:
 * from 5 to 2, one element in front and two behind are cut. */
int expand_center_crop_pad(Expand *expand)
{
    Value *x = expand_in(expand, 0), *wanted = expand_cast(expand, expand_in(expand, 1), DTYPE_I64), *now, *which,
          *surplus, *start;
    Graph         *graph = expand->graph;
    int            count, rank = expand_rank(x);
    const int64_t *given = node_ints(expand->node, "axes", &count);
    int64_t        axes[MAX_RANK];
    Value         *slice[4], *pad[4];

    for (int i = 0; i < MAX_RANK; i++)
        axes[i] = given && i < count ? given[i] + (given[i] < 0 ? rank : 0) : i;
    which = make_ints(graph, axes, given ? count : rank);
    now = expand_gather(expand, expand1(expand, OP_onnx_Shape, x), which, 0);
    surplus = surplus_of(expand, now, wanted);
    start = expand2(expand, OP_onnx_Div, surplus, make_int(graph, 2));
    slice[0] = x;
    slice[1] = start;
    slice[2] = expand2(expand, OP_onnx_Add, start, expand2(expand, OP_onnx_Min, now, wanted));
    slice[3] = which;
    pad[0] = expand_make(expand, OP_onnx_Slice, 4, slice);
    surplus = surplus_of(expand, wanted, now);
    start = expand2(expand, OP_onnx_Div, surplus, make_int(graph, 2));
    pad[1] = expand_concat(expand, start, expand2(expand, OP_onnx_Sub, surplus, start), 0);
    pad[2] = NULL;
    pad[3] = which;
    expand_give(expand, 0, expand_make(expand, OP_onnx_Pad, 4, pad));
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------- samples */

/* 1 where a uniform number is below the probability. */
int expand_bernoulli(Expand *expand)
{
    Value *x = expand_in(expand, 0), *draw = expand1(expand, OP_onnx_RandomUniformLike, x), *out;
    DType  dtype = (DType)node_int(expand->node, "dtype", x->type.dtype);

    node_set_int(expand->last, "dtype", x->type.dtype);
    if (node_attr(expand->node, "seed"))
        node_set_float(expand->last, "seed", node_float(expand->node, "seed", 0.0f));
    out = expand1(expand, OP_onnx_Cast, expand2(expand, OP_onnx_Less, draw, x));
    node_set_int(expand->last, "to", dtype);
    expand_give(expand, 0, out);
    return 0;
}

/* May Dropout drop elements? Not if it is known not to train, or to keep everything. */
bool expand_drops(const Node *node)
{
    double training = 0.0, ratio = 0.5;
    bool   rests = node->nin < 3 || !node->in[2] || (const_scalar(node->in[2], &training) && training == 0.0);

    return !rests && !(node->in[1] && const_scalar(node->in[1], &ratio) && ratio == 0.0);
}

/* In training, an element whose uniform number is below the ratio becomes 0. The others are divided by 1 - ratio, so
 * that the mean stays. */
int expand_dropout(Expand *expand)
{
    Value *x = expand_in(expand, 0), *ratio = expand_in(expand, 1), *training = expand_in(expand, 2), *draw, *keep,
          *one, *factor;
    DType dtype = x->type.dtype;

    one = expand_number(expand, 1, dtype);
    ratio = ratio ? expand_cast(expand, ratio, dtype) : expand_number(expand, 0.5, dtype);
    draw = expand1(expand, OP_onnx_RandomUniformLike, x);
    if (node_attr(expand->node, "seed"))
        node_set_float(expand->last, "seed", (float)node_int(expand->node, "seed", 0));
    keep = expand2(expand, OP_onnx_GreaterOrEqual, draw, ratio);
    keep = expand2(expand, OP_onnx_Or, keep, expand1(expand, OP_onnx_Not, training));
    factor = expand2(expand, OP_onnx_Div, one, expand2(expand, OP_onnx_Sub, one, ratio));
    factor = expand3(expand, OP_onnx_Where, training, factor, one);
    factor = expand2(expand, OP_onnx_Mul, x, factor);
    expand_give(expand, 0, expand3(expand, OP_onnx_Where, keep, factor, expand_number(expand, 0, dtype)));
    expand_give(expand, 1, keep);
    return 0;
}

/* Quantises x to unsigned bytes. Scale and zero point follow from the range of x, extended to include 0. */
int expand_dynamic_quantize(Expand *expand)
{
    Value *x = expand_in(expand, 0), *zero = expand_number(expand, 0, DTYPE_F32),
          *most = expand_number(expand, 255, DTYPE_F32);
    Value *low = expand1(expand, OP_onnx_ReduceMin, x), *high, *scale, *point;

    node_set_int(expand->last, "keepdims", 0);
    high = expand1(expand, OP_onnx_ReduceMax, x);
    node_set_int(expand->last, "keepdims", 0);
    low = expand2(expand, OP_onnx_Min, low, zero);
    high = expand2(expand, OP_onnx_Max, high, zero);
    scale = expand2(expand, OP_onnx_Div, expand2(expand, OP_onnx_Sub, high, low), most);
    point = expand2(expand, OP_onnx_Div, expand2(expand, OP_onnx_Sub, zero, low), scale);
    point = expand1(expand, OP_onnx_Round, expand3(expand, OP_onnx_Clip, point, zero, most));
    point = expand_cast(expand, point, DTYPE_U8);
    expand_give(expand, 0, expand3(expand, OP_onnx_QuantizeLinear, x, scale, point));
    expand_give(expand, 1, scale);
    expand_give(expand, 2, point);
    return 0;
}
