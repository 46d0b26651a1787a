/* nbits.c - products with weights of 2, 4 or 8 bits, which stay packed: a block of them at a time becomes floats. */
#include "occ_vec.h"

/* Rows of x that meet the same decoded weights; weights that are decoded together. */
#define OCC_NBITS_ROWS 4
#define OCC_NBITS_LINE 256

/* Element i of integers of `bits` bits, the lowest of each byte first. */
OCC_HOT int32_t occ_nbits_at(const uint8_t *from, int64_t i, int64_t bits)
{
    const int64_t each = 8 / bits;

    return (from[i / each] >> (i % each * bits)) & ((1 << bits) - 1);
}

/* (integer - zero) * scale of `count` weights, a multiple of 16, from the start of a byte on. */
OCC_HOT void occ_nbits_decode(float *to, const uint8_t *from, int64_t count, int64_t bits, float zero, float scale)
{
    if (bits == 8)
        for (int64_t i = 0; i < count; i++)
            to[i] = ((float)from[i] - zero) * scale;
    else if (bits == 4)
        for (int64_t i = 0; i < count; i += 2) {
            to[i] = ((float)(from[i / 2] & 15) - zero) * scale;
            to[i + 1] = ((float)(from[i / 2] >> 4) - zero) * scale;
        }
    else
        for (int64_t i = 0; i < count; i++)
            to[i] = ((float)occ_nbits_at(from, i, bits) - zero) * scale;
}

/* The zero point of block b of a column: a float, packed like the weights, or half of what the bits can say. */
OCC_HOT float occ_nbits_zero(const float *zero, const uint8_t *packed, int64_t b, int64_t bits)
{
    if (zero)
        return zero[b];
    return packed ? (float)occ_nbits_at(packed, b, bits) : (float)(1 << (bits - 1));
}

/* The same where each weight names its block of scales. */
OCC_HOT void occ_nbits_decode_by(float *to, const uint8_t *from, int64_t count, int64_t bits, const int32_t *group, const float *scale,
                                 const float *zero, const uint8_t *packed)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = ((float)occ_nbits_at(from, i, bits) - occ_nbits_zero(zero, packed, group[i], bits)) * scale[group[i]];
}

/* sum[r] += x[r] . line, for `count` places of some rows. */
OCC_HOT void occ_nbits_add(occ_vf *sum, const float *x, int64_t rows, int64_t k, const float *line, int64_t count)
{
    for (int64_t i = 0; i < count; i += OCC_W) {
        const int    lanes = count - i < OCC_W ? (int)(count - i) : OCC_W;
        const occ_vf w = occ_vload(line + i, lanes);

        for (int64_t r = 0; r < rows; r++)
            sum[r] = occ_vfma(occ_vload(x + r * k + i, lanes), w, sum[r]);
    }
}

/* matmul_nbits_f32 - y = x w + bias, column by column.
 *   y [rows][columns] of stride ystride, x [rows][k], w [columns][blocks][block * bits / 8] with blocks = ceil(k / block)
 *   scale [columns][blocks]; zero, the same, or packed [columns][ceil(blocks * bits / 8)], or neither (NULL)
 *   group [k]: the block, below `blocks`, whose scale and zero point each place has, or NULL; bias [columns] or NULL */
OCC_INLINE void occ_matmul_nbits_f32(float *y, const float *x, const uint8_t *w, const float *scale, const float *zero, const uint8_t *packed,
                                    const int32_t *group, const float *bias, int64_t rows, int64_t columns, int64_t k, int64_t block,
                                    int64_t bits, int64_t ystride)
{
    const int64_t blocks = (k + block - 1) / block, bytes = blocks * (block * bits / 8), zeros = (blocks * bits + 7) / 8;
    const int64_t piece = block < OCC_NBITS_LINE ? block : OCC_NBITS_LINE;
    float         line[OCC_NBITS_LINE];

    for (int64_t first = 0; first < rows; first += OCC_NBITS_ROWS) {
        const int64_t some = rows - first < OCC_NBITS_ROWS ? rows - first : OCC_NBITS_ROWS;

        for (int64_t n = 0; n < columns; n++) {
            const float   *by = scale + n * blocks, *zero_n = zero ? zero + n * blocks : zero;
            const uint8_t *packed_n = packed ? packed + n * zeros : packed;
            occ_vf         sum[OCC_NBITS_ROWS] = {occ_vset(0.0f), occ_vset(0.0f), occ_vset(0.0f), occ_vset(0.0f)};

            for (int64_t at = 0; at < k; at += piece) {
                const uint8_t *from = w + n * bytes + at * bits / 8;
                const int64_t  count = k - at < piece ? k - at : piece;

                if (group)
                    occ_nbits_decode_by(line, from, count, bits, group + at, by, zero_n, packed_n);
                else
                    occ_nbits_decode(line, from, piece, bits, occ_nbits_zero(zero_n, packed_n, at / block, bits), by[at / block]);
                occ_nbits_add(sum, x + first * k + at, some, k, line, count);
            }
            for (int64_t r = 0; r < some; r++)
                y[(first + r) * ystride + n] = occ_vsum_lanes(sum[r]) + (bias ? bias[n] : 0.0f);
        }
    }
}
