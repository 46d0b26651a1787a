/* test_conv_q.c - integer convolutions against plain loops over 64-bit integers: every sum is exact, every byte rounded
 * half to even. Both forms of zero points, safe and unsafe weights, edges, groups, odd channels; each channel by itself
 * likewise. */
#include "conv_q_check.h"

/* conv_q with variable geometry: signed bytes give rounded bytes, unsigned ones give the sums. */
static void run_variable(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *sums,
                         int zero, void *y)
{
    const occ_image  x_at = input_of(c), y_at = result_of(c);
    const occ_q_form form = {taps_at(c), c->groups, zero, 5, c->safe, 0, 0, 0};

    if (c->is_signed)
        occ_conv_q_i8_i8(x, &x_at, w, bias, sums, NULL, y, &y_at, NULL, &form, NULL, &to_bytes);
    else
        occ_conv_q_u8_i32((const uint8_t *)x, &x_at, w, bias, sums, NULL, y, &y_at, NULL, &form, NULL, &plain);
}

static void random_geometry(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int i = 0; i < 300; i++) {
        Case c = random_case(&seed, 19, 75);

        check(&c, run_variable, &seed);
    }
}

/* Windows of one element, with results in the padding before or behind the image along each axis by itself. */
static void single_taps_beyond_each_end(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int i = 0; i < 16; i++) {
        Case c = random_case(&seed, 9, 40);

        for (int a = 0; a < 2; a++) {
            c.kernel[a] = c.stride[a] = c.dilation[a] = 1;
            c.in[a] = 3 + a;
            c.out[a] = c.in[a] + (a == i % 2 ? 2 : 0);
            c.pad[a] = a == i % 2 && i / 2 % 2 ? 2 : 0;
        }
        check(&c, run_variable, &seed);
    }
}

/* name, signed, folded, inputs, outputs, width in, out, kernel, stride, dilation, pad */
/* clang-format off */
#define LITERALS(CONV) \
    CONV(plain_3x3, 1, 0, 8, 24, 6, 6, 3, 1, 1, 1) CONV(odd_channels, 0, 1, 7, 21, 5, 5, 3, 1, 1, 1) \
    CONV(point_odd, 1, 0, 5, 13, 6, 6, 1, 1, 1, 0) CONV(strided, 0, 0, 8, 16, 11, 6, 3, 2, 1, 1) \
    CONV(dilated, 1, 1, 4, 8, 9, 9, 3, 1, 2, 2) CONV(beyond_edges, 1, 0, 4, 4, 3, 11, 3, 1, 1, 5) \
    CONV(strip_3x3, 0, 1, 24, 53, 31, 31, 3, 1, 1, 1) CONV(strip_strides, 0, 0, 40, 32, 33, 17, 3, 2, 1, 1) \
    CONV(strip_point, 0, 1, 36, 47, 15, 15, 1, 1, 1, 0) CONV(strip_holes, 0, 0, 16, 20, 23, 23, 3, 1, 2, 2) \
    CONV(strip_sparse, 0, 0, 32, 24, 19, 10, 1, 2, 1, 0) CONV(strip_beyond, 0, 0, 16, 16, 3, 19, 5, 1, 1, 10) \
    CONV(gather_3x3, 0, 1, 24, 53, 7, 7, 3, 1, 1, 1) CONV(gather_strides, 0, 0, 40, 32, 14, 7, 3, 2, 1, 1) \
    CONV(alone, 0, 1, 12, 77, 1, 1, 1, 1, 1, 0) CONV(alone_signed, 1, 0, 37, 53, 1, 1, 1, 1, 1, 0) \
    CONV(gather_sparse, 1, 0, 64, 40, 13, 7, 1, 2, 1, 0) CONV(gather_holes, 1, 1, 16, 20, 9, 9, 3, 1, 3, 3)
/* clang-format on */

/* Results of a strip, where there are enough inputs for one, in fours, and the memory of the largest. Windows of rows
 * shorter than that are gathered. */
#define STRIP(ci, made) (ci) >= 16 && (ci) % 4 == 0 ? 12 : 0, (ci) >= 24, (made) < 12
enum { STRIP_PAIRS = 5 * 2 * 25 * 10, WEIGHT_PAIRS = 25 * 10 * 2 * 32 };

