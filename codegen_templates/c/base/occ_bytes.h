/* occ_bytes.h - loads and stores of vectors: bytes of memory are widened to 32-bit integers or to floats, and cut to
 * their low bytes when stored. Each handles n lanes, 1 <= n <= OCC_W; loads fill the lanes from n on with 0. Knows
 * nothing of kernels. */
#ifndef OCC_BYTES_H
#define OCC_BYTES_H

#include "occ_vec.h"

#if OCC_W > 1
typedef uint8_t occ_vb __attribute__((vector_size(OCC_W)));
typedef int8_t  occ_vsb __attribute__((vector_size(OCC_W)));
typedef char    occ_vc __attribute__((vector_size(4 * OCC_W)));
typedef int32_t occ_viu __attribute__((vector_size(4 * OCC_W), aligned(1), may_alias));
#elif defined(__GNUC__)
typedef int32_t occ_viu __attribute__((aligned(1), may_alias)); /* copies are calls on small processors */
#endif
#if OCC_W == 8 && defined(__AVX2__) && !defined(OCC_FORCE_WIDTH)
#define OCC_BYTES_AVX2 /* compilers generate long code for vectors of 8 bytes */
typedef int64_t occ_v64 __attribute__((vector_size(4 * OCC_W)));
#endif
#if OCC_W == 16 && defined(__AVX512F__) && !defined(OCC_FORCE_WIDTH)
#define OCC_BYTES_AVX512 /* compilers also generate long code for widening 16 bytes */
typedef char occ_v16c __attribute__((vector_size(16)));
#endif

#if OCC_W > 1
/* The first n bytes, 1 <= n <= 8, of a word whose others are 0. Put together one by one in memory, they would keep the
 * processor waiting for the last of them. Example: 5 bytes are the first four, and the last four shifted by one. */
OCC_HOT uint64_t occ_bytes_word(const uint8_t *p, int n)
{
    uint64_t all;
    uint32_t low, high;
    uint16_t two;
    if (n == 8) {
        memcpy(&all, p, 8);
        return all;
    }
    if (n >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        return low | (uint64_t)high << 8 * (n - 4);
    }
    if (n == 1)
        return p[0];
    memcpy(&two, p, 2);
    return n == 2 ? two : two | (uint64_t)p[2] << 16;
}
#endif

