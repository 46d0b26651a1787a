/* test_extents.c - arithmetic on run-time integers at the ends of their range: generated code computes what the
 * compiler computes, and what a wider type says. */
#include "codegen_templates/c/base/occ_extent.h"
#include "graph/interval.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const int64_t end[] = {INT64_MIN, INT64_MIN + 1, INT64_MIN / 2, -3,       -1, 0, 1,
                              3,         INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};

enum { ENDS = sizeof end / sizeof *end };

__extension__ typedef __int128 Wide;

static int64_t saturated(Wide x)
{
    return x < INT64_MIN ? INT64_MIN : x > INT64_MAX ? INT64_MAX : (int64_t)x;
}

static void sums_and_products_saturate(void **unused)
{
    (void)unused;
    for (int i = 0; i < ENDS; i++)
        for (int k = 0; k < ENDS; k++) {
            int64_t a = end[i], b = end[k];

            assert_int_equal(occ_extent_add(a, b), saturated((Wide)a + b));
            assert_int_equal(occ_extent_sub(a, b), saturated((Wide)a - b));
            assert_int_equal(occ_extent_mul(a, b), saturated((Wide)a * b));
        }
}

/* Divisors of remainders are positive (ir.h), and so are those of quotients that are rounded up. */
static void the_compiler_computes_the_same(void **unused)
{
    (void)unused;
    for (int i = 0; i < ENDS; i++)
        for (int k = 0; k < ENDS; k++) {
            int64_t a = end[i], b = end[k];

            assert_int_equal(occ_extent_add(a, b), interval_evaluate(EXPR_ADD, a, b));
            assert_int_equal(occ_extent_sub(a, b), interval_evaluate(EXPR_SUB, a, b));
            assert_int_equal(occ_extent_mul(a, b), interval_evaluate(EXPR_MUL, a, b));
            assert_int_equal(occ_extent_div(a, b), interval_evaluate(EXPR_DIV, a, b));
            assert_int_equal(occ_extent_min(a, b), interval_evaluate(EXPR_MIN, a, b));
            assert_int_equal(occ_extent_max(a, b), interval_evaluate(EXPR_MAX, a, b));
            if (b < 0)
                continue;
            assert_int_equal(occ_extent_mod(a, b), interval_evaluate(EXPR_MOD, a, b));
            assert_int_equal(occ_extent_ceildiv(a, b), interval_evaluate(EXPR_CEILDIV, a, b));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_saturate),
        cmocka_unit_test(the_compiler_computes_the_same),
    };

    return cmocka_run_group_tests_name("extents", tests, NULL, NULL);
}
