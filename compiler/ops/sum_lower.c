/* sum_lower.c - IntegerConv, IntegerProduct and IntegerPool: exact sums of 8-bit integers times a scale, waiting for their
 * consumers. A QuantizeLinear at the end of those is left to the kernel, which rounds and stores bytes itself. */
#include "ops/linear.h"
#include "ops/quads.h"
#include "ops/rules.h"
#include "ops/spatial.h"
#include "ops/strip.h"
#include "ops/winograd.h"

#include <string.h>

enum { CHANNEL = 1, ONES = 64 };

/* A waiting kernel. */
typedef struct Sum {
    const char *kernel; /* conv_q, winograd_q or depthwise_q */
    WinogradPlan winograd; /* m > 0: in the transformed domain */
    Operand     x, w, bias, sums, zero;
    bool        is_product;      /* x is [rows][inputs], not an image */
    Extent      rows;
    Window      window;
    int64_t     groups, inputs, outputs; /* channels of one group */
    int64_t     xzero, third;    /* the kernel's argument `how` */
} Sum;

/* ----------------------------------------------------------------------------------------------------- the end of a chain */

/* The zero point of a QuantizeLinear at the end of the expression, which is cut off: round, + zero point, max, min, cast. */
static int32_t take_tail(Scalar *s)
{
    const ScalarNode *node = s->node;
    int               last = s->nnode - 1, at;
    int32_t           zero = 0;

    if (last < 5 || node[last].op != SCALAR_CAST || (node[last].dtype != DTYPE_U8 && node[last].dtype != DTYPE_I8) ||
        node[node[last].a].op != SCALAR_min || node[node[node[last].a].a].op != SCALAR_max)
        return 0;
    at = node[node[node[last].a].a].a;
    if (node[at].op == SCALAR_add && node[node[at].b].op == SCALAR_LITERAL) {
        zero = (int32_t)node[node[at].b].literal;
        at = node[at].a;
    }
    if (node[at].op != SCALAR_round || node[at].a != at - 1)
        return 0;
    s->nnode = at;
    return zero;
}

/* ------------------------------------------------------------------------------------------------------------- the step */

static void put_image(Lower *lower, Step *step, const Sum *s, const Operand *y)
{
    const Window *w = &s->window;
    bool          each = s->outputs == 0;

    spatial_images(lower, step, &s->x, each ? s->groups : s->inputs, y, each ? s->groups : s->outputs);
    if (!s->winograd.m) {
        spatial_ints(lower, step, w->kernel, w->naxes, 1);
        spatial_ints(lower, step, w->stride, w->naxes, 1);
        spatial_ints(lower, step, w->dilation, w->naxes, 1);
    }
    spatial_extents(lower, step, w->begin, w->naxes);
}

/* A product is a convolution of one tap over rows. */
static void put_rows(Lower *lower, Step *step, const Sum *s, const Operand *y)
{
    static const int64_t none[3] = {0, 0, 0}, one[3] = {1, 1, 1};
    const Extent         unit = extent_const(1), zero = extent_const(0);
    Extent               row = zero;

    panels_pitch(lower->model, y, y->rank - 1, &row);
    step_extents(lower, step, 5, (const Extent[]){unit, extent_const(s->inputs), unit, unit, s->rows});
    step_extents(lower, step, 5, (const Extent[]){zero, unit, zero, zero, s->x.stride[0]});
    step_extents(lower, step, 5, (const Extent[]){unit, extent_const(s->outputs), unit, unit, s->rows});
    step_extents(lower, step, 5, (const Extent[]){zero, y->stride[y->rank - 1], zero, zero, row});
    for (int i = 0; i < 3; i++)
        step_ints(lower, step, 3, one);
    step_ints(lower, step, 3, none);
}

/* Results in a row as the kernel takes them: an image of one tap is one long row. */
static int64_t results_in_row(const Sum *s, const Operand *y)
{
    int64_t row = s->is_product ? s->rows.max : y->dim[y->rank - 1].max, taps = 1;

    for (int i = 0; !s->is_product && i < s->window.naxes; i++)
        taps *= s->window.kernel[i] * s->window.stride[i];
    for (int i = 2; !s->is_product && taps == 1 && i < y->rank - 1; i++)
        row *= y->dim[i].max;
    return row;
}

