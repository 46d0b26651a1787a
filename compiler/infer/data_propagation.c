/* data_propagation.c - element values of small tensors through elementwise operators. Whole numbers in floats are
 * propagated exactly while they stay below 2^24. A float that need not be whole (n * 0.5) becomes a symbol of which
 * only the interval is known; a cast to integers then reads it while running, within that interval. */
#include "infer/data_propagation.h"

#include <math.h>
#include <string.h>

static const int64_t WHOLE_FLOATS = (int64_t)1 << 24;

PropagatedOp propagated_op(OpKind op)
{
    static const struct {
        OpKind       op;
        PropagatedOp propagated;
    } row[] = {
        {OP_onnx_Add, PROPAGATED_ADD},
        {OP_onnx_Sub, PROPAGATED_SUB},
        {OP_onnx_Mul, PROPAGATED_MUL},
        {OP_onnx_Div, PROPAGATED_DIV},
        {OP_onnx_Mod, PROPAGATED_MOD},
        {OP_onnx_Min, PROPAGATED_MIN},
        {OP_onnx_Max, PROPAGATED_MAX},
        {OP_onnx_Sum, PROPAGATED_ADD},
        {OP_onnx_Equal, PROPAGATED_EQ},
        {OP_onnx_Less, PROPAGATED_LT},
        {OP_onnx_Greater, PROPAGATED_GT},
        {OP_onnx_LessOrEqual, PROPAGATED_LE},
        {OP_onnx_GreaterOrEqual, PROPAGATED_GE},
        {OP_onnx_And, PROPAGATED_AND},
        {OP_onnx_Or, PROPAGATED_OR},
        {OP_onnx_Xor, PROPAGATED_XOR},
        {OP_onnx_ReduceMax, PROPAGATED_MAX},
        {OP_onnx_ReduceMin, PROPAGATED_MIN},
        {OP_onnx_ReduceSum, PROPAGATED_ADD},
        {OP_onnx_ReduceProd, PROPAGATED_MUL},
        {OP_onnx_CumSum, PROPAGATED_ADD},
        {OP_onnx_CumProd, PROPAGATED_MUL},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (row[i].op == op)
            return row[i].propagated;
    return PROPAGATED_NONE;
}

/* Whether the expression is a float of which only the interval is known. */
static bool is_rough(const Model *model, Extent extent)
{
    const Expr *expr = extent.expr < 0 ? NULL : &model->expr[extent.expr];

    return expr && expr->op == EXPR_ELEM && dtype_in(model->value[expr->value]->type.dtype, "FL");
}

/* ------------------------------------------------------------------------------------------------------ one element */

static Extent negated(Infer *infer, Extent condition)
{
    return extent_op(infer->model, EXPR_EQ, condition, extent_const(0));
}

/* Truncating division equals floor division where nothing is negative; otherwise the sign is split off first: -7 / 2 is
 * -(7 / 2). */
static Extent divide(Infer *infer, Extent a, Extent b)
{
    Model *model = infer->model;
    Extent zero = extent_const(0), below, mirrored;

    if (extent_min(model, b) <= 0)
        return (Extent){0, -2};
    if (extent_min(model, a) >= 0)
        return extent_op(model, EXPR_DIV, a, b);
    below = extent_op(model, EXPR_LT, a, zero);
    mirrored = infer_sub(infer, zero, extent_op(model, EXPR_DIV, infer_sub(infer, zero, a), b));
    return extent_select(model, below, mirrored, extent_op(model, EXPR_DIV, a, b));
}

Extent propagated_apply(Infer *infer, PropagatedOp op, Extent a, Extent b)
{
    Model *model = infer->model;

    switch (op) {
    case PROPAGATED_ADD:
        return infer_add(infer, a, b);
    case PROPAGATED_SUB:
        return infer_sub(infer, a, b);
    case PROPAGATED_MUL:
    case PROPAGATED_AND:
        return infer_mul(infer, a, b);
    case PROPAGATED_DIV:
        return divide(infer, a, b);
    case PROPAGATED_MOD:
        return extent_min(model, b) > 0 ? extent_op(model, EXPR_MOD, a, b) : (Extent){0, -2};
    case PROPAGATED_MIN:
        return extent_op(model, EXPR_MIN, a, b);
    case PROPAGATED_MAX:
    case PROPAGATED_OR:
        return extent_op(model, EXPR_MAX, a, b);
    case PROPAGATED_EQ:
        return extent_op(model, EXPR_EQ, a, b);
    case PROPAGATED_LT:
        return extent_op(model, EXPR_LT, a, b);
    case PROPAGATED_GT:
        return extent_op(model, EXPR_LT, b, a);
    case PROPAGATED_LE:
        return negated(infer, extent_op(model, EXPR_LT, b, a));
    case PROPAGATED_GE:
        return negated(infer, extent_op(model, EXPR_LT, a, b));
    case PROPAGATED_XOR:
        return negated(infer, extent_op(model, EXPR_EQ, a, b));
    default:
        return (Extent){0, -2};
    }
}

/* ----------------------------------------------------------------------------------------------- floats by interval */

typedef struct FloatRange {
    double lo, hi;
} FloatRange;

static bool float_range(const Model *model, const Value *value, int index, FloatRange *out)
{
    double wide;
    float  single;

    if (value->elem) {
        Extent at = value->elem[value->nelem == 1 ? 0 : index];
        *out = (FloatRange){(double)extent_min(model, at), (double)at.max};
        return true;
    }
    if (!value->data || (value->type.dtype != DTYPE_F32 && value->type.dtype != DTYPE_F64))
        return false;
    if (value->data->broadcast || type_elements(&value->type) == 1)
        index = 0;
    memcpy(&single, (const char *)value->data->data + 4 * index, sizeof single);
    wide = (double)single;
    if (value->type.dtype == DTYPE_F64)
        memcpy(&wide, (const char *)value->data->data + 8 * index, sizeof wide);
    *out = (FloatRange){wide, wide};
    return true;
}

static double combine(PropagatedOp op, double a, double b)
{
    switch (op) {
    case PROPAGATED_ADD:
        return a + b;
    case PROPAGATED_SUB:
        return a - b;
    case PROPAGATED_MUL:
        return a * b;
    case PROPAGATED_DIV:
        return a / b;
    case PROPAGATED_MIN:
        return fmin(a, b);
    default:
        return fmax(a, b);
    }
}

/* The interval of the result from the corners of both operands' intervals: these operators are monotone in each
 * operand. */
static FloatRange combine_ranges(PropagatedOp op, FloatRange a, FloatRange b)
{
    double     corner[4] = {combine(op, a.lo, b.lo), combine(op, a.lo, b.hi), combine(op, a.hi, b.lo),
                            combine(op, a.hi, b.hi)};
    FloatRange out = {corner[0], corner[0]};

    for (int i = 1; i < 4; i++) {
        out.lo = fmin(out.lo, corner[i]);
        out.hi = fmax(out.hi, corner[i]);
    }
    return out;
}

/* A symbol for a float of which only the interval is known, widened to whole numbers and by one rounding. */
static Extent rough(Infer *infer, const Value *value, int index, FloatRange range)
{
    double slack = 1e-6 * fmax(fabs(range.lo), fabs(range.hi));

    if (!(fabs(range.lo) < 1e15) || !(fabs(range.hi) < 1e15))
        return (Extent){0, -2};
    return extent_symbol(infer->model, EXPR_ELEM, value->id, index, (int64_t)floor(range.lo - slack),
                         (int64_t)ceil(range.hi + slack));
}

static bool whole(const Model *model, Extent extent)
{
    return !is_rough(model, extent) && extent_min(model, extent) > -WHOLE_FLOATS && extent.max < WHOLE_FLOATS;
}

static Extent apply_float(Infer *infer, Node *node, PropagatedOp op, int index)
{
    const Value *a = node->in[0], *b = node->in[1];
    Extent       x[INFER_TRACKED], y[INFER_TRACKED], result;
    int          nx, ny;
    FloatRange   left, right;

    if (op > PROPAGATED_MAX || op == PROPAGATED_MOD)
        return (Extent){0, -2};
    if (op != PROPAGATED_DIV && infer_known(a, x, &nx) && infer_known(b, y, &ny)) {
        result = propagated_apply(infer, op, x[nx == 1 ? 0 : index], y[ny == 1 ? 0 : index]);
        if (whole(infer->model, x[nx == 1 ? 0 : index]) && whole(infer->model, y[ny == 1 ? 0 : index]) &&
            whole(infer->model, result))
            return result;
    }
    if (!float_range(infer->model, a, index, &left) || !float_range(infer->model, b, index, &right) ||
        (op == PROPAGATED_DIV && right.lo <= 0.0 && right.hi >= 0.0))
        return (Extent){0, -2};
    return rough(infer, node->out[0], index, combine_ranges(op, left, right));
}

/* -------------------------------------------------------------------------------------------------------- operators */

/* The number of elements of an output whose values are propagated: its extents are constant and few. Else 0. */
static int followed(const Node *node)
{
    const Value *out = node->nout ? node->out[0] : NULL;
    int64_t      count = out && type_is_static(&out->type) ? type_elements(&out->type) : -1;

    return count >= 0 && count <= INFER_TRACKED ? (int)count : -1;
}

static bool fits(int have, int count)
{
    return have == count || have == 1;
}

static void propagate_floats(Infer *infer, Node *node, PropagatedOp op, int count)
{
    Extent  out[INFER_TRACKED];
    int64_t na = type_elements(&node->in[0]->type), nb = type_elements(&node->in[1]->type);

    if ((!node->in[0]->elem && !node->in[1]->elem) || !fits((int)na, count) || !fits((int)nb, count))
        return;
    for (int i = 0; i < count; i++) {
        out[i] = apply_float(infer, node, op, i);
        if (out[i].expr == -2)
            return;
    }
    infer_track(infer, node, 0, out, count);
}

void propagate_binary(Infer *infer, Node *node)
{
    Extent       a[INFER_TRACKED], b[INFER_TRACKED], out[INFER_TRACKED];
    PropagatedOp op = propagated_op(node->op);
    int          na, nb, count = followed(node);

    if (count < 0 || op == PROPAGATED_NONE)
        return;
    if (dtype_in(node->in[0]->type.dtype, "FL") && op <= PROPAGATED_MAX) {
        propagate_floats(infer, node, op, count);
        return;
    }
    if (!infer_known(node->in[0], a, &na) || !infer_known(node->in[1], b, &nb) || !fits(na, count) || !fits(nb, count))
        return;
    for (int i = 0; i < count; i++) {
        Extent x = a[na == 1 ? 0 : i], y = b[nb == 1 ? 0 : i];
        if (is_rough(infer->model, x) || is_rough(infer->model, y))
            return;
        out[i] = propagated_apply(infer, op, x, y);
        if (out[i].expr == -2)
            return;
    }
    infer_track(infer, node, 0, out, count);
}

void propagate_many(Infer *infer, Node *node)
{
    Extent       all[INFER_TRACKED], next[INFER_TRACKED];
    PropagatedOp op = propagated_op(node->op);
    int          n, count = followed(node);

    if (count < 0 || op == PROPAGATED_NONE || !dtype_in(node->out[0]->type.dtype, "IUB"))
        return;
    for (int k = 0; k < node->nin; k++) {
        if (!infer_known(node->in[k], next, &n) || !fits(n, count))
            return;
        for (int i = 0; i < count; i++)
            all[i] = k ? propagated_apply(infer, op, all[i], next[n == 1 ? 0 : i]) : next[n == 1 ? 0 : i];
    }
    infer_track(infer, node, 0, all, count);
}

static Extent apply_unary(Infer *infer, Node *node, Extent x, int index)
{
    Model *model = infer->model;

    if (node->op == OP_onnx_Not)
        return negated(infer, x);
    if (node->op == OP_onnx_Floor || node->op == OP_onnx_Ceil || node->op == OP_onnx_Round) {
        if (!is_rough(model, x))
            return x;
        return extent_symbol(model, EXPR_ELEM, node->out[0]->id, index, extent_min(model, x), x.max);
    }
    if (is_rough(model, x))
        return (Extent){0, -2};
    if (node->op == OP_onnx_Neg)
        return infer_sub(infer, extent_const(0), x);
    if (node->op == OP_onnx_Relu)
        return extent_op(model, EXPR_MAX, x, extent_const(0));
    if (node->op == OP_onnx_Abs)
        return extent_op(model, EXPR_MAX, x, infer_sub(infer, extent_const(0), x));
    return (Extent){0, -2};
}

void propagate_where(Infer *infer, Node *node)
{
    Extent in[3][INFER_TRACKED], out[INFER_TRACKED];
    int    n[3], count = followed(node);

    if (count < 0 || !dtype_in(node->out[0]->type.dtype, "IUB"))
        return;
    for (int k = 0; k < 3; k++)
        if (!infer_known(node->in[k], in[k], &n[k]) || !fits(n[k], count))
            return;
    for (int i = 0; i < count; i++)
        out[i] =
            extent_select(infer->model, in[0][n[0] == 1 ? 0 : i], in[1][n[1] == 1 ? 0 : i], in[2][n[2] == 1 ? 0 : i]);
    infer_track(infer, node, 0, out, count);
}

/* Casts one element. Whole numbers are kept; a float known by its interval only becomes an integer that the run
 * reads. */
static Extent cast_one(Infer *infer, const Node *node, DType to, Extent x, int index)
{
    Model *model = infer->model;

    if (to == DTYPE_BOOL)
        return is_rough(model, x) ? (Extent){0, -2} : negated(infer, negated(infer, x));
    if (is_rough(model, x))
        return extent_symbol(model, EXPR_ELEM, node->out[0]->id, index, extent_min(model, x), x.max);
    if (to == DTYPE_F32 && !whole(model, x))
        return rough(infer, node->out[0], index, (FloatRange){(double)extent_min(model, x), (double)x.max});
    return x;
}

/* Casts to a type, or another operator of one input where there is none. */
static void propagate_each(Infer *infer, Node *node, DType to)
{
    Extent elem[INFER_TRACKED];
    int    count, wanted = followed(node);

    if (wanted < 0 || !infer_known(node->in[0], elem, &count) || count != wanted)
        return;
    for (int i = 0; i < count; i++) {
        elem[i] = to ? cast_one(infer, node, to, elem[i], i) : apply_unary(infer, node, elem[i], i);
        if (elem[i].expr == -2)
            return;
    }
    infer_track(infer, node, 0, elem, count);
}

void propagate_unary(Infer *infer, Node *node)
{
    propagate_each(infer, node, DTYPE_NONE);
}

void propagate_cast(Infer *infer, Node *node, DType to)
{
    if (dtype_in(to, "FIUB"))
        propagate_each(infer, node, to);
}

void propagate_clip(Infer *infer, Node *node)
{
    Extent elem[INFER_TRACKED], bound[INFER_TRACKED];
    int    count, n, wanted = followed(node);

    if (wanted < 0 || !dtype_in(node->out[0]->type.dtype, "IU") || !infer_known(node->in[0], elem, &count) ||
        count != wanted)
        return;
    for (int k = 1; k <= 2; k++) {
        if (!infer_has(node, k))
            continue;
        if (!infer_known(node->in[k], bound, &n) || n != 1)
            return;
        for (int i = 0; i < count; i++)
            elem[i] = extent_op(infer->model, k == 1 ? EXPR_MAX : EXPR_MIN, elem[i], bound[0]);
    }
    infer_track(infer, node, 0, elem, count);
}
