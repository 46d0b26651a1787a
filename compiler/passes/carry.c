/* carry.c - a Loop that carries an optional sequence which its body leaves as a plain one (an absent list that is
 * filled).
 *
 * The carried value becomes a sequence, empty where the optional is absent, and a flag beside it:
 *
 *   Loop (n, c, optional)                     has = OptionalHasElement(optional)
 *     body (i, g, p) -> (h, sequence)    =>   first = If (has) { OptionalGetElement(optional) } else
 *                                             { SequenceEmpty() }
 *       OptionalHasElement(p)                 Loop (n, c, first, has)
 *       OptionalGetElement(p)                   body (i, g, p, f) -> (h, sequence, true): Identity(f), Identity(p)
 *
 * requires: declared types of the bodies' inputs and outputs    keeps: order    runs before inference */
#include "passes/passes.h"

static const unsigned char yes = 1;

/* The number of readers of `value` that ask whether an optional is present or take its element; -1: something else
 * reads it. */
static int count_questions(const Graph *graph, const Value *value)
{
    int count = 0;

    for (int i = 0; i < graph->nnode; i++) {
        const Node *node = graph->node[i];

        for (int k = 0; k < node->nin; k++) {
            if (node->in[k] != value)
                continue;
            if (node->op != OP_onnx_OptionalHasElement && node->op != OP_onnx_OptionalGetElement)
                return -1;
            count++;
        }
        for (int k = 0; k < 2; k++) {
            int inner = node->body[k] ? count_questions(node->body[k], value) : 0;

            if (inner < 0)
                return -1;
            count += inner;
        }
    }
    for (int i = 0; i < graph->nout; i++)
        if (graph->out[i] == value)
            return -1;
    return count;
}

/* Replaces these readers by copies of the flag and of the sequence. */
static void answer_questions(Graph *graph, Value *value, Value *flag)
{
    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];

        for (int k = 0; k < node->nin; k++)
            if (node->in[k] == value &&
                (node->op == OP_onnx_OptionalHasElement || node->op == OP_onnx_OptionalGetElement)) {
                node->in[k] = node->op == OP_onnx_OptionalHasElement ? flag : value;
                node->op = OP_onnx_Identity;
            }
        for (int k = 0; k < 2; k++)
            if (node->body[k])
                answer_questions(node->body[k], value, flag);
    }
}

static Node *make_node(Graph *graph, OpKind op, Value *in, const Node *like)
{
    Node *node = node_new(graph, op, in ? 1 : 0, 1, like->loc.name);

    if (in)
        node->in[0] = in;
    node->out[0] = value_new(graph, NULL);
    node->out[0]->def = node;
    return node;
}

static Graph *branch(Graph *parent, OpKind op, Value *in, const Node *like, DType dtype)
{
    Graph *graph = graph_new(parent->model, parent, op == OP_onnx_SequenceEmpty ? "absent" : "present");
    Node  *node = make_node(graph, op, in, like);

    if (op == OP_onnx_SequenceEmpty) {
        node->attr = arena_array(parent->model->arena, Attr, 1);
        node->attr[0] = (Attr){.name = "dtype", .kind = ATTR_INT, .i = (int64_t)dtype};
        node->nattr = 1;
    }
    graph_append(graph, node);
    ARENA_PUSH(parent->model->arena, graph->out, graph->nout, graph->cout, node->out[0]);
    return graph;
}

/* Inserts a value into a list at position `at`. */
static Value **with_one_more(Arena *arena, Value *const *list, int count, int at, Value *value)
{
    Value **longer = arena_array(arena, Value *, count + 1);

    for (int i = 0; i < count; i++)
        longer[i + (i >= at)] = list[i];
    longer[at] = value;
    return longer;
}

/* Adds `flag` as the last carried value; in the body it is `inside`, and true afterwards. */
static void carry_flag(Node *loop, Value *flag, Value *inside)
{
    Graph *body = loop->body[0];
    Arena *arena = body->model->arena;
    int    ncarried = loop->nin - 2;
    Const *data = arena_one(arena, Const);
    Value *always;

    *data = (Const){.data = &yes, .bytes = 1};
    always = value_constant(body, NULL, type_tensor(DTYPE_BOOL, 0, NULL), data);
    loop->in = with_one_more(arena, loop->in, loop->nin, loop->nin, flag);
    loop->nin++;
    if (loop->nout > ncarried) {
        loop->out = with_one_more(arena, loop->out, loop->nout, ncarried, NULL);
        loop->nout++;
    }
    body->in = with_one_more(arena, body->in, body->nin, body->nin, inside);
    body->cin = ++body->nin;
    body->out = with_one_more(arena, body->out, body->nout, 1 + ncarried, always);
    body->cout = ++body->nout;
}

static void split_carried(Node *loop, int index)
{
    Graph *outside = loop->graph, *body = loop->body[0];
    Value *initial = loop->in[2 + index], *parameter = body->in[2 + index], *inside;
    Node  *has = make_node(outside, OP_onnx_OptionalHasElement, initial, loop);
    Node  *first = make_node(outside, OP_onnx_If, has->out[0], loop);
    DType  dtype = parameter->declared.item->item->dtype;

    first->body[0] = branch(outside, OP_onnx_OptionalGetElement, initial, loop, dtype);
    first->body[1] = branch(outside, OP_onnx_SequenceEmpty, NULL, loop, dtype);
    graph_insert(outside, graph_position(outside, loop), has);
    graph_insert(outside, graph_position(outside, loop), first);
    inside = value_new(body, NULL);
    inside->declared = type_tensor(DTYPE_BOOL, 0, NULL);
    loop->in[2 + index] = first->out[0];
    parameter->declared = *parameter->declared.item;
    answer_questions(body, parameter, inside);
    carry_flag(loop, has->out[0], inside);
}

static bool becomes_plain(const Node *loop, int index)
{
    const Graph *body = loop->body[0];
    const Type  *in = &body->in[2 + index]->declared, *out = &body->out[1 + index]->declared;

    return loop->in[2 + index] && in->kind == TYPE_OPTIONAL && in->item->kind == TYPE_SEQUENCE &&
           in->item->item->kind == TYPE_TENSOR && out->kind == TYPE_SEQUENCE &&
           count_questions(body, body->in[2 + index]) >= 0;
}

static int walk(Graph *graph)
{
    int changes = 0;

    for (int i = 0; i < graph->nnode; i++) {
        Node *node = graph->node[i];

        for (int k = 0; k < 2; k++)
            if (node->body[k])
                changes += walk(node->body[k]);
        if (node->op != OP_onnx_Loop || !node->body[0] || node->body[0]->nin != node->nin ||
            node->body[0]->nout < node->nin - 1)
            continue;
        for (int k = node->nin - 3; k >= 0; k--)
            if (becomes_plain(node, k)) {
                split_carried(node, k);
                changes++;
                i = graph_position(graph, node);
            }
    }
    return changes;
}

int pass_carry(Model *model, Diag *diag)
{
    (void)diag;
    return walk(model->main);
}
