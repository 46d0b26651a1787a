/* test_whole.c - products of whole numbers wrap around as integers of another language do modulo 2^32, and are exact
 * within. */
#include "kernel_test.h"

#include "wide_i32.h"

/* Python's integers modulo 2^32: [[a b][c d]] times itself. */
static void whole_numbers_wrap_around(void **state)
{
    const int32_t   x[4] = {2147483647, -2147483647 - 1, 123456789, -987654321};
    int32_t         y[4];
    const occ_stack square = {2, {2, 2}, {2, 1}};

    (void)state;
    occ_matmul_whole_i32(y, &square, x, &square, x, &square);
    assert_true(y[0] == -2147483647 && y[1] == 0 && y[2] == 2091179878 && y[3] == 1909213793);
}

/* A stack of products whose right matrices are turned, spread from the elements of the left ones. */
static void small_numbers_are_exact(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (int round = 0; round < 200; round++) {
        const int64_t   m = test_pick(&seed, 1, 5), n = test_pick(&seed, 1, 5), k = test_pick(&seed, 0, 5);
        const occ_stack y_at = {3, {3, m, n}, {m * n, n, 1}}, a_at = {3, {3, m, k}, {m * k, k, 1}},
                        b_at = {3, {3, k, n}, {n * k, 1, k}};
        int32_t a[75], b[75], y[75], want[75] = {0};

        for (int i = 0; i < 75; i++) {
            a[i] = (int32_t)test_pick(&seed, -9, 9);
            b[i] = (int32_t)test_pick(&seed, -9, 9);
        }
        for (int64_t i = 0; i < 3 * m * k; i++)
            for (int64_t c = 0; c < n; c++)
                want[i / k * n + c] += a[i] * b[i / (m * k) * n * k + c * k + i % k];
        occ_matmul_whole_i32(y, &y_at, a, &a_at, b, &b_at);
        assert_memory_equal(y, want, (size_t)(3 * m * n) * sizeof *y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_numbers_wrap_around),
                                       cmocka_unit_test(small_numbers_are_exact)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
