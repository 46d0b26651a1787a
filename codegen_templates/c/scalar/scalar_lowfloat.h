/* scalar_lowfloat.h - floats of 16 bits and less, kept as integers, to and from float: half to even; where a type has
 * no infinity, values beyond its greatest become that (occ_f32_to_<type>) or NaN (occ_f32_to_<type>_unsaturated).
 * Knows nothing of kernels. */
#ifndef OCC_SCALAR_LOWFLOAT_H
#define OCC_SCALAR_LOWFLOAT_H

#include "occ_base.h"

OCC_HOT uint32_t occ_f32_bits(float a)
{
    uint32_t b;
    OCC_COPY(&b, &a, sizeof b);
    return b;
}

OCC_HOT float occ_f32_from_bits(uint32_t a)
{
    float b;
    OCC_COPY(&b, &a, sizeof b);
    return b;
}

/* A power of two, 2^-126 <= 2^n < 2^128. */
OCC_HOT float occ_f32_power(int n)
{
    return occ_f32_from_bits((uint32_t)(n + 127) << 23);
}

/* The value of exponent and mantissa `code` (`mantissa` bits of it mantissa), without sign, NaN or infinity. */
OCC_HOT float occ_small_decode(uint32_t code, int mantissa, int bias)
{
    const uint32_t one = (uint32_t)1 << mantissa;
    uint32_t       exponent = code >> mantissa, rest = code & (one - 1);
    if (exponent == 0)
        return (float)(int32_t)rest * occ_f32_power(1 - bias - mantissa);
    return occ_f32_from_bits((exponent + (uint32_t)(127 - bias)) << 23 | rest << (23 - mantissa));
}

/* The code nearest to |a|, half to even; above the type's last code where |a| is too large. NaN gives a large code. */
OCC_HOT uint32_t occ_small_encode(float a, int mantissa, int bias)
{
    uint32_t bits = occ_f32_bits(a) & 0x7fffffffu, value;
    int      shift = 23 - mantissa;
    if (bits < (uint32_t)(128 - bias) << 23) { /* below the least normal number: steps of equal width */
        int     width = 1 - bias - mantissa;
        int64_t scaled = (int64_t)((bits & 0x7fffffu) | 0x800000u);
        int     drop = width - ((int)(bits >> 23) - 150); /* bits of the mantissa below one step */
        if (bits >> 23 == 0 || drop > 25)
            return 0;
        return (uint32_t)((scaled + (((int64_t)1 << drop) >> 1) - 1 + ((scaled >> drop) & 1)) >> drop);
    }
    value = bits - ((uint32_t)(127 - bias) << 23);
    return (value + (((uint32_t)1 << shift) >> 1) - 1 + (value >> shift & 1)) >> shift;
}

/* float16 by the instructions of F16C where they are; a NaN stays one, and becomes quiet. */
#if defined(__F16C__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(OCC_FORCE_SCALAR)
#define OCC_HAS_F16C 1
#else
#define OCC_HAS_F16C 0
#endif

OCC_HOT float occ_f16_to_f32(uint16_t a)
{
#if OCC_HAS_F16C
    typedef short occ_halves __attribute__((vector_size(16)));
    return __builtin_ia32_vcvtph2ps((occ_halves){(short)a})[0];
#else
    uint32_t code = a & 0x7fffu;
    float    magnitude = occ_small_decode(code, 10, 15);
    if (code >= 0x7c00u)
        magnitude = occ_f32_from_bits((code > 0x7c00u ? 0x7fc00000u : 0x7f800000u) | (code & 0x3ffu) << 13);
    /* without a branch, since signs are hard to foresee */
    return occ_f32_from_bits(occ_f32_bits(magnitude) | ((uint32_t)a & 0x8000u) << 16);
#endif
}

