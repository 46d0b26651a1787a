/* scalar_cast_whole.h - floats to integers: towards zero, to the nearest end of the range outside it, NaN to 0.
 * Knows nothing of kernels. */
#ifndef OCC_SCALAR_CAST_WHOLE_H
#define OCC_SCALAR_CAST_WHOLE_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_T2 int32_t
#endif

OCC_HOT TPL_T2 occ_cast_TPL_N_TPL_N2(TPL_T a)
{
    const int      is_signed = (TPL_T2)-1 < (TPL_T2)1;
    const uint64_t top = (uint64_t)1 << (8 * sizeof(TPL_T2) - 1); /* half the range */
    const TPL_T    high = (TPL_T)top * (is_signed ? 1 : 2), low = is_signed ? -high : 0;
    const TPL_T2   most = is_signed ? (TPL_T2)(top - 1) : (TPL_T2)(top + (top - 1));
    if (a >= high)
        return most;
    if (a <= low)
        return is_signed ? (TPL_T2)(~top + 1) : 0;
    return a == a ? (TPL_T2)a : 0;
}

#endif
