/* fixed_units.h - units (units.h) of a step whose extents are all constants. */
#ifndef OCC_DEVICE_FIXED_UNITS_H
#define OCC_DEVICE_FIXED_UNITS_H

#include "kernels/record.h"

typedef struct FixedAxis {
    Cut      cut; /* a unit is one grain of it */
    int64_t  count;
    int64_t *shift; /* by operand: elements that it moves from one unit to the next */
} FixedAxis;

typedef struct FixedUnits {
    FixedAxis axis[MAX_CUTS];
    int       naxis;
} FixedUnits;

/* More units than any device's memory has elements. */
#define MOST_UNITS ((int64_t)1 << 48)

/* The axes of a step, fewer than MOST_UNITS in all. Memory is the program's arena's. */
FixedUnits fixed_units(const Program *program, const Step *step);

/* The first unit of a step along such axes; the step may have run-time extents. */
Step fixed_units_first(const Program *program, const Step *step, const FixedUnits *units);

#endif
