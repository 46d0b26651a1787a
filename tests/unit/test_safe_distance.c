/* test_safe_distance.c - the distance between a result and its input, against the same rule applied to every row and
 * column. */
#include "program/safe_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t state = 88172645463325252u;

static int64_t upto(int64_t most)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)(most + 1));
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t lowest_read(const RowWalk *w, int64_t row)
{
    int64_t first = row * w->stride - w->pad;

    return (first < 0 ? 0 : first < w->input_rows ? first : w->input_rows) * w->xrow;
}

/* What is written up to `end`, exclusive, must not reach what is still read from `read` on. */
static int64_t slow_lag(const RowWalk *w)
{
    int64_t distance = 0, tail = (w->columns - 1) * w->ycolumn + w->ytail;

    for (int64_t first = 0; first < w->rows; first += w->block) {
        int64_t next = first + w->block < w->rows ? first + w->block : w->rows;
        int64_t end = (next - 1) * w->yrow + tail;

        if (w->tile == 0)
            distance = larger(distance, end - 1 - lowest_read(w, first));
        for (int64_t c = 0; c < w->columns && w->tile > 0; c++) {
            int64_t last = c + w->tile < w->columns ? c + w->tile - 1 : w->columns - 1;
            int64_t left = c * w->across - w->left;

            distance = larger(distance, first * w->yrow + last * w->ycolumn + w->ytail - 1 - lowest_read(w, first) -
                                            (left < 0 ? 0 : left) * w->xcolumn);
        }
        if (next < w->rows)
            distance = larger(distance, end - lowest_read(w, next));
    }
    return distance;
}

static void few_places_tell_the_lag_of_all(void **unused)
{
    (void)unused;
    for (int i = 0; i < 200000; i++) {
        RowWalk w = {.rows = 1 + upto(12),
                     .block = 1 + upto(4),
                     .stride = 1 + upto(3),
                     .pad = upto(9),
                     .input_rows = 1 + upto(20),
                     .xrow = upto(40),
                     .yrow = upto(40),
                     .tile = upto(5),
                     .columns = 1 + upto(12),
                     .across = 1 + upto(3),
                     .left = upto(9),
                     .xcolumn = upto(6),
                     .ycolumn = upto(6),
                     .ytail = 1 + upto(5)};

        assert_int_equal(distance_of_rows(&w), slow_lag(&w));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_places_tell_the_lag_of_all)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
