/* nbits.c - matrix products with weights of 2, 4 or 8 bits, which stay packed in memory.
 *
 * Few rows (a decoder's next token) take as long as the weights need to arrive: these are read once, in order, and
 * expanded in registers. For many rows (a prompt) 32 columns are decoded to a panel, and conv_f32 multiplies all rows
 * by it. What neither can do (2 bits, an order of groups, narrow blocks) decodes a line at a time. */
#include "conv_open_f32.c"
#include "occ_bytes.h"

/* OCC_NBITS_ROWS: rows of x that are multiplied with the same decoded weights. OCC_NBITS_LINE: the most weights decoded
 * at a time. */
#define OCC_NBITS_ROWS 4
#define OCC_NBITS_LINE 256

/* OCC_NBITS_FEW: rows for which weights are decoded again for every four. OCC_NBITS_ZEROS: blocks whose zero points
 * are decoded together. OCC_NBITS_PANEL: columns of a panel. */
#define OCC_NBITS_FEW 8
#define OCC_NBITS_ZEROS 64
#define OCC_NBITS_PANEL 32

/* Tiles of columns by which weights are fetched ahead, since processors themselves look no further than a column. */
#define OCC_NBITS_AHEAD 2

/* Element i of integers of `bits` bits, the lowest bits of each byte first. */
OCC_HOT int32_t occ_nbits_at(const uint8_t *from, int64_t i, int64_t bits)
{
    const int64_t each = 8 / bits;

    return (from[i / each] >> (i % each * bits)) & ((1 << bits) - 1);
}

/* The lower halves of a and b interleaved, a[0] b[0] a[1] b[1] ..., or the upper ones. */
OCC_HOT occ_vf occ_nbits_zip(occ_vf a, occ_vf b, int upper)
{
#if OCC_W == 16 && defined(__clang__)
    return upper ? __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
                 : __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif OCC_W == 8 && defined(__clang__)
    return upper ? __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
                 : __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#elif OCC_W == 4 && defined(__clang__)
    return upper ? __builtin_shufflevector(a, b, 2, 6, 3, 7) : __builtin_shufflevector(a, b, 0, 4, 1, 5);
#elif OCC_W > 1
    const occ_vi lane = occ_viota(), from = (lane >> 1) + (lane & 1) * OCC_W;

    return upper ? __builtin_shuffle(a, b, from + OCC_W / 2) : __builtin_shuffle(a, b, from);
#else
    return upper ? b : a;
#endif
}

/* Decodes two weights from each byte, a vector of bytes at a time. */
OCC_HOT void occ_nbits_decode_four(float *to, const uint8_t *from, int64_t count, occ_vf zero, occ_vf scale)
{
    for (int64_t i = 0; i < count; i += 2 * OCC_W) {
        const int64_t left = (count - i) / 2;
        const occ_vi  two = occ_viload_bytes(from + i / 2, left < OCC_W ? (int)left : OCC_W, 0);
        const occ_vf  low = (occ_vfrom_int(two & 15) - zero) * scale, high = (occ_vfrom_int(two >> 4) - zero) * scale;

        occ_vstore(to + i, occ_nbits_zip(low, high, 0), OCC_W);
        if (left > OCC_W / 2)
            occ_vstore(to + i + OCC_W, occ_nbits_zip(low, high, 1), OCC_W);
    }
}

/* Decodes `count` weights, a multiple of 16, that begin with a byte: (integer - zero) * scale. */
OCC_HOT void occ_nbits_decode(float *to, const uint8_t *from, int64_t count, int64_t bits, float zero, float scale)
{
    const occ_vf z = occ_vset(zero), s = occ_vset(scale);

    if (bits == 8)
        for (int64_t i = 0; i < count; i += OCC_W)
            occ_vstore(to + i, (occ_vload_u8(from + i, OCC_W) - z) * s, OCC_W);
    else if (bits == 4)
        occ_nbits_decode_four(to, from, count, z, s);
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = ((float)occ_nbits_at(from, i, bits) - zero) * scale;
}

/* The zero point of block b of a column: a float, or packed like the weights; without either, half of the range. */
OCC_HOT float occ_nbits_zero(const float *zero, const uint8_t *packed, int64_t b, int64_t bits)
{
    if (zero)
        return zero[b];
    return packed ? (float)occ_nbits_at(packed, b, bits) : (float)(1 << (bits - 1));
}

