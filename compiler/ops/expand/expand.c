/* expand.c - the table of expansions, and the helpers that their rules call; see expand.h. */
#include "ops/expand/expand.h"
#include "infer/body.h"
#include "ops/expand/expand_rules.h"
#include "ops/rules.h"

#include <string.h>

static const ExpandRule rule_of[OP_COUNT] = {
#define EXPAND(domain, name, rule) [OP_##domain##_##name] = rule,
#define EXPAND_WHEN(domain, name, test, rule)
#define EXPAND_HALF(domain, name)
#define EXPAND_WIDE(domain, name)
#include "ops/expand/expand.def"
};

static const struct {
    bool (*test)(const Node *node);
    ExpandRule rule;
} when[OP_COUNT] = {
#define EXPAND(domain, name, rule)
#define EXPAND_WHEN(domain, name, test, rule) [OP_##domain##_##name] = {test, rule},
#define EXPAND_HALF(domain, name)
#define EXPAND_WIDE(domain, name)
#include "ops/expand/expand.def"
};

static const bool computes_in_float[OP_COUNT] = {
#define EXPAND(domain, name, rule)
#define EXPAND_WHEN(domain, name, test, rule)
#define EXPAND_HALF(domain, name) [OP_##domain##_##name] = true,
#define EXPAND_WIDE(domain, name)
#include "ops/expand/expand.def"
};

static const bool follows_float[OP_COUNT] = {
#define EXPAND(domain, name, rule)
#define EXPAND_WHEN(domain, name, test, rule)
#define EXPAND_HALF(domain, name)
#define EXPAND_WIDE(domain, name) [OP_##domain##_##name] = true,
#include "ops/expand/expand.def"
};

/* ------------------------------------------------------------------------------------------------------------ nodes */

Value *expand_make(Expand *expand, OpKind op, int count, Value *const *in)
{
    Node *node = node_new(expand->graph, op, count, 1, expand->node->loc.name);

    node->loc = expand->node->loc; /* messages name the model's own node */
    node->opset = expand->node->opset;
    for (int i = 0; i < count; i++)
        node->in[i] = in[i];
    while (node->nin && !node->in[node->nin - 1])
        node->nin--;
    node->out[0] = value_new(expand->graph, NULL);
    node->out[0]->def = node;
    graph_insert(expand->graph, expand->at++, node);
    expand->last = node;
    return node->out[0];
}

Value *expand1(Expand *expand, OpKind op, Value *a)
{
    return expand_make(expand, op, 1, &a);
}

Value *expand2(Expand *expand, OpKind op, Value *a, Value *b)
{
    Value *in[] = {a, b};

    return expand_make(expand, op, 2, in);
}

Value *expand3(Expand *expand, OpKind op, Value *a, Value *b, Value *c)
{
    Value *in[] = {a, b, c};

    return expand_make(expand, op, 3, in);
}

Value *expand_output(Expand *expand, int index)
{
    Node   *node = expand->last;
    Value **out = arena_array(expand->model->arena, Value *, index + 1);

    memcpy(out, node->out, (size_t)node->nout * sizeof *out);
    out[index] = value_new(expand->graph, NULL);
    out[index]->def = node;
    node->out = out;
    node->nout = index + 1;
    return out[index];
}

bool expand_wants(const Expand *expand, int index)
{
    return index < expand->node->nout && expand->node->out[index];
}

void expand_give(Expand *expand, int index, Value *value)
{
    if (expand_wants(expand, index))
        expand->given[index] = value;
}

static bool is_ours(const Expand *expand, const Value *value)
{
    for (int i = expand->first; i < expand->at; i++)
        if (value->def && expand->graph->node[i] == value->def)
            return true;
    return false;
}

/* Makes the given value output `index`. If the expansion has made the value, and it is no output yet, its node now
 * computes the output; else an Identity copies the value. */
