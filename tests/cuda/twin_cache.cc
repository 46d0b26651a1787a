/* twin_cache.cc - the cache of keys and values on the device against the C kernel: every bit. */
#include "twin.h"

#define occ_cache_append_TPL_N host_cache_append
#include "cache.c"
#undef occ_cache_append_TPL_N
#include "cache.cu"

static void appends(void **)
{
    Random random = {98};
    for (int i = 0; i < rounds(100); i++) {
        const int64_t    batch = random.pick(1, 3), heads = random.pick(1, 4), old = random.pick(0, 9);
        const int64_t    fresh = random.pick(0, 4), rows = fresh + random.pick(0, 12), width = random.pick(1, 20);
        const int64_t    total = random.pick(0, rows + 2);
        const bool       in_place = old > 0 && random.coin(); /* the rows of the past are those of y's first content */
        const bool       by_rows = random.coin();             /* the new rows of all heads lie side by side */
        const occ_extent nstride[] = {heads * fresh * width, by_rows ? width : fresh * width,
                                      by_rows ? heads * width : width};
        int64_t          length[3];
        Tensor<float>    past(batch * heads * old * width), now(batch * heads * fresh * width),
            y(batch * heads * rows * width);
        for (int64_t &n : length)
            n = random.pick(0, std::min(old, rows - fresh));
        past.fill([&] { return random.real(); });
        now.fill([&] { return random.real(); });
        y.fill([&] { return random.real(); });
        compare(
            "cache_append", y,
            [&](float *to) {
                assert_int_equal(host_cache_append(to, old && !in_place ? past.at() : nullptr, now.at(), length, batch,
                                                   heads, rows, total, old, fresh, width, nstride),
                                 0);
            },
            [&](float *to) {
                if (occ_cache_append_TPL_N(to, old && !in_place ? past.at() : nullptr, now.at(), length, batch, heads,
                                           rows, total, old, fresh, width, nstride))
                    fail_msg("a twin fails where the C kernel does not");
            });
    }
}

/* A length that leaves no room for the new rows, in any member of the batch. */
static void lengths_are_checked(void **)
{
    const occ_extent nstride[] = {8, 4, 4};
    Tensor<float>    y(48), past(48, 0.0f), now(24, 0.0f);
    for (int bad = 0; bad < 6; bad++) {
        int64_t length[] = {1, 1, 1};
        int     status = 0;
        length[bad % 3] = bad < 3 ? -1 : 2;
        emulate::run("cache_append", 3, 96, [&] {
            occ_fail(&status,
                     occ_cache_append_TPL_N(y.at(), past.at(), now.at(), length, 3, 2, 2, 2, 2, 1, 4, nstride));
        });
        assert_int_equal(status, OCC_EINDEX);
        y.check_zones();
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(appends), cmocka_unit_test(lengths_are_checked)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
