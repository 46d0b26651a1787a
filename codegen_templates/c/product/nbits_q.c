/* nbits_q.c - matrix products with weights of 4 bits, which stay packed in memory, and with x rounded to bytes by
 * round_blocks.c. Products of bytes are summed exactly within a block. With weights w, zero point z and scale s of a
 * block, x = a q, a result is the sum over blocks of
 *     s (w - z) a q  =  s a (w q)  -  s z a (sum of q)
 * Example: 3 and -1 with a = 3 / 127 are the bytes 127 and -42; weights 5 and 9 make 5 * 127 - 9 * 42 = 257. */
#include "occ_nbits_bytes.h"
#include "occ_nbits_many.h"

/* Rows that are multiplied together; the most places of a panel, unless a block is longer. */
#define OCC_NBITS_BATCH 128
#define OCC_NBITS_Q_DEPTH 1024

/* Rows of a tile: sums of integers and of floats, and two vectors of weights fill the registers. */
#if OCC_W == 16
#define OCC_NBITS_Q_ROWS 6
#else
#define OCC_NBITS_Q_ROWS 3
#endif

/* -------------------------------------------------------------------------------------------------------- few rows */

/* Lane i of the result: the scale of the block that word i of a vector of weights belongs to, of scales from the first
 * such block on. */
OCC_HOT occ_vf occ_nbits_scales(occ_vf scales, int64_t block)
{
    const occ_vi at = block < 8 * OCC_W ? occ_viota() / (int)(block / 8) : occ_viset(0);
#if OCC_W > 1
    if (block >= 8 * OCC_W)
        return occ_vset(occ_vlane(scales, 0));
#endif
    return occ_nbits_pick(scales, at);
}

/* total[row][column] += the products of `count` words of weights, a vector of them or a block, from word w of columns
 * n, n + 1, ... on; rows and columns are literals. */
OCC_HOT void occ_nbits_some_q(const occ_nbits_call *g, const occ_nbits_bytes *x, occ_vf *total, int64_t n, int64_t w,
                              int64_t count, int rows, int columns)
{
    const int64_t  b = w * 8 / g->block, left = g->blocks - b;
    const uint8_t *from = g->w + n * g->bytes + w * 4;
    occ_vi         sum[8];
    OCC_UNROLL(8)
    for (int i = 0; i < rows * columns; i++)
        sum[i] = occ_viset(0);
    for (int64_t i = 0; i < count; i += OCC_W, from += 4 * OCC_W) {
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++) {
            const occ_vi bytes = occ_viload((const int32_t *)(const void *)(from + c * g->bytes),
                                            count - i < OCC_W ? (int)(count - i) : OCC_W);
            const occ_vi low = occ_nbits_nibbles(bytes, 0), high = occ_nbits_nibbles(bytes, 1);
            OCC_PREFETCH(from + (c + OCC_NBITS_AHEAD * columns) * g->bytes);
            OCC_UNROLL(4)
            for (int r = 0; r < rows; r++) {
                const uint8_t *q = x->q + r * x->pitch;
                const occ_vi   part = occ_nbits_dot(occ_viset(0), low, occ_nbits_bytes_at(q, w + i, 0));
                sum[r * columns + c] += occ_nbits_dotted(occ_nbits_dot(part, high, occ_nbits_bytes_at(q, w + i, 1)));
            }
        }
    }
    OCC_UNROLL(4)
    for (int r = 0; r < rows; r++) {
        const occ_vf a = occ_nbits_load(x->scale + r * (x->pitch / 4) + b, left);
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++) {
            const occ_vf s = occ_nbits_load(g->scale + (n + c) * g->blocks + b, left);
            total[r * columns + c] = occ_vfma(occ_vfrom_int(sum[r * columns + c]), occ_nbits_scales(a * s, g->block),
                                              total[r * columns + c]);
        }
    }
}

/* Takes scale * zero point * sum of x off total, over all blocks. */
OCC_HOT void occ_nbits_subtract(const occ_nbits_call *g, const occ_nbits_bytes *x, occ_vf *total, int64_t n, int rows,
                                int columns)
{
    for (int64_t b = 0; b < g->blocks; b += OCC_NBITS_ZEROS) {
        const int64_t count = occ_min(g->blocks - b, OCC_NBITS_ZEROS);
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++) {
            float        room[OCC_NBITS_ZEROS];
            const float *zero = g->packed ? occ_nbits_zeros(g, room, n + c, b, count) : NULL;
            const float *scale = g->scale + (n + c) * g->blocks + b;
            for (int64_t i = 0; i < count; i += OCC_W) {
                const occ_vf middle = zero ? occ_nbits_load(zero + i, count - i) : occ_vset(8.0f);
                const occ_vf less = middle * occ_nbits_load(scale + i, count - i);
                OCC_UNROLL(4)
                for (int r = 0; r < rows; r++)
                    total[r * columns + c] = occ_vfma(occ_nbits_load(x->zero + r * (x->pitch / 4) + b + i, count - i),
                                                      less, total[r * columns + c]);
            }
        }
    }
}

