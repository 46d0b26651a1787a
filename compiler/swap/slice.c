/* slice.c - steps cut along their output channels. The record that cuts a step for threads moves its operands; where an
 * operand of constants moved, the slice gets the elements from there to where the next slice begins as a weight of its
 * own. Example: 64 channels of 3 taps x 8 inputs in two slices:
 *
 *     w [2 panels][24][32] of one step    ->   w.0 [24][32] for channels 0..31, w.1 [24][32] for channels 32..63
 *     y channels 0..63                         y channels 0..31, y channels 32..63 (windows of the same buffer)
 *
 * Where one panel is too large the slices are narrower, and each gathers its columns of the panel's rows:
 *
 *     w [2 panels][24][32]                ->   w.0 [24][16] for channels 0..15, w.1 [24][16] for channels 16..31, ...
 */
#include "swap/slice.h"
#include "kernels/conv_cost.h"
#include "kernels/record.h"
#include "plan/slices.h"
#include "program/flow.h"
#include "program/operand.h"
#include "program/splice.h"
#include "program/weight.h"
#include "support/int.h"

#include <string.h>

/* Rows of another weight's bytes. */
typedef struct Rows {
    Packing base;
    Buffer  of;
    int64_t from, bytes, apart; /* bytes: where the first row begins, of a row, from row to row */
    int64_t rows;               /* behind them are zeros */
} Rows;

/* One cut of one step. */
typedef struct Slicing {
    Program    *program;
    const Step *step;
    Cut         cut;
    int64_t    *moves; /* by operand: elements that it moves for each unit of the cut; 0: it stays */
    bool       *taken; /* by operand: the record cuts its extents, too */
    int64_t     rows;  /* of weights that lie in rows `apart` elements from each other; 1: they are contiguous */
    int64_t     apart;
    int         weights; /* the operand whose weights lie in rows */
    Panels      panels;  /* units 0: slices are of whole panels */
} Slicing;

/* Elements of a list: `rows` times `length`, `apart` from each other, from `from` on, and `margin` of zero. */
typedef struct Gather {
    int64_t from, length, apart, rows, margin;
} Gather;

/* ---------------------------------------------------------------------------------------------------------- weights */

static void make_rows(const Packing *packing, int64_t from, int64_t bytes, void *to)
{
    const Rows *r = (const Rows *)packing;
    char       *next = to;

    while (bytes) {
        int64_t     row = from / r->bytes, at = from % r->bytes, taken = int_min(bytes, r->bytes - at);
        const void *block = row < r->rows ? weight_block(&r->of, r->from + row * r->apart + at, taken, next) : NULL;

        if (!block)
            memset(next, 0, (size_t)taken);
        else if (block != next)
            memcpy(next, block, (size_t)taken);
        from += taken;
        next += taken;
        bytes -= taken;
    }
}

/* A copy of a buffer under a name of its own. */
static Buffer *add_buffer(Program *program, int like, int index)
{
    Buffer buffer = program->buffer[like];
    int    id;

    buffer.name = arena_printf(program->arena, "%s.%d", buffer.name, index);
    id = program_add_buffer(program, &buffer);
    return &program->buffer[id];
}

/* Makes the gathered elements a weight of their own, which becomes all of the operand. */
static void take_weight(Program *program, Operand *x, Gather g, int index)
{
    int64_t bytes = operand_bytes_per_element(x);
    Rows   *r = arena_one(program->arena, Rows);
    Buffer *part;

    *r = (Rows){{make_rows}, program->buffer[x->buffer], g.from * bytes, g.length * bytes, g.apart * bytes, g.rows};
    part = add_buffer(program, x->buffer, index);
    part->size = r->bytes * g.rows + g.margin * bytes;
    part->value = NULL;
    part->packing = &r->base;
    if (!r->of.packing && g.rows == 1) {
        part->packing = NULL;
        part->source = (const char *)r->of.source + r->from;
    }
    x->buffer = part->id;
    x->offset = extent_const(0);
}

