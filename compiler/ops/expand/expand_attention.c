/* expand_attention.c - ONNX's Attention with masks and caches, FlexAttention, SwiGLU. */
#include "ops/expand/expand_attention.h"
#include "ops/expand/expand_rules.h"

#include <math.h>

typedef struct Attention {
    Expand *expand;
    Value  *scores;  /* [batch][head][query][key] */
    Value  *allowed; /* bool, broadcast to the scores: keys that count; NULL: all do */
    Value  *query, *key;
    Value  *offset; /* int64, broadcast to the scores: keys before the first query */
    DType   dtype;  /* of the computation */
} Attention;

/* ------------------------------------------------------------------------------------------------------------ heads */

/* Reshapes to a shape in which 0 means an extent of 0, not a copied extent. */
static Value *reshape_exactly(Expand *expand, Value *value, Value *shape)
{
    Value *out = expand2(expand, OP_onnx_Reshape, value, shape);

    node_set_int(expand->last, "allowzero", 1);
    return out;
}

/* Splits the axis of heads into two: [batch][head][...][...] to [batch][kv_heads][times][...][...]. */
static Value *part_heads(Expand *expand, Value *value, int64_t kv_heads, int64_t times)
{
    Value *shape[4], *all = expand1(expand, OP_onnx_Shape, value);

    shape[0] = expand_slice(expand, all, 0, 0, 1, 1);
    shape[1] = make_int(expand->graph, kv_heads);
    shape[2] = make_int(expand->graph, times);
    shape[3] = expand_slice(expand, all, 0, 2, 4, 1);
    shape[0] = expand_make(expand, OP_onnx_Concat, 4, shape);
    node_set_int(expand->last, "axis", 0);
    return reshape_exactly(expand, value, shape[0]);
}

/* Joins the two axes of heads again; the inverse of part_heads. */
static Value *merge_heads(Expand *expand, Value *value, int64_t heads)
{
    Value *shape[3], *all = expand1(expand, OP_onnx_Shape, value);

    shape[0] = expand_slice(expand, all, 0, 0, 1, 1);
    shape[1] = make_int(expand->graph, heads);
    shape[2] = expand_slice(expand, all, 0, 3, 5, 1);
    shape[0] = expand_make(expand, OP_onnx_Concat, 3, shape);
    node_set_int(expand->last, "axis", 0);
    return reshape_exactly(expand, value, shape[0]);
}

Value *expand_grouped_product(Expand *expand, Value *a, Value *b, int64_t heads, int64_t kv_heads)
{
    if (heads == kv_heads)
        return expand2(expand, OP_onnx_MatMul, a, b);
    a = part_heads(expand, a, kv_heads, heads / kv_heads);
    return merge_heads(expand, expand2(expand, OP_onnx_MatMul, a, expand_unsqueeze(expand, b, 2)), heads);
}

/* ------------------------------------------------------------------------------------------------------------ masks */

static void allow(Attention *attention, Value *condition)
{
    attention->allowed =
        attention->allowed ? expand2(attention->expand, OP_onnx_And, attention->allowed, condition) : condition;
}

/* Counts 0, 1, ... up to the extent of axis `like_axis` of `like`: along the keys, [keys], or along the queries,
 * [queries][1]. */
static Value *count_along(Attention *attention, Value *like, int64_t like_axis, bool keys)
{
    static const int64_t column[] = {-1, 1};
    Expand              *expand = attention->expand;
    Value               *count = expand_squeeze(expand, expand_extent(expand, like, like_axis), 0);

    count = expand_range(expand, count);
    return keys ? count : expand_reshape(expand, count, column, 2);
}

