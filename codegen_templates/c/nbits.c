/* nbits.c - matrix products with weights of 2, 4 or 8 bits, which stay packed in memory.
 *
 * Few rows (a decoder's next token) take as long as the weights need to arrive: these are read once, in order, and
 * expanded in registers, in an order that x is brought into. For many rows (a prompt) a few columns are decoded to a
 * panel, by which tiles of all rows are multiplied. What neither can do (2 bits, an order of groups, narrow blocks)
 * decodes a line at a time. */
#include "occ_bytes.h"
#include "occ_tile.h"
#include "occ_turn.h"

/* OCC_NBITS_ROWS: rows of x that are multiplied with the same decoded weights. OCC_NBITS_LINE: the most weights decoded
 * at a time. */
#define OCC_NBITS_ROWS 4
#define OCC_NBITS_LINE 256

/* OCC_NBITS_FEW: rows for which weights are decoded again for every four. OCC_NBITS_ZEROS: blocks whose zero points
 * are decoded together. */
#define OCC_NBITS_FEW 8
#define OCC_NBITS_ZEROS 64

/* A panel has [k][OCC_NBITS_WIDE] floats, for at most OCC_NBITS_DEPTH k or one block of weights; OCC_NBITS_PANELS of
 * them are multiplied by the same part of x in turn. A part of k costs sums that are stored and loaded again, and a
 * panel that outgrows the nearest cache hardly anything, since a tile works longer on a row than the row needs. */
#define OCC_NBITS_WIDE (OCC_TILE_VECTORS * OCC_W)
#define OCC_NBITS_DEPTH 512
#define OCC_NBITS_PANELS 8

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

/* Is x turned once for all columns, into scratch? */
#define OCC_NBITS_TURNED(bits) (OCC_W > 1 && (bits) == 4)

/* The product as the kernel has it; `blocks` of a column, `bytes` of its weights, `zeros` bytes of its zero points.
 * turned: scratch for up to four rows of x, or NULL. */
