/* occ_vec.h - vectors of floats: one type whose width the instruction set decides (16, 8, 4 or 1 lanes), with lanes,
 * masks, loads and stores. Each lane gets the same bits as in the one-wide build on the same instruction set. Knows
 * nothing of kernels. */
#ifndef OCC_VEC_H
#define OCC_VEC_H

#include "occ_base.h"

/* OCC_W: lanes of a vector. occ_vf: floats. occ_vi: integers of the same size; a comparison gives 0 or -1 in each lane.
 * occ_vfu: an occ_vf in memory that is aligned as one float is. */
#if defined(OCC_ON_DEVICE)
#define OCC_W 1
#elif defined(OCC_FORCE_SCALAR) || !defined(__GNUC__) || (!defined(__clang__) && __GNUC__ < 9)
#define OCC_W 1
#elif defined(OCC_FORCE_WIDTH) /* for tests: vectors wider than the machine's, made of several of these */
#define OCC_W OCC_FORCE_WIDTH
#elif defined(__AVX512F__)
#define OCC_W 16
#elif defined(__AVX__)
#define OCC_W 8
#elif defined(__SSE2__) || (defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)) /* words are parts of vectors */
#define OCC_W 4
#else
#define OCC_W 1
#endif
#if OCC_W == 1
typedef float    occ_vf;
typedef float    occ_vfu;
typedef int32_t  occ_vi;
typedef uint32_t occ_vu; /* integers that wrap */
#else
typedef float    occ_vf __attribute__((vector_size(4 * OCC_W)));
typedef float    occ_vfu __attribute__((vector_size(4 * OCC_W), aligned(4), may_alias));
typedef int32_t  occ_vi __attribute__((vector_size(4 * OCC_W)));
typedef uint32_t occ_vu __attribute__((vector_size(4 * OCC_W)));
#endif

/* The masks of all 16 lanes, and of the first n ones, as the compiler's builtins take them. */
#if defined(__clang__)
#define OCC_ALL_LANES ((unsigned short)-1)
#else
#define OCC_ALL_LANES (-1)
#endif
#define OCC_FIRST_LANES(n) ((unsigned short)((1u << (n)) - 1))

/* Keeps a vector in a register; GCC would read it from memory again at each use. */
#if OCC_W > 1 && !defined(OCC_FORCE_WIDTH) && defined(__x86_64__)
#define OCC_HOLD(v) __asm__("" : "+v"(v))
#else
#define OCC_HOLD(v) ((void)(v))
#endif

/* --------------------------------------------------------------------------------------------- lanes and their bits */

