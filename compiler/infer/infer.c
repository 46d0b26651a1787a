/* infer.c - walks the nodes: calls the shape rule of each, folds nodes whose inputs are constant and removes them. */
#include "infer/infer.h"

enum {
    MAX_DEPTH = 16,     /* bodies within bodies */
    FEW_VISITS = 100000 /* visits of nodes in a small model; nested loops multiply the trial walks */
};

/* ---------------------------------------------------------------------------------------------------------- folding */

static bool constant_inputs(const Node *node)
{
    for (int i = 0; i < node->nin; i++)
        if (node->in[i] && !node->in[i]->data)
            return false;
    return true;
}

static bool all_constant(const Node *node)
{
    bool some = false;

    for (int i = 0; i < node->nout; i++) {
        if (node->out[i] && !node->out[i]->data)
            return false;
        some |= node->out[i] != NULL;
    }
    return some;
}

static int fold(Infer *infer, Node *node)
{
    if (infer->trial || op_info[node->op].traits & (OP_RANDOM | OP_CONTROL | OP_LAZY) || all_constant(node) ||
        !constant_inputs(node))
        return 0;
    return fold_node(infer->model, infer->diag, node) < 0 ? -1 : 0;
}

/* --------------------------------------------------------------------------------------------------------- one node */

/* Checks that every required input is given and has a type. */
static int check_inputs(Infer *infer, const Node *node)
{
    const OpInfo *info = &op_info[node->op];

    for (int i = 0; i < node->nin; i++) {
        if (!node->in[i]) {
            if (i < info->min_in && !(info->traits & (OP_CONTROL | OP_OMITS)))
                return diag_error(infer->diag, node->loc, "input %d is omitted, but the operator needs it", i);
        } else if (node->in[i]->type.kind == TYPE_NONE)
            return diag_error(infer->diag, node->loc,
                              "input %d '%s' has no type; wanted a value that is made before this node", i,
                              node->in[i]->name);
    }
    if (node->nin < info->min_in || (node->nin > info->max_in && !(info->traits & OP_MANY_IN)))
        return diag_error(infer->diag, node->loc, "found %d inputs, wanted %d to %d", node->nin, info->min_in,
                          info->max_in);
    if (node->nout > info->max_out && !(info->traits & OP_MANY_OUT))
        return diag_error(infer->diag, node->loc, "found %d outputs, wanted at most %d", node->nout, info->max_out);
    return 0;
}

static int check_outputs(Infer *infer, const Node *node)
{
    for (int i = 0; i < node->nout; i++)
        if (node->out[i] && node->out[i]->type.kind == TYPE_NONE)
            return diag_bug(infer->diag, node->loc, "the shape rule gave output %d '%s' no type", i,
                            node->out[i]->name);
    return 0;
}

static int infer_node(Infer *infer, Node *node)
{
    const OpInfo *info = &op_info[node->op];

    if (!info->infer)
        return diag_unsupported(infer->diag, node->loc,
                                "this operator is not supported; replace it in the model by simpler ones");
    for (int i = 0; i < node->nout; i++)
        if (node->out[i]) {
            node->out[i]->type.kind = TYPE_NONE;
            node->out[i]->elem = NULL;
            node->out[i]->nelem = 0;
        }
    if (check_inputs(infer, node) < 0 || infer_check_types(infer, node, info->types) < 0 ||
        info->infer(infer, node) < 0 || check_outputs(infer, node) < 0)
        return -1;
    return fold(infer, node);
}

/* --------------------------------------------------------------------------------------------------------- the walk */

static bool leaves_graph(const Node *node)
{
    return !node->nout || all_constant(node);
}

/* Moves the run-time checks of removed nodes to the next node that stays (else the last), since their conditions may
 * still fail. Checks are listed in the order of the nodes. */
static void move_checks(Model *model, const Graph *graph, int first)
{
    Node *stays = NULL;
    int   at = graph->nnode - 1;

    for (int i = 0; i < graph->nnode; i++)
        stays = leaves_graph(graph->node[i]) ? stays : graph->node[i];
    for (int c = model->ncheck - 1; c >= first; c--) {
        Check *check = &model->check[c];
        if (check->node->graph != graph)
            continue;
        for (; at >= 0 && graph->node[at] != check->node; at--)
            stays = leaves_graph(graph->node[at]) ? stays : graph->node[at];
        if (leaves_graph(check->node) && stays)
            check->node = stays;
    }
}

/* Gives a node that stays an unread value in place of each output that became a constant. */
static void part_from_constants(Node *node)
{
    for (int o = 0; o < node->nout; o++) {
        Value *constant = node->out[o];
        if (!constant || !constant->data)
            continue;
        constant->def = NULL;
        node->out[o] = value_new(node->graph, NULL);
        node->out[o]->type = constant->type;
        node->out[o]->def = node;
    }
}

/* Removes the nodes whose outputs all became constants, and those that were replaced by others. */
static void drop_constant_nodes(Model *model, Graph *graph, int first_check)
{
    int kept = 0;

    move_checks(model, graph, first_check);
    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];
        if (!leaves_graph(node)) {
            part_from_constants(node);
            graph->node[kept++] = node;
            continue;
        }
        for (int o = 0; o < node->nout; o++)
            if (node->out[o])
                node->out[o]->def = NULL;
    }
    graph->nnode = kept;
}

