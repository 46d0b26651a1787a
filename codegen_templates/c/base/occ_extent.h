/* occ_extent.h - arithmetic on extents that are computed at run time. Nothing overflows: results saturate, and a
 * quotient by 0 is 0. The compiler computes the same expressions in the same way. Knows nothing of tensors. */
#ifndef OCC_EXTENT_H
#define OCC_EXTENT_H

#include "occ_base.h"

OCC_HOT int64_t occ_extent_add(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b)
        return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b)
        return INT64_MIN;
    return a + b;
}

OCC_HOT int64_t occ_extent_sub(int64_t a, int64_t b)
{
    if (b < 0 && a > INT64_MAX + b)
        return INT64_MAX;
    if (b > 0 && a < INT64_MIN + b)
        return INT64_MIN;
    return a - b;
}

OCC_HOT int64_t occ_extent_mul(int64_t a, int64_t b)
{
    const int64_t limit = (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    if (!a || !b)
        return 0;
    if (a == INT64_MIN || b == INT64_MIN)
        return a == 1 || b == 1 ? INT64_MIN : limit;
    if ((a < 0 ? -a : a) > INT64_MAX / (b < 0 ? -b : b))
        return limit;
    return a * b;
}

/* a / b, rounded towards minus infinity. */
OCC_HOT int64_t occ_extent_div(int64_t a, int64_t b)
{
    if (!b)
        return 0;
    if (b == -1)
        return a == INT64_MIN ? INT64_MAX : -a;
    return a / b - (a % b && (a < 0) != (b < 0));
}

/* The remainder of that, with the sign of b. */
OCC_HOT int64_t occ_extent_mod(int64_t a, int64_t b)
{
    return b ? a - occ_extent_div(a, b) * b : 0;
}

/* a / b, rounded towards plus infinity. */
OCC_HOT int64_t occ_extent_ceildiv(int64_t a, int64_t b)
{
    return b ? occ_extent_div(a, b) + (occ_extent_mod(a, b) != 0) : 0;
}

OCC_HOT int64_t occ_extent_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

OCC_HOT int64_t occ_extent_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The extent of two axes that are broadcast together. */
OCC_HOT int64_t occ_extent_broadcast(int64_t a, int64_t b)
{
    return a == 1 ? b : a;
}

#endif
