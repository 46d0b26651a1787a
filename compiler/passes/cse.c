/* pass_cse - equal nodes become one: same operator, inputs and attributes, in the same graph.
 * requires: order, types    keeps: order, types    breaks: use counts; leaves dead nodes */
#include "passes/passes.h"
#include <string.h>

static bool same_attr(const Attr *a, const Attr *b)
{
    if (a->kind != b->kind || strcmp(a->name, b->name) || a->graph || b->graph || a->tensor || b->tensor)
        return false;
    if (a->i != b->i || memcmp(&a->f, &b->f, sizeof a->f) || a->count != b->count)
        return false;
    if (a->s && b->s ? strcmp(a->s, b->s) != 0 : a->s != b->s)
        return false;
    for (int i = 0; i < a->count; i++) {
        if (a->ints && b->ints && a->ints[i] != b->ints[i])
            return false;
        if (a->floats && b->floats && memcmp(&a->floats[i], &b->floats[i], sizeof *a->floats))
            return false;
        if (a->strings && b->strings && strcmp(a->strings[i], b->strings[i]))
            return false;
    }
    return true;
}

static bool same_node(const Node *a, const Node *b)
{
    if (a->op != b->op || a->nin != b->nin || a->nout != b->nout || a->nattr != b->nattr)
        return false;
    if (op_info[a->op].traits & (OP_RANDOM | OP_CONTROL))
        return false;
    for (int i = 0; i < a->nin; i++)
        if (a->in[i] != b->in[i])
            return false;
    for (int i = 0; i < a->nattr; i++) {
        const Attr *other = node_attr(b, a->attr[i].name);

        if (!other || !same_attr(&a->attr[i], other))
            return false;
    }
    for (int i = 0; i < a->nout; i++)
        if (!a->out[i] != !b->out[i])
            return false;
    return true;
}

/* Extents that only the node finds out belong to its own outputs: whoever reads them reads this node's. */
static bool finds_extents(const Node *node)
{
    for (int i = 0; i < node->nout; i++)
        for (int k = 0; node->out[i] && k < node->out[i]->type.rank; k++) {
            int expr = node->out[i]->type.dim[k].expr;

            if (expr >= 0 && node->graph->model->expr[expr].value == node->out[i]->id)
                return true;
        }
    return false;
}

static bool makes_output(const Graph *graph, const Node *node)
{
    for (int i = 0; i < node->nout; i++)
        for (int k = 0; k < graph->nout; k++)
            if (node->out[i] && graph->out[k] == node->out[i])
                return true;
    return false;
}

static int merge(Graph *graph, Diag *diag)
{
    int  changes = 0, n = graph->model->nvalue;
    int *last =
        arena_array(graph->model->arena, int, n + 1); /* by id of the first input: last node + 1 that reads it */
    int *before = arena_array(graph->model->arena, int, graph->nnode + 1);

    (void)diag;
    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];
        int   key = node->nin && node->in[0] ? node->in[0]->id : n;
        bool  merged = false;

        for (int k = last[key]; k > 0 && !merged; k = before[k - 1]) {
            Node *other = graph->node[k - 1];

            if (!same_node(node, other) || makes_output(graph, node) || finds_extents(node))
                continue;
            for (int o = 0; o < node->nout; o++)
                if (node->out[o])
                    value_replace(graph, node->out[o], other->out[o]);
            merged = true;
            changes++;
        }
        if (!merged) {
            before[i] = last[key];
            last[key] = i + 1;
        }
    }
    return changes;
}

int pass_cse(Model *model, Diag *diag)
{
    return passes_each_graph(model, diag, merge);
}