/* Decodes weights whose block of scales is given for each weight, in `group`. */
OCC_HOT void occ_nbits_decode_by(float *to, const uint8_t *from, int64_t count, int64_t bits, const int32_t *group,
                                 const float *scale, const float *zero, const uint8_t *packed)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = ((float)occ_nbits_at(from, i, bits) - occ_nbits_zero(zero, packed, group[i], bits)) * scale[group[i]];
}

/* sum[r] += x[r] . line over `count` elements, for some rows; a single row uses all sums in turn. */
OCC_HOT void occ_nbits_add(occ_vf *sum, const float *x, int64_t rows, int64_t k, const float *line, int64_t count)
{
    int64_t i = 0;

    for (; rows == 1 && count - i >= OCC_NBITS_ROWS * OCC_W; i += OCC_NBITS_ROWS * OCC_W)
        for (int r = 0; r < OCC_NBITS_ROWS; r++)
            sum[r] = occ_vfma(occ_vload(x + i + r * OCC_W, OCC_W), occ_vload(line + i + r * OCC_W, OCC_W), sum[r]);
    for (; i < count; i += OCC_W) {
        const int    lanes = count - i < OCC_W ? (int)(count - i) : OCC_W;
        const occ_vf w = occ_vload(line + i, lanes);

        for (int64_t r = 0; r < rows; r++)
            sum[r] = occ_vfma(occ_vload(x + r * k + i, lanes), w, sum[r]);
    }
}

