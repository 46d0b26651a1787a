/* occ_vmath.h - exp, log, softplus, tanh, sigmoid, erf, sine, cosine and square root of vectors of floats. The C
 * library is used only for sines and cosines of numbers from 2048 on. The polynomials were fitted for this project,
 * with the greatest error as small as possible; docs/kernels.md has the worst errors found over all floats. NaN passes;
 * infinities and denormals give the limit's value. Products and sums are joined by occ_vfma, so that the bits do not
 * depend on the code around a call. */
#ifndef OCC_VMATH_H
#define OCC_VMATH_H

#include <math.h>

#include "occ_vrows.h"

/* Maps inline these functions into their loops, where several elements are computed at a time. Kernels whose tiles fill
 * the registers call them instead: see occ_vapart.h. */
#if defined(OCC_SHARED)
#define OCC_MATH OCC_STEP
#else
#define OCC_MATH OCC_HOT
#endif

/* e^x = 2^n e^r with r in [-ln 2 / 2, ln 2 / 2]. Returns e^r - 1, and n in the bits of an exponent. Adding 1.5 * 2^23
 * rounds to n. |x| < 2^21. */
OCC_HOT occ_vf occ_vexp_parts(occ_vf x, occ_vi *n)
{
    const occ_vf magic = occ_vset(12582912.0f), t = occ_vfma(x, occ_vset(1.44269504f), magic), whole = t - magic;
    const occ_vf r = occ_vfma(whole, occ_vset(2.12194440e-4f), occ_vfma(whole, occ_vset(-0.693359375f), x));
    occ_vf       p = occ_vfma(occ_vset(1.38145685e-3f), r, occ_vset(8.36873055e-3f));
    p = occ_vfma(p, r, occ_vset(4.16683890e-2f));
    p = occ_vfma(p, r, occ_vset(1.66665211e-1f));
    p = occ_vfma(p, r, occ_vset(4.99999940e-1f));
    *n = occ_vshift_left(occ_vbits(t), 23);
    return occ_vfma(p, r * r, r);
}

/* 2^n for -126 <= n <= 127; n is given in the bits of an exponent. For any other n the result is some power of two, or
 * NaN. */
OCC_HOT occ_vf occ_vpower_of(occ_vi n)
{
    return occ_vfrom_bits(occ_vwrap_add(n, occ_viset(0x3f800000)));
}

/* e^x for -87 <= x <= 88, and NaN. */
OCC_HOT occ_vf occ_vexp_near(occ_vf x)
{
    occ_vi n;
    occ_vf part = occ_vexp_parts(x, &n), power = occ_vpower_of(n);
    return occ_vfma(part, power, power);
}

/* e^x for x <= 0, and NaN. Below -87 it is 0: such a weight is nothing beside the largest one, which is 1. */
OCC_HOT occ_vf occ_vexp_below(occ_vf a)
{
    return occ_vfrom_bits(occ_vbits(occ_vexp_near(a)) & ~occ_vmask_lt(a, occ_vset(-87.0f)));
}

/* p * 2^n for -252 <= n <= 254; n is given in the bits of an exponent. Two factors are multiplied one after the other,
 * so that denormal results are rounded once. */
OCC_HOT occ_vf occ_vscale(occ_vf p, occ_vi n)
{
    const occ_vi half = (n >> 1) & occ_viset(~0x7fffff);
    return p * occ_vpower_of(half) * occ_vpower_of(n - half);
}

OCC_MATH occ_vf occ_vexp(occ_vf a)
{
    occ_vi       n;
    const occ_vf p = occ_vexp_parts(occ_vat_most(occ_vat_least(a, occ_vset(-104.0f)), occ_vset(89.0f)), &n);
    return occ_vscale(p + occ_vset(1.0f), n);
}

/* a = m * 2^e with m in [sqrt 1/2, sqrt 2), for a >= 0; returns m - 1. */
OCC_HOT occ_vf occ_vlog_parts(occ_vf a, occ_vi *e)
{
    const occ_vi tiny = occ_vmask_lt(a, occ_vset(1.17549435e-38f)), root = occ_viset(0x3f3504f3);
    const occ_vi bits = occ_vwrap_add(occ_vbits(occ_vpick(tiny, a * occ_vset(8388608.0f), a)), -root);
    *e = (bits >> 23) - (tiny & occ_viset(23));
    return occ_vfrom_bits((bits & occ_viset(0x007fffff)) + root) - occ_vset(1.0f);
}

