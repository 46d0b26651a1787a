/* pass_dce - drop nodes whose results nobody reads.
 * requires: order    keeps: order, types    breaks: use counts */
#include "passes/passes.h"

static bool is_read(const Uses *uses, const Node *node)
{
    for (int k = 0; k < node->nout; k++)
        if (node->out[k] && uses->count[node->out[k]->id] > 0)
            return true;
    return false;
}

static void unread(Uses *uses, const Node *node)
{
    for (int k = 0; k < node->nin; k++)
        if (node->in[k])
            uses->count[node->in[k]->id]--;
    for (int b = 0; b < 2; b++)
        for (int i = 0; node->body[b] && i < node->body[b]->nnode; i++)
            unread(uses, node->body[b]->node[i]);
}

static int drop(Graph *graph, Uses *uses)
{
    int kept = graph->nnode, dropped;

    for (int i = graph->nnode; i-- > 0;) { /* backwards, so that chains die together; survivors move to the back */
        Node *node = graph->node[i];

        if (is_read(uses, node))
            graph->node[--kept] = node;
        else
            unread(uses, node);
    }
    dropped = kept;
    for (int i = kept; i < graph->nnode; i++)
        graph->node[i - kept] = graph->node[i];
    graph->nnode -= kept;
    for (int i = 0; i < graph->nnode; i++)
        for (int b = 0; b < 2; b++)
            if (graph->node[i]->body[b])
                dropped += drop(graph->node[i]->body[b], uses);
    return dropped;
}

int pass_dce(Model *model, Diag *diag)
{
    Uses uses = uses_of(model);

    (void)diag;
    return drop(model->main, &uses);
}