/* How inputs are widened, for processors that multiply pairs of 16 bits. */
static StripPlan strip_of(const Lower *lower, const Sum *s, const Operand *y)
{
    const Buffer *buffer = lower->program->buffer;
    const Window *w = &s->window;
    int           last = w->naxes - 1;
    StripShape    shape = {s->inputs, s->outputs, results_in_row(s, y), 1, 1, 1, 1, buffer[s->x.buffer].size + buffer[y->buffer].size};

    if (!s->outputs || s->winograd.m || !lower_has_vectors(lower))
        return (StripPlan){0, false, 0};
    if (!s->is_product) {
        shape.kernel = w->kernel[last];
        shape.stride = w->stride[last];
        shape.dilation = w->dilation[last];
    }
    for (int i = 0; !s->is_product && i < last; i++)
        shape.rows *= w->kernel[i];
    return strip_plan(&shape);
}

/* What the kernels' arguments begin with. */
static void put_operands(Lower *lower, Step *step, const Sum *s, Operand y, StripPlan strip)
{
    step_reads(lower, step, s->x);
    step_reads(lower, step, s->w);
    step_reads(lower, step, s->bias);
    if (s->outputs && !s->winograd.m)
        step_reads(lower, step, s->sums);
    if (!s->winograd.m)
        step_reads(lower, step, s->zero);
    step_writes(lower, step, y);
    if (s->winograd.m) {
        step_writes(lower, step, lower_scratch(lower, DTYPE_I32, winograd_q_scratch(s->winograd, s->inputs), "tiles"));
        step_int(lower, step, s->winograd.m);
        step_int(lower, step, s->winograd.group);
    } else if (s->outputs) {
        step_writes(lower, step, strip.columns ? lower_scratch(lower, DTYPE_I32, strip.words, "strip") : operand_absent(DTYPE_I32));
        step_int(lower, step, s->groups);
    }
}

static int append(Lower *lower, const Sum *s, Operand y, Pending *p)
{
    StripPlan strip = strip_of(lower, s, &y);
    int64_t   how[5] = {s->xzero, 0, s->third, strip.columns, strip.weighs};
    Extent    pitch[SCALAR_MAX_OPERANDS];
    int       count = p ? p->noperand : 0, channel = s->is_product ? y.rank - 1 : CHANNEL;
    Step     *step = step_begin(lower, NULL, arena_printf(lower->program->arena, "%s_%s_%s", s->kernel, dtype_info(s->x.dtype)->suffix,
                                                        dtype_info(y.dtype)->suffix));

    if (p) {
        how[1] = take_tail(p->expr);
        panels_epilogue(p, channel, pitch);
    }
    put_operands(lower, step, s, y, strip);
    if (s->is_product)
        put_rows(lower, step, s, &y);
    else
        put_image(lower, step, s, &y);
    step_ints(lower, step, s->winograd.m ? 2 : s->outputs ? 5 : 3, how);
    step_int(lower, step, count);
    step_extents(lower, step, count, pitch);
    if (p && p->expr->nnode > 1)
        step_expr(lower, step, p->expr, p->operand, count);
    return step_end(lower, step);
}

static bool accepts(const Pending *p, const Operand *x)
{
    const Sum *s = p->detail;
    Extent     pitch;

    return panels_pitch(p->node->graph->model, x, s->is_product ? x->rank - 1 : CHANNEL, &pitch);
}

/* Rows of a product lie at equal distances; the kernel stores bytes and floats. */
static int finish(Lower *lower, Pending *p, Operand y)
{
    const Sum *s = p->detail;
    Operand    whole = y;
    Extent     row;

    if (s->is_product && !panels_pitch(lower->model, &y, y.rank - 1, &row))
        whole = lower_temporary(lower, &p->type, LAYOUT_ROW_MAJOR, "product");
    if (append(lower, s, whole, p) < 0)
        return -1;
    return whole.buffer == y.buffer ? 0 : lower_copy(lower, NULL, whole, y);
}

/* ---------------------------------------------------------------------------------------------------------- operands */

