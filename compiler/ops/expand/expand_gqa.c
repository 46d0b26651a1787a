/* expand_gqa.c - com.microsoft's GroupQueryAttention: attention with caches that grow by the new rows of each run. */
#include "ops/expand/expand_attention.h"
#include "ops/expand/expand_rules.h"

#include <math.h>

typedef struct GroupedQuery {
    Expand *expand;
    int64_t heads, kv_heads, size; /* size of one head */
    DType   dtype;                 /* of the computation */
    Value  *query, *key, *value;   /* [batch][heads][length][size] */
    Value  *first;                 /* bool [1]: this is the first run, whatever is in the caches */
    Value  *before;                /* int64 [batch]: keys before the first query */
    Value  *total;                 /* int64 [1]: the length of the longest sequence in the batch, new rows included */
} GroupedQuery;

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, LENGTHS, TOTAL, COSINE, SINE, POSITIONS, BIAS, SINK };

/* --------------------------------------------------------------------------------------------------------- operands */

static Value *one_of(Expand *expand, Value *value)
{
    static const int64_t one[] = {1};

    return expand_reshape(expand, expand_cast(expand, value, DTYPE_I64), one, 1);
}

/* Queries, keys and values split into heads. They are three inputs, or one input with all of them. */
static void split(GroupedQuery *g)
{
    Expand       *expand = g->expand;
    Value        *x = expand_cast(expand, expand_in(expand, QUERY), g->dtype), *in;
    const Extent *packed = &expand_in(expand, QUERY)->type.dim[2];
    int64_t       n = g->heads, kv = g->kv_heads;

    if (!expand_in(expand, KEY)) {
        x = expand_split_heads(expand, x, *packed, n + 2 * kv);
        g->query = expand_slice(expand, x, 1, 0, n, 1);
        g->key = expand_slice(expand, x, 1, n, n + kv, 1);
        g->value = expand_slice(expand, x, 1, n + kv, n + 2 * kv, 1);
        return;
    }
    g->query = expand_split_heads(expand, x, *packed, n);
    in = expand_in(expand, KEY);
    g->key = expand_split_heads(expand, expand_cast(expand, in, g->dtype), in->type.dim[2], kv);
    in = expand_in(expand, VALUE);
    g->value = expand_split_heads(expand, expand_cast(expand, in, g->dtype), in->type.dim[2], kv);
}

/* Finds the lengths of the caches. The run is the first one if the total length equals the number of new rows: then
 * there are no keys before them. */
static void find_lengths(GroupedQuery *g)
{
    Expand *expand = g->expand;
    Value  *fresh = expand_extent(expand, expand_in(expand, QUERY), 1),
          *lengths = expand_cast(expand, expand_in(expand, LENGTHS), DTYPE_I64);
    static const int64_t flat[] = {-1};

    g->total = one_of(expand, expand_in(expand, TOTAL));
    g->first = expand2(expand, OP_onnx_Equal, fresh, g->total);
    lengths = expand_reshape(expand, lengths, flat, 1);
    lengths = expand2(expand, OP_onnx_Sub, expand2(expand, OP_onnx_Add, lengths, make_int(expand->graph, 1)), fresh);
    g->before = expand3(expand, OP_onnx_Where, g->first, make_int(expand->graph, 0), lengths);
}

/* Reshapes int64 [batch] to [batch][1][1][1]. */
static Value *per_batch(Expand *expand, Value *value)
{
    static const int64_t shape[] = {-1, 1, 1, 1};

    return expand_reshape(expand, value, shape, 4);
}

/* Counts 0, 1, ... along an axis of `like`: [length], or [length][1] if `column`. */
static Value *count_rows(Expand *expand, Value *like, int64_t axis, bool column)
{
    static const int64_t shape[] = {-1, 1};
    Value               *count = expand_range(expand, expand_squeeze(expand, expand_extent(expand, like, axis), 0));

    return column ? expand_reshape(expand, count, shape, 2) : count;
}

/* ----------------------------------------------------------------------------------------------------------- rotary */

/* Positions [batch][length]: position_ids, else counted from the end of the past. In the first run, only the first of
 * position_ids is read, and the others follow from it. */
static Value *positions(GroupedQuery *g)
{
    static const int64_t column[] = {-1, 1};
    Expand              *expand = g->expand;
    Value *given = expand_in(expand, POSITIONS), *count = count_rows(expand, g->query, 2, false), *first, *start;

    if (!given)
        return expand2(expand, OP_onnx_Add, expand_reshape(expand, g->before, column, 2), count);
    first = expand_slice(expand, expand_slice(expand, given, 0, 0, 1, 1), 1, 0, 1, 1);
    start = expand2(expand, OP_onnx_Add, first, count);
    return expand3(expand, OP_onnx_Where, g->first, start, given);
}

