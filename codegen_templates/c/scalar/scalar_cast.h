/* scalar_cast.h - conversions between numbers that C defines, or that wrap around as every compiler of ours does.
 * Knows nothing of kernels. */
#ifndef OCC_SCALAR_CAST_H
#define OCC_SCALAR_CAST_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T int64_t
#define TPL_T2 float
#endif

OCC_HOT TPL_T2 occ_cast_TPL_N_TPL_N2(TPL_T a)
{
    return (TPL_T2)a;
}

#endif
