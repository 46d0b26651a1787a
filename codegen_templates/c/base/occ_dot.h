/* occ_dot.h - dot products of four bytes in each 32-bit lane, the core of integer convolutions and matrix products.
 * Weights are signed; the other factor is signed or unsigned. Every path gives the same exact sums. Knows nothing of
 * scales, windows or images. */
#ifndef OCC_DOT_H
#define OCC_DOT_H

#include "occ_bytes.h"

/* Assumptions of a kernel on its factors; a literal:
 *   OCC_DOT_SIGNED    x holds signed bytes
 *   OCC_DOT_UNSIGNED  x holds unsigned bytes
 *   OCC_DOT_SAFE      x holds unsigned bytes, and sums of two products never saturate: 255 * (w[0] + w[1]) and
 *                     255 * (w[2] + w[3]) fit 16 bits, even without their negative or without their positive terms */
#define OCC_DOT_SIGNED 0
#define OCC_DOT_UNSIGNED 1
#define OCC_DOT_SAFE 2

/* The instructions that exist: four products of bytes at once, sums of two products of bytes, sums of two products of
 * 16-bit integers. */
#if OCC_W > 1 && !defined(OCC_FORCE_WIDTH)
#if (OCC_W == 16 && defined(__AVX512VNNI__)) || (OCC_W == 8 && defined(__AVXVNNI__))
#define OCC_DOT_FOUR
#endif
#if OCC_W == 8 && defined(__AVX2__)
#define OCC_DOT_BYTES
#endif
#if (OCC_W == 16 && defined(__AVX512BW__)) || (OCC_W == 8 && defined(__AVX2__)) || (OCC_W == 4 && defined(__SSE2__))
#define OCC_DOT_WORDS
#endif
#endif
#if OCC_W > 1
typedef int16_t  occ_vh __attribute__((vector_size(4 * OCC_W)));
typedef uint16_t occ_vuh __attribute__((vector_size(4 * OCC_W)));
#endif

/* Lanes of four bytes in the form that the dot product takes: whole, or the even and the odd bytes widened to 16
 * bits. */
typedef struct occ_quads {
    occ_vi even, odd;
} occ_quads;

/* Does the dot product take bytes whole? */
OCC_HOT int occ_dot_whole(int kind)
{
#if defined(OCC_DOT_FOUR)
    return kind != OCC_DOT_SIGNED;
#elif defined(OCC_DOT_BYTES)
    return kind == OCC_DOT_SAFE;
#else
    (void)kind;
    return 0;
#endif
}

/* Prepares four bytes per lane for the dot product. */
OCC_HOT occ_quads occ_quads_of(occ_vi v, int is_signed, int kind)
{
    occ_quads q = {v, v};
    if (occ_dot_whole(kind))
        return q;
#if defined(OCC_DOT_WORDS)
    if (is_signed) {
        q.even = (occ_vi)(((occ_vh)v << 8) >> 8);
        q.odd = (occ_vi)((occ_vh)v >> 8);
    } else {
        q.even = v & occ_viset(0x00ff00ff);
        q.odd = (occ_vi)((occ_vuh)v >> 8);
    }
#elif OCC_W == 1 && defined(__ARM_FEATURE_DSP)
    if (is_signed) {
        __asm__("sxtb16 %0, %1" : "=r"(q.even) : "r"(v));
        __asm__("sxtb16 %0, %1, ror #8" : "=r"(q.odd) : "r"(v));
    } else {
        __asm__("uxtb16 %0, %1" : "=r"(q.even) : "r"(v));
        __asm__("uxtb16 %0, %1, ror #8" : "=r"(q.odd) : "r"(v));
    }
#else
    (void)is_signed;
#endif
    return q;
}

/* Byte k of each lane as an integer. */
OCC_HOT occ_vi occ_quad_byte(occ_vi v, int k, int is_signed)
{
#if OCC_W == 1
    return is_signed ? (int8_t)((uint32_t)v >> 8 * k) : (uint8_t)((uint32_t)v >> 8 * k);
#else
    return is_signed ? ((v << (24 - 8 * k)) >> 24) : ((v >> 8 * k) & occ_viset(255));
#endif
}

