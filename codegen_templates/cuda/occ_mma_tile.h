/* occ_mma_tile.h - tiles of a product by tensor cores. Factors are rounded once, on their way to shared memory. Knows
 * nothing of where they come from and what becomes of sums.
 *
 *   terms 0-15 read, rounded, put | 16-31 read | rounded, put | 32-47 read | ...
 *                                 | 0-15 multiplied         | 16-31 multiplied       a barrier behind each put */
#ifndef OCC_MMA_TILE_H
#define OCC_MMA_TILE_H

#include "occ_big.h"
#include "occ_mma.h"

/* A stage is OCC_BIG_K terms of all rows, then of all columns: lines of words, OCC_MMA_GAP words apart, so that eight
 * lines of four words lie in all banks. A thread brings four neighbouring terms of every OCC_MMA_APART-th line. */
#define OCC_MMA_GAP 4
#define OCC_MMA_APART (OCC_BIG_PARTS / (OCC_BIG_K / 4))
#define OCC_MMA_LINES (2 * OCC_SIDE_BIG / OCC_MMA_APART) /* of a thread, at most */

/* Whether two stages are on their way: tiles of 128 x 128 leave no registers for that. */
#ifndef OCC_MMA_FAR
#define OCC_MMA_FAR(sides) ((sides) != OCC_SIDES_BIG)
#endif

/* Words of a line in a stage, and from one line to the next. */
OCC_HOT int occ_mma_line(int kind)
{
    return kind == OCC_MMA_TF32 ? OCC_BIG_K : OCC_BIG_K / 2;
}

OCC_HOT int occ_mma_pitch(int kind)
{
    return occ_mma_line(kind) + OCC_MMA_GAP;
}

/* Four neighbouring terms of a line, k the first; those that do not exist are 0. column: of a column, not of a row */
typedef occ_four occ_mma_fetch(const void *factors, int column, int line, int64_t k);

/* Eight warps have a tile, two down and four across. A lane's sums are in rows / 32 products down and columns / 32
 * across, of four each: it holds every eighth row from `row` on, and two columns of every eight from `column` on. */
typedef struct occ_mma_part {
    int   row, column;
    float sum[OCC_BIG_PART * OCC_BIG_PART];
} occ_mma_part;

/* The first row, and column, of the warp that has a part. */
OCC_HOT int occ_mma_down(int sides, int part)
{
    return part % OCC_BIG_PARTS / 32 / 4 * (occ_tile_rows(sides) / 2);
}

OCC_HOT int occ_mma_across(int sides, int part)
{
    return part % OCC_BIG_PARTS / 32 % 4 * (occ_tile_columns(sides) / 4);
}

OCC_HOT occ_mma_part occ_mma_begin(int sides, int part)
{
    occ_mma_part p;
    p.row = occ_mma_down(sides, part) + part % 32 / 4;
    p.column = occ_mma_across(sides, part) + part % 4 * 2;
    OCC_UNROLLED
    for (int i = 0; i < OCC_BIG_PART * OCC_BIG_PART; i++)
        p.sum[i] = 0.0f;
    return p;
}

/* The sum in the lane's row r and column c, both by number. */
OCC_HOT float *occ_mma_sum(occ_mma_part *p, int sides, int r, int c)
{
    return p->sum + (r / 2 * (occ_tile_columns(sides) / 32) + c / 2) * 4 + r % 2 * 2 + c % 2;
}

/* Rounds four neighbouring terms and puts them to a line of a stage; at: their first */
OCC_HOT void occ_mma_put(float *line, int at, occ_four x, int kind)
{
    if (kind == OCC_MMA_TF32) {
        OCC_UNROLLED
        for (int i = 0; i < 4; i++)
            x.value[i] = occ_word(occ_tf32(x.value[i]));
        occ_store_four(line + at, x);
    } else {
        line[at / 2] = occ_word(occ_halves(x.value[0], x.value[1]));
        line[at / 2 + 1] = occ_word(occ_halves(x.value[2], x.value[3]));
    }
}

