/* test_emulate.cc - the emulation itself: right kernels are right in every order, wrong ones are found. */
#define OCC_EMULATE
#include "occ_cuda.h"

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
extern "C" {
#include <cmocka.h>
}

/* y = a b for n x n matrices by tiles of 8 x 8 in shared memory, for any grid and block. `barriers`: with the second
 * one. */
template <bool barriers> static void product(float *y, const float *a, const float *b, int n)
{
    OCC_SHARED_ARRAY(float, left, 64);
    OCC_SHARED_ARRAY(float, right, 64);
    const int tiles = n / 8;
    for (int tile = occ_block(); tile < tiles * tiles; tile += occ_grid()) {
        const int row = tile / tiles * 8, column = tile % tiles * 8;
        float     sum[2] = {0, 0};
        for (int k = 0; k < n; k += 8) {
            for (int i = occ_thread(); i < 64; i += occ_threads()) {
                left[i] = a[(row + i / 8) * n + k + i % 8];
                right[i] = b[(k + i / 8) * n + column + i % 8];
            }
            occ_barrier();
            for (int s = 0, i = occ_thread(); i < 64; i += occ_threads(), s++)
                for (int j = 0; j < 8; j++)
                    sum[s] = occ_fma(left[i / 8 * 8 + j], right[j * 8 + i % 8], sum[s]);
            if (barriers)
                occ_barrier();
        }
        for (int s = 0, i = occ_thread(); i < 64; i += occ_threads(), s++)
            y[(row + i / 8) * n + column + i % 8] = sum[s];
    }
}

static int wrong_elements(bool barriers, int blocks, int threads, uint64_t seed)
{
    constexpr int n = 32;
    float         a[n * n], b[n * n], y[n * n];
    int           wrong = 0;
    for (int i = 0; i < n * n; i++)
        a[i] = static_cast<float>(i % 7 - 3), b[i] = static_cast<float>(i % 11 - 5), y[i] = 1e9f;
    emulate::settings.seed = seed;
    emulate::run("product", blocks, threads,
                 [&] { barriers ? product<true>(y, a, b, n) : product<false>(y, a, b, n); });
    for (int i = 0; i < n * n; i++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += a[i / n * n + k] * b[k * n + i % n];
        wrong += sum != y[i];
    }
    return wrong;
}

static void barriers_order_shared_memory(void **)
{
    for (uint64_t seed = 1; seed < 20; seed++) {
        assert_int_equal(wrong_elements(true, 1, 32, seed), 0);
        assert_int_equal(wrong_elements(true, 3, 96, seed), 0);
        assert_int_equal(wrong_elements(true, 7, 256, seed), 0);
    }
}

static void a_missing_barrier_is_seen(void **)
{
    assert_true(wrong_elements(false, 3, 64, 5) > 100);
}

static long faults_of(int threads, const std::function<void()> &body)
{
    emulate::settings.count_faults = true;
    emulate::settings.faults = 0;
    emulate::run("faulty", 1, threads, body);
    emulate::settings.count_faults = false;
    return emulate::settings.faults;
}

static void uneven_barriers_are_faults(void **)
{
    assert_true(faults_of(64, [] {
                    if (occ_thread() < 40)
                        occ_barrier();
                }) > 0);
    assert_true(faults_of(64, [] {
                    if (occ_thread() % 2) {
                        occ_barrier();
                    } else {
                        occ_barrier();
                    }
                }) > 0);
    assert_true(faults_of(32, [] {
                    if (occ_thread() < 31)
                        (void)occ_shuffle(occ_thread(), 0);
                }) > 0);
    assert_true(faults_of(33, [] {}) > 0);
    assert_true(faults_of(32, [] {
                    OCC_SHARED_ARRAY(float, large, 12289);
                    (void)large;
                }) > 0);
}

static void lanes_exchange_values(void **)
{
    std::vector<float> sum(128);
    emulate::run("sum", 2, 64, [&] {
        float v = static_cast<float>(occ_unit() + 1);
        for (int far = 16; far > 0; far /= 2)
            v += occ_shuffle(v, occ_lane() ^ far);
        sum[static_cast<size_t>(occ_unit())] = v;
    });
    for (size_t i = 0; i < 128; i++)
        assert_true(sum[i] == static_cast<float>(32 * (i / 32 * 32) + 528));
}

/* A copy that is not waited for is not there, in some order. */
static void copies_take_until_they_are_waited_for(void **)
{
    alignas(16) float from[128];
    int               early = 0, late = 0;
    for (int i = 0; i < 128; i++)
        from[i] = static_cast<float>(i);
    emulate::run("copy", 1, 32, [&] {
        OCC_SHARED_ARRAY(float, to, 256);
        const int i = occ_thread() * 4;
        occ_copy16_or_zero(to + i, from + i, 1);
        occ_copy_commit();
        occ_copy16_or_zero(to + 128 + i, from + i, 1);
        occ_copy_commit();
        occ_copy_wait(1);
        early += to[i + 3] == from[i + 3] && to[i] == from[i];
        late += to[128 + i] != from[i];
        occ_copy_wait(0);
        early += to[128 + i] == from[i];
    });
    assert_int_equal(early, 64);
    assert_true(late > 5);
    assert_true(faults_of(32, [&] {
                    OCC_SHARED_ARRAY(float, to, 128);
                    occ_copy16_or_zero(to + occ_thread(), from, 1);
                    occ_copy_wait(0);
                }) > 0);
}

static void bytes_are_multiplied_by_kind(void **)
{
    assert_int_equal(occ_dot4_ii(0xff028003u, 0x05ff7f02u, 10), 10 - 5 - 2 - 128 * 127 + 6);
    assert_int_equal(occ_dot4_uu(0xff028003u, 0x05ff7f02u, 10), 10 + 255 * 5 + 2 * 255 + 128 * 127 + 6);
    assert_int_equal(occ_dot4_ui(0xff028003u, 0x05ff7f02u, 10), 10 + 255 * 5 - 2 + 128 * 127 + 6);
}

static void the_first_failure_is_kept(void **)
{
    int status = 0;
    emulate::run("fail", 2, 64, [&] { occ_fail(&status, occ_thread() % 5 ? 0 : -4); });
    assert_int_equal(status, -4);
}

static void launches_nest_and_repeat(void **)
{
    std::vector<int> times(4096);
    emulate::run("plain", 16, 256, [&] { times[static_cast<size_t>(occ_unit())]++; });
    for (int n : times)
        assert_int_equal(n, 1);
}

/* With an argument, for ThreadSanitizer: only the right product, or only the one without its second barrier. */
int main(int arguments, char **argument)
{
    if (arguments > 1)
        return wrong_elements(!strcmp(argument[1], "right"), 2, 64, 1) ? 1 : 0;
    const CMUnitTest tests[] = {cmocka_unit_test(barriers_order_shared_memory),
                                cmocka_unit_test(a_missing_barrier_is_seen),
                                cmocka_unit_test(uneven_barriers_are_faults),
                                cmocka_unit_test(lanes_exchange_values),
                                cmocka_unit_test(copies_take_until_they_are_waited_for),
                                cmocka_unit_test(bytes_are_multiplied_by_kind),
                                cmocka_unit_test(the_first_failure_is_kept),
                                cmocka_unit_test(launches_nest_and_repeat)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
