/* msft_attention_infer.c - types of com.microsoft's attention operators. */
#include "infer/infer.h"
#include "ops/rules.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- rotary */

/* Input, position ids [1] or [batch][length], cosines and sines [positions][half a head]. */
static int rotary_inputs(Infer *infer, Node *node)
{
    int64_t     heads = node_int(node, "num_heads", 0), dim = node_int(node, "rotary_embedding_dim", 0);
    const Type *x, *ids;

    if (infer_need(infer, node, 0, "FL", 3, 4) < 0 || infer_need(infer, node, 1, "I", 1, 2) < 0 ||
        infer_need(infer, node, 2, "FL", 2, 2) < 0 || infer_need_same_shape(infer, node, 2, 3) < 0 ||
        infer_need_same_dtype(infer, node, 0, 2) < 0 || infer_need_same_dtype(infer, node, 0, 3) < 0)
        return -1;
    x = infer_in(node, 0);
    ids = infer_in(node, 1);
    if (dim && heads < 1)
        return diag_error(infer->diag, node->loc,
                          "attribute 'num_heads' is missing, wanted with 'rotary_embedding_dim'");
    if (!extent_is_const(x->dim[x->rank - 1]) || !extent_is_const(node->in[2]->type.dim[1]))
        return diag_unsupported(infer->diag, node->loc, "found a run-time head size; make it constant");
    if (ids->rank == 1
            ? infer_need_scalar(infer, node, 1) < 0
            : infer_need_equal(infer, node, ids->dim[0], x->dim[0], "batches of the input and its positions") < 0 ||
                  infer_need_equal(infer, node, ids->dim[1], x->dim[x->rank == 3 ? 1 : 2],
                                   "lengths of the input and its positions") < 0)
        return -1;
    return 0;
}

/* The places that are turned: 2 * half of a head of `size`, as rotary_embedding_dim says if it is given. */
static int check_half(Infer *infer, const Node *node, int64_t half, int64_t size, int64_t dim)
{
    if (half < 1 || 2 * half > size || (dim ? 2 * half != dim : 2 * half != size))
        return diag_error(infer->diag, node->loc, "found caches of %lld angles for heads of %lld, wanted half of %s",
                          (long long)half, (long long)size, dim ? "'rotary_embedding_dim'" : "a head");
    return 0;
}

int infer_msft_rotary(Infer *infer, Node *node)
{
    int64_t     heads = node_int(node, "num_heads", 0), dim = node_int(node, "rotary_embedding_dim", 0), half, size;
    const Type *x;

    if (rotary_inputs(infer, node) < 0)
        return -1;
    x = infer_in(node, 0);
    half = node->in[2]->type.dim[1].max;
    size = x->dim[x->rank - 1].max;
    if (x->rank == 3 && heads < 1)
        heads = half > 0 ? size / (2 * half) : 1;
    if (x->rank == 3 && (heads < 1 || size % heads))
        return diag_error(infer->diag, node->loc, "found rows of %lld for %lld heads, wanted a multiple",
                          (long long)size, (long long)heads);
    if (check_half(infer, node, half, x->rank == 3 ? size / heads : size, dim) < 0)
        return -1;
    return infer_set(infer, node, 0, infer_shaped(x->dtype, x));
}

/* ---------------------------------------------------------------------------------------------- GroupQueryAttention */

/* Refuses forms that ONNX Runtime's CPU kernels refuse, or whose result depends on the memory that a session was
 * given. */
static int refuse_forms(Infer *infer, const Node *node)
{
    static const char *const quantised[] = {"k_quant_type", "v_quant_type"};

    for (int i = 0; i < 2; i++)
        if (strcmp(node_string(node, quantised[i], "NONE"), "NONE"))
            return diag_unsupported(infer->diag, node->loc, "found caches quantised by '%s'; export float caches",
                                    quantised[i]);
    if (node_int(node, "kv_cache_bit_width", 0) || infer_has(node, 12) || infer_has(node, 13))
        return diag_unsupported(infer->diag, node->loc,
                                "found quantised caches (k_scale, v_scale); export float caches");
    if (node_int(node, "sliding_window_cache", 0))
        return diag_unsupported(infer->diag, node->loc,
                                "found sliding_window_cache, caches shorter than the sequence; export whole ones");
    if (infer_has(node, 14) || infer_has(node, 15))
        return diag_unsupported(infer->diag, node->loc,
                                "found q_norm_weight or k_norm_weight, which ONNX Runtime's CPU kernel refuses; "
                                "export the norms as SimplifiedLayerNormalization before the node");
    if (infer_wants(node, 3) && node_int(node, "qk_output", 0) != 1 && node_int(node, "qk_output", 0) != 2)
        return diag_error(infer->diag, node->loc, "found the output output_qk with qk_output %lld, wanted 1 or 2",
                          (long long)node_int(node, "qk_output", 0));
    return 0;
}

