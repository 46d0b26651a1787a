/* twin_conv.cc - convolution on the device against the C kernel. */
#include "image.h"

#define occ_conv_krsc_f32 host_conv_krsc_f32
#define occ_conv_work_f32 host_conv_work_f32
#include "conv_krsc_f32.c"
#undef occ_conv_krsc_f32
#undef occ_conv_work_f32
#include "conv_krsc_f32.cu"

static int sides = OCC_SIDES; /* of the tiles that are tried, by number; OCC_SIDES: those that the kernel takes */

static void convolve(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                     const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                     const occ_fused *fused)
{
    if (sides == OCC_SIDES) {
        occ_conv_work_f32(x, x_at, w, bias, y, y_at, nullptr, window, groups, e, fused); /* occ_conv_krsc_f32 does it */
        return;
    }
    OCC_SHARED_ARRAY(float, memory, OCC_CONV_MEMORY);
    OCC_SHARED_ARRAY(occ_krsc_row, rows, OCC_SIDE_BIG);
    const occ_krsc c = {x, x_at, w, bias, y, y_at, window, groups, e, fused, 0};
    occ_krsc_tiles(memory, rows, sides, &c,
                   sides < OCC_SIDES_MIDDLE  ? occ_conv_big_tile
                   : sides == OCC_SIDES_LINE ? occ_conv_line_tile
                                             : occ_conv_slice_tile);
}

static void check(Random *random, int64_t groups, int64_t inputs, int64_t outputs, const int64_t *in, int64_t batch)
{
    int64_t          out[3];
    const occ_window window = window_of(random, in, out);
    const occ_image  x_at = image_of(batch, groups * inputs, in, random->coin(), random->pick(0, 3)),
                    y_at = image_of(batch, groups * outputs, out, random->coin(), random->pick(0, 3));
    const int64_t all = groups * outputs, pixels = batch * out[0] * out[1] * out[2];
    const bool    fuse = random->coin(), with_bias = random->coin();
    occ_fused     fused = {fuse ? 2 : 0, {all + 1, 0}, fuse ? add_and_scale : nullptr};
    Tensor<float> x(size_of(x_at)), w(all * inputs * occ_window_size(&window)), bias(all), x0(pixels * (all + 1)),
        x1(all), y(size_of(y_at));
    for (Tensor<float> *t : {&x, &w, &bias, &x0, &x1})
        t->fill([&] { return random->real(); });
    const occ_expr e = {{x0.at(), x1.at()}, {0, 0}};
    const float *const add = with_bias ? bias.at() : nullptr;
    const auto         host = [&](float *to) {
        host_conv_krsc_f32(x.at(), &x_at, w.at(), add, to, &y_at, &window, groups, &e, &fused);
    };
    const auto device = [&](float *to) {
        convolve(x.at(), &x_at, w.at(), add, to, &y_at, &window, groups, &e, &fused);
    };
    if (sides < OCC_SIDES_MIDDLE)
        compare("conv_krsc", y, host, device);
    else
        near("conv_krsc", 1e-4, y, host, device); /* sums of slices */
}

static void random_geometry(void **)
{
    Random random = {11};
    for (int i = 0; i < rounds(60); i++) {
        const int64_t in[3] = {random.pick(0, 3) ? 1 : random.pick(2, 3), random.pick(1, 9), random.pick(1, 9)};
        check(&random, random.pick(0, 2) ? 1 : random.pick(2, 3), random.pick(1, 9), random.pick(1, 20), in,
              random.pick(1, 2));
    }
}

static void more_outputs_than_a_tile_has(void **)
{
    Random random = {12};
    for (int64_t outputs : {64, 65, 130}) {
        const int64_t in[3] = {1, 6, 11};
        check(&random, 1, 17, outputs, in, 1);
        check(&random, 2, 4, outputs, in, 1);
    }
}

