/* passes.c - the order of the passes, and what they share. */
#include "passes/passes.h"

Uses uses_of(Model *model)
{
    Uses uses = {arena_array(model->arena, int, model->nvalue), arena_array(model->arena, Node *, model->nvalue),
                 model->nvalue};

    graph_count_uses(model->main, uses.count, uses.user);
    return uses;
}

bool passes_read_once(const Uses *uses, const Value *value)
{
    return value->id < uses->nvalue && uses->count[value->id] == 1;
}

Node *passes_made_for(const Uses *uses, const Graph *graph, const Value *value)
{
    Node *node = value ? value->def : NULL;

    return node && node->graph == graph && uses->count[value->id] == 1 ? node : NULL;
}

Value *passes_constant(Graph *graph, const char *like, int rank, const int64_t *dim, const float *data)
{
    Type   type = type_tensor(DTYPE_F32, rank, dim);
    Const *constant = arena_one(graph->model->arena, Const);

    constant->data = data;
    constant->bytes = type_bytes(&type);
    return value_constant(graph, arena_printf(graph->model->arena, "%s.folded%d", like, graph->model->nvalue), type,
                          constant);
}

static int each(Graph *graph, Diag *diag, int (*fn)(Graph *graph, Diag *diag))
{
    int changes = fn(graph, diag);

    for (int i = 0; changes >= 0 && i < graph->nnode; i++)
        for (int k = 0; k < 2 && changes >= 0; k++)
            if (graph->node[i]->body[k]) {
                int inner = each(graph->node[i]->body[k], diag, fn);

                changes = inner < 0 ? -1 : changes + inner;
            }
    return changes;
}

int passes_each_graph(Model *model, Diag *diag, int (*fn)(Graph *graph, Diag *diag))
{
    return each(model->main, diag, fn);
}

int passes_run(Model *model, Diag *diag)
{
    static const struct {
        const char *name;
        PassFn      run;
    } passes[] = {
        {"cancel", pass_cancel}, {"pad", pass_pad},     {"affine", pass_affine}, {"integer", pass_integer},
        {"round", pass_round},   {"hoist", pass_hoist}, {"cse", pass_cse},       {"activation", pass_activation},
        {"dce", pass_dce},
    };

    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        if (passes[i].run(model, diag) < 0)
            return -1;
        if (graph_check(model, diag) < 0)
            return diag_bug(diag, (Loc){0}, "the graph is wrong after pass %s", passes[i].name);
    }
    return 0;
}
