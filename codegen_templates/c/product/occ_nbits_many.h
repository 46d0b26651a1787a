/* occ_nbits_many.h - products of many rows with packed weights: a few columns are decoded to a panel, by which tiles of
 * all rows are multiplied. */
#ifndef OCC_NBITS_MANY_H
#define OCC_NBITS_MANY_H

#include "occ_nbits.h"
#include "occ_tile.h"
#include "occ_turn.h"

/* A panel has [k][OCC_NBITS_WIDE] floats, for at most OCC_NBITS_DEPTH k or one block of weights; OCC_NBITS_PANELS of
 * them are multiplied by the same part of x in turn. A part of k costs sums that are stored and loaded again, and a
 * panel that outgrows the nearest cache hardly anything, since a tile works longer on a row than the row needs. */
#define OCC_NBITS_WIDE (OCC_TILE_VECTORS * OCC_W)
#define OCC_NBITS_DEPTH 512
#define OCC_NBITS_PANELS 8

/* One word of each of n columns. */
OCC_HOT occ_vi occ_nbits_word(const occ_nbits_call *g, const uint8_t *w, int n)
{
    int32_t word[OCC_W];
    occ_vi  v;

    for (int c = 0; c < OCC_W; c++)
        memcpy(&word[c], w + (c < n ? c : 0) * g->bytes, 4);
    memcpy(&v, word, sizeof v);
    return v;
}

