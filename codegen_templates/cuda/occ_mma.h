/* occ_mma.h - tensor cores: one product of small matrices whose factors and sums lie in the registers of a warp. Knows
 * nothing of tiles.
 *
 *   OCC_HAS_MMA        whether the architecture has the instruction (sm_80 and newer)
 *   occ_tf32(x)        x rounded to the 10 bits of mantissa of TF32, ties away from zero
 *   occ_halves(x, y)   both rounded to half precision, to nearest even, x in the low bits; from 65520 on infinity
 *   occ_mma_tf32(d, a, b)
 *                   d += a b for 16 x 8 sums d, 16 x 8 factors a, 8 x 8 factors b. All lanes of a warp must come. With
 *                   g = lane / 4 and t = lane % 4 a lane holds, as PTX's tables for mma.m16n8k8 with .tf32 say,
 *                     a[row][k]       (g, t) (g + 8, t) (g, t + 4) (g + 8, t + 4)
 *                     b[k][column]    (t, g) (t + 4, g)
 *                     d[row][column]  (g, 2 t) (g, 2 t + 1) (g + 8, 2 t) (g + 8, 2 t + 1)
 *   occ_mma_fp16(d, a, b, terms)
 *                   likewise for 16 terms, or 8, of half precision: mma.m16n8k16 and mma.m16n8k8 with .f16. A register
 *                   has two neighbouring k, the first in its low bits; with 8 terms those with 2 t + 8 do not exist:
 *                     a[row][k]       (g, 2 t) (g + 8, 2 t) (g, 2 t + 8) (g + 8, 2 t + 8)
 *                     b[k][column]    (2 t, g) (2 t + 8, g)
 *   occ_mma_words(to, from, pitch)
 *                   reads 16 lines of eight words of 32 bits in shared memory, `pitch` words apart, aligned to 16
 *                   bytes.
 *                   A lane gets those of (line, word) (g, t) (g + 8, t) (g, t + 4) (g + 8, t + 4): ldmatrix of PTX.
 *                   These are its registers of a, or of b for columns g (to[0], to[2]) and g + 8, where a word is a
 *                   factor of TF32, or two neighbouring ones of half precision */
#ifndef OCC_MMA_H
#define OCC_MMA_H

#include "occ_base.h"

/* Kinds of factors. 0: single lanes multiply them, as float32 */
#define OCC_MMA_TF32 1
#define OCC_MMA_FP16 2

#if defined(OCC_EMULATE) || __CUDA_ARCH__ >= 800
#define OCC_HAS_MMA 1
#else
#define OCC_HAS_MMA 0
#endif

#if !defined(OCC_EMULATE)
#if __CUDA_ARCH__ >= 800
OCC_DEVICE void occ_mma_words(uint32_t *to, const float *from, int pitch)
{
    const unsigned at = (unsigned)__cvta_generic_to_shared(from + occ_lane() % 16 * pitch + occ_lane() / 16 * 4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}

OCC_DEVICE uint32_t occ_tf32(float x)
{
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

OCC_DEVICE void occ_mma_tf32(float *d, const uint32_t *a, const uint32_t *b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

OCC_DEVICE uint32_t occ_halves(float x, float y)
{
    uint32_t bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
    return bits;
}

OCC_DEVICE void occ_mma_fp16(float *d, const uint32_t *a, const uint32_t *b, int terms)
{
    if (terms == 16)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                     "{%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
#else
/* Turing: kernels take the sums of single lanes, and these are not called. */
OCC_DEVICE void occ_mma_words(uint32_t *to, const float *from, int pitch)
{
    (void)to, (void)from, (void)pitch;
}

OCC_DEVICE uint32_t occ_tf32(float x)
{
    return __float_as_uint(x);
}

OCC_DEVICE void occ_mma_tf32(float *d, const uint32_t *a, const uint32_t *b)
{
    (void)d, (void)a, (void)b;
}

OCC_DEVICE uint32_t occ_halves(float x, float y)
{
    (void)x, (void)y;
    return 0;
}

OCC_DEVICE void occ_mma_fp16(float *d, const uint32_t *a, const uint32_t *b, int terms)
{
    (void)d, (void)a, (void)b, (void)terms;
}
#endif
#endif

/* A lane's n-th register of factors of a row, or a column, of which it has every fourth term from `from` on. Two halves
 * are four terms apart there and neighbours in the instruction: a sum may have its terms in any order, if both factors
 * have the same. */
OCC_HOT uint32_t occ_mma_factor(const float *from, int n, int kind)
{
    return kind == OCC_MMA_TF32 ? occ_tf32(from[n * 4]) : occ_halves(from[n * 8], from[n * 8 + 4]);
}

OCC_HOT void occ_mma(float *d, const uint32_t *a, const uint32_t *b, int kind, int terms)
{
    if (kind == OCC_MMA_TF32)
        occ_mma_tf32(d, a, b);
    else
        occ_mma_fp16(d, a, b, terms);
}

/* The extents of a step, in which a warp adds some terms of all its sums; all are literals.
 *   terms   8; of half precision 16, too
 *   down    rows / 16;  across  columns / 8, at most OCC_MMA_ACROSS
 *   pitch   floats between rows, and between columns, in shared memory */
typedef struct occ_mma_shape {
    int kind, terms, pitch, down, across;
} occ_mma_shape;

#define OCC_MMA_ACROSS 4

/* Adds the terms. The lane's first factors are the a-th and b-th floats behind sa and sb. */
OCC_HOT void occ_mma_step(float *sum, const float *sa, const float *sb, int a, int b, const occ_mma_shape *s)
{
    const int single = s->kind == OCC_MMA_FP16 && s->terms == 8; /* one register of a row holds them */
    uint32_t  right[OCC_MMA_ACROSS][2];
    OCC_UNROLLED
    for (int j = 0; j < s->across; j++) {
        right[j][0] = occ_mma_factor(sb + b + j * 8 * s->pitch, 0, s->kind);
        right[j][1] = single ? 0 : occ_mma_factor(sb + b + j * 8 * s->pitch, 1, s->kind);
    }
    OCC_UNROLLED
    for (int i = 0; i < s->down; i++) {
        const float   *from = sa + a + i * 16 * s->pitch;
        const uint32_t left[4] = {occ_mma_factor(from, 0, s->kind), occ_mma_factor(from + 8 * s->pitch, 0, s->kind),
                                  single ? 0 : occ_mma_factor(from, 1, s->kind),
                                  single ? 0 : occ_mma_factor(from + 8 * s->pitch, 1, s->kind)};
        OCC_UNROLLED
        for (int j = 0; j < s->across; j++)
            occ_mma(sum + (i * s->across + j) * 4, left, right[j], s->kind, s->terms);
    }
}

#endif
