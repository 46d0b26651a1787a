/* expand_msft_attention.c - com.microsoft's MultiHeadAttention, Attention and QAttention. The new rows are appended to
 * whole caches, and masks are added to the scores. */
#include "ops/expand/expand_attention.h"
#include "ops/expand/expand_rules.h"

#include <math.h>

typedef struct Heads {
    Expand *expand;
    int64_t heads;
    Value  *query, *key, *value; /* [batch][heads][length][size], float */
    Value  *mask, *addend;       /* inputs, or NULL */
    Value  *past;                /* int64 [1]: keys before the first query */
    bool    apart;               /* queries and new keys may differ in number */
} Heads;

static Value *as_float(Expand *expand, Value *value)
{
    return value ? expand_cast(expand, value, DTYPE_F32) : NULL;
}

/* Gives output `index` in the type of input 0 if that is a half, else as it is. */
static void give_as_input(Expand *expand, int index, Value *value)
{
    DType dtype = expand_in(expand, 0)->type.dtype;

    if (expand_wants(expand, index))
        expand_give(expand, index,
                    dtype == DTYPE_F16 || dtype == DTYPE_BF16 ? expand_cast(expand, value, dtype) : value);
}

/* Elements [first, first + count) of the last axis; NULL for NULL. */
static Value *columns(Expand *expand, Value *value, int64_t first, int64_t count)
{
    return value ? expand_slice(expand, value, -1, first, first + count, 1) : NULL;
}

static Value *plus(Expand *expand, Value *value, Value *bias)
{
    return bias ? expand2(expand, OP_onnx_Add, value, bias) : value;
}

/* ------------------------------------------------------------------------------------------------------------ masks */

/* Counts 0, 1, ... along axis 2 of `like`: [length], or [length][1] if `column`. */
static Value *count_rows(Expand *expand, Value *like, bool column)
{
    static const int64_t shape[] = {-1, 1};
    Value               *count = expand_range(expand, expand_squeeze(expand, expand_extent(expand, like, 2), 0));

    return column ? expand_reshape(expand, count, shape, 2) : count;
}

/* Elements [first * batch, (first + 1) * batch) of the mask, a vector, as int64 [batch][1][1][1]. */
static Value *part_of_batches(Heads *h, int64_t first)
{
    static const int64_t shape[] = {-1, 1, 1, 1};
    Expand              *expand = h->expand;
    Value               *batch = expand_extent(expand, h->query, 0),
          *in[4] = {expand_cast(expand, h->mask, DTYPE_I64), NULL, NULL, NULL};

    in[1] = expand2(expand, OP_onnx_Mul, batch, make_int(expand->graph, first));
    in[2] = expand2(expand, OP_onnx_Add, in[1], batch);
    in[3] = make_int(expand->graph, 0);
    return expand_reshape(expand, expand_make(expand, OP_onnx_Slice, 4, in), shape, 4);
}

/* Is the mask a vector twice as long as the batch? Then its second half has the first key of each sequence, its first
 * half the end. */
static bool has_starts(const Heads *h)
{
    Extent batch = expand_in(h->expand, 0)->type.dim[0], count = h->mask->type.dim[0];

    return extent_is_const(batch) && extent_is_const(count) && count.max == 2 * batch.max;
}

/* The keys that count, broadcast to the scores; NULL: all of them. A mask of one column is a placeholder that exporters
 * insert. */
static Value *counted(Heads *h)
{
    Expand *expand = h->expand;
    Value  *mask = h->mask, *key, *seen;

    if (!mask || (expand_rank(mask) == 2 && extent_is(mask->type.dim[1], 1)))
        return NULL;
    if (expand_rank(mask) > 1) {
        mask = expand_unsqueeze(expand, mask, 1);
        mask = expand_rank(h->mask) == 2 ? expand_unsqueeze(expand, mask, 1) : mask;
        return expand2(expand, OP_onnx_Greater, mask,
                       expand_cast(expand, make_scalar(expand->graph, 0), h->mask->type.dtype));
    }
    key = count_rows(expand, h->key, false);
    seen = expand2(expand, OP_onnx_Less, key, part_of_batches(h, 0));
    if (!has_starts(h))
        return seen;
    return expand2(expand, OP_onnx_And, seen, expand2(expand, OP_onnx_GreaterOrEqual, key, part_of_batches(h, 1)));
}

static Value *masked(Heads *h, Value *scores)
{
    Expand *expand = h->expand;
    Value  *seen = counted(h), *filter;

    if (h->addend)
        scores = expand2(expand, OP_onnx_Add, scores, as_float(expand, h->addend));
    if (!seen)
        return scores;
    filter = expand_number(expand, (double)node_float(expand->node, "mask_filter_value", -10000.0f), DTYPE_F32);
    return expand2(expand, OP_onnx_Add, scores,
                   expand3(expand, OP_onnx_Where, seen, expand_number(expand, 0, DTYPE_F32), filter));
}

