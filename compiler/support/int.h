/* int.h - sizes that cannot overflow in silence. */
#ifndef OCC_SUPPORT_INT_H
#define OCC_SUPPORT_INT_H

#include <stdbool.h>
#include <stdint.h>

/* *out = a * b (a + b); false and *out untouched when the result does not fit or an operand is negative. */
static inline bool int_mul(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || (b && a > INT64_MAX / b))
        return false;
    *out = a * b;
    return true;
}

static inline bool int_add(int64_t a, int64_t b, int64_t *out)
{
    if (a < 0 || b < 0 || a > INT64_MAX - b)
        return false;
    *out = a + b;
    return true;
}

static inline int64_t int_round_up(int64_t value, int64_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

/* Of values that are not negative. */
static inline int64_t int_ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static inline int64_t int_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t int_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
