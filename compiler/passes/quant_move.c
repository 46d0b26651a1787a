/* quant_move.c - what only moves or picks elements is done on bytes: DequantizeLinear goes behind it, QuantizeLinear
 * before it, and where the two then meet with the same parameters, both go. */
#include "passes/passes.h"
#include "passes/quant.h"
#include <string.h>

/* A Resize whose results are elements, none of them a value for places outside. */
static bool takes_nearest(const Node *node)
{
    return !strcmp(node_string(node, "mode", "nearest"), "nearest") &&
           strcmp(node_string(node, "coordinate_transformation_mode", "half_pixel"), "tf_crop_and_resize") != 0;
}

/* Whether the node's result consists of elements of its first input, chosen without arithmetic (a maximum is one). */
static bool moves(const Node *node)
{
    switch (node->op) {
    case OP_onnx_Reshape:
    case OP_onnx_Flatten:
    case OP_onnx_Squeeze:
    case OP_onnx_Unsqueeze:
    case OP_onnx_Transpose:
    case OP_onnx_Slice:
    case OP_onnx_DepthToSpace:
    case OP_onnx_SpaceToDepth:
    case OP_onnx_Expand:
    case OP_onnx_Tile:
        return true;
    case OP_onnx_MaxPool:
        return node->nout == 1 || !node->out[1];
    case OP_onnx_Resize:
        return takes_nearest(node);
    default:
        return false;
    }
}

/* y = move(dequantise(x)) becomes dequantise(move(x)). */
static int propagate_dequantize(Graph *graph, int at)
{
    Node  *node = graph->node[at];
    Value *y, *in[3];
    Quant  q;

    if (!moves(node) || !quant_made(node->in[0], &q) || node->in[0]->def->graph != graph)
        return 0;
    y = node->out[0];
    in[0] = quant_value(graph, &y->type, q.x->type.dtype);
    in[1] = q.scale;
    in[2] = q.zero;
    node->in[0] = q.x;
    node->out[0] = in[0];
    in[0]->def = node;
    quant_insert(graph, at + 1, OP_onnx_DequantizeLinear, in, q.zero ? 3 : 2, y, node);
    return 1;
}

/* q = quantise(move(x, ...)) becomes move(quantise(x), ...), for every part of a Concat, when the moved floats have no
 * other reader. */
static int propagate_quantize(Graph *graph, int at, const Uses *uses)
{
    Node *node = graph->node[at], *move = node->in[0] ? node->in[0]->def : NULL;
    Quant q;
    int   first;

    if (!quant_makes(node, &q) || !move || move->graph != graph || !(moves(move) || move->op == OP_onnx_Concat) ||
        !passes_read_once(uses, q.x))
        return 0;
    for (int i = 0; i < (move->op == OP_onnx_Concat ? move->nin : 1); i++)
        if (!passes_read_once(uses, move->in[i]))
            return 0;
    first = graph_position(graph, move);
    graph->node[first] = node; /* the two nodes swap places */
    graph->node[at] = move;
    move->out[0] = node->out[0];
    move->out[0]->def = move;
    node->out[0] = quant_value(graph, &move->in[0]->type, move->out[0]->type.dtype);
    node->out[0]->def = node;
    node->in[0] = move->in[0];
    move->in[0] = node->out[0];
    for (int i = 1; move->op == OP_onnx_Concat && i < move->nin; i++) {
        Value *in[3] = {move->in[i], q.scale, q.zero},
              *out = quant_value(graph, &in[0]->type, move->out[0]->type.dtype);
        Node *part = quant_insert(graph, first, OP_onnx_QuantizeLinear, in, q.zero ? 3 : 2, out, node);

        part->attr = node->attr;
        part->nattr = node->nattr;
        move->in[i] = out;
    }
    return 1;
}

/* quantise(dequantise(x)) with equal parameters becomes x. */
static int cancel_pair(Graph *graph, int at)
{
    Node *node = graph->node[at];
    Quant q, d;

    if (!quant_makes(node, &q) || !quant_made(node->in[0], &d) || q.step != d.step || q.point != d.point ||
        node->out[0]->type.dtype != d.x->type.dtype || graph_has_output(graph, node->out[0]))
        return 0;
    value_replace(graph, node->out[0], d.x);
    return 1;
}

int quant_move(Graph *graph, Uses *uses)
{
    int changes = 0, found;

    for (int i = 0; i < graph->nnode; i++)
        changes += propagate_dequantize(graph, i);
    do { /* a node that moved up may meet another node to pass */
        *uses = uses_of(graph->model);
        found = 0;
        for (int i = 0; i < graph->nnode; i++)
            found += propagate_quantize(graph, i, uses);
        changes += found;
    } while (found);
    for (int i = 0; i < graph->nnode; i++)
        changes += cancel_pair(graph, i);
    return changes;
}
