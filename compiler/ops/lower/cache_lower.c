/* cache_lower.c - rows appended to what attention has kept from run to run. */
#include "infer/infer.h"
#include "lower/lower.h"
#include "ops/rules.h"

/* Inputs: past (or none), new rows, length of the past for each batch, rows of the result in all. */
int lower_cache_append(Lower *lower, const Node *node)
{
    bool    has_past = node->in[0] != NULL;
    Operand past, now, length, y;
    Step   *step;

    if (lower_input(lower, node, 1, &now) < 0 || (!extent_is(now.stride[3], 1) && lower_dense(lower, now, &now) < 0) ||
        (has_past && lower_input_dense(lower, node, 0, &past) < 0) || lower_indices(lower, node, 2, &length) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (!has_past)
        past = operand_absent(y.dtype);
    step = step_begin(lower, node, move_kernel(lower, "cache_append", y.dtype));
    step_writes(lower, step, y);
    step_reads(lower, step, past);
    step_reads(lower, step, now);
    step_reads(lower, step, length);
    for (int i = 0; i < 3; i++)
        step_extent(lower, step, y.dim[i]);
    step_extent(lower, step, has_past ? past.dim[2] : extent_const(0));
    step_extent(lower, step, now.dim[2]);
    step_extent(lower, step, y.dim[3]);
    step_extents(lower, step, 3, now.stride);
    return step_end(lower, step) < 0 ? -1 : lower_output_done(lower, node, 0, y);
}
