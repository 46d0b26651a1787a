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

typedef struct UnitAxis {
    int64_t  count;
    int64_t *shift; /* by operand: elements that it moves from one unit to the next */
} UnitAxis;

typedef struct StepUnits {
    Step     unit; /* the step on its first unit */
    UnitAxis axis[MAX_CUTS];
    int      naxis; /* the last one moves the result least: neighbouring threads write neighbouring elements */
    int64_t  count;
} StepUnits;

/* The units of a step, as its kernel's record cuts it. A step that is not cut is one unit. False where units cannot be
 * told: some extent or offset is a run-time integer. Memory is the program's arena's. */
bool step_units(const Program *program, const Step *step, StepUnits *units);

#endif