/* occ_nbits_add for four rows, whose sums stay in registers. `count` is a multiple of OCC_W. */
OCC_HOT void occ_nbits_add_four(occ_vf *sum, const float *x, int64_t k, const float *line, int64_t count)
{
    occ_vf a = sum[0], b = sum[1], c = sum[2], d = sum[3];

    for (int64_t i = 0; i < count; i += OCC_W) {
        const occ_vf w = occ_vload(line + i, OCC_W);

        a = occ_vfma(occ_vload(x + i, OCC_W), w, a);
        b = occ_vfma(occ_vload(x + k + i, OCC_W), w, b);
        c = occ_vfma(occ_vload(x + 2 * k + i, OCC_W), w, c);
        d = occ_vfma(occ_vload(x + 3 * k + i, OCC_W), w, d);
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

/* The sizes of a product: y [rows][columns], ystride elements between rows; k weights of `bits` bits for each column;
 * `block` weights share a scale. */
typedef struct occ_nbits {
    int64_t rows, columns, k, block, bits, ystride;
} occ_nbits;

/* -------------------------------------------------------------------------------------------------------- few rows */

/* Weights that a vector of bytes holds. */
#define OCC_NBITS_STEP(bits) (OCC_W * 8 / (bits))

/* The product as the kernel has it; `blocks` of a column, `bytes` of its weights, `zeros` bytes of its zero points. */
typedef struct occ_nbits_call {
    float         *y;
    const float   *x;
    const uint8_t *w;
    const float   *scale, *zero;
    const uint8_t *packed;
    const float   *bias;
    int64_t        rows, columns, k, block, bits, ystride, blocks, bytes, zeros;
} occ_nbits_call;

/* Returns the zero points of `count` blocks, at most OCC_NBITS_ZEROS, of column n from block b on. `room` holds those
 * that are decoded here. */
OCC_HOT const float *occ_nbits_zeros(const occ_nbits_call *g, float *room, int64_t n, int64_t b, int64_t count)
{
    const uint8_t *from = g->packed ? g->packed + n * g->zeros + b * g->bits / 8 : g->packed;
    int64_t        i = 0;

    if (g->zero)
        return g->zero + n * g->blocks + b;
    for (; from && i + 16 <= count; i += 16)
        occ_nbits_decode(room + i, from + i * g->bits / 8, 16, g->bits, 0.0f, 1.0f);
    for (; i < count; i++)
        room[i] = occ_nbits_zero(NULL, from, i, g->bits);
    return room;
}

/* `n` floats, at most a vector; none where n is not positive. */
OCC_HOT occ_vf occ_nbits_load(const float *x, int64_t n)
{
    return n >= OCC_W ? occ_vload(x, OCC_W) : n > 0 ? occ_vload(x, (int)n) : occ_vset(0.0f);
}

/* total[row][column] += scale * the sum of x * (w - zero) over block b of columns n, n + 1, ...
 * `bits` (4 or 8), rows and columns are literals. `left`: elements of x in the block, at least 1. The zero point is
 * zero[column][at]; it is subtracted before the sum, which would lose bits by large terms that cancel. */
OCC_HOT void occ_nbits_block(const occ_nbits_call *g, occ_vf *total, const float *x, int64_t n, int64_t b, int64_t left,
                             const float *const *zero, int64_t at, int bits, int rows, int columns)
{
    const uint8_t *w = g->w + n * g->bytes + b * (g->block * bits / 8);
    const float   *scale = g->scale + n * g->blocks + b;
    occ_vf         part[8];

    OCC_UNROLL(8)
    for (int i = 0; i < rows * columns; i++)
        part[i] = occ_vset(0.0f);
    for (int64_t i = 0; i < g->block; i += OCC_NBITS_STEP(bits), w += OCC_W) {
        occ_vf first[4], second[4];
        OCC_UNROLL(4)
        for (int r = 0; r < rows; r++) {
            const float *from = x + r * g->k + i;
            const occ_vf a = occ_nbits_load(from, left - i);
            const occ_vf c = bits == 4 ? occ_nbits_load(from + OCC_W, left - i - OCC_W) : occ_vset(0.0f);
            first[r] = bits == 4 ? occ_veven(a, c) : a;
            second[r] = bits == 4 ? occ_vodd(a, c) : c;
        }
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++) {
            const occ_vf z = occ_vset(zero[c][at]);
            const occ_vi bytes = occ_viload_bytes(w + c * g->bytes, OCC_W, 0);
            const occ_vf low = occ_vfrom_int(bits == 4 ? bytes & 15 : bytes) - z;
            const occ_vf high = occ_vfrom_int(bits == 4 ? bytes >> 4 : bytes) - z;
            OCC_PREFETCH(w + (c + OCC_NBITS_AHEAD * columns) * g->bytes);
            OCC_UNROLL(4)
            for (int r = 0; r < rows; r++) {
                part[r * columns + c] = occ_vfma(low, first[r], part[r * columns + c]);
                if (bits == 4)
                    part[r * columns + c] = occ_vfma(high, second[r], part[r * columns + c]);
            }
        }
    }
    OCC_UNROLL(4)
    for (int c = 0; c < columns; c++) {
        const occ_vf s = occ_vset(scale[c * g->blocks]);
        OCC_UNROLL(4)
        for (int r = 0; r < rows; r++)
            total[r * columns + c] = occ_vfma(part[r * columns + c], s, total[r * columns + c]);
    }
}

/* Sums of the lanes of four vectors. Neighbours are added until the first lanes hold one sum each; with four lanes:
 *     a0 a1 a2 a3, b0 ...    a01 a23 b01 b23, c01 ...    a b c d */
OCC_HOT void occ_nbits_sums(float *sum, const occ_vf *v)
{
#if OCC_W == 1
    for (int i = 0; i < 4; i++)
        sum[i] = v[i];
#else
    const occ_vf a = occ_veven(v[0], v[1]) + occ_vodd(v[0], v[1]), c = occ_veven(v[2], v[3]) + occ_vodd(v[2], v[3]);
    occ_vf       s = occ_veven(a, c) + occ_vodd(a, c);
    OCC_UNROLL(2)
    for (int lanes = OCC_W; lanes > 4; lanes /= 2)
        s = occ_veven(s, s) + occ_vodd(s, s);
    occ_vstore(sum, s, 4);
#endif
}

/* Results of some rows from row r on, and of some columns from column n on; `bits`, rows and columns are literals. */
OCC_HOT void occ_nbits_tile(const occ_nbits_call *g, int64_t r, int64_t n, int bits, int rows, int columns)
{
    const float  *x = g->x + r * g->k;
    const int64_t full = g->k / g->block;
    float        *y = g->y + r * g->ystride + n;
    occ_vf        total[8];

    OCC_UNROLL(8)
    for (int i = 0; i < 8; i++)
        total[i] = occ_vset(0.0f);
    for (int64_t b = 0; b < g->blocks; b += OCC_NBITS_ZEROS) {
        const int64_t count = occ_min(g->blocks - b, OCC_NBITS_ZEROS), whole = occ_min(full - b, count);
        const float  *zero[4];
        float         room[4][OCC_NBITS_ZEROS];
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++)
            zero[c] = occ_nbits_zeros(g, room[c], n + c, b, count);
        for (int64_t i = 0; i < whole; i++)
            occ_nbits_block(g, total, x + (b + i) * g->block, n, b + i, g->block, zero, i, bits, rows, columns);
        for (int64_t i = whole; i < count; i++)
            occ_nbits_block(g, total, x + (b + i) * g->block, n, b + i, g->k - (b + i) * g->block, zero, i, bits, rows,
                            columns);
    }
    for (int i = 0; i < rows * columns; i += 4) {
        float sum[4];
        occ_nbits_sums(sum, total + i);
        for (int k = 0; k < occ_min(4, rows * columns - i); k++)
            y[(i + k) / columns * g->ystride + (i + k) % columns] =
                sum[k] + (g->bias ? g->bias[n + (i + k) % columns] : 0.0f);
    }
}

