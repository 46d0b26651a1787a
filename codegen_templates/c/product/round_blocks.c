/* round_blocks.c - rows of floats rounded to bytes, for products with weights of 4 bits.
 *
 * Each block of a row, of as many places as weights share a scale, is rounded to -127 to 127 with a scale of its own,
 * largest / 127 ("Q8", as ONNX Runtime does for accuracy_level 4). Example: 3 and -1 with the scale 3 / 127 are the
 * bytes 127 and -42. */
#include "occ_nbits_bytes.h"

/* Blocks whose largest value is below this are zero: their scale has no reciprocal. */
#define OCC_NBITS_LEAST 1e-34f

/* Blocks that are rounded together. */
#define OCC_NBITS_BLOCKS (OCC_W < 4 ? OCC_W : 4)

/* One row of bytes, as occ_nbits_bytes.h has it. */
typedef struct occ_nbits_row_bytes {
    uint8_t *q;
    float   *scale, *zero;
    int64_t  places;
} occ_nbits_row_bytes;

/* The larger of each two integers. */
OCC_HOT occ_vi occ_nbits_larger(occ_vi a, occ_vi b)
{
    return occ_vbits(occ_vpick(a > b, occ_vfrom_bits(a), occ_vfrom_bits(b)));
}

/* The magnitudes of a block of n floats as integers, the largest of each lane: the bits of magnitudes are in order, NaN
 * is above all. */
OCC_HOT occ_vi occ_nbits_magnitudes(const float *x, int64_t n)
{
    occ_vi most = occ_viset(0);
    OCC_UNROLL(4)
    for (int64_t i = 0; i < n; i += OCC_W)
        most = occ_nbits_larger(most, occ_vbits(occ_nbits_load(x + i, n - i)) & occ_viset(0x7fffffff));
    return most;
}

/* Lane i of the result: the largest lane of v[i], as occ_vsums has the sums. Changes v. */
OCC_HOT occ_vf occ_nbits_largest(occ_vi *v)
{
    occ_vf even, odd;
    OCC_UNROLL(4)
    for (int n = OCC_NBITS_BLOCKS / 2; n > 0; n /= 2) {
        OCC_UNROLL(4)
        for (int i = 0; i < n; i++) {
            even = occ_veven(occ_vfrom_bits(v[2 * i]), occ_vfrom_bits(v[2 * i + 1]));
            odd = occ_vodd(occ_vfrom_bits(v[2 * i]), occ_vfrom_bits(v[2 * i + 1]));
            v[i] = occ_nbits_larger(occ_vbits(even), occ_vbits(odd));
        }
    }
    OCC_UNROLL(4)
    for (int lanes = OCC_W; lanes > OCC_NBITS_BLOCKS; lanes /= 2) {
        even = occ_veven(occ_vfrom_bits(v[0]), occ_vfrom_bits(v[0]));
        odd = occ_vodd(occ_vfrom_bits(v[0]), occ_vfrom_bits(v[0]));
        v[0] = occ_nbits_larger(occ_vbits(even), occ_vbits(odd));
    }
    return occ_vfrom_bits(v[0]);
}

/* The largest magnitudes of `count` blocks of a row x, at most OCC_NBITS_BLOCKS, from block b on, to `top`. `inside`:
 * they are OCC_NBITS_BLOCKS, and all their elements exist; a literal. */
OCC_HOT void occ_nbits_tops(const occ_nbits_call *g, float *top, const float *x, int64_t b, int64_t count, int inside)
{
    occ_vi most[4];
    OCC_UNROLL(4)
    for (int i = 0; i < OCC_NBITS_BLOCKS; i++) {
        const int64_t first = (b + i) * g->block;
        most[i] = inside      ? occ_nbits_magnitudes(x + first, g->block)
                  : i < count ? occ_nbits_magnitudes(x + first, occ_min(g->k - first, g->block))
                              : occ_viset(0);
    }
    occ_vstore(top + b, occ_nbits_largest(most), inside ? OCC_NBITS_BLOCKS : (int)count);
}

/* Makes scales of the largest magnitudes of all blocks of a row, and the reciprocals of scales. */
OCC_HOT void occ_nbits_reciprocals(float *scale, float *by, int64_t blocks)
{
    for (int64_t b = 0; b < blocks; b += OCC_W) {
        const int    n = (int)occ_min(blocks - b, OCC_W);
        const occ_vf s = occ_vload(scale + b, n) / occ_vset(127.0f);
        occ_vstore(scale + b, s, n);
        occ_vstore(by + b, occ_vpick(occ_vmask_lt(s, occ_vset(OCC_NBITS_LEAST)), occ_vset(0.0f), occ_vset(1.0f) / s),
                   n);
    }
}

