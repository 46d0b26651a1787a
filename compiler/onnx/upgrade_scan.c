/* upgrade_scan.c - version 8 of Scan had a batch axis in front of everything: that is a Scan over the batch around
 * today's. */
#include "onnx/read.h"
#include "onnx/upgrade.h"

#include <string.h>

/* A value in the outer body that stands for one batch entry. */
static void add_ints(Node *node, const char *name, const Attr *from)
{
    Attr *list;

    if (!from)
        return;
    list = arena_array(node->graph->model->arena, Attr, node->nattr + 1);
    memcpy(list, node->attr, (size_t)node->nattr * sizeof *list);
    list[node->nattr] = *from;
    list[node->nattr].name = name;
    node->attr = list;
    node->nattr++;
}

/* The Scan of one batch entry, inside `body`. */
static void put_inner(Graph *body, const Node *scan)
{
    Node *inner = node_new(body, scan->op, scan->nin - 1, scan->nout, scan->loc.name);

    inner->loc = scan->loc;
    inner->opset = op_newest_version(op_info[scan->op].domain);
    inner->body[0] = scan->body[0];
    inner->body[0]->parent = body;
    for (int i = 0; i < inner->nin; i++)
        inner->in[i] = graph_parameter(body);
    for (int i = 0; i < inner->nout; i++) {
        inner->out[i] = value_new(body, NULL);
        inner->out[i]->def = inner;
        ARENA_PUSH(body->model->arena, body->out, body->nout, body->cout, inner->out[i]);
    }
    node_set_int(inner, "num_scan_inputs", node_int(scan, "num_scan_inputs", 0));
    add_ints(inner, "scan_input_directions", node_attr(scan, "directions"));
    graph_append(body, inner);
}

int upgrade_scan(Node *node, Diag *diag)
{
    Graph *body;
    int    count = node->nin - 1;

    if (node->opset >= 9)
        return 0;
    if (count < 1 || !node->body[0])
        return diag_error(diag, node->loc, "found %d inputs and %s body", node->nin, node->body[0] ? "a" : "no");
    if (node->in[0])
        return diag_unsupported(diag, node->loc,
                                "sequence lengths of Scan version 8; export the model for opset 9 or newer");
    body = graph_new(node->graph->model, node->graph, "batch");
    put_inner(body, node);
    memmove(node->in, node->in + 1, (size_t)count * sizeof *node->in);
    node->nin = count;
    node->nattr = 0;
    node->body[0] = body;
    node_set_int(node, "num_scan_inputs", count);
    return 0;
}
