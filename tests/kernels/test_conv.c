/* test_conv.c - convolution with literal geometry: the specialised code of tiles, edges and remainders. */
#include "conv_check.h"
#include "conv_f32.c"

/* Literal geometry: name, channels in, out, width in, out, kernel, stride, dilation, pad, groups, vectors, rows,
 * pace. */
/* clang-format off */
#define LITERALS(CONV) \
    CONV(plain_3x3, 8, 64, 14, 14, 3, 1, 1, 1, 1, 0, 0, 0) CONV(narrow_map, 8, 32, 7, 7, 3, 1, 1, 1, 1, 0, 0, 0) \
    CONV(tiny_map, 5, 20, 3, 3, 3, 1, 1, 1, 1, 0, 0, 0) CONV(one_by_one, 24, 72, 9, 9, 1, 1, 1, 0, 1, 0, 0, 0) \
    CONV(strided, 16, 48, 13, 7, 3, 2, 1, 1, 1, 0, 2, 0) CONV(stem, 3, 33, 21, 11, 7, 2, 1, 3, 1, 0, 0, 0) \
    CONV(dilated, 4, 12, 11, 11, 3, 1, 2, 2, 1, 0, 0, 0) CONV(grouped, 4, 6, 8, 8, 3, 1, 1, 1, 3, 0, 0, 0) \
    CONV(wide_tile, 16, 128, 6, 6, 1, 1, 1, 0, 1, 4, 0, 0) CONV(slim_tile, 16, 64, 6, 6, 3, 1, 1, 1, 1, 1, 3, 0) \
    CONV(paced, 32, 96, 9, 9, 3, 1, 1, 1, 1, 0, 0, 4) CONV(one_pixel, 64, 40, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0) \
    CONV(only_padding, 3, 8, 2, 6, 3, 1, 1, 3, 1, 0, 0, 0) CONV(lone_channel, 1, 1, 10, 10, 3, 1, 1, 1, 1, 0, 0, 0) \
    CONV(deep_line, 200, 72, 14, 14, 1, 1, 1, 0, 1, 0, 0, 0) \
    CONV(deep_line_paced, 97, 33, 9, 9, 1, 1, 1, 0, 1, 0, 0, 4) \
    CONV(deep_line_wide, 100, 144, 14, 14, 1, 1, 1, 0, 1, 4, 0, 0) \
    CONV(crowded, 1024, 128, 5, 5, 1, 1, 1, 0, 1, 0, 0, 0) \
    CONV(crowded_strided, 512, 64, 9, 5, 1, 2, 1, 0, 1, 0, 0, 0) \
    CONV(deep_strided, 130, 32, 14, 7, 3, 2, 1, 1, 1, 0, 0, 8) \
    CONV(deep_skipping, 70, 64, 13, 7, 1, 2, 1, 0, 1, 0, 0, 4) \
    CONV(deep_groups, 40, 32, 12, 12, 3, 1, 1, 1, 2, 0, 12, 4) \
    CONV(deep_dilated, 20, 32, 14, 12, 5, 1, 2, 3, 1, 0, 0, 2) \
    CONV(far_taps, 5, 20, 30, 30, 3, 1, 12, 12, 1, 0, 0, 0) CONV(far_strided, 8, 40, 33, 17, 3, 2, 10, 10, 1, 0, 0, 0) \
    CONV(far_groups, 4, 6, 26, 26, 3, 1, 9, 9, 3, 0, 0, 0) CONV(large_window, 3, 8, 20, 20, 17, 1, 1, 8, 1, 0, 0, 0) \
    CONV(beyond_padding, 5, 16, 11, 43, 3, 1, 7, 23, 1, 0, 0, 0)
/* clang-format on */

#define LITERAL(name, ic, oc, width, made, k, s, d, p, g, v, r, pace) \
    OCC_STEP void run_##name(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, \
                             float *y, const int64_t *ys, const occ_extent *pitch, const occ_expr *e) \
    { \
        static const occ_image  x_at = {{1, ic * g, 1, width, width}, \
                                        {width * width * ic * g, 1, width * width * ic * g, width * ic * g, ic * g}}; \
        static const occ_image  y_at = {{1, oc * g, 1, made, made}, \
                                        {made * made * oc * g, 1, made * made * oc * g, made * oc * g, oc * g}}; \
        static const occ_window window = {{1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}}; \
        static const occ_extent tile[] = {v, r, pace}; \
        static const occ_fused  fused = {2, {oc * g + 5, 0}, epilogue}; \
        (void)c, (void)xs, (void)ys, (void)pitch; \
        occ_conv_f32(x, &x_at, w, bias, y, &y_at, &window, g, tile, e, &fused); \
    }
LITERALS(LITERAL)

static void literal_geometry(void **state)
{
    (void)state;
#define CHECK(name, ic, oc, width, made, k, s, d, p, g, v, r, pace) \
    { \
        Conv c = {1,   g, ic, oc, {1, width, width}, {1, made, made}, {1, k, k}, {1, s, s}, {1, d, d}, {0, p, p}, \
                  {0}, 0, 0,  1}; \
        check(&c, run_##name, 0, 1); \
    }
    LITERALS(CHECK)
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(literal_geometry)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
