/* conv_lower.c - convolutions: channels-last results, weights in panels, elementwise consumers in the epilogue. */
#include "ops/panels.h"
#include "ops/rules.h"
#include "ops/window.h"

/* What a waiting convolution remembers. */
typedef struct Conv {
    Operand x, w, bias;
    Window  window;
    int64_t groups, inputs, outputs; /* of one group */
} Conv;

enum { CHANNEL = 1, STRAIGHT = 8 }; /* inputs of fewer channels are read in any order */

static bool accepts(const Pending *p, const Operand *x)
{
    Extent pitch;

    return panels_pitch(p->node->graph->model, x, CHANNEL, &pitch);
}

/* Strides or extents of an operand as {batch, channels, depth, height, width}; missing leading axes are 1 wide. */
static void five(const Operand *x, bool strides, Extent channels, Extent *out)
{
    int lead = 5 - x->rank;

    out[0] = strides ? x->stride[0] : x->dim[0];
    out[1] = strides ? x->stride[1] : channels;
    for (int i = 2; i < 5; i++)
        out[i] = i - lead < 2 ? extent_const(strides ? 0 : 1) : strides ? x->stride[i - lead] : x->dim[i - lead];
}

static void three(const int64_t *values, int naxes, int64_t missing, Extent *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = extent_const(i < 3 - naxes ? missing : values[i - 3 + naxes]);
}

static void put(Lower *lower, Step *step, const Operand *x, bool strides, int64_t channels)
{
    Extent values[5];

    five(x, strides, extent_const(channels), values);
    step_extents(lower, step, 5, values);
}

static int finish(Lower *lower, Pending *p, Operand y)
{
    const Conv   *c = p->detail;
    const Window *w = &c->window;
    const int64_t tile[3] = {0, 0, 0};
    Extent        pitch[SCALAR_MAX_OPERANDS], values[3];
    Step         *step = step_begin(lower, NULL, "conv_f32");

    panels_epilogue(p, CHANNEL, pitch);
    step_reads(lower, step, c->x);
    step_reads(lower, step, c->w);
    step_reads(lower, step, c->bias);
    step_writes(lower, step, y);
    step_int(lower, step, c->groups);
    put(lower, step, &c->x, false, c->inputs);
    put(lower, step, &c->x, true, 0);
    put(lower, step, &y, false, c->outputs);
    put(lower, step, &y, true, 0);
    three(w->kernel, w->naxes, 1, values);
    step_extents(lower, step, 3, values);
    three(w->stride, w->naxes, 1, values);
    step_extents(lower, step, 3, values);
    three(w->dilation, w->naxes, 1, values);
    step_extents(lower, step, 3, values);
    for (int i = 0; i < 3; i++)
        values[i] = i < 3 - w->naxes ? extent_const(0) : w->begin[i - 3 + w->naxes];
    step_extents(lower, step, 3, values);
    step_ints(lower, step, 3, tile);
    step_int(lower, step, p->noperand);
    step_extents(lower, step, p->noperand, pitch);
    if (p->expr->nnode > 1)
        step_expr(lower, step, p->expr, p->operand, p->noperand);
    return step_end(lower, step);
}

static int place_weights(Lower *lower, Node *node, Conv *c)
{
    const Type   *type = &node->in[1]->type;
    PanelShape    shape = {c->groups, c->outputs, c->inputs, 1};
    const Value  *constant;
    Operand       w;
    int64_t       stride[4];

    for (int i = 2; i < type->rank; i++)
        shape.taps *= type->dim[i].max;
    constant = lower_constant(lower, node->in[1]);
    if (constant) {
        stride[3] = 1;
        stride[2] = shape.taps;
        stride[1] = shape.taps * c->inputs;
        stride[0] = stride[1] * c->outputs;
        c->w = panels_constant(lower, const_aligned(lower->arena, constant), shape, stride, node->in[1]->name);
        return 0;
    }
    if (lower_input(lower, node, 1, &w) < 0 || panels_computed(lower, w, shape, &c->w) < 0)
        return -1;
    return 0;
}

/* A wide input whose channels are far apart is brought together first. */
static int place_input(Lower *lower, Node *node, Conv *c)
{
    Operand x;

    if (lower_input(lower, node, 0, &c->x) < 0)
        return -1;
    x = c->x;
    if (c->inputs < STRAIGHT || (extent_is_const(x.stride[1]) && x.stride[1].max == 1))
        return 0;
    c->x = lower_temporary(lower, &node->in[0]->type, LAYOUT_CHANNELS_LAST, "channels");
    return lower_copy(lower, node, x, c->x);
}

int lower_conv(Lower *lower, Node *node)
{
    Pending *p = arena_one(lower->program->arena, Pending);
    Conv    *c = arena_one(lower->program->arena, Conv);
    Infer    infer = {.model = lower->model, .diag = lower->diag};

    if (node->in[0]->type.dtype != DTYPE_F32 || node->in[0]->type.rank > 5)
        return diag_unsupported(lower->diag, node->loc, "found a convolution of rank %d over %s, wanted 1 to 3 spatial axes over "
                                "float; cast the inputs", node->in[0]->type.rank, dtype_info(node->in[0]->type.dtype)->name);
    if (window_read(&infer, node, &node->in[0]->type, node->in[1]->type.dim + 2, &c->window) < 0 ||
        window_extents(&infer, node, &node->in[0]->type, false, &c->window) < 0)
        return -1;
    c->groups = node_int(node, "group", 1);
    c->inputs = node->in[1]->type.dim[1].max;
    c->outputs = node->in[1]->type.dim[0].max / c->groups;
    if (place_input(lower, node, c) < 0 || place_weights(lower, node, c) < 0 || lower_input_dense(lower, node, 2, &c->bias) < 0)
        return -1;
    *p = (Pending){.node = node, .finish = finish, .accepts = accepts, .detail = c, .layout = LAYOUT_CHANNELS_LAST};
    p->expr = arena_one(lower->program->arena, Scalar);
    scalar_acc(lower, p->expr, DTYPE_F32);
    return lower_output_pending(lower, node, 0, p);
}
