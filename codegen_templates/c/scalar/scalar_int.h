/* scalar_int.h - operators of schemas/scalars.def on signed integers: nothing traps, nothing is undefined.
 * Knows nothing of kernels. */
#ifndef OCC_SCALAR_INT_H
#define OCC_SCALAR_INT_H

#include "scalar_whole.h"

#ifndef TPL_T
#define TPL_T int32_t
#endif

/* Towards zero; by 0 gives 0, and the least value by -1 itself. */
OCC_HOT TPL_T occ_div_TPL_N(TPL_T a, TPL_T b)
{
    if (b == 0)
        return 0;
    return b == -1 ? (TPL_T)(0 - (uint64_t)a) : (TPL_T)(a / b);
}

/* The remainder with the sign of a; 0 for b = 0. */
OCC_HOT TPL_T occ_fmod_TPL_N(TPL_T a, TPL_T b)
{
    return b == 0 || b == -1 ? 0 : (TPL_T)(a % b);
}

/* The remainder with the sign of b; 0 for b = 0. */
OCC_HOT TPL_T occ_mod_TPL_N(TPL_T a, TPL_T b)
{
    TPL_T r = occ_fmod_TPL_N(a, b);
    return r != 0 && (r < 0) != (b < 0) ? (TPL_T)(r + b) : r;
}

/* Negative exponents give the whole part of the quotient. */
OCC_HOT TPL_T occ_pow_TPL_N(TPL_T a, TPL_T b)
{
    if (b >= 0)
        return occ_power_TPL_N(a, (uint64_t)b);
    if (a == 1)
        return 1;
    return a == -1 ? (TPL_T)(b % 2 ? -1 : 1) : 0;
}

OCC_HOT TPL_T occ_abs_TPL_N(TPL_T a)
{
    return a < 0 ? (TPL_T)(0 - (uint64_t)a) : a;
}

OCC_HOT TPL_T occ_sign_TPL_N(TPL_T a)
{
    return (TPL_T)((a > 0) - (a < 0));
}

/* Shifts by the width or more, or by less than 0, leave no bit but copies of the sign. */
OCC_HOT TPL_T occ_shl_TPL_N(TPL_T a, TPL_T b)
{
    return b < 0 || b >= (TPL_T)(8 * sizeof a) ? 0 : (TPL_T)((uint64_t)a << b);
}

OCC_HOT TPL_T occ_shr_TPL_N(TPL_T a, TPL_T b)
{
    if (b < 0 || b >= (TPL_T)(8 * sizeof a))
        return a < 0 ? -1 : 0;
    return (TPL_T)(a < 0 ? ~(~a >> b) : a >> b);
}

#endif
