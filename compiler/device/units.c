/* units.c - the units of a step. Where extents are constants, they are those of fixed_units.c. Where some are run-time
 * integers, they are taken from trying, too: three times each run-time integer gets a prime number of its own, and the
 * step that results has constant extents. A size of its units names the integers that it is a product of by its prime
 * factors. Example: copy of [n][m] elements, n = 11 and m = 13, then 67 and 71, then 137 and 139: along the first axis
 * the result moves by 13, then 71, then 139 elements, so by m. Sizes that are no products (n + 2) leave different
 * factors behind, and the step has no units. */
#include "device/units.h"

#include "device/fixed_units.h"
#include "plan/slices.h"
#include "program/operand.h"
#include "support/int.h"

#include <stdlib.h>

enum { TRIALS = 3, MOST_OPEN = 16 };

static const int primes[TRIALS][MOST_OPEN] = {
    {11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 127, 131},
    {67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 7, 5, 191, 193},
    {137, 139, 149, 151, 157, 163, 167, 173, 179, 181, 197, 199, 211, 223, 227, 229},
};

/* The run-time integers of a step. */
typedef struct OpenStep {
    const Program *program;
    const Step    *step;
    int            expr[MOST_OPEN];
    int64_t        most[MOST_OPEN];
    int            count;
} OpenStep;

/* Position of a run-time integer among those of the step; -1: they are too many. */
static int position(OpenStep *o, Extent extent)
{
    for (int i = 0; i < o->count; i++)
        if (o->expr[i] == extent.expr)
            return i;
    if (o->count == MOST_OPEN)
        return -1;
    o->expr[o->count] = extent.expr;
    o->most[o->count] = extent.max;
    return o->count++;
}

/* Run-time integers become their primes; false: too many of them, or numbers too large to calculate with. */
static bool try_list(OpenStep *o, Extent *list, int count, int trial)
{
    double product = 1.0;

    for (int i = 0; i < count; i++) {
        if (!extent_is_const(list[i])) {
            int at = position(o, list[i]);

            if (at < 0)
                return false;
            list[i] = extent_const(primes[trial][at]);
        }
        product *= list[i].max ? (double)llabs(list[i].max) : 1.0;
    }
    return product < 1e15;
}

/* Makes a step's own copy one of constant extents. */
static bool try_step(OpenStep *o, Step *step, int trial)
{
    for (int k = 0; k < step->noperand; k++) {
        Operand *x = &step->operand[k];

        if (!extent_is_const(x->offset))
            x->offset = extent_const(0); /* units are counted from there */
        if (!try_list(o, x->dim, x->rank, trial) || !try_list(o, x->stride, x->rank, trial))
            return false;
    }
    for (int i = 0; i < step->narg; i++)
        if ((step->arg[i].kind == ARG_INT || step->arg[i].kind == ARG_INTS) &&
            !try_list(o, (Extent *)step->arg[i].ints, step->arg[i].count, trial))
            return false;
    return true;
}

/* The product that takes a value in each trial; false: there is none. */
static bool find_size(const OpenStep *o, const int64_t *value, UnitSize *size)
{
    int64_t left[TRIALS] = {value[0], value[1], value[2]};

    *size = (UnitSize){.expr = arena_array(o->program->arena, int, 64), .most = 1};
    for (int i = 0; i < o->count && left[0]; i++)
        while (size->nexpr < 63 && left[0] % primes[0][i] == 0 && left[1] % primes[1][i] == 0 &&
               left[2] % primes[2][i] == 0) {
            for (int t = 0; t < TRIALS; t++)
                left[t] /= primes[t][i];
            size->expr[size->nexpr++] = o->expr[i];
            size->most *= o->most[i];
        }
    size->factor = left[0];
    size->most *= left[0];
    return left[0] == left[1] && left[1] == left[2];
}

