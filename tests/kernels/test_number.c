/* test_number.c - numbers as characters and back: what the C library prints and reads is what ours do, over random
 * images of bits. */
#include "kernel_test.h"

#include "number.c"

#include <errno.h>
#include <float.h>
#include <inttypes.h>

enum { ROUNDS = 200000 };

static double double_of(uint64_t image)
{
    double x;

    memcpy(&x, &image, sizeof x);
    return x;
}

static uint64_t draw(uint64_t *seed)
{
    const uint64_t high = test_random(seed), middle = test_random(seed);

    return high << 33 ^ middle << 16 ^ test_random(seed);
}

static void same_text(double x)
{
    char made[24], wanted[64];

    assert_int_equal(occ_print_f64(x, made), snprintf(wanted, sizeof wanted, "%.8g", x));
    assert_string_equal(made, wanted);
}

static void same_number(const char *text)
{
    double made = -7.0, wanted;

    errno = 0;
    wanted = strtod(text, NULL);
    if (fabs(wanted) > DBL_MAX && errno == ERANGE) {
        assert_int_equal(occ_read_f64(text, &made), OCC_ETEXT);
        return;
    }
    assert_int_equal(occ_read_f64(text, &made), 0);
    if (memcmp(&made, &wanted, sizeof made))
        fail_msg("%.60s: %a, wanted %a", text, made, wanted);
}

static void doubles_are_printed_as_by_the_library(void **state)
{
    static const double some[] = {0.0,
                                  -0.0,
                                  1.0,
                                  0.5,
                                  9999999.5,
                                  99999999.5,
                                  999999995.0,
                                  12345678.5,
                                  12345679.5,
                                  0.0001,
                                  0.00009999999951,
                                  5e-324,
                                  2.2250738585072014e-308,
                                  1.7976931348623157e308,
                                  1e22,
                                  1e23,
                                  100.0,
                                  123000.0,
                                  1.0000000500000001};
    uint64_t            seed = 11;

    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        same_text(some[i]);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t image = draw(&seed);
        const double   x = double_of(image);

        if (fabs(x) <= DBL_MAX)
            same_text(x);
        same_text((double)(float)(image & 0xffffffff) / 65536.0);
        same_text(((double)(image % 2000000000u) + 0.5) / (double)(1u << test_pick(&seed, 0, 12))); /* ties */
    }
}

static void texts_are_read_as_by_the_library(void **state)
{
    static const char *const some[] = {"1",
                                       " \t\n\v\f\r2",
                                       "4 ",
                                       "+5",
                                       "-6",
                                       "0x10",
                                       "-0x1p3",
                                       "0x1.8p-1074",
                                       "0x.8",
                                       "0x",
                                       "0x.",
                                       "0xp3",
                                       "1e",
                                       "1e+",
                                       "1e 5",
                                       "1.5abc",
                                       "inf",
                                       "-INF",
                                       "infinity",
                                       "InFx",
                                       ".5",
                                       "5.",
                                       "1d",
                                       "1,5",
                                       "1e400",
                                       "-1e400",
                                       "1e-400",
                                       "1e-310",
                                       "4.9e-324",
                                       "2.4703282292062327e-324",
                                       "2.4703282292062328e-324",
                                       "2.2250738585072011e-308",
                                       "2.2250738585072014e-308",
                                       "1.7976931348623157e308",
                                       "1.7976931348623158e308",
                                       "1.7976931348623159e308",
                                       "1797693134862315807937289714053034150799341327100378269361737789804449682927647"
                                       "50946649017977587207096330286416692887910"
                                       "9465555478519404026306574886715058206819089020007083836762738548458177115317644"
                                       "75730270069855571366959622842914819860834936475292719074168444365"
                                       "510704342711559699508093042880",
                                       "0x1.fffffffffffff7p1023",
                                       "0x1.fffffffffffff8p1023",
                                       "0e999999999999",
                                       "1e99999999999",
                                       "1e-99999999999",
                                       "9007199254740993",
                                       "9007199254740993.00000000000000000000000000000000000000001",
                                       "00000000000000000000000000000000000001",
                                       "0.000000000000000000000000000000000000001e39",
                                       "6.9533558078350215e-310",
                                       "1.2.3"};
    uint64_t                 seed = 12;
    char                     text[80];

    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        same_number(some[i]);
    for (int i = 0; i < ROUNDS; i++) {
        const double x = double_of(draw(&seed));

        snprintf(text, sizeof text, "%.*g", (int)test_pick(&seed, 1, 25), x);
        if (fabs(x) <= DBL_MAX)
            same_number(text);
        snprintf(text, sizeof text, "%" PRIu64 "%" PRIu64 "e%d", draw(&seed), draw(&seed),
                 (int)test_pick(&seed, -380, 280));
        same_number(text);
        snprintf(text, sizeof text, "0x%" PRIx64 ".%" PRIx64 "p%d", draw(&seed), draw(&seed),
                 (int)test_pick(&seed, -1200, 980));
        same_number(text);
    }
}

