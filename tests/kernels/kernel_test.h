/* kernel_test.h - what the tests of kernels share: repeatable numbers, comparison with double precision, guarded
 * buffers. Knows nothing of any kernel. */
#ifndef OCC_KERNEL_TEST_H
#define OCC_KERNEL_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNUSED __attribute__((unused))

/* A small generator of its own, so that every compiler and width sees the same numbers. */
static UNUSED uint32_t test_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static UNUSED int64_t test_pick(uint64_t *state, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(test_random(state) % (uint32_t)(hi - lo + 1));
}

static UNUSED float test_float(uint64_t *state)
{
    return (float)((int32_t)(test_random(state) % 2001) - 1000) / 512.0f;
}

/* n floats between two guard zones; test_release fails when the zones were written to. Uninitialised parts are NaN. */
static UNUSED float *test_floats(int64_t n)
{
    float *p = malloc(((size_t)n + 64) * sizeof *p);

    assert_non_null(p);
    for (int64_t i = 0; i < n + 64; i++)
        p[i] = i < 32 || i >= n + 32 ? 12345.0f : (float)NAN;
    return p + 32;
}

static UNUSED float *test_random_floats(uint64_t *state, int64_t n)
{
    float *p = test_floats(n);

    for (int64_t i = 0; i < n; i++)
        p[i] = test_float(state);
    return p;
}

static UNUSED void test_release(float *p, int64_t n)
{
    for (int64_t i = 0; i < 32; i++) {
        assert_true(p[i - 32] == 12345.0f);
        assert_true(p[n + i] == 12345.0f);
    }
    free(p - 32);
}

/* got against want, within `tolerance` relative to max(|want|, scale); NaN and infinities must agree. */
static UNUSED void test_near(double got, double want, double scale, double tolerance, const char *what, int64_t at)
{
    double size = fabs(want) > scale ? fabs(want) : scale;
    int    same = isnan(want) ? isnan(got) : isinf(want) ? got == want : fabs(got - want) <= tolerance * size;

    if (!same)
        fail_msg("%s: element %lld is %.9g, wanted %.9g", what, (long long)at, got, want);
}

#endif
