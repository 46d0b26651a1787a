/* quant.c - QuantizeLinear and DequantizeLinear as passes see them; see quant.h. */
#include "passes/quant.h"
#include "graph/ops.h"
#include <math.h>
#include <string.h>

static bool read_parameters(const Node *node, Quant *out)
{
    out->scale = node->in[1];
    out->zero = node->nin > 2 ? node->in[2] : NULL;
    out->point = 0.0;
    return out->scale->type.dtype == DTYPE_F32 && const_scalar(out->scale, &out->step) && out->step > 0.0 &&
           isfinite(out->step) && (!out->zero || const_scalar(out->zero, &out->point)) &&
           !node_int(node, "block_size", 0);
}

bool quant_made(const Value *value, Quant *out)
{
    const Node *node = value ? value->def : NULL;

    if (!node || node->op != OP_onnx_DequantizeLinear || node->in[0]->data || value->type.dtype != DTYPE_F32)
        return false;
    out->x = node->in[0];
    return dtype_is_byte(out->x->type.dtype) && read_parameters(node, out);
}

bool quant_makes(const Node *node, Quant *out)
{
    if (!node || node->op != OP_onnx_QuantizeLinear || !dtype_is_byte(node->out[0]->type.dtype) ||
        node->in[0]->type.dtype != DTYPE_F32)
        return false;
    out->x = node->in[0];
    return read_parameters(node, out);
}

Node *quant_insert(Graph *graph, int at, OpKind op, Value *const *in, int count, Value *out, const Node *like)
{
    Node *node = node_new(graph, op, count, 1, like->loc.name);

    node->loc = like->loc;
    node->opset = like->opset;
    memcpy(node->in, in, (size_t)count * sizeof *in);
    node->out[0] = out;
    out->def = node;
    graph_insert(graph, at, node);
    return node;
}

Value *quant_value(Graph *graph, const Type *like, DType dtype)
{
    Value *value = value_new(graph, NULL);

    value->type = *like;
    value->type.dtype = dtype;
    return value;
}
