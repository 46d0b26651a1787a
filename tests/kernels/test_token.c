/* test_token.c - tokens by a table written by hand, and where their rooms end. */
#include "kernel_test.h"

#include "token.c"

/* "a" or "ab+" or longer: states 1 start, 2 'a', 3 'ab...'; classes 0 others, 1 'a', 2 'b'. */
static uint8_t        class_of[256];
static const uint16_t next[4 * 3] = {0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 3};
static const uint8_t  accepts[4] = {0, 0, 1, 1};

static int set_classes(void **state)
{
    (void)state;
    class_of['a'] = 1;
    class_of['b'] = 2;
    return 0;
}

static int64_t cut(const occ_text *x, int64_t n, int64_t between, int64_t room, int64_t bytes, occ_text *y, char *pool)
{
    static const occ_text pad[] = {"-"};
    int64_t               most = -1;
    int                   status = occ_text_token_count(x, class_of, next, accepts, &most, n, 3, 1, between, 0, room);

    if (!status)
        status =
            occ_text_tokens(x, class_of, next, accepts, pad, y, pool, &(occ_tokens){n, most, 3, 1, between, 0, bytes});
    return status ? status : most;
}

static void longest_matches_in_order(void **state)
{
    static const occ_text x[] = {"abbxa ab", "x"}, wanted[] = {"abb", "a", "ab", "-", "-", "-"},
                          around[] = {"x", " ", "x", "-"};
    occ_text y[6];
    char     pool[9];

    (void)state;
    assert_int_equal(cut(x, 2, 0, 3, 9, y, pool), 3);
    for (int i = 0; i < 6; i++)
        assert_string_equal(y[i], wanted[i]);
    assert_int_equal(cut(x, 2, 1, 3, 9, y, pool), 2);
    for (int i = 0; i < 4; i++)
        assert_string_equal(y[i], around[i]);
}

static void rooms_end(void **state)
{
    static const occ_text x[] = {"abbxa ab"};
    occ_text              y[3];
    char                  pool[9];

    (void)state;
    assert_int_equal(cut(x, 1, 0, 2, 9, y, pool), OCC_ECAPACITY);
    assert_int_equal(cut(x, 1, 0, 3, 8, y, pool), OCC_ECAPACITY);
    assert_int_equal(cut(x, 1, 0, 3, 9, y, pool), 3);
    assert_int_equal(cut(x, 0, 0, 0, 0, y, pool), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longest_matches_in_order),
        cmocka_unit_test(rooms_end),
    };

    return cmocka_run_group_tests(tests, set_classes, NULL);
}
