/* occ_put.h - the stores of kernels that compute integer sums. A sum passes through the expression as a float, and is
 * then stored as it is, or rounded half to even, shifted by the zero point and clamped to the range of bytes. Knows
 * nothing of kernels. */
#ifndef OCC_PUT_H
#define OCC_PUT_H

#include "occ_dot.h"
#include "occ_expr.h"

/* How loops over stored lanes are unrolled. Without vectors they are not: such processors have little memory for
 * code. */
#if OCC_W == 1
#define OCC_UNROLL_LANES(n) OCC_ROLL
#else
#define OCC_UNROLL_LANES(n) OCC_UNROLL(n)
#endif

/* Stores n results at elements at, at + stride, ... of y. Their inner index begins with `channel`, in the row that e
 * describes. */
typedef void (*occ_fn_put)(void *y, int64_t at, int64_t stride, occ_vi sum, const occ_expr *e, int64_t channel, int n,
                           occ_fn_vf fn, int32_t zero);

/* Clamps to [lo, hi], whole numbers below 2^21, and rounds to the nearest integer, halves to even. */
OCC_HOT occ_vi occ_vnear(occ_vf v, float lo, float hi)
{
#if defined(__AVX__) && OCC_W == 8
    v = __builtin_ia32_minps256(__builtin_ia32_maxps256(v, occ_vset(lo)), occ_vset(hi));
    return (occ_vi)__builtin_ia32_cvtps2dq256(v);
#elif defined(__AVX512F__) && OCC_W == 16 && !defined(OCC_FORCE_WIDTH)
    __asm__("vmaxps %2, %1, %0" : "=v"(v) : "v"(v), "v"(occ_vset(lo))); /* NaN becomes lo */
    __asm__("vminps %2, %1, %0" : "=v"(v) : "v"(v), "v"(occ_vset(hi)));
    return (occ_vi)__builtin_ia32_cvtps2dq512_mask(v, (occ_vi){0}, OCC_ALL_LANES, 4);
#else
    const occ_vf magic = occ_vset(12582912.0f); /* 1.5 * 2^23: whole numbers are neighbours from here on */
    v = occ_vpick(occ_vmask_lt(occ_vset(lo), v), v, occ_vset(lo));
    v = occ_vpick(occ_vmask_lt(v, occ_vset(hi)), v, occ_vset(hi));
    return occ_vbits(v + magic) - occ_vbits(magic);
#endif
}

/* Stores the low byte of each lane. */
OCC_HOT void occ_put_bytes(uint8_t *to, int64_t stride, occ_vi v, int n)
{
    uint8_t lane[OCC_W];
    if (stride == 1) {
        occ_vistore_bytes(to, v, n);
        return;
    }
    occ_vistore_bytes(lane, v, OCC_W);
    for (int i = 0; i < n && i < OCC_W; i++)
        to[i * stride] = lane[i];
}

/* Stores n bytes: v rounded to the nearest integer, halves to even, plus zero, clamped. NaN becomes the least byte. */
OCC_HOT void occ_put_near(uint8_t *to, int64_t stride, occ_vf v, int n, int32_t zero, int is_signed)
{
    const float least = (float)((is_signed ? -128 : 0) - zero), most = (float)((is_signed ? 127 : 255) - zero);
#if defined(__AVX512F__) && OCC_W == 16 && !defined(OCC_FORCE_WIDTH)
    /* AVX-512 narrows integers with clamping, and turns what no integer can hold into the least one: as an unsigned
     * integer it is above all bytes, as a signed one below them. So floats are clamped at the other side only; at both
     * where the least integer plus zero would wrap around. */
    if (stride == 1) {
        occ_vi near;
        if (!is_signed || zero < 0)
            __asm__("vmaxps %2, %1, %0" : "=v"(v) : "v"(v), "v"(occ_vset(least))); /* NaN becomes `least` */
        if (is_signed)
            __asm__("vminps %2, %1, %0" : "=v"(v) : "v"(occ_vset(most)), "v"(v)); /* NaN stays */
        near = (occ_vi)__builtin_ia32_cvtps2dq512_mask(v, (occ_vi){0}, OCC_ALL_LANES, 4) + occ_viset(zero);
        if (is_signed)
            __builtin_ia32_pmovsdb512mem_mask((occ_v16c *)(void *)to, near, OCC_FIRST_LANES(n));
        else
            __builtin_ia32_pmovusdb512mem_mask((occ_v16c *)(void *)to, near, OCC_FIRST_LANES(n));
        return;
    }
#endif
    occ_put_bytes(to, stride, occ_vnear(v, least, most) + occ_viset(zero), n);
}

