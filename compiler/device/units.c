/* units.c - finds the axes along which a step falls into units. What the cuts of a record do is taken from trying them:
 * an axis is one of units if every cut along it that is tried differs from the first one by offsets only, and these
 * grow with its number. Other axes (rows of a convolution, whose first and last rows see padding) stay whole. */
#include "device/units.h"

#include "plan/slices.h"

#include <stdlib.h>
#include <string.h>

/* The cuts that the record of a kernel offers for a step. */
typedef struct UnitCuts {
    const Program *program;
    const Step    *step;
    void (*take)(Step *slice, int axis, int64_t lo, int64_t hi);
    Cuts cuts;
} UnitCuts;

static bool same_extents(const Extent *a, const Extent *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i].max != b[i].max || a[i].expr != b[i].expr)
            return false;
    return true;
}

/* Two windows of one step differ by the offsets of their operands only. */
static bool same_but_offsets(const Step *a, const Step *b)
{
    for (int k = 0; k < a->noperand; k++)
        if (!same_extents(a->operand[k].dim, b->operand[k].dim, a->operand[k].rank) ||
            !same_extents(a->operand[k].stride, b->operand[k].stride, a->operand[k].rank))
            return false;
    for (int i = 0; i < a->narg; i++)
        if ((a->arg[i].kind == ARG_INT || a->arg[i].kind == ARG_INTS) &&
            !same_extents(a->arg[i].ints, b->arg[i].ints, a->arg[i].count))
            return false;
    return true;
}

static Step window(const UnitCuts *c, const Step *of, const Cut *cut, int64_t number)
{
    Step slice = step_copy(c->program, of);

    c->take(&slice, cut->axis, number * cut->grain, (number + 1) * cut->grain);
    return slice;
}

static bool moves_bits(const Step *step, int operand)
{
    return dtype_info(step->operand[operand].dtype)->bits < 8;
}

/* Is unit `number` of a cut the first unit, moved by `number` times the shifts? */
static bool is_shifted(const UnitCuts *c, const Cut *cut, const Step *first, int64_t number, const int64_t *shift)
{
    ArenaMark mark = arena_mark(c->program->arena);
    Step      slice = window(c, c->step, cut, number);
    bool      same = same_but_offsets(first, &slice);

    for (int k = 0; k < c->step->noperand && same; k++)
        same = slice.operand[k].offset.max == first->operand[k].offset.max + number * shift[k];
    arena_release(c->program->arena, mark);
    return same;
}

/* Finds the shifts along a cut; false: its units differ in more than offsets. */
static bool find_shifts(const UnitCuts *c, const Cut *cut, UnitAxis *axis)
{
    int64_t count = cut->units / cut->grain, tried[] = {1, 2, 3, count / 3, count / 2, count - 2, count - 1};
    Step    first, second;

    if (count < 2 || cut->units % cut->grain)
        return false;
    first = window(c, c->step, cut, 0);
    second = window(c, c->step, cut, 1);
    *axis = (UnitAxis){count, arena_array(c->program->arena, int64_t, c->step->noperand + 1)};
    for (int k = 0; k < c->step->noperand; k++) {
        axis->shift[k] = second.operand[k].offset.max - first.operand[k].offset.max;
        if (first.operand[k].offset.max != c->step->operand[k].offset.max || (axis->shift[k] && moves_bits(c->step, k)))
            return false;
    }
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        if (tried[i] > 0 && tried[i] < count && !is_shifted(c, cut, &first, tried[i], axis->shift))
            return false;
    return true;
}

/* Is the last unit along all axes, cut one axis after the other, where the shifts put it? */
static bool axes_are_apart(const UnitCuts *c, const Cut *cut, const StepUnits *u)
{
    ArenaMark mark = arena_mark(c->program->arena);
    Step      slice = step_copy(c->program, c->step);
    bool      same;

    for (int i = 0; i < u->naxis; i++)
        c->take(&slice, cut[i].axis, (u->axis[i].count - 1) * cut[i].grain, u->axis[i].count * cut[i].grain);
    same = same_but_offsets(&u->unit, &slice);
    for (int k = 0; k < slice.noperand && same; k++) {
        int64_t at = u->unit.operand[k].offset.max;

        for (int i = 0; i < u->naxis; i++)
            at += (u->axis[i].count - 1) * u->axis[i].shift[k];
        same = slice.operand[k].offset.max == at;
    }
    arena_release(c->program->arena, mark);
    return same;
}

