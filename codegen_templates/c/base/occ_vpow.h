/* occ_vpow.h - powers of vectors of floats. The product of exponent and logarithm is computed in double precision, the
 * rest in single. The error is at most 1.3 units in the last place; zeros, infinities, NaN and negative bases give the
 * results of powf in the C library. */
#ifndef OCC_VPOW_H
#define OCC_VPOW_H

#include "occ_vmath.h"

/* A vector of as many doubles as occ_vf has floats. No register is that wide, so such vectors stay inside one
 * function. */
#if OCC_W == 1
typedef double occ_vd;
#define OCC_VD_OF(v) ((double)(v))
#define OCC_VF_OF(v) ((float)(v))
#else
typedef double occ_vd __attribute__((vector_size(8 * OCC_W)));
#define OCC_VD_OF(v) __builtin_convertvector(v, occ_vd)
#define OCC_VF_OF(v) __builtin_convertvector(v, occ_vf)
#endif

/* t = b * (e + log2(1 + f)). Returns the float nearest to t; *rest is t minus that. The logarithm is that of (1 + s) /
 * (1 - s) with s = f / (2 + f), an odd polynomial of relative error 2^-37. */
OCC_HOT occ_vf occ_vpow_exponent(occ_vf b, occ_vf e, occ_vf f, occ_vf *rest)
{
    const occ_vd wide = OCC_VD_OF(f), s = wide / (wide + 2.0), z = s * s;
    const occ_vd p =
        (((0.3407301079709493 * z + 0.41167271880356854) * z + 0.5770835849728642) * z + 0.9617966733417048) * z;
    const occ_vd t = OCC_VD_OF(b) * ((p + 2.885390081790086) * s + OCC_VD_OF(e));
    const occ_vf nearest = OCC_VF_OF(t);
    *rest = OCC_VF_OF(t - OCC_VD_OF(nearest));
    return nearest;
}

/* 2^(t + rest), where rest is far below t. From |t| = 200 on, rest is ignored: the result is 0 or infinite, and rest
 * may be NaN. */
OCC_HOT occ_vf occ_vpow_of_two(occ_vf t, occ_vf rest)
{
    const occ_vf limit = occ_vset(200.0f), magic = occ_vset(12582912.0f);
    const occ_vi few = occ_vmask_lt(occ_vabs(t), limit);
    const occ_vf x = occ_vat_most(occ_vat_least(t, -limit), limit), shifted = x + magic;
    const occ_vf r = (x - (shifted - magic)) + occ_vfrom_bits(occ_vbits(rest) & few);
    occ_vf       p = occ_vfma(occ_vset(1.540350816e-4f), r, occ_vset(1.339084983e-3f));
    p = occ_vfma(p, r, occ_vset(9.618237942e-3f));
    p = occ_vfma(p, r, occ_vset(5.550357220e-2f));
    p = occ_vfma(p, r, occ_vset(2.402264979e-1f));
    p = occ_vfma(p, r, occ_vset(6.931471880e-1f));
    return occ_vscale(occ_vfma(p, r, occ_vset(1.0f)), occ_vshift_left(occ_vbits(shifted), 23));
}

/* |a|^b for b other than 0. An infinite b is replaced by the largest float, so that 1^b stays 1. */
OCC_HOT occ_vf occ_vpow_size(occ_vf a, occ_vf b)
{
    const occ_vf x = occ_vabs(a), infinity = occ_vset((float)INFINITY), most = occ_vset(3.40282347e38f),
                 zero = occ_vset(0.0f);
    occ_vi       e;
    const occ_vf f = occ_vlog_parts(x, &e);
    occ_vf       power = occ_vfrom_int(e), rest, t;
    power = occ_vpick(occ_vmask_lt(x, infinity), power, x);
    power = occ_vpick(occ_vmask_eq(x, zero), -infinity, power);
    t = occ_vpow_exponent(occ_vat_most(occ_vat_least(b, -most), most), power, f, &rest);
    return occ_vpow_of_two(t, rest);
}

/* a^b. An odd whole exponent keeps the sign of a; a negative a has no power with an exponent that is not whole. */
OCC_MATH occ_vf occ_vpow(occ_vf a, occ_vf b)
{
    const occ_vf zero = occ_vset(0.0f), one = occ_vset(1.0f), half = b * occ_vset(0.5f);
    const occ_vi is_whole = occ_vmask_eq(occ_vtrunc(b), b), is_even = occ_vmask_eq(occ_vtrunc(half), half);
    const occ_vi sign = is_whole & ~is_even & occ_vbits(a) & occ_viset(INT32_MIN);
    const occ_vi none = occ_vmask_lt(a, zero) & occ_vmask_lt(-a, occ_vset((float)INFINITY)) & ~is_whole;
    const occ_vf size = occ_vpow_size(a, b),
                 y = occ_vpick(none, occ_vset((float)NAN), occ_vfrom_bits(occ_vbits(size) | sign));
    return occ_vpick(occ_vmask_eq(b, zero) | occ_vmask_eq(a, one), one, y);
}

#endif