/* Signed ones with safe weights; whether bias holds the zero point is literal too. */
#define LITERAL(name, is_signed, folded, ci, co, width, made, k, s, d, p) \
    OCC_STEP void run_##name(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, \
                             const int32_t *sums, int zero, void *y) \
    { \
        static const occ_image x_at = {{1, ci, 1, width, width}, {0, 1, 0, width * ci, ci}}; \
        static const occ_image y_at = {{1, co, 1, made, made}, {0, 1, 0, made * co, co}}; \
        const occ_q_form       form = { \
                  {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}, 1, zero, 5, is_signed, STRIP(ci, made)}; \
        int32_t        pairs[STRIP_PAIRS + WEIGHT_PAIRS]; \
        const int32_t *apart = folded ? NULL : sums; \
        (void)c; \
        if (is_signed) \
            occ_conv_q_i8_i8(x, &x_at, w, bias, apart, NULL, y, &y_at, pairs, &form, NULL, &to_bytes); \
        else \
            occ_conv_q_u8_i32((const uint8_t *)x, &x_at, w, bias, apart, NULL, y, &y_at, pairs, &form, NULL, &plain); \
    }
LITERALS(LITERAL)

static void literal_geometry(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int i = 0; i < 3; i++) {
#define CHECK(name, is_signed, folded, ci, co, width, made, k, s, d, p) \
    { \
        Case c = {1,         ci,     co,     {width, width}, {made, made}, {k, k}, \
                  {s, s},    {d, d}, {p, p}, is_signed,      folded,       1, \
                  is_signed, 0,      NULL}; \
        check(&c, run_##name, &seed); \
    }
        LITERALS(CHECK)
    }
}

/* ------------------------------------------------------------------------------------------- channels by themselves */

static void depthwise_variable(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias,
                               const int32_t *sums, int zero, void *y)
{
    const occ_image   x_at = input_of(c), y_at = result_of(c);
    const occ_window  window = taps_at(c);
    const occ_dq_form form = {zero, 5, c->groups};

    (void)sums;
    if (c->is_signed)
        occ_depthwise_q_i8_i8(x, &x_at, w, bias, NULL, y, &y_at, &window, &form, NULL, &to_bytes);
    else
        occ_depthwise_q_u8_i32((const uint8_t *)x, &x_at, w, bias, NULL, y, &y_at, &window, &form, NULL, &plain);
}

/* name, signed, channels, width in, out, kernel, stride, dilation, pad */
/* clang-format off */
#define DEPTHWISES(CONV) \
    CONV(plain, 1, 32, 9, 9, 3, 1, 1, 1) CONV(odd, 0, 21, 6, 6, 3, 1, 1, 1) CONV(strides, 1, 40, 11, 6, 3, 2, 1, 1) \
    CONV(holes, 0, 8, 9, 9, 3, 1, 2, 2) CONV(whole, 1, 19, 5, 1, 5, 1, 1, 0) CONV(five, 0, 24, 33, 33, 5, 1, 1, 2) \
    CONV(five_strides, 1, 48, 31, 16, 5, 2, 1, 2) CONV(seven, 0, 16, 17, 17, 7, 1, 1, 3) \
    CONV(beyond, 1, 37, 3, 31, 3, 1, 1, 15)
/* clang-format on */

#define DEPTHWISE(name, is_signed, ch, width, made, k, s, d, p) \
    OCC_STEP void depthwise_##name(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, \
                                   const int32_t *sums, int zero, void *y) \
    { \
        static const occ_image  x_at = {{1, ch, 1, width, width}, {0, 1, 0, width * ch, ch}}; \
        static const occ_image  y_at = {{1, ch, 1, made, made}, {0, 1, 0, made * ch, ch}}; \
        static const occ_window window = {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}; \
        const occ_dq_form       form = {zero, 5, ch}; \
        (void)sums, (void)c; \
        if (is_signed) \
            occ_depthwise_q_i8_i8(x, &x_at, w, bias, NULL, y, &y_at, &window, &form, NULL, &to_bytes); \
        else \
            occ_depthwise_q_u8_i32((const uint8_t *)x, &x_at, w, bias, NULL, y, &y_at, &window, &form, NULL, &plain); \
    }
DEPTHWISES(DEPTHWISE)

static void each_channel_by_itself(void **state)
{
    uint64_t seed = 9;

    (void)state;
    for (int i = 0; i < 200; i++) {
        Case c = random_case(&seed, 1, 1);

        c.groups = test_pick(&seed, 1, 75);
        check_depthwise(&c, depthwise_variable, &seed);
    }
#define CHECK_DEPTHWISE(name, is_signed, ch, width, made, k, s, d, p) \
    { \
        Case c = { \
            ch, 1, 1, {width, width}, {made, made}, {k, k}, {s, s}, {d, d}, {p, p}, is_signed, 0, 1, 0, 0, NULL}; \
        check_depthwise(&c, depthwise_##name, &seed); \
    }
    DEPTHWISES(CHECK_DEPTHWISE)
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_geometry), cmocka_unit_test(single_taps_beyond_each_end),
                                       cmocka_unit_test(literal_geometry), cmocka_unit_test(each_channel_by_itself)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
