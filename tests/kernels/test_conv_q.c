/* test_conv_q.c - integer convolutions against plain loops over 64-bit integers: every sum is exact, every byte rounded
 * half to even. Both forms of zero points, safe and unsafe weights, edges, groups, odd channels; each channel by itself
 * likewise. */
#include "image.h"
#include "kernel_test.h"

#include "conv_q_i8_i8.h"
#include "conv_q_u8_i32.h"
#include "depthwise_q_i8_i8.h"
#include "depthwise_q_u8_i32.h"

typedef struct Case {
    int64_t groups, inputs, outputs, in[2], out[2], kernel[2], stride[2], dilation[2], pad[2];
    int     is_signed, folded, bias, safe;
} Case;

/* Random bytes; weights that are safe have six bits. */
static int8_t *random_bytes(uint64_t *seed, int64_t n, int safe)
{
    int8_t *p = malloc((size_t)n + 1);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (int8_t)(safe ? test_pick(seed, -64, 63) : test_pick(seed, -128, 127));
    return p;
}

static int byte_of(const Case *c, const int8_t *x, int64_t at)
{
    return c->is_signed ? x[at] : (uint8_t)x[at];
}

/* Sum over the taps inside of (x - zero) * w; x [h][w][channels], w [group][output][tap][input]. */
static int64_t sum_at(const Case *c, const int8_t *x, const int8_t *w, int zero, int64_t channel, int64_t r, int64_t q)
{
    int64_t channels = c->groups * c->inputs, first = channel / c->outputs * c->inputs, sum = 0;

    for (int64_t i = 0; i < c->kernel[0]; i++)
        for (int64_t k = 0; k < c->kernel[1]; k++) {
            int64_t h = r * c->stride[0] + i * c->dilation[0] - c->pad[0],
                    v = q * c->stride[1] + k * c->dilation[1] - c->pad[1];

            if (h < 0 || h >= c->in[0] || v < 0 || v >= c->in[1])
                continue;
            for (int64_t n = 0; n < c->inputs; n++)
                sum += (int64_t)(byte_of(c, x, (h * c->in[1] + v) * channels + first + n) - zero) *
                       w[((channel * c->kernel[0] + i) * c->kernel[1] + k) * c->inputs + n];
        }
    return sum;
}

/* Panels as conv_q reads them. */
static int8_t *pack(const Case *c, const int8_t *w)
{
    int64_t taps = c->kernel[0] * c->kernel[1], fours = (c->inputs + 3) / 4;
    int8_t *to = calloc((size_t)(c->groups * (c->outputs + 4) * taps * fours * 4), 1), *next = to;

    assert_non_null(to);
    for (int64_t g = 0; g < c->groups; g++)
        for (int64_t o = 0; o < c->outputs; o += 32) {
            int64_t left = c->outputs - o, width = left >= 32 ? 32 : (left + 3) / 4 * 4;

            for (int64_t t = 0; t < taps; t++)
                for (int64_t f = 0; f < fours; f++, next += width * 4)
                    for (int64_t n = 0; n < width * 4; n++)
                        if (n / 4 < left && f * 4 + n % 4 < c->inputs)
                            next[n] = w[((g * c->outputs + o + n / 4) * taps + t) * c->inputs + f * 4 + n % 4];
        }
    return to;
}

static occ_vf third(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    (void)e, (void)c, (void)n;
    return acc * occ_vset(0.0009765625f);
}

/* What bytes should hold: value / 1024 rounded half to even, + zero, saturated. */
static int rounded(int64_t value, int zero)
{
    double at = nearbyint((double)value / 1024.0) + zero;

    return at < -128 ? -128 : at > 127 ? 127 : (int)at;
}

static occ_image input_of(const Case *c)
{
    const int64_t channels = c->groups * c->inputs;

    return (occ_image){{1, channels, 1, c->in[0], c->in[1]}, {0, 1, 0, c->in[1] * channels, channels}};
}

