/* panels.c - weights in panels, and the operands of epilogues. */
#include "ops/panels.h"
#include "support/int.h"

#include <string.h>

enum { PANEL = 32 };

int64_t panels_margin(int64_t outputs)
{
    return (4 - outputs % 4) % 4;
}

static int64_t panels_elements(PanelShape s)
{
    return s.groups * s.outputs * s.inputs * s.taps + panels_margin(s.outputs);
}

const void *panels_source(Lower *lower, const Value *constant)
{
    return constant->data->splat ? const_aligned(lower->arena, constant) : constant->data->data;
}

Operand panels_constant(Lower *lower, const void *data, PanelShape s, const int64_t *stride, const char *name)
{
    int64_t elements = panels_elements(s);
    float  *to = arena_array(lower->program->arena, float, elements + 1), *next = to;

    for (int64_t g = 0; g < s.groups; g++)
        for (int64_t b = 0; b * PANEL < s.outputs; b++) {
            int64_t width = int_min(s.outputs - b * PANEL, PANEL);

            for (int64_t t = 0; t < s.taps; t++)
                for (int64_t i = 0; i < s.inputs; i++, next += width)
                    for (int64_t o = 0; o < width; o++)
                        memcpy(&next[o],
                               (const char *)data + 4 * (g * stride[0] + (b * PANEL + o) * stride[1] + i * stride[2] + t * stride[3]),
                               sizeof *next);
        }
    return lower_weight(lower, to, DTYPE_F32, 1, &elements, name);
}

/* Elements of a constant of the model in another order. */
typedef struct Arranged {
    const void *from; /* where the constant lies, which is for good */
    PanelShape  shape;
    int64_t     m, elements;
    const void *to;
} Arranged;

/* The elements of a constant where they lie, if all of them are there. */
static const void *lasting_source(const Value *constant)
{
    return constant->data->splat ? NULL : constant->data->data;
}

bool panels_made_before(Lower *lower, const Value *constant, PanelShape s, int64_t m, Operand *out)
{
    const Model *model = lower->model;

    for (int i = 0; i < model->narranged; i++) {
        const Arranged *a = &model->arranged[i];

        if (a->from != lasting_source(constant) || a->m != m || a->shape.groups != s.groups || a->shape.outputs != s.outputs ||
            a->shape.inputs != s.inputs || a->shape.taps != s.taps)
            continue;
        *out = lower_weight(lower, a->to, DTYPE_F32, 1, &a->elements, constant->name);
        return true;
    }
    return false;
}

void panels_keep(Lower *lower, const Value *constant, PanelShape s, int64_t m, const Operand *made)
{
    Model   *model = lower->model;
    Arranged a = {lasting_source(constant), s, m, made->dim[0].max, lower->program->buffer[made->buffer].source};

    if (a.from && lower->program->arena == model->arena) /* else it does not outlive the lowering */
        ARENA_PUSH(model->arena, model->arranged, model->narranged, model->carranged, a);
}

/* One copy for all whole blocks, one for the narrow last block of each group. */
static int copy_blocks(Lower *lower, Operand w, Operand panels, PanelShape s, int64_t first, int64_t blocks)
{
    Model  *model = lower->model;
    int64_t width = int_min(s.outputs - first * PANEL, PANEL);
    Operand from = w, to = panels;
    Extent  oi = extent_const(s.inputs), n[5] = {extent_const(s.groups), extent_const(blocks), extent_const(s.taps), oi,
                                                 extent_const(width)};
    int64_t whole = width * s.inputs * s.taps;
    int64_t strides[5] = {s.outputs * s.inputs * s.taps, whole, width * s.inputs, width, 1};

    if (!blocks)
        return 0;
    from.rank = to.rank = 5;
    for (int i = 0; i < 5; i++) {
        from.dim[i] = to.dim[i] = n[i];
        to.stride[i] = extent_const(strides[i]);
    }
    from.stride[0] = extent_op(model, EXPR_MUL, w.stride[0], extent_const(s.outputs));
    from.stride[1] = extent_op(model, EXPR_MUL, w.stride[0], extent_const(PANEL));
    from.stride[2] = w.stride[w.rank - 1]; /* taps are one axis, see panels_computed */
    from.stride[3] = w.stride[1];
    from.stride[4] = w.stride[0];
    from.offset = extent_op(model, EXPR_ADD, w.offset, extent_op(model, EXPR_MUL, w.stride[0], extent_const(first * PANEL)));
    to.offset = extent_const(first * PANEL * s.inputs * s.taps);
    return lower_copy(lower, NULL, from, to);
}

int panels_computed(Lower *lower, Operand w, PanelShape s, Operand *out)
{
    int64_t whole = s.outputs / PANEL, elements = panels_elements(s);
    Extent  flat[3] = {extent_const(s.groups * s.outputs), extent_const(s.inputs), extent_const(s.taps)};
    Type    type = type_tensor(DTYPE_F32, 1, &elements);
    Operand view;

    if (!operand_reshape(lower, w, 3, flat, &view) && (lower_dense(lower, w, &w) < 0 || !operand_reshape(lower, w, 3, flat, &view)))
        return -1;
    *out = lower_temporary(lower, &type, LAYOUT_ROW_MAJOR, "panels");
    if (copy_blocks(lower, view, *out, s, 0, whole) < 0)
        return -1;
    return copy_blocks(lower, view, *out, s, whole, s.outputs % PANEL ? 1 : 0);
}

bool panels_pitch(Model *model, const Operand *x, int channel, Extent *pitch)
{
    Extent wanted = extent_const(0);
    bool   first = true;

    if (!extent_is_const(x->stride[channel]) || x->stride[channel].max > INT32_MAX || x->stride[channel].max < 0)
        return false;
    for (int i = x->rank; i-- > 0;) {
        if (i == channel || (extent_is_const(x->dim[i]) && x->dim[i].max == 1))
            continue;
        if (first)
            wanted = *pitch = x->stride[i];
        else if (!extent_same(wanted, x->stride[i]))
            return false;
        wanted = extent_op(model, EXPR_MUL, wanted, x->dim[i]);
        first = false;
    }
    if (first)
        *pitch = extent_const(0);
    return true;
}

void panels_epilogue(Pending *p, int channel, Extent *pitch)
{
    for (int i = 0; i < p->noperand; i++)
        panels_pitch(p->node->graph->model, &p->operand[i], channel, &pitch[i]);
    for (int i = 0; i < p->expr->nnode; i++)
        if (p->expr->node[i].op == SCALAR_LOAD)
            p->expr->node[i].stride = (int)p->operand[p->expr->node[i].operand].stride[channel].max;
}
