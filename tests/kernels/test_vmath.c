/* test_vmath.c - mathematics of float vectors against the C library in double precision: every 251st float there is. */
#include "kernel_test.h"

#include "occ_bytes.h"
#include "occ_vapart.h"

typedef occ_vf (*Vector)(occ_vf);
typedef double (*Exact)(double);

/* Below -88 it stays what it is there, less than any normal number. */
static double sigmoid(double x)
{
    return 1.0 / (1.0 + exp(x < -88.0 ? 88.0 : -x));
}

static double softplus(double x)
{
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

/* Units in the last place of the float nearest to `want`. */
static double ulps(float got, double want)
{
    float  nearest = (float)want, size = fabsf(nearest);
    double step = (double)nextafterf(size, INFINITY) - (double)size;

    if (isnan(want))
        return isnan(got) ? 0.0 : (double)INFINITY;
    if (isinf(nearest) || isinf(got))
        return nearest == got || (isinf(got) && fabs(want) > 3.4028e38) ? 0.0 : (double)INFINITY;
    return fabs((double)got - want) / step;
}

/* OCC_W floats at a time, STEP apart in the order of their bits. */
static void check_function(Vector vector, Exact exact, double most, const char *name)
{
    enum { STEP = 251 };
    double worst = 0.0;
    float  at = 0.0f;

    for (uint64_t i = 0; i <= 0xffffffffu; i += STEP * OCC_W) {
        float  x[OCC_W], got[OCC_W];
        occ_vf v;

        for (uint32_t lane = 0; lane < OCC_W; lane++) {
            uint32_t bits = (uint32_t)i + STEP * lane;
            memcpy(x + lane, &bits, sizeof bits);
        }
        memcpy(&v, x, sizeof v);
        v = vector(v);
        memcpy(got, &v, sizeof got);
        for (int lane = 0; lane < OCC_W; lane++) {
            double error = ulps(got[lane], exact((double)x[lane]));
            if (error > worst) {
                worst = error;
                at = x[lane];
            }
        }
    }
    if (!(worst <= most))
        fail_msg("%s(%.9g) is off by %.3g units in the last place, at most %.3g are stated", name, (double)at, worst,
                 most);
}

#define FUNCTION_TEST(name, exact, most) \
    static void name##_is_close(void **state) \
    { \
        (void)state; \
        check_function(occ_v##name, exact, most, #name); \
    }
FUNCTION_TEST(exp, exp, 1.0)
FUNCTION_TEST(log, log, 0.9)
FUNCTION_TEST(tanh, tanh, 2.6)
FUNCTION_TEST(sigmoid, sigmoid, 2.4)
FUNCTION_TEST(softplus, softplus, 1.8)
FUNCTION_TEST(erf, erf, 1.9)
FUNCTION_TEST(sin, sin, 2.0)
FUNCTION_TEST(cos, cos, 2.0)
FUNCTION_TEST(sqrt, sqrt, 0.5)
FUNCTION_TEST(round, rint, 0.0)
FUNCTION_TEST(floor, floor, 0.0)
FUNCTION_TEST(ceil, ceil, 0.0)
FUNCTION_TEST(trunc, trunc, 0.0)

static float lane(occ_vf v)
{
    return occ_vlane(v, OCC_W - 1);
}

static float power(float a, float b)
{
    return lane(occ_vpow(occ_vset(a), occ_vset(b)));
}

static float random_float(uint64_t *seed)
{
    uint32_t bits = (uint32_t)test_random(seed);
    float    x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Bases of every size, exponents of every size, and exponents whose results are numbers. */
static void pow_is_close(void **state)
{
    uint64_t seed = 7;
    double   worst = 0.0;
    float    at[2] = {0.0f, 0.0f};

    (void)state;
    for (int i = 0; i < 3000000; i++) {
        float a = random_float(&seed), b = random_float(&seed);

        if (i % 4)
            b = (float)(150.0 * (double)(int32_t)test_random(&seed) / 2147483648.0 / log2(fabs((double)a)));
        if (i % 4 == 2) /* bases near 1 */
            a = 1.0f + (a - truncf(a)) / 64.0f;
        double error = ulps(power(a, b), pow((double)a, (double)b));
        if (error > worst)
            worst = error, at[0] = a, at[1] = b;
    }
    if (!(worst <= 1.3))
        fail_msg("pow(%.9g, %.9g) is off by %.3g units in the last place", (double)at[0], (double)at[1], worst);
}

/* Against the C library, sign of zero included: every pair of the numbers that have rules of their own. */
static void pow_knows_special_numbers(void **state)
{
    const float some[] = {0.0f,        1.0f,  2.0f,   3.0f,   0.5f,        1.5f,       8388609.0f, 16777215.0f,
                          16777216.0f, 3e38f, 1e-45f, 1e-40f, 0.99999994f, 1.0000001f, INFINITY,   NAN};
    const int   count = (int)(sizeof some / sizeof some[0]);

    (void)state;
    for (int i = 0; i < 4 * count * count; i++) {
        float a = i & 1 ? -some[i / 4 / count] : some[i / 4 / count],
              b = i & 2 ? -some[i / 4 % count] : some[i / 4 % count];
        float want = powf(a, b), got = power(a, b);

        if (isnan(want) != isnan(got) ||
            (!isnan(want) && (signbit(want) != signbit(got) || ulps(got, (double)want) > 1.5)))
            fail_msg("pow(%.9g, %.9g) is %.9g, not %.9g", (double)a, (double)b, (double)got, (double)want);
    }
}

/* Functions that kernels call have the bits of those that maps write into their loops. */
static void calls_give_the_same_bits(void **state)
{
    static const Vector inner[] = {occ_vexp, occ_vlog, occ_vtanh, occ_vsigmoid, occ_vsoftplus, occ_verf};
    static const Vector apart[] = {occ_vexp_apart,     occ_vlog_apart,      occ_vtanh_apart,
                                   occ_vsigmoid_apart, occ_vsoftplus_apart, occ_verf_apart};
    uint64_t            seed = 11;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        occ_vf x = occ_vset(random_float(&seed)), b = occ_vset(random_float(&seed));

        for (int f = 0; f < 6; f++) {
            occ_vf got = inner[f](x), want = apart[f](x);
            assert_memory_equal(&got, &want, sizeof want);
        }
        occ_vf got = occ_vpow(x, b), want = occ_vpow_apart(x, b);
        assert_memory_equal(&got, &want, sizeof want);
    }
}

static void not_a_number_passes(void **state)
{
    occ_vf nan = occ_vset((float)NAN), one = occ_vset(1.0f);

    (void)state;
    assert_true(isnan(lane(occ_vmax(nan, one))) && isnan(lane(occ_vmax(one, nan))));
    assert_true(isnan(lane(occ_vmin(nan, one))) && isnan(lane(occ_vmin(one, nan))));
    assert_true(isnan(lane(occ_vat_least(nan, one))) && isnan(lane(occ_vat_most(nan, one))));
    assert_true(isnan(lane(occ_vsign(nan))) && lane(occ_visnan(nan)) == 1.0f && lane(occ_visnan(one)) == 0.0f);
    assert_true(lane(occ_vlt(nan, one)) == 0.0f && lane(occ_vle(nan, nan)) == 0.0f && lane(occ_veq(nan, nan)) == 0.0f);
}

static void zeros_keep_their_sign(void **state)
{
    const float zero = -0.0f, little = -0.3f;

    (void)state;
    assert_true(signbit(lane(occ_vround(occ_vset(little)))) && signbit(lane(occ_vceil(occ_vset(little)))));
    assert_true(signbit(lane(occ_vtrunc(occ_vset(little)))) && signbit(lane(occ_vfloor(occ_vset(zero)))));
    assert_true(signbit(lane(occ_vset(zero))) && !signbit(lane(occ_vabs(occ_vset(zero)))));
}

/* With a number for the second operand the short forms give every bit that the maximum and the minimum give. */
static void bounds_are_maxima_and_minima(void **state)
{
    const float some[] = {-INFINITY, -1.0f, -0.0f, 0.0f, 1.0f, INFINITY};
    const int   count = (int)(sizeof some / sizeof some[0]);

    (void)state;
    for (int i = 0; i < count * count; i++) {
        occ_vf a = occ_vset(some[i / count]), b = occ_vset(some[i % count]);
        occ_vf most = occ_vmax(a, b), least = occ_vmin(a, b), from = occ_vat_least(a, b), to = occ_vat_most(a, b);

        assert_memory_equal(&most, &from, sizeof from);
        assert_memory_equal(&least, &to, sizeof to);
    }
}

static void parts_of_vectors_touch_nothing_else(void **state)
{
    (void)state;
    for (int n = 1; n <= OCC_W; n++) {
        uint64_t seed = 5;
        float   *from = test_random_floats(&seed, n), *to = test_floats(n), *spread = test_floats(3 * n - 2);
        uint8_t  bytes[OCC_W + 1], back[OCC_W + 1];
        occ_vf   v = occ_vload(from, n);

        for (int i = n; i < OCC_W; i++)
            assert_true(occ_vlane(v, i) == 0.0f);
        occ_vstore(to, v, n);
        occ_vstores(spread, 3, v, n);
        v = occ_vloads(spread, 3, n);
        for (int i = 0; i < n; i++)
            assert_true(to[i] == from[i] && occ_vlane(v, i) == from[i]);
        for (int i = 0; i <= n; i++) {
            bytes[i] = (uint8_t)(i * 37 + 200);
            back[i] = 77;
        }
        occ_vstore_u8(back, occ_vload_u8(bytes, n), n);
        assert_memory_equal(back, bytes, (size_t)n);
        assert_int_equal(back[n], 77);
        occ_vstore_i8((int8_t *)back, occ_vload_i8((const int8_t *)bytes, n), n);
        assert_memory_equal(back, bytes, (size_t)n);
        assert_int_equal(back[n], 77);
        test_release(from, n), test_release(to, n), test_release(spread, 3 * n - 2);
    }
}

static void stores_saturate(void **state)
{
    static const float   from[] = {-1000.0f, -1.0f, 300.0f, 254.9f};
    static const uint8_t unsigned_want[] = {0, 0, 255, 254};
    static const int8_t  signed_want[] = {-128, -1, 127, 127};

    (void)state;
    for (int i = 0; i < 4; i++) {
        uint8_t u[OCC_W];
        int8_t  s[OCC_W];
        occ_vstore_u8(u, occ_vset(from[i]), OCC_W);
        occ_vstore_i8(s, occ_vset(from[i]), OCC_W);
        assert_int_equal(u[OCC_W - 1], unsigned_want[i]);
        assert_int_equal(s[OCC_W - 1], signed_want[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_is_close),
        cmocka_unit_test(log_is_close),
        cmocka_unit_test(tanh_is_close),
        cmocka_unit_test(sigmoid_is_close),
        cmocka_unit_test(softplus_is_close),
        cmocka_unit_test(erf_is_close),
        cmocka_unit_test(sin_is_close),
        cmocka_unit_test(cos_is_close),
        cmocka_unit_test(sqrt_is_close),
        cmocka_unit_test(round_is_close),
        cmocka_unit_test(floor_is_close),
        cmocka_unit_test(ceil_is_close),
        cmocka_unit_test(trunc_is_close),
        cmocka_unit_test(not_a_number_passes),
        cmocka_unit_test(zeros_keep_their_sign),
        cmocka_unit_test(bounds_are_maxima_and_minima),
        cmocka_unit_test(pow_is_close),
        cmocka_unit_test(pow_knows_special_numbers),
        cmocka_unit_test(calls_give_the_same_bits),
        cmocka_unit_test(parts_of_vectors_touch_nothing_else),
        cmocka_unit_test(stores_saturate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
