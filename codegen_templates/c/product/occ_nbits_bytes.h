/* occ_nbits_bytes.h - rows of x rounded to bytes, and dot products of these bytes with weights of 4 bits.
 *
 * A row has a byte for each place, as many as blocks fill, rounded up to 128. Behind these it has two floats for each
 * block, rounded up likewise: scales, and what a zero point of 1 with a scale of 1 adds, minus the scale times the sum
 * of the bytes. Example: 40 places in blocks of 32 take 128 bytes and 16 of floats, a row 256 bytes.
 * The bytes are in the order in which weights are expanded: of 8 * OCC_W places, first the even ones, then the odd
 * ones, four bytes a word. A word of weights shifted and masked has the same order. */
#ifndef OCC_NBITS_BYTES_H
#define OCC_NBITS_BYTES_H

#include "occ_nbits.h"
#include "occ_put.h"

/* Words of eight weights whose products with x fit 16 bits: 16 * 15 * 127 = 30,480. */
#define OCC_NBITS_RUN 4

/* Bytes that hold the places of a row, and all bytes of a row. */
OCC_HOT int64_t occ_nbits_places(int64_t k, int64_t block)
{
    return occ_ceil_div(occ_ceil_div(k, block) * block, 128) * 128;
}

OCC_HOT int64_t occ_nbits_row(int64_t k, int64_t block)
{
    return occ_nbits_places(k, block) + occ_ceil_div(occ_ceil_div(k, block) * 8, 128) * 128;
}

/* Rows of x as bytes, `pitch` apart, with what each has for its blocks. */
typedef struct occ_nbits_bytes {
    const uint8_t *q;
    const float   *scale, *zero;
    int64_t        pitch;
} occ_nbits_bytes;

/* The rows from row r on. */
OCC_HOT occ_nbits_bytes occ_nbits_bytes_from(const occ_nbits_bytes *x, int64_t r)
{
    const occ_nbits_bytes from = {x->q + r * x->pitch, x->scale + r * (x->pitch / 4), x->zero + r * (x->pitch / 4),
                                  x->pitch};
    return from;
}

/* ------------------------------------------------------------------------------------------ dot products of bytes */

#if !defined(OCC_DOT_FOUR) && !defined(OCC_FORCE_WIDTH) && \
    ((OCC_W == 16 && defined(__AVX512BW__)) || (OCC_W == 8 && defined(__AVX2__)))
#define OCC_NBITS_PAIRS 1 /* sums of two products in 16 bits, which hold OCC_NBITS_RUN words */
#else
#define OCC_NBITS_PAIRS 0
#endif

/* acc + the products of four weights, below 16, with four bytes of x in each lane. */
OCC_HOT occ_vi occ_nbits_dot(occ_vi acc, occ_vi w, occ_vi x)
{
#if OCC_NBITS_PAIRS
    occ_vi pairs;
    __asm__("vpmaddubsw %2, %1, %0" : "=v"(pairs) : "v"(w), "v"(x));
    return (occ_vi)((occ_vh)acc + (occ_vh)pairs);
#else
    return occ_dot(acc, occ_quads_of(w, 0, OCC_DOT_SAFE), occ_quads_of(x, 1, OCC_DOT_SAFE), OCC_DOT_SAFE);
#endif
}

/* The sum of such products in each lane. */
OCC_HOT occ_vi occ_nbits_dotted(occ_vi acc)
{
#if OCC_NBITS_PAIRS
    return occ_dot_words(acc, occ_viset(0x00010001));
#else
    return acc;
#endif
}

/* The lower or (upper: 1) the upper weight of each byte. */
OCC_HOT occ_vi occ_nbits_nibbles(occ_vi bytes, int upper)
{
    return (upper ? bytes >> 4 : bytes) & occ_viset(0x0f0f0f0f);
}

/* Four bytes for each lane, from one of the two halves of those that meet words `at` to at + OCC_W - 1 of weights. */
OCC_HOT occ_vi occ_nbits_bytes_at(const uint8_t *q, int64_t at, int upper)
{
    return occ_viload((const int32_t *)(const void *)(q + at * 8 + upper * 4 * OCC_W), OCC_W);
}

#endif
