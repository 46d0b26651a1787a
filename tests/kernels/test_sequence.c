/* test_sequence.c - sequences against plain lists under random insertions and deletions; headers that lie; pieces of
 * text. */
#include "sequence.c"
#include "text.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { CAPACITY = 6, ROWS = 3, COLUMNS = 4, DATA = 512, DISTANCE = 64 };

/* One member as a plain list holds it. */
typedef struct Member {
    int64_t dim[2];
    float   data[ROWS * COLUMNS];
} Member;

static const occ_extent ranked[] = {CAPACITY, DATA, DISTANCE, 2}, unranked[] = {CAPACITY, DATA, DISTANCE, -1};
static const occ_extent ranked_limit[] = {ROWS, COLUMNS}, unranked_limit[] = {ROWS * COLUMNS};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static Member random_member(uint32_t *state)
{
    Member m = {{next_random(state) % (ROWS + 1), next_random(state) % (COLUMNS + 1)}, {0}};

    for (int64_t i = 0; i < m.dim[0] * m.dim[1]; i++)
        m.data[i] = (float)next_random(state);
    return m;
}

static void assert_same(const uint8_t *x, const occ_extent *layout, const Member *list, int64_t count)
{
    assert_int_equal(occ_word(x, 0), count);
    for (int64_t i = 0; i < count; i++) {
        int64_t dim[8];

        assert_int_equal(occ_member_extents(x, i, layout, dim), 2);
        assert_int_equal(dim[0], list[i].dim[0]);
        assert_int_equal(dim[1], list[i].dim[1]);
        assert_memory_equal(x + DATA + i * DISTANCE, list[i].data, (size_t)(dim[0] * dim[1]) * sizeof(float));
    }
}

static void random_edits(const occ_extent *from, const occ_extent *from_limit, const occ_extent *to,
                         const occ_extent *to_limit)
{
    static uint8_t x[DATA + CAPACITY * DISTANCE], y[DATA + CAPACITY * DISTANCE];
    Member         list[CAPACITY + 1];
    uint32_t       state = 7;
    int64_t        count = 0;

    occ_word_set(x, 0, 0);
    for (int round = 0; round < 2000; round++) {
        int64_t at = (int64_t)(next_random(&state) % (CAPACITY + 3)) - 1, place = at < 0 ? at + count : at;
        int     insert = next_random(&state) % 2, status;
        Member  m = random_member(&state);

        if (insert)
            status = occ_sequence_insert(x, (const uint8_t *)m.data, y, at, 0, 2, 4, m.dim, from, to, to_limit);
        else
            status = occ_sequence_erase(x, y, at, 0, 4, from, to, to_limit);
        if (place < 0 || place > count - !insert) {
            assert_int_equal(status, OCC_EINDEX);
            continue;
        }
        if (insert && count == CAPACITY) {
            assert_int_equal(status, OCC_ECAPACITY);
            continue;
        }
        assert_int_equal(status, 0);
        for (int64_t i = insert ? count : place; insert ? i > place : i + 1 < count; i += insert ? -1 : 1)
            list[i] = list[insert ? i - 1 : i + 1];
        if (insert)
            list[place] = m;
        count += insert ? 1 : -1;
        assert_same(y, to, list, count);
        assert_int_equal(occ_sequence_copy(y, x, 4, to, from, from_limit), 0);
        assert_same(x, from, list, count);
    }
}

static void edits_agree_with_plain_lists(void **state)
{
    (void)state;
    random_edits(ranked, ranked_limit, ranked, ranked_limit);
    random_edits(unranked, unranked_limit, unranked, unranked_limit);
    random_edits(ranked, ranked_limit, unranked, unranked_limit);
    random_edits(unranked, unranked_limit, ranked, ranked_limit);
}

static void headers_that_lie_are_found(void **state)
{
    static uint8_t x[DATA + CAPACITY * DISTANCE];

    (void)state;
    occ_word_set(x, 0, CAPACITY);
    assert_int_equal(occ_sequence_check(x, ranked, 0, ranked_limit), 0);
    occ_word_set(x, 1, ROWS + 1);
    assert_int_equal(occ_sequence_check(x, ranked, 0, ranked_limit), OCC_EEXTENT);
    occ_word_set(x, 1, -1);
    assert_int_equal(occ_sequence_check(x, ranked, 0, ranked_limit), OCC_EEXTENT);
    occ_word_set(x, 1, 9);
    assert_int_equal(occ_sequence_check(x, unranked, 0, unranked_limit), OCC_EEXTENT);
    occ_word_set(x, 1, 2);
    occ_word_set(x, 2, INT64_MAX);
    assert_int_equal(occ_sequence_check(x, unranked, 0, unranked_limit), OCC_EEXTENT);
    occ_word_set(x, 2, ROWS * COLUMNS);
    occ_word_set(x, 3, 2);
    assert_int_equal(occ_sequence_check(x, unranked, 0, unranked_limit), OCC_EEXTENT);
    occ_word_set(x, 0, CAPACITY + 1);
    assert_int_equal(occ_sequence_check(x, ranked, 0, ranked_limit), OCC_EEXTENT);
    occ_word_set(x, 0, -1);
    assert_int_equal(occ_sequence_check(x, ranked, 0, ranked_limit), OCC_EEXTENT);
    occ_word_set(x, 0, 2);
    assert_int_equal(occ_sequence_check(x, ranked, 1, ranked_limit), OCC_EEXTENT);
}