static Value *angles(GroupedQuery *g, int input, Value *at)
{
    Expand *expand = g->expand;
    Value  *cache = expand_cast(expand, expand_in(expand, input), g->dtype);

    return expand_unsqueeze(expand, expand_gather(expand, cache, at, 0), 1);
}

static void rotate(GroupedQuery *g)
{
    Expand *expand = g->expand;
    bool    interleaved = node_int(expand->node, "rotary_interleaved", 0) != 0;
    int64_t half = expand_in(expand, COSINE)->type.dim[1].max;
    Value  *at = positions(g), *cosine = angles(g, COSINE, at), *sine = angles(g, SINE, at);

    g->query = expand_turned(expand, g->query, cosine, sine, half, g->size, interleaved);
    g->key = expand_turned(expand, g->key, cosine, sine, half, g->size, interleaved);
}

/* -------------------------------------------------------------------------------------------------------- the cache */

/* Appends the new rows `now` to the past at input `input`. Output `output` is the result. */
static Value *append(GroupedQuery *g, int input, Value *now, int output)
{
    Expand *expand = g->expand;
    Value  *past = expand_in(expand, input),
          *in[4] = {past ? expand_cast(expand, past, g->dtype) : NULL, now, g->before, g->total};
    Value *all = expand_make(expand, OP_ours_CacheAppend, 4, in);
    DType  dtype = expand_in(expand, QUERY)->type.dtype;

    if (expand_wants(expand, output))
        expand_give(expand, output, dtype == g->dtype ? all : expand_cast(expand, all, dtype));
    return all;
}

/* ------------------------------------------------------------------------------------------------------- the scores */

/* Adds the bias to the scores. The bias is as long as the sequence; it is padded with zeros to the length of the cache,
 * whose further keys do not count. */
static Value *add_bias(GroupedQuery *g, Value *scores)
{
    Expand *expand = g->expand;
    Value  *bias = expand_in(expand, BIAS), *pads[8], *keys, *all;

    if (!bias)
        return scores;
    bias = expand_cast(expand, bias, g->dtype);
    for (int i = 0; i < 7; i++)
        pads[i] = make_int(expand->graph, 0);
    keys = expand_extent(expand, g->key, 2);
    pads[7] = expand2(expand, OP_onnx_Sub, keys, expand_extent(expand, expand_in(expand, BIAS), 3));
    all = expand_make(expand, OP_onnx_Concat, 8, pads);
    node_set_int(expand->last, "axis", 0);
    return expand2(expand, OP_onnx_Add, scores,
                   expand3(expand, OP_onnx_Pad, bias, all, expand_number(expand, 0, g->dtype)));
}

/* Which keys does a query see? The keys of its sequence up to its own position, or a window of these; without `causal`,
 * all keys of the sequence. */
static Value *allowed(GroupedQuery *g)
{
    Expand *expand = g->expand;
    int64_t window = node_int(expand->node, "local_window_size", -1);
    Value  *key = count_rows(expand, g->key, 2, false), *row, *at, *seen, *near;
    Value  *last = per_batch(expand, expand_cast(expand, expand_in(expand, LENGTHS), DTYPE_I64));

    if (!node_int(expand->node, "causal", 1))
        return expand2(expand, OP_onnx_LessOrEqual, key, last);
    row = count_rows(expand, g->query, 2, true);
    at = expand2(expand, OP_onnx_Add, row, per_batch(expand, g->before));
    seen = expand2(expand, OP_onnx_LessOrEqual, key, expand2(expand, OP_onnx_Min, at, last));
    if (window <= 0)
        return seen;
    near = expand2(expand, OP_onnx_Greater, key, expand2(expand, OP_onnx_Sub, at, make_scalar(expand->graph, window)));
    return expand2(expand, OP_onnx_And, seen, near);
}

static Value *cap(GroupedQuery *g, Value *scores)
{
    Expand *expand = g->expand;
    double  limit = (double)node_float(expand->node, "softcap", 0.0f);
    Value  *number;

    if (!(limit > 0.0))
        return scores;
    number = expand_number(expand, limit, g->dtype);
    return expand2(expand, OP_onnx_Mul, expand1(expand, OP_onnx_Tanh, expand2(expand, OP_onnx_Div, scores, number)),
                   number);
}

/* Replaces the result of rows that see no key by zeros. A row behind the end of its sequence may have no key in its
 * window. */
