/* attention_infer.c - types of attention operators. */
#include "infer/infer.h"
#include "ops/rules.h"

#include <string.h>

/* A packed [batch][length][heads * size] input, or [batch][heads][length][size], as the four extents of the latter. */
static int unpack(Infer *infer, const Node *node, int input, const char *heads_name, Extent *out)
{
    const Type *x = infer_in(node, input);
    int64_t     heads = node_int(node, heads_name, 0);

    if (infer_need(infer, node, input, "FL", 3, 4) < 0)
        return -1;
    if (x->rank == 4) {
        memcpy(out, x->dim, 4 * sizeof *out);
        return 0;
    }
    if (heads < 1)
        return diag_error(infer->diag, node->loc, "attribute '%s' is %lld, wanted 1 or more with inputs of rank 3",
                          heads_name, (long long)heads);
    out[0] = x->dim[0];
    out[1] = extent_const(heads);
    out[2] = x->dim[1];
    out[3] = infer_div(infer, x->dim[2], out[1]);
    return infer_need_equal(infer, node, infer_mul(infer, out[3], out[1]), x->dim[2],
                            "the packed extent and a multiple of the heads");
}

/* Batch, heads and size agree; key and value have one length. */
static int check_operands(Infer *infer, const Node *node, const Extent *q, const Extent *k, const Extent *v)
{
    if (infer_need_equal(infer, node, q[0], k[0], "batches of query and key") < 0 ||
        infer_need_equal(infer, node, k[0], v[0], "batches of key and value") < 0 ||
        infer_need_equal(infer, node, k[1], v[1], "heads of key and value") < 0 ||
        infer_need_equal(infer, node, k[2], v[2], "lengths of key and value") < 0 ||
        infer_need_equal(infer, node, q[3], k[3], "head sizes of query and key") < 0)
        return -1;
    if (q[1].expr < 0 && k[1].expr < 0 && (!k[1].max || q[1].max % k[1].max))
        return diag_error(infer->diag, node->loc, "%lld query heads are no multiple of %lld key heads",
                          (long long)q[1].max, (long long)k[1].max);
    return 0;
}

/* *length: rows of the cache `input` and, behind them, of `now`. Their other extents must agree. */
static int add_past(Infer *infer, const Node *node, int input, const Extent *now, Extent *length)
{
    const Type *past = infer_in(node, input);

    *length = now[2];
    if (!past)
        return 0;
    if (infer_need(infer, node, input, "FL", 4, 4) < 0)
        return -1;
    *length = infer_add(infer, now[2], past->dim[2]);
    for (int i = 0; i < 4; i++)
        if (i != 2 && infer_need_equal(infer, node, past->dim[i], now[i], "extents of the cache") < 0)
            return -1;
    return 0;
}

static int set_result(Infer *infer, Node *node, const Extent *q, const Extent *v)
{
    const Type *query = infer_in(node, 0);
    Extent      packed[3] = {q[0], q[2], infer_mul(infer, q[1], v[3])}, whole[4] = {q[0], q[1], q[2], v[3]};

    return query->rank == 4 ? infer_set_tensor(infer, node, 0, query->dtype, 4, whole)
                            : infer_set_tensor(infer, node, 0, query->dtype, 3, packed);
}

int infer_attention(Infer *infer, Node *node)
{
    Extent  q[4], k[4], v[4], length, scores[4];
    int64_t mode = node_int(node, "qk_matmul_output_mode", 0);

    if (mode < 0 || mode > 3)
        return diag_error(infer->diag, node->loc, "attribute 'qk_matmul_output_mode' is %lld, wanted 0 to 3",
                          (long long)mode);
    if (unpack(infer, node, 0, "q_num_heads", q) < 0 || unpack(infer, node, 1, "kv_num_heads", k) < 0 ||
        unpack(infer, node, 2, "kv_num_heads", v) < 0 || check_operands(infer, node, q, k, v) < 0 ||
        set_result(infer, node, q, v) < 0 || add_past(infer, node, 4, k, &length) < 0 ||
        add_past(infer, node, 5, v, &length) < 0 || infer_need_vector(infer, node, 6, q[0]) < 0 ||
        (infer_has(node, 3) && infer_need_dtype(infer, node, 3, "FLB-IU") < 0))
        return -1;
    if (infer_has(node, 4) && infer_need_same_width(infer, node, 0, 2) < 0)
        return -1;
    k[2] = v[2] = length;
    memcpy(scores, q, sizeof scores);
    scores[3] = length;
    if (infer_set_tensor(infer, node, 1, node->in[1]->type.dtype, 4, k) < 0 ||
        infer_set_tensor(infer, node, 2, node->in[2]->type.dtype, 4, v) < 0)
        return -1;
    return infer_set_tensor(infer, node, 3, node->in[0]->type.dtype, 4, scores);
}

