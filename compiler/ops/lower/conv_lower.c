/* conv_lower.c - convolutions: channels-last results, weights in panels, elementwise consumers in the epilogue. */
#include "lower/cascade.h"
#include "lower/conv_after.h"
#include "lower/packing.h"
#include "lower/panels.h"
#include "lower/spatial.h"
#include "ops/lower/conv.h"
#include "ops/lower/double_lower.h"
#include "ops/rules.h"
#include "support/int.h"

enum {
    STRAIGHT = 8,   /* inputs of fewer channels are read in any order */
    FEW_OUTPUTS = 4 /* most outputs of conv_dot_f32 */
};

static bool accepts(const Deferred *p, const Operand *x)
{
    Extent pitch;

    return panels_pitch(p->node->graph->model, x, CHANNEL, &pitch);
}

/* The operands that the expression reads, as images. */
static void expression_images(Deferred *p, Operand *image, Extent *pitch)
{
    panels_epilogue(p, CHANNEL, pitch);
    for (int i = 0; i < p->noperand; i++)
        image[i] = spatial_image(p->operand[i]);
}

static int finish_winograd(Lower *lower, Deferred *p, Operand y)
{
    const Conv *c = p->detail;
    Operand     image[SCALAR_MAX_OPERANDS];
    Extent      pitch[SCALAR_MAX_OPERANDS];

    expression_images(p, image, pitch);
    return STEP(lower, NULL, "winograd_f32", ARG(x, spatial_image(c->x)), ARG(u, c->w), ARG(bias, c->bias),
                ARG(y, spatial_image(y)), ARG(scratch, lower_scratch(lower, DTYPE_F32, c->winograd.scratch, "tiles")),
                WINDOW(lower, &c->window), ARG(m, c->winograd.m), ARG(group, c->winograd.group),
                ARG(apart, c->inputs * c->outputs), FUSED(p, image, pitch));
}

static int finish(Lower *lower, Deferred *p, Operand y);
static int place_input(Lower *lower, const Node *node, Conv *c);

/* Appends the step that computes its own input; if it cannot, the input is computed first. */
static int finish_after(Lower *lower, Deferred *p, Operand y)
{
    Conv *c = p->detail;
    int   made = conv_after_finish(lower, p, c->before, c->w, c->bias, y);

    c->before = NULL;
    if (made)
        return made < 0 ? -1 : 0;
    if (lower_finish(lower, p->node->in[0]) < 0 || place_input(lower, p->node, c) < 0)
        return -1;
    return finish(lower, p, y);
}

/* Whether the taps of a row are contiguous, as conv_dot_f32 requires. */
static bool is_gapless(const Operand *x, int64_t channels)
{
    return extent_is(x->stride[CHANNEL], 1) && extent_is(x->stride[x->rank - 1], channels);
}

/* The image for the step, copied if its rows of taps are not contiguous. */
static int close_gaps(Lower *lower, const Deferred *p, const Conv *c, Operand *x)
{
    Type type;

    *x = c->x;
    if (!c->dot || is_gapless(x, c->inputs))
        return 0;
    type = p->node->in[0]->type;
    for (int i = 0; i < x->rank; i++)
        type.dim[i] = x->dim[i];
    *x = lower_temporary(lower, &type, LAYOUT_CHANNELS_LAST, "taps");
    return lower_copy(lower, NULL, c->x, *x);
}

int conv_append(Lower *lower, Deferred *p, const Conv *c, Operand y)
{
    const int64_t tile[3] = {c->vectors, 0, c->pace};
    bool          whole = !c->depthwise && !c->dot, panels = whole && !c->rows;
    Operand       x, image[SCALAR_MAX_OPERANDS];
    Extent        pitch[SCALAR_MAX_OPERANDS];

    if (close_gaps(lower, p, c, &x) < 0)
        return -1;
    expression_images(p, image, pitch);
    return STEP(lower, NULL,
                c->depthwise ? "depthwise_f32"
                : c->dot     ? "conv_dot_f32"
                : c->rows    ? "conv_krsc_f32"
                             : "conv_f32",
                ARG(x, spatial_image(x)), ARG(w, c->w), ARG(bias, c->bias), ARG(y, spatial_image(y)),
                WINDOW(lower, &c->window), ARG_IF(c->depthwise, channels, c->groups), ARG_IF(whole, groups, c->groups),
                GIVE_IF(panels, ARGS(tile, 3, tile)), FUSED(p, image, pitch));
}

static int finish(Lower *lower, Deferred *p, Operand y)
{
    Conv *c = p->detail;
    int   made;

    if (c->before)
        return finish_after(lower, p, y);
    made = cascade_finish(lower, p, y);
    if (made)
        return made < 0 ? -1 : 0;
    if (!c->x.rank && place_input(lower, p->node, c) < 0)
        return -1;
    return c->winograd.m ? finish_winograd(lower, p, y) : conv_append(lower, p, c, y);
}

