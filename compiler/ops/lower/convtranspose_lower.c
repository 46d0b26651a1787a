/* convtranspose_lower.c - transposed convolutions. Results at equal places modulo the stride read the same taps. Each
 * such phase is a convolution of stride 1 that writes every stride-th result. Example: stride 2 in two dimensions has
 * four phases. Windows and padding with run-time extents have a kernel of their own. */
#include "lower/panels.h"
#include "lower/spatial.h"
#include "ops/lower/conv.h"
#include "ops/lower/double_lower.h"
#include "ops/rules.h"
#include "support/int.h"

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

enum { CHANNEL = 1, MOST_PHASES = 16 };

/* One axis of a phase: results first, first + stride, ..., each of which reads taps tap, tap + stride, ...
 * backwards. */
typedef struct AxisPhase {
    Extent  count;
    int64_t first, stride;
    int64_t tap, taps, dilation;
    int64_t pad,
        skip; /* padding before the input, or elements to skip where the first result reads none of its beginning */
} AxisPhase;

/* How many of the results first, first + stride, ... there are of `out`; first < stride. */
static Extent results_of_phase(Model *model, Extent out, int64_t first, int64_t stride)
{
    Extent rounded = extent_op(model, EXPR_ADD, out, extent_const(stride - 1 - first));

    return extent_op(model, EXPR_DIV, rounded, extent_const(stride));
}

/* With o = i * stride + k * dilation - begin: phase `number` has the results o with (o + begin) % stride == number. */
static AxisPhase axis_phase(Model *model, const Window *w, int axis, int64_t number)
{
    int64_t   stride = w->stride[axis], begin = w->begin[axis].max, lead;
    AxisPhase a = {.stride = stride, .tap = number, .dilation = stride > 1 ? 1 : w->dilation[axis]};

    a.first = ((number - begin) % stride + stride) % stride;
    a.count = results_of_phase(model, w->out[axis], a.first, stride);
    a.taps = int_ceil_div(w->kernel[axis] - number, stride);
    lead = (a.taps - 1) * a.dilation - (a.first + begin - number) / stride;
    a.pad = int_max(lead, 0);
    a.skip = int_max(-lead, 0);
    return a;
}

/* Whether every phase has taps and reads some of the input, with constant padding. */
static bool has_phases(Lower *lower, const Node *node, const Window *w)
{
    int64_t phases = 1;

    for (int i = 0; i < w->naxes; i++) {
        int64_t least = extent_min(lower->model, node->in[0]->type.dim[2 + i]);

        if (!extent_is_const(w->begin[i]) || extent_min(lower->model, w->out[i]) < 1 || w->kernel[i] < w->stride[i] ||
            (w->stride[i] > 1 && w->dilation[i] > 1))
            return false;
        for (int64_t n = 0; n < w->stride[i]; n++)
            if (axis_phase(lower->model, w, i, n).skip >= least)
                return false;
        phases *= w->stride[i];
        if (phases > MOST_PHASES)
            return false;
    }
    return lower_constant(lower, node->in[1]) != NULL;
}

/* The number of a tap of the whole kernel, from that of the phase; both row-major. */
static int64_t whole_tap(const Window *w, const AxisPhase *axis, int64_t tap)
{
    int64_t whole = 0, scale = 1;

    for (int i = w->naxes; i-- > 0;) {
        whole += (axis[i].tap + axis[i].stride * (axis[i].taps - 1 - tap % axis[i].taps)) * scale;
        scale *= w->kernel[i];
        tap /= axis[i].taps;
    }
    return whole;
}