/* Allows the keys of causal attention, key <= query + offset, and of a window around each query. */
static void mask_by_position(Attention *attention)
{
    Expand *expand = attention->expand;
    int64_t causal = node_int(expand->node, "is_causal", 0), left = node_int(expand->node, "left_window_size", -1);
    int64_t right = node_int(expand->node, "right_window_size", -1);
    Value  *at, *key;

    if (!causal && left < 0 && right < 0)
        return;
    at = expand2(expand, OP_onnx_Add, count_along(attention, attention->query, 2, false), attention->offset);
    key = count_along(attention, attention->key, 2, true);
    if (causal)
        allow(attention, expand2(expand, OP_onnx_LessOrEqual, key, at));
    if (left >= 0)
        allow(attention, expand2(expand, OP_onnx_GreaterOrEqual, key,
                                 expand2(expand, OP_onnx_Sub, at, make_scalar(expand->graph, left))));
    if (right >= 0)
        allow(attention, expand2(expand, OP_onnx_LessOrEqual, key,
                                 expand2(expand, OP_onnx_Add, at, make_scalar(expand->graph, right))));
}

/* Pads a mask that is shorter than the keys with `filler`, so that keys without an entry do not count. `type` is the
 * mask's. */
static Value *lengthen(Attention *attention, Value *mask, const Type *type, Value *filler)
{
    Expand *expand = attention->expand;
    int     axis = type->rank - 1;
    Value  *keys, *missing, *zeros[MAX_RANK * 2], *pads;
    int     count = 0;

    if (axis < 0 || (extent_is_const(type->dim[axis]) && type->dim[axis].max == 1))
        return mask;
    keys = expand_extent(expand, attention->key, 2);
    missing = expand2(expand, OP_onnx_Sub, keys, expand_extent(expand, mask, axis));
    for (int i = 0; i < 2 * axis + 1; i++)
        zeros[count++] = make_int(expand->graph, 0);
    zeros[count++] = missing;
    pads = expand_make(expand, OP_onnx_Concat, count, zeros);
    node_set_int(expand->last, "axis", 0);
    return expand3(expand, OP_onnx_Pad, mask, pads, filler);
}

static Value *minus_infinity(Attention *attention)
{
    return expand_number(attention->expand, -(double)INFINITY, attention->dtype);
}

static void mask_by_input(Attention *attention)
{
    Expand *expand = attention->expand;
    Value  *mask = expand_in(expand, 3), *length = expand_in(expand, 6);

    if (mask) {
        static const uint8_t no = 0;
        const Type          *type = &mask->type;
        if (type->dtype == DTYPE_BOOL) {
            allow(attention, lengthen(attention, mask, type, make_constant(expand->graph, DTYPE_BOOL, 0, 1, &no)));
        } else {
            mask = expand_cast(expand, mask, attention->dtype);
            mask = lengthen(attention, mask, type, minus_infinity(attention));
            attention->scores = expand2(expand, OP_onnx_Add, attention->scores, mask);
        }
    }
    if (length) {
        static const int64_t shape[] = {-1, 1, 1, 1};
        length = expand_reshape(expand, length, shape, 4);
        allow(attention, expand2(expand, OP_onnx_Less, count_along(attention, attention->key, 2, true), length));
    }
}

/* The number of keys before the first query. */
static Value *first_position(Expand *expand, Value *query)
{
    static const int64_t shape[] = {-1, 1, 1, 1};
    Value               *past = expand_in(expand, 4), *length = expand_in(expand, 6);

    if (past)
        return expand_extent(expand, past, 2);
    if (!length)
        return make_int(expand->graph, 0);
    return expand_reshape(expand, expand2(expand, OP_onnx_Sub, length, expand_extent(expand, query, 2)), shape, 4);
}

/* Softmax over the keys. A query that sees no key gets zeros. */
static Value *probabilities(Attention *attention)
{
    Expand *expand = attention->expand;
    DType   precision = (DType)node_int(expand->node, "softmax_precision", attention->dtype);
    Value  *wide, *soft, *none, *most;

    if (precision == DTYPE_F16 || precision == DTYPE_BF16)
        precision = attention->dtype; /* float is at least as precise */
    wide = precision == attention->dtype ? attention->scores : expand_cast(expand, attention->scores, precision);
    soft = expand1(expand, OP_onnx_Softmax, wide);
    node_set_int(expand->last, "axis", -1);
    if (precision != attention->dtype)
        soft = expand_cast(expand, soft, attention->dtype);
    if (!attention->allowed && !expand_in(expand, 3))
        return soft;
    most = expand_reduce(expand, OP_onnx_ReduceMax, attention->scores, 3, 3, 1);
    none = expand2(expand, OP_onnx_Equal, most, minus_infinity(attention));
    return expand3(expand, OP_onnx_Where, none, expand_number(expand, 0, attention->dtype), soft);
}