/* Appends the step for some rows. c->window and c->x describe the whole image, x and pad the rows. */
static int append_rows(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y)
{
    Deferred rows = *p;
    Conv     c = *(const Conv *)p->detail;

    c.x = x;
    c.window.begin[0] = extent_const(pad);
    rows.detail = &c;
    return c.winograd.m ? finish_winograd(lower, &rows, y) : conv_append(lower, &rows, &c, y);
}

/* Appends the step for some rows where the input is computed block by block. x: the rows that the input's expression
 * reads. */
static int append_rows_after(Lower *lower, const Deferred *p, Operand x, int64_t pad, Operand y)
{
    const Conv    *c = p->detail;
    const Operand *read = conv_after_rows(c->before);
    Deferred       rows = *p, before = *c->before;

    (void)pad;
    before.operand[read - c->before->operand] = x;
    rows.type.dim[2] = y.dim[2];
    return conv_after_finish(lower, &rows, &before, c->w, c->bias, y) > 0 ? 0 : -1;
}

/* The stage of a convolution: how its rows depend on rows of its input; NULL: it cannot be one. */
static Stage *stage_of(Lower *lower, const Node *node, const Conv *c)
{
    const Operand *x = c->before ? conv_after_rows(c->before) : &c->x;
    Stage *s = x ? cascade_stage(lower, node, &c->window, *x, c->before ? append_rows_after : append_rows) : NULL;

    if (!s)
        return NULL;
    s->grain = c->winograd.m ? c->winograd.rows : 1;
    s->weights = lower->program->buffer[c->w.buffer].size;
    s->is_separate = c->before != NULL;
    s->accepts = c->before ? conv_after_accepts : NULL;
    return s;
}

/* Weights of a depthwise convolution: [tap][channel]. */
static int place_taps(Lower *lower, const Node *node, Conv *c)
{
    const Type *type = &node->in[1]->type;
    int64_t     dim[2] = {1, c->groups};
    Extent      flat[2];
    Type        taps;
    Operand     w, view;

    for (int i = 2; i < type->rank; i++)
        dim[0] *= type->dim[i].max;
    flat[0] = extent_const(dim[1]);
    flat[1] = extent_const(dim[0]);
    if (lower_constant(lower, node->in[1])) {
        const float *from = const_aligned(lower->arena, lower_constant(lower, node->in[1]));
        float       *to = arena_array(lower->program->arena, float, dim[0] * dim[1] + 1);

        for (int64_t i = 0; i < dim[0] * dim[1]; i++)
            to[i] = from[i % dim[1] * dim[0] + i / dim[1]];
        c->w = lower_weight(lower, to, DTYPE_F32, 2, dim, node->in[1]->name);
        return 0;
    }
    taps = type_tensor(DTYPE_F32, 2, dim);
    if (lower_input_dense(lower, node, 1, &w) < 0 || !operand_reshape(lower, w, 2, flat, &view))
        return -1;
    c->w = lower_temporary(lower, &taps, LAYOUT_ROW_MAJOR, "taps");
    return lower_copy(lower, node, operand_permute(view, (const int[]){1, 0}), c->w);
}

/* Weights as rows: [output][tap][input]. */
static Operand place_rows(Lower *lower, const Value *constant, int64_t outputs, int64_t inputs, int64_t taps)
{
    const int64_t dim[3] = {outputs, taps, inputs};
    const float  *from = const_aligned(lower->arena, constant);
    float        *to = arena_array(lower->program->arena, float, outputs *taps *inputs + 1);

    for (int64_t o = 0; o < outputs; o++)
        for (int64_t i = 0; i < inputs; i++)
            for (int64_t t = 0; t < taps; t++)
                to[(o * taps + t) * inputs + i] = from[(o * inputs + i) * taps + t];
    return lower_weight(lower, to, DTYPE_F32, 3, dim, constant->name);
}

/* Places weights of a convolution with few outputs: [output][tap][input]. The input must be contiguous: it is if it is
 * placed already or is a strip of a cascade; otherwise it may be copied. */
static bool place_dot(Lower *lower, const Node *node, Conv *c, int64_t taps)
{
    const Value *constant = lower_constant(lower, node->in[1]);

    if (!constant || c->before || c->groups != 1 || c->outputs > FEW_OUTPUTS || c->inputs < STRAIGHT ||
        c->window.dilation[c->window.naxes - 1] != 1 || (c->x.rank && !is_gapless(&c->x, c->inputs)))
        return false;
    c->w = place_rows(lower, constant, c->outputs, c->inputs, taps);
    c->dot = true;
    return true;
}

/* On a device all weights that are constant are rows, whatever their number. */
static bool place_on_device(Lower *lower, const Node *node, Conv *c, int64_t taps)
{
    const Value *constant = lower_constant(lower, node->in[1]);

    if (lower->program->language != LANGUAGE_DEVICE || !constant)
        return false;
    c->w = place_rows(lower, constant, c->groups * c->outputs, c->inputs, taps);
    c->rows = true;
    return true;
}

