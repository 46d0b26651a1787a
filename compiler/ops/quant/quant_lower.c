/* quant_lower.c - QuantizeLinear and DequantizeLinear as elementwise expressions, which are fused into the kernels
 * around them. */
#include "lower/lower.h"
#include "ops/quant/integer_weights.h"
#include "ops/rules.h"
#include "program/operand.h"

#include <math.h>
#include <string.h>

/* One element for each block of an axis, repeated so that there is one for each place of it. */
static int repeat_blocks(Lower *lower, Operand x, int axis, int64_t block, const Type *type, Operand *out)
{
    Type    whole = {.kind = TYPE_TENSOR, .dtype = x.dtype, .rank = x.rank + 1};
    Operand y;

    if (x.rank == MAX_RANK || !operand_is_static(&x))
        return diag_unsupported(lower->diag, lower->node->loc,
                                "found scales for blocks of an axis whose extents are known only while "
                                "running; give one for each place of it");
    x = operand_with_axis(x, axis + 1, extent_const(block));
    memcpy(whole.dim, x.dim, sizeof whole.dim);
    y = lower_temporary(lower, &whole, LAYOUT_ROW_MAJOR, "blocks");
    if (lower_copy(lower, NULL, x, y) < 0)
        return -1;
    y.dim[axis] = extent_const(x.dim[axis].max * block);
    y.stride[axis] = y.stride[axis + 1];
    for (int i = axis + 1; i + 1 < y.rank; i++) {
        y.dim[i] = y.dim[i + 1];
        y.stride[i] = y.stride[i + 1];
    }
    y.rank--;
    *out = operand_window(lower, y, axis, extent_const(0), type->dim[axis], 1);
    return 0;
}

/* A scale or zero point broadcast to the result's axes: one element, one for each index of an axis, or one for each
 * block. */
static int place_parameter(Lower *lower, const Node *node, int index, Operand *out)
{
    const Type *type = &node->out[0]->type;
    int         axis = node_axis(node, 1, type->rank);
    int64_t     block = node_int(node, "block_size", 0);
    Operand     x;

    if (lower_input(lower, node, index, &x) < 0)
        return -1;
    if (x.rank == type->rank && x.rank > 0 && block > 1) {
        if (repeat_blocks(lower, x, axis, block, type, &x) < 0)
            return -1;
    } else if (x.rank == 1 && type->rank > 0 && !(extent_is_const(x.dim[0]) && x.dim[0].max == 1)) {
        x.rank = type->rank - axis;
        for (int i = 1; i < x.rank; i++) {
            x.dim[i] = extent_const(1);
            x.stride[i] = extent_const(0);
        }
    } else if (x.rank == 1) {
        x.rank = 0;
    }
    *out = operand_broadcast(lower, x, type->rank, type->dim);
    return 0;
}

/* A parameter in the expression: a literal where it is one constant number, else read. */
static int add_parameter(Lower *lower, const Node *node, int index, Deferred *p, Operand x)
{
    const Value *constant = lower_constant(lower, node->in[index]);
    double       number;

    if (constant && x.dtype != DTYPE_I32 && const_scalar(constant, &number))
        return scalar_literal(lower, p->expr, DTYPE_F32, number);
    p->operand[p->noperand] = x;
    return scalar_load(lower, p->expr, x.dtype, p->noperand++);
}

static int add_float(Lower *lower, const Node *node, int index, Deferred *p, Operand x)
{
    return scalar_cast(lower, p->expr, DTYPE_F32, add_parameter(lower, node, index, p, x), false);
}

static bool is_zero(Lower *lower, const Node *node)
{
    Value *zero = node->nin > 2 ? node->in[2] : NULL;

    if (!zero)
        return true;
    return lower_constant(lower, zero) && integer_is_zero(lower->arena, lower_constant(lower, zero));
}

/* Fuses the deferred producer of x; the parameters do not follow the common broadcast rule. */
static Deferred *start(Lower *lower, const Node *node, bool vector, int *arg)
{
    return lower_elementwise_of(lower, node, 1, vector, arg);
}

/* Ensures room for the parameters and a kernel that accepts them; else the step of x is appended first. */
static int prepare(Lower *lower, const Node *node, const Operand *scale, const Operand *zero)
{
    const Place *place = &lower->place[node->in[0]->id];
    Operand      x;

    if (place->kind != PLACE_DEFERRED)
        return 0;
    if (place->deferred->noperand + 2 <= SCALAR_MAX_OPERANDS &&
        (!place->deferred->accepts ||
         (place->deferred->accepts(place->deferred, scale) && place->deferred->accepts(place->deferred, zero))))
        return 0;
    return lower_value(lower, node->in[0], &x);
}