/* The phase's weights, [group][output][input][tap]; of depthwise ones [tap][group]. */
static Operand phase_weights(Lower *lower, const Node *node, const Conv *c, const AxisPhase *axis)
{
    const Value *constant = lower_constant(lower, node->in[1]);
    const float *from = const_aligned(lower->arena, constant);
    int64_t      kernel = 1, rows = c->groups * c->inputs, dim[2] = {1, c->groups};
    float       *to;

    for (int i = 0; i < c->window.naxes; i++) {
        dim[0] *= axis[i].taps;
        kernel *= c->window.kernel[i];
    }
    to = arena_array(lower->program->arena, float, rows * c->outputs * dim[0] + 1);
    {
        const int64_t apart[4] = {c->outputs * c->inputs * dim[0], c->inputs * dim[0], dim[0], 1},
                      joined[4] = {1, 1, 1, c->groups};
        const int64_t *stride = c->depthwise ? joined : apart;

        for (int64_t r = 0; r < rows; r++)
            for (int64_t o = 0; o < c->outputs; o++)
                for (int64_t t = 0; t < dim[0]; t++)
                    to[r / c->inputs * stride[0] + o * stride[1] + r % c->inputs * stride[2] + t * stride[3]] =
                        from[(r * c->outputs + o) * kernel + whole_tap(&c->window, axis, t)];
        if (!c->depthwise)
            return panels_constant(lower, to, (PanelShape){c->groups, c->outputs, c->inputs, dim[0]}, stride,
                                   node->in[1]->name);
    }
    return lower_weight(lower, to, DTYPE_F32, 2, dim, node->in[1]->name);
}

/* One phase as a convolution: of the input from `skip` on, into every stride-th element of y. */
static int append_phase(Lower *lower, Deferred *p, const AxisPhase *axis, Operand y)
{
    const Conv *whole = p->detail;
    Conv        c = *whole;

    for (int i = 0; i < c.window.naxes; i++) {
        const AxisPhase *a = &axis[i];
        Extent          *step = &y.stride[2 + i];

        if (extent_is(a->count, 0))
            return 0;
        c.window.kernel[i] = a->taps;
        c.window.stride[i] = 1;
        c.window.dilation[i] = a->dilation;
        c.window.begin[i] = extent_const(a->pad);
        c.x.offset = extent_op(lower->model, EXPR_ADD, c.x.offset,
                               extent_op(lower->model, EXPR_MUL, c.x.stride[2 + i], extent_const(a->skip)));
        c.x.dim[2 + i] = extent_op(lower->model, EXPR_ADD, c.x.dim[2 + i], extent_const(-a->skip));
        y.offset = extent_op(lower->model, EXPR_ADD, y.offset,
                             extent_op(lower->model, EXPR_MUL, *step, extent_const(a->first)));
        y.dim[2 + i] = a->count;
        *step = extent_op(lower->model, EXPR_MUL, *step, extent_const(a->stride));
    }
    c.w = phase_weights(lower, p->node, whole, axis);
    return conv_append(lower, p, &c, y);
}

static int finish(Lower *lower, Deferred *p, Operand y)
{
    const Window *w = &((const Conv *)p->detail)->window;
    int64_t       phases = 1;

    for (int i = 0; i < w->naxes; i++)
        phases *= w->stride[i];
    for (int64_t n = 0; n < phases; n++) {
        AxisPhase axis[MAX_RANK];
        int64_t   left = n;

        for (int i = w->naxes; i-- > 0; left /= w->stride[i])
            axis[i] = axis_phase(lower->model, w, i, left % w->stride[i]);
        if (append_phase(lower, p, axis, y) < 0)
            return -1;
    }
    return 0;
}

/* An epilogue operand must be the same for every pixel, because the pixels of a phase are not contiguous. */
static bool accepts(const Deferred *p, const Operand *x)
{
    Extent pitch;

    return panels_pitch(p->node->graph->model, x, CHANNEL, &pitch) && extent_is(pitch, 0);
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
    if (conv_place_channels(lower, node, c) < 0 || lower_input_dense(lower, node, 2, &c->bias) < 0)
        return -1;
    return lower_output_deferred(lower, node, 0,
                                 deferred_kernel(lower, node, finish, accepts, c, LAYOUT_CHANNELS_LAST));
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
    if (has_phases(lower, node, &window))
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
