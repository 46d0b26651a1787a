/* convtranspose_lower.c - transposed convolutions: channels-last results, weights in panels. */
#include "ops/panels.h"
#include "ops/rules.h"
#include "ops/spatial.h"
#include "ops/wide.h"

/* Weights [groups * inputs][outputs][tap ...] that are computed while running, as [groups * outputs][inputs][tap ...]. */
static int outputs_first(Lower *lower, Node *node, int64_t groups, Operand *out)
{
    static const int one_group[] = {1, 0, 2, 3, 4}, apart[] = {0, 2, 1, 3, 4, 5};
    Operand          w, y;
    Type             type = node->in[1]->type;
    Extent           dim[6] = {extent_const(groups), extent_const(type.dim[0].max / groups), type.dim[1]};

    if (lower_input(lower, node, 1, &w) < 0)
        return -1;
    if (groups == 1) {
        *out = operand_permute(w, one_group);
        return 0;
    }
    for (int i = 2; i < type.rank; i++)
        dim[i + 1] = type.dim[i];
    type.dim[0] = extent_const(groups * type.dim[1].max);
    type.dim[1] = dim[1];
    *out = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "weights");
    if (lower_dense(lower, w, &w) < 0 || !operand_reshape(lower, w, type.rank + 1, dim, &w))
        return -1;
    dim[1] = dim[2];
    dim[2] = type.dim[1];
    if (!operand_reshape(lower, *out, type.rank + 1, dim, &y))
        return -1;
    return lower_copy(lower, node, operand_permute(w, apart), y);
}

int lower_conv_transpose(Lower *lower, Node *node)
{
    Infer         infer = {.model = lower->model, .diag = lower->diag};
    const Type   *type = &node->in[1]->type;
    int64_t       groups = node_int(node, "group", 1);
    PanelShape    shape = {groups, type->dim[1].max, type->dim[0].max / groups, 1};
    const Value  *constant = lower_constant(lower, node->in[1]);
    int64_t       stride[4];
    Operand       x, w, bias, y;
    Window        window;
    Step         *step;

    if (spatial_need(lower, node) < 0 || window_read(&infer, node, &node->in[0]->type, type->dim + 2, &window) < 0 ||
        window_transposed(&infer, node, &node->in[0]->type, &window) < 0)
        return -1;
    if (node->in[0]->type.dtype == DTYPE_F64)
        return wide_conv_transpose(lower, node, &window);
    for (int i = 2; i < type->rank; i++)
        shape.taps *= type->dim[i].max;
    stride[0] = shape.inputs * shape.outputs * shape.taps; /* [groups * inputs][outputs][tap ...] */
    stride[1] = shape.taps;
    stride[2] = shape.outputs * shape.taps;
    stride[3] = 1;
    if (constant) {
        w = panels_constant(lower, const_aligned(lower->arena, constant), shape, stride, node->in[1]->name);
    } else {
        if (outputs_first(lower, node, groups, &w) < 0 || panels_computed(lower, w, shape, &w) < 0)
            return -1;
    }
    if (lower_input(lower, node, 0, &x) < 0 || lower_input_dense(lower, node, 2, &bias) < 0 ||
        lower_output(lower, node, 0, LAYOUT_CHANNELS_LAST, &y) < 0)
        return -1;
    step = step_begin(lower, node, "convtranspose_f32");
    step_reads(lower, step, x);
    step_reads(lower, step, w);
    step_reads(lower, step, bias);
    step_writes(lower, step, y);
    step_int(lower, step, groups);
    spatial_dims(lower, step, &x, shape.inputs);
    spatial_strides(lower, step, &x);
    spatial_dims(lower, step, &y, shape.outputs);
    spatial_strides(lower, step, &y);
    spatial_ints(lower, step, window.kernel, window.naxes, 1);
    spatial_ints(lower, step, window.stride, window.naxes, 1);
    spatial_ints(lower, step, window.dilation, window.naxes, 1);
    spatial_extents(lower, step, window.begin, window.naxes);
    return step_end(lower, step);
}
