/* scalar_bool.h - operators of schemas/scalars.def on booleans, which are 0 or 1. Knows nothing of kernels. */
#ifndef OCC_SCALAR_BOOL_H
#define OCC_SCALAR_BOOL_H

#include "occ_base.h"

OCC_HOT uint8_t occ_and_bool(uint8_t a, uint8_t b)
{
    return a & b;
}

OCC_HOT uint8_t occ_or_bool(uint8_t a, uint8_t b)
{
    return a | b;
}

OCC_HOT uint8_t occ_xor_bool(uint8_t a, uint8_t b)
{
    return a ^ b;
}

OCC_HOT uint8_t occ_not_bool(uint8_t a)
{
    return a ^ 1;
}

OCC_HOT uint8_t occ_min_bool(uint8_t a, uint8_t b)
{
    return a & b;
}

OCC_HOT uint8_t occ_max_bool(uint8_t a, uint8_t b)
{
    return a | b;
}

OCC_HOT uint8_t occ_eq_bool(uint8_t a, uint8_t b)
{
    return a == b;
}

OCC_HOT uint8_t occ_lt_bool(uint8_t a, uint8_t b)
{
    return a < b;
}

OCC_HOT uint8_t occ_le_bool(uint8_t a, uint8_t b)
{
    return a <= b;
}

OCC_HOT uint8_t occ_select_bool(uint8_t condition, uint8_t a, uint8_t b)
{
    return condition ? a : b;
}

#endif
