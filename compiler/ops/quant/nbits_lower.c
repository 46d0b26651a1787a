/* nbits_lower.c - matmuls with weights of few bits, which stay packed in the constants. */
#include "infer/infer.h"
#include "lower/lower.h"
#include "ops/rules.h"

enum { X, W, SCALE, ZERO, GROUP, BIAS };

static int optional_input(Lower *lower, const Node *node, int index, DType dtype, Operand *out)
{
    if (infer_has(node, index) && node->in[index]->type.dtype == dtype)
        return lower_input_dense(lower, node, index, out);
    *out = operand_absent(dtype);
    return 0;
}

int lower_matmul_nbits(Lower *lower, const Node *node)
{
    Operand x, w, scale, zero, packed, group, bias, y;
    Step   *step;

    if (lower_input_dense(lower, node, X, &x) < 0 || lower_input_dense(lower, node, W, &w) < 0 ||
        lower_input_dense(lower, node, SCALE, &scale) < 0 || optional_input(lower, node, ZERO, DTYPE_F32, &zero) < 0 ||
        optional_input(lower, node, ZERO, DTYPE_U8, &packed) < 0 ||
        optional_input(lower, node, GROUP, DTYPE_I32, &group) < 0 ||
        optional_input(lower, node, BIAS, DTYPE_F32, &bias) < 0 || lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    step = step_begin(lower, node, "matmul_nbits_f32");
    step_writes(lower, step, y);
    step_reads(lower, step, x);
    step_reads(lower, step, w);
    step_reads(lower, step, scale);
    step_reads(lower, step, zero);
    step_reads(lower, step, packed);
    step_reads(lower, step, group);
    step_reads(lower, step, bias);
    step_extent(lower, step, operand_count(lower, &y, 0, y.rank - 1));
    step_extent(lower, step, y.dim[y.rank - 1]);
    step_extent(lower, step, x.dim[x.rank - 1]);
    step_int(lower, step, node_int(node, "block_size", 32));
    step_int(lower, step, node_int(node, "bits", 4));
    step_extent(lower, step, y.dim[y.rank - 1]);
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}