static Operand place_words(Lower *lower, const int32_t *data, int64_t count, const char *name)
{
    return lower_weight(lower, data, DTYPE_I32, 1, &count, name);
}

/* The zero point of input `index`, 0 where there is none; false: it is computed. */
static bool zero_is_known(Lower *lower, const Node *node, int index, double *number)
{
    Value *point = index < node->nin ? node->in[index] : NULL;

    *number = 0.0;
    return !point || (lower_constant(lower, point) && const_scalar(lower_constant(lower, point), number));
}

/* Bias and zero point: both in one constant where the zero point is known and x needs no other form of it. */
static int place_bias(Lower *lower, Node *node, Sum *s, int zero, int bias, const int32_t *sums)
{
    Value   *add = bias < node->nin ? node->in[bias] : NULL;
    int64_t  count = s->outputs ? s->groups * s->outputs : s->groups;
    int32_t *data = arena_array(lower->program->arena, int32_t, count + 1);
    double   number = 0.0;
    bool     known = zero_is_known(lower, node, zero, &number);
    bool     fold = known && sums && (node->in[0]->type.dtype == DTYPE_U8 || !lower_has_vectors(lower) || s->winograd.m);

    s->zero = s->sums = s->bias = operand_absent(DTYPE_I32);
    s->zero.dtype = node->in[0]->type.dtype;
    s->xzero = known ? (int64_t)number : 0;
    if (!known && lower_input(lower, node, zero, &s->zero) < 0)
        return -1;
    if (add)
        memcpy(data, const_aligned(lower->arena, lower_constant(lower, add)), (size_t)count * sizeof *data);
    for (int64_t i = 0; fold && i < count; i++)
        data[i] -= (int32_t)number * sums[i];
    if (add || fold)
        s->bias = place_words(lower, data, count, "bias");
    if (sums && !fold)
        s->sums = place_words(lower, sums, count, "sums");
    return 0;
}

/* [tap][channel] */
static void place_taps(Lower *lower, Node *node, Sum *s, const int8_t *from, int64_t taps)
{
    int64_t dim[2] = {taps, s->groups};
    int8_t *to = arena_array(lower->program->arena, int8_t, dim[0] * dim[1] + 1);

    for (int64_t i = 0; i < dim[0] * dim[1]; i++)
        to[i] = from[i % dim[1] * dim[0] + i / dim[1]];
    s->kernel = "depthwise_q";
    s->outputs = 0;
    s->third = s->groups;
    s->w = lower_weight(lower, to, DTYPE_I8, 2, dim, node->in[1]->name);
}

/* In the transformed domain where that is predicted to be faster and the zero point is known. */
static void choose_winograd(Lower *lower, const Node *node, Sum *s, const int8_t *data)
{
    ConvShape shape;
    double    zero;

    if (!s->is_product && zero_is_known(lower, node, 3, &zero) &&
        spatial_shape(&s->window, &node->in[0]->type, s->groups, s->inputs, s->outputs, &shape))
        s->winograd = winograd_q_plan(lower->winograd, lower->core, &shape, s->x.dtype, data);
}

static int place_panels(Lower *lower, Node *node, Sum *s, const int8_t *data, PanelShape shape, const int64_t *stride)
{
    if (s->winograd.m) {
        s->kernel = "winograd_q";
        s->w = winograd_q_weights(lower, data, s->inputs, s->outputs, s->winograd.m, node->in[1]->name);
    } else {
        s->kernel = "conv_q";
        s->third = quads_are_safe(data, shape, stride);
        s->w = quads_constant(lower, data, shape, stride, node->in[1]->name);
    }
    return place_bias(lower, node, s, 3, 4, quads_sums(lower, data, shape, stride));
}

static int place_weights(Lower *lower, Node *node, Sum *s, PanelShape shape, const int64_t *stride)
{
    const int8_t *data = const_aligned(lower->arena, lower_constant(lower, node->in[1]));

    choose_winograd(lower, node, s, data);
    if (s->groups > 1 && s->inputs == 1 && s->outputs == 1) {
        place_taps(lower, node, s, data, shape.taps);
        return place_bias(lower, node, s, 3, 4, NULL);
    }
    return place_panels(lower, node, s, data, shape, stride);
}

