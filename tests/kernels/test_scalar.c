/* test_scalar.c - scalar operators and conversions at the places where C alone would trap, be undefined or round
 * wrongly. */
#include "kernel_test.h"

#include "scalar_bool.h"
#include "scalar_cast_bool_f32.h"
#include "scalar_cast_whole_f64_i32.h"
#include "scalar_cast_whole_f64_i64.h"
#include "scalar_cast_whole_f64_i8.h"
#include "scalar_cast_whole_f64_u64.h"
#include "scalar_cast_whole_f64_u8.h"
#include "scalar_float_f32.h"
#include "scalar_float_f64.h"
#include "scalar_lowfloat.h"
#include "scalar_math_f32.h"
#include "scalar_math_f64.h"
#include "scalar_whole_i8.h"
#include "scalar_whole_i32.h"
#include "scalar_whole_i64.h"
#include "scalar_whole_u8.h"
#include "scalar_whole_u64.h"
#include "scalar_int_i8.h"
#include "scalar_int_i32.h"
#include "scalar_int_i64.h"
#include "scalar_uint_u8.h"
#include "scalar_uint_u64.h"

static void integers_neither_trap_nor_overflow(void **state)
{
    (void)state;
    assert_int_equal(occ_div_i32(INT32_MIN, -1), INT32_MIN);
    assert_true(occ_div_i64(INT64_MIN, -1) == INT64_MIN);
    assert_int_equal(occ_div_i8(-128, -1), -128);
    assert_int_equal(occ_div_i32(-7, 2), -3);
    assert_int_equal(occ_div_i32(5, 0), 0);
    assert_int_equal(occ_mod_i32(INT32_MIN, -1), 0);
    assert_int_equal(occ_mod_i32(-7, 3), 2);
    assert_int_equal(occ_mod_i32(7, -3), -2);
    assert_int_equal(occ_fmod_i32(-7, 3), -1);
    assert_int_equal(occ_mod_u8(7, 0), 0);
    assert_int_equal(occ_neg_i8(-128), -128);
    assert_int_equal(occ_abs_i32(INT32_MIN), INT32_MIN);
    assert_int_equal(occ_add_i8(127, 1), -128);
    assert_true(occ_mul_i64(INT64_MAX, 2) == -2);
    assert_int_equal(occ_sub_u8(3, 5), 254);
    assert_int_equal(occ_pow_i32(-2, 31), INT32_MIN);
    assert_int_equal(occ_pow_i32(3, -1), 0);
    assert_int_equal(occ_pow_i32(-1, -3), -1);
    assert_int_equal(occ_pow_u8(2, 8), 0);
}

static void shifts_by_the_width_leave_nothing(void **state)
{
    (void)state;
    assert_int_equal(occ_shl_u8(255, 8), 0);
    assert_int_equal(occ_shr_u8(255, 200), 0);
    assert_true(occ_shl_u64(1, 63) == (uint64_t)1 << 63 && occ_shl_u64(1, 64) == 0);
    assert_int_equal(occ_shl_i8(1, -1), 0);
    assert_int_equal(occ_shl_i8(-1, 7), -128);
    assert_int_equal(occ_shr_i8(-128, 7), -1);
    assert_int_equal(occ_shr_i8(-5, 100), -1);
    assert_int_equal(occ_shr_i8(5, -1), 0);
}

static void floats_round_half_to_even(void **state)
{
    static const float from[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 8388607.5f, 1e20f, -3.2f};

    (void)state;
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        assert_true(occ_round_f32(from[i]) == rintf(from[i]) && occ_floor_f32(from[i]) == floorf(from[i]));
        assert_true(occ_ceil_f32(from[i]) == ceilf(from[i]) && occ_trunc_f32(from[i]) == truncf(from[i]));
        assert_true(occ_round_f64((double)from[i]) == rint((double)from[i]));
    }
    assert_true(isnan(occ_round_f32((float)NAN)) && isinf(occ_floor_f64(-(double)INFINITY)));
}