/* Results of some rows from row r on, and of some columns from column n on; rows and columns are literals. */
OCC_HOT void occ_nbits_tile_q(const occ_nbits_call *g, const occ_nbits_bytes *all, int64_t r, int64_t n, int rows,
                              int columns)
{
    const occ_nbits_bytes x = occ_nbits_bytes_from(all, r);
    const int64_t         words = g->bytes / 4, step = g->block < 8 * OCC_W ? OCC_W : g->block / 8;
    int64_t               w = 0;
    occ_vf                total[8];
    OCC_UNROLL(8)
    for (int i = 0; i < 8; i++)
        total[i] = occ_vset(0.0f);
    for (; w + step <= words; w += step)
        occ_nbits_some_q(g, &x, total, n, w, step, rows, columns);
    if (w < words)
        occ_nbits_some_q(g, &x, total, n, w, words - w, rows, columns);
    occ_nbits_subtract(g, &x, total, n, rows, columns);
    occ_nbits_results(g, total, r, n, rows, columns);
}

/* All columns of some rows (literal) from row r on, `columns` (literal) at a time. */
OCC_HOT void occ_nbits_columns_q(const occ_nbits_call *g, const occ_nbits_bytes *x, int64_t r, int rows, int columns)
{
    int64_t n = 0;

    for (; n + columns <= g->columns; n += columns)
        occ_nbits_tile_q(g, x, r, n, rows, columns);
    for (; n < g->columns; n++)
        occ_nbits_tile_q(g, x, r, n, rows, 1);
}

/* Rows four, two, and one at a time. */
OCC_HOT void occ_nbits_few_q(const occ_nbits_call *g, const occ_nbits_bytes *x)
{
    int64_t r = 0;

    for (; r + 4 <= g->rows; r += 4)
        occ_nbits_columns_q(g, x, r, 4, OCC_W > 8 ? 2 : 1);
    for (; r + 2 <= g->rows; r += 2)
        occ_nbits_columns_q(g, x, r, 2, 2);
    for (; r < g->rows; r++)
        occ_nbits_columns_q(g, x, r, 1, 4);
}

/* ------------------------------------------------------------------------------------------------------- many rows */

/* A panel: weights of some blocks of OCC_NBITS_WIDE columns, a byte each. For each word of packed weights it has those
 * of even places of all columns, then those of odd places. scale, less: of each block and column, the scale, and the
 * scale times the zero point. */
typedef struct occ_nbits_panel_q {
    float *words, *scale, *less;
} occ_nbits_panel_q;

/* The weights that a panel holds: columns n to n + width - 1 of blocks b to last - 1. */
typedef struct occ_nbits_span {
    int64_t n, width, b, last;
} occ_nbits_span;

/* Four words of each of n columns, or of fewer words the first ones. */
OCC_HOT void occ_nbits_some_words(const occ_nbits_call *g, const uint8_t *w, int n, int64_t count, occ_vi *word)
{
#if OCC_TURNS_FOURS && OCC_W > 1
    if (count == 4) {
        occ_nbits_words(g, w, n, word);
        return;
    }
#endif
    for (int64_t i = 0; i < count; i++)
        word[i] = occ_nbits_word(g, w + 4 * i, n);
}

/* Fills a panel with block b of n columns from column c on, at most a vector of them. Lanes behind the n columns repeat
 * the first one. */
OCC_HOT void occ_nbits_fill_block(const occ_nbits_call *g, const occ_nbits_panel_q *to, int64_t c, int n, int64_t b)
{
    const uint8_t *w = g->w + c * g->bytes + b * (g->block / 2);
    const int64_t  words = g->block / 8;
    const occ_vf   scale = occ_vloads(g->scale + c * g->blocks + b, g->blocks, n);

    for (int64_t i = 0; i < words; i += 4) {
        occ_vi word[4] = {occ_viset(0)};
        occ_nbits_some_words(g, w + 4 * i, n, occ_min(words - i, 4), word);
        OCC_UNROLL(4)
        for (int64_t k = 0; k < 4; k++)
            for (int upper = 0; upper < 2 && i + k < words; upper++)
                occ_vstore(to->words + (2 * (i + k) + upper) * OCC_NBITS_WIDE,
                           occ_vfrom_bits(occ_nbits_nibbles(word[k], upper)), OCC_W);
    }
    occ_vstore(to->scale, scale, OCC_W);
    occ_vstore(to->less, scale * occ_nbits_middle(g, c, n, b), OCC_W);
}

