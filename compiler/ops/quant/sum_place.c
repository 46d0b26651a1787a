/* sum_place.c - operands of sums of 8-bit integers: weights in panels or by taps, bias combined with the zero point,
 * borders for images of few channels. */
#include "lower/spatial.h"
#include "ops/lower/linear_lower.h"
#include "ops/quant/pack4.h"
#include "ops/quant/sum.h"
#include "support/int.h"

#include <string.h>

enum { ONES = 64 };

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
static int place_bias(Lower *lower, const Node *node, Sum *s, int zero, int bias, const int32_t *sums)
{
    Value   *add = bias < node->nin ? node->in[bias] : NULL;
    int64_t  count = s->outputs ? s->groups * s->outputs : s->groups;
    int32_t *data = arena_array(lower->program->arena, int32_t, count + 1);
    double   number = 0.0;
    bool     known = zero_is_known(lower, node, zero, &number);
    bool fold = known && sums && (node->in[0]->type.dtype == DTYPE_U8 || !lower_has_vectors(lower) || s->winograd.m);

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
static void place_taps(Lower *lower, const Node *node, Sum *s, const int8_t *from, int64_t taps)
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

/* Chooses Winograd's transform if its predicted time is shorter and the zero point is known. */
static void choose_winograd(Lower *lower, const Node *node, Sum *s, const int8_t *data)
{
    ConvShape shape = spatial_shape(&s->window, &node->in[0]->type, s->groups, s->inputs, s->outputs);
    double    zero;

    if (!s->is_matmul && zero_is_known(lower, node, 3, &zero))
        s->winograd =
            winograd_q_plan(lower->winograd, lower->core, &shape, node->in[0]->type.dtype, data, lower->byte_price);
}

static int place_panels(Lower *lower, const Node *node, Sum *s, const int8_t *data, PanelShape shape,
                        const int64_t *stride)
{
    if (s->winograd.m) {
        s->kernel = "winograd_q";
        s->w = winograd_q_weights(lower, data, shape.taps, s->inputs, s->outputs, s->winograd.m, node->in[1]->name);
    } else {
        s->kernel = "conv_q";
        s->third = pack4_is_safe(data, shape, stride);
        s->w = pack4_constant(lower, data, shape, stride, node->in[1]->name);
    }
    return place_bias(lower, node, s, 3, 4, pack4_sums(lower, data, shape, stride));
}

static int place_weights(Lower *lower, const Node *node, Sum *s, PanelShape shape, const int64_t *stride)
{
    const int8_t *data = panels_source(lower, lower_constant(lower, node->in[1]));

    choose_winograd(lower, node, s, data);
    if (s->groups > 1 && s->inputs == 1 && s->outputs == 1) {
        place_taps(lower, node, s, data, shape.taps);
        return place_bias(lower, node, s, 3, 4, NULL);
    }
    return place_panels(lower, node, s, data, shape, stride);
}

/* Whether an image has few channels, so that taps of a row are read as channels of one and four of them fill a lane. */
static bool is_narrow(const Node *node, const Sum *s)
{
    const Window *w = &s->window;

    if (s->groups != 1 || s->inputs >= 4 || w->naxes != 2 || w->kernel[1] < 2 || w->dilation[1] != 1 ||
        !extent_is_const(node->in[0]->type.dim[1]))
        return false;
    for (int i = 0; i < 2; i++)
        if (!extent_is_const(w->begin[i]) || !extent_is_const(w->end[i]) || w->begin[i].max < 0 || w->end[i].max < 0)
            return false;
    return true;
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

/* Places the convolution over rows of taps for an image of few channels. */
static int place_narrow(Lower *lower, const Node *node, Sum *s)
{
    const Window *w = &s->window;
    int64_t       rows = w->kernel[0], wide = w->kernel[1] * s->inputs;
    PanelShape    shape = {1, s->outputs, wide, rows};
    const int64_t stride[4] = {0, rows * wide, 1, wide};
    const int8_t *data =
        turn_weights(lower, const_aligned(lower->arena, lower_constant(lower, node->in[1])), s, rows, w->kernel[1]);

    s->is_narrow = true;
    s->inputs = wide;
    return place_panels(lower, node, s, data, shape, stride);
}

int sum_place_conv(Lower *lower, const Node *node, Sum *s)
{
    const Type *type = &node->in[1]->type;
    PanelShape  shape = {.taps = 1};
    int64_t     stride[4];

    shape.groups = s->groups = node_int(node, "group", 1);
    shape.inputs = s->inputs = type->dim[1].max;
    shape.outputs = s->outputs = type->dim[0].max / s->groups;
    if (spatial_window(lower, node, type->dim + 2, &s->window) < 0)
        return -1;
    if (is_narrow(node, s))
        return place_narrow(lower, node, s);
    for (int i = 2; i < type->rank; i++)
        shape.taps *= type->dim[i].max;
    stride[3] = 1;
    stride[2] = shape.taps;
    stride[1] = shape.taps * shape.inputs;
    stride[0] = stride[1] * shape.outputs;
    return place_weights(lower, node, s, shape, stride);
}

int sum_place_matmul(Lower *lower, const Node *node, Sum *s)
{
    const Type   *type = &node->in[1]->type;
    PanelShape    shape = {1, type->dim[1].max, type->dim[0].max, 1};
    const int64_t stride[4] = {0, 1, type->dim[1].max, 0};
    Operand       x;

    s->is_matmul = true;
    s->groups = 1;
    s->inputs = shape.inputs;
    s->outputs = shape.outputs;
    if (lower_input_dense(lower, node, 0, &x) < 0 || linear_rows(lower, x, s->inputs, &s->rows, &s->x) < 0)
        return -1;
    return place_weights(lower, node, s, shape, stride);
}

int sum_place_phase(Lower *lower, const Node *node, const AxisPhase *axis, Sum *s)
{
    const int8_t *from = const_aligned(lower->arena, lower_constant(lower, node->in[1]));
    int64_t       taps = phases_taps(&s->window, axis), kernel = 1;
    PanelShape    shape = {1, s->outputs, s->inputs, taps};
    const int64_t stride[4] = {0, s->inputs * taps, taps, 1};
    int8_t       *to = arena_array(lower->program->arena, int8_t, s->outputs * s->inputs * taps + 1), *next = to;

    for (int i = 0; i < s->window.naxes; i++)
        kernel *= s->window.kernel[i];
    for (int64_t o = 0; o < s->outputs; o++)
        for (int64_t i = 0; i < s->inputs; i++)
            for (int64_t t = 0; t < taps; t++)
                *next++ = from[(i * s->outputs + o) * kernel + phases_tap(&s->window, axis, t)];
    return place_panels(lower, node, s, to, shape, stride);
}

/* Inputs: x, scale, zero point. A sum is a convolution of each channel with ones. */
int sum_place_pool(Lower *lower, const Node *node, Sum *s)
{
    const int64_t ones = ONES;
    int8_t       *data = arena_array(lower->program->arena, int8_t, ONES);

    for (int i = 0; i < ONES; i++)
        data[i] = 1;
    if (spatial_window(lower, node, NULL, &s->window) < 0)
        return -1;
    s->kernel = "depthwise_q";
    s->groups = node->in[0]->type.dim[1].max;
    s->w = lower_weight(lower, data, DTYPE_I8, 1, &ones, "ones");
    return place_bias(lower, node, s, 2, 3, NULL);
}

int sum_place_image(Lower *lower, const Node *node, Sum *s)
{
    return s->is_narrow ? lower_input(lower, node, 0, &s->x) : spatial_channels(lower, node, &s->x);
}

/* ---------------------------------------------------------------------------------------------------- narrow images */

static Extent plus(Lower *lower, Extent a, int64_t b)
{
    return extent_op(lower->model, EXPR_ADD, a, extent_const(b));
}

Type sum_bordered(Lower *lower, const Sum *s, const Type *x)
{
    Type type = *x;

    type.dim[3] = plus(lower, x->dim[3], s->window.begin[1].max + s->window.end[1].max);
    return type;
}

/* Fills y with the zero point of x, which is constant or computed. */
static int fill(Lower *lower, const Sum *s, Operand y)
{
    int8_t *zero = arena_one(lower->program->arena, int8_t);
    Operand point = s->zero;

    *zero = (int8_t)(int)s->xzero;
    point.rank = 0; /* it is one element */
    if (extent_is(y.dim[2], 0) || extent_is(y.dim[3], 0))
        return 0;
    if (point.buffer < 0)
        point = lower_weight(lower, zero, y.dtype, 0, NULL, "border");
    return lower_copy(lower, NULL, point, y);
}

int sum_border(Lower *lower, const Sum *s, Operand x, Operand bordered)
{
    const Extent *begin = &s->window.begin[1], *end = &s->window.end[1], last = plus(lower, bordered.dim[3], -end->max);

    if (fill(lower, s, operand_window(lower, bordered, 3, extent_const(0), *begin, 1)) < 0 ||
        fill(lower, s, operand_window(lower, bordered, 3, last, *end, 1)) < 0)
        return -1;
    return lower_copy(lower, NULL, x, operand_window(lower, bordered, 3, *begin, x.dim[3], 1));
}

Sum sum_of_bordered(Lower *lower, const Sum *s, Operand bordered)
{
    Sum sum = *s;

    sum.is_narrow = false;
    sum.x = bordered;
    sum.x.dim[1] = extent_const(s->inputs); /* a pixel is a row of taps, which overlaps that of the next pixel */
    sum.x.dim[3] = plus(lower, bordered.dim[3], 1 - s->window.kernel[1]);
    sum.window.kernel[1] = 1;
    sum.window.begin[0] = sum.window.begin[1] = extent_const(0);
    return sum;
}

int sum_widen(Lower *lower, const Sum *s, Sum *wide)
{
    const Window *w = &s->window;
    Operand       x = s->x, y, inside;
    Type          type = {.kind = TYPE_TENSOR, .dtype = x.dtype, .rank = x.rank};

    memcpy(type.dim, x.dim, sizeof type.dim);
    type = sum_bordered(lower, s, &type);
    type.dim[2] = plus(lower, x.dim[2], w->begin[0].max + w->end[0].max);
    y = lower_temporary(lower, &type, LAYOUT_CHANNELS_LAST, "bordered");
    inside = operand_window(lower, operand_window(lower, y, 2, w->begin[0], x.dim[2], 1), 3, w->begin[1], x.dim[3], 1);
    *wide = sum_of_bordered(lower, s, y);
    if (w->begin[0].max + w->end[0].max + w->begin[1].max + w->end[1].max > 0 && fill(lower, s, y) < 0)
        return -1;
    return lower_copy(lower, NULL, x, inside);
}
