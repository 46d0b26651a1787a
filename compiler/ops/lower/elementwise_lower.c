/* elementwise_lower.c - elementwise operators become scalar expressions, which are fused with their neighbours. */
#include "lower/lower.h"
#include "lower/sequence.h"
#include "ops/rules.h"
#include "ops/text/text_lower.h"
#include <math.h>
#include <string.h>
#include <strings.h>

/* Operators that are one row of scalars.def. Its name is the operator's in small letters, but for these; operands are
 * swapped where ONNX has the mirrored operator. */
typedef struct Direct {
    OpKind   op;
    ScalarOp scalar;
    bool     swap;
} Direct;

static const Direct renamed[] = {
    {OP_onnx_Sum, SCALAR_add, false},           {OP_onnx_Reciprocal, SCALAR_recip, false},
    {OP_onnx_BitwiseAnd, SCALAR_bitand, false}, {OP_onnx_BitwiseOr, SCALAR_bitor, false},
    {OP_onnx_BitwiseXor, SCALAR_bitxor, false}, {OP_onnx_BitwiseNot, SCALAR_bitnot, false},
    {OP_onnx_Equal, SCALAR_eq, false},          {OP_onnx_Less, SCALAR_lt, false},
    {OP_onnx_LessOrEqual, SCALAR_le, false},    {OP_onnx_Greater, SCALAR_lt, true},
    {OP_onnx_GreaterOrEqual, SCALAR_le, true},
};

static int find_direct(Lower *lower, const Node *node, Direct *found)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (renamed[i].op == node->op) {
            *found = renamed[i];
            return 0;
        }
    for (ScalarOp scalar = SCALAR_FIRST_ROW + 1; scalar < SCALAR_OP_COUNT; scalar++)
        if (!strcasecmp(scalar_info(scalar)->name, op_info[node->op].name)) {
            *found = (Direct){node->op, scalar, false};
            return 0;
        }
    return diag_bug(
        lower->diag, node->loc,
        "no row of schemas/scalars.def has the operator's name in small letters; add one, or a row to renamed[] in "
        "compiler/ops/lower/elementwise_lower.c");
}

/* Emits the result in the type of the output, rounded as ONNX rounds every operator's result. */
static int emit(Lower *lower, const Node *node, Deferred *p, int result)
{
    scalar_cast(lower, p->expr, node->out[0]->type.dtype, result, false);
    return lower_output_deferred(lower, node, 0, p);
}

static int op2(Lower *lower, Deferred *p, ScalarOp op, int a, int b)
{
    return scalar_op(lower, p->expr, op, a, b, -1);
}

static int op1(Lower *lower, Deferred *p, ScalarOp op, int a)
{
    return scalar_op(lower, p->expr, op, a, -1, -1);
}

/* A float constant in the type that operand `like` computes in. */
static int number(Lower *lower, Deferred *p, int like, double value)
{
    return scalar_literal(lower, p->expr, p->expr->node[like].dtype, value);
}

/* Whether a value is made of constants that floats tell from every other 32-bit integer. */
static bool is_constant_below_2_24(const Lower *lower, const Value *value)
{
    enum { MOST = 4096, MANY = 1 << 24 };
    int64_t *number = arena_array(lower->program->arena, int64_t, MOST);
    int      count = 0;

    if (!const_ints(value, number, MOST, &count))
        return false;
    for (int i = 0; i < count; i++)
        if (number[i] <= -MANY || number[i] >= MANY)
            return false;
    return true;
}

/* Integers are compared as floats where that gives the same answer, since vectors are of floats: bytes, and 32-bit
 * integers with small constants, as the numbers of the classes of a one-hot encoding are. */
static bool compares_as_floats(const Lower *lower, const Node *node, ScalarOp op)
{
    DType dtype = node->in[0]->type.dtype;

    if ((op != SCALAR_eq && op != SCALAR_lt && op != SCALAR_le) || lower->program->language != LANGUAGE_C ||
        !lower_has_vectors(lower))
        return false;
    return dtype_is_byte(dtype) || (dtype == DTYPE_I32 && (is_constant_below_2_24(lower, node->in[0]) ||
                                                           is_constant_below_2_24(lower, node->in[1])));
}

