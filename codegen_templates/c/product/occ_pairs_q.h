/* occ_pairs_q.h - products of two matrices of 8-bit integers that are both known at run time only, for processors that
 * multiply pairs of 16-bit integers. Some columns of the second factor are widened to pairs at a time, and then
 * multiplied with all rows of the first. Knows nothing of stacks or scales. */
#ifndef OCC_PAIRS_Q_H
#define OCC_PAIRS_Q_H

#include "occ_dot.h"

#if defined(OCC_DOT_WORDS)
#define OCC_PAIRS 1
#else
#define OCC_PAIRS 0
#endif

/* Vectors of columns that are widened together, and groups of four places of the depth. */
#define OCC_PAIRS_VECTORS 2
#define OCC_PAIRS_FOURS 32

/* A matrix in memory: elements from one row to the next, and from one column to the next. */
typedef struct occ_pairs_at {
    int64_t row, column;
} occ_pairs_at;

/* One product with its operands. The zero point of row m of a is element m * azstep of azero, likewise that of a column
 * of b; NULL: 0. */
typedef struct occ_pairs_q {
    const uint8_t *a, *b, *azero, *bzero;
    int32_t       *y; /* its columns are neighbours */
    occ_pairs_at   a_at, b_at;
    int64_t        y_row, azstep, bzstep, rows, columns, depth;
    int            b_signed;
} occ_pairs_q;

#if OCC_PAIRS
/* Columns of b less their zero points: of each four places of the depth, the even ones are one pair, the odd ones
 * another. sums: of all places of each column. */
typedef struct occ_pairs_panel {
    occ_vi even[OCC_PAIRS_FOURS][OCC_PAIRS_VECTORS], odd[OCC_PAIRS_FOURS][OCC_PAIRS_VECTORS], sums[OCC_PAIRS_VECTORS];
} occ_pairs_panel;

OCC_HOT int32_t occ_pairs_byte(const uint8_t *p, int is_signed)
{
    return is_signed ? (int8_t)*p : (int32_t)*p;
}

/* Four bytes, `step` apart, in one integer; only n of them exist, the others are 0. */
OCC_HOT int32_t occ_pairs_four(const uint8_t *p, int64_t step, int n)
{
    uint32_t word = 0;
    if (step == 1)
        return occ_four_bytes(p, n);
    for (int i = 0; i < n && i < 4; i++)
        word |= (uint32_t)p[i * step] << 8 * i;
    return (int32_t)word;
}

/* Four places of `lanes` columns from b on, of which n exist, one column in each lane. */
OCC_HOT occ_vi occ_pairs_columns(const occ_pairs_q *q, const uint8_t *b, int lanes, int n)
{
    int32_t word[OCC_W] = {0};
    occ_vi  v = occ_viset(0);
    if (q->b_at.column == 1) {
        for (int i = 0; i < n && i < 4; i++)
            v |= occ_viload_bytes(b + i * q->b_at.row, lanes, 0) << 8 * i;
        return v;
    }
    for (int i = 0; i < lanes && i < OCC_W; i++)
        word[i] = occ_pairs_four(b + i * q->b_at.column, q->b_at.row, n);
    return occ_viload(word, OCC_W);
}

/* The zero points of `lanes` columns from number `column` on, twice in each lane. */
OCC_HOT occ_vi occ_pairs_zeros(const occ_pairs_q *q, int64_t column, int lanes)
{
    int32_t word[OCC_W] = {0};
    for (int i = 0; q->bzero && i < lanes && i < OCC_W; i++)
        word[i] = occ_pairs_byte(q->bzero + (column + i) * q->bzstep, q->b_signed) & 0xffff;
    {
        const occ_vi v = occ_viload(word, OCC_W);
        return v | v << 16;
    }
}

/* Widens one vector of columns: `depth` places from number `from` on. */
OCC_STEP void occ_pairs_fill(const occ_pairs_q *q, occ_pairs_panel *panel, int vector, int64_t column, int64_t from,
                             int depth)
{
    const int      lanes = (int)(q->columns - column < OCC_W ? occ_max(q->columns - column, 0) : OCC_W);
    const occ_vh   zero = (occ_vh)occ_pairs_zeros(q, column, lanes);
    const uint8_t *b = q->b + from * q->b_at.row + column * q->b_at.column;
    occ_vi         sum = occ_viset(0);
    for (int k = 0; k < depth; k += 4, b += 4 * q->b_at.row) {
        const int    n = depth - k < 4 ? depth - k : 4;
        const occ_vi four =
            lanes == OCC_W && n == 4 ? occ_pairs_columns(q, b, OCC_W, 4) : occ_pairs_columns(q, b, lanes, n);
        const occ_quads w = occ_quads_of(four, q->b_signed, OCC_DOT_SIGNED);
        const occ_quads ones = occ_quads_of(occ_viset(0x01010101 >> (32 - 8 * n)), 0, OCC_DOT_SIGNED);
        panel->even[k / 4][vector] = (occ_vi)((occ_vh)w.even - zero);
        panel->odd[k / 4][vector] = (occ_vi)((occ_vh)w.odd - zero);
        sum += occ_dot_words(panel->even[k / 4][vector], ones.even);
        sum += occ_dot_words(panel->odd[k / 4][vector], ones.odd);
    }
    panel->sums[vector] = sum;
}

