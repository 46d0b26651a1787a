/* slice_infer.c - the type of Slice, and what it takes of each axis; see slice.h. */
#include "ops/infer/slice_infer.h"
#include "infer/axes.h"
#include "infer/data_propagation.h"
#include "ops/rules.h"

/* Entries of the inputs. */
typedef struct SliceInputs {
    int    count;
    Extent start[MAX_RANK], end[MAX_RANK],
        step[MAX_RANK]; /* negative places count from the back, large ones mean the end */
    Axes axes;
} SliceInputs;

static int read_cuts(Infer *infer, const Node *node, SliceInputs *cuts)
{
    int ends, steps = -1;

    cuts->count = infer_elems(infer, node, 1, INT64_MIN, INT64_MAX, cuts->start, MAX_RANK);
    ends = infer_elems(infer, node, 2, INT64_MIN, INT64_MAX, cuts->end, MAX_RANK);
    if (cuts->count < 0 || ends < 0 || axes_read(infer, node, 3, node->in[0]->type.rank, &cuts->axes) < 0)
        return -1;
    if (infer_has(node, 4))
        steps = infer_elems(infer, node, 4, -INT64_MAX, INT64_MAX, cuts->step, MAX_RANK);
    if (infer_has(node, 4) && steps < 0)
        return -1;
    if (ends != cuts->count || (cuts->axes.count >= 0 && cuts->axes.count != cuts->count) ||
        (steps >= 0 && steps != cuts->count) || cuts->count > node->in[0]->type.rank)
        return diag_error(infer->diag, node->loc,
                          "starts, ends, axes and steps have %d, %d, %d and %d entries, wanted as many", cuts->count,
                          ends, cuts->axes.count, steps);
    for (int i = 0; i < cuts->count; i++) {
        if (steps < 0)
            cuts->step[i] = extent_const(1);
        else if (infer_check(infer, node,
                             extent_op(infer->model, EXPR_EQ,
                                       extent_op(infer->model, EXPR_EQ, cuts->step[i], extent_const(0)),
                                       extent_const(0)),
                             "a step is 0") < 0)
            return -1;
    }
    return 0;
}

/* Clamps a place that is far outside to a nearer one, which means the same end and can be added to without overflow. */
static Extent tamed(Infer *infer, Extent at, Extent extent)
{
    const int64_t far = (int64_t)1 << 60;

    if (at.expr < 0 || (extent_min(infer->model, at) >= -far && at.max <= far))
        return at;
    return infer_clamp(infer, at, infer_sub(infer, extent_const(-1), extent), extent);
}

/* A place counted from the front, within [lo,hi]. */
static Extent position(Infer *infer, Extent at, Extent extent, Extent lo, Extent hi)
{
    Extent from_back;

    at = tamed(infer, at, extent);
    from_back = infer_add(infer, at, extent);

    if (extent_min(infer->model, at) < 0)
        at = at.max < 0
                 ? from_back
                 : extent_select(infer->model, extent_op(infer->model, EXPR_LT, at, extent_const(0)), from_back, at);
    return infer_clamp(infer, at, lo, hi);
}

/* At most this many elements lie between start and end, where both count from the same side: clamping brings them only
 * closer. An interval of its own, since that of the difference of two clamped ends is wider. */
static Extent distance(Infer *infer, Extent start, Extent end, Extent extent)
{
    Model *model = infer->model;
    bool   start_front = extent_min(model, start) >= 0, start_back = start.max < 0;

    if (start_back && extent_min(model, end) >= extent.max)
        end = extent_const(0); /* the end, counted from the back */
    else if (!(start_front && extent_min(model, end) >= 0) && !(start_back && end.max < 0))
        return extent;
    return extent_op(model, EXPR_MAX, infer_sub(infer, end, start), extent_const(0));
}

