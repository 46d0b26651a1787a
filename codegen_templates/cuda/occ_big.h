/* occ_big.h - a thread's part of a tile of 128 x 128 sums, whose factors lie in shared memory. Knows nothing of how
 * they came there. */
#ifndef OCC_BIG_H
#define OCC_BIG_H

#include "occ_base.h"

/* A tile has OCC_BIG_SIDE rows and columns. A thread computes OCC_BIG_PART of each, which are OCC_BIG_APART apart, so
 * that neighbouring threads read neighbouring rows of shared memory. OCC_BIG_K terms of all sums lie there at a time,
 * as sa[row][k] and sb[column][k] with OCC_BIG_PITCH floats between two rows; twice, since the next terms come while
 * these are used. */
#define OCC_BIG_SIDE 128
#define OCC_BIG_K 8
#define OCC_BIG_PITCH 12 /* four neighbouring k of eight neighbouring rows lie in all banks */
#define OCC_BIG_PART 8
#define OCC_BIG_APART (OCC_BIG_SIDE / OCC_BIG_PART)
#define OCC_BIG_PARTS (OCC_BIG_APART * OCC_BIG_APART)
#define OCC_BIG_STAGE (OCC_BIG_SIDE * OCC_BIG_PITCH)

/* A part of a tile: its first row and column, and its sums. */
typedef struct occ_big_part {
    int   row, column;
    float sum[OCC_BIG_PART * OCC_BIG_PART];
} occ_big_part;

/* The sums of all columns of a part, for four terms. */
OCC_HOT void occ_big_fours(occ_big_part *p, const float *sa, const float *sb, int k)
{
    occ_four a[OCC_BIG_PART];
    OCC_UNROLLED
    for (int i = 0; i < OCC_BIG_PART; i++)
        a[i] = occ_load_four(sa + (p->row + i * OCC_BIG_APART) * OCC_BIG_PITCH + k);
    OCC_UNROLLED
    for (int j = 0; j < OCC_BIG_PART; j++) {
        const occ_four b = occ_load_four(sb + (p->column + j * OCC_BIG_APART) * OCC_BIG_PITCH + k);
        OCC_UNROLLED
        for (int t = 0; t < 4; t++) {
            OCC_UNROLLED
            for (int i = 0; i < OCC_BIG_PART; i++)
                p->sum[i * OCC_BIG_PART + j] = occ_fma(a[i].value[t], b.value[t], p->sum[i * OCC_BIG_PART + j]);
        }
    }
}

/* The first `terms` of those in shared memory, in rising order. */
OCC_HOT void occ_big_add(occ_big_part *p, const float *sa, const float *sb, int terms)
{
    if (terms == OCC_BIG_K) {
        OCC_UNROLLED
        for (int k = 0; k < OCC_BIG_K; k += 4)
            occ_big_fours(p, sa, sb, k);
        return;
    }
    for (int k = 0; k < terms; k++) {
        OCC_UNROLLED
        for (int i = 0; i < OCC_BIG_PART; i++) {
            OCC_UNROLLED
            for (int j = 0; j < OCC_BIG_PART; j++)
                p->sum[i * OCC_BIG_PART + j] =
                    occ_fma(sa[(p->row + i * OCC_BIG_APART) * OCC_BIG_PITCH + k],
                            sb[(p->column + j * OCC_BIG_APART) * OCC_BIG_PITCH + k], p->sum[i * OCC_BIG_PART + j]);
        }
    }
}

/* Brings four neighbours, of which n exist, to shared memory; the others become 0. Aligned ones are copied while the
 * thread goes on, until occ_copy_wait. */
OCC_HOT void occ_big_bring(float *to, const float *from, int64_t n)
{
    if (n >= 4 && (uintptr_t)from % 16 == 0) {
        occ_copy16(to, from);
        return;
    }
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        to[i] = i < n ? from[i] : 0.0f;
}

#endif
