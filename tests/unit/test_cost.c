/* test_cost.c - predicted times obey what is known of any machine, order the ways of known layers as they were
 * measured, and the file of choices is read back as it was written or refused with its line. */
#include "world.h"

#include "emit/target.h"
#include "ops/lower/winograd.h"
#include "lower/choice.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ConvShape square(int64_t channels, int64_t size, int64_t kernel)
{
    int64_t pad = kernel / 2;

    return (ConvShape){1,
                       1,
                       channels,
                       channels,
                       {1, size, size},
                       {1, size, size},
                       {1, kernel, kernel},
                       {1, 1, 1},
                       {1, 1, 1},
                       {0, pad, pad},
                       false,
                       false};
}

/* Nanoseconds of the multiply-adds alone. */
static double least(const Core *core, const ConvShape *s)
{
    return (double)(s->outputs * s->inputs * s->out[1] * s->out[2] * s->kernel[1] * s->kernel[2]) /
           (core->rate * core->lanes);
}

static void no_prediction_beats_the_peak(void **state)
{
    (void)state;
    for (int n = 0; n < ntargets; n++)
        for (int64_t size = 1; size < 60; size += 3)
            for (int64_t channels = 8; channels <= 512; channels *= 4)
                for (int64_t vectors = 0; vectors <= 4; vectors++) {
                    ConvShape   s = square(channels, size, size % 2 ? 3 : 1);
                    const Core *core = target_core(&targets[n]);

                    assert_true(cost_direct(core, &s, vectors) >= least(core, &s));
                    assert_true(cost_direct(core, &s, vectors) < 100.0 * least(core, &s) + 1e6);
                }
}

/* 13 columns are two tiles of 6 and 7, or of 4 where 3 vectors are left: more than 12 that fill their tiles. */
static void remainders_cost_more_than_their_share(void **state)
{
    const Core *core = &core_avx2;
    ConvShape   even = square(64, 12, 3), odd = square(64, 13, 3);

    (void)state;
    odd.in[1] = odd.out[1] = 12;
    assert_true(cost_direct(core, &odd, 2) * 12.0 > cost_direct(core, &even, 2) * 13.0);
}

static void one_pixel_waits_for_its_weights(void **state)
{
    const Core *core = &core_avx512;
    ConvShape   s = square(2048, 1, 1);

    (void)state;
    assert_true(cost_direct(core, &s, 0) >= 4.0 * 2048 * 2048 / core->far);
}

/* Fastest ways as measured on whole networks: F4 at 56 and 28 and from 16 channels on, F2 at 7; direct where channels
 * are few or little is to be saved. */
static void the_measured_order_is_predicted(void **state)
{
    const Core *core = &core_avx512;
    ConvShape wide = square(64, 56, 3), middle = square(128, 28, 3), narrow = square(512, 7, 3), few = square(8, 28, 3),
              small = square(16, 8, 3);

    (void)state;
    assert_int_equal(winograd_plan(WINOGRAD_ON, core, &wide, 4, 0).m, 4);
    assert_int_equal(winograd_plan(WINOGRAD_ON, core, &middle, 4, 0).m, 4);
    assert_int_equal(winograd_plan(WINOGRAD_ON, core, &narrow, 4, 0).m, 2);
    assert_int_equal(winograd_plan(WINOGRAD_ON, core, &few, 4, 0).m, 0);
    assert_int_equal(winograd_plan(WINOGRAD_AUTO, core, &small, 4, 0).m, 0);
    assert_int_equal(winograd_plan(WINOGRAD_OFF, core, &wide, 4, 0).m, 0);
}

/* Four images at 7 x 7 are worth F4's weights; batches of one to four images are not. At 56 x 56 both are. */
static void the_smallest_batch_counts_as_well(void **state)
{
    const Core *core = &core_avx2;
    ConvShape   small = square(512, 7, 3), large = square(64, 56, 3);

    (void)state;
    small.batch = large.batch = 4;
    small.is_bound = large.is_bound = true;
    assert_int_equal(winograd_plan(WINOGRAD_AUTO, core, &small, 4, 0).m, 4);
    small.is_batch_bound = large.is_batch_bound = true;
    assert_int_equal(winograd_plan(WINOGRAD_AUTO, core, &small, 4, 0).m, 2);
    assert_int_equal(winograd_plan(WINOGRAD_AUTO, core, &large, 4, 0).m, 4);
}

