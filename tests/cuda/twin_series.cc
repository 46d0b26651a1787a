/* twin_series.cc - running sums and products on the device: near the C kernel where a row is cut into pieces, its bits
 * elsewhere, and the same bits under every grid and order. */
#include "twin.h"

#include "host_series.h"

static void sums(void **)
{
    Random random = {91};
    for (int i = 0; i < rounds(100); i++) {
        const int64_t outer = random.pick(0, 3), exclusive = random.coin(), reverse = random.coin();
        const int64_t n = random.coin() ? random.pick(0, 70) : random.pick(60, 1200);
        const int64_t inner = random.pick(0, 2) ? random.pick(1, 3) : random.pick(31, 33);
        const double  tolerance = n >= OCC_RUNNING_LONG && inner < 32 ? 2e-5 : 0.0;
        Tensor<float> x(outer * n * inner), y(outer * n * inner);
        x.fill([&] { return random.real(); });
        near(
            "cumsum", tolerance, y, [&](float *to) { host_cumsum(to, x.at(), outer, n, inner, exclusive, reverse); },
            [&](float *to) { occ_cumsum_TPL_N(to, x.at(), outer, n, inner, exclusive, reverse); });
    }
}

/* Whole numbers, whose sums are exact in any order. */
static void exact_sums(void **)
{
    Random        random = {92};
    Tensor<float> x(3 * 2000), y(3 * 2000);
    x.fill([&] { return random.pick(-100, 100); });
    for (int64_t exclusive = 0; exclusive < 2; exclusive++)
        for (int64_t reverse = 0; reverse < 2; reverse++)
            compare(
                "cumsum", y, [&](float *to) { host_cumsum(to, x.at(), 3, 2000, 1, exclusive, reverse); },
                [&](float *to) { occ_cumsum_TPL_N(to, x.at(), 3, 2000, 1, exclusive, reverse); });
}

static void products(void **)
{
    Random random = {93};
    for (int i = 0; i < rounds(40); i++) {
        const int64_t outer = random.pick(0, 3), n = random.pick(0, 90), inner = random.pick(1, 40);
        const int64_t exclusive = random.coin(), reverse = random.coin();
        Tensor<float> x(outer * n * inner), y(outer * n * inner);
        x.fill([&] { return random.real(); });
        compare(
            "cumprod", y, [&](float *to) { host_cumprod(to, x.at(), outer, n, inner, exclusive, reverse); },
            [&](float *to) { occ_cumprod_TPL_N(to, x.at(), outer, n, inner, exclusive, reverse); });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(exact_sums), cmocka_unit_test(products)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
