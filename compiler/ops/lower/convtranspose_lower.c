/* convtranspose_lower.c - transposed convolutions, by phases (phases.h). Windows and padding with run-time extents have
 * a kernel of their own. */
#include "lower/panels.h"
#include "lower/spatial.h"
#include "ops/lower/conv.h"
#include "ops/lower/double_lower.h"
#include "ops/lower/phases.h"
#include "ops/rules.h"

/* Transposes weights that are computed at run time from [groups * inputs][outputs][tap ...] to [groups *
 * outputs][inputs][tap ...]. */
static int outputs_first(Lower *lower, const Node *node, int64_t groups, Operand *out)
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

/* ----------------------------------------------------------------------------------------------------------- phases */

/* The phase's weights, [group][output][input][tap] as panels; of depthwise ones [tap][group]; on a device
 * [group][output][tap][input], as rows. */
static Operand phase_weights(Lower *lower, const Node *node, const Conv *c, const AxisPhase *axis)
{
    const float  *from = const_aligned(lower->arena, lower_constant(lower, node->in[1]));
    const int64_t taps = phases_taps(&c->window, axis), rows = c->groups * c->inputs, row = c->inputs * taps;
    const int64_t panels[4] = {c->outputs * row, row, taps, 1}, apart[4] = {c->outputs * row, row, 1, c->inputs};
    const int64_t joined[4] = {1, 1, 1, c->groups}, *stride = c->depthwise ? joined : c->rows ? apart : panels;
    const int64_t dim[2] = {taps, c->groups}, lines[3] = {c->groups * c->outputs, taps, c->inputs};
    float        *to = arena_array(lower->program->arena, float, rows * c->outputs * taps + 1);
    int64_t       kernel = 1;

    for (int i = 0; i < c->window.naxes; i++)
        kernel *= c->window.kernel[i];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t o = 0; o < c->outputs; o++)
            for (int64_t t = 0; t < taps; t++)
                to[r / c->inputs * stride[0] + o * stride[1] + r % c->inputs * stride[2] + t * stride[3]] =
                    from[(r * c->outputs + o) * kernel + phases_tap(&c->window, axis, t)];
    if (c->depthwise)
        return lower_weight(lower, to, DTYPE_F32, 2, dim, node->in[1]->name);
    return c->rows ? lower_weight(lower, to, DTYPE_F32, 3, lines, node->in[1]->name)
                   : panels_constant(lower, to, (PanelShape){c->groups, c->outputs, c->inputs, taps}, stride,
                                     node->in[1]->name);
}

static int append_phase(Lower *lower, Deferred *p, const AxisPhase *axis, Operand y)
{
    const Conv *whole = p->detail;
    Conv        c = *whole;

    if (!phases_take(lower, axis, &c.window, &c.x, &y))
        return 0;
    c.w = phase_weights(lower, p->node, whole, axis);
    return conv_append(lower, p, &c, y);
}

static int finish(Lower *lower, Deferred *p, Operand y)
{
    const Window *w = &((const Conv *)p->detail)->window;

    for (int64_t n = 0; n < phases_count(w); n++) {
        AxisPhase axis[MAX_RANK];

        phases_of(lower, w, n, axis);
        if (append_phase(lower, p, axis, y) < 0)
            return -1;
    }
    return 0;
}

static int lower_phases(Lower *lower, const Node *node, const Window *window)
{
    const Type *type = &node->in[1]->type;
    Conv       *c = arena_one(lower->program->arena, Conv);

    c->window = *window;
    c->groups = node_int(node, "group", 1);
    c->inputs = type->dim[0].max / c->groups;
    c->outputs = type->dim[1].max;
    c->depthwise = c->groups > 1 && c->inputs == 1 && c->outputs == 1;
    c->rows = lower->program->language == LANGUAGE_DEVICE;
    if (conv_place_channels(lower, node, c) < 0 || lower_input_dense(lower, node, 2, &c->bias) < 0)
        return -1;
    return lower_output_deferred(lower, node, 0,
                                 deferred_kernel(lower, node, finish, phases_accept, c, LAYOUT_CHANNELS_LAST));
}

/* ------------------------------------------------------------------------------------------------- the kernel's own */

int lower_conv_transpose(Lower *lower, const Node *node)
{
    Infer        infer = {.model = lower->model, .diag = lower->diag};
    const Type  *type = &node->in[1]->type;
    int64_t      groups = node_int(node, "group", 1);
    PanelShape   shape = {groups, type->dim[1].max, type->dim[0].max / groups, 1};
    const Value *constant = lower_constant(lower, node->in[1]);
    int64_t      stride[4];
    Operand      x, w, bias, y;
    Window       window;

    if (spatial_need(lower, node) < 0 || window_read(&infer, node, &node->in[0]->type, type->dim + 2, &window) < 0 ||
        window_transposed(&infer, node, &node->in[0]->type, &window) < 0)
        return -1;
    if (node->in[0]->type.dtype == DTYPE_F64 || spatial_is_open(node))
        return double_conv_transpose(lower, node, &window);
    if (phases_exist(lower, node, &window))
        return lower_phases(lower, node, &window);
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
    return STEP(lower, node, "convtranspose_f32", ARG(x, spatial_image(x)), ARG(w, w), ARG(bias, bias),
                ARG(y, spatial_image(y)), WINDOW(lower, &window), ARG(groups, groups));
}
