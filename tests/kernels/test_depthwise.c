/* test_depthwise.c - depthwise convolution, literal and run-time geometry, against plain loops in double precision. */
#include "conv_check.h"
#include "depthwise_f32.c"

/* [tap][channels] from panels of one channel, of which there may be fewer: what lies between counts for nothing. */
static float *unpack(const Conv *c, const float *w, int64_t channels)
{
    int64_t taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
    float  *to = test_floats(taps * channels);

    for (int64_t t = 0; t < taps; t++)
        for (int64_t g = 0; g < channels; g++)
            to[t * channels + g] = g < c->groups ? w[g * taps + t] : 1e6f;
    return to;
}

static void run_variable(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, float *y,
                         const int64_t *ys, const occ_extent *pitch, const occ_expr *e)
{
    int64_t          channels = c->groups + c->groups % 3 * 7;
    occ_extent       xdim[] = {c->batch, c->groups, c->in[0], c->in[1], c->in[2]};
    occ_extent       ydim[] = {c->batch, c->groups, c->out[0], c->out[1], c->out[2]};
    const occ_image  x_at = image_of(xdim, xs, 1), y_at = image_of(ydim, ys, 1);
    const occ_window window = window_of(c->kernel, c->stride, c->dilation, c->pad);
    const occ_fused  fused = fused_of(pitch, e);
    float           *taps = unpack(c, w, channels);

    occ_depthwise_f32(x, &x_at, taps, bias, y, &y_at, &window, channels, e, &fused);
    test_release(taps, c->kernel[0] * c->kernel[1] * c->kernel[2] * channels);
}

static void random_geometry(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int i = 0; i < 300; i++) {
        Conv c = {.batch = test_pick(&seed, 1, 2),
                  .groups = test_pick(&seed, 1, 40),
                  .inputs = 1,
                  .outputs = 1,
                  .ragged = (int)test_pick(&seed, 0, 1),
                  .bias = (int)test_pick(&seed, 0, 1)};
        for (int a = 0; a < 3; a++) {
            int used = a > 0 || i % 8 == 0;
            c.kernel[a] = used ? test_pick(&seed, 1, 5) : 1;
            c.stride[a] = used ? test_pick(&seed, 1, 3) : 1;
            c.dilation[a] = used ? test_pick(&seed, 1, 3) : 1;
            c.pad[a] = used ? test_pick(&seed, 0, 4) : 0;
            c.out[a] = used ? test_pick(&seed, 1, 9) : 1;
            c.in[a] = used ? test_pick(&seed, 1, 12) : 1;
        }
        check(&c, run_variable, i % 5 == 0, i % 3 == 0);
    }
}

/* name, channels made, of the weights, width in, out, kernel, stride, dilation, pad */
/* clang-format off */
#define LITERALS(DEPTHWISE) \
    DEPTHWISE(plain_3x3, 32, 32, 14, 14, 3, 1, 1, 1) DEPTHWISE(odd_channels, 21, 21, 9, 9, 3, 1, 1, 1) \
    DEPTHWISE(narrow_map, 40, 40, 7, 7, 3, 1, 1, 1) DEPTHWISE(strided, 24, 24, 15, 8, 3, 2, 1, 1) \
    DEPTHWISE(wide_5x5, 16, 16, 14, 14, 5, 1, 1, 2) DEPTHWISE(wide_7x7, 12, 12, 14, 14, 7, 1, 1, 3) \
    DEPTHWISE(dilated, 8, 8, 11, 11, 3, 1, 2, 2) DEPTHWISE(tiny, 5, 5, 2, 2, 3, 1, 1, 1) \
    DEPTHWISE(even_kernel, 9, 9, 8, 9, 4, 1, 1, 2) DEPTHWISE(beyond_edges, 4, 4, 3, 11, 3, 1, 1, 5) \
    DEPTHWISE(first_channels, 32, 80, 7, 7, 5, 1, 1, 2) DEPTHWISE(one_of_many, 1, 5, 10, 5, 3, 2, 1, 1)
/* clang-format on */

#define LITERAL(name, ch, of, width, made, k, s, d, p) \
    OCC_STEP void run_##name(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, \
                             float *y, const int64_t *ys, const occ_extent *pitch, const occ_expr *e) \
    { \
        static const occ_image  x_at = {{1, ch, 1, width, width}, \
                                        {width * width * ch, 1, width * width * ch, width * ch, ch}}; \
        static const occ_image  y_at = {{1, ch, 1, made, made}, \
                                        {made * made * ch, 1, made * made * ch, made * ch, ch}}; \
        static const occ_window window = {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}; \
        static const occ_fused  fused = {2, {ch + 5, 0}, epilogue}; \
        float                  *taps = unpack(c, w, of); \
        (void)xs, (void)ys, (void)pitch; \
        occ_depthwise_f32(x, &x_at, taps, bias, y, &y_at, &window, of, e, &fused); \
        test_release(taps, k *k *of); \
    }
LITERALS(LITERAL)

static void literal_geometry(void **state)
{
    (void)state;
#define CHECK(name, ch, of, width, made, k, s, d, p) \
    { \
        Conv c = {1,   ch, 1, 1, {1, width, width}, {1, made, made}, {1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}, \
                  {0}, 0,  0, 1}; \
        check(&c, run_##name, 0, 1); \
    }
    LITERALS(CHECK)
}

/* The same channels and windows, height and width being variables. */
#define OPEN(name, ch, of, width, made, k, s, d, p) \
    OCC_STEP void open_##name(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, \
                              float *y, const int64_t *ys, const occ_extent *pitch, const occ_expr *e) \
    { \
        const occ_image  x_at = {{1, ch, 1, c->in[1], c->in[2]}, {xs[0], 1, xs[2], xs[3], ch}}; \
        const occ_image  y_at = {{1, ch, 1, c->out[1], c->out[2]}, {ys[0], 1, ys[2], ys[3], ch}}; \
        const occ_window window = {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}; \
        const occ_fused  fused = {2, {ch + 5, 0}, epilogue}; \
        float           *taps = unpack(c, w, of); \
        (void)pitch; \
        occ_depthwise_open_f32(x, &x_at, taps, bias, y, &y_at, &window, of, e, &fused); \
        test_release(taps, k *k *of); \
    }
LITERALS(OPEN)

static void open_extents(void **state)
{
    (void)state;
#define CHECK_OPEN(name, ch, of, width, made, k, s, d, p) \
    for (int64_t i = 1; i < width + 10; i++) { \
        Conv c = {1, ch, 1, 1, {1, 1, 1}, {1, 1, 1}, {1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}, {0}, 0, 0, 1}; \
        if (set_width(&c, i)) \
            check(&c, open_##name, 0, 1); \
    }
    LITERALS(CHECK_OPEN)
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_geometry), cmocka_unit_test(literal_geometry),
                                       cmocka_unit_test(open_extents)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
