/* occ_turn.h - small matrices of four-byte elements transposed in registers, and rows of such elements with each one
 * doubled. Knows nothing of what the elements mean. */
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
