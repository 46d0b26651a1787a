/* expand_many.c - elementwise operators with more operands than one loop can read: a chain of nodes, from left to
 * right. */
#include "ops/expand/expand_rules.h"
#include "program/scalar.h"

/* The type of partial results: sums of narrow floats stay floats until the end, so that only the result is rounded. */
static DType partial_type(const Node *node)
{
    DType dtype = node->out[0]->type.dtype;
    bool  sums = node->op == OP_onnx_Sum || node->op == OP_onnx_Mean;

    return sums && (dtype == DTYPE_F16 || dtype == DTYPE_BF16) ? DTYPE_F32 : dtype;
}

int expand_many(Expand *expand)
{
    Node  *node = expand->node;
    DType  dtype = partial_type(node);
    OpKind op = node->op == OP_onnx_Mean ? OP_onnx_Sum : node->op;
    Value *in[SCALAR_MAX_OPERANDS], *made = expand_cast(expand, node->in[0], dtype);

    for (int next = 1, count; next < node->nin; next += count - 1) {
        in[0] = made;
        for (count = 1; count < SCALAR_MAX_OPERANDS && next + count - 1 < node->nin; count++)
            in[count] = expand_cast(expand, node->in[next + count - 1], dtype);
        made = expand_make(expand, op, count, in);
    }
    if (node->op == OP_onnx_Mean)
        made = expand2(expand, OP_onnx_Div, made, expand_number(expand, node->nin, dtype));
    expand_give(expand, 0, expand_cast(expand, made, node->out[0]->type.dtype));
    return 0;
}