#if defined(OCC_DOT_WORDS)
/* Sums of two products of 16 bits. */
OCC_HOT occ_vi occ_dot_words(occ_vi a, occ_vi b)
{
#if OCC_W == 16
    occ_vi sum;
    __asm__("vpmaddwd %2, %1, %0"
            : "=v"(sum)
            : "v"(a), "v"(b)); /* the builtin's name is not the same for all compilers */
    return sum;
#elif OCC_W == 8
    return (occ_vi)__builtin_ia32_pmaddwd256((occ_vh)a, (occ_vh)b);
#else
    return (occ_vi)__builtin_ia32_pmaddwd128((occ_vh)a, (occ_vh)b);
#endif
}

/* acc + sums of two products of 16 bits, for tiles that fill all registers. It is one instruction of assembler, since
 * GCC reorders two separate ones and runs out of registers. */
OCC_HOT occ_vi occ_dot_add(occ_vi acc, occ_vi a, occ_vi b)
{
#if OCC_W == 8
    occ_vi sum;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(acc), "=&x"(sum) : "x"(a), "x"(b));
    return acc;
#else
    return acc + occ_dot_words(a, b);
#endif
}
#endif

/* acc + x . w in each lane. */
OCC_HOT occ_vi occ_dot(occ_vi acc, occ_quads x, occ_quads w, int kind)
{
#if defined(OCC_DOT_FOUR)
    if (kind != OCC_DOT_SIGNED) {
#if OCC_W == 16
        __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x.even), "v"(w.even));
#else
        __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(x.even), "x"(w.even));
#endif
        return acc;
    }
#elif defined(OCC_DOT_BYTES)
    if (kind == OCC_DOT_SAFE) {
        const occ_vh pairs = (occ_vh)__builtin_ia32_pmaddubsw256((occ_vc)x.even, (occ_vc)w.even);
        return acc + occ_dot_words((occ_vi)pairs, occ_viset(0x00010001));
    }
#endif
#if defined(OCC_DOT_WORDS)
    (void)kind;
    return acc + occ_dot_words(x.even, w.even) + occ_dot_words(x.odd, w.odd);
#elif OCC_W == 1 && defined(__ARM_FEATURE_DSP)
    (void)kind;
    __asm__("smlad %0, %1, %2, %3" : "=r"(acc) : "r"(x.even), "r"(w.even), "r"(acc));
    __asm__("smlad %0, %1, %2, %3" : "=r"(acc) : "r"(x.odd), "r"(w.odd), "r"(acc));
    return acc;
#else
    OCC_UNROLL(4)
    for (int k = 0; k < 4; k++)
        acc += occ_quad_byte(x.even, k, kind == OCC_DOT_SIGNED) * occ_quad_byte(w.even, k, 1);
    return acc;
#endif
}

/* An integer of four bytes in memory order; only n of them exist, the others are 0. */
OCC_HOT int32_t occ_four_bytes(const uint8_t *p, int n)
{
    int32_t word = 0;
#if OCC_W == 1 && defined(__GNUC__)
    if (n == 4)
        return *(const occ_viu *)(const void *)p;
#endif
    OCC_COPY(&word, p, (size_t)n);
    return word;
}

/* Broadcasts the integer of four bytes, of which n exist, to every lane, xor-ed with `flip`. The wide load keeps
 * compilers from splitting the bytes before the broadcast. */
OCC_HOT occ_vi occ_vispread(const uint8_t *p, int n, int32_t flip)
{
#if defined(OCC_DOT_BYTES)
    if (n == 4) {
        occ_vi v;
        __asm__("vpbroadcastd %1, %0" : "=x"(v) : "m"(*(const uint8_t(*)[4])p));
        return flip ? v ^ occ_viset(flip) : v;
    }
#endif
    return occ_viset(occ_four_bytes(p, n) ^ flip);
}

/* a * b where each factor fits 16 bits. */
OCC_HOT occ_vi occ_mul_small(occ_vi a, occ_vi b)
{
#if defined(OCC_DOT_WORDS)
    return occ_dot_words(a, b & occ_viset(0xffff));
#else
    return a * b;
#endif
}

#endif