/* ---------------------------------------------------------------------------------------------------- what moves */

/* The axis of an operand along which its elements are those of the units that are cut; -1: there is none. */
static int axis_of(const Slicing *s, const Operand *x, int64_t moves)
{
    for (int a = 0; a < x->rank; a++)
        if (extent_is_const(x->dim[a]) && x->dim[a].max == s->cut.units.max && extent_is_const(x->stride[a]) &&
            x->stride[a].max == moves)
            return a;
    return -1;
}

/* All other axes stay at one place: the operand holds an element for each unit, and no more. */
static bool is_line(const Operand *x, int axis)
{
    for (int a = 0; a < x->rank; a++)
        if (a != axis && !(extent_is_const(x->stride[a]) && x->stride[a].max == 0) &&
            !(extent_is_const(x->dim[a]) && x->dim[a].max == 1))
            return false;
    return true;
}

/* The operand is a list of elements in the order of the units: weights in panels, biases. */
static bool is_list(const Operand *x)
{
    return x->rank == 1 && extent_is_const(x->stride[0]) && x->stride[0].max == 1 && extent_is_const(x->dim[0]);
}

static bool is_constant(const Slicing *s, const Operand *x)
{
    return x->buffer >= 0 && s->program->buffer[x->buffer].kind == BUFFER_WEIGHT;
}

/* Whether a slice of the operand can be said: of constants as a range of elements, of results as a window. */
static bool can_take(const Slicing *s, int k)
{
    const Operand *x = &s->step->operand[k];

    if (x->buffer < 0 || s->program->buffer[x->buffer].kind == BUFFER_SCRATCH)
        return true;
    if (!extent_is_const(x->offset) || dtype_info(x->dtype)->bits < 8 ||
        (s->program->buffer[x->buffer].kind == BUFFER_IN &&
         s->program->in[s->program->buffer[x->buffer].port].type.kind == TYPE_OPTIONAL))
        return false;
    if (!s->moves[k] || s->taken[k] || (is_list(x) && is_constant(s, x)))
        return true;
    return axis_of(s, x, s->moves[k]) >= 0;
}

/* The cut along which weights are shared out; units 0: there is none. */
static Cut channel_cut(const Step *step)
{
    Cuts cuts = {.count = 0};

    step->kernel->record->cut.offer(step, &cuts);
    for (int i = 0; i < cuts.count; i++)
        if (cuts.cut[i].weights)
            return cuts.cut[i];
    return (Cut){.units = extent_const(0)};
}

static void take_units(const Slicing *s, Step *slice, int64_t lo, int64_t hi)
{
    const UnitRange range = unit_range(s->program->model, &s->cut, lo, hi);

    s->step->kernel->record->cut.take(slice, &range);
}

/* Elements by which each operand moves for one unit, and whether its extents fall. No slice moves by a distance that
 * only the run knows, such as that of channels of a row-major result of run-time width. */
static void find_moves(Slicing *s)
{
    Step moved = step_copy(s->program, s->step);

    take_units(s, &moved, s->cut.grain, s->cut.units.max);
    s->moves = arena_array(s->program->arena, int64_t, s->step->noperand + 1);
    s->taken = arena_array(s->program->arena, bool, s->step->noperand + 1);
    for (int k = 0; k < s->step->noperand; k++) {
        const Operand *x = &s->step->operand[k], *y = &moved.operand[k];

        s->moves[k] = (y->offset.max - x->offset.max) / s->cut.grain;
        for (int a = 0; a < x->rank; a++)
            s->taken[k] |= y->dim[a].max != x->dim[a].max && extent_is_const(x->stride[a]);
    }
}