/* log(1 + f) + smaller, for f in [sqrt 1/2 - 1, sqrt 2 - 1] and a much smaller number. */
OCC_HOT occ_vf occ_vlog_near(occ_vf f, occ_vf smaller)
{
    const occ_vf z = f * f;
    occ_vf       p = occ_vfma(occ_vset(-7.63442963e-2f), f, occ_vset(1.27615496e-1f));
    p = occ_vfma(p, f, occ_vset(-1.31601945e-1f));
    p = occ_vfma(p, f, occ_vset(1.42017618e-1f));
    p = occ_vfma(p, f, occ_vset(-1.66233569e-1f));
    p = occ_vfma(p, f, occ_vset(2.00012267e-1f));
    p = occ_vfma(p, f, occ_vset(-2.50008225e-1f));
    p = occ_vfma(p, f, occ_vset(3.33333313e-1f));
    return f + occ_vfma(p * f, z, occ_vfma(occ_vset(-0.5f), z, smaller));
}

/* log x = log m + e ln 2 with m in [sqrt 1/2, sqrt 2). */
OCC_MATH occ_vf occ_vlog(occ_vf a)
{
    const occ_vf zero = occ_vset(0.0f), infinity = occ_vset((float)INFINITY);
    occ_vi       e;
    const occ_vf f = occ_vlog_parts(a, &e), power = occ_vfrom_int(e);
    occ_vf       y = occ_vfma(power, occ_vset(0.693359375f), occ_vlog_near(f, power * occ_vset(-2.12194440e-4f)));
    y = occ_vpick(occ_vmask_lt(a, infinity), y, a);
    y = occ_vpick(occ_vmask_eq(a, zero), -infinity, y);
    return occ_vpick(occ_vmask_lt(a, zero), occ_vset((float)NAN), y);
}

/* tanh x = m / (m + 2) with m = e^2x - 1; 1 or -1 from |x| = 10 on. Zero keeps its sign. */
OCC_MATH occ_vf occ_vtanh(occ_vf a)
{
    const occ_vf x = occ_vat_most(occ_vat_least(a, occ_vset(-10.0f)), occ_vset(10.0f)), one = occ_vset(1.0f);
    occ_vi       n;
    const occ_vf part = occ_vexp_parts(x + x, &n), power = occ_vpower_of(n), m = occ_vfma(part, power, power - one);
    return occ_vfrom_bits(occ_vbits(m / (m + (one + one))) | (occ_vbits(a) & occ_viset(INT32_MIN)));
}

/* log(1 + e^x) = max(x, 0) + log(1 + e) with e = e^-|x|. Where 1 + e is above sqrt 2, log(1 + e) = log((1 + e) / 2) +
 * ln 2. */
OCC_MATH occ_vf occ_vsoftplus(occ_vf a)
{
    const occ_vf one = occ_vset(1.0f), zero = occ_vset(0.0f), e = occ_vexp(-occ_vabs(a));
    const occ_vi large = occ_vmask_lt(occ_vset(0.414213562f), e);
    const occ_vf f = occ_vpick(large, (e - one) * occ_vset(0.5f), e);
    const occ_vf twice = occ_vfrom_bits(large & occ_vbits(occ_vset(0.693147181f)));
    return occ_vat_least(a, zero) + (occ_vlog_near(f, zero) + twice);
}

/* 1 / (1 + e^-x). Below x = -88 the result stays at 1 / (1 + e^88), 6e-39. */
OCC_MATH occ_vf occ_vsigmoid(occ_vf a)
{
    occ_vf x = occ_vat_most(occ_vat_least(-a, occ_vset(-87.0f)), occ_vset(88.0f));
    return occ_vset(1.0f) / (occ_vset(1.0f) + occ_vexp_near(x));
}

/* erf x is an odd polynomial up to |x| = 1.2, and 1 - 1 / Q(|x| - 65/64)^8 beyond (the form of Abramowitz and Stegun,
 * 7.1.28). From 4 on the result rounds to 1. */
OCC_MATH occ_vf occ_verf(occ_vf a)
{
    occ_vf x = occ_vat_most(occ_vabs(a), occ_vset(4.0f)), z = x * x, t = x - occ_vset(1.015625f), one = occ_vset(1.0f);
    occ_vf zz = z * z, tt = t * t; /* pairs of terms are independent, so the processor computes them at the same time */
    occ_vf p = occ_vfma(occ_vset(-7.43047212e-6f), z, occ_vset(1.03191363e-4f));
    p = occ_vfma(p, zz, occ_vfma(occ_vset(-8.32434976e-4f), z, occ_vset(5.20750554e-3f)));
    p = occ_vfma(p, zz, occ_vfma(occ_vset(-2.68594995e-2f), z, occ_vset(1.12836584e-1f)));
    p = occ_vfma(p, zz, occ_vfma(occ_vset(-3.76126289e-1f), z, occ_vset(1.28379166e-1f)));
    p = occ_vfma(p, a, a);
    occ_vf q = occ_vfma(occ_vset(5.47943753e-4f), t, occ_vset(-1.57198607e-4f));
    q = occ_vfma(q, tt, occ_vfma(occ_vset(5.17461263e-3f), t, occ_vset(1.50916325e-2f)));
    q = occ_vfma(q, tt, occ_vfma(occ_vset(5.90484850e-2f), t, occ_vset(2.04075158e-1f)));
    q = occ_vfma(q, tt, occ_vfma(occ_vset(4.22010243e-1f), t, occ_vset(1.26665640f)));
    q = q * q;
    q = q * q;
    q = q * q;
    return occ_vpick(occ_vmask_lt(x, occ_vset(1.2f)), p, occ_vsign_of(one - one / q, a));
}