OCC_HOT occ_vf occ_vset(float a)
{
#if OCC_W == 16
    return (occ_vf){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
#elif OCC_W == 8
    return (occ_vf){a, a, a, a, a, a, a, a};
#elif OCC_W == 4
    return (occ_vf){a, a, a, a};
#else
    return a;
#endif
}

OCC_HOT occ_vi occ_viset(int32_t a)
{
#if OCC_W == 16
    return (occ_vi){a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
#elif OCC_W == 8
    return (occ_vi){a, a, a, a, a, a, a, a};
#elif OCC_W == 4
    return (occ_vi){a, a, a, a};
#else
    return a;
#endif
}

/* a * b + c, rounded once where the instruction set can do so. The compiler does not decide: it contracts some products
 * and not others, depending on their surroundings, but the slices of a step must agree in every bit. GCC defines
 * __FP_FAST_FMAF for every processor with such an instruction; Clang does not, and has the names beside it. */
OCC_HOT occ_vf occ_vfma(occ_vf a, occ_vf b, occ_vf c)
{
#if defined(OCC_ON_DEVICE)
    return occ_fma(a, b, c);
#elif OCC_W == 16 && defined(__AVX512F__)
    return __builtin_ia32_vfmaddps512_mask(a, b, c, OCC_ALL_LANES, 4);
#elif OCC_W == 8 && defined(__FMA__)
    return __builtin_ia32_vfmaddps256(a, b, c);
#elif OCC_W == 4 && defined(__FMA__)
    return __builtin_ia32_vfmaddps(a, b, c);
#elif OCC_W == 4 && defined(__aarch64__)
    __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(c) : "w"(a), "w"(b));
    return c;
#elif OCC_W == 1 && defined(__GNUC__) && \
    (defined(__FMA__) || defined(__aarch64__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMAF))
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* Reinterprets the bits of each lane as an integer, and back. */
OCC_HOT occ_vi occ_vbits(occ_vf a)
{
    occ_vi b;
    OCC_COPY(&b, &a, sizeof b);
    return b;
}

OCC_HOT occ_vf occ_vfrom_bits(occ_vi a)
{
    occ_vf b;
    OCC_COPY(&b, &a, sizeof b);
    return b;
}

/* Rounds towards zero; |a| < 2^31. */
OCC_HOT occ_vi occ_vto_int(occ_vf a)
{
#if OCC_W == 1
    return (int32_t)a;
#else
    return __builtin_convertvector(a, occ_vi);
#endif
}

OCC_HOT occ_vf occ_vfrom_int(occ_vi a)
{
#if OCC_W == 1
    return (float)a;
#else
    return __builtin_convertvector(a, occ_vf);
#endif
}

OCC_HOT float occ_vlane(occ_vf a, int i)
{
#if OCC_W == 1
    (void)i;
    return a;
#else
    return a[i];
#endif
}

/* 0, 1, 2, ... */
OCC_HOT occ_vi occ_viota(void)
{
#if OCC_W == 16
    return (occ_vi){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif OCC_W == 8
    return (occ_vi){0, 1, 2, 3, 4, 5, 6, 7};
#elif OCC_W == 4
    return (occ_vi){0, 1, 2, 3};
#else
    return 0;
#endif
}

/* ------------------------------------------------------------------------------------------------------------ masks */

OCC_HOT occ_vi occ_vmask_lt(occ_vf a, occ_vf b)
{
#if OCC_W == 1
    return -(a < b);
#else
    return a < b;
#endif
}

OCC_HOT occ_vi occ_vmask_le(occ_vf a, occ_vf b)
{
#if OCC_W == 1
    return -(a <= b);
#else
    return a <= b;
#endif
}

OCC_HOT occ_vi occ_vmask_eq(occ_vf a, occ_vf b)
{
#if OCC_W == 1
    return -(a == b);
#else
    return a == b;
#endif
}

OCC_HOT occ_vi occ_vmask_nan(occ_vf a)
{
#if OCC_W == 1
    return -(a != a);
#else
    return a != a;
#endif
}

/* A mask of the first n lanes. */
OCC_HOT occ_vi occ_vmask_first(int n)
{
#if OCC_W == 1
    return -(n > 0);
#else
    return occ_viota() < occ_viset(n);
#endif
}

/* a where the mask is set, else b. */
OCC_HOT occ_vf occ_vpick(occ_vi mask, occ_vf a, occ_vf b)
{
#if OCC_W == 1
    return mask ? a : b;
#else
    return (occ_vf)((mask & (occ_vi)a) | (~mask & (occ_vi)b));
#endif
}

/* max(a, bound) and min(a, bound), where bound is no NaN; a NaN in a stays. */
OCC_HOT occ_vf occ_vat_least(occ_vf a, occ_vf bound)
{
#if defined(__AVX512F__) && OCC_W == 16 && defined(__clang__)
    return __builtin_ia32_maxps512(bound, a, 4);
#elif defined(__AVX512F__) && OCC_W == 16
    return __builtin_ia32_maxps512_mask(bound, a, a, OCC_ALL_LANES, 4);
#elif defined(__AVX__) && OCC_W == 8
    return __builtin_ia32_maxps256(bound, a);
#elif defined(__SSE2__) && OCC_W == 4
    return __builtin_ia32_maxps(bound, a);
#else
    return occ_vpick(occ_vmask_lt(a, bound), bound, a);
#endif
}

OCC_HOT occ_vf occ_vat_most(occ_vf a, occ_vf bound)
{
#if defined(__AVX512F__) && OCC_W == 16 && defined(__clang__)
    return __builtin_ia32_minps512(bound, a, 4);
#elif defined(__AVX512F__) && OCC_W == 16
    return __builtin_ia32_minps512_mask(bound, a, a, OCC_ALL_LANES, 4);
#elif defined(__AVX__) && OCC_W == 8
    return __builtin_ia32_minps256(bound, a);
#elif defined(__SSE2__) && OCC_W == 4
    return __builtin_ia32_minps(bound, a);
#else
    return occ_vpick(occ_vmask_lt(bound, a), bound, a);
#endif
}

/* a + b modulo 2^32. */
OCC_HOT occ_vi occ_vwrap_add(occ_vi a, occ_vi b)
{
    return (occ_vi)((occ_vu)a + (occ_vu)b); /* of signed vectors, too, overflow is undefined in GCC */
}

/* a * 2^bits modulo 2^32. */
OCC_HOT occ_vi occ_vshift_left(occ_vi a, int bits)
{
#if OCC_W == 1
    return (int32_t)((uint32_t)a << bits);
#else
    return a << bits;
#endif
}

/* 1.0f where the mask is set, else 0.0f. */
OCC_HOT occ_vf occ_vbool(occ_vi mask)
{
    return occ_vfrom_bits(mask & occ_vbits(occ_vset(1.0f)));
}

/* ---------------------------------------------------------------------------------------------------- loads and stores
 * Each handles n lanes, 1 <= n <= OCC_W, of memory aligned as one element is. Loads fill the lanes from n on with 0. A
 * full vector is one instruction. */

OCC_HOT occ_vf occ_vload(const float *p, int n)
{
#if OCC_W == 1
    (void)n;
    return *p;
#else
    if (n == OCC_W)
        return *(const occ_vfu *)p;
#if defined(__AVX512F__) && OCC_W == 16
    return __builtin_ia32_loadups512_mask(p, (occ_vf){0}, OCC_FIRST_LANES(n));
#elif defined(__AVX__) && OCC_W == 8
    return __builtin_ia32_maskloadps256((const occ_vf *)(const void *)p, occ_vmask_first(n));
#elif OCC_W == 4 /* no loop: GCC would unroll it at every use before it knows n, which takes most of its time */
    occ_vf v = {p[0]};
    if (n > 1)
        v[1] = p[1];
    if (n > 2)
        v[2] = p[2];
    return v;
#else
    occ_vf v = {0};
    for (int i = 0; i < n && i < OCC_W; i++)
        v[i] = p[i];
    return v;
#endif
#endif
}

OCC_HOT void occ_vstore(float *p, occ_vf v, int n)
{
#if OCC_W == 1
    (void)n;
    *p = v;
#else
    if (n == OCC_W) {
        *(occ_vfu *)p = v;
        return;
    }
#if defined(__AVX512F__) && OCC_W == 16
    __builtin_ia32_storeups512_mask(p, v, OCC_FIRST_LANES(n));
#elif defined(__AVX__) && OCC_W == 8
    __builtin_ia32_maskstoreps256((occ_vf *)(void *)p, occ_vmask_first(n), v);
#elif OCC_W == 4 /* no loop, as in occ_vload */
    p[0] = v[0];
    if (n > 1)
        p[1] = v[1];
    if (n > 2)
        p[2] = v[2];
#else
    for (int i = 0; i < n && i < OCC_W; i++)
        p[i] = v[i];
#endif
#endif
}

/* The elements of a whole vector that are s apart, between the braces of an initialiser. */
#if OCC_W == 1
#define OCC_STRIDED(p, s) (p)[0]
#elif OCC_W == 4
#define OCC_STRIDED(p, s) (p)[0], (p)[s], (p)[2 * (s)], (p)[3 * (s)]
#elif OCC_W == 8
#define OCC_STRIDED(p, s) \
    (p)[0], (p)[s], (p)[2 * (s)], (p)[3 * (s)], (p)[4 * (s)], (p)[5 * (s)], (p)[6 * (s)], (p)[7 * (s)]
#elif OCC_W == 16
#define OCC_STRIDED(p, s) \
    (p)[0], (p)[s], (p)[2 * (s)], (p)[3 * (s)], (p)[4 * (s)], (p)[5 * (s)], (p)[6 * (s)], (p)[7 * (s)], (p)[8 * (s)], \
        (p)[9 * (s)], (p)[10 * (s)], (p)[11 * (s)], (p)[12 * (s)], (p)[13 * (s)], (p)[14 * (s)], (p)[15 * (s)]
#endif

#if OCC_W > 1
/* Every second element of the 2 * OCC_W - 1 elements from p on. */
OCC_HOT occ_vf occ_vload_second(const float *p)
{
    const occ_vf a = occ_vload(p, OCC_W), b = occ_vload(p + OCC_W - 1, OCC_W);
#if OCC_W == 16 && defined(__clang__)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);
#elif OCC_W == 8 && defined(__clang__)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 9, 11, 13, 15);
#elif OCC_W == 4 && defined(__clang__)
    return __builtin_shufflevector(a, b, 0, 2, 5, 7);
#else
    return __builtin_shuffle(a, b, occ_viota() * 2 - (occ_viota() >= OCC_W / 2));
#endif
}
#endif

/* Loads and stores elements that are `stride` apart. */
OCC_HOT occ_vf occ_vloads(const float *p, int64_t stride, int n)
{
#if OCC_W == 1
    (void)stride, (void)n;
    return *p;
#else
    float lane[OCC_W] = {0};
    if (n == OCC_W && stride == 2)
        return occ_vload_second(p);
    if (n == OCC_W) {
        const occ_vf v = {OCC_STRIDED(p, stride)};
        return v;
    }
    for (int i = 0; i < n && i < OCC_W; i++)
        lane[i] = p[i * stride];
    return occ_vload(lane, OCC_W);
#endif
}

OCC_HOT void occ_vstores(float *p, int64_t stride, occ_vf v, int n)
{
#if OCC_W == 1
    (void)stride, (void)n;
    *p = v;
#else
    for (int i = 0; i < n && i < OCC_W; i++)
        p[i * stride] = v[i];
#endif
}

/* ----------------------------------------------------------------------------------------------------- across lanes */

/* Elements 0, 2, 4, ... of the 2 * OCC_W elements of a and b, one after the other. */
OCC_HOT occ_vf occ_veven(occ_vf a, occ_vf b)
{
#if OCC_W == 16 && defined(__clang__)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
#elif OCC_W == 8 && defined(__clang__)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
#elif OCC_W == 4 && defined(__clang__)
    return __builtin_shufflevector(a, b, 0, 2, 4, 6);
#elif OCC_W > 1
    return __builtin_shuffle(a, b, occ_viota() * 2);
#else
    (void)b;
    return a;
#endif
}

/* Elements 1, 3, 5, ... of a and then b. */
OCC_HOT occ_vf occ_vodd(occ_vf a, occ_vf b)
{
#if OCC_W == 16 && defined(__clang__)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
#elif OCC_W == 8 && defined(__clang__)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
#elif OCC_W == 4 && defined(__clang__)
    return __builtin_shufflevector(a, b, 1, 3, 5, 7);
#elif OCC_W > 1
    return __builtin_shuffle(a, b, occ_viota() * 2 + 1);
#else
    (void)a;
    return b;
#endif
}

/* Lane i of the result: the sum of all lanes of v[i], by pairs of neighbours, whatever `count` is, a power of two up to
 * OCC_W. Example of four vectors of four lanes:
 *     a0 a1 a2 a3, b0 ...    a01 a23 b01 b23, c01 ...    a b c d
 * Changes v. */
OCC_HOT occ_vf occ_vsums(occ_vf *v, int count)
{
#if OCC_W > 1
    OCC_UNROLL(4)
    for (int n = count / 2; n > 0; n /= 2) {
        OCC_UNROLL(8)
        for (int i = 0; i < n; i++)
            v[i] = occ_veven(v[2 * i], v[2 * i + 1]) + occ_vodd(v[2 * i], v[2 * i + 1]);
    }
    OCC_UNROLL(4)
    for (int lanes = OCC_W; lanes > count; lanes /= 2)
        v[0] = occ_veven(v[0], v[0]) + occ_vodd(v[0], v[0]);
#else
    (void)count;
#endif
    return v[0];
}

OCC_HOT float occ_vsum_lanes(occ_vf a)
{
    return occ_vlane(occ_vsums(&a, 1), 0);
}

#endif
