/* expand_rotary.c - rotary position embeddings, ONNX's and com.microsoft's. */
#include "ops/expand/expand_attention.h"
#include "ops/expand/expand_rules.h"

static Value *interleave(Expand *expand, Value *real, Value *imaginary, int64_t size)
{
    const int64_t shape[] = {0, 0, 0, size};

    real = expand_unsqueeze(expand, real, 4);
    imaginary = expand_unsqueeze(expand, imaginary, 4);
    return expand_reshape(expand, expand_concat(expand, real, imaginary, 4), shape, 4);
}

/* a x + b y, or a x - b y */
static Value *rotated(Expand *expand, OpKind op, Value *a, Value *x, Value *b, Value *y)
{
    Value *first = expand2(expand, OP_onnx_Mul, a, x);

    return expand2(expand, op, first, expand2(expand, OP_onnx_Mul, b, y));
}

Value *expand_turned(Expand *expand, Value *x, Value *cosine, Value *sine, int64_t half, int64_t size, bool interleaved)
{
    Value *one, *two, *real, *imaginary, *out;

    one = interleaved ? expand_slice(expand, x, 3, 0, 2 * half, 2) : expand_slice(expand, x, 3, 0, half, 1);
    two = interleaved ? expand_slice(expand, x, 3, 1, 2 * half, 2) : expand_slice(expand, x, 3, half, 2 * half, 1);
    real = rotated(expand, OP_onnx_Sub, cosine, one, sine, two);
    imaginary = rotated(expand, OP_onnx_Add, sine, one, cosine, two);
    out = interleaved ? interleave(expand, real, imaginary, 2 * half) : expand_concat(expand, real, imaginary, 3);
    return 2 * half < size ? expand_concat(expand, out, expand_slice(expand, x, 3, 2 * half, size, 1), 3) : out;
}

/* Cosines or sines, [batch][sequence][half], with an axis of 1 inserted for the heads. */
static Value *angles(Expand *expand, Value *cache, Value *position, bool flat)
{
    return expand_unsqueeze(expand, position ? expand_gather(expand, cache, position, 0) : cache, flat ? 2 : 1);
}

/* Gives the rotated input. It is [batch][sequence][heads * size] (flat) or [batch][heads][sequence][size]. position
 * NULL: the caches have an entry for each place of the sequence instead of one for each position. */
static int give_turned(Expand *expand, Value *cosine, Value *sine, Value *position, int64_t heads)
{
    Value        *x = expand_in(expand, 0), *all, *out;
    bool          flat = expand_rank(x) == 3;
    const int64_t shape[] = {0, 0, heads, -1};
    Extent        half = cosine->type.dim[cosine->type.rank - 1], last = x->type.dim[flat ? 2 : 3];

    if (!extent_is_const(half) || !extent_is_const(last))
        return diag_unsupported(expand->diag, expand->node->loc, "found a run-time head size; make it constant");
    all = flat ? expand_reshape(expand, x, shape, 4) : x;
    cosine = angles(expand, cosine, position, flat);
    sine = angles(expand, sine, position, flat);
    out = expand_turned(expand, all, cosine, sine, half.max, last.max / (flat && heads > 0 ? heads : 1),
                        node_int(expand->node, "interleaved", 0) != 0);
    expand_give(expand, 0, flat ? expand_reshape_like(expand, out, x) : out);
    return 0;
}

int expand_rotary(Expand *expand)
{
    return give_turned(expand, expand_in(expand, 1), expand_in(expand, 2), expand_in(expand, 3),
                       node_int(expand->node, "num_heads", 1));
}

/* The positions: [batch][sequence], or [1][sequence] counted from one number, which is the first position of every
 * sequence. */
static Value *msft_positions(Expand *expand)
{
    static const int64_t row[] = {1, -1};
    Value               *x = expand_in(expand, 0), *ids = expand_in(expand, 1), *count;

    if (expand_rank(ids) == 2)
        return ids;
    count = expand_squeeze(expand, expand_extent(expand, x, expand_rank(x) == 3 ? 1 : 2), 0);
    return expand_reshape(expand, expand2(expand, OP_onnx_Add, expand_range(expand, count), ids), row, 2);
}

/* com.microsoft's form. Its attributes `scale` and `is_packed_batching` have no effect in ONNX Runtime. Without
 * rotary_embedding_dim, the caches have half the size of a head, which gives the number of heads. */
int expand_msft_rotary(Expand *expand)
{
    Value  *x = expand_in(expand, 0), *cosine = expand_in(expand, 2);
    int64_t heads = node_int(expand->node, "num_heads", 0), half = cosine->type.dim[1].max;

    if (expand_rank(x) == 3 && !node_int(expand->node, "rotary_embedding_dim", 0))
        heads = half > 0 ? x->type.dim[2].max / (2 * half) : 1;
    return give_turned(expand, cosine, expand_in(expand, 3), msft_positions(expand), heads);
}