OCC_HOT void occ_put_u8(void *y, int64_t at, int64_t stride, occ_vi sum, const occ_expr *e, int64_t channel, int n,
                        occ_fn_vf fn, int32_t zero)
{
    occ_put_near((uint8_t *)y + at, stride, occ_apply_vf(e, occ_vfrom_int(sum), channel, n, fn), n, zero, 0);
}

OCC_HOT void occ_put_i8(void *y, int64_t at, int64_t stride, occ_vi sum, const occ_expr *e, int64_t channel, int n,
                        occ_fn_vf fn, int32_t zero)
{
    occ_put_near((uint8_t *)y + at, stride, occ_apply_vf(e, occ_vfrom_int(sum), channel, n, fn), n, zero, 1);
}

OCC_HOT void occ_put_f32(void *y, int64_t at, int64_t stride, occ_vi sum, const occ_expr *e, int64_t channel, int n,
                         occ_fn_vf fn, int32_t zero)
{
    const occ_vf v = occ_apply_vf(e, occ_vfrom_int(sum), channel, n, fn);
    (void)zero;
    if (stride == 1)
        occ_vstore((float *)y + at, v, n);
    else
        occ_vstores((float *)y + at, stride, v, n);
}

/* Can occ_put_two store what `put` stores? */
#if defined(OCC_BYTES_AVX2)
#define OCC_PUT_TWO(put) ((put) == occ_put_u8 || (put) == occ_put_i8)
#else
#define OCC_PUT_TWO(put) 0
#endif

/* Stores two whole vectors of results side by side, as occ_put_u8 or occ_put_i8 do. Instructions that pack integers
 * clamp them, too: the larger ones, which no 32-bit integer may hold, are clamped as floats before. */
OCC_HOT void occ_put_two(uint8_t *to, const occ_vi *sums, const occ_expr *e, int64_t channel, occ_fn_vf fn,
                         int32_t zero, int is_signed)
{
#if defined(OCC_BYTES_AVX2)
    const occ_vf most = occ_vset((float)((is_signed ? 127 : 255) - zero)), least = occ_vset((float)(-128 - zero));
    const occ_vi halves = {0, 4, 1, 5, 0, 4, 1, 5};
    occ_vi       near[2], packed;
    occ_vh       words;
    OCC_UNROLL(2)
    for (int j = 0; j < 2; j++) {
        occ_vf v = occ_apply_vf(e, occ_vfrom_int(sums[j]), channel + j * OCC_W, OCC_W, fn);
        if (zero < 0) /* the least 16-bit integer plus zero would not be one */
            v = __builtin_ia32_maxps256(v, least);
        near[j] = (occ_vi)__builtin_ia32_cvtps2dq256(__builtin_ia32_minps256(most, v)); /* NaN: the least integer */
    }
    words = (occ_vh)__builtin_ia32_packssdw256(near[0], near[1]) + (int16_t)zero;
    packed =
        is_signed ? (occ_vi)__builtin_ia32_packsswb256(words, words) : (occ_vi)__builtin_ia32_packuswb256(words, words);
    packed = (occ_vi)__builtin_ia32_permvarsi256(packed, halves);
    OCC_COPY(to, &packed, 2 * OCC_W);
#else
    (void)to, (void)sums, (void)e, (void)channel, (void)fn, (void)zero, (void)is_signed;
#endif
}

/* Stores the sums themselves. */
OCC_HOT void occ_put_i32(void *y, int64_t at, int64_t stride, occ_vi sum, const occ_expr *e, int64_t channel, int n,
                         occ_fn_vf fn, int32_t zero)
{
    int32_t lane[OCC_W];
    (void)e, (void)channel, (void)fn, (void)zero;
    OCC_COPY(lane, &sum, sizeof lane);
    for (int i = 0; i < n && i < OCC_W; i++)
        ((int32_t *)y)[at + i * stride] = lane[i];
}

/* Stores the results of one pixel: the first `stored` lanes of `vectors` (literal) vectors. The arguments are those of
 * occ_fn_put. */
OCC_HOT void occ_put_pixel(occ_fn_put put, void *y, int64_t at, int64_t stride, const occ_vi *sums, int vectors,
                           int stored, const occ_expr *e, int64_t channel, occ_fn_vf fn, int32_t zero)
{
    OCC_UNROLL_LANES(4)
    for (int j = 0; j < vectors; j++) {
        const int even = j & ~1, left = stored - j * OCC_W;
        if (OCC_PUT_TWO(put) && stride == 1 && even + 2 <= vectors && stored >= (even + 2) * OCC_W) {
            if (j == even)
                occ_put_two((uint8_t *)y + at + j * OCC_W, sums + j, e, channel + j * OCC_W, fn, zero,
                            put == occ_put_i8);
        } else if (left > 0) {
            put(y, at + j * OCC_W * stride, stride, sums[j], e, channel + j * OCC_W, left < OCC_W ? left : OCC_W, fn,
                zero);
        }
    }
}

#endif