int lower_direct(Lower *lower, const Node *node)
{
    Direct    row = {0};
    int       args[SCALAR_MAX_OPERANDS], result;
    Deferred *p;

    if (text_given(node))
        return text_lower_equal(lower, node);
    if (find_direct(lower, node, &row) < 0)
        return -1;
    p = lower_elementwise(lower, node, scalar_info(row.scalar)->vector, args);
    if (!p)
        return -1;
    if (compares_as_floats(lower, node, row.scalar))
        for (int i = 0; i < 2; i++)
            args[i] = scalar_cast(lower, p->expr, DTYPE_F32, args[i], false);
    result = args[0];
    if (scalar_info(row.scalar)->arity == 1)
        return emit(lower, node, p, op1(lower, p, row.scalar, result));
    for (int i = 1; i < node->nin; i++)
        result = row.swap ? op2(lower, p, row.scalar, args[i], result) : op2(lower, p, row.scalar, result, args[i]);
    if (node->nin == 1) /* the sum of one thing is a copy of it */
        result = scalar_cast(lower, p->expr, node->out[0]->type.dtype, result, false);
    return emit(lower, node, p, result);
}

int lower_mean(Lower *lower, const Node *node)
{
    int       args[SCALAR_MAX_OPERANDS], sum;
    Deferred *p = lower_elementwise(lower, node, true, args);

    if (!p)
        return -1;
    sum = args[0];
    for (int i = 1; i < node->nin; i++)
        sum = op2(lower, p, SCALAR_add, sum, args[i]);
    return emit(lower, node, p, op2(lower, p, SCALAR_div, sum, number(lower, p, sum, node->nin)));
}

int lower_mod(Lower *lower, const Node *node)
{
    int       args[2];
    Deferred *p = lower_elementwise(lower, node, false, args);

    return p ? emit(lower, node, p,
                    op2(lower, p, node_int(node, "fmod", 0) ? SCALAR_fmod : SCALAR_mod, args[0], args[1]))
             : -1;
}

/* Exponents whose power is computed from products, square roots and quotients within two units in the last place. */
static bool has_short_form(double exponent)
{
    return exponent == 2.0 || exponent == 3.0 || exponent == -1.0 || fabs(exponent) == 0.5;
}

/* Special cases as in pow: the root of -0 is 0, and that of -infinity is infinity. */
static int short_power(Lower *lower, Deferred *p, int base, double exponent)
{
    int root, infinite;

    if (exponent == 2.0)
        return op1(lower, p, SCALAR_square, base);
    if (exponent == 3.0)
        return op2(lower, p, SCALAR_mul, op1(lower, p, SCALAR_square, base), base);
    if (exponent == -1.0)
        return op1(lower, p, SCALAR_recip, base);
    infinite = op2(lower, p, SCALAR_eq, base, number(lower, p, base, -(double)INFINITY));
    root = op1(lower, p, SCALAR_sqrt, op2(lower, p, SCALAR_add, base, number(lower, p, base, 0.0)));
    root = scalar_op(lower, p->expr, SCALAR_select, infinite, number(lower, p, base, (double)INFINITY), root);
    return exponent < 0.0 ? op1(lower, p, SCALAR_recip, root) : root;
}

/* The result has the base's type; mixed types compute in double, where every 32-bit exponent is exact. */
int lower_pow(Lower *lower, const Node *node)
{
    double    exponent = 0.0;
    bool      is_float = node->in[0]->type.dtype == DTYPE_F32;
    bool      is_short = is_float && const_scalar(node->in[1], &exponent) && has_short_form(exponent);
    int       args[2], base;
    Deferred *p = lower_elementwise(lower, node, is_short || (is_float && node->in[1]->type.dtype == DTYPE_F32), args);
    DType     a, b;

    if (!p)
        return -1;
    if (is_short && type_elements(&node->out[0]->type) == type_elements(&node->in[0]->type))
        return emit(lower, node, p, short_power(lower, p, args[0], exponent));
    a = p->expr->node[args[0]].dtype;
    b = p->expr->node[args[1]].dtype;
    if (a == b)
        return emit(lower, node, p, op2(lower, p, SCALAR_pow, args[0], args[1]));
    base = scalar_cast(lower, p->expr, DTYPE_F64, args[0], false);
    args[1] = scalar_cast(lower, p->expr, DTYPE_F64, args[1], false);
    return emit(lower, node, p, op2(lower, p, SCALAR_pow, base, args[1]));
}