/* Winograd's weights lie in rows, one for each frequency, whose outputs follow each other. */
static void find_rows(Slicing *s)
{
    const Arg *apart = step_argument(s->step, "apart");
    ConvShape  shape;

    s->rows = 1;
    if (apart) {
        conv_shape_read(s->step, &shape);
        s->rows = winograd_frequencies(&shape, step_value(s->step, "m", 0));
        s->apart = apart->ints[0].max;
    }
    for (int k = 0; k < s->step->noperand; k++) /* the longest list */
        if (is_list(&s->step->operand[k]) && is_constant(s, &s->step->operand[k]) &&
            s->step->operand[k].dim[0].max > s->step->operand[s->weights].dim[0].max)
            s->weights = k;
}

/* ----------------------------------------------------------------------------------------------------------- slices */

/* Units [lo, hi) of one panel: of each of its rows the elements of these. */
static Gather gather_columns(const Slicing *s, int k, int64_t lo, int64_t hi)
{
    const Panels *p = &s->panels;
    int64_t       panel = lo / p->width * p->width, all = s->step->operand[k].dim[0].max;

    return (Gather){.from = panel * s->moves[k] + (lo - panel) * p->lane,
                    .length = int_round_up(hi - lo, p->even) * p->lane,
                    .apart = int_round_up(int_min(p->units - panel, p->width), p->even) * p->lane,
                    .rows = s->moves[k] / p->lane,
                    .margin = hi == p->units ? all - int_round_up(hi, p->even) * s->moves[k] : 0};
}

/* The elements of units [lo, hi) from each row of a constant list. The last slice takes the rest of each row: a panel
 * may be wider than its units. It also takes the margin that kernels may read behind the last row. */
static Gather gather_units(const Slicing *s, int k, int64_t lo, int64_t hi)
{
    int64_t all = s->step->operand[k].dim[0].max, from = lo * s->moves[k];
    bool    in_rows = s->rows > 1 && k == s->weights, is_last = hi == s->cut.units.max;
    int64_t rows = in_rows ? s->rows : 1, length = in_rows ? s->apart : all;

    return (Gather){.from = from,
                    .length = (is_last ? length : hi * s->moves[k]) - from,
                    .apart = s->apart,
                    .rows = rows,
                    .margin = is_last ? all - rows * length : 0};
}

static void take_list(const Slicing *s, Step *slice, int k, int64_t lo, int64_t hi, int index)
{
    Operand *x = &slice->operand[k];
    Gather   g = s->panels.units && k == s->weights ? gather_columns(s, k, lo, hi) : gather_units(s, k, lo, hi);

    g.from += s->step->operand[k].offset.max;
    take_weight(s->program, x, g, index);
    x->dim[0] = extent_const(g.length * g.rows + g.margin);
    if (s->rows > 1 && k == s->weights)
        *(Extent *)step_argument(slice, "apart")->ints = extent_const(g.length);
}

static void take_operand(const Slicing *s, Step *slice, int k, int64_t lo, int64_t hi, int index)
{
    Operand *x = &slice->operand[k];
    int64_t  first = s->step->operand[k].offset.max;
    int      axis = s->moves[k] ? axis_of(s, &s->step->operand[k], s->moves[k]) : -1;

    if (x->buffer >= 0 && s->program->buffer[x->buffer].kind == BUFFER_SCRATCH)
        x->buffer = add_buffer(s->program, x->buffer, index)->id;
    if (!s->moves[k])
        return;
    if (is_list(x) && is_constant(s, x)) {
        take_list(s, slice, k, lo, hi, index);
        return;
    }
    if (axis < 0)
        return;
    if (is_constant(s, x) && is_line(x, axis))
        take_weight(s->program, x, (Gather){first + lo * s->moves[k], (hi - lo) * s->moves[k], 0, 1, 0}, index);
    x->dim[axis] = extent_const(hi - lo);
}

static Step make_slice(const Slicing *s, int64_t lo, int64_t hi, int index)
{
    Step slice = step_copy(s->program, s->step);

    take_units(s, &slice, lo, hi);
    for (int k = 0; k < slice.noperand; k++)
        take_operand(s, &slice, k, lo, hi, index);
    return slice;
}

