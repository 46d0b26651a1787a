/* fours.h - elementwise steps whose threads read and write four neighbouring floats at once, and copies of 16 bytes.
 * Knows nothing of text. */
#ifndef OCC_DEVICE_FOURS_H
#define OCC_DEVICE_FOURS_H

#include "device/units.h"

/* Four units that are neighbours along the last axis of the units:
 *
 *     y[64][33] = x[64][33] + b[64][1], rows of y and x begin at multiples of 36 floats
 *       y, x   move by one float from unit to unit, and begin each row at a multiple of 16 bytes: moved at once
 *       b      does not move: read as for one unit
 *       rest   the 33rd float of a row is a unit of its own */
typedef struct StepFours {
    uint32_t at_once; /* bit k: operand k is read or written as four floats; others do not move along the last axis */
    uint32_t open;    /* bit k: such an operand begins at a place that is known while running only */
    bool     rest;    /* rows may have some units behind the last four */
    int64_t  count;   /* of all fours, and rests of rows, at most */
} StepFours;

/* Bytes to which four floats are aligned. */
enum { FOURS_ALIGN = 16 };

/* Whether the units of a step can be taken so: the step is an elementwise expression that cannot fail, and whatever
 * moves along the last axis does so by fours. Where an operand moves from row to row by run-time integers, or begins
 * behind some, it is up to the generated program to see whether that is by fours. */
bool step_fours(const Program *program, const StepUnits *units, StepFours *fours);

/* Whether the step is a copy, which moves 16 bytes at once where that can be done. */
bool step_is_copy(const Step *step);

/* Whether an operand begins at a multiple of FOURS_ALIGN bytes, whatever the run-time integers. */
bool operand_at_fours(const Program *program, const Operand *x);

#endif