/* -------------------------------------------------------------------------------------------------------- attention */

static Value *with_past(Expand *expand, Value *past, Value *now, DType dtype)
{
    return past ? expand_concat(expand, expand_cast(expand, past, dtype), now, 2) : now;
}

/* The factor of the query [batch][head][length][size]: the attribute `scale`, else 1 / sqrt(size). */
static Value *scale_of(Expand *expand, Value *query, int64_t heads, DType dtype)
{
    const Attr *scale = node_attr(expand->node, "scale");
    const Type *type = &expand->node->in[0]->type;
    Extent      size = type->rank == 4 ? type->dim[3] : type->dim[2];
    int64_t     constant = type->rank == 4 ? size.max : size.max / heads;

    if (scale && scale->kind == ATTR_FLOAT)
        return expand_number(expand, (double)scale->f, dtype);
    if (extent_is_const(size))
        return expand_number(expand, 1.0 / sqrt((double)(constant > 0 ? constant : 1)), dtype);
    query = expand_cast(expand, expand_extent(expand, query, 3), dtype);
    return expand1(expand, OP_onnx_Reciprocal, expand1(expand, OP_onnx_Sqrt, query));
}

static Value *cap(Expand *expand, Value *scores, DType dtype)
{
    double limit = (double)node_float(expand->node, "softcap", 0.0f);
    Value *number;

    if (!(limit > 0.0))
        return scores;
    number = expand_number(expand, limit, dtype);
    return expand2(expand, OP_onnx_Mul, expand1(expand, OP_onnx_Tanh, expand2(expand, OP_onnx_Div, scores, number)),
                   number);
}

static Value *output_type(Expand *expand, Value *value, int like)
{
    DType dtype = expand_in(expand, like)->type.dtype;

    return dtype == DTYPE_F16 || dtype == DTYPE_BF16 ? expand_cast(expand, value, dtype) : value;
}

/* For inputs of rank 4: is the number of query heads per key head known only at run time? Then reports that. */
static bool heads_unknown(Expand *expand)
{
    Extent query = expand_in(expand, 0)->type.dim[1], key = expand_in(expand, 1)->type.dim[1];

    if ((extent_is_const(query) && extent_is_const(key)) || extent_same(query, key))
        return false;
    diag_unsupported(
        expand->diag, expand->node->loc,
        "found numbers of query and key heads that are known only while running; make them constant, or one extent");
    return true;
}

static Value *heads_of(Expand *expand, int input, Value *value, bool flat, int64_t heads)
{
    return flat ? expand_split_heads(expand, value, expand_in(expand, input)->type.dim[2], heads) : value;
}