#if OCC_TURNS_FOURS && OCC_W > 1
/* 16 bytes of column c, and of columns c + 4, c + 8 and c + 12 where vectors are so wide. */
OCC_HOT occ_vi occ_nbits_sixteen(const occ_nbits_call *g, const uint8_t *w, int c, int n)
{
    typedef int32_t four __attribute__((vector_size(16)));
    four            part[4];
    OCC_UNROLL(4)
    for (int i = 0; i < OCC_W / 4; i++)
        memcpy(&part[i], w + (c + 4 * i < n ? c + 4 * i : 0) * g->bytes, 16);
#if OCC_W == 16
    typedef int32_t eight __attribute__((vector_size(32)));
    const eight     a = __builtin_shufflevector(part[0], part[1], 0, 1, 2, 3, 4, 5, 6, 7);
    const eight     b = __builtin_shufflevector(part[2], part[3], 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#elif OCC_W == 8
    return __builtin_shufflevector(part[0], part[1], 0, 1, 2, 3, 4, 5, 6, 7);
#else
    return part[0];
#endif
}

/* Elements of the lower halves of each four of a and of b in turn, a[0] b[0] a[1] b[1], or of the upper halves. */
OCC_HOT occ_vi occ_nbits_weave(occ_vi a, occ_vi b, int upper)
{
#if OCC_W == 16
    return upper ? __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
                 : __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
#elif OCC_W == 8
    return upper ? __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
                 : __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
#else
    return upper ? __builtin_shufflevector(a, b, 2, 6, 3, 7) : __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}

/* The lower halves of each four of a and of b, a[0] a[1] b[0] b[1], or the upper halves. */
OCC_HOT occ_vi occ_nbits_halves(occ_vi a, occ_vi b, int upper)
{
#if OCC_W == 16
    return upper ? __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
                 : __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
#elif OCC_W == 8
    return upper ? __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
                 : __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
#else
    return upper ? __builtin_shufflevector(a, b, 2, 3, 6, 7) : __builtin_shufflevector(a, b, 0, 1, 4, 5);
#endif
}

/* Four words of each of n columns, transposed in registers: word[i] has word i of all columns. */
OCC_HOT void occ_nbits_words(const occ_nbits_call *g, const uint8_t *w, int n, occ_vi *word)
{
    occ_vi row[4], low[2], high[2];
    OCC_UNROLL(4)
    for (int c = 0; c < 4; c++)
        row[c] = occ_nbits_sixteen(g, w, c, n);
    OCC_UNROLL(2)
    for (int i = 0; i < 2; i++) {
        low[i] = occ_nbits_weave(row[2 * i], row[2 * i + 1], 0);
        high[i] = occ_nbits_weave(row[2 * i], row[2 * i + 1], 1);
    }
    word[0] = occ_nbits_halves(low[0], low[1], 0);
    word[1] = occ_nbits_halves(low[0], low[1], 1);
    word[2] = occ_nbits_halves(high[0], high[1], 0);
    word[3] = occ_nbits_halves(high[0], high[1], 1);
}
#endif

/* Decodes the first `most` weights of one word of each column to rows of a panel. */
OCC_HOT void occ_nbits_spread(float *to, occ_vi word, int64_t bits, int64_t most, occ_vf zero, occ_vf scale)
{
    const int64_t each = 32 / bits, mask = ((int64_t)1 << bits) - 1;
    OCC_UNROLL(16)
    for (int64_t i = 0; i < each; i++)
        if (i < most)
            occ_vstore(to + i * OCC_NBITS_WIDE,
                       (occ_vfrom_int((word >> (int)(i * bits)) & (int32_t)mask) - zero) * scale, OCC_W);
}

/* The zero points of block b of n columns from column c on. */
OCC_HOT occ_vf occ_nbits_middle(const occ_nbits_call *g, int64_t c, int n, int64_t b)
{
    float middle[OCC_W];

    for (int i = 0; i < OCC_W; i++) {
        const int64_t column = c + (i < n ? i : 0);
        middle[i] = occ_nbits_zero(g->zero ? g->zero + column * g->blocks : NULL,
                                   g->packed ? g->packed + column * g->zeros : NULL, b, g->bits);
    }
    return occ_vload(middle, OCC_W);
}

/* Decodes block b of n columns from column c on, at most a vector of them, to rows of a panel. Lanes behind the n
 * columns repeat the first one. */
OCC_HOT void occ_nbits_panel_block(const occ_nbits_call *g, float *to, int64_t c, int n, int64_t b)
{
    const int64_t  each = 32 / g->bits, most = occ_min(g->k - b * g->block, g->block);
    const uint8_t *w = g->w + c * g->bytes + b * (g->block * g->bits / 8);
    const occ_vf   scale = occ_vloads(g->scale + c * g->blocks + b, g->blocks, n);
    const occ_vf   zero = occ_nbits_middle(g, c, n, b);
    int64_t        i = 0;

#if OCC_TURNS_FOURS && OCC_W > 1
    for (; i + 4 * each <= most; i += 4 * each, w += 16) {
        occ_vi word[4];
        occ_nbits_words(g, w, n, word);
        OCC_UNROLL(4)
        for (int k = 0; k < 4; k++)
            occ_nbits_spread(to + (i + k * each) * OCC_NBITS_WIDE, word[k], g->bits, each, zero, scale);
    }
#endif
    for (; i < most; i += each, w += 4)
        occ_nbits_spread(to + i * OCC_NBITS_WIDE, occ_nbits_word(g, w, n), g->bits, most - i, zero, scale);
}

/* Decodes blocks b to last - 1 of `width` columns from column n on to `panel`. */
OCC_HOT void occ_nbits_panel(const occ_nbits_call *g, float *panel, int64_t n, int64_t width, int64_t b, int64_t last)
{
    for (; b < last; b++, panel += g->block * OCC_NBITS_WIDE)
        for (int64_t c = 0; c < width; c += OCC_W)
            occ_nbits_panel_block(g, panel + c, n + c, (int)occ_min(width - c, OCC_W), b);
}

/* Prefetches weights k `begin` to end - 1 of the next panel. The rows r to r + rows - 1 of a tile of this panel stand
 * for the columns of that one. */
OCC_HOT void occ_nbits_fetch(const occ_nbits_call *g, int64_t n, int64_t r, int64_t begin, int64_t end, int rows)
{
    OCC_ROLL
    for (int64_t c = r; c < occ_min(r + rows, OCC_NBITS_WIDE); c++) {
        const uint8_t *w = g->w + (n + OCC_NBITS_WIDE + c) * g->bytes;
        OCC_PREFETCH(g->scale + (n + OCC_NBITS_WIDE + c) * g->blocks + begin / g->block);
        OCC_ROLL
        for (int64_t i = begin * g->bits / 8; i < end * g->bits / 8; i += 64)
            OCC_PREFETCH(w + i);
    }
}

/* The sums of rows r to r + rows - 1 by `width` columns from column n on, before the part of k from `begin` on: the
 * bias, then what y has of earlier parts. vectors (of columns) and rows are literals. */
OCC_HOT void occ_nbits_begin(const occ_nbits_call *g, occ_vf *acc, int64_t r, int64_t n, int64_t width, int64_t begin,
                             int vectors, int rows)
{
    const int    lanes = (int)(width - (vectors - 1) * OCC_W);
    const float *from = begin > 0 ? g->y + r * g->ystride + n : g->bias ? g->bias + n : NULL;

    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++)
        OCC_UNROLL(2)
    for (int v = 0; v < vectors; v++)
        acc[i * vectors + v] =
            from ? occ_vload(from + (begin > 0 ? i * g->ystride : 0) + v * OCC_W, v == vectors - 1 ? lanes : OCC_W)
                 : occ_vset(0.0f);
}

/* Stores these sums in y. */
OCC_HOT void occ_nbits_end(const occ_nbits_call *g, const occ_vf *acc, int64_t r, int64_t n, int64_t width, int vectors,
                           int rows)
{
    const int lanes = (int)(width - (vectors - 1) * OCC_W);
    float    *y = g->y + r * g->ystride + n;

    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++)
        OCC_UNROLL(2)
    for (int v = 0; v < vectors; v++)
        occ_vstore(y + i * g->ystride + v * OCC_W, acc[i * vectors + v], v == vectors - 1 ? lanes : OCC_W);
}

/* One tile: rows r to r + rows - 1 by `width` columns from column n on, k from `begin` to end - 1. vectors (of columns)
 * and rows are literals. */
