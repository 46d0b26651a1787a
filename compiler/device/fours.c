/* fours.c - which elementwise steps move four floats at once. Buffers begin at multiples of 16 bytes, so constant
 * offsets and strides decide that when the program is made. */
#include "device/fours.h"

#include "program/operand.h"

#include <string.h>

/* Buffers of the caller on a device are checked to be aligned so; the plan aligns all others. */
static bool begins_aligned(const Buffer *b)
{
    return buffer_is_port(b) || b->align % FOURS_ALIGN == 0;
}

bool operand_at_fours(const Program *program, const Operand *x)
{
    return x->buffer >= 0 && begins_aligned(&program->buffer[x->buffer]) && extent_is_const(x->offset) &&
           x->offset.max * operand_bytes_per_element(x) % FOURS_ALIGN == 0;
}

bool step_is_copy(const Step *step)
{
    return !strncmp(step->kernel->name, "copy_", 5) && step->home == HOME_TWIN;
}

/* Whether an operand moves by one float along the last axis, and along the others by fours or run-time integers. */
static bool moves_by_fours(const StepUnits *units, int operand)
{
    const UnitSize *shift = &units->axis[units->naxis - 1].shift[operand];

    if (units->unit.operand[operand].dtype != DTYPE_F32 || shift->factor != 1 || shift->nexpr)
        return false;
    for (int i = 0; i < units->naxis - 1; i++) {
        shift = &units->axis[i].shift[operand];
        if (shift->factor % 4 && !shift->nexpr)
            return false;
    }
    return true;
}

/* An expression, each unit of which is one element. */
static bool is_of_elements(const Step *unit)
{
    return !strncmp(unit->kernel->name, "map_", 4) && !unit->kernel->fails && step_product(unit, "dim") == 1.0;
}

/* Fours, and rests that count as one. */
static int64_t fours_in(int64_t row)
{
    return (row + 3) / 4;
}

/* Adds operand k of the unit; false: it moves along the last axis, but not by fours. */
static bool add_operand(const Program *program, const StepUnits *units, int k, StepFours *fours)
{
    const Operand *x = &units->unit.operand[k];

    if (x->buffer < 0 || !units->axis[units->naxis - 1].shift[k].factor)
        return true;
    if (!moves_by_fours(units, k) || !begins_aligned(&program->buffer[x->buffer]))
        return false;
    fours->at_once |= 1u << k;
    if (!extent_is_const(x->offset))
        fours->open |= 1u << k;
    return !extent_is_const(x->offset) || operand_at_fours(program, x);
}

bool step_fours(const Program *program, const StepUnits *units, StepFours *fours)
{
    const UnitSize *row = units->naxis ? &units->axis[units->naxis - 1].count : NULL;

    *fours = (StepFours){.count = 0};
    if (!row || !units->count || !is_of_elements(&units->unit) || 16 * fours_in(row->most) > 5 * row->most)
        return false; /* a fifth of the threads' time for rests, at most */
    for (int k = 0; k < units->unit.noperand; k++)
        if (!add_operand(program, units, k, fours))
            return false;
    fours->rest = row->nexpr || row->factor % 4;
    fours->count = units->count / row->most * fours_in(row->most);
    return fours->at_once & 1u; /* the result is the first operand */
}
