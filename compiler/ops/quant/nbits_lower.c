/* nbits_lower.c - matmuls with weights of few bits, which stay packed in the constants. */
#include "infer/infer.h"
#include "lower/call.h"
#include "ops/quant/nbits.h"
#include "ops/rules.h"
#include "support/int.h"

enum { X, W, SCALE, ZERO, GROUP, BIAS };

/* As in nbits.c: more rows than FEW_ROWS are multiplied by panels of decoded weights, fewer by SUMS rows at a time. */
enum { FEW_ROWS = 8, SUMS = 4, PANEL = 32, DEPTH = 512 };

/* As in nbits_q.c: places of a panel. */
enum { BYTE_DEPTH = 1024 };

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

/* Scratch of a panel of weights as bytes, in words of 32 bits. */
static Operand scratch_for_bytes(Lower *lower, int64_t block, Extent rows, int64_t k)
{
    int64_t places = int_min(int_round_up(k, block), int_max(BYTE_DEPTH, block));

    if (rows.max <= FEW_ROWS)
        return operand_absent(DTYPE_F32);
    return lower_scratch(lower, DTYPE_F32, PANEL * (places / 4 + 2 * places / block), "panel");
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
    return STEP_OUTPUT(lower, node, y, "matmul_nbits_f32", ARG(x, x), ARG(w, w), ARG(scale, scale), ARG(zero, zero),
                       ARG(packed, packed), ARG(group, group), ARG(bias, bias),
                       ARG(panel, scratch_for(lower, node, &group, rows, k.max)), ARG(rows, rows),
                       ARG(columns, y.dim[y.rank - 1]), ARG(k, k), ARG(block, node_int(node, "block_size", 32)),
                       ARG(bits, node_int(node, "bits", 4)), ARG(ystride, y.dim[y.rank - 1]));
}

/* Rows of floats as bytes, which lie along the last axis. */
int lower_round_blocks(Lower *lower, const Node *node)
{
    Operand x, y;

    if (lower_input_dense(lower, node, X, &x) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    return STEP_OUTPUT(lower, node, y, "round_blocks", ARG(x, x), ARG(rows, operand_count(lower, &x, 0, x.rank - 1)),
                       ARG(k, x.dim[x.rank - 1]), ARG(block, node_int(node, "block_size", 32)),
                       ARG(row, y.dim[y.rank - 1]));
}

/* The same product of rows that are bytes; the bias is the input behind the zero points. */
int lower_nbits_product(Lower *lower, const Node *node)
{
    enum { BYTES_BIAS = ZERO + 1 };
    int64_t block = node_int(node, "block_size", 32), k = node_int(node, "K", 0);
    Operand x, w, scale, packed, bias, y;
    Extent  rows;

    if (lower_input_dense(lower, node, X, &x) < 0 || lower_input_dense(lower, node, W, &w) < 0 ||
        lower_input_dense(lower, node, SCALE, &scale) < 0 || optional_input(lower, node, ZERO, DTYPE_U8, &packed) < 0 ||
        optional_input(lower, node, BYTES_BIAS, DTYPE_F32, &bias) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    rows = operand_count(lower, &y, 0, y.rank - 1);
    return STEP_OUTPUT(lower, node, y, "matmul_nbits_q", ARG(x, x), ARG(w, w), ARG(scale, scale), ARG(packed, packed),
                       ARG(bias, bias), ARG(room, scratch_for_bytes(lower, block, rows, k)), ARG(rows, rows),
                       ARG(columns, y.dim[y.rank - 1]), ARG(k, extent_const(k)), ARG(block, block), ARG(bits, 4),
                       ARG(ystride, y.dim[y.rank - 1]));
}
