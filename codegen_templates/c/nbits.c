/* nbits.c - matrix products with weights of 2, 4 or 8 bits. The weights stay packed; a block of them at a time is
 * decoded to floats. */
#include "occ_bytes.h"

/* OCC_NBITS_ROWS: rows of x that are multiplied with the same decoded weights. OCC_NBITS_LINE: the most weights decoded
 * at a time. */
#define OCC_NBITS_ROWS 4
#define OCC_NBITS_LINE 256

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

/* matmul_nbits_f32 - y = x w + bias, column by column.
 *   y [rows][columns] with row stride ystride; x [rows][k]
 *   w [columns][blocks][block * bits / 8] with blocks = ceil(k / block); scale [columns][blocks]
 *   zero [columns][blocks], or packed [columns][ceil(blocks * bits / 8)], or neither (NULL)
 *   group [k]: for each of the k places its block, below `blocks`, of scale and zero point; NULL: blocks in order
 *   bias [columns] or NULL */
OCC_INLINE void occ_matmul_nbits_f32(float *y, const float *x, const uint8_t *w, const float *scale, const float *zero,
                                     const uint8_t *packed, const int32_t *group, const float *bias,
                                     const occ_nbits *form)
{
    const int64_t rows = form->rows, columns = form->columns, k = form->k, block = form->block;
    const int64_t bits = form->bits, ystride = form->ystride;
    const int64_t blocks = (k + block - 1) / block, bytes = blocks * (block * bits / 8),
                  zeros = (blocks * bits + 7) / 8;
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
                    occ_nbits_decode(line, from, piece, bits, occ_nbits_zero(zero_n, packed_n, at / block, bits),
                                     by[at / block]);
                if (some == OCC_NBITS_ROWS && count % OCC_W == 0)
                    occ_nbits_add_four(sum, x + first * k + at, k, line, count);
                else
                    occ_nbits_add(sum, x + first * k + at, some, k, line, count);
            }
            sum[0] = some == 1 ? (sum[0] + sum[1]) + (sum[2] + sum[3]) : sum[0];
            for (int64_t r = 0; r < some; r++)
                y[(first + r) * ystride + n] = occ_vsum_lanes(sum[r]) + (bias ? bias[n] : 0.0f);
        }
    }
}
