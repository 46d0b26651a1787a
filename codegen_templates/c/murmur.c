/* murmur.c - MurmurHash3 (Austin Appleby, x86, 32 bits) of elements. */
#include "occ_text.h"

#ifndef TPL_T
#define TPL_T int64_t
#define TPL_N i64
#define TPL_T2 uint32_t
#define TPL_N2 u32
#define occ_hashed_TPL_N occ_hashed_i64
#endif

OCC_HOT uint32_t occ_rotated(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

OCC_HOT uint32_t occ_murmur_mix(uint32_t k)
{
    return occ_rotated(k * 0xcc9e2d51u, 15) * 0x1b873593u;
}

OCC_HOT uint32_t occ_murmur_hash(const unsigned char *x, int64_t bytes, uint32_t seed)
{
    uint32_t h = seed, k = 0;
    int64_t  i = 0;
    for (; i + 4 <= bytes; i += 4) {
        k = (uint32_t)x[i] | (uint32_t)x[i + 1] << 8 | (uint32_t)x[i + 2] << 16 | (uint32_t)x[i + 3] << 24;
        h = occ_rotated(h ^ occ_murmur_mix(k), 13) * 5 + 0xe6546b64u;
    }
    k = 0;
    for (int shift = 0; i < bytes; i++, shift += 8)
        k |= (uint32_t)x[i] << shift;
    h ^= occ_murmur_mix(k) ^ (uint32_t)bytes;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return h ^ h >> 16;
}

OCC_HOT uint32_t occ_hashed_text(const occ_text *x, uint32_t seed)
{
    return occ_murmur_hash((const unsigned char *)*x, occ_text_bytes(*x), seed);
}

OCC_HOT uint32_t occ_hashed_i32(const int32_t *x, uint32_t seed)
{
    return occ_murmur_hash((const unsigned char *)x, 4, seed);
}

OCC_HOT uint32_t occ_hashed_u32(const uint32_t *x, uint32_t seed)
{
    return occ_murmur_hash((const unsigned char *)x, 4, seed);
}

OCC_HOT uint32_t occ_hashed_i64(const int64_t *x, uint32_t seed)
{
    return occ_murmur_hash((const unsigned char *)x, 8, seed);
}

OCC_HOT uint32_t occ_hashed_u64(const uint64_t *x, uint32_t seed)
{
    return occ_murmur_hash((const unsigned char *)x, 8, seed);
}

OCC_HOT uint32_t occ_hashed_f32(const float *x, uint32_t seed)
{
    return occ_murmur_hash((const unsigned char *)x, 4, seed);
}

OCC_HOT uint32_t occ_hashed_f64(const double *x, uint32_t seed)
{
    return occ_murmur_hash((const unsigned char *)x, 8, seed);
}

/* murmur - y[i] = the hash of the bytes of x[i]; x, y [n] */
OCC_INLINE void occ_murmur_TPL_N_TPL_N2(const TPL_T *x, TPL_T2 *y, int64_t n, int64_t seed)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (TPL_T2)occ_hashed_TPL_N(&x[i], (uint32_t)seed);
}
