/* sha256.c - the SHA-256 digest as FIPS 180-4 words it. */
#include "support/sha256.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86_ROUNDS 1
#include <cpuid.h>
#include <immintrin.h>
#else
#define HAS_X86_ROUNDS 0
#endif

static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* One round; the eight letters trade places at the call instead of moving. */
static inline void turn(uint32_t *d, uint32_t *h, const uint32_t abc[3], const uint32_t efg[3], uint32_t k)
{
    uint32_t sum1 = rotate(efg[0], 6) ^ rotate(efg[0], 11) ^ rotate(efg[0], 25);
    uint32_t t1 = *h + sum1 + (efg[2] ^ (efg[0] & (efg[1] ^ efg[2]))) + k;
    uint32_t sum0 = rotate(abc[0], 2) ^ rotate(abc[0], 13) ^ rotate(abc[0], 22);

    *d += t1;
    *h = t1 + sum0 + ((abc[0] & abc[1]) | (abc[2] & (abc[0] | abc[1])));
}

static void schedule(uint32_t w[64], const uint8_t *block)
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t low = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
}

static void take_blocks(uint32_t state[8], const uint8_t *block, size_t count)
{
    for (; count; count--, block += 64) {
        uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5],
                        g = state[6], h = state[7];
        schedule(w, block);
#define TURN(a, b, c, d, e, f, g, h, i) \
    turn(&d, &h, (const uint32_t[]){a, b, c}, (const uint32_t[]){e, f, g}, round_constant[i] + w[i])
        for (int i = 0; i < 64; i += 8) {
            TURN(a, b, c, d, e, f, g, h, i);
            TURN(h, a, b, c, d, e, f, g, i + 1);
            TURN(g, h, a, b, c, d, e, f, i + 2);
            TURN(f, g, h, a, b, c, d, e, i + 3);
            TURN(e, f, g, h, a, b, c, d, i + 4);
            TURN(d, e, f, g, h, a, b, c, i + 5);
            TURN(c, d, e, f, g, h, a, b, i + 6);
            TURN(b, c, d, e, f, g, h, a, i + 7);
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

#if HAS_X86_ROUNDS
static bool has_instructions(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3) &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

/* take_blocks with the processor's instructions for SHA: two rounds at a time, on the letters ABEF and CDGH (highest
 * first). */
__attribute__((target("sha,sse4.1,ssse3"))) static void take_blocks_fast(uint32_t state[8], const uint8_t *block,
                                                                         size_t count)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i       abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i       cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);

    for (; count; count--, block += 64) {
        __m128i w[16], old_abef = abef, old_cdgh = cdgh;
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i)), swap);
        for (int i = 4; i < 16; i++)
            w[i] = _mm_sha256msg2_epu32(
                _mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]), _mm_alignr_epi8(w[i - 1], w[i - 2], 4)),
                w[i - 1]);
        for (int i = 0; i < 16; i++) {
            __m128i sum = _mm_add_epi32(w[i], _mm_loadu_si128((const __m128i *)(const void *)(round_constant + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        abef = _mm_add_epi32(abef, old_abef);
        cdgh = _mm_add_epi32(cdgh, old_cdgh);
    }
    state[0] = (uint32_t)_mm_extract_epi32(abef, 3), state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
    state[4] = (uint32_t)_mm_extract_epi32(abef, 1), state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
    state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3), state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
    state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1), state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}
#else
static bool has_instructions(void)
{
    return false;
}

#define take_blocks_fast take_blocks
#endif

void sha256(const void *data, size_t bytes, uint8_t digest[32])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t   whole = bytes / 64 * 64, rest = bytes - whole, tail_bytes = rest < 56 ? 64 : 128;
    uint8_t  tail[128] = {0};

    (has_instructions() ? take_blocks_fast : take_blocks)(state, data, whole / 64);
    if (rest)
        memcpy(tail, (const uint8_t *)data + whole, rest);
    tail[rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        tail[tail_bytes - 1 - i] = (uint8_t)((uint64_t)bytes * 8 >> 8 * i);
    take_blocks(state, tail, tail_bytes / 64);
    for (int i = 0; i < 32; i++)
        digest[i] = (uint8_t)(state[i / 4] >> (24 - i % 4 * 8));
}
