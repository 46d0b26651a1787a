/* twin_pool.cc - pooling on the device against the C kernels. */
#include "image.h"

#include "occ_result.h"
#include "occ_vapart.h"
#include "occ_vrows.h"
#include "pool_twins.h"

namespace bytes
{
#define TPL_T int8_t
#define occ_maxpool_bytes_TPL_N host_maxpool_bytes
#include "maxpool_bytes.c"
#undef occ_maxpool_bytes_TPL_N
#define occ_maxpool_bytes_TPL_N occ_maxpool_bytes
#include "maxpool_bytes.cu"
} // namespace bytes

/* An image, a window over it and what comes out. */
struct Geometry {
    int64_t    in[3], out[3], pad_end[3], batch, channels;
    occ_window window;
    explicit Geometry(Random *random)
        : in{random->pick(0, 3) ? 1 : random->pick(2, 3), random->pick(1, 12), random->pick(1, 12)},
          batch(random->pick(1, 2)), channels(random->pick(1, 9)), window(window_of(random, in, out))
    {
        for (int i = 0; i < 3; i++)
            pad_end[i] = random->pick(0, 2);
    }
};

static void means_and_norms(void **)
{
    Random random = {31};
    for (int i = 0; i < rounds(120); i++) {
        Geometry        g(&random);
        const int64_t   kind = random.pick(OCC_POOL_MAX, OCC_POOL_LP);
        const float     p = static_cast<float>(random.pick(1, 3));
        const occ_image x_at = image_of(g.batch, g.channels, g.in, random.coin(), random.pick(0, 3)),
                        y_at = image_of(g.batch, g.channels, g.out, random.coin(), random.pick(0, 3));
        Tensor<float> x(size_of(x_at)), y(size_of(y_at));
        x.fill([&] { return random.real(); });
        compare(
            "pool", y,
            [&](float *to) { floats::host_pool_f32(x.at(), &x_at, to, &y_at, &g.window, g.pad_end, kind, p); },
            [&](float *to) { floats::occ_pool_f32(x.at(), &x_at, to, &y_at, &g.window, g.pad_end, kind, p); });
    }
}

static void means_and_norms_of_planes(void **)
{
    Random random = {32};
    for (int i = 0; i < rounds(120); i++) {
        Geometry        g(&random);
        const int64_t   kind = random.pick(OCC_POOL_MAX, OCC_POOL_LP);
        const float     p = static_cast<float>(random.pick(1, 3));
        const occ_image x_at = image_of(g.batch, g.channels, g.in, true, random.pick(0, 3)),
                        y_at = image_of(g.batch, g.channels, g.out, true, random.pick(0, 3));
        Tensor<float> x(size_of(x_at)), y(size_of(y_at));
        x.fill([&] { return random.real(); });
        compare(
            "pool_planes", y,
            [&](float *to) { floats::host_pool_planes_f32(x.at(), &x_at, to, &y_at, &g.window, g.pad_end, kind, p); },
            [&](float *to) { floats::occ_pool_planes_f32(x.at(), &x_at, to, &y_at, &g.window, g.pad_end, kind, p); });
    }
}

/* Values and places: one run of each, since both are compared. */
static void maxima_and_their_places(void **)
{
    Random random = {33};
    for (int i = 0; i < rounds(80); i++) {
        Geometry        g(&random);
        const bool      columns = random.coin();
        const occ_image x_at = image_of(g.batch, g.channels, g.in, random.coin(), random.pick(0, 3)),
                        y_at = image_of(g.batch, g.channels, g.out, random.coin(), random.pick(0, 3));
        Tensor<float>   x(size_of(x_at)), y(size_of(y_at)), other(size_of(y_at));
        Tensor<int64_t> place(g.batch * g.channels * g.out[0] * g.out[1] * g.out[2]), none(place);
        x.fill([&] { return random.pick(0, 5); }); /* ties */
        compare(
            "maxpool", y,
            [&](float *to) { places::host_maxpool(x.at(), &x_at, to, &y_at, nullptr, &g.window, columns); },
            [&](float *to) { places::occ_maxpool(x.at(), &x_at, to, &y_at, nullptr, &g.window, columns); });
        compare(
            "places of maxpool", place,
            [&](int64_t *to) { places::host_maxpool(x.at(), &x_at, y.at(), &y_at, to, &g.window, columns); },
            [&](int64_t *to) { places::occ_maxpool(x.at(), &x_at, y.at(), &y_at, to, &g.window, columns); });
    }
}

static void maxima_of_bytes(void **)
{
    Random random = {34};
    for (int i = 0; i < rounds(80); i++) {
        Geometry        g(&random);
        const occ_image x_at = image_of(g.batch, g.channels, g.in, false, random.pick(0, 3)),
                        y_at = image_of(g.batch, g.channels, g.out, false, random.pick(0, 3));
        Tensor<int8_t> x(size_of(x_at)), y(size_of(y_at));
        x.fill([&] { return random.pick(-128, 127); });
        compare(
            "maxpool_bytes", y, [&](int8_t *to) { bytes::host_maxpool_bytes(x.at(), &x_at, to, &y_at, &g.window); },
            [&](int8_t *to) { bytes::occ_maxpool_bytes(x.at(), &x_at, to, &y_at, &g.window); });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(means_and_norms), cmocka_unit_test(means_and_norms_of_planes),
                                cmocka_unit_test(maxima_and_their_places), cmocka_unit_test(maxima_of_bytes)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