/* Adds the terms of a stage. */
OCC_HOT void occ_mma_add(occ_mma_part *p, const float *stage, int sides, int kind, int part)
{
    const int    pitch = occ_mma_pitch(kind);
    const float *rows = stage + occ_mma_down(sides, part) * pitch;
    const float *columns = stage + (occ_tile_rows(sides) + occ_mma_across(sides, part)) * pitch;
    OCC_UNROLLED
    for (int k = 0; k < occ_mma_line(kind); k += 8) {
        uint32_t right[OCC_MMA_ACROSS / 2][4]; /* columns g and g + 8 */
        OCC_UNROLLED
        for (int j = 0; j < occ_tile_columns(sides) / 64; j++)
            occ_mma_words(right[j], columns + j * 16 * pitch + k, pitch);
        OCC_UNROLLED
        for (int i = 0; i < occ_tile_rows(sides) / 32; i++) {
            uint32_t left[4];
            occ_mma_words(left, rows + i * 16 * pitch + k, pitch);
            OCC_UNROLLED
            for (int j = 0; j < occ_tile_columns(sides) / 32; j++) {
                const uint32_t two[2] = {right[j / 2][j % 2], right[j / 2][j % 2 + 2]};
                occ_mma(p->sum + (i * (occ_tile_columns(sides) / 32) + j) * 4, left, two, kind, 16);
            }
        }
    }
}

/* The four terms of this thread from k on, of line i of its lines. */
OCC_HOT occ_four occ_mma_read(int sides, occ_mma_fetch *fetch, const void *factors, int i, int64_t k)
{
    const int line = occ_thread() / (OCC_BIG_K / 4) + i * OCC_MMA_APART;
    return i * OCC_MMA_APART < occ_tile_rows(sides) ? fetch(factors, 0, line, k)
                                                    : fetch(factors, 1, line - occ_tile_rows(sides), k);
}

/* Brings a stage, in blocks of any size. */
OCC_HOT void occ_mma_bring(float *stage, int sides, int kind, occ_mma_fetch *fetch, const void *factors, int64_t k)
{
    const int at = occ_thread() % (OCC_BIG_K / 4) * 4, rows = occ_tile_rows(sides);
    OCC_ROLLED
    for (int r = occ_thread() / (OCC_BIG_K / 4); r < rows + occ_tile_columns(sides);
         r += occ_threads() / (OCC_BIG_K / 4))
        occ_mma_put(stage + r * occ_mma_pitch(kind), at,
                    r < rows ? fetch(factors, 0, r, k + at) : fetch(factors, 1, r - rows, k + at), kind);
}

/* Four terms of each line that a thread brings. */
typedef struct occ_mma_lines {
    occ_four x[OCC_MMA_LINES];
} occ_mma_lines;

/* Reads this thread's terms of the stage from k on. */
OCC_HOT void occ_mma_read_all(occ_mma_lines *to, int sides, occ_mma_fetch *fetch, const void *factors, int64_t k)
{
    const int at = occ_thread() % (OCC_BIG_K / 4) * 4;
    OCC_UNROLLED
    for (int i = 0; i < (occ_tile_rows(sides) + occ_tile_columns(sides)) / OCC_MMA_APART; i++)
        to->x[i] = occ_mma_read(sides, fetch, factors, i, k + at);
}

/* Rounds them and puts them to a stage. */
OCC_HOT void occ_mma_put_all(float *stage, const occ_mma_lines *from, int sides, int kind)
{
    const int at = occ_thread() % (OCC_BIG_K / 4) * 4;
    OCC_UNROLLED
    for (int i = 0; i < (occ_tile_rows(sides) + occ_tile_columns(sides)) / OCC_MMA_APART; i++)
        occ_mma_put(stage + (occ_thread() / (OCC_BIG_K / 4) + i * OCC_MMA_APART) * occ_mma_pitch(kind), at, from->x[i],
                    kind);
}

/* Brings and adds all terms, in blocks of OCC_BIG_PARTS threads: a stage is read while the one before it is
 * multiplied. */
