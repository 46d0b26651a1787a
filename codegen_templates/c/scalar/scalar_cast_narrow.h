/* scalar_cast_narrow.h - numbers to integers of 4 and 2 bits, kept one in a byte: the lower bits, as ONNX casts
 * integers. Knows nothing of kernels. */
#ifndef OCC_SCALAR_CAST_NARROW_H
#define OCC_SCALAR_CAST_NARROW_H

#include "scalar_cast.h"
#include "scalar_cast_whole.h"

#ifndef TPL_T
#define TPL_T int64_t
#define TPL_T2 int8_t
#endif

OCC_HOT int8_t occ_wrap_i4(int64_t a)
{
    return (int8_t)(((a & 15) ^ 8) - 8);
}

OCC_HOT uint8_t occ_wrap_u4(int64_t a)
{
    return (uint8_t)(a & 15);
}

OCC_HOT int8_t occ_wrap_i2(int64_t a)
{
    return (int8_t)(((a & 3) ^ 2) - 2);
}

OCC_HOT uint8_t occ_wrap_u2(int64_t a)
{
    return (uint8_t)(a & 3);
}

OCC_HOT TPL_T2 occ_cast_TPL_N_TPL_N2(TPL_T a)
{
    return occ_wrap_TPL_N2(occ_cast_TPL_N_i64(a));
}

#endif