int expand_attention(Expand *expand)
{
    static const int64_t swap[] = {0, 1, 3, 2};
    Value  *query = expand_in(expand, 0), *key = expand_in(expand, 1), *value = expand_in(expand, 2), *raw, *soft, *out;
    bool    flat = expand_rank(query) == 3;
    int64_t heads = flat ? node_int(expand->node, "q_num_heads", 1) : query->type.dim[1].max;
    int64_t kv_heads = flat ? node_int(expand->node, "kv_num_heads", 1) : key->type.dim[1].max, mode;
    DType   dtype = query->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    Attention attention = {.expand = expand, .dtype = dtype};

    if (!flat && heads_unknown(expand))
        return -1;
    if (kv_heads < 1 || heads < 1 || heads % kv_heads)
        return diag_error(expand->diag, expand->node->loc,
                          "found %lld query heads and %lld key heads, wanted a multiple", (long long)heads,
                          (long long)kv_heads);
    mode = node_int(expand->node, "qk_matmul_output_mode", 0);
    query = expand_cast(expand, query, dtype);
    key = expand_cast(expand, key, dtype);
    value = expand_cast(expand, value, dtype);
    query = heads_of(expand, 0, query, flat, heads);
    key = with_past(expand, expand_in(expand, 4), heads_of(expand, 1, key, flat, kv_heads), dtype);
    value = with_past(expand, expand_in(expand, 5), heads_of(expand, 2, value, flat, kv_heads), dtype);
    expand_give(expand, 1, output_type(expand, key, 1));
    expand_give(expand, 2, output_type(expand, value, 2));
    attention.query = query;
    attention.key = key;
    attention.offset = first_position(expand, query);

    raw = expand2(expand, OP_onnx_Mul, query, scale_of(expand, query, heads, dtype));
    raw = expand_grouped_product(expand, raw, expand_transpose(expand, key, swap, 4), heads, kv_heads);
    attention.scores = cap(expand, raw, dtype);
    if (mode == 0 || mode == 1)
        expand_give(expand, 3, output_type(expand, mode ? attention.scores : raw, 0));
    mask_by_input(&attention);
    mask_by_position(&attention);
    if (attention.allowed)
        attention.scores =
            expand3(expand, OP_onnx_Where, attention.allowed, attention.scores, minus_infinity(&attention));
    soft = probabilities(&attention);
    if (mode > 1)
        expand_give(expand, 3, output_type(expand, mode == 2 ? attention.scores : soft, 0));
    out = expand_grouped_product(expand, soft, value, heads, kv_heads);
    out = flat ? expand_join_heads(expand, out, expand_in(expand, 2)->type.dim[2], kv_heads, heads) : out;
    expand_give(expand, 0, output_type(expand, out, 0));
    return 0;
}

/* Attention whose scores and probabilities pass through bodies that the model gives. */
int expand_flex_attention(Expand *expand)
{
    static const int64_t swap[] = {0, 1, 3, 2};
    Node                *node = expand->node;
    Value  *query = expand_in(expand, 0), *key = expand_in(expand, 1), *value = expand_in(expand, 2), *scores;
    int64_t heads = query->type.dim[1].max, kv_heads = key->type.dim[1].max;
    DType   dtype = query->type.dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
    DType   precision = (DType)node_int(node, "softmax_precision", dtype);

    if (heads_unknown(expand))
        return -1;
    if (kv_heads < 1 || heads < 1 || heads % kv_heads)
        return diag_error(expand->diag, node->loc, "found %lld query heads and %lld key heads, wanted a multiple",
                          (long long)heads, (long long)kv_heads);
    query = expand_cast(expand, query, dtype);
    key = expand_transpose(expand, expand_cast(expand, key, dtype), swap, 4);
    scores = expand2(expand, OP_onnx_Mul, query, scale_of(expand, query, heads, dtype));
    scores = expand_grouped_product(expand, scores, key, heads, kv_heads);
    scores = expand_body(expand, node->body[0], expand_cast(expand, scores, precision));
    scores = expand1(expand, OP_onnx_Softmax, scores);
    node_set_int(expand->last, "axis", -1);
    scores = expand_body(expand, node->body[1], scores);
    scores = expand1(expand, OP_onnx_Cast, scores);
    node_set_int(expand->last, "to", dtype);
    scores = expand_grouped_product(expand, scores, expand_cast(expand, value, dtype), heads, kv_heads);
    expand_give(expand, 0, output_type(expand, scores, 0));
    node->body[0] = node->body[1] = NULL;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- activation */

int expand_swiglu(Expand *expand)
{
    Value *gate = expand_in(expand, 0);
    Value *scaled = expand2(expand, OP_onnx_Mul, gate,
                            expand_number(expand, (double)node_float(expand->node, "alpha", 1.0f), gate->type.dtype));
    Value *swish = expand2(expand, OP_onnx_Mul, gate, expand1(expand, OP_onnx_Sigmoid, scaled));

    expand_give(expand, 0, expand2(expand, OP_onnx_Mul, swish, expand_in(expand, 1)));
    return 0;
}