int lower_bitshift(Lower *lower, const Node *node)
{
    int       args[2];
    Deferred *p = lower_elementwise(lower, node, false, args);
    bool      left = !strcmp(node_string(node, "direction", "LEFT"), "LEFT");

    return p ? emit(lower, node, p, op2(lower, p, left ? SCALAR_shl : SCALAR_shr, args[0], args[1])) : -1;
}

int lower_isinf(Lower *lower, const Node *node)
{
    bool      plus = node_int(node, "detect_positive", 1) != 0, minus = node_int(node, "detect_negative", 1) != 0;
    int       arg, result;
    Deferred *p = lower_elementwise(lower, node, false, &arg);

    if (!p)
        return -1;
    if (plus && minus)
        result = op1(lower, p, SCALAR_isinf, arg);
    else if (plus || minus)
        result = op2(lower, p, SCALAR_eq, arg, number(lower, p, arg, plus ? (double)INFINITY : -(double)INFINITY));
    else
        result = scalar_integer(lower, p->expr, DTYPE_BOOL, 0);
    return emit(lower, node, p, result);
}

int lower_where(Lower *lower, const Node *node)
{
    int       args[3];
    Deferred *p;

    if (text_given(node))
        return text_lower_where(lower, node);
    p = lower_elementwise(lower, node, true, args);
    return p ? emit(lower, node, p, scalar_op(lower, p->expr, SCALAR_select, args[0], args[1], args[2])) : -1;
}

/* max(low, min(x, high)) in ONNX's order, so that min > max gives max. */
int lower_clip(Lower *lower, const Node *node)
{
    int       args[3] = {-1, -1, -1}, result;
    Deferred *p = lower_elementwise(lower, node, true, args);

    if (!p)
        return -1;
    result = args[0];
    if (args[1] >= 0)
        result = op2(lower, p, SCALAR_max, result, args[1]);
    if (args[2] >= 0)
        result = op2(lower, p, SCALAR_min, result, args[2]);
    return emit(lower, node, p, result);
}

/* ------------------------------------------------------------------------------------------------------ activations */

typedef int (*Activation)(Lower *lower, Deferred *p, const Node *node, int x);

static int select_positive(Lower *lower, Deferred *p, int x, int positive, int otherwise)
{
    int zero = number(lower, p, x, 0.0);

    return scalar_op(lower, p->expr, SCALAR_select, op2(lower, p, SCALAR_lt, x, zero), otherwise, positive);
}

static int relu(Lower *lower, Deferred *p, const Node *node, int x)
{
    (void)node;
    return op2(lower, p, SCALAR_max, x, number(lower, p, x, 0.0));
}

static int leaky(Lower *lower, Deferred *p, const Node *node, int x)
{
    double alpha = (double)node_float(node, "alpha", 0.01f);

    return select_positive(lower, p, x, x, op2(lower, p, SCALAR_mul, x, number(lower, p, x, alpha)));
}

static int elu_of(Lower *lower, Deferred *p, int x, double alpha, double scale)
{
    int e = op1(lower, p, SCALAR_exp, op2(lower, p, SCALAR_mul, x, number(lower, p, x, scale)));

    e = op2(lower, p, SCALAR_sub, e, number(lower, p, x, 1.0));
    return op2(lower, p, SCALAR_mul, e, number(lower, p, x, alpha));
}

static int elu(Lower *lower, Deferred *p, const Node *node, int x)
{
    return select_positive(lower, p, x, x, elu_of(lower, p, x, (double)node_float(node, "alpha", 1.0f), 1.0));
}

static int selu(Lower *lower, Deferred *p, const Node *node, int x)
{
    double gamma = (double)node_float(node, "gamma", 1.05070102214813232f);
    int    bent = elu_of(lower, p, x, (double)node_float(node, "alpha", 1.67326319217681884766f), 1.0);

    bent = select_positive(lower, p, x, x, bent);
    return op2(lower, p, SCALAR_mul, bent, number(lower, p, x, gamma));
}

static int celu(Lower *lower, Deferred *p, const Node *node, int x)
{
    double alpha = (double)node_float(node, "alpha", 1.0f);

    return select_positive(lower, p, x, x, elu_of(lower, p, x, alpha, 1.0 / alpha));
}