/* The elements by which the results of a step move from unit to unit of an axis, at most. */
static int64_t result_shift(const Step *step, const UnitAxis *axis)
{
    int64_t most = 0;

    for (int k = 0; k < step->nparam; k++)
        if (step->operand[k].access & OPERAND_WRITES && llabs(axis->shift[k]) > most)
            most = llabs(axis->shift[k]);
    return most;
}

/* The axis that moves the result least comes last. */
static void order_axes(StepUnits *u)
{
    for (int i = 1; i < u->naxis; i++)
        for (int k = i; k > 0 && result_shift(&u->unit, &u->axis[k]) > result_shift(&u->unit, &u->axis[k - 1]); k--) {
            UnitAxis axis = u->axis[k];

            u->axis[k] = u->axis[k - 1];
            u->axis[k - 1] = axis;
        }
}

/* A number, an argument, the product of a list, or one entry of it; *at moves behind it. */
static int64_t read_factor(const Step *step, const char **at)
{
    char   name[32];
    size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    char  *end;
    int    entry;

    if (**at >= '0' && **at <= '9') {
        int64_t number = strtoll(*at, &end, 10);

        *at = end;
        return number;
    }
    n = n < sizeof name ? n : sizeof name - 1;
    memcpy(name, *at, n);
    name[n] = 0;
    *at += n;
    if (**at != '.')
        return (int64_t)step_product(step, name);
    entry = (int)strtol(*at + 1, &end, 10);
    *at = end;
    return step_value(step, name, entry);
}

/* Sets the argument "name" or "name.entry". */
static void set_extent(Step *slice, const char *extent, int64_t to)
{
    char        name[32];
    const char *dot = strchr(extent, '.');
    size_t      n = dot ? (size_t)(dot - extent) : strlen(extent);

    memcpy(name, extent, n);
    name[n] = 0;
    slice_set(slice, name, dot ? atoi(dot + 1) : 0, to);
}

static void take_line(Step *slice, int axis, int64_t lo, int64_t hi)
{
    const UnitLine *line = &slice->kernel->record->line[axis];

    for (const char *at = line->moves; *at; at += strspn(at, ", ")) {
        char    name[32];
        size_t  n = strcspn(at, "=");
        int64_t distance = 1;

        memcpy(name, at, n);
        name[n] = 0;
        at += n;
        do {
            at++;
            distance *= read_factor(slice, &at);
        } while (*at == '*');
        slice_shift_named(slice, name, lo * distance);
    }
    set_extent(slice, line->extent, hi - lo);
}

static void offer_lines(const Step *step, Cuts *cuts)
{
    const UnitLine *line = step->kernel->record->line;

    for (int i = 0; i < MAX_LINES && line[i].extent; i++) {
        const char *at = line[i].extent;

        cut_offer(cuts, i, read_factor(step, &at), 1, 1.0);
    }
}

bool step_units(const Program *program, const Step *step, StepUnits *units)
{
    const KernelRecord *record = step->kernel->record;
    UnitCuts            c = {.program = program, .step = step, .take = record->units.take};
    Cut                 taken[MAX_CUTS];

    *units = (StepUnits){.unit = step_copy(program, step), .count = 1};
    if (!step_is_plain(program, step))
        return false;
    if (record->units.offer) {
        record->units.offer(step, &c.cuts);
    } else if (record->line[0].extent) {
        c.take = take_line;
        offer_lines(step, &c.cuts);
    } else if (record->cut.offer) {
        c.take = record->cut.take;
        record->cut.offer(step, &c.cuts);
    }
    for (int i = 0; i < c.cuts.count; i++) {
        UnitAxis axis;

        if (!find_shifts(&c, &c.cuts.cut[i], &axis))
            continue;
        taken[units->naxis] = c.cuts.cut[i];
        units->axis[units->naxis++] = axis;
        c.take(&units->unit, c.cuts.cut[i].axis, 0, c.cuts.cut[i].grain);
        units->count *= axis.count;
        if (axes_are_apart(&c, taken, units) && units->count < INT32_MAX)
            continue;
        units->unit = step_copy(program, step); /* back to the axes taken before */
        units->count /= axis.count;
        units->naxis--;
        for (int k = 0; k < units->naxis; k++)
            c.take(&units->unit, taken[k].axis, 0, taken[k].grain);
    }
    order_axes(units);
    return true;
}