OCC_HOT void occ_mma_run_near(float *memory, occ_mma_part *p, int sides, int kind, int part, int64_t terms,
                              occ_mma_fetch *fetch, const void *factors)
{
    const int     size = (occ_tile_rows(sides) + occ_tile_columns(sides)) * occ_mma_pitch(kind);
    float        *here = memory, *there = memory + size;
    occ_mma_lines next;
    occ_mma_read_all(&next, sides, fetch, factors, 0);
    occ_mma_put_all(here, &next, sides, kind);
    occ_barrier();
    for (int64_t k = OCC_BIG_K; k < terms; k += OCC_BIG_K) {
        occ_mma_read_all(&next, sides, fetch, factors, k);
        occ_mma_add(p, here, sides, kind, part);
        occ_mma_put_all(there, &next, sides, kind);
        occ_barrier(); /* the next stage is there, and this one has been used */
        float *used = here;
        here = there;
        there = used;
    }
    occ_mma_add(p, here, sides, kind, part);
    occ_barrier();
}

/* The same, while the two before it are multiplied: a read takes longer than one of small tiles. */
OCC_HOT void occ_mma_run_far(float *memory, occ_mma_part *p, int sides, int kind, int part, int64_t terms,
                             occ_mma_fetch *fetch, const void *factors)
{
    const int     size = (occ_tile_rows(sides) + occ_tile_columns(sides)) * occ_mma_pitch(kind);
    occ_mma_lines even, odd; /* terms of stages 0, 2, ... and 1, 3, ... on their way */
    occ_mma_read_all(&even, sides, fetch, factors, 0);
    occ_mma_read_all(&odd, sides, fetch, factors, OCC_BIG_K);
    occ_mma_put_all(memory, &even, sides, kind);
    occ_barrier();
    for (int64_t k = 0; k < terms; k += 2 * OCC_BIG_K) {
        occ_mma_read_all(&even, sides, fetch, factors, k + 2 * OCC_BIG_K);
        occ_mma_add(p, memory, sides, kind, part);
        occ_mma_put_all(memory + size, &odd, sides, kind);
        occ_barrier();
        if (k + OCC_BIG_K < terms) {
            occ_mma_read_all(&odd, sides, fetch, factors, k + 3 * OCC_BIG_K);
            occ_mma_add(p, memory + size, sides, kind, part);
        }
        occ_mma_put_all(memory, &even, sides, kind);
        occ_barrier();
    }
}

/* The same in blocks of any size. */
OCC_HOT void occ_mma_run_any(float *memory, occ_mma_part *p, int sides, int kind, int part, int64_t terms,
                             occ_mma_fetch *fetch, const void *factors)
{
    for (int64_t k = 0; k < terms; k += OCC_BIG_K) {
        occ_mma_bring(memory, sides, kind, fetch, factors, k);
        occ_barrier();
        occ_mma_add(p, memory, sides, kind, part);
        occ_barrier();
    }
}

/* Brings and adds all terms. memory: OCC_BIG_MEMORY floats, shared, free behind this */
OCC_HOT void occ_mma_run(float *memory, occ_mma_part *p, int sides, int kind, int part, int64_t terms,
                         occ_mma_fetch *fetch, const void *factors)
{
    if (occ_threads() != OCC_BIG_PARTS)
        occ_mma_run_any(memory, p, sides, kind, part, terms, fetch, factors);
    else if (OCC_MMA_FAR(sides))
        occ_mma_run_far(memory, p, sides, kind, part, terms, fetch, factors);
    else
        occ_mma_run_near(memory, p, sides, kind, part, terms, fetch, factors);
}

/* Shows the sums of half the rows, or of all, where half the warps, or all, have them. */
OCC_HOT void occ_mma_show(float *memory, void *sums, int sides, int half)
{
    occ_mma_part *p = (occ_mma_part *)sums;
    const int     rows = occ_tile_rows(sides) / occ_big_halves(sides);
    if (p->row / rows != half)
        return;
    OCC_UNROLLED
    for (int r = 0; r < occ_tile_rows(sides) / 16; r++) {
        OCC_UNROLLED
        for (int c = 0; c < occ_tile_columns(sides) / 16; c++)
            memory[(p->row % rows + r * 8) * (occ_tile_columns(sides) + 4) + p->column + c / 2 * 8 + c % 2] =
                *occ_mma_sum(p, sides, r, c);
    }
}

/* The first lane of the warp that has a result. */
OCC_HOT int occ_mma_owner(int sides, int row, int column)
{
    return (row / (occ_tile_rows(sides) / 2) * 4 + column / (occ_tile_columns(sides) / 4)) * 32;
}

#endif