/* Heads and their size: three inputs, or one that holds queries, keys and values. */
static int group_size(Infer *infer, const Node *node, int64_t *heads, int64_t *kv_heads, int64_t *size)
{
    const Type *query;
    int64_t     all;

    *heads = node_int(node, "num_heads", 0);
    *kv_heads = node_int(node, "kv_num_heads", 0);
    if (*heads < 1 || *kv_heads < 1 || *heads % *kv_heads)
        return diag_error(infer->diag, node->loc, "found %lld query heads and %lld key heads, wanted a multiple",
                          (long long)*heads, (long long)*kv_heads);
    if (infer_need(infer, node, 0, "FL", 3, 3) < 0)
        return -1;
    if (infer_has(node, 1) != infer_has(node, 2))
        return diag_error(infer->diag, node->loc,
                          "found one of key and value, wanted both or, packed into the query, none");
    query = infer_in(node, 0);
    if (!extent_is_const(query->dim[2]))
        return diag_unsupported(infer->diag, node->loc, "found a run-time head size; make it constant");
    all = infer_has(node, 1) ? *heads : *heads + 2 * *kv_heads;
    *size = query->dim[2].max / all;
    if (*size < 1 || query->dim[2].max % all)
        return diag_error(infer->diag, node->loc, "found rows of %lld for %lld heads, wanted a multiple",
                          (long long)query->dim[2].max, (long long)all);
    for (int i = 1; i < 3; i++)
        if (infer_has(node, i) &&
            (infer_need(infer, node, i, "FL", 3, 3) < 0 || infer_need_same_dtype(infer, node, 0, i) < 0 ||
             infer_need_equal(infer, node, node->in[i]->type.dim[0], query->dim[0], "batches") < 0 ||
             infer_need_equal(infer, node, node->in[i]->type.dim[1], query->dim[1], "lengths of query, key and value") <
                 0 ||
             infer_need_equal(infer, node, node->in[i]->type.dim[2], extent_const(*size * *kv_heads), "packed heads") <
                 0))
            return -1;
    return 0;
}

/* The caches before the run: [batch][kv heads][rows][size], both or none. */
static int group_past(Infer *infer, const Node *node, int64_t kv_heads, int64_t size, Extent *rows)
{
    *rows = extent_const(0);
    if (infer_has(node, 3) != infer_has(node, 4))
        return diag_error(infer->diag, node->loc, "found one of past_key and past_value, wanted both or none");
    if (!infer_has(node, 3))
        return 0;
    if (infer_need(infer, node, 3, "FL", 4, 4) < 0 || infer_need_same_shape(infer, node, 3, 4) < 0 ||
        infer_need_same_dtype(infer, node, 0, 3) < 0 || infer_need_same_dtype(infer, node, 0, 4) < 0 ||
        infer_need_equal(infer, node, node->in[3]->type.dim[0], node->in[0]->type.dim[0], "batches of the cache") < 0 ||
        infer_need_equal(infer, node, node->in[3]->type.dim[1], extent_const(kv_heads), "heads of the cache") < 0 ||
        infer_need_equal(infer, node, node->in[3]->type.dim[3], extent_const(size), "head sizes of the cache") < 0)
        return -1;
    *rows = node->in[3]->type.dim[2];
    return 0;
}