static SliceAxis forward(Infer *infer, Extent start, Extent end, Extent step, Extent extent)
{
    Extent    zero = extent_const(0), span, near = distance(infer, start, end, extent);
    SliceAxis out = {position(infer, start, extent, zero, extent), step, zero};

    span = infer_sub(infer, position(infer, end, extent, zero, extent), out.start);
    if (near.max < span.max)
        span = extent_op(infer->model, EXPR_MIN, span, near);
    span = extent_op(infer->model, EXPR_MAX, span, zero);
    out.count = extent_op(infer->model, EXPR_CEILDIV, span, extent_op(infer->model, EXPR_MAX, step, extent_const(1)));
    return out;
}

static SliceAxis backward(Infer *infer, Extent start, Extent end, Extent step, Extent extent)
{
    Extent    zero = extent_const(0), last = infer_sub(infer, extent, extent_const(1)), span;
    SliceAxis out = {position(infer, start, extent, zero, last), step, zero};

    span = infer_sub(infer, out.start, position(infer, end, extent, extent_const(-1), last));
    span = extent_op(infer->model, EXPR_MAX, span, zero);
    out.count = extent_op(infer->model, EXPR_CEILDIV, span,
                          extent_op(infer->model, EXPR_MAX, infer_sub(infer, zero, step), extent_const(1)));
    return out;
}

static SliceAxis choose(Infer *infer, Extent condition, SliceAxis a, SliceAxis b)
{
    SliceAxis out;

    out.start = extent_select(infer->model, condition, a.start, b.start);
    out.step = extent_select(infer->model, condition, a.step, b.step);
    out.count = extent_select(infer->model, condition, a.count, b.count);
    return out;
}

/* The part of an axis that entry `entry` takes. */
static SliceAxis cut(Infer *infer, const SliceInputs *cuts, int entry, Extent extent)
{
    Extent    start = cuts->start[entry], end = cuts->end[entry], step = cuts->step[entry], negative;
    SliceAxis back;

    if (extent_min(infer->model, step) > 0)
        return forward(infer, start, end, step, extent);
    if (step.max < 0)
        return backward(infer, start, end, step, extent);
    negative = extent_op(infer->model, EXPR_LT, step, extent_const(0));
    back = backward(infer, start, end, step, extent);
    return choose(infer, negative, back, forward(infer, start, end, step, extent));
}

int slice_read(Infer *infer, const Node *node, SliceAxis *out)
{
    const Type *x = infer_in(node, 0);
    SliceInputs cuts;

    if (read_cuts(infer, node, &cuts) < 0)
        return -1;
    for (int i = 0; i < x->rank; i++) {
        out[i] = (SliceAxis){extent_const(0), extent_const(1), x->dim[i]};
        for (int k = 0; k < cuts.count; k++) {
            Extent names = cuts.axes.count < 0 ? extent_const(k == i) : axes_match(infer, &cuts.axes, k, i, x->rank);
            if (names.expr >= 0 || names.max)
                out[i] = choose(infer, names, cut(infer, &cuts, k, x->dim[i]), out[i]);
        }
    }
    return 0;
}

/* Contents of a slice of a small tensor, where the places are known. */
static void propagate_slice(Infer *infer, Node *node, const SliceAxis *axis)
{
    const Type *x = infer_in(node, 0);
    int64_t     stride[MAX_RANK], start = 0;

    if (!propagate_strides(x, stride))
        return;
    for (int i = 0; i < x->rank; i++) {
        if (axis[i].start.expr >= 0 || axis[i].step.expr >= 0)
            return;
        start += axis[i].start.max * stride[i];
        stride[i] =
            axis[i].count.max > 1 ? stride[i] * axis[i].step.max : 0; /* a step may be as large as it likes then */
    }
    propagate_view(infer, node, start, stride);
}

int infer_slice(Infer *infer, Node *node)
{
    SliceAxis axis[MAX_RANK];
    Type      type;

    if (slice_read(infer, node, axis) < 0)
        return -1;
    type = infer_shaped(node->in[0]->type.dtype, &node->in[0]->type);
    for (int i = 0; i < type.rank; i++)
        type.dim[i] = axis[i].count;
    if (infer_set(infer, node, 0, type) < 0)
        return -1;
    propagate_slice(infer, node, axis);
    return 0;
}
