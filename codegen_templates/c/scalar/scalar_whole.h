/* scalar_whole.h - operators of schemas/scalars.def that are the same for all integers: sums and products wrap around.
 * Knows nothing of kernels. */
#ifndef OCC_SCALAR_WHOLE_H
#define OCC_SCALAR_WHOLE_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T int32_t
#endif

OCC_HOT TPL_T occ_add_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)((uint64_t)a + (uint64_t)b);
}

OCC_HOT TPL_T occ_sub_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)((uint64_t)a - (uint64_t)b);
}

OCC_HOT TPL_T occ_mul_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)((uint64_t)a * (uint64_t)b);
}

OCC_HOT TPL_T occ_square_TPL_N(TPL_T a)
{
    return occ_mul_TPL_N(a, a);
}

OCC_HOT TPL_T occ_neg_TPL_N(TPL_T a)
{
    return (TPL_T)(0 - (uint64_t)a);
}

OCC_HOT TPL_T occ_min_TPL_N(TPL_T a, TPL_T b)
{
    return b < a ? b : a;
}

OCC_HOT TPL_T occ_max_TPL_N(TPL_T a, TPL_T b)
{
    return a < b ? b : a;
}

OCC_HOT uint8_t occ_eq_TPL_N(TPL_T a, TPL_T b)
{
    return a == b;
}

OCC_HOT uint8_t occ_lt_TPL_N(TPL_T a, TPL_T b)
{
    return a < b;
}

OCC_HOT uint8_t occ_le_TPL_N(TPL_T a, TPL_T b)
{
    return a <= b;
}

OCC_HOT TPL_T occ_bitand_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)(a & b);
}

OCC_HOT TPL_T occ_bitor_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)(a | b);
}

OCC_HOT TPL_T occ_bitxor_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)(a ^ b);
}

OCC_HOT TPL_T occ_bitnot_TPL_N(TPL_T a)
{
    return (TPL_T)~a;
}

OCC_HOT TPL_T occ_select_TPL_N(uint8_t condition, TPL_T a, TPL_T b)
{
    return condition ? a : b;
}

/* base^exponent by squaring, exponent >= 0. */
OCC_HOT TPL_T occ_power_TPL_N(TPL_T base, uint64_t exponent)
{
    uint64_t result = 1, square = (uint64_t)base;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1)
            result *= square;
    return (TPL_T)result;
}

#endif