static int thresholded(Lower *lower, Deferred *p, const Node *node, int x)
{
    int above = op2(lower, p, SCALAR_lt, number(lower, p, x, (double)node_float(node, "alpha", 1.0f)), x);

    return scalar_op(lower, p->expr, SCALAR_select, above, x, number(lower, p, x, 0.0));
}

static int hard_sigmoid_of(Lower *lower, Deferred *p, int x, double alpha, double beta)
{
    int line = op2(lower, p, SCALAR_mul, x, number(lower, p, x, alpha));

    line = op2(lower, p, SCALAR_add, line, number(lower, p, x, beta));
    line = op2(lower, p, SCALAR_max, line, number(lower, p, x, 0.0));
    return op2(lower, p, SCALAR_min, line, number(lower, p, x, 1.0));
}

static int hard_sigmoid(Lower *lower, Deferred *p, const Node *node, int x)
{
    return hard_sigmoid_of(lower, p, x, (double)node_float(node, "alpha", 0.2f),
                           (double)node_float(node, "beta", 0.5f));
}

static int hard_swish(Lower *lower, Deferred *p, const Node *node, int x)
{
    (void)node;
    return op2(lower, p, SCALAR_mul, x, hard_sigmoid_of(lower, p, x, 1.0 / 6.0, 0.5));
}

static int swish(Lower *lower, Deferred *p, const Node *node, int x)
{
    int scaled = op2(lower, p, SCALAR_mul, x, number(lower, p, x, (double)node_float(node, "alpha", 1.0f)));

    return op2(lower, p, SCALAR_mul, x, op1(lower, p, SCALAR_sigmoid, scaled));
}

static int softsign(Lower *lower, Deferred *p, const Node *node, int x)
{
    int size = op1(lower, p, SCALAR_abs, x);

    (void)node;
    return op2(lower, p, SCALAR_div, x, op2(lower, p, SCALAR_add, size, number(lower, p, x, 1.0)));
}

static int mish(Lower *lower, Deferred *p, const Node *node, int x)
{
    (void)node;
    return op2(lower, p, SCALAR_mul, x, op1(lower, p, SCALAR_tanh, op1(lower, p, SCALAR_softplus, x)));
}

static int gelu(Lower *lower, Deferred *p, const Node *node, int x)
{
    int inner, half = op2(lower, p, SCALAR_mul, x, number(lower, p, x, 0.5));

    if (!strcmp(node_string(node, "approximate", "none"), "tanh")) {
        int cube = op2(lower, p, SCALAR_mul, op1(lower, p, SCALAR_square, x), x);

        inner = op2(lower, p, SCALAR_add, x, op2(lower, p, SCALAR_mul, cube, number(lower, p, x, 0.044715)));
        inner = op1(lower, p, SCALAR_tanh, op2(lower, p, SCALAR_mul, inner, number(lower, p, x, 0.7978845608028654)));
    } else {
        inner = op1(lower, p, SCALAR_erf, op2(lower, p, SCALAR_mul, x, number(lower, p, x, 0.7071067811865476)));
    }
    return op2(lower, p, SCALAR_mul, half, op2(lower, p, SCALAR_add, inner, number(lower, p, x, 1.0)));
}

static int shrink(Lower *lower, Deferred *p, const Node *node, int x)
{
    double lambd = (double)node_float(node, "lambd", 0.5f), bias = (double)node_float(node, "bias", 0.0f);
    int    zero = number(lower, p, x, 0.0);
    int    below = op2(lower, p, SCALAR_lt, x, number(lower, p, x, -lambd));
    int    above = op2(lower, p, SCALAR_lt, number(lower, p, x, lambd), x);
    int    upper =
        scalar_op(lower, p->expr, SCALAR_select, above, op2(lower, p, SCALAR_sub, x, number(lower, p, x, bias)), zero);

    return scalar_op(lower, p->expr, SCALAR_select, below, op2(lower, p, SCALAR_add, x, number(lower, p, x, bias)),
                     upper);
}

static const struct {
    OpKind     op;
    Activation rule;
} activations[] = {
    {OP_onnx_Relu, relu},
    {OP_onnx_LeakyRelu, leaky},
    {OP_onnx_Elu, elu},
    {OP_onnx_Selu, selu},
    {OP_onnx_Celu, celu},
    {OP_onnx_ThresholdedRelu, thresholded},
    {OP_onnx_HardSigmoid, hard_sigmoid},
    {OP_onnx_HardSwish, hard_swish},
    {OP_onnx_Swish, swish},
    {OP_onnx_Softsign, softsign},
    {OP_onnx_Mish, mish},
    {OP_onnx_Gelu, gelu},
    {OP_onnx_Shrink, shrink},
};