static void settle(Expand *expand, int index)
{
    Value *value = expand->given[index], *out = expand->node->out[index];

    for (int k = 0; k < index; k++)
        if (expand->given[k] == value)
            value = expand1(expand, OP_onnx_Identity, expand->node->out[k]);
    if (!is_ours(expand, value))
        value = expand1(expand, OP_onnx_Identity, value);
    out->def = value->def;
    for (int i = expand->first; i < expand->at; i++) {
        Node *node = expand->graph->node[i];
        values_replace(node->in, node->nin, value, out);
        values_replace(node->out, node->nout, value, out);
    }
}

/* ------------------------------------------------------------------------------------------------------- shorthands */

void expand_bound(Value *value, DType dtype, const Type *type, int first, int count)
{
    value->declared = type_tensor(dtype, count, NULL);
    for (int i = 0; i < count; i++)
        value->declared.dim[i] = extent_const(type->dim[first + i].max);
}

Value *expand_in(const Expand *expand, int index)
{
    return index < expand->node->nin ? expand->node->in[index] : NULL;
}

int expand_rank(const Value *value)
{
    return value->type.rank;
}

int expand_axis(const Expand *expand, const char *name, int64_t otherwise, int rank)
{
    int64_t axis = node_int(expand->node, name, otherwise);

    axis += axis < 0 ? rank : 0;
    return axis < 0 ? 0 : axis > rank ? rank : (int)axis; /* the shape rule has refused any other axis */
}

Value *expand_number(Expand *expand, double number, DType dtype)
{
    if (dtype == DTYPE_F64)
        return make_constant(expand->graph, DTYPE_F64, 0, 1, &number);
    if (dtype == DTYPE_I64)
        return make_scalar(expand->graph, (int64_t)number);
    return expand_cast(expand, make_float(expand->graph, (float)number), dtype);
}

Value *expand_cast(Expand *expand, Value *value, DType dtype)
{
    Value *out;

    if (value->type.kind == TYPE_TENSOR && value->type.dtype == dtype)
        return value;
    out = expand1(expand, OP_onnx_Cast, value);
    node_set_int(expand->last, "to", dtype);
    return out;
}

Value *expand_axes(Expand *expand, OpKind op, Value *value, const int64_t *axes, int count, int keep)
{
    Value *out = expand2(expand, op, value, make_ints(expand->graph, axes, count));

    node_set_int(expand->last, "keepdims", keep);
    if (!count)
        node_set_int(expand->last, "noop_with_empty_axes", 1);
    return out;
}

Value *expand_reduce(Expand *expand, OpKind op, Value *value, int first, int last, int keep)
{
    int64_t axes[MAX_RANK];
    int     count = 0;

    for (int axis = first; axis <= last; axis++)
        axes[count++] = axis;
    return expand_axes(expand, op, value, axes, count, keep);
}

Value *expand_reshape(Expand *expand, Value *value, const int64_t *shape, int count)
{
    return expand2(expand, OP_onnx_Reshape, value, make_ints(expand->graph, shape, count));
}

Value *expand_reshape_like(Expand *expand, Value *value, Value *like)
{
    Value *out = expand2(expand, OP_onnx_Reshape, value, expand1(expand, OP_onnx_Shape, like));

    node_set_int(expand->last, "allowzero", 1);
    return out;
}

Value *expand_unsqueeze(Expand *expand, Value *value, int64_t axis)
{
    return expand2(expand, OP_onnx_Unsqueeze, value, make_int(expand->graph, axis));
}

Value *expand_squeeze(Expand *expand, Value *value, int64_t axis)
{
    return expand2(expand, OP_onnx_Squeeze, value, make_int(expand->graph, axis));
}

Value *expand_range(Expand *expand, Value *count)
{
    Value *first = make_scalar(expand->graph, 0);

    return expand3(expand, OP_onnx_Range, first, count, make_scalar(expand->graph, 1));
}

Value *expand_slice(Expand *expand, Value *value, int64_t axis, int64_t start, int64_t end, int64_t step)
{
    const int64_t number[] = {start, end, axis, step};
    Value        *in[5] = {value};

    for (int i = 0; i < 4; i++)
        in[1 + i] = make_int(expand->graph, number[i]);
    return expand_make(expand, OP_onnx_Slice, 5, in);
}