/* All columns of some rows (literal, as is `bits`) from row r on, `columns` (literal) at a time. */
OCC_HOT void occ_nbits_columns(const occ_nbits_call *g, int64_t r, int bits, int rows, int columns)
{
    int64_t n = 0;

    for (; n + columns <= g->columns; n += columns)
        occ_nbits_tile(g, r, n, bits, rows, columns);
    for (; n < g->columns; n++)
        occ_nbits_tile(g, r, n, bits, rows, 1);
}

/* All rows: four, two, and one at a time. Wide vectors come with registers enough for two columns. */
OCC_HOT void occ_nbits_rows(const occ_nbits_call *g, int bits)
{
    int64_t r = 0;

    for (; r + 4 <= g->rows; r += 4)
        occ_nbits_columns(g, r, bits, 4, OCC_W > 8 ? 2 : 1);
    for (; r + 2 <= g->rows; r += 2)
        occ_nbits_columns(g, r, bits, 2, 2);
    for (; r < g->rows; r++)
        occ_nbits_columns(g, r, bits, 1, 4);
}

/* ------------------------------------------------------------------------------------------------------- many rows */

/* Element i of the words that begin at w, one of each of n columns. */
OCC_HOT occ_vi occ_nbits_words(const occ_nbits_call *g, const uint8_t *w, int n)
{
    int32_t word[OCC_W];
    occ_vi  v;

    for (int c = 0; c < OCC_W; c++)
        memcpy(&word[c], w + (c < n ? c : 0) * g->bytes, 4);
    memcpy(&v, word, sizeof v);
    return v;
}

/* Decodes columns n to n + width - 1, a vector of columns at a time, to `panel` [k][width]. */
OCC_HOT void occ_nbits_panel(const occ_nbits_call *g, float *panel, int64_t n, int64_t width)
{
    const int64_t each = 32 / g->bits, mask = ((int64_t)1 << g->bits) - 1;

    for (int64_t c = 0; c < width; c += OCC_W) {
        const int lanes = (int)occ_min(width - c, OCC_W);
        for (int64_t b = 0; b < g->blocks; b++) {
            const int64_t  most = occ_min(g->k - b * g->block, g->block);
            const uint8_t *w = g->w + (n + c) * g->bytes + b * (g->block * g->bits / 8);
            float         *to = panel + b * g->block * width + c, middle[OCC_W];
            for (int i = 0; i < OCC_W; i++) {
                const int64_t column = n + c + (i < lanes ? i : 0);
                middle[i] = occ_nbits_zero(g->zero ? g->zero + column * g->blocks : NULL,
                                           g->packed ? g->packed + column * g->zeros : NULL, b, g->bits);
            }
            const occ_vf scale = occ_vloads(g->scale + (n + c) * g->blocks + b, g->blocks, lanes);
            const occ_vf zero = occ_vload(middle, OCC_W);
            for (int64_t i = 0; i < most; i += each, w += 4) {
                const occ_vi words = occ_nbits_words(g, w, lanes);
                OCC_UNROLL(16)
                for (int64_t j = 0; j < each; j++)
                    if (i + j < most)
                        occ_vstore(to + (i + j) * width,
                                   (occ_vfrom_int((words >> (int)(j * g->bits)) & (int32_t)mask) - zero) * scale,
                                   lanes);
            }
        }
    }
}

/* All rows by `width` columns from column n on. */
OCC_HOT void occ_nbits_many(const occ_nbits_call *g, float *panel, int64_t n, int64_t width)
{
    static const occ_window one = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    static const occ_extent tile[3] = {0, 0, 0};
    static const occ_fused  nothing = {0, {0}, NULL};
    const int64_t           nx = g->rows * g->k, ny = g->rows * g->ystride;
    const occ_image         x_at = {{1, g->k, 1, 1, g->rows}, {nx, 1, nx, nx, g->k}};
    const occ_image         y_at = {{1, width, 1, 1, g->rows}, {ny, 1, ny, ny, g->ystride}};

    occ_nbits_panel(g, panel, n, width);
#if OCC_OPEN_EXTENTS
    if (!OCC_KNOWN(g->rows)) {
        occ_conv_open_f32(g->x, &x_at, panel, g->bias ? g->bias + n : g->bias, g->y + n, &y_at, &one, 1, tile, NULL,
                          &nothing);
        return;
    }
#endif
    occ_conv_f32(g->x, &x_at, panel, g->bias ? g->bias + n : g->bias, g->y + n, &y_at, &one, 1, tile, NULL, &nothing);
}