typedef struct occ_nbits_call {
    float         *y;
    const float   *x;
    const uint8_t *w;
    const float   *scale, *zero;
    const uint8_t *packed;
    const float   *bias;
    int64_t        rows, columns, k, block, bits, ystride, blocks, bytes, zeros;
    float         *turned;
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

/* The elements of x that are multiplied with the weights that the lower and the upper halves of a vector of bytes hold:
 * each second one, and the others. Of x turned they are a vector each. Elements from `left` on are not read. */
OCC_HOT occ_vf occ_nbits_half(const float *x, int64_t left, int bits, int turned, int upper)
{
    if (turned)
        return occ_vload(x + upper * OCC_W, OCC_W);
    const occ_vf a = occ_nbits_load(x, left);
    const occ_vf c = bits == 4 ? occ_nbits_load(x + OCC_W, left - OCC_W) : occ_vset(0.0f);
    return bits == 8 ? (upper ? c : a) : upper ? occ_vodd(a, c) : occ_veven(a, c);
}

/* total[row][column] += scale * the sum of x * (w - zero) over block b of columns n, n + 1, ...
 * `bits` (4 or 8), rows and columns are literals. `left`: elements of x in the block, at least 1; pitch: of a row.
 * The zero point is zero[column][at], or the middle of the range without any; it is subtracted before the sum, which
 * would lose bits by large terms that cancel. */
OCC_HOT void occ_nbits_block(const occ_nbits_call *g, occ_vf *total, const float *x, int64_t pitch, int64_t n,
                             int64_t b, int64_t left, const float *const *zero, int64_t at, int bits, int rows,
                             int columns)
{
    const uint8_t *w = g->w + n * g->bytes + b * (g->block * bits / 8);
    const float   *scale = g->scale + n * g->blocks + b;
    const int plain = !g->zero && !g->packed, middle = plain ? 1 << (bits - 1) : 0, turned = OCC_NBITS_TURNED(bits);
    occ_vf    part[8];

    OCC_UNROLL(8)
    for (int i = 0; i < rows * columns; i++)
        part[i] = occ_vset(0.0f);
    for (int64_t i = 0; i < g->block; i += OCC_NBITS_STEP(bits), w += OCC_W) {
        occ_vf first[4], second[4];
        OCC_UNROLL(4)
        for (int r = 0; r < rows; r++) {
            first[r] = occ_nbits_half(x + r * pitch + i, left - i, bits, turned, 0);
            second[r] = occ_nbits_half(x + r * pitch + i, left - i, bits, turned, 1);
        }
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++) {
            const occ_vi bytes = occ_viload_bytes(w + c * g->bytes, OCC_W, 0);
            occ_vf       low = occ_vfrom_int((bits == 4 ? bytes & 15 : bytes) - middle);
            occ_vf       high = occ_vfrom_int((bytes >> 4) - middle);
            if (!plain) {
                low = low - occ_vset(zero[c][at]);
                high = high - occ_vset(zero[c][at]);
            }
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
    const int     turned = OCC_NBITS_TURNED(bits);
    const int64_t full = turned ? g->blocks : g->k / g->block, pitch = turned ? g->blocks * g->block : g->k;
    const float  *x = turned ? g->turned : g->x + r * g->k;
    float        *y = g->y + r * g->ystride + n;
    occ_vf        total[8];

    OCC_UNROLL(8)
    for (int i = 0; i < 8; i++)
        total[i] = occ_vset(0.0f);
    for (int64_t b = 0; b < g->blocks; b += OCC_NBITS_ZEROS) {
        const int64_t count = occ_min(g->blocks - b, OCC_NBITS_ZEROS), whole = occ_min(full - b, count);
        const float  *zero[4] = {NULL, NULL, NULL, NULL};
        float         room[4][OCC_NBITS_ZEROS];
        OCC_UNROLL(4)
        for (int c = 0; c < columns; c++)
            if (g->zero || g->packed)
                zero[c] = occ_nbits_zeros(g, room[c], n + c, b, count);
        for (int64_t i = 0; i < whole; i++)
            occ_nbits_block(g, total, x + (b + i) * g->block, pitch, n, b + i, g->block, zero, i, bits, rows, columns);
        for (int64_t i = whole; i < count; i++)
            occ_nbits_block(g, total, x + (b + i) * g->block, pitch, n, b + i, g->k - (b + i) * g->block, zero, i, bits,
                            rows, columns);
    }
    for (int i = 0; i < rows * columns; i += 4) {
        float sum[4];
        occ_nbits_sums(sum, total + i);
        for (int k = 0; k < occ_min(4, rows * columns - i); k++)
            y[(i + k) / columns * g->ystride + (i + k) % columns] =
                sum[k] + (g->bias ? g->bias[n + (i + k) % columns] : 0.0f);
    }
}

/* Some rows of x, from row r on, turned: in each part of two vectors, first each second element, then the others. Rows
 * are filled up with zeros to whole blocks. */
OCC_HOT void occ_nbits_turn(const occ_nbits_call *g, int64_t r, int rows)
{
    const int64_t pitch = g->blocks * g->block;

    for (int i = 0; i < rows; i++)
        for (int64_t k = 0; k < pitch; k += 2 * OCC_W) {
            const float *x = g->x + (r + i) * g->k + k;
            occ_vstore(g->turned + i * pitch + k, occ_nbits_half(x, g->k - k, 4, 0, 0), OCC_W);
            occ_vstore(g->turned + i * pitch + k + OCC_W, occ_nbits_half(x, g->k - k, 4, 0, 1), OCC_W);
        }
}

/* All columns of some rows (literal, as is `bits`) from row r on, `columns` (literal) at a time. */
OCC_HOT void occ_nbits_columns(const occ_nbits_call *g, int64_t r, int bits, int rows, int columns)
{
    int64_t n = 0;

    if (OCC_NBITS_TURNED(bits))
        occ_nbits_turn(g, r, rows);
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

/* One tile: rows r to r + rows - 1 by `width` columns from column n on, k from `begin` to end - 1. Its sums begin with
 * the bias, and are in y between one part of k and the next. vectors (of columns) and rows are literals. */
OCC_HOT void occ_nbits_part(const occ_nbits_call *g, const float *panel, int64_t r, int64_t n, int64_t width,
                            int64_t begin, int64_t end, int vectors, int rows)
{
    const int    lanes = (int)(width - (vectors - 1) * OCC_W);
    const float *next = panel, *from = begin > 0 ? g->y + r * g->ystride + n : g->bias ? g->bias + n : NULL;
    float       *y = g->y + r * g->ystride + n;
    occ_vf       acc[OCC_TILE_MAX];

#if OCC_OPEN_EXTENTS
    OCC_FREE_VECTORS();
#endif
    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++)
        OCC_UNROLL(2)
    for (int v = 0; v < vectors; v++)
        acc[i * vectors + v] =
            from ? occ_vload(from + (begin > 0 ? i * g->ystride : 0) + v * OCC_W, v == vectors - 1 ? lanes : OCC_W)
                 : occ_vset(0.0f);
    occ_tile_run(acc, g->x + r * g->k + begin, 1, 0, g->k, panel, OCC_NBITS_WIDE, 0, end - begin, 1, rows, rows,
                 vectors, OCC_W, &next, 0);
    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++)
        OCC_UNROLL(2)
    for (int v = 0; v < vectors; v++)
        occ_vstore(y + i * g->ystride + v * OCC_W, acc[i * vectors + v], v == vectors - 1 ? lanes : OCC_W);
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
 *   panel: scratch, or NULL: each line of weights is decoded for itself. Floats: for more than 8 rows 32 times the most
 *          of 512 and block, or 32 k where that is less; for fewer rows and 4 bits, the blocks of four rows of x */
OCC_INLINE void occ_matmul_nbits_f32(float *y, const float *x, const uint8_t *w, const float *scale, const float *zero,
                                     const uint8_t *packed, const int32_t *group, const float *bias, float *panel,
                                     const occ_nbits *form)
{
    const int64_t        blocks = (form->k + form->block - 1) / form->block, bits = form->bits, rows = form->rows;
    const int64_t        columns = form->columns;
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
                              (blocks * bits + 7) / 8,
                              panel};

    if (panel && !group && rows > OCC_NBITS_FEW) {
        occ_nbits_panels(&g, panel);
    } else if (!group && bits == 4 && form->block % OCC_NBITS_STEP(4) == 0 && (panel || OCC_W == 1)) {
        occ_nbits_rows(&g, 4);
    } else if (!group && bits == 8 && form->block % OCC_NBITS_STEP(8) == 0) {
        occ_nbits_rows(&g, 8);
    } else {
        occ_nbits_lines(&g, group);
    }
}