Value *expand_transpose(Expand *expand, Value *value, const int64_t *perm, int rank)
{
    Value *out = expand1(expand, OP_onnx_Transpose, value);

    node_set_ints(expand->last, "perm", perm, rank);
    return out;
}

static const int64_t heads_first[] = {0, 2, 1, 3};

/* Constant extents are written out: Reshape cannot infer a -1 where there are no elements. */
Value *expand_split_heads(Expand *expand, Value *value, Extent packed, int64_t heads)
{
    const int64_t shape[] = {0, 0, heads, extent_is_const(packed) && packed.max >= heads ? packed.max / heads : -1};

    return expand_transpose(expand, expand_reshape(expand, value, shape, 4), heads_first, 4);
}

Value *expand_join_heads(Expand *expand, Value *value, Extent packed, int64_t of, int64_t heads)
{
    const int64_t shape[] = {0, 0, extent_is_const(packed) && packed.max >= of ? packed.max / of * heads : -1};

    return expand_reshape(expand, expand_transpose(expand, value, heads_first, 4), shape, 3);
}

Value *expand_extent(Expand *expand, Value *value, int64_t axis)
{
    Value *out = expand1(expand, OP_onnx_Shape, value);

    node_set_int(expand->last, "start", axis);
    node_set_int(expand->last, "end", axis + 1);
    return out;
}

Value *expand_gather(Expand *expand, Value *value, Value *index, int64_t axis)
{
    Value *out = expand2(expand, OP_onnx_Gather, value, index);

    node_set_int(expand->last, "axis", axis);
    return out;
}

Value *expand_body(Expand *expand, Graph *body, Value *argument)
{
    Value *result;

    if (!body)
        return argument;
    body_adopt(expand->model, body, expand->graph);
    for (int i = 0; i < body->nnode; i++)
        graph_insert(expand->graph, expand->at++, body->node[i]);
    result = body->out[0] == body->in[0] ? argument : body->out[0];
    value_replace(expand->graph, body->in[0], argument);
    return result;
}

/* ------------------------------------------------------------------------------------------------- choice of a rule */

static bool is_narrow(const Node *node)
{
    DType dtype = node->nin && node->in[0] ? node->in[0]->type.dtype : DTYPE_NONE;

    return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

/* Is an operand of this node there in float, and does the node compute the same of floats? */
static bool follows_wide(const Node *node)
{
    bool follows = follows_float[node->op] || (op_info[node->op].traits & (OP_ELEMENTWISE | OP_MOVES));

    if (!follows || node->op == OP_onnx_Cast || node->op == OP_onnx_CastLike)
        return false;
    for (int i = 0; i < node->nin; i++)
        if (node->in[i] && node->in[i]->wide)
            return true;
    return false;
}

static ExpandRule find_rule(const Node *node)
{
    if (follows_wide(node))
        return expand_half;
    if (computes_in_float[node->op] && is_narrow(node))
        return expand_half;
    if (when[node->op].test && when[node->op].test(node))
        return when[node->op].rule;
    return op_info[node->op].lower == lower_text ? expand_text : rule_of[node->op];
}

int expand_node(Infer *infer, Graph *graph, int position)
{
    Node      *node = graph->node[position];
    Expand     expand = {infer->model, infer->diag, graph, node, position + 1, position + 1, NULL, NULL};
    ExpandRule rule = find_rule(node);

    if (!rule)
        return 0;
    expand.given = arena_array(infer->model->arena, Value *, node->nout);
    if (rule(&expand))
        return -1;
    for (int i = 0; i < node->nout; i++)
        if (node->out[i] && !expand.given[i])
            return diag_bug(infer->diag, node->loc, "its expansion does not make output %d", i);
        else if (node->out[i])
            settle(&expand, i);
    node->nout = 0;
    return 1;
}
