/* msft_heads_infer.c - types of com.microsoft's MultiHeadAttention, Attention and QAttention. */
#include "infer/infer.h"
#include "ops/rules.h"

typedef struct Shapes {
    Extent  batch, query, fresh, past; /* lengths: of queries, of new keys, of the cache before */
    int64_t heads, size, v_size;
} Shapes;

/* `heads` divides the constant extent of rows. */
static int part_rows(Infer *infer, const Node *node, Extent rows, int64_t heads, int64_t *size)
{
    if (!extent_is_const(rows))
        return diag_unsupported(infer->diag, node->loc, "found a run-time head size; make it constant");
    if (heads < 1 || rows.max < heads || rows.max % heads)
        return diag_error(infer->diag, node->loc, "found rows of %lld for %lld heads, wanted a multiple",
                          (long long)rows.max, (long long)heads);
    *size = rows.max / heads;
    return 0;
}

/* ------------------------------------------------------------------------------------------------ masks and addends */

static int check_mask(Infer *infer, const Node *node, int input, const Shapes *s, Extent all)
{
    const Type *mask = infer_in(node, input);

    if (!mask)
        return 0;
    if (infer_need(infer, node, input, "I", 1, 4) < 0)
        return -1;
    if (mask->rank == 4)
        return diag_unsupported(infer->diag, node->loc,
                                "found a mask of rank 4, which ONNX Runtime's CPU kernels refuse; "
                                "export one of rank 2 or 3");
    if (mask->rank == 1) {
        if (extent_same(mask->dim[0], s->batch) ||
            (extent_is_const(mask->dim[0]) && extent_is_const(s->batch) &&
             (mask->dim[0].max == 2 * s->batch.max || mask->dim[0].max == 3 * s->batch.max + 2)))
            return 0;
        return infer_need_equal(infer, node, mask->dim[0], s->batch, "batch and the mask of lengths");
    }
    if (mask->rank == 2 && extent_is(mask->dim[1], 1))
        return 0;
    if (infer_need_equal(infer, node, mask->dim[0], s->batch, "batches of the mask") < 0 ||
        (mask->rank == 3 && infer_need_equal(infer, node, mask->dim[1], s->query, "queries and rows of the mask") < 0))
        return -1;
    return infer_need_equal(infer, node, mask->dim[mask->rank - 1], all,
                            "keys, those of the cache counted, and columns of the mask");
}

static int one_or(Infer *infer, const Node *node, int input, int axis, Extent wanted)
{
    const Type *type = infer_in(node, input);

    return extent_is(type->dim[axis], 1)
               ? 0
               : infer_need_equal(infer, node, type->dim[axis], wanted, "extents of attention_bias");
}

static int check_addend(Infer *infer, const Node *node, int input, const Shapes *s, Extent all)
{
    if (!infer_has(node, input))
        return 0;
    if (infer_need(infer, node, input, "FL", 4, 4) < 0 || one_or(infer, node, input, 0, s->batch) < 0 ||
        one_or(infer, node, input, 1, extent_const(s->heads)) < 0 ||
        infer_need_equal(infer, node, node->in[input]->type.dim[2], s->query, "queries and rows of attention_bias") < 0)
        return -1;
    return infer_need_equal(infer, node, node->in[input]->type.dim[3], all, "keys and columns of attention_bias");
}

/* ----------------------------------------------------------------------------------------------- MultiHeadAttention */

/* Keys and values packed behind the heads: [batch][length][heads][parts][size]. */
static int packed(Infer *infer, const Node *node, int input, int64_t parts, Shapes *s)
{
    const Extent *dim = node->in[input]->type.dim;

    if (infer_need_equal(infer, node, dim[2], extent_const(s->heads), "heads") < 0 ||
        infer_need_equal(infer, node, dim[3], extent_const(parts), "packed parts") < 0)
        return -1;
    return part_rows(infer, node, dim[4], 1, input ? &s->v_size : &s->size);
}

/* Keys (input 1) or values (input 2) as rows, or by heads. */
static int keys(Infer *infer, const Node *node, int input, Shapes *s, int64_t *size)
{
    const Type *type = infer_in(node, input);
    int         axis = type->rank == 4 ? 2 : 1;

    if (infer_need_equal(infer, node, type->dim[0], s->batch, "batches") < 0 ||
        (type->rank == 4 && infer_need_equal(infer, node, type->dim[1], extent_const(s->heads), "heads") < 0) ||
        (input == 2 && infer_need_equal(infer, node, type->dim[axis], s->fresh, "lengths of key and value") < 0))
        return -1;
    s->fresh = type->dim[axis];
    return part_rows(infer, node, type->dim[type->rank - 1], type->rank == 4 ? 1 : s->heads, size);
}

