/* conv_q_check.h - integer convolutions against plain loops over 64-bit integers: what the tests with literal and with
 * variable extents share. Every sum is exact, every byte rounded half to even. */
#ifndef CONV_Q_CHECK_H
#define CONV_Q_CHECK_H

#include "image.h"
#include "kernel_test.h"

#include "conv_q_i8_i8.h"
#include "conv_q_u8_i32.h"
#include "depthwise_q_i8_i8.h"
#include "depthwise_q_u8_i32.h"

typedef struct Case {
    int64_t      groups, inputs, outputs, in[2], out[2], kernel[2], stride[2], dilation[2], pad[2];
    int          is_signed, folded, bias, safe;
    int          adds;    /* 1: the operand is added to results of signed bytes */
    const float *operand; /* [pixel][channels + ADDED] */
} Case;

enum { ADDED = 3 };

/* Random bytes; weights that are safe have six bits. */
static UNUSED int8_t *random_bytes(uint64_t *seed, int64_t n, int safe)
{
    int8_t *p = malloc((size_t)n + 1);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (int8_t)(safe ? test_pick(seed, -64, 63) : test_pick(seed, -128, 127));
    return p;
}

static UNUSED int byte_of(const Case *c, const int8_t *x, int64_t at)
{
    return c->is_signed ? x[at] : (uint8_t)x[at];
}

/* Sum over the taps inside of (x - zero) * w; x [h][w][channels], w [group][output][tap][input]. */
static UNUSED int64_t sum_at(const Case *c, const int8_t *x, const int8_t *w, int zero, int64_t channel, int64_t r,
                             int64_t q)
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
static UNUSED int8_t *pack(const Case *c, const int8_t *w)
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

static UNUSED occ_vf third(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    (void)e, (void)c, (void)n;
    return acc * occ_vset(0.0009765625f);
}

/* The bytes that are wanted: value / 1024 rounded half to even, + zero, saturated. */
static UNUSED int rounded(int64_t value, int zero)
{
    double at = nearbyint((double)value / 1024.0) + zero;

    return at < -128 ? -128 : at > 127 ? 127 : (int)at;
}

static UNUSED occ_image input_of(const Case *c)
{
    const int64_t channels = c->groups * c->inputs;

    return (occ_image){{1, channels, 1, c->in[0], c->in[1]}, {0, 1, 0, c->in[1] * channels, channels}};
}

static UNUSED occ_image result_of(const Case *c)
{
    const int64_t channels = c->groups * c->outputs;

    return (occ_image){{1, channels, 1, c->out[0], c->out[1]}, {0, 1, 0, c->out[1] * channels, channels}};
}

static UNUSED occ_window taps_at(const Case *c)
{
    return (occ_window){{1, c->kernel[0], c->kernel[1]},
                        {1, c->stride[0], c->stride[1]},
                        {1, c->dilation[0], c->dilation[1]},
                        {0, c->pad[0], c->pad[1]}};
}

static UNUSED occ_vf third_and_operand(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    return acc * occ_vset(0.0009765625f) + occ_vload((const float *)e->x[0] + e->at[0] + c, n);
}

static UNUSED const occ_fused to_bytes = {0, {0}, third}, plain = {0, {0}, NULL};

typedef void (*Run)(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, const int32_t *sums, int zero,
                    void *y);

/* Bytes behind the results of signed bytes, of which y has room for four times as many. */
static UNUSED void check_behind(const Case *c, const float *y, int64_t n)
{
    for (int64_t i = n; c->is_signed && i < 4 * n; i++)
        if (((const uint8_t *)y)[i] != 0xa5)
            fail_msg("byte %lld of %lld is written", (long long)i, (long long)n);
}

/* Draws the operand, which results of signed bytes have added where the case says so. */
static UNUSED float *draw_operand(Case *c, int64_t elements, uint64_t *seed)
{
    float *operand = test_floats(elements);

    for (int64_t i = 0; i < elements; i++)
        operand[i] = (float)test_pick(seed, -30, 30);
    c->operand = operand;
    return operand;
}

