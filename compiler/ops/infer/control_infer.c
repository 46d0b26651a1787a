/* control_infer.c - types of If, Loop and Scan: bodies are walked with what is known outside. */
#include "graph/make.h"
#include "infer/body.h"
#include "ops/rules.h"

/* --------------------------------------------------------------------------------------------------------------- If */

void body_adopt(Model *model, Graph *branch, Graph *graph)
{
    for (int i = 0; i < model->nvalue; i++)
        if (model->value[i]->graph == branch) {
            model->value[i]->graph = graph;
            model->value[i]->name = arena_printf(model->arena, "%s#%d", model->value[i]->name, i);
        }
    for (int i = 0; i < branch->nnode; i++) {
        branch->node[i]->graph = graph;
        for (int b = 0; b < 2; b++)
            if (branch->node[i]->body[b])
                branch->node[i]->body[b]->parent = graph;
    }
}

/* Put the branch's nodes right after the If, then an Identity for each output. The If is left without outputs. */
static void splice(Infer *infer, Node *node, Graph *branch)
{
    Graph *graph = node->graph;
    int    at = 0;

    while (graph->node[at] != node)
        at++;
    body_adopt(infer->model, branch, graph);
    for (int i = 0; i < branch->nnode; i++)
        graph_insert(graph, ++at, branch->node[i]);
    for (int i = 0; i < node->nout; i++) {
        Node *copy;
        if (!node->out[i])
            continue;
        copy = node_new(graph, OP_onnx_Identity, 1, 1, node->loc.name);
        copy->in[0] = branch->out[i];
        copy->out[0] = node->out[i];
        copy->out[0]->def = copy;
        graph_insert(graph, ++at, copy);
    }
    node->nout = 0;
    node->body[0] = node->body[1] = NULL;
}

/* Contents of a small result: one branch's or the other's. */
static void propagate_either(Infer *infer, Node *node, int output, Extent condition)
{
    Extent a[INFER_TRACKED], b[INFER_TRACKED];
    int    na, nb;

    if (!infer_known(node->body[0]->out[output], a, &na) || !infer_known(node->body[1]->out[output], b, &nb) ||
        na != nb)
        return;
    for (int i = 0; i < na; i++) {
        if (a[i].expr >= 0 || b[i].expr >= 0)
            return;
        a[i] = extent_select(infer->model, condition, a[i], b[i]);
    }
    infer_track(infer, node, output, a, na);
}

/* Exporters write x.squeeze(axis) as an If on extent == 1 whose branches differ in rank. What follows was made for the
 * squeezed value, so that branch is taken, and the run stops where the extents are not equal. */
static bool takes_equal_branch(const Infer *infer, const Node *node, Extent condition)
{
    if (infer->model->expr[condition.expr].op != EXPR_EQ)
        return false;
    for (int i = 0; i < node->nout; i++) {
        const Type *a = &node->body[0]->out[i]->type, *b = &node->body[1]->out[i]->type;
        const Node *made = node->body[0]->out[i]->def;
        if (a->kind == TYPE_TENSOR && b->kind == TYPE_TENSOR && a->rank != b->rank && made &&
            made->op == OP_onnx_Squeeze)
            return true;
    }
    return false;
}

static bool is_one_element(const Type *type, int rank)
{
    return type->kind == TYPE_TENSOR && type->rank == rank &&
           (rank == 0 || (type->dim[0].expr < 0 && type->dim[0].max == 1));
}

/* A result that is a scalar in one branch and [1] in the other becomes [1]; readers for which that is not the same are
 * refused. */
static void lift_scalar(Node *node, int output)
{
    for (int b = 0; b < 2; b++) {
        Graph *branch = node->body[b];
        Value *scalar = branch->out[output], *lifted;
        Node  *reshape;

        if (!is_one_element(&scalar->type, 0) || !is_one_element(&node->body[!b]->out[output]->type, 1))
            continue;
        reshape = node_new(branch, OP_onnx_Reshape, 2, 1, node->loc.name);
        lifted = value_new(branch, NULL);
        lifted->type = scalar->type;
        lifted->type.rank = 1;
        lifted->type.dim[0] = extent_const(1);
        lifted->def = reshape;
        lifted->either_rank = true;
        reshape->in[0] = scalar;
        reshape->in[1] = make_int(branch, 1);
        reshape->out[0] = branch->out[output] = lifted;
        graph_insert(branch, branch->nnode, reshape);
    }
}

static int join_branches(Infer *infer, Node *node, Extent condition)
{
    for (int i = 0; i < node->nout; i++) {
        Join join = {infer, node, i, node->out[i], false};
        Type type;
        if (!node->out[i])
            continue;
        lift_scalar(node, i);
        node->out[i]->either_rank = node->body[0]->out[i]->either_rank || node->body[1]->out[i]->either_rank;
        if (join_types(&join, &node->body[0]->out[i]->type, &node->body[1]->out[i]->type, &type) < 0 ||
            infer_set(infer, node, i, type) < 0)
            return -1;
        if (type.kind == TYPE_TENSOR && dtype_in(type.dtype, "IUB"))
            propagate_either(infer, node, i, condition);
    }
    return 0;
}