static void floats_keep_what_is_no_number(void **state)
{
    (void)state;
    assert_true(isnan(occ_max_f32((float)NAN, 1.0f)) && isnan(occ_max_f32(1.0f, (float)NAN)));
    assert_true(isnan(occ_min_f64((double)NAN, 1.0)) && isnan(occ_min_f64(1.0, (double)NAN)));
    assert_int_equal(occ_isinf_f32(-(float)INFINITY), 1);
    assert_int_equal(occ_isinf_f32((float)NAN), 0);
    assert_true(occ_mod_f32(-3.0f, 2.0f) == 1.0f && occ_mod_f32(3.0f, -2.0f) == -1.0f &&
                occ_fmod_f32(-3.0f, 2.0f) == -1.0f);
    assert_true(isnan(occ_mod_f64(1.0, 0.0)) && occ_mod_f64(-1.0, (double)INFINITY) == (double)INFINITY);
    assert_true(occ_sigmoid_f64(-1000.0) == 0.0 && occ_softplus_f32(1000.0f) == 1000.0f &&
                occ_softplus_f64(-1000.0) == 0.0);
    assert_int_equal(occ_cast_f32_bool((float)NAN), 1);
}

#define SATURATES(from, to, type, value, want) assert_true(occ_cast_##from##_##to(value) == (type)(want))

static void floats_saturate_as_integers(void **state)
{
    const double inf = (double)INFINITY;

    (void)state;
    SATURATES(f64, i8, int8_t, 1e10, 127);
    SATURATES(f64, i8, int8_t, -1e10, -128);
    SATURATES(f64, u8, uint8_t, -0.9, 0);
    SATURATES(f64, u8, uint8_t, 255.9, 255);
    SATURATES(f64, i32, int32_t, -2147483648.0, INT32_MIN);
    SATURATES(f64, i32, int32_t, 2147483647.0, INT32_MAX);
    SATURATES(f64, i64, int64_t, inf, INT64_MAX);
    SATURATES(f64, i64, int64_t, -inf, INT64_MIN);
    SATURATES(f64, u64, uint64_t, 1e30, UINT64_MAX);
    SATURATES(f64, i32, int32_t, (double)NAN, 0);
    SATURATES(f64, i32, int32_t, -1.9, -1);
}

