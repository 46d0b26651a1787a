/* nbits_lower.c - matmuls with weights of few bits, which stay packed in the constants. */
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/rules.h"
#include "support/int.h"

enum { X, W, SCALE, ZERO, GROUP, BIAS };

/* As in nbits.c: more rows than FEW_ROWS are multiplied by panels of decoded weights, fewer by SUMS rows at a time. */
enum { FEW_ROWS = 8, SUMS = 4, PANEL = 32, DEPTH = 512 };

/* As in nbits_q.c: rows that are rounded together, places of a panel, and what the bytes of a row are a multiple of. */
enum { BATCH = 128, BYTE_DEPTH = 1024, BYTE_STEP = 128 };

/* The accuracy_level that lets a product round its input to bytes, and the most places whose products 32 bits hold, by
 * far: each is 15 * 127 at most. */
enum { BYTES_ALLOWED = 4, MOST_BLOCK = 1 << 16 };

static int optional_input(Lower *lower, const Node *node, int index, DType dtype, Operand *out)
{
    if (infer_has(node, index) && node->in[index]->type.dtype == dtype)
        return lower_input_dense(lower, node, index, out);
    *out = operand_absent(dtype);
    return 0;
}

/* Scratch, where vectors have a use for it: for a panel [depth][PANEL], or for a few rows of x in another order. */
static Operand scratch_for(Lower *lower, const Node *node, const Operand *group, Extent rows, int64_t k)
{
    int64_t block = node_int(node, "block_size", 32), bits = node_int(node, "bits", 4);
    int64_t panel = rows.max > FEW_ROWS ? int_min(k, int_max(DEPTH, block)) * PANEL : 0;
    int64_t few = bits == 4 ? int_min(rows.max, SUMS) * int_ceil_div(k, block) * block : 0;

    if (!lower_has_vectors(lower) || group->buffer >= 0 || int_max(panel, few) == 0)
        return operand_absent(DTYPE_F32);
    return lower_scratch(lower, DTYPE_F32, int_max(panel, few), "panel");
}

/* Scratch of rows rounded to bytes, and of a panel of weights, in words of 32 bits. */
static Operand scratch_for_bytes(Lower *lower, const Node *node, Extent rows, int64_t k)
{
    int64_t block = node_int(node, "block_size", 32), blocks = int_ceil_div(k, block);
    int64_t row = int_ceil_div(blocks * block, BYTE_STEP) * (BYTE_STEP / 4) + 2 * blocks;
    int64_t places = rows.max > FEW_ROWS ? int_min(blocks * block, int_max(BYTE_DEPTH, block)) : 0;

    return lower_scratch(lower, DTYPE_F32, int_min(rows.max, BATCH) * row + PANEL * (places / 4 + 2 * places / block),
                         "bytes");
}

/* Whether the input is rounded to bytes: where ONNX Runtime does, with 4 bits. On a device floats take no longer, since
 * its threads wait for weights. */
static bool takes_bytes(const Lower *lower, const Node *node, const Operand *zero, const Operand *group)
{
    return node_int(node, "accuracy_level", 0) == BYTES_ALLOWED && node_int(node, "bits", 4) == 4 &&
           node_int(node, "block_size", 32) <= MOST_BLOCK && zero->buffer < 0 && group->buffer < 0 &&
           lower->program->language == LANGUAGE_C;
}

int lower_matmul_nbits(Lower *lower, const Node *node)
{
    Operand x, w, scale, zero, packed, group, bias, y;
    Extent  rows, k;

    if (lower_input_dense(lower, node, X, &x) < 0 || lower_input_dense(lower, node, W, &w) < 0 ||
        lower_input_dense(lower, node, SCALE, &scale) < 0 || optional_input(lower, node, ZERO, DTYPE_F32, &zero) < 0 ||
        optional_input(lower, node, ZERO, DTYPE_U8, &packed) < 0 ||
        optional_input(lower, node, GROUP, DTYPE_I32, &group) < 0 ||
        optional_input(lower, node, BIAS, DTYPE_F32, &bias) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    rows = operand_count(lower, &y, 0, y.rank - 1);
    k = x.dim[x.rank - 1];
    if (takes_bytes(lower, node, &zero, &group))
        return STEP_OUTPUT(lower, node, y, "matmul_nbits_q", ARG(x, x), ARG(w, w), ARG(scale, scale),
                           ARG(packed, packed), ARG(bias, bias), ARG(room, scratch_for_bytes(lower, node, rows, k.max)),
                           ARG(rows, rows), ARG(columns, y.dim[y.rank - 1]), ARG(k, k),
                           ARG(block, node_int(node, "block_size", 32)), ARG(bits, 4), ARG(ystride, y.dim[y.rank - 1]));
    return STEP_OUTPUT(lower, node, y, "matmul_nbits_f32", ARG(x, x), ARG(w, w), ARG(scale, scale), ARG(zero, zero),
                       ARG(packed, packed), ARG(group, group), ARG(bias, bias),
                       ARG(panel, scratch_for(lower, node, &group, rows, k.max)), ARG(rows, rows),
                       ARG(columns, y.dim[y.rank - 1]), ARG(k, k), ARG(block, node_int(node, "block_size", 32)),
                       ARG(bits, node_int(node, "bits", 4)), ARG(ystride, y.dim[y.rank - 1]));
}
