/* test_random.c - drawn numbers against values that a program of another language made from the published generator,
 * and against the moments and frequencies that their distributions have. */
#include "kernel_test.h"

#include "random_f64.h"

/* SplitMix64 in Python's integers: the upper 24 bits of numbers 0, 1, 2, 3 and 1,000,000 of each seed; the first of
 * seed 0 is the published 0xe220a8397b1dcdaf. */
static void the_published_generator(void **state)
{
    static const struct {
        int64_t seed;
        int32_t number[5];
    } stored[] = {{0, {14819496, 7239838, 443485, 16288696, 13506518}},
                  {1, {12856410, 3648863, 11491223, 7509977, 16482241}},
                  {7, {12376646, 6249979, 289497, 13969041, 1864272}},
                  {-3, {15455244, 10284902, 14874120, 15321495, 15340145}},
                  {123456789, {1054988, 3304263, 2973150, 9758644, 13566201}}};
    static const int64_t place[5] = {0, 1, 2, 3, 1000000};
    double               y[4];

    (void)state;
    for (size_t s = 0; s < sizeof stored / sizeof *stored; s++) {
        for (int i = 0; i < 5; i++)
            assert_true(occ_random_unit(stored[s].seed, place[i]) * 16777216.0 == (double)stored[s].number[i]);
        occ_random_uniform_f64(y, 4, stored[s].seed, -2.0, 6.0);
        for (int i = 0; i < 4; i++)
            test_near(y[i], stored[s].number[i] / 2097152.0 - 2.0, 1.0, 1e-15, "uniform", i);
    }
}

/* Box and Muller's formula of the stored numbers of seed 7. */
static void normal_numbers_of_stored_uniform_ones(void **state)
{
    const double u[4] = {12376646 / 16777216.0, 6249979 / 16777216.0, 289497 / 16777216.0, 13969041 / 16777216.0};
    double       y[2];

    (void)state;
    occ_random_normal_f64(y, 2, 7, 3.0, 0.5);
    for (int i = 0; i < 2; i++) {
        const double angle = 2.0 * acos(-1.0) * u[2 * i + 1];

        test_near(y[i], 3.0 + 0.5 * sqrt(-2.0 * log1p(-u[2 * i])) * cos(angle), 1.0, 1e-14, "normal", i);
    }
}

/* Moments of 200,000 numbers within five deviations of their estimates. */
static void moments_are_those_of_the_distribution(void **state)
{
    enum { N = 200000 };
    double *y = malloc(N * sizeof *y);

    (void)state;
    assert_non_null(y);
    for (int64_t seed = 1; seed <= 3; seed++) {
        double sum = 0.0, squares = 0.0, fourth = 0.0;

        occ_random_normal_f64(y, N, seed, 0.0, 1.0);
        for (int i = 0; i < N; i++) {
            const double v = y[i];

            sum += v;
            squares += v * v;
            fourth += v * v * v * v;
        }
        assert_true(fabs(sum / N) < 5.0 / sqrt(N));
        assert_true(fabs(squares / N - 1.0) < 5.0 * sqrt(2.0 / N));
        assert_true(fabs(fourth / N - 3.0) < 5.0 * sqrt(96.0 / N));
        occ_random_uniform_f64(y, N, seed, -1.0, 3.0);
        for (int i = 0, low = 0; i < N; i++) {
            assert_true(y[i] >= -1.0 && y[i] < 3.0);
            low += y[i] < 0.0;
            assert_true(i < N - 1 || fabs(low / (double)N - 0.25) < 5.0 * sqrt(0.1875 / N));
        }
    }
    free(y);
}

/* Classes come as often as their odds say, and one without odds never. */
static void classes_are_drawn_by_their_odds(void **state)
{
    enum { N = 100000, CLASSES = 5 };
    static const double share[CLASSES] = {0.1, 0.0, 0.4, 0.2, 0.3};
    double              odds[2 * CLASSES];
    double             *y = malloc(2 * N * sizeof *y);

    (void)state;
    assert_non_null(y);
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < CLASSES; c++)
            odds[r * CLASSES + c] = log(share[r ? CLASSES - 1 - c : c]) + 300.0 * r; /* -inf where there are none */
    occ_multinomial_f64(y, odds, 2, CLASSES, N, 11);
    for (int r = 0; r < 2; r++) {
        int count[CLASSES] = {0};

        for (int i = 0; i < N; i++) {
            assert_true(y[r * N + i] >= 0.0 && y[r * N + i] < CLASSES);
            count[(int)y[r * N + i]]++;
        }
        for (int c = 0; c < CLASSES; c++) {
            const double p = share[r ? CLASSES - 1 - c : c];

            assert_true(fabs(count[c] / (double)N - p) <= 5.0 * sqrt(p * (1.0 - p) / N));
        }
    }
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_generator), cmocka_unit_test(normal_numbers_of_stored_uniform_ones),
        cmocka_unit_test(moments_are_those_of_the_distribution), cmocka_unit_test(classes_are_drawn_by_their_odds)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