/* Convolutions of small images, of at most so many inputs and outputs. */
static void check_some(Random *random, int64_t inputs, int64_t outputs)
{
    for (int i = 0; i < rounds(20); i++) {
        const int64_t in[3] = {random->pick(0, 3) ? 1 : 2, random->pick(1, 9), random->pick(1, 9)};
        check(random, random->pick(0, 2) ? 1 : 2, random->pick(1, inputs), random->pick(1, outputs), in,
              random->pick(1, 2));
    }
}

/* Large tiles, whatever the shape: few outputs, edges of tiles, groups, channels that are no fours. */
static void large_tiles(void **)
{
    Random random = {13};
    for (int s = OCC_SIDES_BIG; s < OCC_SIDES_MIDDLE; s++) {
        sides = s;
        check_some(&random, 12, 20);
        for (int64_t outputs : {63, 64, 127, 128, 131}) {
            const int64_t in[3] = {1, 12, 13};
            check(&random, 1, 8, outputs, in, 1);
            check(&random, 2, 5, outputs, in, 1);
        }
    }
    sides = OCC_SIDES;
}

/* Small tiles, whatever the shape: several stages of terms, terms and channels that are no fours. */
static void small_tiles(void **)
{
    Random random = {14};
    for (int s = OCC_SIDES_MIDDLE; s < OCC_SIDES; s++) {
        sides = s;
        check_some(&random, 40, 40);
        for (int64_t inputs : {8, 64, 65, 100, 512}) {
            const int64_t in[3] = {1, 3, 4};
            check(&random, 1, inputs, 33, in, 1);
        }
    }
    sides = OCC_SIDES;
}

/* One pixel: windows as large as the image, terms and channels that are no fours, a last tile of a few columns. */
static void one_row(void **)
{
    Random random = {16};
    for (int64_t inputs : {1, 4, 31, 128, 500, 1028})
        for (int64_t outputs : {1, 8, 13}) {
            const int64_t in[3] = {1, 1, 1};
            check(&random, 1, inputs, outputs, in, 1);
        }
    for (int i = 0; i < rounds(40); i++) {
        const int64_t in[3] = {random.pick(1, 2), random.pick(1, 3), random.pick(1, 3)};
        check(&random, 1, random.pick(1, 12), random.pick(1, 10), in, 1);
    }
}

/* Sides follow from the extents: large ones where there are enough tiles, and never more than there are results. */
static void sides_follow(void **)
{
    assert_int_equal(occ_sides_of(1, 3136, 1024, 0), OCC_SIDES_BIG);
    assert_int_equal(occ_sides_of(1, 3135, 64, 1), OCC_SIDES_MIDDLE);
    assert_int_equal(occ_sides_of(1, 1024, 1024, 0), OCC_SIDES_MIDDLE);
    assert_int_equal(occ_sides_of(1, 1024, 1024, 1), OCC_SIDES_HALF);
    assert_int_equal(occ_sides_of(1, 6272, 1024, 1), OCC_SIDES_BIG);
    assert_int_equal(occ_sides_of(1, 100352, 64, 0), OCC_SIDES_NARROW);
    assert_int_equal(occ_sides_of(1, 100352, 192, 1), OCC_SIDES_NARROW);
    assert_int_equal(occ_sides_of(1, 100352, 32, 0), OCC_SIDES_MIDDLE);
    assert_int_equal(occ_sides_of(1, 49, 512, 1), OCC_SIDES_SMALL);
    assert_int_equal(occ_sides_of(1, 1, 4096, 0), OCC_SIDES_LINE);
    assert_int_equal(occ_sides_of(2, 1, 4096, 1), OCC_SIDES_SMALL);
    assert_int_equal(occ_sides_of(1, 147456, 3, 0), OCC_SIDES_SMALL);
    assert_int_equal(occ_sides_of(100, 40, 20, 0), OCC_SIDES_MIDDLE);
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(random_geometry), cmocka_unit_test(more_outputs_than_a_tile_has),
                                cmocka_unit_test(large_tiles), cmocka_unit_test(small_tiles), cmocka_unit_test(one_row),
                                cmocka_unit_test(sides_follow)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
