/* twin_convtranspose.cc - transposed convolution on the device against the C kernel. */
#include "image.h"

#define occ_convtranspose_f32 host_convtranspose_f32
#include "convtranspose_f32.c"
#undef occ_convtranspose_f32
#include "convtranspose_f32.cu"

static void random_geometry(void **)
{
    Random random = {97};
    for (int i = 0; i < rounds(100); i++) {
        const int64_t    in[3] = {random.pick(0, 3) ? 1 : random.pick(2, 3), random.pick(1, 6), random.pick(1, 6)};
        int64_t          unused[3], out[3];
        const occ_window window = window_of(&random, in, unused);
        for (int k = 0; k < 3; k++)
            out[k] = (in[k] - 1) * window.stride[k] + (window.kernel[k] - 1) * window.dilation[k] + 1 +
                     random.pick(0, 1) - random.pick(0, 2);
        for (int64_t &extent : out)
            extent = extent < 1 ? 1 : extent;
        const int64_t   batch = random.pick(1, 2), groups = random.pick(1, 3), inputs = random.pick(1, 9);
        const int64_t   outputs = random.coin() ? random.pick(1, 8) : random.pick(31, 70);
        const occ_image x_at = image_of(batch, groups * inputs, in, random.coin(), random.pick(0, 3)),
                        y_at = image_of(batch, groups * outputs, out, random.coin(), random.pick(0, 3));
        Tensor<float> x(size_of(x_at)), w(groups * outputs * inputs * occ_window_size(&window) + 3),
            bias(groups * outputs), y(size_of(y_at));
        for (Tensor<float> *t : {&x, &w, &bias})
            t->fill([&] { return random.real(); });
        const float *b = random.coin() ? bias.at() : nullptr;
        near(
            "convtranspose", 1e-5, y,
            [&](float *to) { host_convtranspose_f32(x.at(), &x_at, w.at(), b, to, &y_at, &window, groups); },
            [&](float *to) { occ_convtranspose_f32(x.at(), &x_at, w.at(), b, to, &y_at, &window, groups); });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(random_geometry)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
