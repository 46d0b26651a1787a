/* occ_nbits.h - weights of 2, 4 or 8 bits, decoded from memory where they stay packed. */
#ifndef OCC_NBITS_H
#define OCC_NBITS_H

#include "occ_bytes.h"

/* OCC_NBITS_FEW: rows for which weights are decoded again for every four. OCC_NBITS_ZEROS: blocks whose zero points
 * are decoded together. */
#define OCC_NBITS_FEW 8
#define OCC_NBITS_ZEROS 64

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

#if OCC_W == 16 && defined(__AVX512F__) && !defined(OCC_FORCE_WIDTH)
#define OCC_NBITS_TABLE 1 /* an instruction looks 16 integers of four bits up in a vector */
#else
#define OCC_NBITS_TABLE 0
#endif

/* The element of the table, a vector, for each integer; bits above those that number its lanes do not count. */
OCC_HOT occ_vf occ_nbits_pick(occ_vf table, occ_vi at)
{
#if OCC_NBITS_TABLE || defined(OCC_BYTES_AVX2)
    occ_vf v;
    __asm__("vpermps %2, %1, %0" : "=v"(v) : "v"(at), "v"(table));
    return v;
#elif OCC_W > 1
    for (int i = 0; i < OCC_W; i++)
        at[i] = occ_vbits(table)[at[i] & (OCC_W - 1)];
    return occ_vfrom_bits(at);
#else
    (void)at;
    return table;
#endif
}

/* Decodes two weights from each byte, a vector of bytes at a time. */
OCC_HOT void occ_nbits_decode_four(float *to, const uint8_t *from, int64_t count, occ_vf zero, occ_vf scale)
{
    const occ_vf table = (occ_vfrom_int(occ_viota()) - zero) * scale;

    for (int64_t i = 0; i < count; i += 2 * OCC_W) {
        const int64_t left = (count - i) / 2;
        const occ_vi  two = occ_viload_bytes(from + i / 2, left < OCC_W ? (int)left : OCC_W, 0);
        occ_vf        low, high;

        if (OCC_NBITS_TABLE) {
            low = occ_nbits_pick(table, two);
            high = occ_nbits_pick(table, two >> 4);
        } else {
            low = (occ_vfrom_int(two & 15) - zero) * scale;
            high = (occ_vfrom_int(two >> 4) - zero) * scale;
        }

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

/* The sizes of a product: y [rows][columns], ystride elements between rows; k weights of `bits` bits for each column;
 * `block` weights share a scale. */
typedef struct occ_nbits {
    int64_t rows, columns, k, block, bits, ystride;
} occ_nbits;

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

/* Stores sums of some rows from row r on, and of some columns from column n on, with the bias. Each is the sum of all
 * lanes of total[row * columns + column]; rows and columns are literals. */
OCC_HOT void occ_nbits_results(const occ_nbits_call *g, const occ_vf *total, int64_t r, int64_t n, int rows,
                               int columns)
{
    const int some = OCC_W < 4 ? OCC_W : 4;
    float    *y = g->y + r * g->ystride + n;
    OCC_UNROLL(8)
    for (int i = 0; i < rows * columns; i += some) {
        float  sum[4];
        occ_vf part[4]; /* a copy: `total` stays in registers */
        OCC_UNROLL(4)
        for (int k = 0; k < some; k++)
            part[k] = total[i + k];
        occ_vstore(sum, occ_vsums(part, some), some);
        for (int k = 0; k < occ_min(some, rows * columns - i); k++)
            y[(i + k) / columns * g->ystride + (i + k) % columns] =
                sum[k] + (g->bias ? g->bias[n + (i + k) % columns] : 0.0f);
    }
}

#endif