static int read_parameters(Lower *lower, const Node *node, Operand *scale, Operand *zero)
{
    if (place_parameter(lower, node, 1, scale) < 0)
        return -1;
    if (is_zero(lower, node))
        *zero = *scale;
    else if (place_parameter(lower, node, 2, zero) < 0)
        return -1;
    return prepare(lower, node, scale, zero);
}

/* (x - zero) * scale. Each reader may compute it again, which costs less than storing it. */
int lower_dequantize(Lower *lower, const Node *node)
{
    DType     to = node->out[0]->type.dtype;
    Operand   scale, zero;
    Deferred *p;
    int       x;

    if (read_parameters(lower, node, &scale, &zero) < 0)
        return -1;
    p = start(lower, node, dtype_is_byte(node->in[0]->type.dtype), &x);
    if (!p)
        return -1;
    if (node->in[0]->type.dtype == DTYPE_I32 &&
        !is_zero(lower, node)) /* differences of large integers are exact as such */
        x = scalar_op(lower, p->expr, SCALAR_sub, x, add_parameter(lower, node, 2, p, zero), -1);
    x = scalar_cast(lower, p->expr, DTYPE_F32, x, false);
    if (node->in[0]->type.dtype != DTYPE_I32 && !is_zero(lower, node))
        x = scalar_op(lower, p->expr, SCALAR_sub, x, add_float(lower, node, 2, p, zero), -1);
    x = scalar_op(lower, p->expr, SCALAR_mul, x, add_float(lower, node, 1, p, scale), -1);
    scalar_cast(lower, p->expr, to, x, false);
    p->free = p->noperand <= 3 && !p->accepts;
    return lower_output_deferred(lower, node, 0, p);
}

/* The least and the largest value of an integer type; false: not an integer. */
static bool integer_range(DType dtype, double *lo, double *hi)
{
    const DTypeInfo *info = dtype_info(dtype);

    if (info->class != 'U' && info->class != 'I')
        return false;
    *lo = info->class == 'U' ? 0.0 : -ldexp(1.0, info->bits - 1);
    *hi = ldexp(1.0, info->bits - (info->class == 'I')) - 1.0;
    return true;
}

/* x / scale, as a multiplication where possible: the inverse of a power of two is exact. At the end of a kernel, whose
 * sums are rounded themselves, any inverse will do: the result may differ by one step where the quotient is halfway
 * between two. */
static int divide(Lower *lower, const Node *node, Deferred *p, int x, Operand scale)
{
    const Value *constant = lower_constant(lower, node->in[1]);
    double       number;
    int          exponent;

    if (!constant || !const_scalar(constant, &number) || number <= 0.0 || !isfinite(1.0 / number) ||
        (!p->accepts && frexp(number, &exponent) != 0.5))
        return scalar_op(lower, p->expr, SCALAR_div, x, add_float(lower, node, 1, p, scale), -1);
    return number == 1.0
               ? x
               : scalar_op(lower, p->expr, SCALAR_mul, x, scalar_literal(lower, p->expr, DTYPE_F32, 1.0 / number), -1);
}

/* saturate(round(x / scale) + zero), halves to even; low-precision floats are rounded by their own rule. */
int lower_quantize(Lower *lower, const Node *node)
{
    DType     to = node->out[0]->type.dtype;
    double    lo, hi;
    bool      integer = integer_range(to, &lo, &hi);
    Operand   scale, zero;
    Deferred *p;
    int       x;

    if (read_parameters(lower, node, &scale, &zero) < 0)
        return -1;
    p = start(lower, node, dtype_is_byte(to), &x);
    if (!p)
        return -1;
    x = scalar_cast(lower, p->expr, DTYPE_F32, x, false);
    x = divide(lower, node, p, x, scale);
    if (integer) {
        x = scalar_op(lower, p->expr, SCALAR_round, x, -1, -1);
        if (!is_zero(lower, node))
            x = scalar_op(lower, p->expr, SCALAR_add, x, add_float(lower, node, 2, p, zero), -1);
        x = scalar_op(lower, p->expr, SCALAR_max, x, scalar_literal(lower, p->expr, DTYPE_F32, lo), -1);
        x = scalar_op(lower, p->expr, SCALAR_min, x, scalar_literal(lower, p->expr, DTYPE_F32, hi), -1);
    }
    scalar_cast(lower, p->expr, to, x, integer || node_int(node, "saturate", 1));
    return lower_output_deferred(lower, node, 0, p);
}