/* Where one panel of weights has more than `limit` bytes: pieces of panels that have not, or of the fewest channels. */
static void narrow_cut(Slicing *s, int64_t bytes, int64_t limit)
{
    enum { LEAST_CHANNELS = 4, CHANNELS = 1 };
    KernelRecord const *record = s->step->kernel->record;
    Panels              p = record->panels ? record->panels(s->step) : (Panels){.units = 0};
    int64_t             grain = p.width;

    if (!p.units || (double)bytes / (double)p.units * (double)grain <= (double)limit)
        return;
    while (grain % (2 * LEAST_CHANNELS) == 0 && (double)bytes / (double)p.units * (double)grain > (double)limit)
        grain /= 2;
    s->panels = p;
    s->cut = (Cut){.axis = CHANNELS, .units = extent_const(p.units), .grain = grain, .weights = true};
}

/* Bytes of constants that a step reads, each buffer once; text does not count. */
static int64_t constants_of(const Program *program, const Step *step)
{
    int64_t bytes = 0;

    for (int k = 0; k < step->noperand; k++) {
        int  b = step->operand[k].buffer;
        bool counts = b >= 0 && program->buffer[b].kind == BUFFER_WEIGHT && program->buffer[b].dtype != DTYPE_TEXT;

        for (int i = 0; i < k; i++)
            counts = counts && step->operand[i].buffer != b;
        bytes += counts ? program->buffer[b].size : 0;
    }
    return bytes;
}

/* Into how many slices; below 2: it stays whole. */
static int slices_of(Slicing *s, SliceLimit limit)
{
    int64_t bytes = constants_of(s->program, s->step), grains;

    if (bytes <= limit.limit || !s->step->kernel->record->cut.offer)
        return 0;
    s->cut = channel_cut(s->step);
    if (limit.node)
        narrow_cut(s, bytes, limit.limit);
    if (!s->cut.units.max)
        return 0;
    find_moves(s);
    find_rows(s);
    for (int k = 0; k < s->step->noperand; k++)
        if (!can_take(s, k))
            return 0;
    grains = int_ceil_div(s->cut.units.max, s->cut.grain);
    return (int)(s->panels.units ? grains : int_min(int_ceil_div(bytes, limit.limit), grains));
}

static Splice slice_step(Program *program, int index, SliceLimit limit)
{
    Step    step = program->step[index];
    Slicing s = {.program = program, .step = &program->step[index]};
    int     count = slices_of(&s, limit);
    Splice  splice = {.at = index, .removed = 1};
    int64_t grains = count < 2 ? 0 : int_ceil_div(s.cut.units.max, s.cut.grain);

    if (count < 2)
        return (Splice){.at = index};
    s.step = &step;
    splice.step = arena_array(program->arena, Step, count);
    splice.count = count;
    for (int i = 0; i < count; i++)
        splice.step[i] = make_slice(&s, grains * i / count * s.cut.grain,
                                    int_min(grains * (i + 1) / count * s.cut.grain, s.cut.units.max), i);
    return splice;
}

static SliceLimit limit_of(const Step *step, int64_t limit, const Slices *slices)
{
    for (int i = slices->count; i-- > 0 && step->norigin;)
        if (slices->own[i].node == step->origin[0])
            return slices->own[i];
    return (SliceLimit){NULL, limit};
}

void program_slice(Program *program, int64_t limit, const Slices *slices)
{
    Splice *list = NULL;
    int     count = 0, capacity = 0;

    for (int i = 0; i < program->nstep; i = flow_after(program, i)) {
        const Step *step = &program->step[i];
        Splice      splice = {.at = i};

        if (step->kind == STEP_KERNEL)
            splice = slice_step(program, i, limit_of(step, limit, slices));

        if (splice.count)
            ARENA_PUSH(program->arena, list, count, capacity, splice);
    }
    program_splice(program, list, count);
}