static occ_image result_of(const Case *c)
{
    const int64_t channels = c->groups * c->outputs;

    return (occ_image){{1, channels, 1, c->out[0], c->out[1]}, {0, 1, 0, c->out[1] * channels, channels}};
}

static occ_window taps_at(const Case *c)
{
    return (occ_window){{1, c->kernel[0], c->kernel[1]},
                        {1, c->stride[0], c->stride[1]},
                        {1, c->dilation[0], c->dilation[1]},
                        {0, c->pad[0], c->pad[1]}};
}

static const occ_fused to_bytes = {0, {0}, third}, plain = {0, {0}, NULL};

typedef void (*Run)(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *sums, int zero,
                    void *y);

/* conv_q with variable geometry: signed bytes give rounded bytes, unsigned ones give the sums. */
static void run_variable(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *sums,
                         int zero, void *y)
{
    const occ_image  x_at = input_of(c), y_at = result_of(c);
    const occ_q_form form = {taps_at(c), c->groups, zero, 5, c->safe, 0, 0};

    if (c->is_signed)
        occ_conv_q_i8_i8(x, &x_at, w, bias, sums, NULL, y, &y_at, NULL, &form, NULL, &to_bytes);
    else
        occ_conv_q_u8_i32((const uint8_t *)x, &x_at, w, bias, sums, NULL, y, &y_at, NULL, &form, NULL, &plain);
}

static void check(const Case *c, Run run, uint64_t *seed)
{
    const int64_t channels = c->groups * c->outputs, taps = c->kernel[0] * c->kernel[1], pixels = c->out[0] * c->out[1];
    const int     zero = (int)(c->is_signed ? test_pick(seed, -128, 127) : test_pick(seed, 0, 255));
    int8_t       *x = random_bytes(seed, c->in[0] * c->in[1] * c->groups * c->inputs, 0);
    int8_t       *w = random_bytes(seed, channels * taps * c->inputs, c->safe), *panels = pack(c, w);
    int32_t      *bias = calloc((size_t)channels + 16, 4), *sums = calloc((size_t)channels + 16, 4);
    int32_t      *extra = calloc((size_t)channels + 16, 4);
    float        *y = test_floats(pixels * channels);

    for (int64_t o = 0; o < channels; o++) {
        for (int64_t n = 0; n < taps * c->inputs; n++)
            sums[o] += w[o * taps * c->inputs + n];
        extra[o] = c->bias ? (int32_t)test_pick(seed, -9999, 9999) : 0;
        bias[o] = extra[o] - (c->folded ? zero * sums[o] : 0);
    }
    run(c, x, panels, c->folded || c->bias ? bias : NULL, c->folded ? NULL : sums, zero, y);
    for (int64_t i = 0; i < pixels * channels; i++) {
        int64_t want = extra[i % channels] +
                       sum_at(c, x, w, zero, i % channels, i / channels / c->out[1], i / channels % c->out[1]);
        int64_t got = c->is_signed ? ((const int8_t *)y)[i] : ((const int32_t *)y)[i];

        if (got != (c->is_signed ? rounded(want, 5) : want))
            fail_msg("element %lld is %lld, the sum is %lld", (long long)i, (long long)got, (long long)want);
    }
    test_release(y, pixels * channels);
    free(x), free(w), free(panels), free(bias), free(sums), free(extra);
}

