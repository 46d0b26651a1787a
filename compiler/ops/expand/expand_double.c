/* expand_double.c - operators on doubles and integers for which there are only float kernels (Gemm, norms), and
 * operators on halves, written with others. */
#include "ops/expand/expand_rules.h"

#include <string.h>

static Value *scaled(Expand *expand, Value *value, const char *name, DType dtype)
{
    float factor = node_float(expand->node, name, 1.0f);

    return factor == 1.0f ? value : expand2(expand, OP_onnx_Mul, value, expand_number(expand, (double)factor, dtype));
}

int expand_double_gemm(Expand *expand)
{
    static const int64_t swap[] = {1, 0};
    Value               *a = expand_in(expand, 0), *b = expand_in(expand, 1), *c = expand_in(expand, 2), *out;
    DType                dtype = a->type.dtype;

    a = node_int(expand->node, "transA", 0) ? expand_transpose(expand, a, swap, 2) : a;
    b = node_int(expand->node, "transB", 0) ? expand_transpose(expand, b, swap, 2) : b;
    out = scaled(expand, expand2(expand, OP_onnx_MatMul, a, b), "alpha", dtype);
    if (c)
        out = expand2(expand, OP_onnx_Add, out, scaled(expand, c, "beta", dtype));
    expand_give(expand, 0, out);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- reductions */

static Value *reduce(Expand *expand, OpKind op, Value *x, bool keep)
{
    Value *out = expand2(expand, op, x, expand_in(expand, 1));

    node_set_int(expand->last, "keepdims", keep ? 1 : node_int(expand->node, "keepdims", 1));
    node_set_int(expand->last, "noop_with_empty_axes", node_int(expand->node, "noop_with_empty_axes", 0));
    return out;
}

/* Is the element type double or an integer? Halves are converted to float elsewhere. */
bool expand_is_double(const Node *node)
{
    return expand_is_not_float(node) && !dtype_in(node->in[0]->type.dtype, "L");
}

/* Input 0; whole numbers become doubles. */
static Value *real_input(Expand *expand)
{
    Value *x = expand_in(expand, 0);

    return dtype_in(x->type.dtype, "IU") ? expand_cast(expand, x, DTYPE_F64) : x;
}

static int give_real(Expand *expand, Value *out)
{
    Value *cast = expand1(expand, OP_onnx_Cast, out);

    node_set_int(expand->last, "to", expand_in(expand, 0)->type.dtype);
    expand_give(expand, 0, cast);
    return 0;
}

/* log(sum(exp(x - m))) + m, where m is the largest element, or 0 if that is infinite. */
int expand_log_sum_exp(Expand *expand)
{
    Value *x = real_input(expand), *most, *sum,
          *zero = expand_number(expand, 0, x->type.kind == TYPE_TENSOR ? x->type.dtype : DTYPE_F64);

    most = reduce(expand, OP_onnx_ReduceMax, x, true);
    most = expand3(expand, OP_onnx_Where, expand1(expand, OP_onnx_IsInf, most), zero, most);
    sum = expand1(expand, OP_onnx_Exp, expand2(expand, OP_onnx_Sub, x, most));
    sum = reduce(expand, OP_onnx_ReduceSum, sum, true);
    sum = expand2(expand, OP_onnx_Add, expand1(expand, OP_onnx_Log, sum), most);
    return give_real(expand, reduce(expand, OP_onnx_ReduceMax, sum, false)); /* drops axes of one element */
}

int expand_reduce_l2(Expand *expand)
{
    Value *x = real_input(expand);

    return give_real(expand, expand1(expand, OP_onnx_Sqrt, reduce(expand, OP_onnx_ReduceSumSquare, x, false)));
}

int expand_reduce_log_sum(Expand *expand)
{
    Value *x = real_input(expand);

    return give_real(expand, expand1(expand, OP_onnx_Log, reduce(expand, OP_onnx_ReduceSum, x, false)));
}

/* ---------------------------------------------------------------------------------------------------- large indices */

bool expand_is_unsigned_long(const Node *node)
{
    return node->in[0]->type.dtype == DTYPE_U64;
}

/* An index above the range of int64 is outside the depth. It must not become a negative index, which counts from the
 * end. */
int expand_one_hot(Expand *expand)
{
    Node  *node = expand->node;
    Value *in[3] = {expand2(expand, OP_onnx_Min, node->in[0], expand_number(expand, 0x1p62, DTYPE_U64)), node->in[1],
                    node->in[2]},
          *out;

    in[0] = expand_cast(expand, in[0], DTYPE_I64);
    out = expand_make(expand, node->op, 3, in);
    expand_bound(out, node->out[0]->type.dtype, &node->out[0]->type, 0, node->out[0]->type.rank);
    expand->last->attr = node->attr;
    expand->last->nattr = node->nattr;
    expand_give(expand, 0, out);
    return 0;
}

/* ---------------------------------------------------------------------------------------------------- narrow floats */

/* Does only attribute `dtype` make the result a half? */
bool expand_makes_half(const Node *node)
{
    return dtype_in(node->out[0]->type.dtype, "L");
}

int expand_half_eye(Expand *expand)
{
    Node  *node = expand->node;
    Value *eye = expand1(expand, node->op, expand_in(expand, 0));

    node_set_int(expand->last, "dtype", DTYPE_F32);
    node_set_int(expand->last, "k", node_int(node, "k", 0));
    expand_give(expand, 0, expand_cast(expand, eye, node->out[0]->type.dtype));
    return 0;
}

/* Is this a scatter of halves that adds, multiplies or compares? */
bool expand_concat_is_half(const Node *node)
{
    return dtype_in(node->in[0]->type.dtype, "L") && strcmp(node_string(node, "reduction", "none"), "none") != 0;
}
