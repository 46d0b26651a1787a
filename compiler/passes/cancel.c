/* pass_cancel - operators that change nothing (Identity, Dropout at rest, Cast to the same type, a Transpose that keeps
 * the order, Reshape to the same extents, Pad by nothing) and pairs that undo each other (Transpose after Transpose).
 * requires: order, types    keeps: order, types    breaks: use counts */
#include "passes/passes.h"

static bool keeps_order(const Node *node)
{
    int            count;
    const int64_t *perm = node_ints(node, "perm", &count);

    for (int i = 0; i < node->in[0]->type.rank; i++)
        if ((perm ? perm[i] : node->in[0]->type.rank - 1 - i) != i)
            return false;
    return true;
}

static bool pads_nothing(const Node *node)
{
    int64_t pads[2 * MAX_RANK];
    int     count;

    if (node->nin < 2 || !node->in[1] || !const_ints(node->in[1], pads, 2 * MAX_RANK, &count))
        return false;
    for (int i = 0; i < count; i++)
        if (pads[i])
            return false;
    return true;
}

static bool is_zero(const Value *value)
{
    double number;

    return const_scalar(value, &number) && number == 0.0;
}

/* Dropout in inference mode, or with ratio 0. The node stays if its mask is read. */
static bool drops_nothing(const Node *node)
{
    return node->nin < 3 || !node->in[2] || is_zero(node->in[2]) || (node->in[1] && is_zero(node->in[1]));
}

static bool changes_nothing(const Node *node)
{
    if (node->nout < 1 || !node->out[0] || node->nin < 1 || !node->in[0] || node->in[0]->type.kind != TYPE_TENSOR ||
        !type_same(&node->in[0]->type, &node->out[0]->type))
        return false;
    switch (node->op) {
    case OP_onnx_Identity:
    case OP_onnx_Cast:
    case OP_onnx_Reshape:
    case OP_onnx_Flatten:
    case OP_onnx_Expand:
        return true;
    case OP_onnx_Transpose:
        return keeps_order(node);
    case OP_onnx_Pad:
        return pads_nothing(node);
    case OP_onnx_Dropout:
        return drops_nothing(node);
    default:
        return false;
    }
}

/* Transpose(Transpose(x)) becomes one Transpose. */
static bool join_transposes(Node *node)
{
    Node          *before = node->in[0]->def;
    int            rank = node->in[0]->type.rank, count;
    const int64_t *p, *q;
    int64_t       *perm;
    Attr          *attr;

    if (node->op != OP_onnx_Transpose || !before || before->op != OP_onnx_Transpose || before->graph != node->graph)
        return false;
    p = node_ints(before, "perm", &count);
    q = node_ints(node, "perm", &count);
    perm = arena_array(node->graph->model->arena, int64_t, rank + 1);
    for (int i = 0; i < rank; i++) {
        int64_t outer = q ? q[i] : rank - 1 - i;

        perm[i] = p ? p[outer] : rank - 1 - outer;
    }
    attr = arena_one(node->graph->model->arena, Attr);
    *attr = (Attr){.name = "perm", .kind = ATTR_INTS, .count = rank, .ints = perm};
    node->attr = attr;
    node->nattr = 1;
    node->in[0] = before->in[0];
    return true;
}

static int cancel(Graph *graph, Diag *diag)
{
    int changes = 0;

    (void)diag;
    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];

        if (node->op == OP_onnx_Transpose)
            changes += join_transposes(node);
        /* An output of the graph keeps its own value: other readers bypass the node. */
        if (!changes_nothing(node) || graph_has_output(graph, node->out[0]))
            continue;
        value_replace(graph, node->out[0], node->in[0]);
        changes++;
    }
    return changes;
}

int pass_cancel(Model *model, Diag *diag)
{
    return passes_each_graph(model, diag, cancel);
}