/* Is element i of y, of `channels` channels, what the sum makes it? */
static UNUSED void check_element(const Case *c, const float *y, int64_t i, int64_t channels, int64_t sum)
{
    int64_t got = c->is_signed ? ((const int8_t *)y)[i] : ((const int32_t *)y)[i];

    if (c->adds)
        sum += 1024 * (int64_t)c->operand[i / channels * (channels + ADDED) + i % channels];
    if (got != (c->is_signed ? rounded(sum, 5) : sum))
        fail_msg("element %lld is %lld, the sum is %lld", (long long)i, (long long)got, (long long)sum);
}

static UNUSED void check(Case *c, Run run, uint64_t *seed)
{
    const int64_t channels = c->groups * c->outputs, taps = c->kernel[0] * c->kernel[1], pixels = c->out[0] * c->out[1];
    const int     zero = (int)(c->is_signed ? test_pick(seed, -128, 127) : test_pick(seed, 0, 255));
    int8_t       *x = random_bytes(seed, c->in[0] * c->in[1] * c->groups * c->inputs, 0);
    int8_t       *w = random_bytes(seed, channels * taps * c->inputs, c->safe), *panels = pack(c, w);
    int32_t      *bias = calloc((size_t)channels + 16, 4), *sums = calloc((size_t)channels + 16, 4);
    int32_t      *extra = calloc((size_t)channels + 16, 4);
    float        *y = test_floats(pixels * channels), *operand = draw_operand(c, pixels * (channels + ADDED), seed);

    memset(y, 0xa5, (size_t)(pixels * channels) * 4);
    for (int64_t o = 0; o < channels; o++) {
        for (int64_t n = 0; n < taps * c->inputs; n++)
            sums[o] += w[o * taps * c->inputs + n];
        extra[o] = c->bias ? (int32_t)test_pick(seed, -9999, 9999) : 0;
        bias[o] = extra[o] - (c->folded ? zero * sums[o] : 0);
    }
    run(c, x, panels, c->folded || c->bias ? bias : NULL, c->folded ? NULL : sums, zero, y);
    for (int64_t i = 0; i < pixels * channels; i++)
        check_element(c, y, i, channels,
                      extra[i % channels] +
                          sum_at(c, x, w, zero, i % channels, i / channels / c->out[1], i / channels % c->out[1]));
    check_behind(c, y, pixels * channels);
    test_release(y, pixels * channels), test_release(operand, pixels * (channels + ADDED));
    free(x), free(w), free(panels), free(bias), free(sums), free(extra);
}

static UNUSED Case random_case(uint64_t *seed, int64_t inputs, int64_t outputs)
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

/* ------------------------------------------------------------------------------------------- channels by themselves */

/* [channel][tap] as [tap][channel]. */
static UNUSED int8_t *taps_of(const Case *c, const int8_t *w)
{
    int64_t taps = c->kernel[0] * c->kernel[1];
    int8_t *to = malloc((size_t)(taps * c->groups) + 1);

    for (int64_t i = 0; i < taps * c->groups; i++)
        to[i] = w[i % c->groups * taps + i / c->groups];
    return to;
}

static UNUSED void check_depthwise(Case *c, Run run, uint64_t *seed)
{
    const int64_t pixels = c->out[0] * c->out[1], taps = c->kernel[0] * c->kernel[1];
    const int     zero = (int)(c->is_signed ? test_pick(seed, -128, 127) : test_pick(seed, 0, 255));
    int8_t  *x = random_bytes(seed, c->in[0] * c->in[1] * c->groups, 0), *w = random_bytes(seed, c->groups * taps, 0);
    int8_t  *by_tap = taps_of(c, w);
    int32_t *bias = calloc((size_t)c->groups + 16, 4);
    float   *y = test_floats(pixels * c->groups), *operand = draw_operand(c, pixels * (c->groups + ADDED), seed);

    memset(y, 0xa5, (size_t)(pixels * c->groups) * 4);
    for (int64_t o = 0; o < c->groups; o++)
        bias[o] = (int32_t)test_pick(seed, -9999, 9999);
    run(c, x, by_tap, bias, NULL, zero, y);
    for (int64_t i = 0; i < pixels * c->groups; i++) {
        int64_t at = i / c->groups, channel = i % c->groups;

        check_element(c, y, i, c->groups,
                      bias[channel] + sum_at(c, x, w, zero, channel, at / c->out[1], at % c->out[1]));
    }
    check_behind(c, y, pixels * c->groups);
    test_release(y, pixels * c->groups), test_release(operand, pixels * (c->groups + ADDED));
    free(x), free(w), free(by_tap), free(bias);
}

#endif
