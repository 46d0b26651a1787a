/* scalar_cast_bool.h - numbers to booleans. Knows nothing of kernels. */
#ifndef OCC_SCALAR_CAST_BOOL_H
#define OCC_SCALAR_CAST_BOOL_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#endif

/* 1 unless a is 0; NaN is not. */
OCC_HOT uint8_t occ_cast_TPL_N_bool(TPL_T a)
{
    return a != 0;
}

#endif
