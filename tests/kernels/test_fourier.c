/* test_fourier.c - transforms of every length against the sum that defines them, determinants against their
 * expansion. */
#include "kernel_test.h"

#include "det_f64.h"
#include "fourier_f64.h"

enum { MAX = 70 };

static double *random_doubles(uint64_t *seed, int64_t n)
{
    double *p = malloc((size_t)(n + 1) * sizeof *p);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (double)test_float(seed);
    return p;
}

/* Bin k of n samples x (pairs): the definition. */
static void define(const double *x, int64_t n, int64_t k, int inverse, double *out)
{
    const double turn = (inverse ? 2.0 : -2.0) * acos(-1.0) / (double)n;

    out[0] = out[1] = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double c = cos(turn * (double)(i * k % n)), s = sin(turn * (double)(i * k % n));

        out[0] += x[2 * i] * c - x[2 * i + 1] * s;
        out[1] += x[2 * i] * s + x[2 * i + 1] * c;
    }
    out[0] /= inverse ? (double)n : 1.0;
    out[1] /= inverse ? (double)n : 1.0;
}

static void every_length(void **state)
{
    uint64_t seed = 1;
    double   y[2 * MAX], work[6 * MAX], want[2];

    (void)state;
    for (int64_t n = 1; n <= MAX; n++)
        for (int inverse = 0; inverse <= 1; inverse++) {
            double *x = random_doubles(&seed, 2 * n);

            occ_dft_f64(y, x, work, 1, n, n, 1, 2, 2, n, inverse, 0);
            for (int64_t k = 0; k < n; k++) {
                define(x, n, k, inverse, want);
                test_near(y[2 * k], want[0], (double)n, 1e-13, "real part", k);
                test_near(y[2 * k + 1], want[1], (double)n, 1e-13, "imaginary part", k);
            }
            free(x);
        }
}

/* Half of a real signal's spectrum gives the signal back, for axes with others around them. */
static void there_and_back(void **state)
{
    uint64_t seed = 2;
    double   work[6 * MAX];

    (void)state;
    for (int64_t n = 2; n <= 20; n++) {
        const int64_t bins = n / 2 + 1;
        double       *x = random_doubles(&seed, 2 * n * 3), *half = random_doubles(&seed, 2 * bins * 3 * 2),
               *back = random_doubles(&seed, 2 * n * 3);

        occ_dft_f64(half, x, work, 2, n, bins, 3, 1, 2, n, 0, 0);
        occ_dft_f64(back, half, work, 2, bins, n, 3, 2, 1, n, 1, 1);
        for (int64_t i = 0; i < 2 * n * 3; i++)
            test_near(back[i], x[i], 1.0, 1e-13, "signal", i);
        free(x);
        free(half);
        free(back);
    }
}

static void determinants(void **state)
{
    uint64_t seed = 3;
    double   work[9], y;

    (void)state;
    for (int round = 0; round < 50; round++) {
        double *x = random_doubles(&seed, 9);

        if (round % 5 == 0)
            x[0] = 0.0; /* a pivot must be found below */
        occ_det_f64(&y, x, work, 1, 3);
        test_near(y,
                  x[0] * (x[4] * x[8] - x[5] * x[7]) - x[1] * (x[3] * x[8] - x[5] * x[6]) +
                      x[2] * (x[3] * x[7] - x[4] * x[6]),
                  1.0, 1e-13, "determinant", round);
        free(x);
    }
}

static void filters_outside_the_spectrum(void **state)
{
    double y[9 * 4], rate = 8000.0, low = 0.0, high = 4000.0, above = 90000.0;

    (void)state;
    assert_int_equal(occ_mel_weights(y, &rate, &low, &high, 4, 16), 0);
    for (int i = 0; i < 9 * 4; i++)
        assert_true(y[i] >= 0.0 && y[i] <= 1.0);
    assert_int_equal(occ_mel_weights(y, &rate, &low, &above, 4, 16), OCC_EINDEX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_length), cmocka_unit_test(there_and_back),
                                       cmocka_unit_test(determinants), cmocka_unit_test(filters_outside_the_spectrum)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