static int operands(Infer *infer, const Node *node, Shapes *s)
{
    const Type *query = infer_in(node, 0);
    int64_t     key_size = 0;

    s->batch = query->dim[0];
    s->query = s->fresh = query->dim[1];
    if (!infer_has(node, 1)) {
        if (query->rank != 5 || infer_has(node, 2))
            return diag_error(infer->diag, node->loc, "found no key, wanted queries, keys and values packed in rank 5");
        if (packed(infer, node, 0, 3, s) < 0)
            return -1;
        s->v_size = s->size;
        return 0;
    }
    if (infer_need_rank(infer, node, 0, 3, 3) < 0 || part_rows(infer, node, query->dim[2], s->heads, &s->size) < 0)
        return -1;
    if (infer_need(infer, node, 1, "FL", 3, 5) < 0 || infer_need_same_dtype(infer, node, 0, 1) < 0)
        return -1;
    if (node->in[1]->type.rank == 5) {
        s->fresh = node->in[1]->type.dim[1];
        if (infer_has(node, 2) || infer_has(node, 3))
            return diag_error(infer->diag, node->loc,
                              "found keys and values packed in rank 5 with a value or bias besides");
        if (packed(infer, node, 1, 2, s) < 0)
            return -1;
        return infer_need_equal(infer, node, extent_const(s->v_size), extent_const(s->size),
                                "head sizes of query and key");
    }
    if (infer_need_rank(infer, node, 2, node->in[1]->type.rank, node->in[1]->type.rank) < 0 ||
        infer_need_same_dtype(infer, node, 0, 2) < 0 || keys(infer, node, 1, s, &key_size) < 0 ||
        keys(infer, node, 2, s, &s->v_size) < 0)
        return -1;
    return infer_need_equal(infer, node, extent_const(key_size), extent_const(s->size), "head sizes of query and key");
}

static int past_of(Infer *infer, const Node *node, Shapes *s)
{
    s->past = extent_const(0);
    if (infer_has(node, 6) != infer_has(node, 7))
        return diag_error(infer->diag, node->loc, "found one of past_key and past_value, wanted both or none");
    if (!infer_has(node, 6))
        return 0;
    for (int i = 0; i < 2; i++) {
        const Type *past = infer_in(node, 6 + i);
        if (infer_need(infer, node, 6 + i, "FL", 4, 4) < 0 || infer_need_same_dtype(infer, node, 0, 6 + i) < 0 ||
            infer_need_equal(infer, node, past->dim[0], s->batch, "batches of the cache") < 0 ||
            infer_need_equal(infer, node, past->dim[1], extent_const(s->heads), "heads of the cache") < 0 ||
            infer_need_equal(infer, node, past->dim[3], extent_const(i ? s->v_size : s->size),
                             "head sizes of the cache") < 0)
            return -1;
    }
    s->past = node->in[6]->type.dim[2];
    return infer_need_equal(infer, node, node->in[7]->type.dim[2], s->past, "lengths of both caches");
}

int infer_multi_head_attention(Infer *infer, Node *node)
{
    Shapes s = {.heads = node_int(node, "num_heads", 0)};
    Extent all;
    DType  dtype;

    if (infer_has(node, 8) || infer_has(node, 9))
        return diag_unsupported(infer->diag, node->loc,
                                "found past_sequence_length or cache_indirection, for caches shared between runs and "
                                "beams; export caches that grow (past_key to present_key)");
    if (s.heads < 1)
        return diag_error(infer->diag, node->loc, "attribute 'num_heads' is %lld, wanted 1 or more",
                          (long long)s.heads);
    if (infer_need(infer, node, 0, "FL", 3, 5) < 0 || operands(infer, node, &s) < 0 || past_of(infer, node, &s) < 0 ||
        infer_need_vector(infer, node, 3, extent_const(s.heads * (2 * s.size + s.v_size))) < 0)
        return -1;
    all = infer_add(infer, s.past, s.fresh);
    dtype = node->in[0]->type.dtype;
    if (check_mask(infer, node, 4, &s, all) < 0 || check_addend(infer, node, 5, &s, all) < 0 ||
        infer_set_tensor(infer, node, 0, dtype, 3, (Extent[]){s.batch, s.query, extent_const(s.heads * s.v_size)}) <
            0 ||
        infer_set_tensor(infer, node, 1, dtype, 4,
                         (Extent[]){s.batch, extent_const(s.heads), all, extent_const(s.size)}) < 0 ||
        infer_set_tensor(infer, node, 2, dtype, 4,
                         (Extent[]){s.batch, extent_const(s.heads), all, extent_const(s.v_size)}) < 0)
        return -1;
    return infer_set_tensor(infer, node, 3, dtype, 4, (Extent[]){s.batch, extent_const(s.heads), s.query, all});
}

/* -------------------------------------------------------------------------------------------- Attention, QAttention */