static Value *without_none(GroupedQuery *g, Value *scores, Value *soft)
{
    Expand *expand = g->expand;
    Value  *most = expand_reduce(expand, OP_onnx_ReduceMax, scores, 3, 3, 1);
    Value  *none = expand2(expand, OP_onnx_Equal, most, expand_number(expand, -(double)INFINITY, g->dtype));

    return expand3(expand, OP_onnx_Where, none, expand_number(expand, 0, g->dtype), soft);
}

/* Softmax over the keys. An attention sink is one more score of every row: it takes part in the softmax, and its
 * probability is dropped. */
static Value *probabilities(GroupedQuery *g, Value *scores)
{
    static const int64_t per_head[] = {1, -1, 1, 1};
    Expand              *expand = g->expand;
    Value               *sink = expand_in(expand, SINK), *in[4], *soft;

    if (sink)
        sink = expand_reshape(expand, expand_cast(expand, sink, g->dtype), per_head, 4);
    else if (node_int(expand->node, "smooth_softmax", 0))
        sink = expand_number(expand, 0, g->dtype);
    if (sink) {
        Value *column = expand_slice(expand, scores, 3, 0, 1, 1);
        sink = expand2(expand, OP_onnx_Expand, sink, expand1(expand, OP_onnx_Shape, column));
        scores = expand_concat(expand, scores, sink, 3);
    }
    soft = expand1(expand, OP_onnx_Softmax, scores);
    node_set_int(expand->last, "axis", -1);
    if (!sink)
        return node_int(expand->node, "local_window_size", -1) > 0 ? without_none(g, scores, soft) : soft;
    in[0] = soft;
    in[1] = make_int(expand->graph, 0);
    in[2] = make_int(expand->graph, -1);
    in[3] = make_int(expand->graph, 3);
    return expand_make(expand, OP_onnx_Slice, 4, in);
}

/* Gives output 3: the scores or the probabilities of the keys of the sequence, with zeros for keys that a query does
 * not see. */
static void show(GroupedQuery *g, Value *scores, Value *seen, Value *soft)
{
    Expand *expand = g->expand;
    Value  *in[4] = {soft, NULL, g->total, NULL};

    if (!expand_wants(expand, 3))
        return;
    in[1] = make_int(expand->graph, 0);
    in[3] = make_int(expand->graph, 3);
    if (node_int(expand->node, "qk_output", 0) == 1)
        in[0] = expand3(expand, OP_onnx_Where, seen, scores, expand_number(expand, 0, g->dtype));
    in[0] = expand_make(expand, OP_onnx_Slice, 4, in);
    expand_give(expand, 3, expand_cast(expand, in[0], expand_in(expand, QUERY)->type.dtype));
}

static Value *attend(GroupedQuery *g)
{
    static const int64_t swap[] = {0, 1, 3, 2};
    Expand              *expand = g->expand;
    double               scale = (double)node_float(expand->node, "scale", 0.0f);
    Value               *scores, *seen, *soft;

    scale = scale == 0.0 ? 1.0 / sqrt((double)g->size) : scale;
    scores = expand2(expand, OP_onnx_Mul, g->query, expand_number(expand, scale, g->dtype));
    scores = expand_grouped_product(expand, scores, expand_transpose(expand, g->key, swap, 4), g->heads, g->kv_heads);
    scores = add_bias(g, cap(g, scores));
    seen = allowed(g);
    soft = expand3(expand, OP_onnx_Where, seen, scores, expand_number(expand, -(double)INFINITY, g->dtype));
    soft = probabilities(g, soft);
    show(g, scores, seen, soft);
    return expand_grouped_product(expand, soft, g->value, g->heads, g->kv_heads);
}

int expand_group_query_attention(Expand *expand)
{
    const Type  *query = &expand_in(expand, QUERY)->type;
    int64_t      heads = node_int(expand->node, "num_heads", 1), kv_heads = node_int(expand->node, "kv_num_heads", 1);
    bool         packed = !expand_in(expand, KEY);
    Extent       width = query->dim[2];
    GroupedQuery g = {.expand = expand, .heads = heads, .kv_heads = kv_heads, .dtype = DTYPE_F32};
    Value       *out;

    if (!extent_is_const(width))
        return diag_unsupported(expand->diag, expand->node->loc, "found a run-time head size; make it constant");
    g.size = width.max / (packed ? heads + 2 * kv_heads : heads);
    split(&g);
    find_lengths(&g);
    if (node_int(expand->node, "do_rotary", 0))
        rotate(&g);
    g.key = append(&g, PAST_KEY, g.key, 1);
    g.value = append(&g, PAST_VALUE, g.value, 2);
    out = attend(&g);
    out = expand_join_heads(expand, out, extent_const(heads * g.size), heads, heads);
    expand_give(expand, 0, expand_cast(expand, out, query->dtype));
    return 0;
}
