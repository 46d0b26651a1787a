/* test_rank.c - the places of the largest and smallest elements against a plain search, over columns and rows of many
 * extents. */
#include "kernel_test.h"

#include "rank_f32.h"
#include "rank_f64.h"
#include "rank_i8.h"
#include "rank_i64.h"

enum { COUNT = 4000 };

static int64_t plain_search(const double *x, int64_t n, int64_t inner, int64_t largest, int64_t last)
{
    int64_t place = 0;

    for (int64_t k = 1; k < n; k++) {
        double a = x[k * inner], b = x[place * inner];

        if ((largest ? a > b : a < b) || (last && a == b))
            place = k;
    }
    return place;
}

/* Few different values, so that many are equal, and now and then one that is no number. */
static void make_values(uint64_t *seed, int64_t n, double nowhere, double *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = test_pick(seed, 0, 20) ? (double)test_pick(seed, -9, 9) : nowhere;
}

#define CHECK_TYPE(type, name) \
    do { \
        static type values[COUNT]; \
        for (int64_t i = 0; i < outer * n * inner; i++) \
            values[i] = (type)x[i]; \
        y[outer * inner] = -7; \
        occ_argmax_##name(y, values, outer, n, inner, largest, last); \
        assert_int_equal(y[outer * inner], -7); \
        for (int64_t i = 0; i < outer * inner; i++) \
            assert_int_equal(y[i], plain_search(x + i / inner * n * inner + i % inner, n, inner, largest, last)); \
    } while (0)

static void largest_and_smallest(void **state)
{
    static const int64_t inners[] = {1, 2, 7, 15, 16, 17, 63, 64, 65, 100, 150},
                         counts[] = {1, 2, 3, 15, 16, 31, 32, 33, 48, 100, 1000};
    static double  x[COUNT];
    static int64_t y[COUNT + 1];
    uint64_t       seed = 3;

    (void)state;
    for (int t = 0; t < 4000; t++) {
        const int64_t n = counts[test_pick(&seed, 0, 10)], inner = inners[test_pick(&seed, 0, 10)],
                      outer = test_pick(&seed, 1, 2);
        const int64_t largest = t & 1, last = t >> 1 & 1;

        if (outer * n * inner > COUNT)
            continue;
        make_values(&seed, outer * n * inner, 5.0, x);
        CHECK_TYPE(float, f32);
        CHECK_TYPE(int8_t, i8);
        CHECK_TYPE(int64_t, i64);
        make_values(&seed, outer * n * inner, (double)NAN, x);
        CHECK_TYPE(float, f32);
        CHECK_TYPE(double, f64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_and_smallest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
