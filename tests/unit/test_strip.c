/* test_strip.c - strips of integer convolutions stay small beside the tensors, and hold weights only where many results
 * meet them. */
#include "world.h"

#include "ops/quant/row_tile.h"

static RowTileShape image(int64_t channels, int64_t side, int64_t kernel)
{
    return (RowTileShape){channels, channels, kernel == 1 ? side * side : side, side * side, kernel, kernel,
                          1,        1,        2 * channels * side * side};
}

static void scratch_hardly_counts(void **state)
{
    (void)state;
    for (int64_t side = 1; side < 120; side += 7)
        for (int64_t channels = 4; channels <= 2048; channels *= 2)
            for (int64_t kernel = 1; kernel <= 5; kernel += 2) {
                RowTileShape s = image(channels, side, kernel);
                RowTilePlan  p = row_tile_plan(&s);

                assert_true(!p.weighs || p.words * 4 * 6 <= s.tensors);
                assert_true((p.columns > 0) == (p.words > 0));
                assert_true(s.tensors >= 32 << 10 || p.columns == 0);
            }
}

/* 36 pixels are too few, 28 in a row too; 2048 inputs have too many weights. */
static void weights_wait_for_many_results(void **state)
{
    RowTileShape wide = image(256, 56, 1), narrow = image(256, 6, 1), deep = image(2048, 56, 1),
                 taps = image(64, 28, 3);

    (void)state;
    assert_true(row_tile_plan(&wide).weighs);
    assert_false(row_tile_plan(&narrow).weighs);
    assert_false(row_tile_plan(&deep).weighs);
    assert_false(row_tile_plan(&taps).weighs);
    assert_true(row_tile_plan(&deep).columns > 0);
    wide.inputs = 254; /* not whole fours */
    assert_int_equal(row_tile_plan(&wide).columns, 0);
}

/* A row of 7 or 14 results fills its tiles badly, and a window of one tap costs nothing more than a row. */
static void short_rows_are_gathered(void **state)
{
    RowTileShape narrow = image(128, 14, 3), wide = image(128, 56, 3), open = image(128, 14, 3),
                 deep = image(2048, 14, 3), point = image(128, 56, 1), sparse = image(128, 56, 1);

    (void)state;
    open.results = 0; /* known while running */
    sparse.stride = 2;
    sparse.row = 28;
    sparse.results = 28 * 28;
    assert_true(row_tile_plan(&narrow).gathers);
    assert_int_equal(row_tile_plan(&narrow).words, 12 * 9 * 128 / 2);
    assert_true(row_tile_plan(&sparse).gathers);
    assert_false(row_tile_plan(&wide).gathers);
    assert_false(row_tile_plan(&open).gathers);
    assert_false(row_tile_plan(&point).gathers); /* the image is one row */
    assert_false(row_tile_plan(&deep).gathers);  /* 12 windows would be 442 KB */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scratch_hardly_counts),
                                       cmocka_unit_test(weights_wait_for_many_results),
                                       cmocka_unit_test(short_rows_are_gathered)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