static int group_rotary(Infer *infer, const Node *node, int64_t size)
{
    const Type *query = infer_in(node, 0), *ids = infer_in(node, 9);

    if (!node_int(node, "do_rotary", 0))
        return 0;
    if (!infer_has(node, 7) || !infer_has(node, 8))
        return diag_error(infer->diag, node->loc, "found do_rotary without cos_cache and sin_cache, wanted both");
    if (infer_need(infer, node, 7, "FL", 2, 2) < 0 || infer_need_same_shape(infer, node, 7, 8) < 0)
        return -1;
    if (!extent_is_const(node->in[7]->type.dim[1]))
        return diag_unsupported(infer->diag, node->loc,
                                "found caches of a run-time number of angles; make it constant");
    if (node->in[7]->type.dim[1].max < 1 || 2 * node->in[7]->type.dim[1].max > size)
        return diag_error(infer->diag, node->loc,
                          "found caches of %lld angles for heads of %lld, wanted half a head or fewer",
                          (long long)node->in[7]->type.dim[1].max, (long long)size);
    if (ids && (infer_need(infer, node, 9, "I", 2, 2) < 0 ||
                infer_need_equal(infer, node, ids->dim[0], query->dim[0], "batches of position_ids") < 0 ||
                infer_need_equal(infer, node, ids->dim[1], query->dim[1], "lengths of position_ids") < 0))
        return -1;
    return 0;
}

/* Extent `axis` of input `input` is 1 or `wanted`. */
static int one_or(Infer *infer, const Node *node, int input, int axis, Extent wanted, const char *what)
{
    const Type *type = infer_in(node, input);

    return extent_is(type->dim[axis], 1) ? 0 : infer_need_equal(infer, node, type->dim[axis], wanted, what);
}

int infer_group_query_attention(Infer *infer, Node *node)
{
    int64_t heads, kv_heads, size = 0;
    Extent  rows, total, present[4], out[3];

    if (refuse_forms(infer, node) < 0 || group_size(infer, node, &heads, &kv_heads, &size) < 0 ||
        group_past(infer, node, kv_heads, size, &rows) < 0 || infer_need_dtype(infer, node, 5, "I") < 0 ||
        infer_need_dtype(infer, node, 6, "I") < 0 ||
        infer_scalar(infer, node, 6, 0, INT32_MAX, extent_const(0), &total) < 0 || group_rotary(infer, node, size) < 0)
        return -1;
    memcpy(out, node->in[0]->type.dim, sizeof out);
    if (infer_need_equal(infer, node, type_count(infer->model, &node->in[5]->type), out[0],
                         "batch and the elements of seqlens_k") < 0)
        return -1;
    if (infer_has(node, 10) &&
        (infer_need(infer, node, 10, "FL", 4, 4) < 0 ||
         one_or(infer, node, 10, 0, out[0], "batches of attention_bias") < 0 ||
         one_or(infer, node, 10, 1, extent_const(heads), "heads of attention_bias") < 0 ||
         infer_need_equal(infer, node, node->in[10]->type.dim[2], out[1], "lengths of attention_bias") < 0 ||
         infer_need_equal(infer, node, node->in[10]->type.dim[3], total, "attention_bias and the total length") < 0))
        return -1;
    if (infer_has(node, 11) && infer_need_vector(infer, node, 11, extent_const(heads)) < 0)
        return -1;
    out[2] = extent_const(heads * size);
    memcpy(
        present,
        (Extent[]){out[0], extent_const(kv_heads), extent_op(infer->model, EXPR_MAX, rows, total), extent_const(size)},
        sizeof present);
    if (infer_set_tensor(infer, node, 0, node->in[0]->type.dtype, 3, out) < 0 ||
        infer_set_tensor(infer, node, 1, node->in[0]->type.dtype, 4, present) < 0)
        return -1;
    if (infer_set_tensor(infer, node, 2, node->in[0]->type.dtype, 4, present) < 0)
        return -1;
    return infer_set_tensor(infer, node, 3, node->in[0]->type.dtype, 4,
                            (Extent[]){out[0], extent_const(heads), out[1], total});
}

/* past, new rows [batch][heads][length][size], lengths of the past, rows in all: where the past has more rows, it keeps
 * them. */
int infer_cache_append(Infer *infer, Node *node)
{
    Extent total, dim[4];

    if (infer_need_rank(infer, node, 1, 4, 4) < 0 ||
        infer_scalar(infer, node, 3, 0, INT32_MAX, extent_const(0), &total) < 0)
        return -1;
    memcpy(dim, node->in[1]->type.dim, sizeof dim);
    dim[2] = infer_has(node, 0) ? extent_op(infer->model, EXPR_MAX, node->in[0]->type.dim[2], total) : total;
    return infer_set_tensor(infer, node, 0, node->in[1]->type.dtype, 4, dim);
}
