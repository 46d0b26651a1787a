/* scalar_uint.h - operators of schemas/scalars.def on unsigned integers: nothing traps, nothing is undefined.
 * Knows nothing of kernels. */
#ifndef OCC_SCALAR_UINT_H
#define OCC_SCALAR_UINT_H

#include "scalar_whole.h"

#ifndef TPL_T
#define TPL_T uint32_t
#endif

/* By 0 gives 0. */
OCC_HOT TPL_T occ_div_TPL_N(TPL_T a, TPL_T b)
{
    return b == 0 ? 0 : (TPL_T)(a / b);
}

OCC_HOT TPL_T occ_fmod_TPL_N(TPL_T a, TPL_T b)
{
    return b == 0 ? 0 : (TPL_T)(a % b);
}

OCC_HOT TPL_T occ_mod_TPL_N(TPL_T a, TPL_T b)
{
    return occ_fmod_TPL_N(a, b);
}

OCC_HOT TPL_T occ_pow_TPL_N(TPL_T a, TPL_T b)
{
    return occ_power_TPL_N(a, (uint64_t)b);
}

OCC_HOT TPL_T occ_abs_TPL_N(TPL_T a)
{
    return a;
}

OCC_HOT TPL_T occ_sign_TPL_N(TPL_T a)
{
    return a != 0;
}

/* Shifts by the width or more leave no bit. */
OCC_HOT TPL_T occ_shl_TPL_N(TPL_T a, TPL_T b)
{
    return b >= 8 * sizeof a ? 0 : (TPL_T)((uint64_t)a << b);
}

OCC_HOT TPL_T occ_shr_TPL_N(TPL_T a, TPL_T b)
{
    return b >= 8 * sizeof a ? 0 : (TPL_T)(a >> b);
}

#endif
