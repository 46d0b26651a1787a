/* occ_big.h - a thread's part of a tile of 128 or 64 rows and columns of sums, whose factors lie in shared memory.
 * Knows nothing of how they came there. */
#ifndef OCC_BIG_H
#define OCC_BIG_H

#include "occ_sides.h"
#include "occ_stages.h"

/* A thread computes every OCC_BIG_APART-th of a tile's rows and of its columns, OCC_BIG_PART of 128, so that a warp,
 * which has eight neighbouring rows and four columns, reads all banks of shared memory. A stage (occ_stages.h) is
 * OCC_BIG_K terms of all sums, as sa[row][k] and sb[column][k] with OCC_BIG_PITCH floats between two rows. */
#define OCC_BIG_K 16
#define OCC_BIG_PITCH 20 /* four neighbouring k of eight neighbouring rows lie in all banks */
#define OCC_BIG_APART 16
#define OCC_BIG_PART (OCC_SIDE_BIG / OCC_BIG_APART)
#define OCC_BIG_PARTS (OCC_BIG_APART * OCC_BIG_APART)
#define OCC_BIG_MEMORY OCC_STAGES_FLOATS(2 * OCC_SIDE_BIG, OCC_BIG_PITCH, 2) /* floats; the most */

/* A part of a tile: its first row and column, and its sums. */
typedef struct occ_big_part {
    int   row, column;
    float sum[OCC_BIG_PART * OCC_BIG_PART];
} occ_big_part;

/* The sums of a part, for four terms. */
OCC_HOT void occ_big_fours(occ_big_part *p, const float *sa, const float *sb, int sides)
{
    occ_four a[OCC_BIG_PART];
    OCC_UNROLLED
    for (int i = 0; i < occ_tile_rows(sides) / OCC_BIG_APART; i++)
        a[i] = occ_load_four(sa + (p->row + i * OCC_BIG_APART) * OCC_BIG_PITCH);
    OCC_UNROLLED
    for (int j = 0; j < occ_tile_columns(sides) / OCC_BIG_APART; j++) {
        const occ_four b = occ_load_four(sb + (p->column + j * OCC_BIG_APART) * OCC_BIG_PITCH);
        OCC_UNROLLED
        for (int t = 0; t < 4; t++) {
            OCC_UNROLLED
            for (int i = 0; i < occ_tile_rows(sides) / OCC_BIG_APART; i++) {
                float *sum = p->sum + i * OCC_BIG_PART + j;
                *sum = occ_fma(a[i].value[t], b.value[t], *sum);
            }
        }
    }
}

/* Adds the terms of a stage, in rising order; those behind the last one are 0. */
OCC_HOT void occ_big_add(void *sums, const float *sa, const float *sb, int sides)
{
    OCC_ROLLED
    for (int k = 0; k < OCC_BIG_K; k += 4)
        occ_big_fours((occ_big_part *)sums, sa + k, sb + k, sides);
}

/* The part that computes a result. */
OCC_HOT int occ_big_owner(int sides, int row, int column)
{
    const int warp = row % OCC_BIG_APART / 8 + column % OCC_BIG_APART / 4 * 2;
    (void)sides;
    return warp * 32 + row % 8 * 4 + column % 4;
}

OCC_HOT void occ_big_place(occ_big_part *p, int part)
{
    p->row = part / 32 % 2 * 8 + part % 32 / 4;
    p->column = part / 64 * 4 + part % 4;
}

/* Shared memory shows the results of a tile, 128 x 128 of them in two halves of the rows, so that neighbouring threads
 * store neighbouring ones. A row has 4 floats more than columns. */
OCC_HOT int occ_big_halves(int sides)
{
    return occ_tile_rows(sides) * occ_tile_columns(sides) > OCC_SIDE_BIG * OCC_SIDE_HALF ? 2 : 1;
}

OCC_HOT void occ_big_show(float *memory, void *sums, int sides, int half)
{
    const occ_big_part *p = (const occ_big_part *)sums;
    const int           down = occ_tile_rows(sides) / OCC_BIG_APART / occ_big_halves(sides);
    OCC_UNROLLED
    for (int i = 0; i < down; i++) {
        OCC_UNROLLED
        for (int j = 0; j < occ_tile_columns(sides) / OCC_BIG_APART; j++)
            memory[(p->row + i * OCC_BIG_APART) * (occ_tile_columns(sides) + 4) + p->column + j * OCC_BIG_APART] =
                p->sum[(half * down + i) * OCC_BIG_PART + j];
    }
}

/* Writes the thread's sums of a half to shared memory. */
typedef void occ_big_shows(float *memory, void *sums, int sides, int half);
/* The part that has a result; one warp has those of four neighbouring columns from a multiple of 4 on. */
typedef int occ_big_owns(int sides, int row, int column);
/* The first returns the values that four neighbouring sums of a row become, the second stores them. Both leave out
 * columns that do not exist. */
typedef occ_four occ_big_value(const void *target, int row, int column, occ_four sums);
typedef void     occ_big_put(const void *target, int row, int column, occ_four values);

#define OCC_BIG_AT_ONCE 4 /* fours of a thread whose operands are read before the first is stored */

/* Stores the results of the parts from `first` on, of which every thread has one. */
OCC_HOT void occ_big_finish(float *memory, void *sums, int first, int sides, occ_big_shows *show, occ_big_owns *owner,
                            occ_big_value *value, occ_big_put *put, const void *target)
{
    const int rows = occ_tile_rows(sides) / occ_big_halves(sides), fours = occ_tile_columns(sides) / 4;
    OCC_UNROLLED
    for (int half = 0; half < occ_big_halves(sides); half++) {
        if (first + occ_thread() < OCC_BIG_PARTS)
            show(memory, sums, sides, half);
        occ_barrier();
        OCC_ROLLED
        for (int from = occ_thread(); from < rows * fours; from += OCC_BIG_AT_ONCE * occ_threads()) {
            occ_four y[OCC_BIG_AT_ONCE];
            int      has = 0;
            OCC_UNROLLED
            for (int n = 0; n < OCC_BIG_AT_ONCE; n++) {
                const int i = from + n * occ_threads(), row = i / fours, column = i % fours * 4;
                const int at = owner(sides, half * rows + row, column) - first;
                if (i >= rows * fours || at < 0 || at >= occ_threads())
                    continue;
                has |= 1 << n;
                y[n] = value(target, half * rows + row, column,
                             occ_load_four(memory + row * (occ_tile_columns(sides) + 4) + column));
            }
            OCC_UNROLLED
            for (int n = 0; n < OCC_BIG_AT_ONCE; n++) {
                const int i = from + n * occ_threads();
                if (has & 1 << n)
                    put(target, half * rows + i / fours, i % fours * 4, y[n]);
            }
        }
        occ_barrier(); /* before the next half is shown */
    }
}

/* The stages of a tile. */
OCC_HOT occ_stages occ_big_stages(int sides)
{
    const occ_stages s = {sides, OCC_BIG_K, OCC_BIG_PITCH, 2};
    return s;
}

#endif
