/* expand_wide.c - matrix products and logarithmic sums of types that the float kernels do not take. */
#include "ops/expand_rules.h"

enum { MOST_PRODUCTS = 1 << 24 }; /* elements of the intermediate, which lies in memory whole */

/* Every product of a row and a column at once, then their sums: for small products of doubles and integers. */
static Value *matmul(Expand *expand, Value *a, Value *b, int rank_a, int rank_b)
{
    Value *left = rank_a > 1 ? expand_unsqueeze(expand, a, -1) : expand_unsqueeze(expand, expand_unsqueeze(expand, a, -1), 0);
    Value *right = rank_b > 1 ? expand_unsqueeze(expand, b, -3) : expand_unsqueeze(expand, expand_unsqueeze(expand, b, -1), 0);
    Value *sum = expand2(expand, OP_onnx_ReduceSum, expand2(expand, OP_onnx_Mul, left, right), make_int(expand->graph, -2));

    node_set_int(expand->last, "keepdims", 0);
    if (rank_b == 1)
        sum = expand_squeeze(expand, sum, -1);
    return rank_a == 1 ? expand_squeeze(expand, sum, rank_b == 1 ? -1 : -2) : sum;
}

static int check_size(Expand *expand, const Type *out, int64_t depth)
{
    int64_t elements = type_elements(out);

    if (elements < 0 || depth < 0 || (depth && elements > MOST_PRODUCTS / depth))
        return diag_unsupported(expand->diag, expand->node->loc, "found a large product of %s elements; cast the inputs to float",
                                dtype_info(expand_in(expand, 0)->type.dtype)->name);
    return 0;
}

int expand_wide_matmul(Expand *expand)
{
    Value *a = expand_in(expand, 0), *b = expand_in(expand, 1);
    int    rank = expand_rank(a);

    if (rank >= MAX_RANK || expand_rank(b) >= MAX_RANK || check_size(expand, &expand->node->out[0]->type, a->type.dim[rank - 1].max))
        return rank >= MAX_RANK || expand_rank(b) >= MAX_RANK
                   ? diag_unsupported(expand->diag, expand->node->loc, "found %d axes; cast the inputs to float", rank)
                   : -1;
    expand_give(expand, 0, matmul(expand, a, b, rank, expand_rank(b)));
    return 0;
}

static Value *scaled(Expand *expand, Value *value, const char *name, DType dtype)
{
    float factor = node_float(expand->node, name, 1.0f);

    return factor == 1.0f ? value : expand2(expand, OP_onnx_Mul, value, expand_number(expand, (double)factor, dtype));
}

int expand_wide_gemm(Expand *expand)
{
    static const int64_t swap[] = {1, 0};
    Value *a = expand_in(expand, 0), *b = expand_in(expand, 1), *c = expand_in(expand, 2), *out;
    DType  dtype = a->type.dtype;
    bool   turned = node_int(expand->node, "transA", 0) != 0;

    if (check_size(expand, &expand->node->out[0]->type, a->type.dim[turned ? 0 : 1].max))
        return -1;
    a = turned ? expand_transpose(expand, a, swap, 2) : a;
    b = node_int(expand->node, "transB", 0) ? expand_transpose(expand, b, swap, 2) : b;
    out = scaled(expand, matmul(expand, a, b, 2, 2), "alpha", dtype);
    if (c)
        out = expand2(expand, OP_onnx_Add, out, scaled(expand, c, "beta", dtype));
    expand_give(expand, 0, out);
    return 0;
}

/* log(sum(exp(x - m))) + m with m the largest element. */
int expand_log_sum_exp(Expand *expand)
{
    Value  *x = expand_in(expand, 0), *axes = expand_in(expand, 1), *most, *sum;
    int64_t keep = node_int(expand->node, "keepdims", 1), noop = node_int(expand->node, "noop_with_empty_axes", 0);

    most = expand2(expand, OP_onnx_ReduceMax, x, axes);
    node_set_int(expand->last, "noop_with_empty_axes", noop);
    sum = expand1(expand, OP_onnx_Exp, expand2(expand, OP_onnx_Sub, x, most));
    sum = expand2(expand, OP_onnx_ReduceSum, sum, axes);
    node_set_int(expand->last, "keepdims", keep);
    node_set_int(expand->last, "noop_with_empty_axes", noop);
    most = expand2(expand, OP_onnx_ReduceMax, x, axes);
    node_set_int(expand->last, "keepdims", keep);
    node_set_int(expand->last, "noop_with_empty_axes", noop);
    expand_give(expand, 0, expand2(expand, OP_onnx_Add, expand1(expand, OP_onnx_Log, sum), most));
    return 0;
}
