/* scalar_math_f32.h - operators of schemas/scalars.def on float that the C library computes, or the vectors'
 * polynomials. Knows nothing of kernels. */
#ifndef OCC_SCALAR_MATH_F32_H
#define OCC_SCALAR_MATH_F32_H

#include <math.h>

#include "occ_vapart.h"
#include "scalar_float.h"

OCC_HOT float occ_sqrt_f32(float a)
{
    return a < 0 ? (float)NAN : sqrtf(a);
}

/* One lane of the vector form: the same bits wherever an expression is computed. */
OCC_INLINE float occ_exp_f32(float a)
{
    return occ_vlane(occ_vexp_apart(occ_vset(a)), 0);
}

OCC_INLINE float occ_log_f32(float a)
{
    return occ_vlane(occ_vlog_apart(occ_vset(a)), 0);
}

OCC_INLINE float occ_tanh_f32(float a)
{
    return occ_vlane(occ_vtanh_apart(occ_vset(a)), 0);
}

OCC_INLINE float occ_sigmoid_f32(float a)
{
    return occ_vlane(occ_vsigmoid_apart(occ_vset(a)), 0);
}

OCC_INLINE float occ_erf_f32(float a)
{
    return occ_vlane(occ_verf_apart(occ_vset(a)), 0);
}

OCC_INLINE float occ_sin_f32(float a)
{
    return occ_vlane(occ_vsin(occ_vset(a)), 0);
}

OCC_INLINE float occ_cos_f32(float a)
{
    return occ_vlane(occ_vcos(occ_vset(a)), 0);
}

OCC_HOT float occ_tan_f32(float a)
{
    return tanf(a);
}

OCC_HOT float occ_asin_f32(float a)
{
    return asinf(a);
}

OCC_HOT float occ_acos_f32(float a)
{
    return acosf(a);
}

OCC_HOT float occ_atan_f32(float a)
{
    return atanf(a);
}

OCC_HOT float occ_sinh_f32(float a)
{
    return sinhf(a);
}

OCC_HOT float occ_cosh_f32(float a)
{
    return coshf(a);
}

OCC_HOT float occ_asinh_f32(float a)
{
    return asinhf(a);
}

OCC_HOT float occ_acosh_f32(float a)
{
    return acoshf(a);
}

OCC_HOT float occ_atanh_f32(float a)
{
    return atanhf(a);
}

OCC_INLINE float occ_softplus_f32(float a)
{
    return occ_vlane(occ_vsoftplus_apart(occ_vset(a)), 0);
}

OCC_INLINE float occ_pow_f32(float a, float b)
{
    return occ_vlane(occ_vpow_apart(occ_vset(a), occ_vset(b)), 0);
}

/* The remainder with the sign of a. */
OCC_HOT float occ_fmod_f32(float a, float b)
{
    return fmodf(a, b);
}

/* The remainder with the sign of b. */
OCC_HOT float occ_mod_f32(float a, float b)
{
    float r = fmodf(a, b);
    if (r == 0)
        return copysignf(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

#endif
