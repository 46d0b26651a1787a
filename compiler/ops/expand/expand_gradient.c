/* expand_gradient.c - Gradient of ai.onnx.preview.training: derivatives of a tensor with respect to others. The nodes
 * between them are visited backwards, and each one passes the derivative with respect to its result on to its inputs
 * (reverse accumulation; Linnainmaa: BIT 16, 1976). */
#include "ops/expand/expand_rules.h"

#include <string.h>

typedef struct Backward {
    Expand *expand;
    bool   *varies;   /* by Value.id: depends on the variables */
    Value **adjoint;  /* by Value.id: the derivative with respect to the value, of its shape; NULL: none so far */
    int     nvalue;   /* entries of `varies` and `adjoint` */
    Node   *node;     /* the node whose rule runs */
    Value  *gradient; /* the derivative with respect to its result */
} Backward;

/* ------------------------------------------------------------------------------------------------- helpers of rules */

/* Sums `value`, which has the shape of the node's result, over the axes along which input `index` was broadcast. */
static int sum_repeated(Backward *b, int index, Value *value, Value **out)
{
    const Type *x = &b->node->in[index]->type, *y = &b->node->out[0]->type;
    int64_t     axes[MAX_RANK];
    int         count = 0, lead = y->rank - x->rank;

    *out = value;
    for (int i = 0; i < y->rank; i++) {
        if (i >= lead && extent_same(x->dim[i - lead], y->dim[i]))
            continue;
        if (i >= lead && !(extent_is_const(x->dim[i - lead]) && x->dim[i - lead].max == 1))
            return diag_unsupported(b->expand->diag, b->node->loc,
                                    "found extents known only while running in what is differentiated; "
                                    "make them constant");
        axes[count++] = i;
    }
    if (count)
        *out = expand_reshape_like(b->expand, expand_axes(b->expand, OP_onnx_ReduceSum, value, axes, count, 1),
                                   b->node->in[index]);
    return 0;
}

/* Adds `value` to the derivative with respect to input `index`. */
static int give(Backward *b, int index, Value *value)
{
    Value *in = b->node->in[index], **to = &b->adjoint[in->id];

    if (sum_repeated(b, index, value, &value) < 0)
        return -1;
    *to = *to ? expand2(b->expand, OP_onnx_Add, *to, value) : value;
    return 0;
}

static bool wanted(const Backward *b, int index)
{
    return b->varies[b->node->in[index]->id];
}

static Value *product(Backward *b, Value *a, Value *c)
{
    return expand2(b->expand, OP_onnx_Mul, a, c);
}

static Value *number(Backward *b, double value)
{
    return expand_number(b->expand, value, b->node->out[0]->type.dtype);
}

/* ------------------------------------------------------------------------------------------------------------ rules */

typedef int (*Rule)(Backward *b);

static int of_identity(Backward *b)
{
    return give(b, 0, b->gradient);
}

static int of_add(Backward *b)
{
    return (wanted(b, 0) && give(b, 0, b->gradient) < 0) || (wanted(b, 1) && give(b, 1, b->gradient) < 0) ? -1 : 0;
}

static int of_sub(Backward *b)
{
    if (wanted(b, 0) && give(b, 0, b->gradient) < 0)
        return -1;
    return wanted(b, 1) ? give(b, 1, expand1(b->expand, OP_onnx_Neg, b->gradient)) : 0;
}

static int of_mul(Backward *b)
{
    for (int i = 0; i < 2; i++)
        if (wanted(b, i) && give(b, i, product(b, b->gradient, b->node->in[1 - i])) < 0)
            return -1;
    return 0;
}

static int of_div(Backward *b)
{
    Value *share = expand2(b->expand, OP_onnx_Div, b->gradient, b->node->in[1]);

    if (wanted(b, 0) && give(b, 0, share) < 0)
        return -1;
    return wanted(b, 1) ? give(b, 1, expand1(b->expand, OP_onnx_Neg, product(b, share, b->node->out[0]))) : 0;
}

static int of_neg(Backward *b)
{
    return give(b, 0, expand1(b->expand, OP_onnx_Neg, b->gradient));
}

static int of_exp(Backward *b)
{
    return give(b, 0, product(b, b->gradient, b->node->out[0]));
}

static int of_log(Backward *b)
{
    return give(b, 0, expand2(b->expand, OP_onnx_Div, b->gradient, b->node->in[0]));
}

static int of_sqrt(Backward *b)
{
    return give(b, 0, expand2(b->expand, OP_onnx_Div, b->gradient, product(b, number(b, 2), b->node->out[0])));
}

static int of_sin(Backward *b)
{
    return give(b, 0, product(b, b->gradient, expand1(b->expand, OP_onnx_Cos, b->node->in[0])));
}

static int of_cos(Backward *b)
{
    return give(
        b, 0,
        expand1(b->expand, OP_onnx_Neg, product(b, b->gradient, expand1(b->expand, OP_onnx_Sin, b->node->in[0]))));
}

/* The derivative is y (1 - y). */
static int of_sigmoid(Backward *b)
{
    Value *y = b->node->out[0];

    return give(b, 0, product(b, b->gradient, product(b, y, expand2(b->expand, OP_onnx_Sub, number(b, 1), y))));
}

/* The derivative is 1 - y y. */
static int of_tanh(Backward *b)
{
    Value *y = b->node->out[0];

    y = product(b, y, y);
    return give(b, 0, product(b, b->gradient, expand2(b->expand, OP_onnx_Sub, number(b, 1), y)));
}

