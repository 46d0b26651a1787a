/* nbits_infer.c - types of com.microsoft's operators on weights of few bits. */
#include "infer/infer.h"
#include "ops/quant/nbits.h"
#include "ops/rules.h"

/* ------------------------------------------------------------------------------------------------------ MatMulNBits */

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
        return diag_error(infer->diag, node->loc,
                          "found K %lld, N %lld, block_size %lld, wanted extents and a power of two from 16 on",
                          (long long)*k, (long long)*n, (long long)*block);
    if (*bits != 2 && *bits != 4 && *bits != 8)
        return diag_unsupported(infer->diag, node->loc, "found weights of %lld bits; quantise them to 2, 4 or 8",
                                (long long)*bits);
    if (node_int(node, "weight_prepacked", 0))
        return diag_unsupported(infer->diag, node->loc,
                                "found weight_prepacked, a layout for another device; export the weights unpacked");
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

/* g_idx holds the block of each place of K, and may be padded to whole blocks. Refuses numbers that are no block's. */
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
            return diag_error(infer->diag, node->loc, "element %lld of g_idx is %d, wanted 0 to %lld", (long long)i,
                              (int)group[i], (long long)blocks - 1);
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
    if (infer_need_equal(infer, node, type.dim[type.rank - 1], extent_const(k), "the last extent of the input and K") <
            0 ||
        need_count(infer, node, 1, n * blocks * (block * bits / 8), "packed weights and what N, K and block_size say") <
            0 ||
        need_count(infer, node, 2, n * blocks, "scales and blocks") < 0 || nbits_zero(infer, node, n, blocks, bits) < 0)
        return -1;
    if (nbits_groups(infer, node, k, blocks, block) < 0 || infer_need_vector(infer, node, 5, extent_const(n)) < 0)
        return -1;
    type.dim[type.rank - 1] = extent_const(n);
    return infer_set(infer, node, 0, infer_shaped(type.dtype, &type));
}

/* The bytes of RoundBlocks lie along the last axis. */
int infer_round_blocks(Infer *infer, Node *node)
{
    Type    type = node->in[0]->type;
    Extent *k = &type.dim[type.rank - 1];

    *k = extent_const(nbits_row_bytes(k->max, node_int(node, "block_size", 32)));
    return infer_set(infer, node, 0, infer_shaped(DTYPE_U8, &type));
}

int infer_nbits_product(Infer *infer, Node *node)
{
    Type type = node->in[0]->type;

    type.dim[type.rank - 1] = extent_const(node_int(node, "N", 0));
    return infer_set(infer, node, 0, infer_shaped(DTYPE_F32, &type));
}

/* --------------------------------------------------------------------------------------------- GatherBlockQuantized */

/* The type of the data, and how many elements each of its places holds. */
static int table_type(Infer *infer, const Node *node, int gather, int quantised, int64_t *each)
{
    const Type *data = infer_in(node, 0);
    int64_t     bits = node_int(node, "bits", 4), block = node_int(node, "block_size", 128);

    if (data->dtype != DTYPE_U8 && data->dtype != DTYPE_I4 && data->dtype != DTYPE_U4)
        return diag_unsupported(infer->diag, node->loc, "found a table of %s; quantise it to int4, uint4 or uint8",
                                dtype_info(data->dtype)->name);
    if (!is_power(block) || block < 16)
        return diag_error(infer->diag, node->loc, "attribute 'block_size' is %lld, wanted a power of two from 16 on",
                          (long long)block);
    if (data->dtype == DTYPE_U8 ? bits != 2 && bits != 4 && bits != 8 : bits != 4)
        return diag_error(infer->diag, node->loc, "attribute 'bits' is %lld, wanted 4, or with uint8 data 2, 4 or 8",
                          (long long)bits);
    if (gather == quantised || (data->dtype == DTYPE_U8 && (gather != 0 || quantised != data->rank - 1)))
        return diag_error(
            infer->diag, node->loc, "found gather_axis %d and quantize_axis %d, wanted others%s", gather, quantised,
            data->dtype == DTYPE_U8 ? ": packed bytes are gathered along the first axis, and quantised along the last"
                                    : "");
    if (!extent_is_const(data->dim[quantised]) || data->dim[quantised].max > INT32_MAX / 8)
        return diag_unsupported(infer->diag, node->loc, "found a quantised axis of run-time extent; make it constant");
    *each = data->dtype == DTYPE_U8 ? 8 / bits : 1;
    return 0;
}

/* One scale for each block, in the extents of the data; zero points likewise, packed where the data is. */
static int table_scales(Infer *infer, const Node *node, int quantised, int64_t each)
{
    const Type *data = infer_in(node, 0);
    int64_t block = node_int(node, "block_size", 128), blocks = (data->dim[quantised].max * each + block - 1) / block;

    if (infer_has(node, 3) && infer_need_same_dtype(infer, node, 0, 3) < 0)
        return -1;
    for (int input = 2; input < 4; input++) {
        int64_t count = input == 2 ? blocks : (blocks + each - 1) / each;
        if (!infer_has(node, input))
            continue;
        if (infer_need_rank(infer, node, input, data->rank, data->rank) < 0)
            return -1;
        for (int i = 0; i < data->rank; i++)
            if (infer_need_equal(infer, node, node->in[input]->type.dim[i],
                                 i == quantised ? extent_const(count) : data->dim[i],
                                 input == 2 ? "extents of the scales" : "extents of the zero points") < 0)
                return -1;
    }
    return 0;
}

int infer_gather_bits(Infer *infer, Node *node)
{
    const Type *data, *index;
    Type        type = {.kind = TYPE_TENSOR};
    int         gather, quantised;
    int64_t     each = 1;

    if (infer_need_tensor(infer, node, 0) < 0 || infer_need_rank(infer, node, 0, 1, MAX_RANK) < 0 ||
        infer_need_dtype(infer, node, 1, "I") < 0 || infer_need_dtype(infer, node, 2, "FL") < 0)
        return -1;
    data = infer_in(node, 0);
    index = infer_in(node, 1);
    if (infer_axis(infer, node, node_int(node, "gather_axis", 0), data->rank, &gather) < 0 ||
        infer_axis(infer, node, node_int(node, "quantize_axis", 1), data->rank, &quantised) < 0 ||
        table_type(infer, node, gather, quantised, &each) < 0 || table_scales(infer, node, quantised, each) < 0)
        return -1;
    if (data->rank - 1 + index->rank >= MAX_RANK)
        return diag_unsupported(infer->diag, node->loc,
                                "found a result of rank %d, wanted less than %d; reshape the indices",
                                data->rank - 1 + index->rank, MAX_RANK);
    for (int i = 0; i < gather; i++)
        type.dim[type.rank++] = data->dim[i];
    for (int i = 0; i < index->rank; i++)
        type.dim[type.rank++] = index->dim[i];
    for (int i = gather + 1; i < data->rank; i++)
        type.dim[type.rank++] = i == quantised ? extent_const(data->dim[i].max * each) : data->dim[i];
    type.dtype = node->in[2]->type.dtype;
    return infer_set(infer, node, 0, type);
}
