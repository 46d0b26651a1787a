/* window.c - windows that slide over spatial axes; see window.h. */
#include "infer/window.h"

#include <string.h>

static int read_ints(Infer *infer, const Node *node, const char *name, int wanted, int64_t otherwise, int64_t least,
                     int64_t *out)
{
    int            count;
    const int64_t *list = node_ints(node, name, &count);

    if (count && count != wanted)
        return diag_error(infer->diag, node->loc, "attribute '%s' has %d entries, wanted %d", name, count, wanted);
    for (int i = 0; i < wanted; i++) {
        out[i] = count ? list[i] : otherwise;
        if (out[i] < least || out[i] > INT32_MAX)
            return diag_error(infer->diag, node->loc, "attribute '%s' holds %lld, wanted %lld or more", name,
                              (long long)out[i], (long long)least);
    }
    return 0;
}

static int read_kernel(Infer *infer, const Node *node, const Extent *kernel, Window *out)
{
    int count;

    node_ints(node, "kernel_shape", &count);
    if (!count && !kernel)
        return diag_error(infer->diag, node->loc, "attribute 'kernel_shape' is missing");
    if (read_ints(infer, node, "kernel_shape", out->naxes, 1, 1, out->kernel) < 0)
        return -1;
    for (int i = 0; kernel && i < out->naxes; i++) {
        if (kernel[i].expr >= 0)
            return diag_unsupported(infer->diag, node->loc,
                                    "extent %d of the kernel is known only while running; pin it with --dim", i);
        if (count && kernel[i].max != out->kernel[i])
            return diag_error(infer->diag, node->loc,
                              "attribute 'kernel_shape' says %lld on spatial axis %d, but the weight has %lld",
                              (long long)out->kernel[i], i, (long long)kernel[i].max);
        if (kernel[i].max < 1)
            return diag_error(infer->diag, node->loc, "the weight has no elements along spatial axis %d", i);
        out->kernel[i] = kernel[i].max;
    }
    return 0;
}

static int read_padding(Infer *infer, const Node *node, Window *out)
{
    int64_t     pads[2 * MAX_RANK];
    const char *automatic = node_string(node, "auto_pad", "NOTSET");
    bool        explicit_pads = !strcmp(automatic, "NOTSET") || !*automatic;

    out->same = !strcmp(automatic, "SAME_UPPER") || !strcmp(automatic, "SAME_LOWER");
    if (!explicit_pads && !out->same && strcmp(automatic, "VALID"))
        return diag_error(infer->diag, node->loc,
                          "attribute 'auto_pad' is '%s', wanted NOTSET, SAME_UPPER, SAME_LOWER or VALID", automatic);
    if (read_ints(infer, node, "pads", 2 * out->naxes, 0, INT32_MIN, pads) < 0)
        return -1;
    for (int i = 0; i < out->naxes; i++) {
        out->begin[i] = extent_const(explicit_pads ? pads[i] : 0);
        out->end[i] = extent_const(explicit_pads ? pads[out->naxes + i] : 0);
    }
    return 0;
}

int window_read(Infer *infer, const Node *node, const Type *x, const Extent *kernel, Window *out)
{
    *out = (Window){.naxes = x->rank - 2};
    return read_kernel(infer, node, kernel, out) < 0 ||
                   read_ints(infer, node, "strides", out->naxes, 1, 1, out->stride) < 0 ||
                   read_ints(infer, node, "dilations", out->naxes, 1, 1, out->dilation) < 0 ||
                   read_padding(infer, node, out) < 0
               ? -1
               : 0;
}

/* Elements that a window spans. */
static int64_t spanned(const Window *w, int axis)
{
    return (w->kernel[axis] - 1) * w->dilation[axis] + 1;
}