static int of_relu(Backward *b)
{
    Value *passes = expand2(b->expand, OP_onnx_Greater, b->node->in[0], number(b, 0));

    return give(b, 0, expand3(b->expand, OP_onnx_Where, passes, b->gradient, number(b, 0)));
}

static int of_matmul(Backward *b)
{
    static const int64_t swap[] = {1, 0};
    Value               *in[2] = {b->node->in[0], b->node->in[1]}, *made;

    if (in[0]->type.rank != 2 || in[1]->type.rank != 2)
        return diag_unsupported(b->expand->diag, b->node->loc,
                                "found a product of stacks or vectors in what is differentiated, wanted matrices");
    for (int i = 0; i < 2; i++) {
        Value *other = expand_transpose(b->expand, in[1 - i], swap, 2), **to = &b->adjoint[in[i]->id];
        if (!wanted(b, i))
            continue;
        made = i ? expand2(b->expand, OP_onnx_MatMul, other, b->gradient)
                 : expand2(b->expand, OP_onnx_MatMul, b->gradient, other);
        *to = *to ? expand2(b->expand, OP_onnx_Add, *to, made) : made;
    }
    return 0;
}

static const struct {
    OpKind op;
    Rule   rule;
} rules[] = {
    {OP_onnx_Identity, of_identity}, {OP_onnx_Add, of_add},   {OP_onnx_Sub, of_sub},
    {OP_onnx_Mul, of_mul},           {OP_onnx_Div, of_div},   {OP_onnx_Neg, of_neg},
    {OP_onnx_Exp, of_exp},           {OP_onnx_Log, of_log},   {OP_onnx_Sqrt, of_sqrt},
    {OP_onnx_Sin, of_sin},           {OP_onnx_Cos, of_cos},   {OP_onnx_Sigmoid, of_sigmoid},
    {OP_onnx_Tanh, of_tanh},         {OP_onnx_Relu, of_relu}, {OP_onnx_MatMul, of_matmul},
};

/* --------------------------------------------------------------------------------------------------------- the walk */

static int differentiate(Backward *b)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].op == b->node->op)
            return rules[i].rule(b);
    return diag_unsupported(b->expand->diag, b->node->loc,
                            "found '%s' in what is differentiated, which has no rule; write it with Add, Mul, "
                            "MatMul and the like",
                            op_info[b->node->op].name);
}

/* Does the first result of a node depend on the variables? */
static bool is_between(const Backward *b, const Node *node)
{
    for (int i = 0; node->nout && node->out[0] && i < node->nin; i++)
        if (node->in[i] && node->in[i]->id < b->nvalue && b->varies[node->in[i]->id])
            return true;
    return false;
}

static Value *find_value(const Expand *expand, const char *name)
{
    for (int i = 0; i < expand->model->nvalue; i++)
        if (expand->model->value[i]->graph == expand->graph && !strcmp(expand->model->value[i]->name, name))
            return expand->model->value[i];
    return NULL;
}

/* Checks that the inputs are the tensors that xs and zs name. A derivative at other values would need a second copy of
 * the nodes between. */
static int check_names(const Expand *expand, const char *list, int first)
{
    const Attr *names = node_attr(expand->node, list);

    for (int i = 0; names && i < names->count; i++)
        if (!expand_in(expand, first + i) || strcmp(expand_in(expand, first + i)->name, names->strings[i]))
            return diag_unsupported(expand->diag, expand->node->loc,
                                    "input %d is not '%s', which attribute '%s' names; give that tensor", first + i,
                                    names->strings[i], list);
    return 0;
}

int expand_gradient(Expand *expand)
{
    int      count = node_attr(expand->node, "xs")->count;
    Value   *y = find_value(expand, node_string(expand->node, "y", ""));
    Backward b = {.expand = expand, .nvalue = expand->model->nvalue};

    if (check_names(expand, "xs", 0) < 0 || check_names(expand, "zs", count) < 0)
        return -1;
    if (!y)
        return diag_error(expand->diag, expand->node->loc, "attribute 'y' is '%s', which names no tensor",
                          node_string(expand->node, "y", ""));
    b.varies = arena_array(expand->model->arena, bool, b.nvalue);
    b.adjoint = arena_array(expand->model->arena, Value *, b.nvalue);
    for (int i = 0; i < count; i++)
        b.varies[expand_in(expand, i)->id] = true;
    for (int i = 0; i < expand->first - 1; i++)
        if (is_between(&b, expand->graph->node[i]))
            b.varies[expand->graph->node[i]->out[0]->id] = true;
    b.adjoint[y->id] = expand_number(expand, 1, y->type.dtype);
    b.adjoint[y->id] = expand2(expand, OP_onnx_Expand, b.adjoint[y->id], expand1(expand, OP_onnx_Shape, y));
    for (int i = expand->first - 1; i-- > 0;) {
        b.node = expand->graph->node[i];
        b.gradient = b.node->nout && b.node->out[0] ? b.adjoint[b.node->out[0]->id] : NULL;
        if (b.gradient && is_between(&b, b.node) && differentiate(&b) < 0)
            return -1;
    }
    for (int i = 0; i < count; i++) {
        Value *x = expand_in(expand, i), *zero = expand_number(expand, 0, x->type.dtype);
        expand_give(expand, i,
                    b.adjoint[x->id] ? b.adjoint[x->id]
                                     : expand2(expand, OP_onnx_Expand, zero, expand1(expand, OP_onnx_Shape, x)));
    }
    return 0;
}
