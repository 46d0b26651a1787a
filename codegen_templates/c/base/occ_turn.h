/* occ_turn.h - small matrices of elements of one or four bytes transposed in registers, and rows of four-byte elements
 * with each one doubled. Knows nothing of what the elements mean. */
#ifndef OCC_TURN_H
#define OCC_TURN_H

#include "occ_base.h"

#if (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)) && (defined(__SSE2__) || defined(__ARM_NEON)) && \
    !defined(OCC_FORCE_SCALAR) && !defined(OCC_ON_DEVICE)
#define OCC_TURNS_FOURS 1
#else
#define OCC_TURNS_FOURS 0
#endif

#if OCC_TURNS_FOURS
/* Transposes 4 x 4 elements of four bytes: y[i][k] = x[k][i]. Rows are ystep and xstep bytes apart. */
OCC_HOT void occ_turn_fours(char *y, int64_t ystep, const char *x, int64_t xstep)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four             a, b, c, d;
    memcpy(&a, x, 16);
    memcpy(&b, x + xstep, 16);
    memcpy(&c, x + 2 * xstep, 16);
    memcpy(&d, x + 3 * xstep, 16);
    const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const four abh = __builtin_shufflevector(a, b, 2, 6, 3, 7), cdh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    b = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    c = __builtin_shufflevector(abh, cdh, 0, 1, 4, 5);
    d = __builtin_shufflevector(abh, cdh, 2, 3, 6, 7);
    memcpy(y, &a, 16);
    memcpy(y + ystep, &b, 16);
    memcpy(y + 2 * ystep, &c, 16);
    memcpy(y + 3 * ystep, &d, 16);
}

/* Three rows of 4 elements of four bytes become 4 triples: y[3 * i + k] = x[k][i]. Rows of x are xstep bytes apart. */
OCC_HOT void occ_turn_triples(char *y, const char *x, int64_t xstep)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four             a, b, c;
    memcpy(&a, x, 16);
    memcpy(&b, x + xstep, 16);
    memcpy(&c, x + 2 * xstep, 16);
    const four first = __builtin_shufflevector(__builtin_shufflevector(a, b, 0, 4, 1, 5), c, 0, 1, 4, 2);
    const four second = __builtin_shufflevector(__builtin_shufflevector(a, b, 5, 2, 6, 3), c, 0, 5, 1, 2);
    const four third = __builtin_shufflevector(__builtin_shufflevector(a, b, 3, 7, 3, 7), c, 6, 0, 1, 7);
    memcpy(y, &first, 16);
    memcpy(y + 16, &second, 16);
    memcpy(y + 32, &third, 16);
}

/* Transposes 4 x 16 bytes: y[i][k] = x[k][i] for 16 rows i of y. Rows are ystep and xstep bytes apart. Each row of y is
 * stored as four bytes, of which the first n count. The next row overwrites the others, so that all rows take
 * 15 * ystep + 4 bytes. Rows of x from n on are not read. */
OCC_HOT void occ_turn_bytes(char *y, int64_t ystep, const char *x, int64_t xstep, int n)
{
    typedef uint8_t bytes __attribute__((vector_size(16)));
    bytes           row[4], low[2], high[2];
    uint32_t        word[16];
    for (int k = 0; k < 4; k++)
        memcpy(&row[k], x + (k < n ? k : 0) * xstep, 16);
    for (int k = 0; k < 2; k++) {
        low[k] =
            __builtin_shufflevector(row[2 * k], row[2 * k + 1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        high[k] = __builtin_shufflevector(row[2 * k], row[2 * k + 1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14,
                                          30, 15, 31);
    }
    for (int k = 0; k < 2; k++) {
        const bytes *half = k ? high : low;
        const bytes  a =
            __builtin_shufflevector(half[0], half[1], 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
        const bytes b =
            __builtin_shufflevector(half[0], half[1], 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
        memcpy(word + 8 * k, &a, 16);
        memcpy(word + 8 * k + 4, &b, 16);
    }
    for (int i = 0; i < 16; i++)
        memcpy(y + i * ystep, word + i, 4);
}

/* y[i][k] = x[k][i] for bytes, 16 rows i of y and n1 columns, four at a time. The last n1 % 4 of them are stored with
 * some bytes of the next row, where that follows without a gap and is stored later; `more`: row 16 exists as well.
 * Returns the columns that are done. */
OCC_HOT int64_t occ_turn_pixels(char *y, const char *x, int64_t n1, int64_t ys0, int64_t xs1, int more)
{
    const int64_t rest = n1 % 4;
    if (rest > 0 && ys0 == n1 && more)
        occ_turn_bytes(y + n1 - rest, ys0, x + (n1 - rest) * xs1, xs1, (int)rest);
    for (int64_t b = 0; b + 4 <= n1; b += 4)
        occ_turn_bytes(y + b, ys0, x + b * xs1, xs1, 4);
    return ys0 == n1 && more ? n1 : n1 - rest;
}

/* Doubles 4 elements of four bytes: y[2 * i] = y[2 * i + 1] = x[i]. All are read before any is written. */
OCC_HOT void occ_double_four(char *y, const char *x)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four             a, b;
    memcpy(&a, x, 16);
    b = __builtin_shufflevector(a, a, 2, 2, 3, 3);
    a = __builtin_shufflevector(a, a, 0, 0, 1, 1);
    memcpy(y, &a, 16);
    memcpy(y + 16, &b, 16);
}
#endif

#endif