static int only_branch(Infer *infer, Node *node, Graph *branch)
{
    if (!infer->trial) {
        splice(infer, node, branch);
        return 0;
    }
    if (infer_nodes(infer, branch) < 0)
        return -1;
    for (int i = 0; i < node->nout; i++)
        if (infer_set(infer, node, i, branch->out[i]->type) < 0)
            return -1;
    return 0;
}

int infer_if(Infer *infer, Node *node)
{
    Extent condition;
    int    known;

    if (infer_need_exactly(infer, node, 0, DTYPE_BOOL) < 0 || infer_need_scalar(infer, node, 0) < 0 ||
        infer_elems(infer, node, 0, 0, 1, &condition, 1) < 0)
        return -1;
    for (int b = 0; b < 2; b++)
        if (!node->body[b] || node->body[b]->nout != node->nout)
            return diag_error(infer->diag, node->loc, "a branch has %d results, wanted %d",
                              node->body[b] ? node->body[b]->nout : 0, node->nout);
    if (condition.expr < 0)
        return only_branch(infer, node, node->body[condition.max ? 0 : 1]);
    known = infer->model->ncheck;
    if (infer_nodes(infer, node->body[0]) < 0 || infer_nodes(infer, node->body[1]) < 0)
        return -1;
    if (!takes_equal_branch(infer, node, condition))
        return join_branches(infer, node, condition);
    infer->model->ncheck = known; /* the walk comes by the branch again */
    return infer_check(infer, node, condition, "extents that decide a rank differ") < 0
               ? -1
               : only_branch(infer, node, node->body[0]);
}

/* ------------------------------------------------------------------------------------------------------------- Loop */

static void propagate_set(Infer *infer, Value *value, Extent elem)
{
    value->elem = arena_one(infer->model->arena, Extent);
    value->elem[0] = elem;
    value->nelem = 1;
}

static bool known_true(const Value *value)
{
    Extent elem[INFER_TRACKED];
    int    n;

    return !value || (infer_known(value, elem, &n) && n == 1 && elem[0].expr < 0 && elem[0].max);
}

/* The number of iterations, when nothing stops the loop earlier. */
static int loop_trips(Infer *infer, const Node *node, Extent *trips)
{
    *trips = extent_const(INT64_MAX);
    if (infer_has(node, 0)) {
        if (infer_need_scalar(infer, node, 0) < 0 || infer_elems(infer, node, 0, INT64_MIN, INT64_MAX, trips, 1) < 0)
            return -1;
        *trips = extent_op(infer->model, EXPR_MAX, *trips, extent_const(0));
    }
    if (infer_has(node, 1) &&
        (infer_need_exactly(infer, node, 1, DTYPE_BOOL) < 0 || infer_need_scalar(infer, node, 1) < 0))
        return -1;
    return 0;
}

/* A stacked output: one item of each iteration along `axis`. */
static int set_stack(Infer *infer, Node *node, const Graph *body, int output, const Value *item, int axis, Extent count)
{
    Type type = {.kind = TYPE_TENSOR, .dtype = item->type.dtype, .rank = item->type.rank + 1};

    if (!infer_wants(node, output))
        return 0;
    if (item->type.kind != TYPE_TENSOR || type.rank < 1 || type.rank > MAX_RANK)
        return diag_unsupported(infer->diag, node->loc, "'%s' is stacked, so it must be a tensor of rank below %d",
                                item->name, MAX_RANK);
    for (int i = 0, from = 0; i < type.rank; i++) {
        if (i == axis)
            type.dim[i] = count;
        else if (body_export(infer, node, body, output, i, item->type.dim[from++], &type.dim[i]) < 0)
            return -1;
    }
    return infer_set(infer, node, output, type);
}

/* A condition that starts true and, while it is true, stays true, never ends the loop. */
static int infer_loop_body(Infer *infer, Node *node, const Carry *carry, int ncarry, Extent trips, bool *runs_out)
{
    Graph *body = node->body[0];
    bool   hope = known_true(infer_has(node, 1) ? node->in[1] : NULL);
    int    known = infer->model->nexpr;

    if (hope) {
        propagate_set(infer, body->in[1], extent_const(1));
        infer->trial++;
        if (body_infer(infer, node, body, carry, ncarry, trips, false) < 0)
            return -1;
        infer->trial--;
        hope = known_true(body->out[0]);
        extent_forget(infer->model, known);
    }
    if (!hope)
        body->in[1]->elem = NULL;
    *runs_out = hope;
    return body_infer(infer, node, body, carry, ncarry, trips, false);
}

