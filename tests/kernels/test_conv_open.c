/* test_conv_open.c - convolution with literal channels and windows of images whose height and width are variables: full
 * tiles, shorter ones, edges and single columns of every width; blocks of k outermost in small images; images that are
 * one line. */
#include "conv_check.h"
#include "conv_open_f32.c"

/* name, channels in, out, largest width, kernel, stride, dilation, pad, groups, vectors, rows, pace */
/* clang-format off */
#define CONVOLUTIONS(CONV) \
    CONV(plain_3x3, 8, 64, 33, 3, 1, 1, 1, 1, 0, 0, 0) CONV(few_channels, 5, 20, 28, 3, 1, 1, 1, 1, 0, 0, 0) \
    CONV(strided, 16, 48, 35, 3, 2, 1, 1, 1, 0, 2, 0) CONV(stem, 3, 33, 40, 7, 2, 1, 3, 1, 0, 0, 0) \
    CONV(dilated, 4, 12, 21, 3, 1, 2, 2, 1, 0, 0, 0) CONV(grouped, 4, 6, 12, 3, 1, 1, 1, 3, 0, 0, 0) \
    CONV(slim_tile, 16, 64, 9, 3, 1, 1, 1, 1, 1, 3, 0) CONV(only_padding, 3, 8, 6, 3, 1, 1, 3, 1, 0, 0, 0) \
    CONV(lone_channel, 1, 1, 18, 3, 1, 1, 1, 1, 0, 0, 0) CONV(paced, 70, 64, 14, 3, 2, 1, 1, 1, 2, 0, 8)

/* Convolutions of one tap, whose images are lines of pixels. */
#define LINES(CONV) \
    CONV(one_by_one, 24, 72, 9, 1, 1, 1, 0, 1, 0, 0, 0) CONV(deep_line, 200, 72, 20, 1, 1, 1, 0, 1, 0, 0, 0) \
    CONV(deep_line_wide, 100, 144, 17, 1, 1, 1, 0, 1, 4, 0, 0) CONV(crowded, 1024, 128, 5, 1, 1, 1, 0, 1, 0, 0, 4) \
    CONV(long_line, 97, 32, 34, 1, 1, 1, 0, 1, 0, 0, 16) CONV(three_vectors, 100, 24, 15, 1, 1, 1, 0, 1, 0, 0, 2) \
    CONV(three_rows, 200, 72, 20, 1, 1, 1, 0, 1, 0, 3, 0) \
    CONV(row_by_row, 20, 36, 13, 1, 1, 1, 0, 1, 0, 1, 0) CONV(two_rows, 12, 40, 11, 1, 1, 1, 0, 2, 0, 2, 0)

/* Deep in images of one block of pixels, and in blocks of rows where enough pixels see each tap. */
#define DEEP(CONV) \
    CONV(deep, 70, 64, 30, 3, 1, 1, 1, 1, 0, 0, 32) CONV(deep_strided, 130, 32, 31, 3, 2, 1, 1, 1, 0, 0, 8) \
    CONV(deep_point, 96, 32, 19, 1, 2, 1, 0, 1, 0, 0, 16) CONV(deep_grouped, 33, 32, 9, 3, 1, 1, 1, 2, 0, 0, 4) \
    CONV(deep_wide, 32, 32, 16, 5, 1, 1, 2, 1, 0, 0, 1) CONV(deep_dilated, 40, 32, 12, 3, 1, 3, 3, 1, 0, 16, 2)

/* Images of one row, a literal: deep up to 12 pixels where nothing is prefetched, else up to 64. */
#define SINGLES(CONV) \
    CONV(single, 64, 64, 30, 3, 1, 1, 1, 1, 0, 0, -1) CONV(single_strided, 40, 32, 29, 3, 2, 1, 1, 1, 0, 0, 0) \
    CONV(single_wide, 33, 64, 16, 9, 1, 1, 4, 1, 0, 0, -1) CONV(single_far, 70, 32, 70, 3, 1, 2, 2, 2, 0, 0, 4) \
    CONV(single_rest, 3, 34, 24, 5, 1, 1, 0, 1, 0, 0, -1) /* whose last channels are one vector */
/* clang-format on */