/* Hides keys behind the query: a query sees keys up to query + past. The last query sees all keys, however many there
 * are. */
static Value *causal(Heads *h, Value *scores)
{
    Expand *expand = h->expand;
    Value  *at, *seen, *row, *last;

    if (!node_int(expand->node, "unidirectional", 0))
        return scores;
    row = count_rows(expand, h->query, true);
    at = expand2(expand, OP_onnx_Add, row, h->past);
    seen = expand2(expand, OP_onnx_LessOrEqual, count_rows(expand, h->key, false), at);
    if (h->apart) {
        last = expand_extent(expand, h->query, 2);
        last = expand2(expand, OP_onnx_Sub, last, make_int(expand->graph, 1));
        seen = expand2(expand, OP_onnx_Or, seen, expand2(expand, OP_onnx_GreaterOrEqual, row, last));
    }
    return expand3(expand, OP_onnx_Where, seen, scores, expand_number(expand, -(double)INFINITY, DTYPE_F32));
}

/* --------------------------------------------------------------------------------------------------------- the core */

/* The result, [batch][length][heads * v_size]. The masked scores become output `scores_output`, unless that is
 * negative. */
static Value *attend(Heads *h, int64_t size, int64_t v_size, int scores_output)
{
    static const int64_t swap[] = {0, 1, 3, 2};
    Expand              *expand = h->expand;
    double               scale = (double)node_float(expand->node, "scale", 0.0f);
    Value               *scores, *soft;

    scale = scale == 0.0 ? 1.0 / sqrt((double)size) : scale;
    scores = expand2(expand, OP_onnx_Mul, h->query, expand_number(expand, scale, DTYPE_F32));
    scores = expand2(expand, OP_onnx_MatMul, scores, expand_transpose(expand, h->key, swap, 4));
    scores = causal(h, masked(h, scores));
    if (scores_output >= 0)
        give_as_input(expand, scores_output, scores);
    soft = expand1(expand, OP_onnx_Softmax, scores);
    node_set_int(expand->last, "axis", -1);
    return expand_join_heads(expand, expand2(expand, OP_onnx_MatMul, soft, h->value), extent_const(h->heads * v_size),
                             h->heads, h->heads);
}

/* Appends the new rows to the cache. */
static Value *with_past(Expand *expand, Value *past, Value *now)
{
    return past ? expand_concat(expand, as_float(expand, past), now, 2) : now;
}

static Value *rows_of(Expand *expand, Value *past, int64_t axis)
{
    return past ? expand_extent(expand, past, axis) : make_int(expand->graph, 0);
}

/* ----------------------------------------------------------------------------------------------- MultiHeadAttention */

enum { QUERY, KEY, VALUE, BIAS, MASK, ADDEND, PAST_KEY, PAST_VALUE };

/* Part `index` of [batch][length][heads][parts][size], with the bias added, as [batch][heads][length][size]. */
static Value *unpacked(Expand *expand, Value *value, int64_t index, Value *bias, int64_t heads, int64_t size)
{
    static const int64_t order[] = {0, 2, 1, 3};
    const int64_t        shape[] = {heads, size};

    value = expand_squeeze(expand, expand_slice(expand, value, 3, index, index + 1, 1), 3);
    value = plus(expand, value, bias ? expand_reshape(expand, bias, shape, 2) : NULL);
    return expand_transpose(expand, value, order, 4);
}

static Value *by_heads(Heads *h, Value *value, Value *bias, int64_t width)
{
    return expand_split_heads(h->expand, plus(h->expand, value, bias), extent_const(width), h->heads);
}

static void split(Heads *h, int64_t size, int64_t v_size)
{
    Expand *expand = h->expand;
    int64_t n = h->heads, width = n * size, v_width = n * v_size;
    Value  *query = as_float(expand, expand_in(expand, QUERY)), *key = as_float(expand, expand_in(expand, KEY));
    Value  *value = as_float(expand, expand_in(expand, VALUE)), *bias = as_float(expand, expand_in(expand, BIAS));
    Value  *add[3];

    for (int i = 0; i < 3; i++)
        add[i] = columns(expand, bias, i * width, i < 2 ? width : v_width);
    if (!key) {
        h->query = unpacked(expand, query, 0, add[0], n, size);
        h->key = unpacked(expand, query, 1, add[1], n, size);
        h->value = unpacked(expand, query, 2, add[2], n, size);
        return;
    }
    h->query = by_heads(h, query, add[0], width);
    if (expand_rank(expand_in(expand, KEY)) == 5) {
        h->key = unpacked(expand, key, 0, NULL, n, size);
        h->value = unpacked(expand, key, 1, NULL, n, size);
        return;
    }
    h->key = expand_rank(expand_in(expand, KEY)) == 4 ? key : by_heads(h, key, add[1], width);
    h->value = expand_rank(expand_in(expand, VALUE)) == 4 ? value : by_heads(h, value, add[2], v_width);
}

