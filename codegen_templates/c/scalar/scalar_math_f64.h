/* scalar_math_f64.h - operators of schemas/scalars.def on double that the C library computes.
 * Knows nothing of kernels. */
#ifndef OCC_SCALAR_MATH_F64_H
#define OCC_SCALAR_MATH_F64_H

#include <math.h>

#include "scalar_float.h"

OCC_HOT double occ_sqrt_f64(double a)
{
    return a < 0 ? (double)NAN : sqrt(a);
}

OCC_HOT double occ_exp_f64(double a)
{
    return exp(a);
}

OCC_HOT double occ_log_f64(double a)
{
    return log(a);
}

OCC_HOT double occ_tanh_f64(double a)
{
    return tanh(a);
}

OCC_HOT double occ_erf_f64(double a)
{
    return erf(a);
}

OCC_HOT double occ_sigmoid_f64(double a)
{
    double e = exp(a < 0 ? a : -a);
    return a < 0 ? e / (1 + e) : 1 / (1 + e);
}

OCC_HOT double occ_sin_f64(double a)
{
    return sin(a);
}

OCC_HOT double occ_cos_f64(double a)
{
    return cos(a);
}

OCC_HOT double occ_tan_f64(double a)
{
    return tan(a);
}

OCC_HOT double occ_asin_f64(double a)
{
    return asin(a);
}

OCC_HOT double occ_acos_f64(double a)
{
    return acos(a);
}

OCC_HOT double occ_atan_f64(double a)
{
    return atan(a);
}

OCC_HOT double occ_sinh_f64(double a)
{
    return sinh(a);
}

OCC_HOT double occ_cosh_f64(double a)
{
    return cosh(a);
}

OCC_HOT double occ_asinh_f64(double a)
{
    return asinh(a);
}

OCC_HOT double occ_acosh_f64(double a)
{
    return acosh(a);
}

OCC_HOT double occ_atanh_f64(double a)
{
    return atanh(a);
}

/* log(1 + e^x) without overflow. */
OCC_HOT double occ_softplus_f64(double a)
{
    return a > 0 ? a + log1p(exp(-a)) : log1p(exp(a));
}

OCC_HOT double occ_pow_f64(double a, double b)
{
    return pow(a, b);
}

/* The remainder with the sign of a. */
OCC_HOT double occ_fmod_f64(double a, double b)
{
    return fmod(a, b);
}

/* The remainder with the sign of b. */
OCC_HOT double occ_mod_f64(double a, double b)
{
    double r = fmod(a, b);
    if (r == 0)
        return copysign(r, b);
    return (r < 0) != (b < 0) ? r + b : r;
}

#endif