/* Every code of a type of `bits` bits decodes to a number that encodes to the code again, NaN to some NaN. */
#define ROUND_TRIP(name, type, bits) \
    for (uint32_t code = 0; code < 1u << (bits); code++) { \
        float value = occ_##name##_to_f32((type)code); \
        type  back = occ_f32_to_##name(value); \
        if (isnan(value)) \
            assert_true(isnan(occ_##name##_to_f32(back))); \
        else if (!isinf(value)) \
            assert_int_equal(back, code); \
    }

static void small_floats_survive(void **state)
{
    (void)state;
    ROUND_TRIP(f16, uint16_t, 16)
    ROUND_TRIP(bf16, uint16_t, 16)
    ROUND_TRIP(f8e4m3fn, uint8_t, 8)
    ROUND_TRIP(f8e4m3fnuz, uint8_t, 8)
    ROUND_TRIP(f8e5m2, uint8_t, 8)
    ROUND_TRIP(f8e5m2fnuz, uint8_t, 8)
    ROUND_TRIP(f4e2m1, uint8_t, 4)
    for (int code = 0; code < 256; code++)
        assert_int_equal(occ_f32_to_f8e8m0(occ_f8e8m0_to_f32((uint8_t)code)), code);
}

/* Halfway between two neighbours goes to the even one, anything else to the nearer one. */
#define HALFWAY(name, type, codes) \
    for (uint32_t code = 0; code + 1 < (codes); code++) { \
        double lo = (double)occ_##name##_to_f32((type)code), hi = (double)occ_##name##_to_f32((type)(code + 1)); \
        float  middle = (float)((lo + hi) / 2); \
        assert_int_equal(occ_f32_to_##name(middle), code + (code & 1)); \
        assert_int_equal(occ_f32_to_##name(nextafterf(middle, INFINITY)), code + 1); \
        assert_int_equal(occ_f32_to_##name(nextafterf(middle, -INFINITY)), code); \
    }

static void small_floats_round_half_to_even(void **state)
{
    (void)state;
    HALFWAY(f16, uint16_t, 0x7c00)
    HALFWAY(bf16, uint16_t, 0x7f80)
    HALFWAY(f8e4m3fn, uint8_t, 0x7f)
    HALFWAY(f8e4m3fnuz, uint8_t, 0x80)
    HALFWAY(f8e5m2, uint8_t, 0x7c)
    HALFWAY(f8e5m2fnuz, uint8_t, 0x80)
    HALFWAY(f4e2m1, uint8_t, 8)
}

static void what_is_too_large_saturates_or_not(void **state)
{
    const float inf = (float)INFINITY;

    (void)state;
    assert_int_equal(occ_f32_to_f16(65519.0f), 0x7bff);
    assert_int_equal(occ_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(occ_f32_to_f8e4m3fn(1e6f), 0x7e);
    assert_int_equal(occ_f32_to_f8e4m3fn(-inf), 0xfe);
    assert_int_equal(occ_f32_to_f8e4m3fn_unsaturated(1e6f), 0x7f);
    assert_int_equal(occ_f32_to_f8e5m2(inf), 0x7b);
    assert_int_equal(occ_f32_to_f8e5m2_unsaturated(-inf), 0xfc);
    assert_int_equal(occ_f32_to_f8e4m3fnuz(-1e6f), 0xff);
    assert_int_equal(occ_f32_to_f8e4m3fnuz_unsaturated(1e6f), 0x80);
    assert_int_equal(occ_f32_to_f8e5m2fnuz(-0.0f), 0);
    assert_int_equal(occ_f32_to_f4e2m1(-100.0f), 0xf);
    assert_int_equal(occ_f32_to_f8e8m0(1.1f), 128);
    assert_int_equal(occ_f32_to_f8e8m0(inf), 254);
    assert_int_equal(occ_f32_to_f8e8m0_unsaturated(inf), 255);
}

/* Powers of two stay; between two of them round_mode decides; outside, saturation. */
static void exponents_round_as_they_are_told(void **state)
{
    (void)state;
    for (int code = 0; code < 254; code++) {
        const float low = occ_f8e8m0_to_f32((uint8_t)code), high = occ_f8e8m0_to_f32((uint8_t)(code + 1));

        for (int part = 0; part < 8; part++) {
            const float x = low + (high - low) / 8.0f * (float)part;

            assert_int_equal(occ_f32_to_f8e8m0(x), part ? code + 1 : code);
            assert_int_equal(occ_f32_to_f8e8m0_unsaturated(x), part ? code + 1 : code);
            assert_true(occ_power2_down_f32(x) == low && occ_power2_near_f32(x) == (part < 4 ? low : high));
        }
    }
    for (int i = 0; i < 5; i++) {
        const float x = (const float[]){0.0f, 1e-45f, 5.8774700e-39f, 1.8e38f, INFINITY}[i];

        assert_int_equal(occ_f32_to_f8e8m0(x), i < 3 ? 0 : 254);
        assert_int_equal(occ_f32_to_f8e8m0_unsaturated(x), 255);
        assert_true(occ_power2_down_f32(x) == x && occ_power2_near_f32(x) == x);
    }
    assert_int_equal(occ_f32_to_f8e8m0((float)NAN), 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponents_round_as_they_are_told),
        cmocka_unit_test(integers_neither_trap_nor_overflow),
        cmocka_unit_test(shifts_by_the_width_leave_nothing),
        cmocka_unit_test(floats_round_half_to_even),
        cmocka_unit_test(floats_keep_what_is_no_number),
        cmocka_unit_test(floats_saturate_as_integers),
        cmocka_unit_test(small_floats_survive),
        cmocka_unit_test(small_floats_round_half_to_even),
        cmocka_unit_test(what_is_too_large_saturates_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