static int64_t last_extent(Expand *expand, int index)
{
    const Type *type = &expand_in(expand, index)->type;

    return type->dim[type->rank - 1].max;
}

int expand_multi_head_attention(Expand *expand)
{
    Heads   h = {.expand = expand, .heads = node_int(expand->node, "num_heads", 1)};
    Value  *key = expand_in(expand, KEY), *value = expand_in(expand, VALUE);
    int64_t size = last_extent(expand, QUERY) / (expand_rank(expand_in(expand, QUERY)) == 3 ? h.heads : 1),
            v_size = size;

    if (value)
        v_size = last_extent(expand, VALUE) / (expand_rank(value) == 3 ? h.heads : 1);
    h.mask = expand_in(expand, MASK);
    h.addend = expand_in(expand, ADDEND);
    h.apart = key && !extent_same(key->type.dim[expand_rank(key) == 4 ? 2 : 1], expand_in(expand, QUERY)->type.dim[1]);
    h.past = rows_of(expand, expand_in(expand, PAST_KEY), 2);
    split(&h, size, v_size);
    h.key = with_past(expand, expand_in(expand, PAST_KEY), h.key);
    h.value = with_past(expand, expand_in(expand, PAST_VALUE), h.value);
    give_as_input(expand, 1, h.key);
    give_as_input(expand, 2, h.value);
    give_as_input(expand, 0, attend(&h, size, v_size, 3));
    return 0;
}

/* -------------------------------------------------------------------------------------------- Attention, QAttention */

/* Part `index`, 0 or 1, of [2][batch][heads][length][size]: the past keys or values. */
static Value *half_of(Expand *expand, Value *past, int64_t index)
{
    return past ? expand_squeeze(expand, expand_slice(expand, past, 0, index, index + 1, 1), 0) : NULL;
}

/* Attention on queries, keys and values that are side by side in `all`, `width` columns of each. mask, past: inputs by
 * index. */
static int attend_side_by_side(Expand *expand, Value *all, const int64_t *width, int mask, int past, Value *addend)
{
    Heads  h = {.expand = expand, .heads = node_int(expand->node, "num_heads", 1)};
    Value *cache = as_float(expand, expand_in(expand, past)), *two;

    h.mask = expand_in(expand, mask);
    h.addend = addend;
    h.past = rows_of(expand, expand_in(expand, past), 3);
    h.query = by_heads(&h, columns(expand, all, 0, width[0]), NULL, width[0]);
    h.key = by_heads(&h, columns(expand, all, width[0], width[1]), NULL, width[1]);
    h.value = by_heads(&h, columns(expand, all, width[0] + width[1], width[2]), NULL, width[2]);
    h.key = with_past(expand, half_of(expand, cache, 0), h.key);
    h.value = with_past(expand, half_of(expand, cache, 1), h.value);
    if (expand_wants(expand, 1)) {
        two = expand_unsqueeze(expand, h.key, 0);
        two = expand_concat(expand, two, expand_unsqueeze(expand, h.value, 0), 0);
        give_as_input(expand, 1, two);
    }
    give_as_input(expand, 0, attend(&h, width[0] / h.heads, width[2] / h.heads, -1));
    return 0;
}

/* Inputs: rows, weights, bias, mask, past, addend. */
int expand_msft_attention(Expand *expand)
{
    int            count;
    const int64_t *sizes = node_ints(expand->node, "qkv_hidden_sizes", &count);
    int64_t        third = expand_in(expand, 1)->type.dim[1].max / 3, width[] = {third, third, third};
    Value         *all = as_float(expand, expand_in(expand, 0));

    for (int i = 0; sizes && i < 3 && i < count; i++)
        width[i] = sizes[i];
    all = expand2(expand, OP_onnx_MatMul, all, as_float(expand, expand_in(expand, 1)));
    return attend_side_by_side(expand, plus(expand, all, as_float(expand, expand_in(expand, 2))), width, 3, 4,
                               expand_in(expand, 5));
}

/* Inputs: rows and weights as integers, bias, their scales, mask, their zero points, past. */
int expand_qattention(Expand *expand)
{
    Value *in[4] = {expand_in(expand, 0), expand_in(expand, 1), expand_in(expand, 6), expand_in(expand, 7)}, *all,
          *scale;
    int64_t       third = expand_in(expand, 1)->type.dim[1].max / 3;
    const int64_t width[] = {third, third, third};

    all = as_float(expand, expand_make(expand, OP_onnx_MatMulInteger, 4, in));
    scale = as_float(expand, expand_in(expand, 3));
    scale = expand2(expand, OP_onnx_Mul, scale, as_float(expand, expand_in(expand, 4)));
    all = expand2(expand, OP_onnx_Mul, all, scale);
    return attend_side_by_side(expand, plus(expand, all, as_float(expand, expand_in(expand, 2))), width, 5, 8, NULL);
}
