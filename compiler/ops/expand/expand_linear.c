/* expand_linear.c - LinearAttention as a scan over the tokens. */
#include "ops/expand/expand_rules.h"

#include <math.h>

static Value *split_heads(Expand *expand, Value *value, int64_t heads)
{
    return expand_split_heads(expand, expand_cast(expand, value, DTYPE_F32), value->type.dim[2], heads);
}

/* The values of one token, parameters of the body of the scan. */
typedef struct TokenParts {
    Value *state;               /* [batch][kv head][key size][value size] */
    Value *query, *key, *value; /* [batch][head][size] */
    Value *decay, *beta;        /* [batch][kv head][key size or 1], [batch][kv head or 1][1]; NULL: none */
} TokenParts;

static Value *next_state(Expand *expand, const TokenParts *token)
{
    Value *state = token->state, *value = token->value, *key = expand_unsqueeze(expand, token->key, 3);

    if (token->decay)
        state = expand2(expand, OP_onnx_Mul, state,
                        expand1(expand, OP_onnx_Exp, expand_unsqueeze(expand, token->decay, 3)));
    if (token->beta) {
        Value *found = expand_reduce(expand, OP_onnx_ReduceSum, expand2(expand, OP_onnx_Mul, state, key), 2, 2, 0);
        value = expand2(expand, OP_onnx_Mul, token->beta, expand2(expand, OP_onnx_Sub, value, found));
    }
    return expand2(expand, OP_onnx_Add, state, expand2(expand, OP_onnx_Mul, key, expand_unsqueeze(expand, value, 2)));
}

/* Reads the state for the query heads [kv head][group]: all heads of a group read the state of their kv head. */
static Value *read_state(Expand *expand, Value *state, Value *query, int64_t kv_heads, int64_t heads, double scale)
{
    const int64_t apart[] = {0, kv_heads, heads / kv_heads, -1}, together[] = {0, heads, -1};
    Value        *out = expand_reshape(expand, query, apart, 4);

    out = expand2(expand, OP_onnx_Mul, out, expand_number(expand, scale, DTYPE_F32));
    out = expand2(expand, OP_onnx_MatMul, out, state);
    return expand_reshape(expand, out, together, 3);
}

static Graph *token_body(Expand *expand, bool decay, bool beta, int64_t kv_heads, int64_t heads, double scale)
{
    Graph     *body = graph_new(expand->model, expand->graph, "token");
    Expand     inner = {expand->model, expand->diag, body, expand->node, 0, 0, NULL, NULL};
    TokenParts token = {0};
    Value     *out[2];

    token.state = graph_parameter(body);
    token.query = graph_parameter(body);
    token.key = graph_parameter(body);
    token.value = graph_parameter(body);
    token.decay = decay ? graph_parameter(body) : NULL;
    token.beta = beta ? graph_parameter(body) : NULL;
    out[0] = next_state(&inner, &token);
    out[1] = read_state(&inner, out[0], token.query, kv_heads, heads, scale);
    for (int i = 0; i < 2; i++)
        ARENA_PUSH(expand->model->arena, body->out, body->nout, body->cout, out[i]);
    return body;
}

static Value *first_state(Expand *expand, Value *key, Value *value, int64_t kv_heads)
{
    Value *past = expand_in(expand, 3), *shape[4];

    if (past)
        return expand_cast(expand, past, DTYPE_F32);
    shape[0] = expand_extent(expand, key, 0);
    shape[1] = make_int(expand->graph, kv_heads);
    shape[2] = expand_extent(expand, key, 3);
    shape[3] = expand_extent(expand, value, 3);
    shape[0] = expand_make(expand, OP_onnx_Concat, 4, shape);
    node_set_int(expand->last, "axis", 0);
    return expand2(expand, OP_onnx_Expand, make_float(expand->graph, 0.0f), shape[0]);
}

static Value *to_type(Expand *expand, Value *value, DType dtype)
{
    return dtype == DTYPE_F32 ? value : expand_cast(expand, value, dtype);
}

int expand_linear_attention(Expand *expand)
{
    static const int64_t axes[] = {2, 2, 2, 2, 2};
    int64_t heads = node_int(expand->node, "q_num_heads", 1), kv_heads = node_int(expand->node, "kv_num_heads", 1);
    Value  *in[6], *query = expand_in(expand, 0), *past = expand_in(expand, 3), *decay = expand_in(expand, 4),
                  *beta = expand_in(expand, 5);
    int    count = 0;
    Value *state, *out;
    double scale = (double)node_float(expand->node, "scale", 0.0f);

    if (scale == 0.0 && !extent_is_const(query->type.dim[2]))
        return diag_unsupported(
            expand->diag, expand->node->loc,
            "found a head size that is known only while running; make it constant, or give attribute 'scale'");
    if (beta && !extent_is_const(beta->type.dim[2]))
        return diag_unsupported(expand->diag, expand->node->loc,
                                "found a last extent of beta that is known only while running; pin it");
    if (heads < 1 || kv_heads < 1 || heads % kv_heads)
        return diag_error(expand->diag, expand->node->loc,
                          "found %lld query heads and %lld key heads, wanted a multiple", (long long)heads,
                          (long long)kv_heads);
    scale = scale != 0.0 ? scale : 1.0 / sqrt((double)query->type.dim[2].max / (double)heads);
    in[1] = split_heads(expand, query, heads);
    in[2] = split_heads(expand, expand_in(expand, 1), kv_heads);
    in[3] = split_heads(expand, expand_in(expand, 2), kv_heads);
    in[0] = first_state(expand, in[2], in[3], kv_heads);
    count = 4;
    if (decay)
        in[count++] = split_heads(expand, decay, kv_heads);
    if (beta)
        in[count++] = split_heads(expand, beta, beta->type.dim[2].max == 1 ? 1 : kv_heads);
    state = expand_make(expand, OP_onnx_Scan, count, in);
    expand->last->body[0] = token_body(expand, decay, beta, kv_heads, heads, scale);
    node_set_int(expand->last, "num_scan_inputs", count - 1);
    node_set_ints(expand->last, "scan_input_axes", axes, count - 1);
    node_set_ints(expand->last, "scan_output_axes", axes, 1);
    out = expand_output(expand, 1);
    out = expand_join_heads(expand, out, expand_in(expand, 2)->type.dim[2], kv_heads, heads);
    expand_give(expand, 0, to_type(expand, out, query->type.dtype));
    expand_give(expand, 1, to_type(expand, state, past ? past->type.dtype : query->type.dtype));
    return 0;
}
