/* units.h - a step as independent units of work, which the threads of a device take one after the other. A unit is the
 * same step on a small window of its result: other offsets of its operands, nothing else. So no kernel knows of units,
 * and every bit is that of the whole step.
 *
 *     copy of [24][4] elements: 96 units on axes of 24 and 4; from one unit to the next along the second axis, the
 *     result moves by 1 element and the operand by 24
 *
 * Knows nothing of threads, memories and text. */
#ifndef OCC_DEVICE_UNITS_H
#define OCC_DEVICE_UNITS_H

#include "kernels/record.h"
#include "program/program.h"

/* A number that may be known while running only: a factor times run-time integers. Copy of [n][4]: the axis of n moves
 * by 4 elements, and by n where the operand is transposed. */
typedef struct UnitSize {
    int64_t factor;
    int    *expr; /* Model.expr indices */
    int     nexpr;
    int64_t most; /* its largest value */
} UnitSize;

typedef struct UnitAxis {
    UnitSize  count;
    UnitSize *shift; /* by operand: elements that it moves from one unit to the next */
} UnitAxis;

typedef struct StepUnits {
    Step     unit; /* the step on its first unit */
    UnitAxis axis[MAX_CUTS];
    int      naxis; /* the last one moves the result least: neighbouring threads write neighbouring elements */
    int64_t  count; /* of all units, at most */
} StepUnits;

/* The units of a step, as its kernel's record cuts it. A step that is not cut is one unit. False where units cannot be
 * told: an input may be absent, or sizes are sums of run-time integers. Memory is the program's arena's. */
bool step_units(const Program *program, const Step *step, StepUnits *units);

#endif
