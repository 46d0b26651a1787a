/* panels.c - weights in panels, and the operands of epilogues. */
#include "lower/panels.h"
#include "lower/packing.h"
#include "support/int.h"

#include <string.h>

enum { PANEL = PACKING_PANEL };

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
    return constant->data->broadcast ? const_aligned(lower->arena, constant) : constant->data->data;
}

/* Floats of a constant in panels: rows are [tap][input]. */
typedef struct FloatPanels {
    PanelPacking base;
    const char  *data;
    int64_t      inputs;
    int64_t      stride[4]; /* bytes */
} FloatPanels;

/* Packs rows of one tap whose inputs are contiguous in the constant. It goes line by line of the constant, so that
 * lines do not evict each other from the cache. */
static void put_columns(const FloatPanels *p, const char *from, const PackedRows *rows, float *to)
{
    enum { LINE = 16 };

    for (int64_t i = 0; i < rows->count; i += LINE)
        for (int64_t o = 0; o < rows->width; o++)
            for (int64_t k = i; k < i + LINE && k < rows->count; k++)
                memcpy(&to[k * rows->width + o], from + o * p->stride[1] + k * p->stride[2], sizeof *to);
}

static void put_panels(const PanelPacking *packing, const PackedRows *rows, void *to)
{
    const FloatPanels *p = (const FloatPanels *)packing;
    const char        *from = p->data + rows->group * p->stride[0] + rows->output * p->stride[1];
    float             *next = to;

    for (int64_t row = rows->row, end = row + rows->count; row < end;) {
        int64_t    t = row / p->inputs, i = row % p->inputs;
        PackedRows part = *rows;

        part.count = int_min(end - row, p->inputs - i);
        put_columns(p, from + t * p->stride[3] + i * p->stride[2], &part, next);
        row += part.count;
        next += part.count * rows->width;
    }
}

Operand panels_constant(Lower *lower, const void *data, PanelShape s, const int64_t *stride, const char *name)
{
    FloatPanels *p = arena_one(lower->program->arena, FloatPanels);

    p->base = (PanelPacking){.groups = s.groups,
                             .outputs = s.outputs,
                             .rows = s.taps * s.inputs,
                             .lane = 1,
                             .margin = panels_margin(s.outputs),
                             .dtype = DTYPE_F32,
                             .put = put_panels};
    p->data = data;
    p->inputs = s.inputs;
    for (int i = 0; i < 4; i++)
        p->stride[i] = stride[i] * (int64_t)sizeof(float);
    return packing_add(lower, &p->base, name);
}

/* One copy for all whole blocks, one for the narrow last block of each group. */
static int copy_blocks(Lower *lower, Operand w, Operand panels, PanelShape s, int64_t first, int64_t blocks)
{
    Model  *model = lower->model;
    int64_t width = int_min(s.outputs - first * PANEL, PANEL);
    Operand from = w, to = panels;
    Extent  oi = extent_const(s.inputs),
           n[5] = {extent_const(s.groups), extent_const(blocks), extent_const(s.taps), oi, extent_const(width)};
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
    from.offset =
        extent_op(model, EXPR_ADD, w.offset, extent_op(model, EXPR_MUL, w.stride[0], extent_const(first * PANEL)));
    to.offset = extent_const(first * PANEL * s.inputs * s.taps);
    return lower_copy(lower, NULL, from, to);
}

int panels_computed(Lower *lower, Operand w, PanelShape s, Operand *out)
{
    int64_t whole = s.outputs / PANEL, elements = panels_elements(s);
    Extent  flat[3] = {extent_const(s.groups * s.outputs), extent_const(s.inputs), extent_const(s.taps)};
    Type    type = type_tensor(DTYPE_F32, 1, &elements);
    Operand view;

    if (!operand_reshape(lower, w, 3, flat, &view) &&
        (lower_dense(lower, w, &w) < 0 || !operand_reshape(lower, w, 3, flat, &view)))
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

void panels_epilogue(Deferred *p, int channel, Extent *pitch)
{
    for (int i = 0; i < p->noperand; i++)
        panels_pitch(p->node->graph->model, &p->operand[i], channel, &pitch[i]);
    for (int i = 0; i < p->expr->nnode; i++)
        if (p->expr->node[i].op == SCALAR_LOAD)
            p->expr->node[i].stride = (int)p->operand[p->expr->node[i].operand].stride[channel].max;
}