/* At 14 x 14 four times the weights would buy little: AUTO takes the smaller ones. */
static void larger_weights_must_pay(void **state)
{
    const Core *core = &core_avx2;
    ConvShape   s = square(512, 14, 3);

    (void)state;
    assert_int_equal(winograd_plan(WINOGRAD_AUTO, core, &s, 4, 0).m, 2);
    assert_int_equal(winograd_plan(WINOGRAD_AUTO, core, &s, 4, 100).m, 0); /* larger weights take long to load */
    assert_int_equal(winograd_plan(WINOGRAD_ON, core, &s, 4, 0).m, 4);
}

/* Of 8-bit integers as measured: F4 at 56 and 28, the smaller weights of F2 at 14 and 7; direct where the target has no
 * instruction for pairs, or a sum may be too large. */
static void bytes_are_transformed_where_their_sums_fit(void **state)
{
    static const int64_t side[][3] = {
        {64, 56, 4}, {128, 28, 4}, {256, 14, 2}, {512, 7, 2}}; /* channels, pixels, tile */
    const Core *core = &core_avx2;
    int8_t     *weights = arena_array(((World *)*state)->arena, int8_t, 512 * 512 * 9);

    for (int i = 0; i < 4; i++) {
        ConvShape s = square(side[i][0], side[i][1], 3);

        assert_int_equal(winograd_q_plan(WINOGRAD_AUTO, core, &s, DTYPE_U8, weights, 0).m, side[i][2]);
        assert_int_equal(winograd_q_plan(WINOGRAD_OFF, core, &s, DTYPE_U8, weights, 0).m, 0);
        assert_int_equal(winograd_q_plan(WINOGRAD_ON, &core_armv8, &s, DTYPE_U8, weights, 0).m, 0);
    }
    /* Four products of bytes at once leave less to save: seven times the weights do not pay. */
    for (int i = 0; i < 4; i += 3) {
        ConvShape s = square(side[i][0], side[i][1], 3);

        assert_int_equal(winograd_q_plan(WINOGRAD_AUTO, &core_vnni, &s, DTYPE_U8, weights, 0).m, i ? 0 : 4);
    }
    for (int i = 0; i < 2; i++) { /* 9 * 128 inputs of 255 times the weight, against 2^25 */
        ConvShape s = square(128, 28, 3);

        memset(weights, i ? 115 : 114, 128 * 128 * 9);
        assert_int_equal(winograd_q_plan(WINOGRAD_AUTO, core, &s, DTYPE_U8, weights, 0).m, i ? 2 : 4);
        assert_int_equal(winograd_q_plan(WINOGRAD_AUTO, core, &s, DTYPE_I8, weights, 0).m, 4);
    }
}

/* Writes `text` to a file of its own and reads it as choices. */
static int read_text(World *w, const char *text, Choices *choices)
{
    char  path[] = "/tmp/choices_XXXXXX";
    int   handle = mkstemp(path), result;
    FILE *file = fdopen(handle, "w");

    fputs(text, file);
    fclose(file);
    w->diag.status = DIAG_NONE;
    w->diag.nmessage = 0;
    result = choices_read(choices, path, &w->diag);
    unlink(path);
    return result;
}

static void choices_are_read_as_they_are_written(void **state)
{
    World    *w = *state;
    ConvShape a = square(64, 56, 3), b = square(96, 14, 1), c = square(8, 3, 1);
    Algorithm transformed = {4, 0, 0}, direct = {0, 2, -1};
    Text      text = text_new(w->arena);
    Choices   choices;

    text_put(&text, "# a remark\n\n");
    choice_put_shape(&text, &a);
    text_put(&text, " : ");
    choice_put_algorithm(&text, &transformed);
    text_put(&text, "  # 3 us\n");
    choice_put_shape(&text, &b);
    text_put(&text, " : ");
    choice_put_algorithm(&text, &direct);
    assert_int_equal(read_text(w, text.data, &choices), 0);
    assert_int_equal(choices.count, 2);
    assert_int_equal(choice_find(&choices, &a)->m, 4);
    assert_int_equal(choice_find(&choices, &b)->vectors, 2);
    assert_int_equal(choice_find(&choices, &b)->pace, -1);
    assert_null(choice_find(&choices, &c));
    assert_null(choice_find(NULL, &a));
}