/* acc += four places of a times those of the panel, of which n (literal) exist. All even places are multiplied before
 * the odd ones, so that a tile and its operands fit the registers. */
OCC_HOT void occ_pairs_run(const occ_pairs_q *q, const occ_pairs_panel *panel, occ_vi *acc, const uint8_t *a, int four,
                           int n, int rows, int is_signed)
{
    OCC_UNROLL(2)
    for (int odd = 0; odd < 2; odd++) {
        const occ_vi *w = odd ? panel->odd[four] : panel->even[four];
        const occ_vi  first = w[0], second = w[1];
        OCC_UNROLL(8)
        for (int r = 0; r < rows; r++) {
            const uint8_t *from = a + r * q->a_at.row;
            const occ_vi   word =
                q->a_at.column == 1 ? occ_vispread(from, n, 0) : occ_viset(occ_pairs_four(from, q->a_at.column, n));
            const occ_quads x = occ_quads_of(word, is_signed, OCC_DOT_SIGNED);
            acc[2 * r] = occ_dot_add(acc[2 * r], odd ? x.odd : x.even, first);
            acc[2 * r + 1] = occ_dot_add(acc[2 * r + 1], odd ? x.odd : x.even, second);
        }
    }
}

/* Stores n sums, added to those that are there. */
OCC_HOT void occ_pairs_store(int32_t *to, occ_vi sum, int adds, int n)
{
    if (adds)
        sum += occ_viload(to, n);
    OCC_COPY(to, &sum, (size_t)n * sizeof *to);
}

/* One tile of `rows` (literal) rows from row m on: `depth` places from number `from` on, added to y behind the first
 * ones. */
OCC_HOT void occ_pairs_tile(const occ_pairs_q *q, const occ_pairs_panel *panel, int64_t m, int64_t column, int64_t from,
                            int depth, int rows, int is_signed)
{
    const int64_t  left = q->columns - column;
    const uint8_t *a = q->a + m * q->a_at.row + from * q->a_at.column;
    int32_t       *y = q->y + m * q->y_row + column;
    occ_vi         acc[2 * 8];
    OCC_UNROLL(8)
    for (int r = 0; r < rows; r++) {
        const int32_t zero = q->azero ? occ_pairs_byte(q->azero + (m + r) * q->azstep, is_signed) : 0;
        OCC_UNROLL(2)
        for (int j = 0; j < 2; j++)
            acc[2 * r + j] = -(occ_viset(zero) * panel->sums[j]);
    }
    OCC_ROLL
    for (int k = 0; k < depth / 4; k++, a += 4 * q->a_at.column)
        occ_pairs_run(q, panel, acc, a, k, 4, rows, is_signed);
    if (depth % 4)
        occ_pairs_run(q, panel, acc, a, depth / 4, depth % 4, rows, is_signed);
    OCC_UNROLL(8)
    for (int r = 0; r < rows; r++) {
        OCC_UNROLL(2)
        for (int j = 0; j < 2; j++) {
            const int64_t n = left - j * OCC_W;
            if (n >= OCC_W)
                occ_pairs_store(y + r * q->y_row + j * OCC_W, acc[2 * r + j], from > 0, OCC_W);
            else if (n > 0)
                occ_pairs_store(y + r * q->y_row + j * OCC_W, acc[2 * r + j], from > 0, (int)n);
        }
    }
}

/* All rows of one panel. */
OCC_HOT void occ_pairs_rows(const occ_pairs_q *q, const occ_pairs_panel *panel, int64_t column, int64_t from, int depth,
                            int is_signed)
{
    int64_t m = 0;
    OCC_ROLL
    for (; m + 6 <= q->rows; m += 6)
        occ_pairs_tile(q, panel, m, column, from, depth, 6, is_signed);
    OCC_ROLL
    for (; m + 3 <= q->rows; m += 3)
        occ_pairs_tile(q, panel, m, column, from, depth, 3, is_signed);
    OCC_ROLL
    for (; m < q->rows; m++)
        occ_pairs_tile(q, panel, m, column, from, depth, 1, is_signed);
}
#endif

/* y[m][n] = sum over k of (a[m][k] - azero) * (b[k][n] - bzero), 2 * OCC_W columns and then 4 * OCC_PAIRS_FOURS places
 * of the depth at a time; is_signed (literal): a holds signed bytes. */
OCC_HOT void occ_pairs_product(const occ_pairs_q *q, int is_signed)
{
#if OCC_PAIRS
    occ_pairs_panel   panel;
    const occ_pairs_q lent = *q; /* a variable whose address is passed is no longer literal, so a copy is passed */
    for (int64_t column = 0; column < q->columns; column += OCC_PAIRS_VECTORS * OCC_W) {
        int64_t from = 0;
        do {
            const int64_t left = q->depth - from;
            const int     depth = left < 4 * OCC_PAIRS_FOURS ? (int)left : 4 * OCC_PAIRS_FOURS;
            for (int j = 0; j < OCC_PAIRS_VECTORS; j++)
                occ_pairs_fill(&lent, &panel, j, column + j * OCC_W, from, depth);
            occ_pairs_rows(q, &panel, column, from, depth, is_signed);
            from += depth;
        } while (from < q->depth);
    }
#else
    (void)q, (void)is_signed;
#endif
}

#endif
