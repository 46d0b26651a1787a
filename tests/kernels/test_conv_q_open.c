/* test_conv_q_open.c - integer convolutions with literal channels and windows of images whose height and width are
 * variables, as test_conv_q.c checks them: random extents, some of which make results that see no input. */
#include "conv_q_check.h"

enum { HEIGHT = 11, WIDTH = 43 }; /* of an image, at most */

/* name, signed, folded, safe, groups, channels in, out, kernel, stride, dilation, pad, results of a strip, whether its
 * weights are widened */
/* clang-format off */
#define CONVOLUTIONS(CONV) \
    CONV(plain_3x3, 1, 0, 1, 1, 8, 24, 3, 1, 1, 1, 0, 0) CONV(odd_channels, 0, 1, 0, 1, 7, 21, 3, 1, 1, 1, 0, 0) \
    CONV(stem, 0, 1, 0, 1, 3, 32, 3, 2, 1, 1, 0, 0) CONV(wide_stem, 1, 0, 0, 1, 3, 16, 7, 2, 1, 3, 0, 0) \
    CONV(point, 1, 0, 0, 1, 5, 13, 1, 1, 1, 0, 0, 0) CONV(sparse_point, 0, 0, 1, 1, 8, 40, 1, 2, 1, 0, 0, 0) \
    CONV(grouped, 1, 1, 0, 3, 4, 6, 3, 1, 1, 1, 0, 0) CONV(dilated, 0, 0, 1, 1, 4, 9, 3, 1, 2, 2, 0, 0) \
    CONV(only_padding, 1, 0, 0, 1, 3, 8, 3, 1, 1, 3, 0, 0) CONV(bare, 0, 1, 0, 1, 8, 33, 2, 1, 1, 0, 0, 0) \
    CONV(strip_3x3, 0, 1, 0, 1, 24, 53, 3, 1, 1, 1, 24, 0) CONV(strip_signed, 1, 0, 0, 1, 16, 35, 3, 1, 1, 1, 12, 1) \
    CONV(strip_strides, 0, 0, 0, 1, 40, 32, 3, 2, 1, 1, 24, 0) \
    CONV(strip_point, 1, 1, 0, 1, 36, 47, 1, 1, 1, 0, 48, 1) CONV(strip_holes, 0, 0, 0, 1, 16, 20, 3, 1, 2, 2, 36, 1) \
    CONV(strip_sparse, 1, 0, 0, 2, 32, 24, 1, 2, 1, 0, 12, 0) \
    CONV(strip_beyond, 0, 1, 1, 1, 16, 16, 5, 1, 1, 10, 12, 1)
/* clang-format on */

/* Pairs of a strip and its weights. */
#define STRIP(ci, k, s, d, strip) (2 * (k) * (((strip)-1) * (s) + ((k)-1) * (d) + 1) * ((ci) / 4))
#define WEIGHTS(ci, k) ((k) * (k) * ((ci) / 4) * 64)
#define ROOM(ci, k, s, d, strip, wide) ((strip) ? STRIP(ci, k, s, d, strip) + (wide)*WEIGHTS(ci, k) : 1)

