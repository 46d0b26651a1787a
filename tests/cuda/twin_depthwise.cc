/* twin_depthwise.cc - depthwise convolution on the device against the C kernel. */
#include "image.h"

#define occ_depthwise_f32 host_depthwise_f32
#include "depthwise_f32.c"
#undef occ_depthwise_f32
#include "depthwise_f32.cu"

static void random_geometry(void **)
{
    Random random = {21};
    for (int i = 0; i < rounds(120); i++) {
        const int64_t    in[3] = {random.pick(0, 3) ? 1 : random.pick(2, 3), random.pick(1, 12), random.pick(1, 12)};
        int64_t          out[3];
        const int64_t    batch = random.pick(1, 2), made = random.pick(1, 40), channels = made + random.pick(0, 2);
        const occ_window window = window_of(&random, in, out);
        const occ_image  x_at = image_of(batch, made, in, false, random.pick(0, 3)),
                        y_at = image_of(batch, made, out, random.coin(), random.pick(0, 3));
        const int64_t pixels = batch * out[0] * out[1] * out[2];
        const bool    fuse = random.coin(), with_bias = random.coin();
        occ_fused     fused = {fuse ? 2 : 0, {made + 1, 0}, fuse ? add_and_scale : nullptr};
        Tensor<float> x(size_of(x_at)), w(channels * occ_window_size(&window)), bias(made), x0(pixels * (made + 1)),
            x1(made), y(size_of(y_at));
        for (Tensor<float> *t : {&x, &w, &bias, &x0, &x1})
            t->fill([&] { return random.real(); });
        const occ_expr e = {{x0.at(), x1.at()}, {0, 0}};
        const float   *b = with_bias ? bias.at() : nullptr;
        compare(
            "depthwise", y,
            [&](float *to) { host_depthwise_f32(x.at(), &x_at, w.at(), b, to, &y_at, &window, channels, &e, &fused); },
            [&](float *to) { occ_depthwise_f32(x.at(), &x_at, w.at(), b, to, &y_at, &window, channels, &e, &fused); });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(random_geometry)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