OCC_HOT uint16_t occ_f32_to_f16(float a)
{
    if (a != a)
        return (uint16_t)((occ_f32_bits(a) >> 16 & 0x8000u) | 0x7e00u);
#if OCC_HAS_F16C
    typedef float occ_floats __attribute__((vector_size(16)));
    return (uint16_t)__builtin_ia32_vcvtps2ph((occ_floats){a}, 0)[0];
#else
    uint32_t sign = occ_f32_bits(a) >> 16 & 0x8000u, code = occ_small_encode(a, 10, 15);
    return (uint16_t)(sign | (code > 0x7c00u ? 0x7c00u : code));
#endif
}

OCC_HOT float occ_bf16_to_f32(uint16_t a)
{
    return occ_f32_from_bits((uint32_t)a << 16);
}

OCC_HOT uint16_t occ_f32_to_bf16(float a)
{
    uint32_t bits = occ_f32_bits(a);
    if (a != a)
        return (uint16_t)((bits >> 16 & 0x8000u) | 0x7fc0u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

OCC_HOT float occ_f8e4m3fn_to_f32(uint8_t a)
{
    float magnitude = occ_small_decode(a & 0x7fu, 3, 7);
    if ((a & 0x7f) == 0x7f)
        magnitude = occ_f32_from_bits(0x7fc00000u);
    return a & 0x80 ? -magnitude : magnitude;
}

/* `beyond` is the code for what is too large. */
OCC_HOT uint8_t occ_f8e4m3fn_encode(float a, uint32_t beyond)
{
    uint32_t sign = occ_f32_bits(a) >> 24 & 0x80u, code = occ_small_encode(a, 3, 7);
    if (a != a)
        return (uint8_t)(sign | 0x7fu);
    return (uint8_t)(sign | (code > 0x7eu ? beyond : code));
}

OCC_HOT uint8_t occ_f32_to_f8e4m3fn(float a)
{
    return occ_f8e4m3fn_encode(a, 0x7eu);
}

OCC_HOT uint8_t occ_f32_to_f8e4m3fn_unsaturated(float a)
{
    return occ_f8e4m3fn_encode(a, 0x7fu);
}

/* The types with the suffix fnuz have one zero, and one NaN in the place of the other. */
OCC_HOT float occ_f8e4m3fnuz_to_f32(uint8_t a)
{
    float magnitude = occ_small_decode(a & 0x7fu, 3, 8);
    if (a == 0x80)
        return occ_f32_from_bits(0x7fc00000u);
    return a & 0x80 ? -magnitude : magnitude;
}

/* The code of a type without infinity and negative zero; `beyond` 0x80 is NaN for what is too large. */
OCC_HOT uint8_t occ_fnuz_encode(float a, uint32_t code, uint32_t beyond)
{
    uint32_t sign = occ_f32_bits(a) >> 24 & 0x80u;
    if (a != a)
        return 0x80;
    if (code > 0x7fu)
        return (uint8_t)(sign | beyond);
    return (uint8_t)(code ? sign | code : 0);
}

OCC_HOT uint8_t occ_f32_to_f8e4m3fnuz(float a)
{
    return occ_fnuz_encode(a, occ_small_encode(a, 3, 8), 0x7fu);
}

OCC_HOT uint8_t occ_f32_to_f8e4m3fnuz_unsaturated(float a)
{
    return occ_fnuz_encode(a, occ_small_encode(a, 3, 8), 0x80u);
}

OCC_HOT float occ_f8e5m2_to_f32(uint8_t a)
{
    return occ_f16_to_f32((uint16_t)((uint32_t)a << 8));
}

OCC_HOT uint8_t occ_f8e5m2_encode(float a, uint32_t beyond)
{
    uint32_t sign = occ_f32_bits(a) >> 24 & 0x80u, code = occ_small_encode(a, 2, 15);
    if (a != a)
        return (uint8_t)(sign | 0x7fu);
    return (uint8_t)(sign | (code > 0x7bu ? beyond : code));
}

OCC_HOT uint8_t occ_f32_to_f8e5m2(float a)
{
    return occ_f8e5m2_encode(a, 0x7bu);
}

OCC_HOT uint8_t occ_f32_to_f8e5m2_unsaturated(float a)
{
    return occ_f8e5m2_encode(a, 0x7cu);
}

OCC_HOT float occ_f8e5m2fnuz_to_f32(uint8_t a)
{
    float magnitude = occ_small_decode(a & 0x7fu, 2, 16);
    if (a == 0x80)
        return occ_f32_from_bits(0x7fc00000u);
    return a & 0x80 ? -magnitude : magnitude;
}

OCC_HOT uint8_t occ_f32_to_f8e5m2fnuz(float a)
{
    return occ_fnuz_encode(a, occ_small_encode(a, 2, 16), 0x7fu);
}

OCC_HOT uint8_t occ_f32_to_f8e5m2fnuz_unsaturated(float a)
{
    return occ_fnuz_encode(a, occ_small_encode(a, 2, 16), 0x80u);
}

OCC_HOT float occ_f4e2m1_to_f32(uint8_t a)
{
    float magnitude = occ_small_decode(a & 7u, 1, 1);
    return a & 8 ? -magnitude : magnitude;
}

/* Always saturating: there is no infinity; NaN becomes zero of the other sign, as in ONNX's reference. */
OCC_HOT uint8_t occ_f32_to_f4e2m1(float a)
{
    uint32_t sign = occ_f32_bits(a) >> 28 & 8u, code = occ_small_encode(a, 1, 1);
    if (a != a)
        return (uint8_t)(sign ^ 8u);
    return (uint8_t)(sign | (code > 7u ? 7u : code));
}

/* 2^(a - 127), a power of two without sign; 255 is NaN. */
OCC_HOT float occ_f8e8m0_to_f32(uint8_t a)
{
    if (a == 255)
        return occ_f32_from_bits(0x7fc00000u);
    return a ? occ_f32_power((int)a - 127) : occ_f32_from_bits(0x00400000u);
}

/* The exponent of the next power of two, the sign ignored. Beyond 2^127 the largest code, below 2^-127, zero too, the
 * least; NaN without saturation. */
OCC_HOT uint8_t occ_f8e8m0_encode(float a, int saturate)
{
    const uint32_t bits = occ_f32_bits(a) & 0x7fffffffu;
    if (bits > 0x7f800000u)
        return 255;
    if (bits > 0x7f000000u)
        return saturate ? 254 : 255;
    if (bits <= 0x00400000u)
        return saturate || bits == 0x00400000u ? 0 : 255;
    return (uint8_t)((bits + 0x7fffffu) >> 23);
}

OCC_HOT uint8_t occ_f32_to_f8e8m0(float a)
{
    return occ_f8e8m0_encode(a, 1);
}

OCC_HOT uint8_t occ_f32_to_f8e8m0_unsaturated(float a)
{
    return occ_f8e8m0_encode(a, 0);
}

/* The power of two, as float8e8m0 has them, that is the next below a, or the nearest, ties up. What is outside their
 * range stays. */
OCC_HOT float occ_power2_down_f32(float a)
{
    const uint32_t bits = occ_f32_bits(a) & 0x7fffffffu;
    if (bits > 0x7f000000u || bits < 0x00400000u)
        return a;
    return occ_f32_from_bits(bits < 0x00800000u ? 0x00400000u : bits & 0x7f800000u);
}

OCC_HOT float occ_power2_near_f32(float a)
{
    const uint32_t bits = occ_f32_bits(a) & 0x7fffffffu;
    if (bits > 0x7f000000u || bits < 0x00400000u)
        return a;
    if (bits < 0x00800000u)
        return occ_f32_from_bits(bits < 0x00600000u ? 0x00400000u : 0x00800000u);
    return occ_f32_from_bits((bits + 0x400000u) & 0x7f800000u);
}

#endif