OCC_HOT void occ_nbits_part(const occ_nbits_call *g, const float *panel, int64_t r, int64_t n, int64_t width,
                            int64_t begin, int64_t end, int vectors, int rows)
{
    const occ_tile tile = {1, 0, g->k, OCC_NBITS_WIDE, 0, 1, rows, rows, vectors, OCC_W};
    const float   *next = panel;
    occ_vf         acc[OCC_TILE_MAX];

#if OCC_OPEN_EXTENTS
    OCC_FREE_VECTORS();
#endif
    occ_nbits_begin(g, acc, r, n, width, begin, vectors, rows);
    occ_tile_run(&tile, acc, g->x + r * g->k + begin, panel, end - begin, &next, 0);
    occ_nbits_end(g, acc, r, n, width, vectors, rows);
}

/* As many tiles of `rows` (literal) as fit into rows r to last - 1. Returns the row behind them. */
OCC_HOT int64_t occ_nbits_tiles(const occ_nbits_call *g, const float *panel, int64_t r, int64_t last, int64_t n,
                                int64_t width, int64_t begin, int64_t end, int vectors, int rows)
{
    OCC_ROLL
    for (; r + rows <= last; r += rows) {
        occ_nbits_fetch(g, n, r, begin, end, rows);
        occ_nbits_part(g, panel, r, n, width, begin, end, vectors, rows);
    }
    return r;
}

/* The rows in full tiles, and those in full tiles or in such of a row less. */
typedef struct occ_nbits_cut {
    int64_t full, less;
} occ_nbits_cut;

/* The cut of all rows into as few tiles as hold them, of `full` rows, of one less and of two less, where these can.
 * Example: 128 rows are eight tiles of 13 and two of 12 where a full tile has 14. */
OCC_HOT occ_nbits_cut occ_nbits_cut_rows(int64_t rows, int full)
{
    const int64_t tiles = occ_ceil_div(rows, full), missing = tiles * full - rows;
    occ_nbits_cut cut = {rows / full * full, rows / full * full};

    if (full > 3 && missing <= 2 * tiles) {
        cut.full = occ_max(tiles - missing, 0) * full;
        cut.less = cut.full + (missing <= tiles ? missing : 2 * tiles - missing) * (full - 1);
    }
    return cut;
}

/* All rows by `width` columns from column n on, at most `vectors` (literal) vectors, and blocks b to last - 1. */
OCC_HOT void occ_nbits_many(const occ_nbits_call *g, float *panel, int64_t n, int64_t width, int64_t b, int64_t last,
                            int vectors)
{
    const int           full = OCC_TILE_ROWS(OCC_TILE_VECTORS);
    const occ_nbits_cut cut = occ_nbits_cut_rows(g->rows, full);
    const int64_t       begin = b * g->block, end = occ_min(last * g->block, g->k);
    int64_t             r = 0;

    occ_nbits_panel(g, panel, n, width, b, last);
    r = occ_nbits_tiles(g, panel, r, cut.full, n, width, begin, end, vectors, full);
    if (full > 3) {
        r = occ_nbits_tiles(g, panel, r, cut.less, n, width, begin, end, vectors, full - 1);
        r = occ_nbits_tiles(g, panel, r, g->rows, n, width, begin, end, vectors, full - 2);
    }
    if (full > 8)
        r = occ_nbits_tiles(g, panel, r, g->rows, n, width, begin, end, vectors, 8);
    if (full > 6)
        r = occ_nbits_tiles(g, panel, r, g->rows, n, width, begin, end, vectors, 4);
    r = occ_nbits_tiles(g, panel, r, g->rows, n, width, begin, end, vectors, 2);
    occ_nbits_tiles(g, panel, r, g->rows, n, width, begin, end, vectors, 1);
}

/* All rows and columns. A part of k of all rows stays in the second cache for some panels; the parts are even. */
OCC_HOT void occ_nbits_panels(const occ_nbits_call *g, float *panel)
{
    const int64_t most = occ_max(OCC_NBITS_DEPTH / g->block, 1), group = OCC_NBITS_PANELS * OCC_NBITS_WIDE;
    const int64_t part = occ_ceil_div(g->blocks, occ_ceil_div(g->blocks, most));
    const int64_t rest = g->columns % OCC_NBITS_WIDE;

    for (int64_t first = 0; first < g->columns; first += group)
        for (int64_t b = 0; b < g->blocks; b += part) {
            const int64_t last = occ_min(b + part, g->blocks), end = occ_min(first + group, g->columns);
            int64_t       n = first;
            for (; n + OCC_NBITS_WIDE <= end; n += OCC_NBITS_WIDE)
                occ_nbits_many(g, panel, n, OCC_NBITS_WIDE, b, last, OCC_TILE_VECTORS);
            if (n < end && rest > OCC_W)
                occ_nbits_many(g, panel, n, rest, b, last, 2);
            else if (n < end)
                occ_nbits_many(g, panel, n, rest, b, last, 1);
        }
}

#endif
