/* pass_activation - activations that exporters spell out become one operator, so that their argument is read once and
 * the whole joins the kernel before it: x * Sigmoid(x) is Swish, x * HardSigmoid(x) is HardSwish, x / 2 * (1 + Erf(x /
 * sqrt 2)) in any order of its factors is Gelu (Hendrycks and Gimpel 2016, arXiv 1606.08415).
 * requires: order, types    keeps: order, types    breaks: use counts; leaves dead nodes */
#include "passes/passes.h"
#include <math.h>

/* The node that computes `value`, if it is `op` and has one reader. */
static Node *made_by(const Uses *uses, const Graph *graph, const Value *value, OpKind op)
{
    Node *node = passes_made_for(uses, graph, value);

    return node && node->op == op ? node : NULL;
}

static bool is_near(const Value *value, double wanted)
{
    double number;

    return value && value->type.dtype == DTYPE_F32 && const_scalar(value, &number) &&
           fabs(number - wanted) <= 1e-6 * wanted;
}

/* The other operand of a node with two inputs, one of which is this number. */
static Value *beside(const Node *node, double number)
{
    for (int i = 0; i < 2; i++)
        if (is_near(node->in[i], number))
            return node->in[1 - i];
    return NULL;
}

/* The x of 1 + Erf(x / sqrt 2), or NULL. */
static Value *of_gauss(const Uses *uses, const Graph *graph, const Value *value)
{
    Node *sum = made_by(uses, graph, value, OP_onnx_Add), *erf, *scaled;

    erf = sum ? made_by(uses, graph, beside(sum, 1.0), OP_onnx_Erf) : NULL;
    if (!erf)
        return NULL;
    scaled = made_by(uses, graph, erf->in[0], OP_onnx_Div);
    if (scaled)
        return is_near(scaled->in[1], sqrt(2.0)) ? scaled->in[0] : NULL;
    scaled = made_by(uses, graph, erf->in[0], OP_onnx_Mul);
    return scaled ? beside(scaled, sqrt(0.5)) : NULL;
}

/* Whether `value` is x / 2. */
static bool is_half(const Uses *uses, const Graph *graph, const Value *value, const Value *x)
{
    Node *mul = made_by(uses, graph, value, OP_onnx_Mul), *div = made_by(uses, graph, value, OP_onnx_Div);

    return (mul && beside(mul, 0.5) == x) || (div && div->in[0] == x && is_near(div->in[1], 2.0));
}

/* The x of x * (1 + Erf(x / sqrt 2)) / 2 whose last product is `node`, or NULL. */
static Value *of_gelu(const Uses *uses, const Graph *graph, const Node *node)
{
    Value *rest = beside(node, 0.5);
    Node  *inner = made_by(uses, graph, rest, OP_onnx_Mul);

    for (int i = 0; i < 2; i++) {
        Value *x = inner ? of_gauss(uses, graph, inner->in[i]) : NULL;

        if (x && inner->in[1 - i] == x)
            return x;
        x = of_gauss(uses, graph, node->in[i]);
        if (x && is_half(uses, graph, node->in[1 - i], x))
            return x;
    }
    return NULL;
}

static bool is_hard(const Node *node)
{
    return fabs((double)node_float(node, "alpha", 0.2f) - 1.0 / 6.0) < 1e-6 && node_float(node, "beta", 0.5f) == 0.5f;
}

/* Sigmoid or HardSigmoid, if `node` multiplies it with its own argument. */
static OpKind gated(const Uses *uses, const Graph *graph, const Node *node, Value **x)
{
    for (int i = 0; i < 2; i++) {
        Node *soft = made_by(uses, graph, node->in[i], OP_onnx_Sigmoid),
             *hard = made_by(uses, graph, node->in[i], OP_onnx_HardSigmoid);

        *x = node->in[1 - i];
        if (soft && soft->in[0] == *x)
            return OP_onnx_Swish;
        if (hard && hard->in[0] == *x && is_hard(hard))
            return OP_onnx_HardSwish;
    }
    return node->op;
}

static bool rewrite(const Uses *uses, const Graph *graph, Node *node)
{
    Value *x;
    OpKind op;

    if (node->op != OP_onnx_Mul || node->out[0]->type.dtype != DTYPE_F32)
        return false;
    op = gated(uses, graph, node, &x);
    if (op == OP_onnx_Mul) {
        x = of_gelu(uses, graph, node);
        op = x ? OP_onnx_Gelu : op;
    }
    if (op == OP_onnx_Mul || x->type.rank != node->out[0]->type.rank)
        return false;
    node->op = op;
    node->in[0] = x;
    node->nin = 1;
    node->nattr = 0;
    return true;
}

static int activation(Graph *graph, Diag *diag)
{
    Uses uses = uses_of(graph->model);
    int  changes = 0;

    (void)diag;
    for (int i = 0; i < graph->nnode; i++)
        changes += rewrite(&uses, graph, graph->node[i]);
    return changes;
}

int pass_activation(Model *model, Diag *diag)
{
    return passes_each_graph(model, diag, activation);
}