#define OPEN(name, is_signed, folded, safe, g, ci, co, k, s, d, p, cols, wide) \
    OCC_STEP void run_##name(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, \
                             const int32_t *sums, int zero, void *y) \
    { \
        const occ_image        x_at = {{1, ci * g, 1, c->in[0], c->in[1]}, {0, 1, 0, c->in[1] * ci * g, ci * g}}; \
        const occ_image        y_at = {{1, co * g, 1, c->out[0], c->out[1]}, {0, 1, 0, c->out[1] * co * g, co * g}}; \
        const occ_q_form       form = {{{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}, g, zero, 5, safe, cols, wide, 0}; \
        static const occ_fused added = {1, {co * g + ADDED}, third_and_operand}; \
        const occ_expr         e = {{c->operand}, {0}}; \
        const int32_t         *apart = folded ? NULL : sums; \
        int32_t               *pairs = malloc((size_t)(ROOM(ci, k, s, d, cols, wide)) * sizeof *pairs); \
        assert_non_null(pairs); \
        if (is_signed) \
            occ_conv_open_q_i8_i8(x, &x_at, w, bias, apart, NULL, y, &y_at, cols ? pairs : NULL, &form, &e, &added); \
        else \
            occ_conv_open_q_u8_i32((const uint8_t *)x, &x_at, w, bias, apart, NULL, y, &y_at, cols ? pairs : NULL, \
                                   &form, NULL, &plain); \
        free(pairs); \
    }
CONVOLUTIONS(OPEN)

/* Random extents; one in four has results that no window of the image asks for. */
static int set_extents(Case *c, uint64_t *seed)
{
    const int64_t most[2] = {HEIGHT, WIDTH}, beyond = test_pick(seed, 0, 3) == 3;

    for (int a = 0; a < 2; a++) {
        c->in[a] = test_pick(seed, 1, most[a]);
        c->out[a] = c->in[a] + 2 * c->pad[a] - (c->kernel[a] - 1) * c->dilation[a] - 1;
        if (c->out[a] < 0)
            return 0;
        c->out[a] = c->out[a] / c->stride[a] + 1 + beyond * test_pick(seed, 0, 3);
    }
    return 1;
}

static void random_extents(void **state)
{
    uint64_t seed = 13;

    (void)state;
    for (int i = 0; i < 40; i++) {
#define CHECK(name, is_signed, folded, safe, g, ci, co, k, s, d, p, strip, wide) \
    { \
        Case c = {g,      ci,        co,     {0, 0}, {0, 0}, {k, k},    {s, s}, {d, d}, \
                  {p, p}, is_signed, folded, 1,      safe,   is_signed, NULL}; \
        if (set_extents(&c, &seed)) \
            check(&c, run_##name, &seed); \
    }
        CONVOLUTIONS(CHECK)
    }
}

/* Every width of one row and of several, among which are those that no tile fits. */
static void every_width(void **state)
{
    uint64_t seed = 17;

    (void)state;
    for (int64_t width = 1; width <= WIDTH; width++)
        for (int64_t height = 1; height <= 9; height += 4) {
            Case c = {1, 8, 24, {height, width}, {height, width}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 0, 1, 1, 1, NULL};
            Case s = {1, 16, 35, {height, width}, {height, width}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 0, 1, 0, 1, NULL};

            check(&c, run_plain_3x3, &seed);
            check(&s, run_strip_signed, &seed);
        }
}

/* name, signed, channels, kernel, stride, dilation, pad */
/* clang-format off */
#define DEPTHWISES(CONV) \
    CONV(plain, 1, 32, 3, 1, 1, 1) CONV(odd, 0, 21, 3, 1, 1, 1) CONV(strides, 1, 40, 3, 2, 1, 1) \
    CONV(holes, 0, 9, 3, 1, 2, 2) CONV(wide, 1, 19, 5, 1, 1, 2) \
    CONV(bare, 0, 70, 2, 1, 1, 0) CONV(beyond, 1, 16, 4, 3, 1, 9)
/* clang-format on */

#define DEPTHWISE(name, is_signed, ch, k, s, d, p) \
    OCC_STEP void depthwise_##name(const Case *c, const int8_t *x, const int8_t *w, const int32_t *bias, \
                                   const int32_t *sums, int zero, void *y) \
    { \
        const occ_image        x_at = {{1, ch, 1, c->in[0], c->in[1]}, {0, 1, 0, c->in[1] * ch, ch}}; \
        const occ_image        y_at = {{1, ch, 1, c->out[0], c->out[1]}, {0, 1, 0, c->out[1] * ch, ch}}; \
        const occ_window       window = {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}; \
        const occ_dq_form      form = {zero, 5, ch}; \
        static const occ_fused added = {1, {ch + ADDED}, third_and_operand}; \
        const occ_expr         e = {{c->operand}, {0}}; \
        (void)sums; \
        if (is_signed) \
            occ_depthwise_q_i8_i8(x, &x_at, w, bias, NULL, y, &y_at, &window, &form, &e, &added); \
        else \
            occ_depthwise_q_u8_i32((const uint8_t *)x, &x_at, w, bias, NULL, y, &y_at, &window, &form, NULL, &plain); \
    }
DEPTHWISES(DEPTHWISE)

static void each_channel_by_itself(void **state)
{
    uint64_t seed = 19;

    (void)state;
    for (int i = 0; i < 60; i++) {
#define CHECK_DEPTHWISE(name, is_signed, ch, k, s, d, p) \
    { \
        Case c = {ch, 1, 1, {0, 0}, {0, 0}, {k, k}, {s, s}, {d, d}, {p, p}, is_signed, 0, 1, 0, is_signed, NULL}; \
        if (set_extents(&c, &seed)) \
            check_depthwise(&c, depthwise_##name, &seed); \
    }
        DEPTHWISES(CHECK_DEPTHWISE)
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_extents), cmocka_unit_test(every_width),
                                       cmocka_unit_test(each_channel_by_itself)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