/* Loads bytes as integers. */
OCC_HOT occ_vi occ_viload_bytes(const uint8_t *p, int n, int is_signed)
{
#if OCC_W == 1
    (void)n;
    return is_signed ? (int8_t)*p : *p;
#else
    uint8_t some[OCC_W] = {0};
#if defined(OCC_BYTES_AVX512)
    if (n < OCC_W) {
        const unsigned short lanes = OCC_FIRST_LANES(n);
        occ_vi               v;
        if (is_signed)
            __asm__("vpmovsxbd %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const uint8_t(*)[OCC_W])p), "Yk"(lanes));
        else
            __asm__("vpmovzxbd %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const uint8_t(*)[OCC_W])p), "Yk"(lanes));
        return v;
    }
#endif
    for (int i = 0; n < OCC_W && i < n; i += 8) {
        const uint64_t word = occ_bytes_word(p + i, n - i > 8 ? 8 : n - i);
        memcpy(some + i, &word, OCC_W < 8 ? OCC_W : 8);
    }
    p = n < OCC_W ? some : p;
    {
#if defined(OCC_BYTES_AVX2) || defined(OCC_BYTES_AVX512)
        occ_vi v;
        if (is_signed)
            __asm__("vpmovsxbd %1, %0" : "=v"(v) : "m"(*(const uint8_t(*)[OCC_W])p));
        else
            __asm__("vpmovzxbd %1, %0" : "=v"(v) : "m"(*(const uint8_t(*)[OCC_W])p));
        return v;
#else
        occ_vb b;
        OCC_COPY(&b, p, OCC_W);
        if (is_signed)
            return __builtin_convertvector((occ_vsb)b, occ_vi);
        return __builtin_convertvector(b, occ_vi);
#endif
    }
#endif
}

/* Stores the low byte of each lane. */
OCC_HOT void occ_vistore_bytes(uint8_t *p, occ_vi v, int n)
{
#if OCC_W == 1
    (void)n;
    *p = (uint8_t)v;
#else
#if defined(OCC_BYTES_AVX512)
    if (n < OCC_W) {
        __builtin_ia32_pmovdb512mem_mask((occ_v16c *)(void *)p, v, OCC_FIRST_LANES(n));
        return;
    }
#endif
    uint8_t       some[OCC_W];
    uint8_t      *to = n < OCC_W ? some : p;
#if defined(OCC_BYTES_AVX2)
    const occ_vc  low = {0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                         0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const occ_vi  halves = {0, 4, 0, 0, 0, 0, 0, 0};
    const occ_v64 b = (occ_v64)__builtin_ia32_permvarsi256((occ_vi)__builtin_ia32_pshufb256((occ_vc)v, low), halves);
    const int64_t word = b[0];
    OCC_COPY(to, &word, OCC_W);
#else
    const occ_vb b = __builtin_convertvector(v, occ_vb);
    OCC_COPY(to, &b, OCC_W);
#endif
    for (int i = 0; n < OCC_W && i < n; i++)
        p[i] = some[i];
#endif
}

/* Loads 32-bit integers. */
OCC_HOT occ_vi occ_viload(const int32_t *p, int n)
{
#if OCC_W == 1 && defined(__GNUC__)
    (void)n;
    return *(const occ_viu *)(const void *)p;
#elif OCC_W == 1
    occ_vi v;
    (void)n;
    memcpy(&v, p, sizeof v);
    return v;
#else
#if !defined(OCC_BYTES_AVX2)
    occ_vi v = {0};
#endif
    if (n == OCC_W)
        return *(const occ_viu *)(const void *)p;
#if defined(OCC_BYTES_AVX512)
    return __builtin_ia32_loaddqusi512_mask(p, v, OCC_FIRST_LANES(n));
#elif defined(OCC_BYTES_AVX2)
    return __builtin_ia32_maskloadd256((const occ_vi *)(const void *)p, occ_vmask_first(n));
#else
    OCC_COPY(&v, p, (size_t)n * sizeof *p);
    return v;
#endif
#endif
}

/* Loads of integers as floats, for expressions. */
OCC_HOT occ_vf occ_vload_u8(const uint8_t *p, int n)
{
    return occ_vfrom_int(occ_viload_bytes(p, n, 0));
}

OCC_HOT occ_vf occ_vload_i8(const int8_t *p, int n)
{
    return occ_vfrom_int(occ_viload_bytes((const uint8_t *)p, n, 1));
}

OCC_HOT occ_vf occ_vload_bool(const uint8_t *p, int n)
{
    return occ_vload_u8(p, n);
}

OCC_HOT occ_vf occ_vload_i32(const int32_t *p, int n)
{
    return occ_vfrom_int(occ_viload(p, n));
}

/* Loads as floats of integers that are `stride` apart. */
OCC_HOT occ_vf occ_vloads_u8(const uint8_t *p, int64_t stride, int n)
{
    float lane[OCC_W] = {0};
    if (n == OCC_W) {
        const occ_vi v = {OCC_STRIDED(p, stride)};
        return occ_vfrom_int(v);
    }
    for (int i = 0; i < n && i < OCC_W; i++)
        lane[i] = (float)p[i * stride];
    return occ_vload(lane, OCC_W);
}

OCC_HOT occ_vf occ_vloads_i8(const int8_t *p, int64_t stride, int n)
{
    float lane[OCC_W] = {0};
    if (n == OCC_W) {
        const occ_vi v = {OCC_STRIDED(p, stride)};
        return occ_vfrom_int(v);
    }
    for (int i = 0; i < n && i < OCC_W; i++)
        lane[i] = (float)p[i * stride];
    return occ_vload(lane, OCC_W);
}

OCC_HOT occ_vf occ_vloads_bool(const uint8_t *p, int64_t stride, int n)
{
    return occ_vloads_u8(p, stride, n);
}

OCC_HOT occ_vf occ_vloads_i32(const int32_t *p, int64_t stride, int n)
{
    float lane[OCC_W] = {0};
    if (n == OCC_W) {
        const occ_vi v = {OCC_STRIDED(p, stride)};
        return occ_vfrom_int(v);
    }
    for (int i = 0; i < n && i < OCC_W; i++)
        lane[i] = (float)p[i * stride];
    return occ_vload(lane, OCC_W);
}

/* Clamps lanes to [lo, hi] and rounds them towards zero; NaN becomes 0. */
OCC_HOT occ_vi occ_vclamp_int(occ_vf v, float lo, float hi)
{
    v = occ_vpick(occ_vmask_nan(v), occ_vset(0.0f), v);
    return occ_vto_int(occ_vat_most(occ_vat_least(v, occ_vset(lo)), occ_vset(hi)));
}

OCC_HOT void occ_vstore_u8(uint8_t *p, occ_vf v, int n)
{
    occ_vistore_bytes(p, occ_vclamp_int(v, 0.0f, 255.0f), n);
}

OCC_HOT void occ_vstore_i8(int8_t *p, occ_vf v, int n)
{
    occ_vistore_bytes((uint8_t *)p, occ_vclamp_int(v, -128.0f, 127.0f), n);
}

/* The values that v has after it is stored as bytes and loaded again. */
OCC_HOT occ_vf occ_vcut_u8(occ_vf v)
{
    return occ_vfrom_int(occ_vclamp_int(v, 0.0f, 255.0f));
}

OCC_HOT occ_vf occ_vcut_i8(occ_vf v)
{
    return occ_vfrom_int(occ_vclamp_int(v, -128.0f, 127.0f));
}

/* Stores 1 for each lane that is not zero, else 0. NaN is not zero. */
OCC_HOT void occ_vstore_bool(uint8_t *p, occ_vf v, int n)
{
    occ_vi zero = occ_vmask_eq(v, occ_vset(0.0f));
#if OCC_W == 1
    (void)n;
    *p = (uint8_t)(zero + 1);
#else
    for (int k = 0; k < n; k++)
        p[k] = (uint8_t)(zero[k] + 1);
#endif
}

OCC_HOT void occ_vstore_f32(float *p, occ_vf v, int n)
{
    occ_vstore(p, v, n);
}

#endif
