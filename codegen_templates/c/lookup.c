/* lookup.c - tables of bytes: what a long expression of one byte computes. Knows nothing of where tables come from. */
#include "occ_nest.h"

#if OCC_W == 16 && defined(__AVX512VBMI__) && defined(__AVX512BW__) && !defined(OCC_FORCE_WIDTH)
typedef char occ_lookup_v __attribute__((vector_size(64)));

/* Entries of the bytes x: each half of the table is looked up by the seven low bits, the highest one tells which half
 * counts. */
OCC_HOT occ_lookup_v occ_lookup_vector(occ_lookup_v x, const occ_lookup_v *table)
{
    occ_lookup_v low = x, high = x;
    uint64_t     upper;
    __asm__("vpermi2b %2, %1, %0" : "+v"(low) : "v"(table[0]), "v"(table[1]));
    __asm__("vpermi2b %2, %1, %0" : "+v"(high) : "v"(table[2]), "v"(table[3]));
    __asm__("vpmovb2m %1, %0" : "=Yk"(upper) : "v"(x));
    __asm__("vmovdqu8 %1, %0%{%2%}" : "+v"(low) : "v"(high), "Yk"(upper));
    return low;
}

/* Entries of all n bytes. Returns n. */
OCC_HOT int64_t occ_lookup_vectors(uint8_t *y, const uint8_t *x, const uint8_t *table, int64_t n)
{
    occ_lookup_v v, rows[4];
    memcpy(rows, table, sizeof rows);
    OCC_ROLL
    for (int64_t c = 0; c < n; c += (int64_t)sizeof v) {
        const uint64_t all = ~UINT64_C(0), some = n - c < 64 ? ~(all << (n - c)) : all;
        __asm__("vmovdqu8 %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const uint8_t(*)[64])(x + c)), "Yk"(some));
        v = occ_lookup_vector(v, rows);
        __asm__("vmovdqu8 %1, %0%{%2%}" : "+m"(*(uint8_t(*)[64])(y + c)) : "v"(v), "Yk"(some));
    }
    return n;
}
#elif OCC_W > 1 && defined(__AVX2__) && !defined(OCC_FORCE_WIDTH)
#define OCC_LOOKUP_BYTES 32
typedef char    occ_lookup_v __attribute__((vector_size(32)));
typedef int16_t occ_lookup_w __attribute__((vector_size(32)));

/* A byte of the result is that of a where the highest bit of the byte in `which` is 0, else that of b. */
OCC_HOT occ_lookup_v occ_lookup_pick(occ_lookup_v a, occ_lookup_v b, occ_lookup_w which)
{
    occ_lookup_v v;
    __asm__("vpblendvb %3, %2, %1, %0" : "=x"(v) : "x"(a), "x"(b), "x"(which));
    return v;
}

/* Entries of the n rows of 16 from `row` on, n a power of two: `low` are the four low bits of the bytes x. Bits from 4
 * on tell rows apart, each from the half of the rows that it halves. */
OCC_HOT occ_lookup_v occ_lookup_row(const uint8_t *row, occ_lookup_v low)
{
    occ_lookup_v v;
    __asm__("vbroadcasti128 %1, %0" : "=x"(v) : "m"(*(const uint8_t(*)[16])row));
    return (occ_lookup_v)__builtin_ia32_pshufb256(v, low);
}

OCC_HOT occ_lookup_v occ_lookup_rows2(const uint8_t *row, occ_lookup_v low, occ_lookup_w x)
{
    return occ_lookup_pick(occ_lookup_row(row, low), occ_lookup_row(row + 16, low), x << 3);
}

OCC_HOT occ_lookup_v occ_lookup_rows4(const uint8_t *row, occ_lookup_v low, occ_lookup_w x)
{
    return occ_lookup_pick(occ_lookup_rows2(row, low, x), occ_lookup_rows2(row + 32, low, x), x << 2);
}

OCC_HOT occ_lookup_v occ_lookup_rows8(const uint8_t *row, occ_lookup_v low, occ_lookup_w x)
{
    return occ_lookup_pick(occ_lookup_rows4(row, low, x), occ_lookup_rows4(row + 64, low, x), x << 1);
}

OCC_HOT occ_lookup_v occ_lookup_vector(occ_lookup_v x, const uint8_t *table)
{
    const occ_lookup_v low = x & 15;
    const occ_lookup_w w = (occ_lookup_w)x;
    return occ_lookup_pick(occ_lookup_rows8(table, low, w), occ_lookup_rows8(table + 128, low, w), w);
}

/* Entries of as many of the first n bytes as fill vectors and half ones. Returns how many. */
OCC_HOT int64_t occ_lookup_vectors(uint8_t *y, const uint8_t *x, const uint8_t *table, int64_t n)
{
    occ_lookup_v v;
    int64_t      c = 0;
    for (; c + OCC_LOOKUP_BYTES <= n; c += OCC_LOOKUP_BYTES) {
        memcpy(&v, x + c, sizeof v);
        v = occ_lookup_vector(v, table);
        memcpy(y + c, &v, sizeof v);
    }
    if (c + OCC_LOOKUP_BYTES / 2 <= n) {
        __asm__("vmovdqu %1, %x0" : "=x"(v) : "m"(*(const uint8_t(*)[16])(x + c)));
        v = occ_lookup_vector(v, table);
        __asm__("vmovdqu %x1, %0" : "=m"(*(uint8_t(*)[16])(y + c)) : "x"(v));
        c += OCC_LOOKUP_BYTES / 2;
    }
    return c;
}
#else
OCC_HOT int64_t occ_lookup_vectors(uint8_t *y, const uint8_t *x, const uint8_t *table, int64_t n)
{
    (void)y, (void)x, (void)table, (void)n;
    return 0;
}
#endif

/* One row y[i * ys] = table[x[i * xs]]. */
OCC_HOT void occ_lookup_line(uint8_t *y, const uint8_t *x, const uint8_t *table, int64_t n, int64_t ys, int64_t xs)
{
    int64_t c = ys == 1 && xs == 1 ? occ_lookup_vectors(y, x, table, n) : 0;
    for (; c < n; c++)
        y[c * ys] = table[x[c * xs]];
}

/* lookup - y[i] = table[x[i]] for every index i of `rank` axes.
 *   y      [dim[0]]...[dim[rank - 1]], strides ystride; x the same with strides xstride; rank >= 1
 *   table  [256]: signed bytes find their entry by the unsigned byte of the same bits
 *   y may be x itself where their strides are the same. */
OCC_INLINE void occ_lookup(uint8_t *y, const uint8_t *x, const uint8_t *table, int64_t rank, const occ_extent *dim,
                           const occ_extent *ystride, const occ_extent *xstride)
{
    const int64_t last = rank - 1;
    int64_t       index[8] = {0}, before[8] = {0}, yat = 0, xat = 0;
    for (int64_t rows = occ_count(last, dim); rows > 0; rows--) {
        occ_lookup_line(y + yat, x + xat, table, dim[last], ystride[last], xstride[last]);
        yat = occ_nest_step(last, dim, index, yat, ystride);
        xat = occ_nest_step(last, dim, before, xat, xstride);
    }
}
