/* occ_wrap.h - sums, differences and products of any element type. Whole numbers wrap around; in C, an overflow is
 * undefined. Knows nothing of tensors. */
#ifndef OCC_WRAP_H
#define OCC_WRAP_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

OCC_HOT TPL_T occ_wrap_add_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)0.5 != 0 ? (TPL_T)(a + b) : (TPL_T)((uint64_t)a + (uint64_t)b);
}

OCC_HOT TPL_T occ_wrap_sub_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)0.5 != 0 ? (TPL_T)(a - b) : (TPL_T)((uint64_t)a - (uint64_t)b);
}

OCC_HOT TPL_T occ_wrap_mul_TPL_N(TPL_T a, TPL_T b)
{
    return (TPL_T)0.5 != 0 ? (TPL_T)(a * b) : (TPL_T)((uint64_t)a * (uint64_t)b);
}

#endif