/* Rounds a block of a row x to bytes in their order; returns the sum of the bytes of each lane. */
OCC_HOT occ_vf occ_nbits_round_block(const occ_nbits_call *g, uint8_t *q, const float *x, int64_t b, occ_vf by,
                                     int inside)
{
    occ_vi sum = occ_viset(0);
    OCC_UNROLL(4)
    for (int64_t i = 0; i < g->block; i += OCC_W) {
        const int64_t k = b * g->block + i;
        const occ_vi  v =
            occ_vnear((inside ? occ_vload(x + k, OCC_W) : occ_nbits_load(x + k, g->k - k)) * by, -127.0f, 127.0f);
        occ_vistore_bytes(q + k, v, OCC_W);
        sum += v;
    }
    return occ_vfrom_int(sum);
}

/* Rounds `count` blocks, as above. to->zero has the reciprocals of scales before. */
OCC_HOT void occ_nbits_round_blocks(const occ_nbits_call *g, const occ_nbits_row_bytes *to, const float *x, int64_t b,
                                    int64_t count, int inside)
{
    const int n = inside ? OCC_NBITS_BLOCKS : (int)count;
    occ_vf    sums[4];
    OCC_UNROLL(4)
    for (int i = 0; i < OCC_NBITS_BLOCKS; i++)
        sums[i] = inside || i < count ? occ_nbits_round_block(g, to->q, x, b + i, occ_vset(to->zero[b + i]), inside)
                                      : occ_vset(0.0f);
    occ_vstore(to->zero + b, -occ_vload(to->scale + b, n) * occ_vsums(sums, OCC_NBITS_BLOCKS), n);
}

/* A vector of words, each of the even bytes of two neighbouring words of low and then high. */
OCC_HOT occ_vi occ_nbits_even_bytes(occ_vi low, occ_vi high)
{
    const occ_vf a = occ_vfrom_bits(low), b = occ_vfrom_bits(high);
    const occ_vi first = occ_vbits(occ_veven(a, b)) & occ_viset(0x00ff00ff);
    const occ_vi second = occ_vbits(OCC_W > 1 ? occ_vodd(a, b) : b) & occ_viset(0x00ff00ff);
    return ((first | first >> 8) & occ_viset(0xffff)) | occ_vshift_left(second | second >> 8, 16);
}

/* Brings the bytes of a row into the order of the weights. */
OCC_HOT void occ_nbits_turn_bytes(uint8_t *q, int64_t places)
{
    for (int64_t i = 0; i < places; i += 8 * OCC_W) {
        occ_vi low, high, even, odd;
        memcpy(&low, q + i, sizeof low);
        memcpy(&high, q + i + sizeof low, sizeof high);
        even = occ_nbits_even_bytes(low, high);
        odd = occ_nbits_even_bytes(low >> 8, high >> 8);
        memcpy(q + i, &even, sizeof even);
        memcpy(q + i + sizeof even, &odd, sizeof odd);
    }
}

/* Rounds a row x. */
OCC_HOT void occ_nbits_round_row(const occ_nbits_call *g, const occ_nbits_row_bytes *to, const float *x)
{
    const int64_t padded = g->blocks * g->block;
    const int64_t inside = g->k / g->block / OCC_NBITS_BLOCKS * OCC_NBITS_BLOCKS;

    for (int64_t b = 0; b < inside; b += OCC_NBITS_BLOCKS)
        occ_nbits_tops(g, to->scale, x, b, OCC_NBITS_BLOCKS, 1);
    for (int64_t b = inside; b < g->blocks; b += OCC_NBITS_BLOCKS)
        occ_nbits_tops(g, to->scale, x, b, occ_min(g->blocks - b, OCC_NBITS_BLOCKS), 0);
    occ_nbits_reciprocals(to->scale, to->zero, g->blocks);
    for (int64_t b = 0; b < inside; b += OCC_NBITS_BLOCKS)
        occ_nbits_round_blocks(g, to, x, b, OCC_NBITS_BLOCKS, 1);
    for (int64_t b = inside; b < g->blocks; b += OCC_NBITS_BLOCKS)
        occ_nbits_round_blocks(g, to, x, b, occ_min(g->blocks - b, OCC_NBITS_BLOCKS), 0);
    memset(to->q + padded, 0, (size_t)(to->places - padded));
    occ_nbits_turn_bytes(to->q, to->places);
}

/* round_blocks - rows of x [rows][k] as bytes, `row` apart, in blocks of `block` places. */
OCC_INLINE void occ_round_blocks(uint8_t *y, const float *x, int64_t rows, int64_t k, int64_t block, int64_t row)
{
    const occ_nbits_call g = {.k = k, .block = block, .blocks = occ_ceil_div(k, block)};
    const int64_t        places = occ_nbits_places(k, block);

    for (int64_t r = 0; r < rows; r++, y += row) {
        float                    *scale = (float *)(void *)(y + places);
        const occ_nbits_row_bytes to = {y, scale, scale + g.blocks, places};
        occ_nbits_round_row(&g, &to, x + r * k);
    }
}
