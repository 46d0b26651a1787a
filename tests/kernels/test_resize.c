/* test_resize.c - rows and elements that tables name, interpolated or picked, against plain loops. */
#include "kernel_test.h"

#include "index_f32.h"
#include "resize.c"

enum { MOST = 40, TAPS = 4 };

typedef struct Table {
    int64_t outer, in, out, inner, taps;
    int64_t index[MOST * TAPS];
    double  weight[MOST * TAPS];
} Table;

static Table random_table(uint64_t *seed)
{
    static const int64_t inners[] = {1, 1, 3, 16, 40, 64, 70, 133};
    Table                t = {.outer = test_pick(seed, 1, 3),
                              .in = test_pick(seed, 1, 20),
                              .out = test_pick(seed, 1, MOST),
                              .inner = inners[test_pick(seed, 0, 7)],
                              .taps = test_pick(seed, 1, TAPS)};

    for (int64_t i = 0; i < t.out * t.taps; i++) {
        t.index[i] = i % t.taps == 0 && test_pick(seed, 0, 5) == 0 ? -1 : test_pick(seed, 0, t.in - 1);
        t.weight[i] = (double)test_float(seed);
    }
    return t;
}

/* Element n of the result in double precision. */
static double plain_resample(const Table *t, const float *x, const double *weight, int64_t n, double outside)
{
    const int64_t  o = n / t->inner / t->out, i = n / t->inner % t->out;
    const int64_t *index = t->index + i * t->taps;
    double         sum = 0.0;

    for (int64_t k = 0; k < t->taps && index[0] >= 0; k++) {
        const double term = (double)x[(o * t->in + index[k]) * t->inner + n % t->inner];

        sum = weight ? sum + term * weight[i * t->taps + k] : term;
    }
    return index[0] < 0 ? outside : sum;
}

static void interpolated(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int r = 0; r < 600; r++) {
        const Table   t = random_table(&seed);
        const double *weight = r % 4 ? t.weight : NULL;
        const int64_t nx = t.outer * t.in * t.inner, ny = t.outer * t.out * t.inner;
        float        *x = test_random_floats(&seed, nx), *y = test_floats(ny);

        occ_resample_f32(y, x, t.index, weight, t.outer, t.in, t.out, t.inner, t.taps, 7.5f);
        for (int64_t n = 0; n < ny; n++)
            test_near((double)y[n], plain_resample(&t, x, weight, n, 7.5), 4.0, 1e-6, "element", n);
        test_release(x, nx);
        test_release(y, ny);
    }
}

/* Indices 0, 0, 1, 1, ... have a way of their own. */
static void doubled(void **state)
{
    int64_t  index[2 * MOST];
    uint64_t seed = 17;

    (void)state;
    for (int64_t n = 0; n < 2 * MOST; n++)
        index[n] = n / 2;
    for (int64_t in = 1; in <= MOST; in++) {
        float *x = test_random_floats(&seed, 3 * in), *y = test_floats(6 * in);

        assert_int_equal(occ_gather_f32(y, x, index, 3, in, 2 * in, 1), 0);
        for (int64_t n = 0; n < 6 * in; n++)
            assert_true(y[n] == x[n / 2]);
        test_release(x, 3 * in);
        test_release(y, 6 * in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpolated),
        cmocka_unit_test(doubled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
