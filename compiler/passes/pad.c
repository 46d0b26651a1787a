/* pass_pad - constant zero padding of the spatial axes goes into the window of the convolution (or the average pooling
 * that counts padding, or has none of its own and then counts this) after it, when nobody else reads the padded tensor.
 * requires: order, types, no auto_pad    keeps: order, types    breaks: use counts; leaves dead nodes */
#include "passes/passes.h"
#include <string.h>

static bool pads_zero(const Node *pad)
{
    double value;

    if (strcmp(node_string(pad, "mode", "constant"), "constant"))
        return false;
    if (pad->nin > 3 && pad->in[3])
        return false;
    return pad->nin < 3 || !pad->in[2] || (const_scalar(pad->in[2], &value) && value == 0.0);
}

static bool has_padding(const Node *node)
{
    int            count;
    const int64_t *pads = node_ints(node, "pads", &count);

    for (int i = 0; pads && i < count; i++)
        if (pads[i])
            return true;
    return false;
}

static bool takes_padding(const Node *node)
{
    if (strcmp(node_string(node, "auto_pad", "NOTSET"), "NOTSET"))
        return false;
    if (node->op == OP_onnx_Conv)
        return true;
    return node->op == OP_onnx_AveragePool && (node_int(node, "count_include_pad", 0) || !has_padding(node)) &&
           !node_int(node, "ceil_mode", 0);
}

/* The padding of the spatial axes, begin and end; false when a batch or channel is padded, or something is cut. */
static bool spatial_pads(const Node *pad, int rank, int64_t *spatial)
{
    int64_t pads[2 * MAX_RANK];
    int     count;

    if (pad->nin < 2 || !pad->in[1] || !const_ints(pad->in[1], pads, 2 * MAX_RANK, &count) || count != 2 * rank)
        return false;
    for (int i = 0; i < count; i++)
        if (pads[i] < 0 || (i % rank < 2 && pads[i]))
            return false;
    for (int side = 0; side < 2; side++)
        for (int i = 2; i < rank; i++)
            spatial[side * (rank - 2) + i - 2] = pads[side * rank + i];
    return true;
}

static void set_pads(Node *node, const int64_t *pads, int count)
{
    Arena *arena = node->graph->model->arena;
    Attr  *attr = arena_array(arena, Attr, node->nattr + 2);
    int    n = 0;

    for (int i = 0; i < node->nattr; i++)
        if (strcmp(node->attr[i].name, "pads") && strcmp(node->attr[i].name, "count_include_pad"))
            attr[n++] = node->attr[i];
    attr[n++] = (Attr){.name = "pads", .kind = ATTR_INTS, .count = count, .ints = pads};
    if (node->op == OP_onnx_AveragePool)
        attr[n++] = (Attr){.name = "count_include_pad", .kind = ATTR_INT, .i = 1};
    node->attr = attr;
    node->nattr = n;
}

static int join(Graph *graph, Diag *diag)
{
    Uses uses = uses_of(graph->model);
    int  changes = 0;

    (void)diag;
    for (int i = 0; i < graph->nnode; i++) {
        Node          *node = graph->node[i], *pad = node->nin ? (node->in[0] ? node->in[0]->def : NULL) : NULL;
        int            rank = pad && pad->op == OP_onnx_Pad ? pad->in[0]->type.rank : 0, count;
        const int64_t *old;
        int64_t       *pads;

        if (!pad || pad->op != OP_onnx_Pad || pad->graph != graph || uses.count[node->in[0]->id] != 1 || rank < 3 ||
            !takes_padding(node) || !pads_zero(pad))
            continue;
        pads = arena_array(graph->model->arena, int64_t, 2 * MAX_RANK);
        if (!spatial_pads(pad, rank, pads))
            continue;
        old = node_ints(node, "pads", &count);
        for (int k = 0; old && k < count; k++)
            pads[k] += old[k];
        set_pads(node, pads, 2 * (rank - 2));
        node->in[0] = pad->in[0];
        changes++;
    }
    return changes;
}

int pass_pad(Model *model, Diag *diag)
{
    return passes_each_graph(model, diag, join);
}