static void a_bad_line_is_named(void **state)
{
    static const char good[] = "conv_f32 batch=1 groups=1 inputs=8 outputs=8 in=1,3,3 out=1,3,3 kernel=1,1,1 "
                               "stride=1,1,1 dilation=1,1,1 pad=0,0,0";
    static const struct {
        const char *rest, *wanted;
    } lines[] = {{" : winograd 3", "winograd 2"}, {" : direct 2", "winograd 2"},     {"", "a colon"},
                 {" : direct 3 0", "winograd 2"}, {" : direct 2 0 0", "winograd 2"}, {",1 : direct 2 0", "a colon"}};
    World  *w = *state;
    Choices choices;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(read_text(w, arena_printf(w->arena, "# first\n%s%s\n", good, lines[i].rest), &choices), -1);
        assert_int_equal(w->diag.status, DIAG_INVALID);
        assert_non_null(strstr(w->diag.message[0], "line 2: "));
        assert_non_null(strstr(w->diag.message[0], lines[i].wanted));
    }
    assert_int_equal(read_text(w, arena_printf(w->arena, "%s : direct 0 0\n%s : direct 1 0\n", good, good), &choices),
                     -1);
    assert_non_null(strstr(w->diag.message[0], "line 2: found this shape before"));
    assert_int_equal(read_text(w, "matmul_f32 rows=3\n", &choices), -1);
    assert_int_equal(read_text(w, "conv_f32 batch=x\n", &choices), -1);
    assert_int_equal(read_text(w, "conv_f32 batch=99999999999999999999\n", &choices), -1);
    assert_int_equal(choices_read(&choices, "/nowhere/at/all", &w->diag), -1);
}

/* Does a tap of column c lie outside the input? */
static bool misses_taps(const ConvShape *s, int64_t c)
{
    int64_t first = c * s->stride[2] - s->pad[2], last = first + (s->kernel[2] - 1) * s->dilation[2];

    return first < 0 || last >= s->in[2];
}

/* Does a column miss taps that is in neither the first nor the last tile of a row, of at most `most` columns each? */
static bool misses_taps_inside(const ConvShape *s, int64_t most)
{
    int64_t tiles = (s->out[2] + most - 1) / most, size = s->out[2] / tiles;
    int64_t first = s->out[2] % tiles ? size + 1 : size; /* larger tiles come first */

    for (int64_t c = first; c < s->out[2] - size; c++)
        if (misses_taps(s, c))
            return true;
    return false;
}

static void borders_wider_than_a_tile_are_known(void **state)
{
    static const int64_t most[] = {24, 16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3}; /* occ_tile.h */
    int                  wide = 0, narrow = 0;

    (void)state;
    for (int n = 0; n < 40000; n++) {
        ConvShape s = square(8, 1 + rand() % 60, 1 + rand() % 7);
        s.stride[2] = 1 + rand() % 3;
        s.dilation[2] = rand() % 3 ? 1 : 1 + rand() % 9;
        s.pad[2] = rand() % (s.kernel[2] * s.dilation[2]);
        s.out[2] = 1 + rand() % 60;
        if (conv_has_wide_border(&s)) {
            wide++;
            continue;
        }
        narrow++;
        for (size_t i = 0; i < sizeof most / sizeof *most; i++)
            if (misses_taps_inside(&s, most[i]))
                fail_msg("%d columns miss taps beyond a tile of %d", (int)s.out[2], (int)most[i]);
    }
    assert_true(wide > 5000 && narrow > 5000);
    for (int64_t size = 3; size < 300; size++) {
        ConvShape usual = square(8, size, 3);
        assert_false(conv_has_wide_border(&usual));
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_prediction_beats_the_peak),
        cmocka_unit_test(remainders_cost_more_than_their_share),
        cmocka_unit_test(one_pixel_waits_for_its_weights),
        cmocka_unit_test(the_measured_order_is_predicted),
        cmocka_unit_test(the_smallest_batch_counts_as_well),
        cmocka_unit_test(larger_weights_must_pay),
        cmocka_unit_test(borders_wider_than_a_tile_are_known),
        T(bytes_are_transformed_where_their_sums_fit),
        T(choices_are_read_as_they_are_written),
        T(a_bad_line_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
