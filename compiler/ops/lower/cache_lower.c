/* cache_lower.c - rows appended to what attention has kept from run to run. */
#include "lower/call.h"
#include "lower/control.h"
#include "ops/rules.h"

/* Inputs: past (or none), new rows, length of the past for each batch, rows of the result in all. */
int lower_cache_append(Lower *lower, const Node *node)
{
    bool    has_past = node->in[0] != NULL;
    Operand past, now, length, y;
    Extent  total;

    if (control_integer(lower, node->in[3], 0, INT32_MAX, &total) < 0 || lower_input(lower, node, 1, &now) < 0 ||
        (!extent_is(now.stride[3], 1) && lower_dense(lower, now, &now) < 0) ||
        (has_past && lower_input_dense(lower, node, 0, &past) < 0) || lower_indices(lower, node, 2, &length) < 0 ||
        lower_output_dense(lower, node, 0, &y) < 0)
        return -1;
    if (!has_past)
        past = operand_absent(y.dtype);
    return STEP_OUTPUT(lower, node, y, move_kernel(lower, "cache_append", y.dtype), ARG(past, past), ARG(now, now),
                       ARG(length, length), ARG(batch, y.dim[0]), ARG(heads, y.dim[1]), ARG(rows, y.dim[2]),
                       ARG(total, total), ARG(old, has_past ? past.dim[2] : extent_const(0)), ARG(fresh, now.dim[2]),
                       ARG(width, y.dim[3]), ARGS(nstride, 3, now.stride));
}