/* sum[row][vector] += the products of the words of one block; q: bytes of the first row for it. vectors and rows are
 * literals. */
OCC_HOT void occ_nbits_sum_block(const occ_nbits_call *g, occ_vi *sum, const float *words, const uint8_t *q,
                                 int64_t pitch, int64_t first, int vectors, int rows)
{
    const int64_t count = g->block / 8;

    OCC_UNROLL(16)
    for (int i = 0; i < rows * vectors; i++)
        sum[i] = occ_viset(0);
    for (int64_t i = 0; i < count; i += OCC_NBITS_RUN) {
        occ_vi part[16];
        OCC_UNROLL(16)
        for (int k = 0; k < rows * vectors; k++)
            part[k] = occ_viset(0);
        for (int64_t k = i; k < occ_min(i + OCC_NBITS_RUN, count); k++) {
            const uint8_t *at = q + (first + k) / OCC_W * (8 * OCC_W) + (first + k) % OCC_W * 4;
            OCC_UNROLL(2)
            for (int upper = 0; upper < 2; upper++) {
                occ_vi w[2];
                OCC_UNROLL(2)
                for (int v = 0; v < vectors; v++)
                    w[v] = occ_vbits(occ_vload(words + (2 * k + upper) * OCC_NBITS_WIDE + v * OCC_W, OCC_W));
                OCC_UNROLL(8)
                for (int r = 0; r < rows; r++) {
                    const occ_vi x = occ_vispread(at + r * pitch + upper * 4 * OCC_W, 4, 0);
                    OCC_UNROLL(2)
                    for (int v = 0; v < vectors; v++)
                        part[r * vectors + v] = occ_nbits_dot(part[r * vectors + v], w[v], x);
                }
            }
        }
        OCC_UNROLL(16)
        for (int k = 0; k < rows * vectors; k++)
            sum[k] += occ_nbits_dotted(part[k]);
    }
}

/* One tile: rows r to r + rows - 1 by what the panel holds, at most `vectors` vectors of columns; vectors and rows are
 * literals. */
OCC_HOT void occ_nbits_part_q(const occ_nbits_call *g, const occ_nbits_bytes *x, const occ_nbits_panel_q *panel,
                              const occ_nbits_span *span, int64_t r, int vectors, int rows)
{
    const uint8_t *q = x->q + r * x->pitch;
    const float   *words = panel->words, *scale = panel->scale, *less = panel->less;
    occ_vf         acc[16];
    occ_vi         sum[16];

    occ_nbits_begin(g, acc, r, span->n, span->width, span->b, vectors, rows);
    for (int64_t b = span->b; b < span->last; b++) {
        occ_nbits_sum_block(g, sum, words, q, x->pitch, b * (g->block / 8), vectors, rows);
        OCC_UNROLL(8)
        for (int i = 0; i < rows; i++) {
            const occ_vf a = occ_vset(x->scale[(r + i) * (x->pitch / 4) + b]);
            const occ_vf zero = occ_vset(x->zero[(r + i) * (x->pitch / 4) + b]);
            OCC_UNROLL(2)
            for (int v = 0; v < vectors; v++) {
                occ_vf *to = acc + i * vectors + v;
                *to = occ_vfma(occ_vload(less + v * OCC_W, OCC_W), zero, *to);
                *to = occ_vfma(occ_vfrom_int(sum[i * vectors + v]), a * occ_vload(scale + v * OCC_W, OCC_W), *to);
            }
        }
        words += g->block / 4 * OCC_NBITS_WIDE;
        scale += OCC_NBITS_WIDE;
        less += OCC_NBITS_WIDE;
    }
    occ_nbits_end(g, acc, r, span->n, span->width, vectors, rows);
}

/* As many tiles of `rows` (literal) as fit into the rows from r on. Returns the row behind them. */
OCC_HOT int64_t occ_nbits_tiles_q(const occ_nbits_call *g, const occ_nbits_bytes *x, const occ_nbits_panel_q *panel,
                                  const occ_nbits_span *span, int64_t r, int vectors, int rows)
{
    OCC_ROLL
    for (; r + rows <= g->rows; r += rows) {
        occ_nbits_fetch(g, span->n, r, span->b * g->block, span->last * g->block, rows);
        occ_nbits_part_q(g, x, panel, span, r, vectors, rows);
    }
    return r;
}