static int read_window(Lower *lower, Node *node, const Extent *kernel, bool ceil_mode, Window *window)
{
    Infer infer = {.model = lower->model, .diag = lower->diag};

    if (spatial_need(lower, node) < 0 || window_read(&infer, node, &node->in[0]->type, kernel, window) < 0)
        return -1;
    return window_extents(&infer, node, &node->in[0]->type, ceil_mode, window);
}

/* An image of few channels: taps of a row are read as channels of one, so that four of them meet four weights. */
static bool is_narrow(Lower *lower, const Node *node, const Sum *s)
{
    const Window *w = &s->window;
    double        zero;

    if (s->groups != 1 || s->inputs >= 4 || w->naxes != 2 || w->kernel[1] < 2 || w->dilation[1] != 1 || !type_is_static(&node->in[0]->type))
        return false;
    for (int i = 0; i < 2; i++)
        if (!extent_is_const(w->begin[i]) || !extent_is_const(w->end[i]) || !extent_is_const(w->out[i]) || w->begin[i].max < 0 ||
            w->end[i].max < 0)
            return false;
    return zero_is_known(lower, node, 3, &zero);
}

/* x between borders of its zero point, channels last; then no tap lies outside. */
static int place_bordered(Lower *lower, Node *node, Sum *s)
{
    Window *w = &s->window;
    Type    type = node->in[0]->type;
    int8_t *zero = arena_array(lower->program->arena, int8_t, 1);
    double  number = 0.0;
    Operand x, inside;

    if (lower_input(lower, node, 0, &x) < 0)
        return -1;
    zero_is_known(lower, node, 3, &number);
    *zero = (int8_t)(int)number;
    for (int i = 0; i < 2; i++)
        type.dim[2 + i].max += w->begin[i].max + w->end[i].max;
    inside = s->x = lower_temporary(lower, &type, LAYOUT_CHANNELS_LAST, "bordered");
    for (int i = 0; i < 2; i++)
        inside = operand_window(lower, inside, 2 + i, w->begin[i], node->in[0]->type.dim[2 + i], 1);
    if (inside.dim[2].max != s->x.dim[2].max || inside.dim[3].max != s->x.dim[3].max)
        if (lower_copy(lower, node, lower_weight(lower, zero, x.dtype, 0, NULL, "border"), s->x) < 0)
            return -1;
    return lower_copy(lower, node, x, inside);
}

/* Weights [output][input][row][column] as [output][row][column][input]. */
static const int8_t *turn_weights(Lower *lower, const int8_t *from, const Sum *s, int64_t rows, int64_t columns)
{
    int8_t *to = arena_array(lower->program->arena, int8_t, s->outputs * rows * columns * s->inputs + 1), *next = to;

    for (int64_t o = 0; o < s->outputs; o++)
        for (int64_t t = 0; t < rows * columns; t++)
            for (int64_t i = 0; i < s->inputs; i++)
                *next++ = from[(o * s->inputs + i) * rows * columns + t];
    return to;
}

/* The convolution of rows of taps that an image of few channels gives. */
static int place_narrow(Lower *lower, Node *node, Sum *s)
{
    Window       *w = &s->window;
    int64_t       rows = w->kernel[0], wide = w->kernel[1] * s->inputs;
    PanelShape    shape = {1, s->outputs, wide, rows};
    const int64_t stride[4] = {0, rows * wide, 1, wide};
    const int8_t *data = turn_weights(lower, const_aligned(lower->arena, lower_constant(lower, node->in[1])), s, rows, w->kernel[1]);

    if (place_bordered(lower, node, s) < 0)
        return -1;
    s->inputs = wide;
    s->x.dim[3].max -= w->kernel[1] - 1;
    w->kernel[1] = 1;
    w->begin[0] = w->begin[1] = extent_const(0);
    return place_panels(lower, node, s, data, shape, stride);
}

