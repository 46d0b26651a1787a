/* test_put.c - the bytes that kernels of integer sums store, one vector or two at a time: rounded half to even, shifted
 * and clamped, for numbers that no integer holds too. */
#include "kernel_test.h"

#include "occ_put.h"

enum { VALUES = 4 * OCC_W, GUARD = 0x5a };

/* An expression that gives the channel's number of a table, whatever the sum. */
static occ_vf from_table(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    (void)acc;
    return occ_vload((const float *)e->x[0] + c, n);
}

static float draw(uint64_t *seed)
{
    static const float odd[] = {NAN,  INFINITY, -INFINITY, 2147483648.0f, -2147483648.0f, 3e38f,
                                -0.f, 32767.5f, -32768.0f, 65536.0f,      -65537.0f,      -2147483520.0f};

    if (test_pick(seed, 0, 3) == 0)
        return odd[test_pick(seed, 0, (int64_t)(sizeof odd / sizeof *odd) - 1)];
    return (float)test_pick(seed, -1200, 1200) / 2.0f; /* every other one is between two integers */
}

static uint8_t wanted(float v, int zero, int is_signed)
{
    const double least = is_signed ? -128.0 : 0.0, most = is_signed ? 127.0 : 255.0;

    return (uint8_t)(int)fmax(least, fmin(most, rint((double)(isnan(v) ? -INFINITY : v)) + zero));
}

static void check(occ_fn_put put, int is_signed, int vectors, int stored, int64_t stride, uint64_t *seed)
{
    float          table[VALUES];
    uint8_t        made[2 * VALUES];
    const occ_expr e = {{table}, {0}};
    const int      zero = (int)test_pick(seed, is_signed ? -128 : 0, is_signed ? 127 : 255);
    occ_vi         sums[4] = {occ_viset(0), occ_viset(0), occ_viset(0), occ_viset(0)};

    memset(made, GUARD, sizeof made);
    for (int i = 0; i < VALUES; i++)
        table[i] = draw(seed);
    occ_put_pixel(put, made, 0, stride, sums, vectors, stored, &e, 0, from_table, zero);
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(made[i * stride], i < stored ? wanted(table[i], zero, is_signed) : GUARD);
}

static void every_count_of_lanes(void **state)
{
    uint64_t seed = 31;

    (void)state;
    for (int round = 0; round < 50; round++)
        for (int stored = 1; stored <= VALUES; stored++)
            for (int64_t stride = 1; stride <= 2; stride++) {
                check(occ_put_u8, 0, (stored + OCC_W - 1) / OCC_W, stored, stride, &seed);
                check(occ_put_i8, 1, (stored + OCC_W - 1) / OCC_W, stored, stride, &seed);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_count_of_lanes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
