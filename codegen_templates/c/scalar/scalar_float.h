/* scalar_float.h - operators of schemas/scalars.def on floats that need no C library. Knows nothing of kernels. */
#ifndef OCC_SCALAR_FLOAT_H
#define OCC_SCALAR_FLOAT_H

#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#endif

OCC_HOT TPL_T occ_add_TPL_N(TPL_T a, TPL_T b)
{
    return a + b;
}

OCC_HOT TPL_T occ_sub_TPL_N(TPL_T a, TPL_T b)
{
    return a - b;
}

OCC_HOT TPL_T occ_mul_TPL_N(TPL_T a, TPL_T b)
{
    return a * b;
}

OCC_HOT TPL_T occ_div_TPL_N(TPL_T a, TPL_T b)
{
    return a / b;
}

/* NaN in either operand passes. */
OCC_HOT TPL_T occ_min_TPL_N(TPL_T a, TPL_T b)
{
    return b < a || b != b ? b : a;
}

OCC_HOT TPL_T occ_max_TPL_N(TPL_T a, TPL_T b)
{
    return a < b || b != b ? b : a;
}

OCC_HOT TPL_T occ_neg_TPL_N(TPL_T a)
{
    return -a;
}

OCC_HOT TPL_T occ_abs_TPL_N(TPL_T a)
{
    return a <= 0 ? 0 - a : a;
}

/* -1, 0 or 1; NaN stays. */
OCC_HOT TPL_T occ_sign_TPL_N(TPL_T a)
{
    return a != a ? a : (TPL_T)((a > 0) - (a < 0));
}

OCC_HOT TPL_T occ_square_TPL_N(TPL_T a)
{
    return a * a;
}

OCC_HOT TPL_T occ_recip_TPL_N(TPL_T a)
{
    return 1 / a;
}

/* From 2^23 (2^52) on every number is whole; below, it fits an integer. Zero keeps its sign. */
OCC_HOT TPL_T occ_trunc_TPL_N(TPL_T a)
{
    const TPL_T whole = (TPL_T)(sizeof a == 4 ? 8388608 : 4503599627370496);
    TPL_T       t;
    if (!(a < whole && a > -whole))
        return a;
    t = (TPL_T)(int64_t)a;
    return t == 0 ? a * 0 : t;
}

OCC_HOT TPL_T occ_floor_TPL_N(TPL_T a)
{
    TPL_T t = occ_trunc_TPL_N(a);
    return a < t ? t - 1 : t;
}

OCC_HOT TPL_T occ_ceil_TPL_N(TPL_T a)
{
    TPL_T t = occ_trunc_TPL_N(a);
    return t < a ? t + 1 : t;
}

/* Half to even. */
OCC_HOT TPL_T occ_round_TPL_N(TPL_T a)
{
    TPL_T t = occ_trunc_TPL_N(a), rest = occ_abs_TPL_N(a - t), half = (TPL_T)0.5;
    if (rest < half || rest != rest || (rest == half && occ_trunc_TPL_N(t * half) * 2 == t))
        return t;
    return a < 0 ? t - 1 : t + 1;
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

OCC_HOT uint8_t occ_isnan_TPL_N(TPL_T a)
{
    return a != a;
}

OCC_HOT uint8_t occ_isinf_TPL_N(TPL_T a)
{
    return a == a && a - a != 0;
}

OCC_HOT TPL_T occ_select_TPL_N(uint8_t condition, TPL_T a, TPL_T b)
{
    return condition ? a : b;
}

#endif
