/* occ_big.h - a thread's part of a tile of 128 x 128 sums, whose factors lie in shared memory. Knows nothing of how
 * they came there. */
#ifndef OCC_BIG_H
#define OCC_BIG_H

#include "occ_sides.h"
#include "occ_stages.h"

/* A tile has OCC_BIG_SIDE rows and columns. A thread computes OCC_BIG_PART of each, which are OCC_BIG_APART apart,
 * so that a warp, which has eight neighbouring rows and four columns, reads all banks of shared memory. A stage
 * (occ_stages.h) is OCC_BIG_K terms of all sums, as sa[row][k] and sb[column][k] with OCC_BIG_PITCH floats between
 * two rows. */
#define OCC_BIG_SIDE OCC_SIDE_BIG
#define OCC_BIG_K 16
#define OCC_BIG_PITCH 20 /* four neighbouring k of eight neighbouring rows lie in all banks */
#define OCC_BIG_PART 8
#define OCC_BIG_APART (OCC_BIG_SIDE / OCC_BIG_PART)
#define OCC_BIG_PARTS (OCC_BIG_APART * OCC_BIG_APART)
#define OCC_BIG_MEMORY(side) OCC_STAGES_FLOATS(side, OCC_BIG_PITCH, 2)

/* A part of a tile: its first row and column, and its sums. */
typedef struct occ_big_part {
    int   row, column;
    float sum[OCC_BIG_PART * OCC_BIG_PART];
} occ_big_part;

/* The sums of half the rows of a part, for four terms. Halves, so that two blocks have enough registers. */
OCC_HOT void occ_big_fours(occ_big_part *p, const float *sa, const float *sb, int first, int k)
{
    occ_four a[OCC_BIG_PART / 2];
    OCC_UNROLLED
    for (int i = 0; i < OCC_BIG_PART / 2; i++)
        a[i] = occ_load_four(sa + (p->row + (first + i) * OCC_BIG_APART) * OCC_BIG_PITCH + k);
    OCC_UNROLLED
    for (int j = 0; j < OCC_BIG_PART; j++) {
        const occ_four b = occ_load_four(sb + (p->column + j * OCC_BIG_APART) * OCC_BIG_PITCH + k);
        OCC_UNROLLED
        for (int t = 0; t < 4; t++) {
            OCC_UNROLLED
            for (int i = 0; i < OCC_BIG_PART / 2; i++) {
                float *sum = p->sum + (first + i) * OCC_BIG_PART + j;
                *sum = occ_fma(a[i].value[t], b.value[t], *sum);
            }
        }
    }
}

/* Adds the terms of a stage, in rising order; those behind the last one are 0. */
OCC_HOT void occ_big_add(void *sums, const float *sa, const float *sb, int side)
{
    (void)side;
    OCC_ROLLED
    for (int k = 0; k < OCC_BIG_K; k += 4) {
        occ_big_fours((occ_big_part *)sums, sa, sb, 0, k);
        occ_big_fours((occ_big_part *)sums, sa, sb, OCC_BIG_PART / 2, k);
    }
}

/* The part that computes a result. */
OCC_HOT int occ_big_owner(int row, int column)
{
    const int warp = row % OCC_BIG_APART / 8 + column % OCC_BIG_APART / 4 * 2;
    return warp * 32 + row % 8 * 4 + column % 4;
}

OCC_HOT void occ_big_place(occ_big_part *p, int part)
{
    p->row = part / 32 % 2 * 8 + part % 32 / 4;
    p->column = part / 64 * 4 + part % 4;
}

/* Shared memory shows half the rows of a tile at a time, OCC_BIG_SHOWN floats apart, so that neighbouring threads store
 * neighbouring results. */
#define OCC_BIG_HALF (OCC_BIG_SIDE / 2)
#define OCC_BIG_SHOWN (OCC_BIG_SIDE + 4)

OCC_HOT void occ_big_show(float *memory, void *sums, int half)
{
    const occ_big_part *p = (const occ_big_part *)sums;
    OCC_UNROLLED
    for (int i = 0; i < OCC_BIG_PART / 2; i++) {
        OCC_UNROLLED
        for (int j = 0; j < OCC_BIG_PART; j++)
            memory[(p->row + i * OCC_BIG_APART) * OCC_BIG_SHOWN + p->column + j * OCC_BIG_APART] =
                p->sum[(half * OCC_BIG_PART / 2 + i) * OCC_BIG_PART + j];
    }
}

/* Writes the thread's sums of half the rows to shared memory. */
typedef void occ_big_shows(float *memory, void *sums, int half);
typedef int  occ_big_owns(int row, int column);
/* Stores the result in a row and a column of the tile. */
typedef void occ_tile_store(const void *target, int row, int column, float sum);

/* Stores the results of the parts from `first` on, of which every thread has one. */
OCC_HOT void occ_big_finish(float *memory, void *sums, int first, occ_big_shows *show, occ_big_owns *owner,
                            occ_tile_store *store, const void *target)
{
    OCC_UNROLLED
    for (int half = 0; half < 2; half++) {
        if (first + occ_thread() < OCC_BIG_PARTS)
            show(memory, sums, half);
        occ_barrier();
        OCC_ROLLED
        for (int i = occ_thread(); i < OCC_BIG_HALF * OCC_BIG_SIDE; i += occ_threads()) {
            const int row = half * OCC_BIG_HALF + i / OCC_BIG_SIDE, column = i % OCC_BIG_SIDE;
            const int from = owner(row, column) - first;
            if (from >= 0 && from < occ_threads())
                store(target, row, column, memory[i / OCC_BIG_SIDE * OCC_BIG_SHOWN + column]);
        }
        occ_barrier(); /* before the next half is shown */
    }
}

/* The stages of a tile of a side. */
OCC_HOT occ_stages occ_big_stages(int side)
{
    const occ_stages s = {side, OCC_BIG_K, OCC_BIG_PITCH, 2};
    return s;
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
