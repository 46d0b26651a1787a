/* nbits_infer.c - types of com.microsoft's operators on weights of few bits. */
#include "ops/infer.h"

/* ------------------------------------------------------------------------------------------------------------ MatMulNBits */

static bool is_power(int64_t number)
{
    return number > 0 && !(number & (number - 1));
}

/* The elements of input `index`, however they are shaped: one axis or several. */
static int need_count(Infer *infer, const Node *node, int index, int64_t count, const char *what)
{
    return infer_need_equal(infer, node, type_count(infer->model, &node->in[index]->type), extent_const(count), what);
}

static int nbits_attributes(Infer *infer, const Node *node, int64_t *k, int64_t *n, int64_t *bits, int64_t *block)
{
    *k = node_int(node, "K", 0);
    *n = node_int(node, "N", 0);
    *bits = node_int(node, "bits", 4);
    *block = node_int(node, "block_size", 0);
    if (*k < 1 || *n < 1 || *k > INT32_MAX || *n > INT32_MAX || !is_power(*block) || *block < 16 || *block > INT32_MAX)
        return diag_error(infer->diag, node->loc, "found K %lld, N %lld, block_size %lld, wanted extents and a power of two from 16 on",
                          (long long)*k, (long long)*n, (long long)*block);
    if (*bits != 2 && *bits != 4 && *bits != 8)
        return diag_unsupported(infer->diag, node->loc, "found weights of %lld bits; quantise them to 2, 4 or 8", (long long)*bits);
    if (node_int(node, "weight_prepacked", 0))
        return diag_unsupported(infer->diag, node->loc, "found weight_prepacked, a layout for another device; export the weights unpacked");
    return 0;
}

/* Zero points are as many floats as scales, or bytes that hold several. */
static int nbits_zero(Infer *infer, const Node *node, int64_t n, int64_t blocks, int64_t bits)
{
    if (!infer_has(node, 3))
        return 0;
    if (node->in[3]->type.dtype == DTYPE_U8)
        return need_count(infer, node, 3, n * ((blocks * bits + 7) / 8), "packed zero points and what the blocks need");
    if (infer_need_same_dtype(infer, node, 0, 3) < 0)
        return -1;
    return need_count(infer, node, 3, n * blocks, "zero points and blocks");
}

/* g_idx: a block for each place of K, or of whole blocks; those that no block has are refused here. */
static int nbits_groups(Infer *infer, const Node *node, int64_t k, int64_t blocks, int64_t block)
{
    const int32_t *group;

    if (!infer_has(node, 4))
        return 0;
    if (infer_need_exactly(infer, node, 4, DTYPE_I32) < 0 || infer_need_rank(infer, node, 4, 1, 1) < 0 ||
        (!extent_is(node->in[4]->type.dim[0], blocks * block) && need_count(infer, node, 4, k, "g_idx and K") < 0))
        return -1;
    if (!node->in[4]->data)
        return diag_unsupported(infer->diag, node->loc, "found g_idx that is no constant; make it one");
    group = const_aligned(infer->model->arena, node->in[4]);
    for (int64_t i = 0; i < k; i++)
        if (group[i] < 0 || group[i] >= blocks)
            return diag_error(infer->diag, node->loc, "element %lld of g_idx is %d, wanted 0 to %lld", (long long)i, (int)group[i],
                              (long long)blocks - 1);
    return 0;
}

int infer_matmul_nbits(Infer *infer, Node *node)
{
    int64_t k, n, bits, block, blocks;
    Type    type;

    if (nbits_attributes(infer, node, &k, &n, &bits, &block) < 0 || infer_need(infer, node, 0, "FL", 1, MAX_RANK) < 0 ||
        infer_need_exactly(infer, node, 1, DTYPE_U8) < 0 || infer_need_same_dtype(infer, node, 0, 2) < 0)
        return -1;
    type = node->in[0]->type;
    blocks = (k + block - 1) / block;
    if (infer_need_equal(infer, node, type.dim[type.rank - 1], extent_const(k), "the last extent of the input and K") < 0 ||
        need_count(infer, node, 1, n * blocks * (block * bits / 8), "packed weights and what N, K and block_size say") < 0 ||
        need_count(infer, node, 2, n * blocks, "scales and blocks") < 0 || nbits_zero(infer, node, n, blocks, bits) < 0)
        return -1;
    if (nbits_groups(infer, node, k, blocks, block) < 0 || infer_need_vector(infer, node, 5, extent_const(n)) < 0)
        return -1;
    type.dim[type.rank - 1] = extent_const(n);
    return infer_set(infer, node, 0, infer_shaped(type.dtype, &type));
}
