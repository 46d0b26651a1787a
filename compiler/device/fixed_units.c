/* fixed_units.c - finds the axes along which a step of constant extents falls into units. What the cuts of a record do
 * is taken from trying them: an axis is one of units if every cut along it that is tried differs from the first one by
 * offsets only, and these grow with its number. Other axes (rows of a convolution, whose first and last rows see
 * padding) stay whole. */
#include "device/fixed_units.h"

#include "plan/slices.h"

/* The cuts that the record of a kernel offers for a step. */
typedef struct UnitCuts {
    const Program *program;
    const Step    *step;
    void (*take)(Step *slice, const UnitRange *range);
    Cuts cuts;
} UnitCuts;

static void take_unit(const UnitCuts *c, const Cut *cut, int64_t number, Step *step)
{
    const UnitRange range = unit_range(c->program->model, cut, number * cut->grain, (number + 1) * cut->grain);

    c->take(step, &range);
}

static Step window(const UnitCuts *c, const Step *of, const Cut *cut, int64_t number)
{
    Step slice = step_copy(c->program, of);

    take_unit(c, cut, number, &slice);
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
    bool      same = step_same_but_offsets(first, &slice);

    for (int k = 0; k < c->step->noperand && same; k++)
        same = slice.operand[k].offset.max == first->operand[k].offset.max + number * shift[k];
    arena_release(c->program->arena, mark);
    return same;
}

/* Finds the shifts along a cut; false: its units differ in more than offsets. */
static bool find_shifts(const UnitCuts *c, const Cut *cut, FixedAxis *axis)
{
    int64_t count = cut->units.max / cut->grain, tried[] = {1, 2, 3, count / 3, count / 2, count - 2, count - 1};
    Step    first, second;

    if (count < 2 || cut->units.max % cut->grain)
        return false;
    first = window(c, c->step, cut, 0);
    second = window(c, c->step, cut, 1);
    *axis = (FixedAxis){*cut, count, arena_array(c->program->arena, int64_t, c->step->noperand + 1)};
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

/* Is the last unit along all axes, cut one axis after the other, where the shifts put it? unit: the first one. */
static bool axes_are_apart(const UnitCuts *c, const FixedUnits *u, const Step *unit)
{
    ArenaMark mark = arena_mark(c->program->arena);
    Step      slice = step_copy(c->program, c->step);
    bool      same;

    for (int i = 0; i < u->naxis; i++)
        take_unit(c, &u->axis[i].cut, u->axis[i].count - 1, &slice);
    same = step_same_but_offsets(unit, &slice);
    for (int k = 0; k < slice.noperand && same; k++) {
        int64_t at = unit->operand[k].offset.max;

        for (int i = 0; i < u->naxis; i++)
            at += (u->axis[i].count - 1) * u->axis[i].shift[k];
        same = slice.operand[k].offset.max == at;
    }
    arena_release(c->program->arena, mark);
    return same;
}

/* The rule by which a step is cut: the record's own, its lines, or else the cuts for threads. */
static UnitCuts cuts_of(const Program *program, const Step *step)
{
    const KernelRecord *record = step->kernel->record;
    UnitCuts            c = {.program = program, .step = step, .take = record->units.take};

    if (record->units.offer) {
        record->units.offer(step, &c.cuts);
    } else if (record->line[0].extent) {
        c.take = cut_take_line;
        cut_offer_lines(step, MAX_LINES, &c.cuts);
    } else if (record->cut.offer) {
        c.take = record->cut.take;
        record->cut.offer(step, &c.cuts);
    }
    return c;
}

static void take_first(const UnitCuts *c, const FixedUnits *units, Step *step)
{
    for (int i = 0; i < units->naxis; i++)
        take_unit(c, &units->axis[i].cut, 0, step);
}

Step fixed_units_first(const Program *program, const Step *step, const FixedUnits *units)
{
    UnitCuts c = cuts_of(program, step);
    Step     unit = step_copy(program, step);

    take_first(&c, units, &unit);
    return unit;
}

FixedUnits fixed_units(const Program *program, const Step *step)
{
    UnitCuts   c = cuts_of(program, step);
    FixedUnits units = {.naxis = 0};
    int64_t    total = 1;

    for (int i = 0; i < c.cuts.count; i++) {
        FixedAxis axis;
        Step      unit;

        if (!find_shifts(&c, &c.cuts.cut[i], &axis))
            continue;
        units.axis[units.naxis++] = axis;
        unit = step_copy(program, step);
        take_first(&c, &units, &unit);
        if (axes_are_apart(&c, &units, &unit) && axis.count < MOST_UNITS / total)
            total *= axis.count;
        else
            units.naxis--;
    }
    return units;
}