/* Columns of the weights for queries, keys and values. */
static int widths(Infer *infer, const Node *node, int64_t *width)
{
    const Type    *weights = infer_in(node, 1);
    int            count = 0;
    const int64_t *sizes = node_ints(node, "qkv_hidden_sizes", &count);

    if (!extent_is_const(weights->dim[1]))
        return diag_unsupported(infer->diag, node->loc, "found weights of run-time extents; make them constant");
    if (sizes && count != 3)
        return diag_error(infer->diag, node->loc, "attribute 'qkv_hidden_sizes' has %d elements, wanted 3", count);
    for (int i = 0; i < 3; i++)
        width[i] = sizes && count ? sizes[i] : weights->dim[1].max / 3;
    if (width[0] < 1 || width[2] < 1 || width[0] != width[1] || width[0] > weights->dim[1].max ||
        width[2] > weights->dim[1].max || width[0] + width[1] + width[2] != weights->dim[1].max)
        return diag_error(infer->diag, node->loc,
                          "found weights of %lld columns, wanted those of queries, keys and values",
                          (long long)weights->dim[1].max);
    return 0;
}

/* Inputs 0 and 1 are rows and weights; mask, past and what is added to the scores by index, or -1. Results are `dtype`.
 */
static int side_by_side(Infer *infer, Node *node, int mask, int past, int addend, DType dtype)
{
    Shapes  s = {.heads = node_int(node, "num_heads", 0)};
    int64_t width[3];
    Extent  all;

    if (infer_need_rank(infer, node, 0, 3, 3) < 0 || infer_need_rank(infer, node, 1, 2, 2) < 0 ||
        widths(infer, node, width) < 0 || part_rows(infer, node, extent_const(width[0]), s.heads, &s.size) < 0 ||
        part_rows(infer, node, extent_const(width[2]), s.heads, &s.v_size) < 0 ||
        infer_need_equal(infer, node, node->in[0]->type.dim[2], node->in[1]->type.dim[0],
                         "the last extent of the input and rows of the weights") < 0 ||
        infer_need_vector(infer, node, 2, node->in[1]->type.dim[1]) < 0)
        return -1;
    s.batch = node->in[0]->type.dim[0];
    s.query = node->in[0]->type.dim[1];
    s.past = extent_const(0);
    if ((infer_has(node, past) || infer_wants(node, 1)) && s.size != s.v_size)
        return diag_unsupported(infer->diag, node->loc,
                                "found a cache of keys and values of different sizes; export MultiHeadAttention");
    if (infer_has(node, past)) {
        const Extent *dim = node->in[past]->type.dim;
        if (infer_need(infer, node, past, "FL", 5, 5) < 0 ||
            infer_need_equal(infer, node, dim[0], extent_const(2), "keys and values") < 0 ||
            infer_need_equal(infer, node, dim[1], s.batch, "batches of the cache") < 0 ||
            infer_need_equal(infer, node, dim[2], extent_const(s.heads), "heads of the cache") < 0 ||
            infer_need_equal(infer, node, dim[4], extent_const(s.size), "head sizes of the cache") < 0)
            return -1;
        s.past = dim[3];
    }
    all = infer_add(infer, s.past, s.query);
    if (check_mask(infer, node, mask, &s, all) < 0 || (addend >= 0 && check_addend(infer, node, addend, &s, all) < 0) ||
        infer_set_tensor(infer, node, 0, dtype, 3, (Extent[]){s.batch, s.query, extent_const(width[2])}) < 0)
        return -1;
    return infer_set_tensor(infer, node, 1, dtype, 5,
                            (Extent[]){extent_const(2), s.batch, extent_const(s.heads), all, extent_const(s.size)});
}

static int refuse_forms(Infer *infer, const Node *node)
{
    if (node_int(node, "do_rotary", 0))
        return diag_unsupported(infer->diag, node->loc,
                                "found do_rotary, which ONNX Runtime's CPU kernels refuse; export MultiHeadAttention "
                                "behind RotaryEmbedding");
    if (node_int(node, "past_present_share_buffer", 0))
        return diag_unsupported(infer->diag, node->loc,
                                "found past_present_share_buffer; export caches that grow (past to present)");
    return 0;
}

int infer_msft_attention(Infer *infer, Node *node)
{
    if (infer_has(node, 6))
        return diag_unsupported(infer->diag, node->loc,
                                "found past_sequence_length; export caches that grow (past to present)");
    if (refuse_forms(infer, node) < 0 || infer_need_dtype(infer, node, 0, "FL") < 0 ||
        infer_need_same_dtype(infer, node, 0, 1) < 0)
        return -1;
    return side_by_side(infer, node, 3, 4, 5, node->in[0]->type.dtype);
}

int infer_qattention(Infer *infer, Node *node)
{
    if (refuse_forms(infer, node) < 0 || infer_need_dtype(infer, node, 0, "IU") < 0 ||
        infer_need_dtype(infer, node, 1, "IU") < 0 || infer_need_scalar(infer, node, 3) < 0)
        return -1;
    if (infer_need_exactly(infer, node, 3, DTYPE_F32) < 0 || infer_need_exactly(infer, node, 4, DTYPE_F32) < 0)
        return -1;
    return side_by_side(infer, node, 5, 8, -1, DTYPE_F32);
}
