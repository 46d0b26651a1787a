/* test_conv_open.c - convolution with literal channels and windows of images whose height and width are variables: full
 * tiles, shorter ones, edges and single columns of every width. */
#include "conv_check.h"
#include "conv_f32.c"

/* name, channels in, out, largest width, kernel, stride, dilation, pad, groups, vectors, rows, pace */
/* clang-format off */
#define CONVOLUTIONS(CONV) \
    CONV(plain_3x3, 8, 64, 33, 3, 1, 1, 1, 1, 0, 0, 0) CONV(few_channels, 5, 20, 28, 3, 1, 1, 1, 1, 0, 0, 0) \
    CONV(one_by_one, 24, 72, 9, 1, 1, 1, 0, 1, 0, 0, 0) CONV(strided, 16, 48, 35, 3, 2, 1, 1, 1, 0, 2, 0) \
    CONV(stem, 3, 33, 40, 7, 2, 1, 3, 1, 0, 0, 0) CONV(dilated, 4, 12, 21, 3, 1, 2, 2, 1, 0, 0, 0) \
    CONV(grouped, 4, 6, 12, 3, 1, 1, 1, 3, 0, 0, 0) CONV(slim_tile, 16, 64, 9, 3, 1, 1, 1, 1, 1, 3, 0) \
    CONV(only_padding, 3, 8, 6, 3, 1, 1, 3, 1, 0, 0, 0) CONV(lone_channel, 1, 1, 18, 3, 1, 1, 1, 1, 0, 0, 0) \
    CONV(deep_line, 200, 72, 20, 1, 1, 1, 0, 1, 0, 0, 0) CONV(deep_line_wide, 100, 144, 17, 1, 1, 1, 0, 1, 4, 0, 0) \
    CONV(crowded, 1024, 128, 5, 1, 1, 1, 0, 1, 0, 0, 4) CONV(paced, 70, 64, 14, 3, 2, 1, 1, 1, 0, 0, 8)
/* clang-format on */

#define OPEN(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    OCC_STEP void run_##name(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, \
                             float *y, const int64_t *ys, const occ_extent *pitch, const occ_expr *e) \
    { \
        const occ_image  x_at = {{c->batch, ic * g, 1, c->in[1], c->in[2]}, {xs[0], 1, xs[2], xs[3], ic * g}}; \
        const occ_image  y_at = {{c->batch, oc * g, 1, c->out[1], c->out[2]}, {ys[0], 1, ys[2], ys[3], oc * g}}; \
        const occ_window window = {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}; \
        const occ_extent tile[] = {v, r, pace}; \
        const occ_fused  fused = {2, {oc * g + 5, 0}, epilogue}; \
        (void)pitch; \
        occ_conv_f32(x, &x_at, w, bias, y, &y_at, &window, g, tile, e, &fused); \
    }
CONVOLUTIONS(OPEN)

static void every_width(void **state)
{
    (void)state;
#define CHECK(name, ic, oc, most, k, s, d, p, g, v, r, pace) \
    for (int64_t width = 1; width <= most; width++) { \
        Conv c = {1 + width % 2, g,         ic,        oc,  {1, 1, 1}, {1, 1, 1}, {1, k, k}, \
                  {1, s, s},     {1, d, d}, {0, p, p}, {0}, 0,         0,         1}; \
        if (set_width(&c, width)) \
            check_within(&c, run_##name, 0, 1, 3e-6); \
    }
    CONVOLUTIONS(CHECK)
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