/* Modifiers of scores and probabilities are nested graphs. */
int infer_flex_attention(Infer *infer, Node *node)
{
    Extent q[4], k[4], v[4];

    for (int i = 0; i < 2; i++)
        if (node->body[i] && (node->body[i]->nin != 1 || node->body[i]->nout != 1))
            return diag_error(infer->diag, node->loc,
                              "a modifier graph has %d inputs and %d outputs, wanted one of each", node->body[i]->nin,
                              node->body[i]->nout);
    for (int i = 0; i < 3; i++)
        if (infer_need_rank(infer, node, i, 4, 4) < 0)
            return -1;
    if (unpack(infer, node, 0, "", q) < 0 || unpack(infer, node, 1, "", k) < 0 || unpack(infer, node, 2, "", v) < 0 ||
        check_operands(infer, node, q, k, v) < 0)
        return -1;
    return set_result(infer, node, q, v);
}

/* The places of a head that are turned, in pairs: as attribute 'rotary_embedding_dim' says, all where it says 0; the
 * caches hold one entry for each pair. `packed`: how many heads share the last axis. */
static int rotary_places(Infer *infer, const Node *node, int64_t packed, const Extent *half)
{
    const Type *x = &node->in[0]->type;
    Extent      size = infer_div(infer, x->dim[x->rank - 1], extent_const(packed));
    int64_t     places = node_int(node, "rotary_embedding_dim", 0);

    if (places % 2 || places > size.max)
        return diag_error(infer->diag, node->loc,
                          "attribute 'rotary_embedding_dim' is %lld, wanted an even number up to the %lld of a head",
                          (long long)places, (long long)size.max);
    return infer_need_equal(infer, node, infer_mul(infer, *half, extent_const(2)), places ? extent_const(places) : size,
                            "twice the columns of the caches, and the places of a head that are turned");
}

/* The caches are [positions][size / 2], or with no position ids [batch][length][size / 2]. */
int infer_rotary_embedding(Infer *infer, Node *node)
{
    int     rank = infer_has(node, 3) ? 2 : 3;
    int64_t heads = node_int(node, "num_heads", 0);

    if (infer_need(infer, node, 0, "FL", 3, 4) < 0 || infer_need(infer, node, 1, "FL", rank, rank) < 0 ||
        infer_need_same_shape(infer, node, 1, 2) < 0 ||
        (infer_has(node, 3) && infer_need(infer, node, 3, "I", 2, 2) < 0))
        return -1;
    if (node->in[0]->type.rank == 3 && heads < 1)
        return diag_error(infer->diag, node->loc,
                          "attribute 'num_heads' is missing, wanted 1 or more with an input of rank 3");
    if (rotary_places(infer, node, node->in[0]->type.rank == 4 ? 1 : heads, &node->in[1]->type.dim[rank - 1]) < 0)
        return -1;
    return infer_set_same(infer, node, 0);
}

/* The rule of attribute 'update_rule' says which of decay (input 4) and beta (input 5) there are. */
static int check_rule(Infer *infer, const Node *node)
{
    const char *rule = node_string(node, "update_rule", "gated_delta");
    bool        gated = !strncmp(rule, "gated", 5), delta = strstr(rule, "delta") != NULL;

    if (gated == infer_has(node, 4) && delta == infer_has(node, 5))
        return 0;
    return diag_error(infer->diag, node->loc,
                      "attribute 'update_rule' is '%s', which wants %s decay (input 4) and %s beta (input 5)", rule,
                      gated ? "a" : "no", delta ? "a" : "no");
}

/* query, key, value are packed; the state is [batch][heads of key][size of key][size of value]. */
int infer_linear_attention(Infer *infer, Node *node)
{
    Extent q[4], k[4], v[4], state[4], result[3];
    DType  dtype;

    if (check_rule(infer, node) < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        if (infer_need(infer, node, i, "FL", 3, 3) < 0)
            return -1;
    if (unpack(infer, node, 0, "q_num_heads", q) < 0 || unpack(infer, node, 1, "kv_num_heads", k) < 0 ||
        unpack(infer, node, 2, "kv_num_heads", v) < 0 || check_operands(infer, node, q, k, v) < 0)
        return -1;
    memcpy(state, (Extent[]){k[0], k[1], k[3], v[3]}, sizeof state);
    memcpy(result, (Extent[]){q[0], q[2], infer_mul(infer, q[1], v[3])}, sizeof result);
    dtype = infer_has(node, 3) ? node->in[3]->type.dtype : node->in[0]->type.dtype;
    if (!infer_has(node, 3) && infer_wants(node, 1) && node->out[1]->declared.kind == TYPE_TENSOR)
        dtype = node->out[1]->declared.dtype;
    for (int i = 0; infer_has(node, 3) && i < 4; i++)
        if (infer_need_rank(infer, node, 3, 4, 4) < 0 ||
            infer_need_equal(infer, node, node->in[3]->type.dim[i], state[i], "extents of the state") < 0)
            return -1;
    if (infer_set_tensor(infer, node, 0, node->in[0]->type.dtype, 3, result) < 0)
        return -1;
    return infer_set_tensor(infer, node, 1, dtype, 4, state);
}
