/* spatial.c - five axes for window kernels. */
#include "lower/spatial.h"

Operand spatial_image(Operand x)
{
    Operand y = x;

    y.rank = 5;
    for (int i = 2; i < 5; i++) {
        bool missing = i < 7 - x.rank;

        y.dim[i] = missing ? extent_const(1) : x.dim[i - 5 + x.rank];
        y.stride[i] = missing ? extent_const(0) : x.stride[i - 5 + x.rank];
    }
    return y;
}

Operand spatial_rows(Operand x, Extent rows, Extent row, int64_t channels, Extent column)
{
    const Extent dim[5] = {extent_const(1), extent_const(channels), extent_const(1), extent_const(1), rows};
    const Extent stride[5] = {extent_const(0), column, extent_const(0), extent_const(0), row};

    x.rank = 5;
    for (int i = 0; i < 5; i++) {
        x.dim[i] = dim[i];
        x.stride[i] = stride[i];
    }
    return x;
}

Extent spatial_share(Lower *lower, const Node *node, Extent channels)
{
    return extent_op(lower->model, EXPR_DIV, channels, extent_const(node_int(node, "group", 1)));
}

bool spatial_is_open(const Node *node)
{
    const Type *w = &node->in[1]->type;

    return !extent_is_const(w->dim[0]) || !extent_is_const(w->dim[1]);
}

void give_extents(Lower *lower, const char *name, const Extent *values, int naxes)
{
    Extent *out = arena_array(lower->program->arena, Extent, 3);

    for (int i = 0; i < 3; i++)
        out[i] = i < 3 - naxes ? extent_const(0) : values[i - 3 + naxes];
    step_give(lower, given_extents(name, 3, out));
}

void give_ints(Lower *lower, const char *name, const int64_t *values, int naxes)
{
    int64_t *out = arena_array(lower->program->arena, int64_t, 3);

    for (int i = 0; i < 3; i++)
        out[i] = i < 3 - naxes ? 1 : values[i - 3 + naxes];
    step_give(lower, given_ints(name, 3, out));
}

int spatial_channels(Lower *lower, const Node *node, Operand *x)
{
    Operand apart;

    if (lower_input(lower, node, 0, x) < 0)
        return -1;
    if (extent_is(x->dim[1], 1)) /* an axis of one element has any stride */
        x->stride[1] = extent_const(1);
    if (extent_is(x->stride[1], 1))
        return 0;
    apart = *x;
    *x = lower_temporary(lower, &node->in[0]->type, LAYOUT_CHANNELS_LAST, "channels");
    return lower_copy(lower, node, apart, *x);
}

int spatial_need(Lower *lower, const Node *node)
{
    if (node->in[0]->type.rank >= 3 && node->in[0]->type.rank <= 5)
        return 0;
    return diag_unsupported(lower->diag, node->loc,
                            "found rank %d, wanted one to three spatial axes; fold the others into the batch",
                            node->in[0]->type.rank);
}

int spatial_window(Lower *lower, const Node *node, const Extent *kernel, Window *window)
{
    Infer infer = {.model = lower->model, .diag = lower->diag};

    if (spatial_need(lower, node) < 0 || window_read(&infer, node, &node->in[0]->type, kernel, window) < 0)
        return -1;
    return window_extents(&infer, node, &node->in[0]->type, node_int(node, "ceil_mode", 0) != 0, window);
}

/* The largest three axes of an image, in front those that it does not have. */
static void three_axes(int64_t *to, const Extent *from, int naxes, bool *is_bound)
{
    for (int i = 3 - naxes; i < 3; i++) {
        to[i] = from[i - 3 + naxes].max;
        *is_bound |= !extent_is_const(from[i - 3 + naxes]);
    }
}

ConvShape spatial_shape(const Window *w, const Type *x, int64_t groups, int64_t inputs, int64_t outputs)
{
    ConvShape shape = {.batch = x->dim[0].max,
                       .groups = groups,
                       .inputs = inputs,
                       .outputs = outputs,
                       .in = {1, 1, 1},
                       .out = {1, 1, 1},
                       .kernel = {1, 1, 1},
                       .stride = {1, 1, 1},
                       .dilation = {1, 1, 1},
                       .is_bound = !extent_is_const(x->dim[0]),
                       .is_batch_bound = !extent_is_const(x->dim[0])};
    int       first = 3 - w->naxes;

    for (int i = first; i < 3; i++) {
        shape.kernel[i] = w->kernel[i - first];
        shape.stride[i] = w->stride[i - first];
        shape.dilation[i] = w->dilation[i - first];
    }
    three_axes(shape.in, x->dim + 2, w->naxes, &shape.is_bound);
    three_axes(shape.out, w->out, w->naxes, &shape.is_bound);
    three_axes(shape.pad, w->begin, w->naxes, &shape.is_bound);
    return shape;
}