static int refuse_either_rank(Infer *infer, const Node *node, const Value *value)
{
    return diag_unsupported(infer->diag, node ? node->loc : (Loc){0},
                            "'%s' is a scalar or of one element, by an If; give both branches the same rank",
                            value->name);
}

/* A value that is a scalar or [1], depending on a branch (Value.either_rank), may be read by elementwise nodes, where
 * it makes no difference. Their result is of either rank too, unless another operand's rank is known to be above 0. */
static int follow_either_rank(Infer *infer, Node *node)
{
    const Value *read = NULL;
    bool         decided = false;

    for (int b = 0; b < 2 && node->op != OP_onnx_If; b++)
        for (int i = 0; node->body[b] && i < node->body[b]->nout; i++)
            if (node->body[b]->out[i]->either_rank)
                return refuse_either_rank(infer, node, node->body[b]->out[i]);
    for (int i = 0; i < (node->op == OP_onnx_CastLike ? 1 : node->nin); i++) {
        const Value *x = node->in[i];
        if (x && x->either_rank)
            read = x;
        else if (x && x->type.kind == TYPE_TENSOR)
            decided |= x->type.rank > 0;
    }
    if (!read)
        return 0;
    if (!(op_info[node->op].traits & OP_ELEMENTWISE) && node->op != OP_onnx_Identity)
        return refuse_either_rank(infer, node, read);
    node->out[0]->either_rank = !decided;
    return 0;
}

/* A rule may insert nodes right behind its own (the branch of an If, the expansion of an operator), so the count is
 * read again. */
int infer_nodes(Infer *infer, Graph *graph)
{
    int status = 0, first_check = infer->model->ncheck;

    if (infer->depth > MAX_DEPTH)
        return diag_unsupported(infer->diag, (Loc){0},
                                "graph '%s': bodies are nested more than %d deep; flatten the model", graph->name,
                                MAX_DEPTH);
    infer->visits += graph->nnode;
    if (infer->visits > FEW_VISITS + 50 * (int64_t)infer->model->nvalue)
        return diag_unsupported(infer->diag, (Loc){0},
                                "graph '%s': loops within loops take too long to type; flatten the model", graph->name);
    infer->depth++;
    for (int i = 0; i < graph->nnode && !status; i++) {
        status = infer_node(infer, graph->node[i]);
        if (!status)
            status = follow_either_rank(infer, graph->node[i]);
        if (!status && !infer->trial && !leaves_graph(graph->node[i]))
            status = expand_node(infer, graph, i) < 0 ? -1 : 0;
    }
    infer->depth--;
    if (!infer->trial && !status)
        drop_constant_nodes(infer->model, graph, first_check);
    return status;
}

/* The result of an elementwise node is at least as large as each input, so a declared type of the result bounds the
 * inputs too. */
static void spread_declared(const Graph *graph)
{
    for (int i = graph->nnode - 1; i >= 0; i--) {
        const Node *node = graph->node[i];
        if (!(op_info[node->op].traits & OP_ELEMENTWISE) || !node->out[0] || node->out[0]->declared.kind != TYPE_TENSOR)
            continue;
        for (int k = 0; k < node->nin; k++)
            if (node->in[k] && node->in[k]->def && node->in[k]->declared.kind == TYPE_NONE) {
                node->in[k]->declared = node->out[0]->declared;
                node->in[k]->declared.dtype = DTYPE_NONE;
            }
    }
}

/* Gives the elements of a small integer input the bounds of --dim VALUE:values. They are tracked, and the run checks
 * them. */
static int bound_propagated(Infer *infer, Graph *graph, Value *value)
{
    const DimBound *flag;
    int64_t         count = type_elements(&value->type);
    Extent         *elem;

    if (!graph->nnode || value->type.kind != TYPE_TENSOR || !dtype_in(value->type.dtype, "IU") ||
        !type_is_static(&value->type) || count > INFER_TRACKED)
        return 0;
    flag = infer_bound(infer, value->name, BOUND_VALUES);
    if (!flag)
        return 0;
    elem = arena_array(infer->model->arena, Extent, count + 1);
    for (int i = 0; i < (int)count; i++) {
        elem[i] = extent_symbol(infer->model, EXPR_ELEM, value->id, i, dtype_in(value->type.dtype, "U") ? 0 : INT64_MIN,
                                INT64_MAX);
        if (infer_within(infer, graph->node[0], elem[i], flag->lo, flag->hi, "an element that --dim bounds", &elem[i]) <
            0)
            return -1;
    }
    value->elem = elem;
    value->nelem = (int)count;
    return 0;
}

/* The declared types of the model's outputs are checked when types are set; here only that every output has a type. */
int infer_graph(Infer *infer, Graph *graph)
{
    if (!graph->parent && infer_inputs(infer, graph) < 0)
        return -1;
    for (int i = 0; !graph->parent && i < graph->nin; i++)
        if (bound_propagated(infer, graph, graph->in[i]) < 0)
            return -1;
    spread_declared(graph);
    if (infer_nodes(infer, graph) < 0)
        return -1;
    for (int i = 0; i < graph->nout; i++)
        if (graph->out[i]->type.kind == TYPE_NONE)
            return diag_error(infer->diag, (Loc){0}, "output '%s' is made by no node", graph->out[i]->name);
    for (int i = 0; !graph->parent && i < graph->nout; i++)
        if (graph->out[i]->either_rank)
            return refuse_either_rank(infer, NULL, graph->out[i]);
    return 0;
}