/* down: rows of the window; edge: rows of padding; rows, results: rows of the image and of its results. */
#define FORM(name, called, ic, oc, k, s, d, p, g, v, r, pace, down, edge, rows, results) \
    OCC_STEP void run_##name(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, \
                             float *y, const int64_t *ys, const occ_extent *pitch, const occ_expr *e) \
    { \
        const occ_image  x_at = {{c->batch, ic * g, 1, rows, c->in[2]}, {xs[0], 1, xs[2], xs[3], ic * g}}; \
        const occ_image  y_at = {{c->batch, oc * g, 1, results, c->out[2]}, {ys[0], 1, ys[2], ys[3], oc * g}}; \
        const occ_window window = {{1, down, k}, {1, s, s}, {1, d, d}, {0, edge, p}}; \
        const occ_extent tile[] = {v, r, pace}; \
        const occ_fused  fused = {2, {oc * g + 5, 0}, epilogue}; \
        (void)pitch; \
        called(x, &x_at, w, bias, y, &y_at, &window, g, tile, e, &fused); \
    }
#define OPEN(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    FORM(name, occ_conv_open_f32, ic, oc, k, s, d, p, g, v, r, pace, k, p, c->in[1], c->out[1])
CONVOLUTIONS(OPEN)
LINES(OPEN)
DEEP(OPEN)

#define SINGLE(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    FORM(name, occ_conv_open_f32, ic, oc, k, s, d, p, g, v, r, pace, 1, 0, 1, 1)
SINGLES(SINGLE)

/* The same of an image that is one line. */
#define FLAT(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    FORM(name##_flat, occ_conv_flat_f32, ic, oc, k, s, d, p, g, v, r, pace, k, p, c->in[1], c->out[1])
LINES(FLAT)

/* The same with tiles of two vectors asked for, which are never deep. */
#define ROWS(name, ic, oc, most, k, s, d, p, g, v, r, pace) OPEN(name##_rows, ic, oc, most, k, s, d, p, g, 2, r, pace)
DEEP(ROWS)

/* down: rows of the window; edge: rows of padding above and below; stride and dilation hold for both axes. */
#define SHAPE(batch, g, ic, oc, down, k, s, d, edge, p) \
    ((Conv){batch, g, ic, oc, {1, 1, 1}, {1, 1, 1}, {1, down, k}, {1, s, s}, {1, d, d}, {0, edge, p}, {0}, 0, 0, 1})

/* Square images, or images of one row, of widths up to `most`, each `step`-th, against the reference. */
static void check_widths(Conv c, int64_t most, int64_t step, int one_row, Run form)
{
    for (int64_t width = 1; width <= most; width += step) {
        c.batch = 1 + width % 2;
        if (!set_width(&c, width))
            continue;
        if (one_row)
            c.in[1] = c.out[1] = 1;
        check_within(&c, form, 0, 1, 3e-6);
    }
}

/* Deep images have the bits of rows as well, which another test compares. */
static void every_width(void **state)
{
    (void)state;
#define EVERY(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    check_widths(SHAPE(1, g, ic, oc, k, k, s, d, p, p), most, 1, 0, run_##name);
#define THIRD(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    check_widths(SHAPE(1, g, ic, oc, k, k, s, d, p, p), most, 3, 0, run_##name);
    CONVOLUTIONS(EVERY)
    LINES(EVERY)
    DEEP(THIRD)
}

static void every_width_of_one_row(void **state)
{
    (void)state;
#define SINGLE_ROW(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    check_widths(SHAPE(1, g, ic, oc, 1, k, s, d, 0, p), most, 1, 1, run_##name);
    SINGLES(SINGLE_ROW)
}

/* Images of every height up to 8 and every width, and of some larger ones, of which one form has every bit that another
 * gives them. */
static void check_bits(Conv c, int64_t most, Run form, Run other)
{
    const int64_t all = c.groups * c.outputs, in = c.groups * c.inputs, taps = c.kernel[1] * c.kernel[2];
    const int64_t nx = c.batch * most * most * in, ny = 4 * most * most * all,
                  nw = pack_conv_size(c.groups, c.outputs, c.inputs, taps);
    uint64_t seed = 11;
    float   *x = test_random_floats(&seed, nx), *w = test_random_floats(&seed, nw), *y = test_floats(ny),
          *want = test_floats(ny), *bias = test_random_floats(&seed, all),
          *add = test_random_floats(&seed, ny + 5 * ny);
    const occ_expr e = {{add, bias}, {0}};

    for (int64_t height = 1; height <= most; height += 1 + height / 8)
        for (int64_t width = 1; width <= most; width += 1 + height % 2 + width / 16) {
            int64_t xs[5] = {height * width * in, 1, 0, width * in, in}, ys[5] = {0, 1, 0, 0, all};
            if (!set_width(&c, height) || !set_width(&c, width))
                continue;
            c.in[1] = height;
            c.out[1] = (height + 2 * c.pad[1] - (c.kernel[1] - 1) * c.dilation[1] - 1) / c.stride[1] + 1;
            ys[3] = c.out[2] * all;
            ys[0] = c.out[1] * ys[3];
            form(&c, x, xs, w, bias, y, ys, NULL, &e);
            other(&c, x, xs, w, bias, want, ys, NULL, &e);
            assert_memory_equal(y, want, (size_t)(c.batch * ys[0]) * sizeof *y);
        }
    test_release(x, nx), test_release(w, nw), test_release(y, ny), test_release(want, ny), test_release(bias, all);
    test_release(add, ny + 5 * ny);
}