/* Halves padding; of an odd number the last goes behind (SAME_UPPER) or in front. Less than none is none. */
static void share_padding(Infer *infer, const Node *node, Extent total, int axis, Window *w)
{
    Extent half;

    total = extent_op(infer->model, EXPR_MAX, total, extent_const(0));
    half = infer_div(infer, total, extent_const(2));
    w->begin[axis] = !strcmp(node_string(node, "auto_pad", ""), "SAME_UPPER") ? half : infer_sub(infer, total, half);
    w->end[axis] = infer_sub(infer, total, w->begin[axis]);
}

/* Padding for SAME: the elements that the last window lacks. */
static void same_padding(Infer *infer, const Node *node, Extent in, int axis, Window *w)
{
    Extent last = infer_mul(infer, infer_sub(infer, w->out[axis], extent_const(1)), extent_const(w->stride[axis]));

    share_padding(infer, node, infer_sub(infer, infer_add(infer, last, extent_const(spanned(w, axis))), in), axis, w);
}

/* Drops windows of ceil mode that would start in the padding at the end. */
static Extent drop_last_in_padding(Infer *infer, Extent out, Extent limit, int64_t stride)
{
    Extent fewer = infer_sub(infer, out, extent_const(1)), start = infer_mul(infer, fewer, extent_const(stride));

    return extent_select(infer->model, extent_op(infer->model, EXPR_LT, start, limit), out, fewer);
}

int window_extents(Infer *infer, const Node *node, const Type *x, bool ceil_mode, Window *w)
{
    for (int i = 0; i < w->naxes; i++) {
        Extent in = x->dim[2 + i], room, stride = extent_const(w->stride[i]);

        if (w->same) {
            w->out[i] = extent_op(infer->model, EXPR_CEILDIV, in, stride);
            same_padding(infer, node, in, i, w);
            continue;
        }
        room = infer_sub(infer, infer_add(infer, in, infer_add(infer, w->begin[i], w->end[i])),
                         extent_const(spanned(w, i)));
        if (infer_within(infer, node, room, 0, INT64_MAX,
                         "the window is larger than the padded input: the room that is left", &room) < 0)
            return -1;
        w->out[i] = infer_add(infer, extent_op(infer->model, ceil_mode ? EXPR_CEILDIV : EXPR_DIV, room, stride),
                              extent_const(1));
        if (ceil_mode)
            w->out[i] = drop_last_in_padding(infer, w->out[i], infer_add(infer, in, w->begin[i]), w->stride[i]);
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- transposed */

/* Padding from output_shape, which lists the spatial axes, or batch and channels too; SAME requires extent * stride. */
static int split_padding(Infer *infer, const Node *node, Extent full, Extent wanted, int axis, Window *w)
{
    share_padding(infer, node, infer_sub(infer, full, wanted), axis, w);
    w->out[axis] = wanted;
    return 0;
}

int window_transposed(Infer *infer, const Node *node, const Type *x, Window *w)
{
    int            nshape;
    const int64_t *shape = node_ints(node, "output_shape", &nshape);
    int64_t        more[MAX_RANK];

    if (read_ints(infer, node, "output_padding", w->naxes, 0, 0, more) < 0)
        return -1;
    if (nshape && nshape != w->naxes && nshape != w->naxes + 2)
        return diag_error(infer->diag, node->loc, "attribute 'output_shape' has %d entries, wanted %d", nshape,
                          w->naxes);
    for (int i = 0; i < w->naxes; i++) {
        Extent in = x->dim[2 + i], stride = extent_const(w->stride[i]);
        Extent full = infer_add(infer, infer_mul(infer, infer_sub(infer, in, extent_const(1)), stride),
                                extent_const(more[i] + spanned(w, i)));
        if (nshape)
            split_padding(infer, node, full, extent_const(shape[nshape - w->naxes + i]), i, w);
        else if (w->same)
            split_padding(infer, node, full, infer_mul(infer, in, stride), i, w);
        else
            w->out[i] = infer_sub(infer, full, infer_add(infer, w->begin[i], w->end[i]));
        if (infer_within(infer, node, w->out[i], 0, INT64_MAX, "an extent of the result", &w->out[i]) < 0)
            return -1;
    }
    return 0;
}