static Case random_case(uint64_t *seed, int64_t inputs, int64_t outputs)
{
    Case c = {
        .groups = test_pick(seed, 1, 2), .inputs = test_pick(seed, 1, inputs), .outputs = test_pick(seed, 1, outputs)};

    for (int a = 0; a < 2; a++) {
        c.kernel[a] = test_pick(seed, 1, 4);
        c.stride[a] = test_pick(seed, 1, 3);
        c.dilation[a] = test_pick(seed, 1, 2);
        c.pad[a] = test_pick(seed, 0, 3);
        c.out[a] = test_pick(seed, 1, 7);
        c.in[a] = test_pick(seed, 1, 9);
    }
    c.is_signed = (int)test_pick(seed, 0, 1);
    c.folded = (int)test_pick(seed, 0, 1);
    c.bias = (int)test_pick(seed, 0, 1);
    c.safe = (int)test_pick(seed, 0, 1);
    return c;
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
    CONV(strip_sparse, 0, 0, 32, 24, 19, 10, 1, 2, 1, 0) CONV(strip_beyond, 0, 0, 16, 16, 3, 19, 5, 1, 1, 10)
/* clang-format on */

/* Results of a strip, where there are enough inputs for one, and the memory of the largest. */
#define STRIP(ci) ((ci) >= 16 ? 12 : 0)
#define WIDE(ci) ((ci) >= 24)
enum { STRIP_PAIRS = 5 * 2 * 25 * 10, WEIGHT_PAIRS = 25 * 10 * 2 * 32 };

/* Signed ones with safe weights; whether bias holds the zero point is literal too. */
#define LITERAL(name, is_signed, folded, ci, co, width, made, k, s, d, p) \
    OCC_STEP void run_##name(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, \
                             const int32_t *sums, int zero, void *y) \
    { \
        static const occ_image x_at = {{1, ci, 1, width, width}, {0, 1, 0, width * ci, ci}}; \
        static const occ_image y_at = {{1, co, 1, made, made}, {0, 1, 0, made * co, co}}; \
        const occ_q_form       form = { \
                  {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}, 1, zero, 5, is_signed, STRIP(ci), WIDE(ci)}; \
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
        Case c = {1,         ci,     co, {width, width}, {made, made}, {k, k}, {s, s}, {d, d}, {p, p}, \
                  is_signed, folded, 1,  is_signed}; \
        check(&c, run_##name, &seed); \
    }
        LITERALS(CHECK)
    }
}

/* ------------------------------------------------------------------------------------------- channels by themselves */

/* [channel][tap] as [tap][channel]. */
static int8_t *taps_of(const Case *c, const int8_t *w)
{
    int64_t taps = c->kernel[0] * c->kernel[1];
    int8_t *to = malloc((size_t)(taps * c->groups) + 1);

    for (int64_t i = 0; i < taps * c->groups; i++)
        to[i] = w[i % c->groups * taps + i / c->groups];
    return to;
}

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
    CONV(holes, 0, 8, 9, 9, 3, 1, 2, 2) CONV(whole, 1, 19, 5, 1, 5, 1, 1, 0)
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

static void check_depthwise(const Case *c, Run run, uint64_t *seed)
{
    const int64_t pixels = c->out[0] * c->out[1], taps = c->kernel[0] * c->kernel[1];
    const int     zero = (int)(c->is_signed ? test_pick(seed, -128, 127) : test_pick(seed, 0, 255));
    int8_t  *x = random_bytes(seed, c->in[0] * c->in[1] * c->groups, 0), *w = random_bytes(seed, c->groups * taps, 0);
    int8_t  *by_tap = taps_of(c, w);
    int32_t *bias = calloc((size_t)c->groups + 16, 4);
    float   *y = test_floats(pixels * c->groups);

    for (int64_t o = 0; o < c->groups; o++)
        bias[o] = (int32_t)test_pick(seed, -9999, 9999);
    run(c, x, by_tap, bias, NULL, zero, y);
    for (int64_t i = 0; i < pixels * c->groups; i++) {
        int64_t at = i / c->groups, channel = i % c->groups;
        int64_t want = bias[channel] + sum_at(c, x, w, zero, channel, at / c->out[1], at % c->out[1]);
        int64_t got = c->is_signed ? ((const int8_t *)y)[i] : ((const int32_t *)y)[i];

        if (got != (c->is_signed ? rounded(want, 5) : want))
            fail_msg("element %lld is %lld, the sum is %lld", (long long)i, (long long)got, (long long)want);
    }
    test_release(y, pixels * c->groups);
    free(x), free(w), free(by_tap), free(bias);
}

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
        Case c = {ch, 1, 1, {width, width}, {made, made}, {k, k}, {s, s}, {d, d}, {p, p}, is_signed, 0, 1, 0}; \
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
