/* occ_mma.h - tensor cores: one product of small matrices whose factors and sums lie in the registers of a warp, and a
 * warp's part of a tile whose factors lie in shared memory. Knows nothing of how they came there.
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
 *                     b[k][column]    (2 t, g) (2 t + 8, g) */
#ifndef OCC_MMA_H
#define OCC_MMA_H

#include "occ_big.h"

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

/* A tile has `side` rows and columns, 64 or 128, and eight warps' parts: two down, four across. A lane's sums are in
 * side / 32 products down and side / 32 across, of four each; it holds every eighth row from `row` on, and two columns
 * of every eight from `column` on. Factors lie as in occ_big.h: rows of OCC_BIG_PITCH floats, so that the 32 lanes read
 * 32 banks. */
typedef struct occ_mma_part {
    int   a, b; /* the lane's first factors: in rows and in columns of shared memory */
    int   row, column;
    float sum[OCC_BIG_PART * OCC_BIG_PART];
    int   kind; /* of factors */
} occ_mma_part;

OCC_HOT occ_mma_part occ_mma_begin(int part, int side, int kind)
{
    const int    warp = part % OCC_BIG_PARTS / 32, lane = part % 32;
    const int    down = warp / 4 * (side / 2), across = warp % 4 * (side / 4);
    occ_mma_part p;
    p.kind = kind;
    p.a = (down + lane / 4) * OCC_BIG_PITCH + lane % 4;
    p.b = (across + lane / 4) * OCC_BIG_PITCH + lane % 4;
    p.row = down + lane / 4;
    p.column = across + lane % 4 * 2;
    OCC_UNROLLED
    for (int i = 0; i < OCC_BIG_PART * OCC_BIG_PART; i++)
        p.sum[i] = 0.0f;
    return p;
}

/* Adds the terms of a stage; those behind the last one are 0. */
OCC_HOT void occ_mma_add(void *sums, const float *sa, const float *sb, int side)
{
    occ_mma_part       *p = (occ_mma_part *)sums;
    const occ_mma_shape shape = {p->kind, p->kind == OCC_MMA_FP16 ? 16 : 8, OCC_BIG_PITCH, side / 32, side / 32};
    OCC_UNROLLED
    for (int k = 0; k < OCC_BIG_K; k += 8)
        if (k % shape.terms == 0)
            occ_mma_step(p->sum, sa + k, sb + k, p->a, p->b, &shape);
}

/* The sum in the lane's row r and column c, both by number. */
OCC_HOT float *occ_mma_sum(occ_mma_part *p, int side, int r, int c)
{
    return p->sum + (r / 2 * (side / 32) + c / 2) * 4 + r % 2 * 2 + c % 2;
}

/* Half the rows of a tile of OCC_BIG_SIDE, which half the warps have, go to shared memory; occ_mma_owner is the first
 * lane of the warp that has a result. Both are for occ_big_finish. */
OCC_HOT void occ_mma_show(float *memory, void *sums, int half)
{
    occ_mma_part *p = (occ_mma_part *)sums;
    if (p->row / OCC_BIG_HALF != half)
        return;
    OCC_UNROLLED
    for (int r = 0; r < OCC_BIG_SIDE / 16; r++) {
        OCC_UNROLLED
        for (int c = 0; c < OCC_BIG_SIDE / 16; c++)
            memory[(p->row % OCC_BIG_HALF + r * 8) * OCC_BIG_SHOWN + p->column + c / 2 * 8 + c % 2] =
                *occ_mma_sum(p, OCC_BIG_SIDE, r, c);
    }
}

OCC_HOT int occ_mma_owner(int row, int column)
{
    return (row / OCC_BIG_HALF * 4 + column / (OCC_BIG_SIDE / 4)) * 32;
}

#endif
