/* twin_conv.cc - convolution on the device against the C kernel. */
#include "image.h"

#define occ_conv_krsc_f32 host_conv_krsc_f32
#include "conv_krsc_f32.c"
#undef occ_conv_krsc_f32
#include "conv_krsc_f32.cu"

static bool big; /* try the big tiles */

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
    compare(
        "conv_krsc", y,
        [&](float *to) {
            host_conv_krsc_f32(x.at(), &x_at, w.at(), with_bias ? bias.at() : nullptr, to, &y_at, &window, groups, &e,
                               &fused);
        },
        [&](float *to) {
            (big ? occ_conv_big_f32 : occ_conv_krsc_f32)(x.at(), &x_at, w.at(), with_bias ? bias.at() : nullptr, to,
                                                         &y_at, &window, groups, &e, &fused);
        });
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

/* Tiles of 128 x 128, whatever the shape: few outputs, edges of tiles, groups, channels that are no fours. */
static void big_tiles(void **)
{
    Random random = {13};
    big = true;
    for (int i = 0; i < rounds(20); i++) {
        const int64_t in[3] = {random.pick(0, 3) ? 1 : 2, random.pick(1, 9), random.pick(1, 9)};
        check(&random, random.pick(0, 2) ? 1 : 2, random.pick(1, 12), random.pick(1, 20), in, random.pick(1, 2));
    }
    for (int64_t outputs : {127, 128, 131}) {
        const int64_t in[3] = {1, 12, 13};
        check(&random, 1, 8, outputs, in, 1);
        check(&random, 2, 5, outputs, in, 1);
    }
    big = false;
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(random_geometry), cmocka_unit_test(more_outputs_than_a_tile_has),
                                cmocka_unit_test(big_tiles)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
