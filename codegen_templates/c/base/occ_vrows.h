/* occ_vrows.h - the vector functions of schemas/scalars.def that need no mathematics: arithmetic, rounding to whole
 * numbers, comparisons, and Booleans, which are floats here. They treat NaN and signed zeros as the scalar functions of
 * the same rows do. */
#ifndef OCC_VROWS_H
#define OCC_VROWS_H

#include "occ_vec.h"

OCC_HOT occ_vf occ_vadd(occ_vf a, occ_vf b)
{
    return a + b;
}

OCC_HOT occ_vf occ_vsub(occ_vf a, occ_vf b)
{
    return a - b;
}

OCC_HOT occ_vf occ_vmul(occ_vf a, occ_vf b)
{
    return a * b;
}

OCC_HOT occ_vf occ_vdiv(occ_vf a, occ_vf b)
{
    return a / b;
}

/* The smaller and the larger of two numbers, a if they are equal; NaN if either operand is. */
OCC_HOT occ_vf occ_vmin(occ_vf a, occ_vf b)
{
    return occ_vpick(occ_vmask_nan(b), b, occ_vat_most(a, b));
}

OCC_HOT occ_vf occ_vmax(occ_vf a, occ_vf b)
{
    return occ_vpick(occ_vmask_nan(b), b, occ_vat_least(a, b));
}

OCC_HOT occ_vf occ_vneg(occ_vf a)
{
    return -a;
}

OCC_HOT occ_vf occ_vabs(occ_vf a)
{
    return occ_vfrom_bits(occ_vbits(a) & occ_viset(0x7fffffff));
}

OCC_HOT occ_vf occ_vsign_of(occ_vf magnitude, occ_vf sign)
{
    return occ_vfrom_bits((occ_vbits(magnitude) & occ_viset(0x7fffffff)) | (occ_vbits(sign) & occ_viset(INT32_MIN)));
}

/* -1, 0 or 1; NaN for NaN. */
OCC_HOT occ_vf occ_vsign(occ_vf a)
{
    occ_vf zero = occ_vset(0.0f);
    occ_vf s = occ_vbool(occ_vmask_lt(zero, a)) - occ_vbool(occ_vmask_lt(a, zero));
    return occ_vpick(occ_vmask_nan(a), a, s);
}

OCC_HOT occ_vf occ_vsquare(occ_vf a)
{
    return a * a;
}

OCC_HOT occ_vf occ_vrecip(occ_vf a)
{
    return occ_vset(1.0f) / a;
}

/* Rounds to whole floats by one instruction. way (literal): 8 to the nearest, halves to even; 9 down; 10 up; 11 towards
 * zero. */
#if OCC_W == 8 && defined(__AVX__) && !defined(OCC_FORCE_WIDTH)
#define OCC_VWHOLE(a, way) __builtin_ia32_roundps256(a, way)
#elif OCC_W == 16 && defined(__AVX512F__) && !defined(OCC_FORCE_WIDTH)
#define OCC_VWHOLE(a, way) __builtin_ia32_rndscaleps_mask(a, way, a, OCC_ALL_LANES, 4)
#elif OCC_W == 4 && defined(__SSE4_1__) && !defined(OCC_FORCE_WIDTH)
#define OCC_VWHOLE(a, way) __builtin_ia32_roundps(a, way)
#endif

/* Rounds towards zero. From 2^23 on every float is whole; below, the whole part fits a 32-bit integer. Zero keeps its
 * sign. */
OCC_HOT occ_vf occ_vtrunc(occ_vf a)
{
#if defined(OCC_VWHOLE)
    return OCC_VWHOLE(a, 11);
#else
    occ_vi small = occ_vmask_lt(occ_vabs(a), occ_vset(8388608.0f));
    occ_vf t = occ_vfrom_int(occ_vto_int(occ_vpick(small, a, occ_vset(0.0f))));
    return occ_vpick(small, occ_vsign_of(t, a), a);
#endif
}

OCC_HOT occ_vf occ_vfloor(occ_vf a)
{
#if defined(OCC_VWHOLE)
    return OCC_VWHOLE(a, 9);
#else
    occ_vf t = occ_vtrunc(a);
    return occ_vpick(occ_vmask_lt(a, t), t - occ_vset(1.0f), t);
#endif
}

OCC_HOT occ_vf occ_vceil(occ_vf a)
{
#if defined(OCC_VWHOLE)
    return OCC_VWHOLE(a, 10);
#else
    occ_vf t = occ_vtrunc(a);
    return occ_vpick(occ_vmask_lt(t, a), occ_vsign_of(t + occ_vset(1.0f), a), t);
#endif
}

/* Rounds to the nearest whole number, halves to even. */
OCC_HOT occ_vf occ_vround(occ_vf a)
{
#if defined(OCC_VWHOLE)
    return OCC_VWHOLE(a, 8);
#else
    occ_vf t = occ_vtrunc(a), rest = occ_vabs(a - t), half = occ_vset(0.5f);
    occ_vf even = occ_vtrunc(t * half) * occ_vset(2.0f);
    occ_vi odd = ~occ_vmask_eq(even, t);
    occ_vi away = occ_vmask_lt(half, rest) | (occ_vmask_eq(rest, half) & odd);
    return occ_vpick(away, t + occ_vsign_of(occ_vset(1.0f), a), t);
#endif
}

OCC_HOT occ_vf occ_veq(occ_vf a, occ_vf b)
{
    return occ_vbool(occ_vmask_eq(a, b));
}

OCC_HOT occ_vf occ_vlt(occ_vf a, occ_vf b)
{
    return occ_vbool(occ_vmask_lt(a, b));
}

OCC_HOT occ_vf occ_vle(occ_vf a, occ_vf b)
{
    return occ_vbool(occ_vmask_le(a, b));
}

OCC_HOT occ_vf occ_visnan(occ_vf a)
{
    return occ_vbool(occ_vmask_nan(a));
}

/* Logic on Booleans, which are 1.0f and 0.0f. */
OCC_HOT occ_vf occ_vand(occ_vf a, occ_vf b)
{
    return occ_vfrom_bits(occ_vbits(a) & occ_vbits(b));
}

OCC_HOT occ_vf occ_vor(occ_vf a, occ_vf b)
{
    return occ_vfrom_bits(occ_vbits(a) | occ_vbits(b));
}

OCC_HOT occ_vf occ_vxor(occ_vf a, occ_vf b)
{
    return occ_vfrom_bits(occ_vbits(a) ^ occ_vbits(b));
}

OCC_HOT occ_vf occ_vnot(occ_vf a)
{
    return occ_vset(1.0f) - a;
}

OCC_HOT occ_vf occ_vselect(occ_vf condition, occ_vf a, occ_vf b)
{
    return occ_vpick(occ_vmask_eq(condition, occ_vset(0.0f)), b, a);
}

/* a where x compares so with y, b elsewhere. */
OCC_HOT occ_vf occ_vselect_eq(occ_vf x, occ_vf y, occ_vf a, occ_vf b)
{
    return occ_vpick(occ_vmask_eq(x, y), a, b);
}

OCC_HOT occ_vf occ_vselect_lt(occ_vf x, occ_vf y, occ_vf a, occ_vf b)
{
    return occ_vpick(occ_vmask_lt(x, y), a, b);
}

OCC_HOT occ_vf occ_vselect_le(occ_vf x, occ_vf y, occ_vf a, occ_vf b)
{
    return occ_vpick(occ_vmask_le(x, y), a, b);
}

#endif