static int place_conv(Lower *lower, Node *node, Sum *s)
{
    const Type *type = &node->in[1]->type;
    PanelShape  shape = {.taps = 1};
    int64_t     stride[4];

    shape.groups = s->groups = node_int(node, "group", 1);
    shape.inputs = s->inputs = type->dim[1].max;
    shape.outputs = s->outputs = type->dim[0].max / s->groups;
    if (read_window(lower, node, type->dim + 2, false, &s->window) < 0)
        return -1;
    if (is_narrow(lower, node, s))
        return place_narrow(lower, node, s);
    if (spatial_channels(lower, node, &s->x) < 0)
        return -1;
    for (int i = 2; i < type->rank; i++)
        shape.taps *= type->dim[i].max;
    stride[3] = 1;
    stride[2] = shape.taps;
    stride[1] = shape.taps * shape.inputs;
    stride[0] = stride[1] * shape.outputs;
    return place_weights(lower, node, s, shape, stride);
}

static int place_product(Lower *lower, Node *node, Sum *s)
{
    const Type *type = &node->in[1]->type;
    PanelShape  shape = {1, type->dim[1].max, type->dim[0].max, 1};
    const int64_t stride[4] = {0, 1, type->dim[1].max, 0};
    Operand     x;

    s->is_product = true;
    s->groups = 1;
    s->inputs = shape.inputs;
    s->outputs = shape.outputs;
    if (lower_input_dense(lower, node, 0, &x) < 0 || linear_rows(lower, x, s->inputs, &s->rows, &s->x) < 0)
        return -1;
    return place_weights(lower, node, s, shape, stride);
}

/* ------------------------------------------------------------------------------------------------------------- the rules */

/* The sum times its scale: one number, or one for each channel. */
static int start(Lower *lower, Node *node, Sum *s, int scale)
{
    Layout         layout = s->is_product ? LAYOUT_ROW_MAJOR : LAYOUT_CHANNELS_LAST;
    Pending       *p = pending_kernel(lower, node, finish, accepts, s, layout);
    const Value   *constant = lower_constant(lower, node->in[scale]);
    const Type    *type = &node->out[0]->type;
    double         number;
    Operand        x;
    int            factor;

    p->bytes = true;
    if (constant && const_scalar(constant, &number)) {
        if (number == 1.0)
            return lower_output_pending(lower, node, 0, p);
        factor = scalar_literal(lower, p->expr, DTYPE_F32, number);
    } else {
        if (lower_input_dense(lower, node, scale, &x) < 0)
            return -1;
        for (int i = x.rank; !s->is_product && x.rank > 0 && i < type->rank - CHANNEL; i++, x.rank++) {
            x.dim[i] = extent_const(1);
            x.stride[i] = extent_const(0);
        }
        p->operand[p->noperand] = operand_broadcast(lower, x, type->rank, type->dim);
        factor = scalar_load(lower, p->expr, DTYPE_F32, p->noperand++);
    }
    scalar_op(lower, p->expr, SCALAR_mul, 0, factor, -1);
    return lower_output_pending(lower, node, 0, p);
}

int lower_integer_conv(Lower *lower, Node *node)
{
    Sum *s = arena_one(lower->program->arena, Sum);

    return place_conv(lower, node, s) < 0 ? -1 : start(lower, node, s, 2);
}

int lower_integer_product(Lower *lower, Node *node)
{
    Sum *s = arena_one(lower->program->arena, Sum);

    return place_product(lower, node, s) < 0 ? -1 : start(lower, node, s, 2);
}

/* Inputs: x, scale, zero point. A sum is a convolution of each channel with ones. */
int lower_integer_pool(Lower *lower, Node *node)
{
    const int64_t ones = ONES;
    Sum          *s = arena_one(lower->program->arena, Sum);
    int8_t       *data = arena_array(lower->program->arena, int8_t, ONES);

    for (int i = 0; i < ONES; i++)
        data[i] = 1;
    if (read_window(lower, node, NULL, node_int(node, "ceil_mode", 0) != 0, &s->window) < 0 || spatial_channels(lower, node, &s->x) < 0)
        return -1;
    s->kernel = "depthwise_q";
    s->groups = node->in[0]->type.dim[1].max;
    s->w = lower_weight(lower, data, DTYPE_I8, 1, &ones, "ones");
    return place_bias(lower, node, s, 2, 3, NULL) < 0 ? -1 : start(lower, node, s, 1);
}