/* The sine of a, |a| < 2048, plus `turn` quarters of a circle (turn = 1: the cosine). The nearest multiple n of a
 * quarter is subtracted in four parts, the first two of which are exact (Cody and Waite 1980). The remainder is at most
 * an eighth of a circle; its sine or cosine is a polynomial. */
OCC_HOT occ_vf occ_vsin_near(occ_vf a, int32_t turn)
{
    const occ_vf magic = occ_vset(12582912.0f), t = a * occ_vset(0.636619772f) + magic, n = t - magic;
    const occ_vi quarter = occ_vbits(t) - occ_vbits(magic) + occ_viset(turn), one = occ_viset(1);
    const occ_vf r = ((a - n * occ_vset(1.5703125f)) - n * occ_vset(4.837512969970703e-4f)) -
                     n * occ_vset(7.5495336e-8f) - n * occ_vset(2.563344e-12f);
    const occ_vf z = r * r;
    occ_vf       sine = occ_vset(-1.95149575e-4f), cosine = occ_vset(2.4432785e-5f);
    sine = sine * z + occ_vset(8.33215841e-3f);
    sine = sine * z + occ_vset(-1.66666546e-1f);
    sine = sine * (z * r) + r;
    cosine = cosine * z + occ_vset(-1.38873131e-3f);
    cosine = cosine * z + occ_vset(4.16666456e-2f);
    cosine = cosine * (z * z) + (occ_vset(1.0f) - occ_vset(0.5f) * z);
    sine = occ_vpick(-(quarter & one), cosine, sine);
    return occ_vfrom_bits(occ_vbits(sine) ^ occ_vshift_left(quarter & (one + one), 30));
}

/* Has the vector a lane that is too large for occ_vsin_near, infinite or NaN? The C library computes those. */
OCC_HOT int occ_vsin_far(occ_vf a)
{
    const occ_vi far = ~occ_vmask_lt(occ_vabs(a), occ_vset(2048.0f));
    int32_t      lane[OCC_W], any = 0;
    memcpy(lane, &far, sizeof lane);
    for (int i = 0; i < OCC_W; i++)
        any |= lane[i];
    return any;
}

OCC_HOT occ_vf occ_vsin_turned(occ_vf a, int32_t turn)
{
    float lane[OCC_W];
    if (!occ_vsin_far(a))
        return occ_vsin_near(a, turn);
    occ_vstore(lane, a, OCC_W);
    for (int i = 0; i < OCC_W; i++)
        if (fabsf(lane[i]) < 2048.0f)
            lane[i] = occ_vlane(occ_vsin_near(occ_vset(lane[i]), turn), 0);
        else
            lane[i] = turn ? cosf(lane[i]) : sinf(lane[i]);
    return occ_vload(lane, OCC_W);
}

OCC_STEP occ_vf occ_vsin(occ_vf a)
{
    return occ_vsin_turned(a, 0);
}

OCC_STEP occ_vf occ_vcos(occ_vf a)
{
    return occ_vsin_turned(a, 1);
}

/* The square root, correctly rounded; NaN below zero. */
OCC_HOT occ_vf occ_vsqrt(occ_vf a)
{
#if OCC_W == 1
    return a < 0.0f ? (float)NAN : sqrtf(a);
#elif defined(__AVX512F__) && OCC_W == 16 && defined(__clang__)
    return __builtin_ia32_sqrtps512(a, 4);
#elif defined(__AVX512F__) && OCC_W == 16
    return __builtin_ia32_sqrtps512_mask(a, a, -1, 4);
#elif defined(__AVX__) && OCC_W == 8
    return __builtin_ia32_sqrtps256(a);
#elif defined(__SSE2__) && OCC_W == 4
    return __builtin_ia32_sqrtps(a);
#else
    occ_vf y = a;
    for (int i = 0; i < OCC_W; i++)
        y[i] = a[i] < 0.0f ? (float)NAN : sqrtf(a[i]);
    return y;
#endif
}

#endif