int64_t conv_pace(const Core *core, int64_t weights, int64_t rows, int64_t width)
{
    enum { NEAR_WEIGHTS = 40 * 1024, MOST = 32 };
    int64_t tiles = rows * int_ceil_div(width, core->rows[1]), pace = MOST;

    if (weights < NEAR_WEIGHTS)
        return -1;
    while (pace > 1 && pace > tiles * PACKING_PANEL / (2 * core->lanes) / 2) /* tiles of two vectors */
        pace /= 2;
    return pace;
}

static int64_t pace_at_bound(const Core *core, const ConvShape *s)
{
    int64_t taps = s->kernel[0] * s->kernel[1] * s->kernel[2], weights = taps * s->inputs * s->outputs;

    return taps == 1 ? conv_pace(core, weights, 1, s->out[1] * s->out[2])
                     : conv_pace(core, weights, s->out[1], s->out[2]);
}

/* Chooses the algorithm, direct with its tiles or Winograd: by the choices of --tuned, else by predicted time. */
static void choose_algorithm(Lower *lower, const Node *node, Conv *c)
{
    ConvShape        shape = spatial_shape(&c->window, &node->in[0]->type, c->groups, c->inputs, c->outputs);
    const Algorithm *algorithm = choice_find(lower->choices, &shape);

    c->pace = shape.is_bound ? pace_at_bound(lower->core, &shape) : 0;
    if (algorithm && !algorithm->m) {
        c->vectors = algorithm->vectors;
        c->pace = algorithm->pace;
    } else if (winograd_takes(&shape) && lower_constant(lower, node->in[1]) && lower->winograd != WINOGRAD_OFF) {
        const void *weights = panels_source(lower, lower_constant(lower, node->in[1]));
        int64_t     most =
            winograd_within(lower->winograd_error, weights, shape.kernel[1] * shape.kernel[2], c->inputs, c->outputs);

        c->winograd = algorithm && algorithm->m <= most
                          ? winograd_plan_of(&shape, algorithm->m)
                          : winograd_plan(lower->winograd, lower->core, &shape, most, lower->byte_price);
    }
}

static void place_constant(Lower *lower, const Value *constant, PanelShape shape, Conv *c)
{
    const int64_t stride[4] = {shape.taps * c->inputs * c->outputs, shape.taps * c->inputs, shape.taps, 1};

    if (c->winograd.m)
        c->w = winograd_weights(lower, panels_source(lower, constant), shape.taps, c->inputs, c->outputs, c->winograd.m,
                                constant->name);
    else
        c->w = panels_constant(lower, panels_source(lower, constant), shape, stride, constant->name);
}

static int place_weights(Lower *lower, const Node *node, Conv *c)
{
    const Type  *type = &node->in[1]->type;
    PanelShape   shape = {c->groups, c->outputs, c->inputs, 1};
    const Value *constant;
    Operand      w;

    if (c->depthwise)
        return place_taps(lower, node, c);
    choose_algorithm(lower, node, c);
    for (int i = 2; i < type->rank; i++)
        shape.taps *= type->dim[i].max;
    if (place_on_device(lower, node, c, shape.taps) || place_dot(lower, node, c, shape.taps))
        return 0;
    constant = lower_constant(lower, node->in[1]);
    if (constant) {
        place_constant(lower, constant, shape, c);
        return 0;
    }
    if (lower_input(lower, node, 1, &w) < 0 || panels_computed(lower, w, shape, &c->w) < 0)
        return -1;
    return 0;
}

int conv_place_channels(Lower *lower, const Node *node, Conv *c)
{
    if (c->inputs < STRAIGHT && !c->depthwise)
        return lower_input(lower, node, 0, &c->x);
    return spatial_channels(lower, node, &c->x);
}

static int place_input(Lower *lower, const Node *node, Conv *c)
{
    Place *place = &lower->place[node->in[0]->id];

    if (place->kind != PLACE_DEFERRED || !conv_after_takes(lower, node, place->deferred))
        return conv_place_channels(lower, node, c);
    c->before = place->deferred;
    return 0;
}

int lower_conv(Lower *lower, const Node *node)
{
    Conv     *c = arena_one(lower->program->arena, Conv);
    Deferred *p;

    if (spatial_window(lower, node, node->in[1]->type.dim + 2, &c->window) < 0)
        return -1;
    if (node->in[0]->type.dtype == DTYPE_F64 || spatial_is_open(node))
        return double_conv(lower, node, &c->window);
    c->groups = node_int(node, "group", 1);
    c->inputs = node->in[1]->type.dim[1].max;
    c->outputs = node->in[1]->type.dim[0].max / c->groups;
    c->depthwise = c->groups > 1 && c->inputs == 1 && c->outputs == 1;
    if ((!cascade_before(lower, node) && place_input(lower, node, c) < 0) || place_weights(lower, node, c) < 0 ||
        lower_input_dense(lower, node, 2, &c->bias) < 0)
        return -1;
    p = deferred_kernel(lower, node, finish, accepts, c, LAYOUT_CHANNELS_LAST);
    p->stage = stage_of(lower, node, c);
    return lower_output_deferred(lower, node, 0, p);
}