static void deep_images_have_the_bits_of_rows(void **state)
{
    (void)state;
#define BITS(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    check_bits(SHAPE(2, g, ic, oc, k, k, s, d, p, p), most, run_##name, run_##name##_rows);
    DEEP(BITS)
}

/* Of one image, which may be taken by blocks of k, and of two. */
static void lines_have_the_bits_of_rows(void **state)
{
    (void)state;
#define LINE_BITS(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    for (int64_t batch = 1; batch <= 2; batch++) \
        check_bits(SHAPE(batch, g, ic, oc, k, k, s, d, p, p), most, run_##name##_flat, run_##name);
    LINES(LINE_BITS)
}

/* A convolution of stride 1 with 3x3 taps of 128 inputs and `outputs` outputs. */
static int is_deep(int64_t height, int64_t width, int64_t outputs)
{
    const occ_conv g = {.batch = 1,
                        .inputs = 128,
                        .outputs = outputs,
                        .in = {1, height, width},
                        .out = {1, height, width},
                        .xchannel = 1,
                        .kernel = {1, 3, 3},
                        .stride = {1, 1, 1},
                        .dilation = {1, 1, 1},
                        .pad = {0, 1, 1},
                        .pace = 8};

    return occ_conv_is_deep_open(&g);
}

/* 196 pixels are one block, or 64 in one row. Of wider images, each tap must see at least 25 pixels of each block of
 * rows. */
static void small_images_are_deep(void **state)
{
    (void)state;
    assert_true(is_deep(14, 14, 64));
    assert_true(is_deep(2, 2, 64));
    assert_true(is_deep(2, 98, 64));
    assert_false(is_deep(3, 98, 64));
    assert_false(is_deep(2, 197, 64));
    assert_true(is_deep(1, 14, 64));
    assert_false(is_deep(1, 65, 64));
    assert_false(is_deep(14, 14, 48));
#if OCC_W == 8
    assert_true(is_deep(28, 28, 64));
#endif
}

/* The columns of a run that no tile of its widths takes: each width's own part is a whole number of tiles. */
static int64_t left_of(int64_t count, int full, int least)
{
    const occ_conv_ends ends = occ_conv_ends_of(3, 3 + count, full, least);
    int64_t             c = ends.full;

    assert_true(3 <= c);
    assert_int_equal((c - 3) % full, 0);
    for (int n = 0; n < OCC_CONV_SHORTER; n++) {
        const int width = occ_conv_shorter(full, least, n);

        assert_true(width == 0 || (width >= least && width < full));
        if (width == 0)
            continue;
        if (occ_conv_cut_of(full, least) != OCC_CUT_HALVES) /* else as many as fit up to the end of all */
            assert_int_equal((ends.shorter[n] - c) % width, 0);
        for (; c + width <= ends.shorter[n]; c += width)
            ;
    }
    assert_int_equal(c, ends.shorter[OCC_CONV_SHORTER - 1]);
    return 3 + count - c;
}

static void runs_are_cut_into_tiles(void **state)
{
    (void)state;
    for (int64_t count = 0; count <= 120; count++) {
        const int64_t few = count < 4 ? count : 0;

        assert_int_equal(left_of(count, 6, 4), OCC_W < 8 ? count % 6 % 4 : count < 4 ? count : count == 7);
        assert_int_equal(left_of(count, 12, 8), count % 12 % 8);
        assert_int_equal(left_of(count, 24, 8), count % 24 % 8);
        assert_int_equal(left_of(count, 9, 2), count % 9 % 2);
        assert_int_equal(left_of(count, 7, 2), count % 7 % 2);
        assert_int_equal(left_of(count, 5, 2), count % 5 % 2);
        assert_int_equal(left_of(count, 14, 4), few);
        assert_int_equal(left_of(count, 10, 4), few);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width),
        cmocka_unit_test(every_width_of_one_row),
        cmocka_unit_test(deep_images_have_the_bits_of_rows),
        cmocka_unit_test(lines_have_the_bits_of_rows),
        cmocka_unit_test(small_images_are_deep),
        cmocka_unit_test(runs_are_cut_into_tiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