int infer_loop(Infer *infer, Node *node)
{
    Graph *body = node->body[0];
    int    ncarry = body ? body->nin - 2 : 0, nstack = body ? body->nout - 1 - ncarry : 0;
    Carry *carry = arena_array(infer->model->arena, Carry, ncarry + 1);
    Extent trips, count;
    bool   runs_out;

    if (!body || ncarry < 0 || nstack < 0 || node->nin - 2 != ncarry || node->nout > ncarry + nstack)
        return diag_error(infer->diag, node->loc,
                          "the body's inputs and outputs do not fit the node's %d inputs and %d outputs", node->nin,
                          node->nout);
    if (loop_trips(infer, node, &trips) < 0)
        return -1;
    body->in[0]->type = type_tensor(DTYPE_I64, 0, NULL);
    propagate_set(infer, body->in[0], extent_symbol(infer->model, EXPR_VAR, body->in[0]->id, 0, 0, trips.max));
    body->in[1]->type = type_tensor(DTYPE_BOOL, 0, NULL);
    for (int i = 0; i < ncarry; i++) {
        if (!infer_has(node, 2 + i))
            return diag_error(infer->diag, node->loc, "carried value %d is omitted", i);
        carry[i] = (Carry){&node->in[2 + i]->type, body->in[2 + i], body->out[1 + i], i};
    }
    if (infer_loop_body(infer, node, carry, ncarry, trips, &runs_out) < 0)
        return -1;
    for (int i = 0; i < nstack; i++) {
        count = trips;
        if ((!runs_out || trips.max == INT64_MAX) && infer_wants(node, ncarry + i) &&
            infer_unknown_extent(infer, node, ncarry + i, 0, trips.max == INT64_MAX ? -1 : trips.max, &count) < 0)
            return -1;
        if (set_stack(infer, node, body, ncarry + i, body->out[1 + ncarry + i], 0, count) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- Scan */

static int64_t nth(const Node *node, const char *name, int index)
{
    int            count;
    const int64_t *list = node_ints(node, name, &count);

    return index < count ? list[index] : 0;
}

/* The body sees one slice of each scanned input; all have as many slices. */
static int set_slices(Infer *infer, const Node *node, int nstate, int nscan, Extent *trips)
{
    for (int i = 0; i < nscan; i++) {
        const Type *x = infer_in(node, nstate + i);
        Type        slice = {.kind = TYPE_TENSOR};
        int         axis;
        if (infer_need_rank(infer, node, nstate + i, 1, MAX_RANK) < 0 ||
            infer_axis(infer, node, nth(node, "scan_input_axes", i), x->rank, &axis) < 0)
            return -1;
        if (i == 0)
            *trips = x->dim[axis];
        else if (infer_need_equal(infer, node, *trips, x->dim[axis], "lengths of the scanned inputs") < 0)
            return -1;
        slice.dtype = x->dtype;
        for (int a = 0; a < x->rank; a++)
            if (a != axis)
                slice.dim[slice.rank++] = x->dim[a];
        node->body[0]->in[nstate + i]->type = slice;
    }
    return 0;
}

int infer_scan(Infer *infer, Node *node)
{
    Graph  *body = node->body[0];
    int64_t asked = node_int(node, "num_scan_inputs", 0);
    int     nscan = body && asked > 0 && asked <= body->nin ? (int)asked : 0, nstate = body ? body->nin - nscan : 0;
    int     nstack = body ? body->nout - nstate : 0;
    Carry  *carry;
    Extent  trips = extent_const(0);

    if (node->opset && node->opset < 9)
        return diag_unsupported(infer->diag, node->loc,
                                "Scan of opset 8 scans batches; convert the model to opset 9 or newer");
    if (nscan < 1 || nstack < 0 || node->nin != body->nin || node->nout > body->nout)
        return diag_error(infer->diag, node->loc,
                          "the body's inputs and outputs do not fit the node's %d inputs and %d outputs", node->nin,
                          node->nout);
    carry = arena_array(infer->model->arena, Carry, nstate + 1);
    for (int i = 0; i < nstate; i++) {
        if (!infer_has(node, i))
            return diag_error(infer->diag, node->loc, "state %d is omitted", i);
        carry[i] = (Carry){&node->in[i]->type, body->in[i], body->out[i], i};
    }
    if (set_slices(infer, node, nstate, nscan, &trips) < 0 ||
        body_infer(infer, node, body, carry, nstate, trips, true) < 0)
        return -1;
    for (int i = 0; i < nstack; i++) {
        int axis;
        if (infer_axis(infer, node, nth(node, "scan_output_axes", i), body->out[nstate + i]->type.rank + 1, &axis) <
                0 ||
            set_stack(infer, node, body, nstate + i, body->out[nstate + i], axis, trips) < 0)
            return -1;
    }
    return 0;
}