/* Whether all functions of the rule's expression have a vector form. */
static bool has_vectors(Lower *lower, const Node *node, Activation rule)
{
    Scalar   expr = {0};
    Deferred p = {.expr = &expr};

    rule(lower, &p, node, scalar_acc(lower, &expr, DTYPE_F32));
    lower_classify(&expr, DTYPE_F32);
    return expr.vector;
}

int lower_activation(Lower *lower, const Node *node)
{
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (activations[i].op == node->op) {
            const Activation rule = activations[i].rule;
            int              x;
            Deferred        *p = lower_elementwise(lower, node, has_vectors(lower, node, rule), &x);

            return p ? emit(lower, node, p, rule(lower, p, node, x)) : -1;
        }
    return diag_bug(lower->diag, node->loc,
                    "no row of activations[] in compiler/ops/lower/elementwise_lower.c has the operator; add one");
}

int lower_prelu(Lower *lower, const Node *node)
{
    int       args[2];
    Deferred *p = lower_elementwise(lower, node, true, args);

    if (!p)
        return -1;
    return emit(lower, node, p,
                select_positive(lower, p, args[0], args[0], op2(lower, p, SCALAR_mul, args[0], args[1])));
}

/* ------------------------------------------------------------------------------------------------------------ casts */

/* Rounds x by round_mode before it becomes float8e8m0, whose conversion rounds up. */
static int round_to_power(Lower *lower, Deferred *p, const Node *node, int x)
{
    const char *mode = node_string(node, "round_mode", "up");

    if (!strcmp(mode, "up"))
        return x;
    return op1(lower, p, !strcmp(mode, "down") ? SCALAR_power2_down : SCALAR_power2_near,
               scalar_cast(lower, p->expr, DTYPE_F32, x, false));
}

/* Whether float vectors can hold the conversion. */
static bool casts_vectors(DType from, DType to)
{
    bool lane = from == DTYPE_F32 || from == DTYPE_BOOL, byte = dtype_is_byte(from);

    if (dtype_is_byte(to))
        return from == DTYPE_F32;
    return to == DTYPE_BOOL ? lane : to == DTYPE_F32 && (lane || byte);
}

static int cast_to(Lower *lower, const Node *node, bool saturate)
{
    DType     to = node->out[0]->type.dtype;
    int       args[2], zero;
    Deferred *p;

    if ((to == DTYPE_TEXT) != (node->in[0]->type.dtype == DTYPE_TEXT))
        return text_lower_cast(lower, node);
    if (to == DTYPE_TEXT)
        return lower_identity(lower, node);
    /* CastLike's second input gives the type only. */
    p = lower_elementwise_of(lower, node, 1, casts_vectors(node->in[0]->type.dtype, to), args);
    if (!p)
        return -1;
    if (to == DTYPE_BOOL && p->expr->node[args[0]].dtype != DTYPE_BOOL) {
        if (dtype_info(p->expr->node[args[0]].dtype)->bits < 8) /* types below 8 bits have no arithmetic */
            args[0] = scalar_cast(lower, p->expr, DTYPE_I32, args[0], false);
        zero = number(lower, p, args[0], 0.0);
        return emit(lower, node, p, op1(lower, p, SCALAR_not, op2(lower, p, SCALAR_eq, args[0], zero)));
    }
    if (to == DTYPE_F8E8M0)
        args[0] = round_to_power(lower, p, node, args[0]);
    scalar_cast(lower, p->expr, to, args[0],
                saturate && dtype_info(to)->class == 'L'); /* of whole numbers it says nothing */
    return lower_output_deferred(lower, node, 0, p);
}

int lower_cast(Lower *lower, const Node *node)
{
    return cast_to(lower, node, node_int(node, "saturate", 1) != 0);
}

/* An output that is its first input: no step. */
int lower_identity(Lower *lower, const Node *node)
{
    Operand x;

    if (node->in[0]->type.kind != TYPE_TENSOR)
        return sequence_alias(lower, node->in[0], node->out[0]);
    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    return lower_output_view(lower, node, 0, x);
}