/* Fills the panel, and multiplies all rows by it; `vectors` (literal) hold its columns. */
OCC_HOT void occ_nbits_many_q(const occ_nbits_call *g, const occ_nbits_bytes *x, const occ_nbits_panel_q *panel,
                              const occ_nbits_span *span, int vectors)
{
    int64_t r = 0;

    for (int64_t b = 0; b < span->last - span->b; b++)
        for (int64_t c = 0; c < span->width; c += OCC_W) {
            const int64_t           at = b * OCC_NBITS_WIDE + c;
            const occ_nbits_panel_q to = {panel->words + b * (g->block / 4) * OCC_NBITS_WIDE + c, panel->scale + at,
                                          panel->less + at};
            occ_nbits_fill_block(g, &to, span->n + c, (int)occ_min(span->width - c, OCC_W), span->b + b);
        }
    r = occ_nbits_tiles_q(g, x, panel, span, r, vectors, OCC_NBITS_Q_ROWS);
    if (OCC_NBITS_Q_ROWS > 4)
        r = occ_nbits_tiles_q(g, x, panel, span, r, vectors, 4);
    r = occ_nbits_tiles_q(g, x, panel, span, r, vectors, 2);
    occ_nbits_tiles_q(g, x, panel, span, r, vectors, 1);
}

/* All rows and columns. A part of k of all rows stays in the second cache for some panels; the parts are even. */
OCC_HOT void occ_nbits_panels_q(const occ_nbits_call *g, const occ_nbits_bytes *x, float *room)
{
    const int64_t           most = occ_max(OCC_NBITS_Q_DEPTH / g->block, 1), group = OCC_NBITS_PANELS * OCC_NBITS_WIDE;
    const int64_t           part = occ_ceil_div(g->blocks, occ_ceil_div(g->blocks, most));
    const int64_t           words = part * (g->block / 4) * OCC_NBITS_WIDE;
    const occ_nbits_panel_q panel = {room, room + words, room + words + part * OCC_NBITS_WIDE};

    for (int64_t first = 0; first < g->columns; first += group)
        for (int64_t b = 0; b < g->blocks; b += part)
            for (int64_t n = first; n < occ_min(first + group, g->columns); n += OCC_NBITS_WIDE) {
                const occ_nbits_span span = {n, occ_min(g->columns - n, OCC_NBITS_WIDE), b,
                                             occ_min(b + part, g->blocks)};
                if (span.width > OCC_W)
                    occ_nbits_many_q(g, x, &panel, &span, 2);
                else
                    occ_nbits_many_q(g, x, &panel, &span, 1);
            }
}

/* ------------------------------------------------------------------------------------------------------ the kernel */

/* matmul_nbits_q - y = x w + bias, column by column, with x rounded to bytes.
 *   y, w, scale, packed, bias, form: as of matmul_nbits_f32, with 4 bits
 *   x: rows as occ_nbits_bytes.h describes them
 *   room: for more than 8 rows, scratch of 32-bit words: 32 (1 + 8 / block) times the places of a panel / 4, which are
 *         blocks * block, but at most 1024 or one block; else NULL */
OCC_INLINE void occ_matmul_nbits_q(float *y, const uint8_t *x, const uint8_t *w, const float *scale,
                                   const uint8_t *packed, const float *bias, float *room, const occ_nbits *form)
{
    const int64_t         blocks = occ_ceil_div(form->k, form->block);
    const float          *scales = (const float *)(const void *)(x + occ_nbits_places(form->k, form->block));
    const occ_nbits_bytes all = {x, scales, scales + blocks, occ_nbits_row(form->k, form->block)};

    for (int64_t r = 0; r < form->rows; r += OCC_NBITS_BATCH) {
        const int64_t         rows = occ_min(form->rows - r, OCC_NBITS_BATCH);
        const occ_nbits_bytes bytes = occ_nbits_bytes_from(&all, r);
        const occ_nbits_call  g = {y + r * form->ystride,
                                   NULL,
                                   w,
                                   scale,
                                   NULL,
                                   packed,
                                   bias,
                                   rows,
                                   form->columns,
                                   form->k,
                                   form->block,
                                   4,
                                   form->ystride,
                                   blocks,
                                   blocks * (form->block / 2),
                                   (blocks + 1) / 2,
                                   NULL};
        if (rows > OCC_NBITS_FEW)
            occ_nbits_panels_q(&g, &bytes, room);
        else
            occ_nbits_few_q(&g, &bytes);
    }
}
