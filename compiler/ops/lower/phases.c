/* phases.c - transposed convolutions as convolutions; see phases.h. */
#include "ops/lower/phases.h"
#include "lower/panels.h"
#include "lower/spatial.h"
#include "support/int.h"

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

bool phases_exist(Lower *lower, const Node *node, const Window *w)
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

int64_t phases_tap(const Window *w, const AxisPhase *axis, int64_t tap)
{
    int64_t whole = 0, scale = 1;

    for (int i = w->naxes; i-- > 0;) {
        whole += (axis[i].tap + axis[i].stride * (axis[i].taps - 1 - tap % axis[i].taps)) * scale;
        scale *= w->kernel[i];
        tap /= axis[i].taps;
    }
    return whole;
}

int64_t phases_count(const Window *w)
{
    int64_t phases = 1;

    for (int i = 0; i < w->naxes; i++)
        phases *= w->stride[i];
    return phases;
}

void phases_of(Lower *lower, const Window *w, int64_t number, AxisPhase *axis)
{
    for (int i = w->naxes; i-- > 0; number /= w->stride[i])
        axis[i] = axis_phase(lower->model, w, i, number % w->stride[i]);
}

int64_t phases_taps(const Window *w, const AxisPhase *axis)
{
    int64_t taps = 1;

    for (int i = 0; i < w->naxes; i++)
        taps *= axis[i].taps;
    return taps;
}

bool phases_take(Lower *lower, const AxisPhase *axis, Window *window, Operand *x, Operand *y)
{
    Model *model = lower->model;

    for (int i = 0; i < window->naxes; i++) {
        const AxisPhase *a = &axis[i];
        Extent          *step = &y->stride[2 + i];

        if (extent_is(a->count, 0))
            return false;
        window->kernel[i] = a->taps;
        window->stride[i] = 1;
        window->dilation[i] = a->dilation;
        window->begin[i] = extent_const(a->pad);
        x->offset =
            extent_op(model, EXPR_ADD, x->offset, extent_op(model, EXPR_MUL, x->stride[2 + i], extent_const(a->skip)));
        x->dim[2 + i] = extent_op(model, EXPR_ADD, x->dim[2 + i], extent_const(-a->skip));
        y->offset = extent_op(model, EXPR_ADD, y->offset, extent_op(model, EXPR_MUL, *step, extent_const(a->first)));
        y->dim[2 + i] = a->count;
        *step = extent_op(model, EXPR_MUL, *step, extent_const(a->stride));
    }
    return true;
}

bool phases_accept(const Deferred *p, const Operand *x)
{
    Extent pitch;

    return panels_pitch(p->node->graph->model, x, CHANNEL, &pitch) && extent_is(pitch, 0);
}