/* ------------------------------------------------------------------------------------------------------ the kernel */

/* One line of weights at a time; `group` as below. */
OCC_HOT void occ_nbits_lines(const occ_nbits_call *g, const int32_t *group)
{
    const int64_t k = g->k, bits = g->bits, piece = g->block < OCC_NBITS_LINE ? g->block : OCC_NBITS_LINE;
    float         line[OCC_NBITS_LINE];

    for (int64_t first = 0; first < g->rows; first += OCC_NBITS_ROWS) {
        const int64_t some = g->rows - first < OCC_NBITS_ROWS ? g->rows - first : OCC_NBITS_ROWS;

        for (int64_t n = 0; n < g->columns; n++) {
            const float   *by = g->scale + n * g->blocks, *zero = g->zero ? g->zero + n * g->blocks : g->zero;
            const uint8_t *packed = g->packed ? g->packed + n * g->zeros : g->packed;
            occ_vf         sum[OCC_NBITS_ROWS] = {occ_vset(0.0f), occ_vset(0.0f), occ_vset(0.0f), occ_vset(0.0f)};

            for (int64_t at = 0; at < k; at += piece) {
                const uint8_t *from = g->w + n * g->bytes + at * bits / 8;
                const int64_t  count = k - at < piece ? k - at : piece;

                if (group)
                    occ_nbits_decode_by(line, from, count, bits, group + at, by, zero, packed);
                else
                    occ_nbits_decode(line, from, piece, bits, occ_nbits_zero(zero, packed, at / g->block, bits),
                                     by[at / g->block]);
                if (some == OCC_NBITS_ROWS && count % OCC_W == 0)
                    occ_nbits_add_four(sum, g->x + first * k + at, k, line, count);
                else
                    occ_nbits_add(sum, g->x + first * k + at, some, k, line, count);
            }
            sum[0] = some == 1 ? (sum[0] + sum[1]) + (sum[2] + sum[3]) : sum[0];
            for (int64_t r = 0; r < some; r++)
                g->y[(first + r) * g->ystride + n] = occ_vsum_lanes(sum[r]) + (g->bias ? g->bias[n] : 0.0f);
        }
    }
}

/* matmul_nbits_f32 - y = x w + bias, column by column.
 *   y [rows][columns] with row stride ystride; x [rows][k]
 *   w [columns][blocks][block * bits / 8] with blocks = ceil(k / block); scale [columns][blocks]
 *   zero [columns][blocks], or packed [columns][ceil(blocks * bits / 8)], or neither (NULL)
 *   group [k]: for each of the k places its block, below `blocks`, of scale and zero point; NULL: blocks in order
 *   bias [columns] or NULL
 *   panel: scratch of [k][32] floats, or NULL: many rows are taken like few */
OCC_INLINE void occ_matmul_nbits_f32(float *y, const float *x, const uint8_t *w, const float *scale, const float *zero,
                                     const uint8_t *packed, const int32_t *group, const float *bias, float *panel,
                                     const occ_nbits *form)
{
    const int64_t        blocks = (form->k + form->block - 1) / form->block, bits = form->bits, rows = form->rows;
    const int64_t        columns = form->columns, whole = columns - columns % OCC_NBITS_PANEL;
    const occ_nbits_call g = {y,
                              x,
                              w,
                              scale,
                              zero,
                              packed,
                              bias,
                              rows,
                              columns,
                              form->k,
                              form->block,
                              bits,
                              form->ystride,
                              blocks,
                              blocks * (form->block * bits / 8),
                              (blocks * bits + 7) / 8};

    if (panel && !group && rows > OCC_NBITS_FEW) {
        for (int64_t n = 0; n < whole; n += OCC_NBITS_PANEL)
            occ_nbits_many(&g, panel, n, OCC_NBITS_PANEL);
        if (columns > whole)
            occ_nbits_many(&g, panel, whole, columns - whole);
    } else if (!group && bits == 4 && form->block % OCC_NBITS_STEP(4) == 0) {
        occ_nbits_rows(&g, 4);
    } else if (!group && bits == 8 && form->block % OCC_NBITS_STEP(8) == 0) {
        occ_nbits_rows(&g, 8);
    } else {
        occ_nbits_lines(&g, group);
    }
}