/* Axis i of the units from those of the trials. */
static bool find_axis(const OpenStep *o, const FixedUnits *found, int i, UnitAxis *axis)
{
    int64_t count[TRIALS];

    for (int t = 0; t < TRIALS; t++) {
        count[t] = found[t].axis[i].count;
        if (found[t].axis[i].cut.axis != found[0].axis[i].cut.axis ||
            found[t].axis[i].cut.grain != found[0].axis[i].cut.grain)
            return false;
    }
    axis->shift = arena_array(o->program->arena, UnitSize, o->step->noperand + 1);
    if (!find_size(o, count, &axis->count))
        return false;
    for (int k = 0; k < o->step->noperand; k++) {
        int64_t shift[TRIALS];

        for (int t = 0; t < TRIALS; t++)
            shift[t] = found[t].axis[i].shift[k];
        if (!find_size(o, shift, &axis->shift[k]))
            return false;
    }
    return true;
}

static bool same_offsets(const Step *a, const Step *b)
{
    for (int k = 0; k < a->noperand; k++)
        if (a->operand[k].offset.max != b->operand[k].offset.max)
            return false;
    return true;
}

/* Whether the first unit of the step, tried, is the first unit of the tried step: what cutting writes into the unit
 * does not depend on numbers that are known while running only. */
static bool unit_holds(OpenStep *o, const Step *unit, const Step *tried, const FixedUnits *found, int trial)
{
    Step mine = step_copy(o->program, unit), other = fixed_units_first(o->program, tried, found);

    return try_step(o, &mine, trial) && step_same_but_offsets(&mine, &other) && same_offsets(&mine, &other);
}

static bool open_units(const Program *program, const Step *step, StepUnits *units)
{
    OpenStep   o = {.program = program, .step = step};
    FixedUnits found[TRIALS];
    Step       tried[TRIALS];

    for (int t = 0; t < TRIALS; t++) {
        tried[t] = step_copy(program, step);
        if (!try_step(&o, &tried[t], t))
            return false;
        found[t] = fixed_units(program, &tried[t]);
        if (found[t].naxis != found[0].naxis)
            return false;
    }
    units->unit = fixed_units_first(program, step, &found[0]);
    for (int t = 0; t < TRIALS; t++)
        if (!unit_holds(&o, &units->unit, &tried[t], &found[t], t))
            return false;
    for (units->naxis = 0; units->naxis < found[0].naxis; units->naxis++)
        if (!find_axis(&o, found, units->naxis, &units->axis[units->naxis]))
            return false;
    return true;
}

static UnitSize size_of_constant(int64_t value)
{
    return (UnitSize){.factor = value, .most = value};
}

static void constant_units(const Program *program, const Step *step, StepUnits *units)
{
    FixedUnits found = fixed_units(program, step);

    units->unit = fixed_units_first(program, step, &found);
    units->naxis = found.naxis;
    for (int i = 0; i < found.naxis; i++) {
        units->axis[i].count = size_of_constant(found.axis[i].count);
        units->axis[i].shift = arena_array(program->arena, UnitSize, step->noperand + 1);
        for (int k = 0; k < step->noperand; k++)
            units->axis[i].shift[k] = size_of_constant(found.axis[i].shift[k]);
    }
}

/* The elements by which the results of a step move from unit to unit of an axis, at most. */
static int64_t result_shift(const Step *step, const UnitAxis *axis)
{
    int64_t most = 0;

    for (int k = 0; k < step->nparam; k++)
        if (step->operand[k].access & OPERAND_WRITES && llabs(axis->shift[k].most) > most)
            most = llabs(axis->shift[k].most);
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

/* An input that may be absent. */
static bool is_optional(const Program *program, const Operand *x)
{
    const Buffer *b = program_buffer(program, x->buffer);

    return b && b->kind == BUFFER_IN && program->in[b->port].type.kind == TYPE_OPTIONAL;
}

bool step_units(const Program *program, const Step *step, StepUnits *units)
{
    *units = (StepUnits){.count = 1};
    for (int k = 0; k < step->noperand; k++)
        if (is_optional(program, &step->operand[k]))
            return false;
    if (step_is_plain(program, step))
        constant_units(program, step, units);
    else if (!open_units(program, step, units))
        return false;
    for (int i = 0; i < units->naxis; i++) {
        if (!int_mul(units->count, units->axis[i].count.most, &units->count) || units->count >= MOST_UNITS)
            return false;
    }
    order_axes(units);
    return true;
}