static void splitting_and_joining_is_the_identity(void **state)
{
    static uint8_t y[DATA + CAPACITY * DISTANCE];
    int32_t        x[2 * 5 * 3], z[2 * 5 * 3];
    occ_extent     dim[] = {2, 0, 3}, limit[] = {2, 2, 3}, layout[] = {CAPACITY, DATA, DISTANCE, 3}, joined[4];

    (void)state;
    for (int i = 0; i < 30; i++)
        x[i] = i * i;
    assert_int_equal(
        occ_sequence_split((const uint8_t *)x, y, &(occ_sequence_cut){2, 5, 12, 2, 0}, NULL, 3, dim, 1, layout, limit),
        0);
    assert_int_equal(occ_word(y, 0), 3);
    assert_int_equal(occ_sequence_joined(y, joined, 3, 1, 0, layout), 0);
    assert_int_equal(joined[1], 5);
    occ_sequence_concat(y, (uint8_t *)z, 1, 4, layout);
    assert_memory_equal(x, z, sizeof x);
    assert_int_equal(occ_sequence_joined(y, joined, 4, 0, 1, layout), OCC_ESHAPE); /* the last member is smaller */
}

static void split_text(const char *text, const char *delimiter, int64_t limit, const char *wanted)
{
    char     pool[64], found[80] = "";
    occ_text y[8], x[] = {text}, by[] = {delimiter};
    int64_t  pieces, most;

    assert_int_equal(occ_text_split_count(x, by, &pieces, &most, 1, limit, 8), 0);
    assert_int_equal(pieces, most);
    assert_int_equal(occ_text_split(x, by, y, pool, 1, most, limit, sizeof pool), 0);
    for (int64_t i = 0; i < most; i++) {
        strcat(found, y[i]);
        strcat(found, "|");
    }
    assert_string_equal(found, wanted);
}

/* The answers are those of Python's str.split. */
static void text_is_split_as_python_does(void **state)
{
    (void)state;
    split_text("a b c", "", -1, "a|b|c|");
    split_text("  a\t\nb  ", "", -1, "a|b|");
    split_text("  a  b  ", "", 1, "a|b  |");
    split_text("", "", -1, "");
    split_text("", ",", -1, "|");
    split_text(",a,,b,", ",", -1, "|a||b||");
    split_text("a--b---c", "--", -1, "a|b|-c|");
    split_text("a,b,c", ",", 1, "a|b,c|");
    split_text("a b", "", 0, "a b|");
}

static void pools_never_overflow(void **state)
{
    char           pool[8];
    occ_text       y[4], x[] = {"abc", "defg"}, by[] = {""};
    const occ_text none[] = {NULL};
    occ_extent     dim[] = {2}, one[] = {1};
    int64_t        kept;

    (void)state;
    assert_int_equal(occ_text_concat(x, x, y, pool, 1, dim, one, one, sizeof pool), OCC_ECAPACITY);
    assert_int_equal(occ_text_split(x, by, y, pool, 2, 1, -1, sizeof pool), OCC_ECAPACITY);
    assert_int_equal(occ_text_normalize(x, none, y, pool, &kept, 2, 0, 1, 2, sizeof pool, 2), OCC_ECAPACITY);
    assert_int_equal(occ_text_normalize(x, x, y, pool, &kept, 2, 1, 1, 2, sizeof pool, 2), 0);
    assert_int_equal(kept, 1);
    assert_string_equal(y[0], "DEFG");
}

static void letters_change_case(void **state)
{
    char y[64];

    (void)state;
    occ_text_case("Az09 \xc3\x84\xc3\xb1\xc3\x97 \xce\x91\xcf\x89 \xd0\x96\xd1\x8f \xe2\x82\xac \xff", y, 0);
    assert_string_equal(y, "az09 \xc3\xa4\xc3\xb1\xc3\x97 \xce\xb1\xcf\x89 \xd0\xb6\xd1\x8f \xe2\x82\xac \xff");
    occ_text_case(y, y, 1);
    assert_string_equal(y, "AZ09 \xc3\x84\xc3\x91\xc3\x97 \xce\x91\xce\xa9 \xd0\x96\xd0\xaf \xe2\x82\xac \xff");
    assert_true(occ_same_letters("Stra\xc3\x9f"
                                 "E",
                                 "sTRA\xc3\x9f"
                                 "e"));
    assert_false(occ_same_letters("ab", "abc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_agree_with_plain_lists),
        cmocka_unit_test(headers_that_lie_are_found),
        cmocka_unit_test(splitting_and_joining_is_the_identity),
        cmocka_unit_test(text_is_split_as_python_does),
        cmocka_unit_test(pools_never_overflow),
        cmocka_unit_test(letters_change_case),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
