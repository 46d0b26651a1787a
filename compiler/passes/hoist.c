/* pass_hoist - what stands in the way of fusions moves out of it:
 *   a number that scales a factor of a product scales the product, whose epilogue takes it (queries of attention);
 *   a Reshape by axes of one element and its counterpart, around an elementwise operator with a constant, go into the
 *   constant (masks of shifted windows).
 * requires: order, types    keeps: order, types    breaks: use counts; leaves dead nodes */
#include "passes/passes.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------- scaled factors */

/* The input of a Mul (Div) by a number, as its position; -1: it is something else. */
static int scaled_input(const Node *node, int rank)
{
    double number;

    if (node->op != OP_onnx_Mul && node->op != OP_onnx_Div)
        return -1;
    for (int i = 1; i >= (node->op == OP_onnx_Div); i--)
        if (node->in[i]->type.dtype == DTYPE_F32 && const_scalar(node->in[i], &number) &&
            node->in[i]->type.rank <= rank)
            return 1 - i;
    return -1;
}

/* matmul(scale(q), k) becomes scale(matmul(q, k)): the two nodes swap places and results. */
static void swap(Graph *graph, Node *scale, int input, Node *product, int factor)
{
    Value *between = scale->out[0], *result = product->out[0];
    int    from = graph_position(graph, scale), to = graph_position(graph, product);

    product->in[factor] = scale->in[input];
    product->out[0] = scale->in[input] = between;
    between->type = result->type;
    between->def = product;
    scale->out[0] = result;
    result->def = scale;
    memmove(&graph->node[from], &graph->node[from + 1], (size_t)(to - from) * sizeof *graph->node);
    graph->node[to] = scale;
}

static int hoist_scale(const Uses *uses, Graph *graph, Node *product)
{
    if (product->op != OP_onnx_MatMul || product->in[0]->data || product->in[1]->data)
        return 0;
    for (int i = 0; i < 2; i++) {
        Node *scale = passes_made_for(uses, graph, product->in[i]);
        int   input = scale ? scaled_input(scale, product->out[0]->type.rank) : -1;

        if (input < 0 || product->in[0] == product->in[1])
            continue;
        swap(graph, scale, input, product, i);
        return 1;
    }
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- unit axes */

/* Marks in `kept` the axes of `wide` that are axes of `narrow`, where all others have one element. False: the types
 * differ otherwise. */
static bool match_axes(const Type *wide, const Type *narrow, bool *kept)
{
    int k = 0;

    for (int i = 0; i < wide->rank; i++) {
        kept[i] = k < narrow->rank && extent_same(wide->dim[i], narrow->dim[k]);
        if (kept[i])
            k++;
        else if (!extent_is_const(wide->dim[i]) || wide->dim[i].max != 1)
            return false;
    }
    return k == narrow->rank;
}

/* The constant, which broadcasts to `rank` axes, without the axes that are not kept. */
static Value *without_axes(Graph *graph, const Value *constant, int rank, const bool *kept)
{
    Type type = constant->type;
    int  first = rank - constant->type.rank;

    type.rank = 0;
    for (int i = 0; i < constant->type.rank; i++)
        if (kept[first + i])
            type.dim[type.rank++] = constant->type.dim[i];
    return value_constant(graph, arena_printf(graph->model->arena, "%s.narrow%d", constant->name, graph->model->nvalue),
                          type, constant->data);
}

static int hoist_reshape(const Uses *uses, Graph *graph, const Node *back)
{
    Node *middle = back->op == OP_onnx_Reshape ? passes_made_for(uses, graph, back->in[0]) : NULL;

    if (!middle || middle->nin != 2 || !(op_info[middle->op].traits & OP_ELEMENTWISE) ||
        uses->user[back->out[0]->id] == NULL)
        return 0;
    for (int i = 0; i < 2; i++) {
        Node  *there = passes_made_for(uses, graph, middle->in[i]);
        Value *constant = middle->in[1 - i];
        bool   kept[MAX_RANK];

        if (!there || there->op != OP_onnx_Reshape || !constant->data ||
            !type_same(&there->in[0]->type, &back->out[0]->type) ||
            middle->in[i]->type.rank != middle->out[0]->type.rank ||
            !match_axes(&middle->out[0]->type, &there->in[0]->type, kept))
            continue;
        middle->in[1 - i] = without_axes(graph, constant, middle->out[0]->type.rank, kept);
        middle->in[i] = there->in[0];
        middle->out[0]->type = back->out[0]->type;
        value_replace(graph, back->out[0], middle->out[0]);
        return 1;
    }
    return 0;
}

/* Makes one change at a time, since each changes the users of values. */
static int hoist_once(Graph *graph)
{
    Uses uses = uses_of(graph->model);

    for (int i = 0; i < graph->nnode; i++)
        if (hoist_scale(&uses, graph, graph->node[i]) || hoist_reshape(&uses, graph, graph->node[i]))
            return 1;
    return 0;
}

static int hoist(Graph *graph, Diag *diag)
{
    int changes = 0;

    (void)diag;
    while (hoist_once(graph))
        changes++;
    return changes;
}

int pass_hoist(Model *model, Diag *diag)
{
    return passes_each_graph(model, diag, hoist);
}
