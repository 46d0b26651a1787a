/* twin_rank.cc - argmax and topk on the device against the C kernels: every bit, with equal elements and NaNs. */
#include "twin.h"

#define occ_argmax_TPL_N host_argmax
#define occ_topk_TPL_N host_topk
#include "rank.c"
#undef occ_argmax_TPL_N
#undef occ_topk_TPL_N
#include "rank.cu"

/* Rows, [outer][n][inner]: short ones, long ones, and long ones side by side. */
struct Rows {
    int64_t outer, n, inner;
    int64_t count() const
    {
        return outer * n * inner;
    }
};

static Rows draw_rows(Random *random, int kind, int64_t most)
{
    const int64_t n = kind == 0 ? random->pick(1, OCC_RANK_LONG) : random->pick(OCC_RANK_LONG - 1, most);
    return {random->pick(0, 2), n, kind == 2 ? random->pick(30, 40) : random->pick(1, 3)};
}

/* Elements many of which are equal, with a NaN now and then. */
static void fill(Tensor<float> *x, Random *random)
{
    const int64_t most = random->coin() ? 3 : 1000;
    const bool    has_nans = random->coin();
    x->fill([&] {
        return has_nans && !random->pick(0, 20) ? std::nanf("") : static_cast<float>(random->pick(-most, most));
    });
}

static void argmaxes(void **)
{
    Random random = {81};
    for (int i = 0; i < rounds(120); i++) {
        const Rows      r = draw_rows(&random, i % 3, 900);
        const int64_t   largest = random.coin(), last = random.coin();
        Tensor<float>   x(r.count());
        Tensor<int64_t> y(r.outer * r.inner);
        fill(&x, &random);
        compare(
            "argmax", y, [&](int64_t *to) { host_argmax(to, x.at(), r.outer, r.n, r.inner, largest, last); },
            [&](int64_t *to) { occ_argmax_TPL_N(to, x.at(), r.outer, r.n, r.inner, largest, last); });
    }
}

/* Places and, behind them, values: two in the memory of a place. */
static void topks(void **)
{
    Random random = {82};
    for (int i = 0; i < rounds(60); i++) {
        const Rows      r = draw_rows(&random, i % 2, i % 10 ? 80 : 600);
        const int64_t   largest = random.coin(), k = random.coin() ? random.pick(0, r.n) : random.pick(0, 3) % r.n;
        const int64_t   count = r.outer * k * r.inner;
        Tensor<float>   x(r.count());
        Tensor<int64_t> y(count + (count + 1) / 2);
        fill(&x, &random);
        const auto values = [&](int64_t *to) { return static_cast<float *>(static_cast<void *>(to + count)); };
        compare(
            "topk", y,
            [&](int64_t *to) {
                assert_int_equal(host_topk(values(to), to, x.at(), r.outer, r.n, r.inner, k, largest), 0);
            },
            [&](int64_t *to) {
                if (occ_topk_TPL_N(values(to), to, x.at(), r.outer, r.n, r.inner, k, largest))
                    fail_msg("a twin fails where the C kernel does not");
            });
    }
}

/* More results than elements. */
static void topk_of_too_many(void **)
{
    Tensor<float>   x(6, 0.0f), value(0);
    Tensor<int64_t> place(0);
    int             status = 0;
    emulate::run("topk", 2, 32,
                 [&] { occ_fail(&status, occ_topk_TPL_N(value.at(), place.at(), x.at(), 2, 3, 1, 4, 1)); });
    assert_int_equal(status, OCC_EINDEX);
    value.check_zones();
    place.check_zones();
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(argmaxes), cmocka_unit_test(topks),
                                cmocka_unit_test(topk_of_too_many)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
