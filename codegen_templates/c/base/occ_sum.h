/* occ_sum.h - the checksum of weights: 64 bits over four lanes of multiply-and-shift, as fast as memory is read. It
 * detects each single wrong word of 8 bytes, and other accidents but for one in 2^64. It does not protect against
 * forgery. */
#ifndef OCC_SUM_H
#define OCC_SUM_H

#include "occ_base.h"

/* Mixes a word into a lane. The function is one to one in `lane` and in `word`, so a difference in either is never
 * lost. */
OCC_HOT uint64_t occ_sum_mix(uint64_t lane, uint64_t word)
{
    lane = (lane ^ word) * 0x9e3779b97f4a7c15U;
    return lane ^ lane >> 32;
}

/* Mixes `blocks` blocks of 32 bytes into four lanes: one word of each block per lane, in this processor's byte
 * order. */
OCC_INLINE void occ_sum_blocks(uint64_t *lane, const void *data, uint64_t blocks)
{
    const unsigned char *at = (const unsigned char *)data;
    uint64_t             a = lane[0], b = lane[1], c = lane[2], d = lane[3];

    for (; blocks; blocks--, at += 32) {
        uint64_t word[4];

        memcpy(word, at, sizeof word);
        a = occ_sum_mix(a, word[0]);
        b = occ_sum_mix(b, word[1]);
        c = occ_sum_mix(c, word[2]);
        d = occ_sum_mix(d, word[3]);
    }
    lane[0] = a;
    lane[1] = b;
    lane[2] = c;
    lane[3] = d;
}

/* Starts the lanes. before: 0, or the checksum of the bytes in front of these. */
OCC_HOT void occ_sum_begin(uint64_t *lane, uint64_t before)
{
    for (int i = 0; i < 4; i++)
        lane[i] = occ_sum_mix(before, (uint64_t)i + 1U);
}

/* Finishes the checksum of `bytes` bytes. The lanes have taken all but the last bytes % 32, which are at `rest`. */
OCC_INLINE uint64_t occ_sum_end(uint64_t *lane, const void *rest, uint64_t bytes)
{
    unsigned char last[32] = {0};
    uint64_t      sum = bytes;

    if (bytes % 32U) {
        memcpy(last, rest, (size_t)(bytes % 32U));
        occ_sum_blocks(lane, last, 1);
    }
    for (int i = 0; i < 4; i++)
        sum = occ_sum_mix(sum, lane[i]);
    return sum;
}

/* The checksum of `bytes` bytes that follow bytes with checksum `before` (0: none). */
OCC_INLINE uint64_t occ_sum(uint64_t before, const void *data, uint64_t bytes)
{
    uint64_t lane[4];

    occ_sum_begin(lane, before);
    occ_sum_blocks(lane, data, bytes / 32U);
    return occ_sum_end(lane, (const unsigned char *)data + bytes / 32U * 32U, bytes);
}

#endif