/* The number half way between two doubles, all its digits, and a digit far behind them. */
static void ties_are_broken_by_any_digit(void **state)
{
    uint64_t seed = 13;
    char     text[2400];

    (void)state;
    for (int i = 0; i < 500; i++) {
        const uint64_t image = draw(&seed) & 0x7fffffffffffffffu;
        const int      two = (int)(image >> 52) - 1075;
        occ_big        x = occ_big_of(((image & 0xfffffffffffffu) | 0x10000000000000u) * 2 + 1);
        char           digit[1200];
        int            n = 0, down = two < 1 ? 1 - two : 0;

        if (two > 900 || !(image >> 52))
            continue;
        occ_big_raise(&x, 5, down);
        occ_big_left(&x, two > 1 ? two - 1 : 0);
        while (x.count)
            for (int d = 0; d < 10; d++) {
                occ_big copy = x, back;

                occ_big_divide(&copy, 10);
                back = copy;
                occ_big_scale(&back, 10, (uint32_t)d);
                if (back.count == x.count && !memcmp(back.word, x.word, (size_t)x.count * sizeof *x.word)) {
                    digit[n++] = (char)('0' + d);
                    x = copy;
                    break;
                }
            }
        for (int k = 0; k < n; k++)
            text[k] = digit[n - 1 - k];
        for (int more = 0; more < 2; more++) {
            snprintf(text + n, sizeof text - (size_t)n, more ? ".%0900d1e-%d" : "%.0de-%d", 0, down);
            same_number(text);
        }
    }
}

/* As many digits as are kept and more, down to the least numbers: the longest sums there are. */
static void long_texts_are_read_as_by_the_library(void **state)
{
    uint64_t seed = 15;
    char     text[1300];

    (void)state;
    for (int i = 0; i < 2000; i++) {
        const int n = (int)test_pick(&seed, 700, 1200);

        for (int k = 0; k < n; k++)
            text[k] = (char)('0' + (i < 5 ? 9 : test_pick(&seed, 0, 9)));
        snprintf(text + n, sizeof text - (size_t)n, "e%d", -n + (int)test_pick(&seed, -410, 320));
        same_number(text);
    }
}

static void whole_numbers_both_ways(void **state)
{
    static const char *const wrong[] = {"", " ", "abc", "-", "+-1", ".5", "inf", "99999999999999999999"};
    uint64_t                 seed = 14;
    char                     made[24], wanted[64];

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t x = draw(&seed) >> test_pick(&seed, 0, 63);
        const int64_t  y = (int64_t)x * (i & 1 ? -1 : 1);
        uint64_t       x_back = 1;
        int64_t        y_back = 1;

        snprintf(wanted, sizeof wanted, "%" PRIu64, x);
        assert_int_equal(occ_print_u64(x, made), strlen(wanted));
        assert_string_equal(made, wanted);
        assert_true(occ_read_u64(made, &x_back) == 0 && x_back == x);
        snprintf(wanted, sizeof wanted, "%" PRId64, y);
        assert_int_equal(occ_print_i64(y, made), strlen(wanted));
        assert_string_equal(made, wanted);
        assert_true(occ_read_i64(made, &y_back) == 0 && y_back == y);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t  y;
        uint64_t x;

        assert_int_equal(occ_read_i64(wrong[i], &y), OCC_ETEXT);
        assert_int_equal(occ_read_u64(wrong[i], &x), OCC_ETEXT);
    }
}

static void whole_numbers_end_where_their_type_does(void **state)
{
    uint64_t x;
    int64_t  y;

    (void)state;
    assert_int_equal(occ_read_i64("9223372036854775808", &y), OCC_ETEXT);
    assert_int_equal(occ_read_i64("-9223372036854775809", &y), OCC_ETEXT);
    assert_true(occ_read_i64("-9223372036854775808x", &y) == 0 && y == INT64_MIN);
    assert_int_equal(occ_read_u64("18446744073709551616", &x), OCC_ETEXT);
    assert_true(occ_read_u64(" -9223372036854775809", &x) == 0 && x == 9223372036854775807u);
}

static void kernels_stop_where_they_must(void **state)
{
    static const double   x[3] = {1.5, (double)-INFINITY, (double)NAN};
    static const occ_text given[3] = {"2", "x", "3"}, wanted[3] = {"1.5", "-INF", "NaN"};
    occ_text              y[3];
    double                back[3];
    char                  pool[13];

    (void)state;
    assert_int_equal(occ_text_of_TPL_N(x, y, pool, 3, 13), 0);
    for (int i = 0; i < 3; i++)
        assert_string_equal(y[i], wanted[i]);
    assert_int_equal(occ_text_of_TPL_N(x, y, pool, 3, 12), OCC_ECAPACITY);
    assert_int_equal(occ_text_to_TPL_N(y, back, 2), 0);
    assert_true(back[0] == 1.5 && back[1] == (double)-INFINITY);
    assert_int_equal(occ_text_to_TPL_N(given, back, 3), OCC_ETEXT);
    assert_int_equal(occ_text_to_TPL_N(given, back, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_printed_as_by_the_library),
        cmocka_unit_test(texts_are_read_as_by_the_library),
        cmocka_unit_test(ties_are_broken_by_any_digit),
        cmocka_unit_test(whole_numbers_both_ways),
        cmocka_unit_test(long_texts_are_read_as_by_the_library),
        cmocka_unit_test(whole_numbers_end_where_their_type_does),
        cmocka_unit_test(kernels_stop_where_they_must),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
