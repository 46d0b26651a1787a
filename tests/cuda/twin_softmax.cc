/* twin_softmax.cc - reductions, softmax and moments on the device: near the C kernels, and the same bits under
 * every grid and order. */
#include "twin.h"

#define occ_reduce_f32 host_reduce_f32
#define occ_softmax_f32 host_softmax_f32
#define occ_moments_f32 host_moments_f32
#include "softmax_f32.c"
#undef occ_reduce_f32
#undef occ_softmax_f32
#undef occ_moments_f32
#include "softmax_f32.cu"

/* Two kept and two reduced axes of a tensor, in some order of memory. */
struct Axes {
    occ_extent kdim[2], ky[2], kx[2], rdim[2], rstride[2];
    int64_t    places, elements;
};

static Axes axes_of(Random *random, bool long_rows)
{
    Axes          a = {{random->pick(1, 3), random->pick(1, 40)}, {0, 0}, {0, 0}, {1, 1}, {0, 0}, 0, 0};
    const int64_t gap = random->pick(0, 2);
    a.rdim[0] = random->pick(1, 3);
    a.rdim[1] = long_rows ? random->pick(60, 700) : random->pick(1, 40);
    a.ky[1] = 1 + gap;
    a.ky[0] = a.kdim[1] * a.ky[1] + gap;
    if (random->coin()) { /* reduced axes innermost, or kept ones */
        a.rstride[1] = 1 + gap;
        a.rstride[0] = a.rdim[1] * a.rstride[1];
        a.kx[1] = a.rdim[0] * a.rstride[0] + gap;
        a.kx[0] = a.kdim[1] * a.kx[1];
    } else {
        a.kx[1] = 1;
        a.kx[0] = a.kdim[1] + gap;
        a.rstride[1] = a.kdim[0] * a.kx[0];
        a.rstride[0] = a.rdim[1] * a.rstride[1];
    }
    a.places = a.kdim[0] * a.ky[0];
    a.elements = a.kdim[0] * a.kx[0] + a.kdim[1] * a.kx[1] + a.rdim[0] * a.rstride[0] + a.rdim[1] * a.rstride[1];
    return a;
}

static void reductions(void **)
{
    Random random = {31};
    for (int i = 0; i < rounds(110); i++) {
        const Axes    a = axes_of(&random, i % 2);
        const int64_t kind = i % 11;
        Tensor<float> x(a.elements), y(a.places);
        x.fill([&] {
            return kind == OCC_REDUCE_PROD ? 1.0f + random.real() / 500.0f
                                           : random.real() + (kind == OCC_REDUCE_LOGSUM ? 3.0f : 0.0f);
        });
        near(
            "reduce", 2e-5, y,
            [&](float *to) { host_reduce_f32(to, x.at(), kind, 2, a.kdim, a.ky, a.kx, 2, a.rdim, a.rstride); },
            [&](float *to) { occ_reduce_f32(to, x.at(), kind, 2, a.kdim, a.ky, a.kx, 2, a.rdim, a.rstride); });
    }
}

static void softmaxes(void **)
{
    Random random = {32};
    for (int i = 0; i < rounds(60); i++) {
        const Axes    a = axes_of(&random, i % 2);
        Tensor<float> x(a.elements), y(a.elements);
        x.fill([&] { return 3.0f * random.real(); });
        near(
            "softmax", 1e-5, y,
            [&](float *to) {
                host_softmax_f32(to, x.at(), i % 3, a.rdim[1], a.rstride[1], a.rstride[1], 2, a.kdim, a.kx, a.kx);
            },
            [&](float *to) {
                occ_softmax_f32(to, x.at(), i % 3, a.rdim[1], a.rstride[1], a.rstride[1], 2, a.kdim, a.kx, a.kx);
            });
    }
}

static void moments(void **)
{
    Random random = {33};
    for (int i = 0; i < rounds(40); i++) {
        const Axes    a = axes_of(&random, i % 2);
        const int64_t centered = random.coin();
        Tensor<float> x(a.elements), y(2 * a.places);
        x.fill([&] { return random.real(); });
        near(
            "moments", 1e-5, y,
            [&](float *to) {
                host_moments_f32(i % 3 ? to : nullptr, to + a.places, x.at(), centered, 1e-3f, 2, a.kdim, a.ky, a.kx, 2,
                                 a.rdim, a.rstride);
            },
            [&](float *to) {
                occ_moments_f32(i % 3 ? to : nullptr, to + a.places, x.at(), centered, 1e-3f, 2, a.kdim, a.ky, a.kx, 2,
                                a.rdim, a.rstride);
            });
    }
}

/* y may be x itself. */
static void softmax_in_place(void **)
{
    const occ_extent kdim[] = {5}, kx[] = {300};
    Random           random = {34};
    Tensor<float>    x(1500);
    x.fill([&] { return random.real(); });
    near(
        "softmax in place", 1e-5, x,
        [&](float *to) { host_softmax_f32(to, to, OCC_SOFTMAX, 300, 1, 1, 1, kdim, kx, kx); },
        [&](float *to) { occ_softmax_f32(to, to, OCC_SOFTMAX, 300, 1, 1, 1, kdim, kx, kx); });
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(reductions), cmocka_unit_test(softmaxes), cmocka_unit_test(moments),
                                cmocka_unit_test(softmax_in_place)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
