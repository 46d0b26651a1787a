/* test_winograd.c - 3x3 and 1x3 convolution in the transformed domain against plain loops in double precision. */
#include "conv_check.h"
#include "winograd_f32.c"

static const double small[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
static const double large[6][3] = {{0.25, 0, 0},
                                   {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                   {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                   {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                   {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                   {0, 0, 1}};

/* Filters in panels, [block][tap][input][32], become transformed filters in panels, [frequency][block][input][32]. */
static float *transformed(const Conv *c, const float *w, int64_t m)
{
    const double(*g)[3] = m == 2 ? small : large;
    int64_t size = m + 2, one = c->outputs * c->inputs, rows = c->kernel[1], all = rows == 3 ? size * size : size;
    float  *to = test_floats(all * one + pack_margin(c->outputs));

    for (int64_t o = 0; o < c->outputs; o++) {
        int64_t before = o / 32 * 32, left = c->outputs - before, width = left < 32 ? left : 32;
        for (int64_t i = 0; i < c->inputs; i++)
            for (int64_t f = 0; f < all; f++) {
                double sum = 0.0;
                for (int64_t t = 0; t < 3 * rows; t++)
                    sum += (rows == 3 ? g[f / size][t / 3] : 1.0) * g[f % size][t % 3] *
                           (double)w[before * c->inputs * 3 * rows + (t * c->inputs + i) * width + o % 32];
                to[f * one + before * c->inputs + i * width + o % 32] = (float)sum;
            }
    }
    return to;
}

/* name, inputs, outputs, width, pad, m, tiles together, rows of the kernel, dilation; rows are padded where the kernel
 * has several */
/* clang-format off */
#define LITERALS(WINOGRAD) \
    WINOGRAD(two_whole, 16, 32, 8, 1, 2, 16, 3, 1) WINOGRAD(two_odd, 12, 40, 7, 1, 2, 5, 3, 1) \
    WINOGRAD(two_bare, 8, 24, 9, 0, 2, 25, 3, 1) WINOGRAD(four_whole, 24, 64, 12, 1, 4, 9, 3, 1) \
    WINOGRAD(four_odd, 20, 48, 13, 1, 4, 7, 3, 1) WINOGRAD(four_one, 33, 31, 5, 1, 4, 4, 3, 1) \
    WINOGRAD(four_wide_pad, 9, 5, 6, 2, 4, 3, 3, 1) WINOGRAD(four_many, 16, 200, 9, 1, 4, 3, 3, 1) \
    WINOGRAD(line_two, 16, 32, 8, 1, 2, 16, 1, 1) WINOGRAD(line_two_apart, 12, 40, 11, 2, 2, 5, 1, 2) \
    WINOGRAD(line_four, 24, 64, 12, 1, 4, 9, 1, 1) WINOGRAD(line_four_apart, 20, 48, 14, 3, 4, 7, 1, 3) \
    WINOGRAD(line_four_bare, 33, 31, 13, 0, 4, 4, 1, 2) WINOGRAD(line_four_many, 16, 200, 9, 1, 4, 3, 1, 1)
/* clang-format on */

#define LITERAL(name, ic, oc, width, p, m, group, rows, apart) \
    OCC_STEP void run_##name(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, \
                             float *y, const int64_t *ys, const occ_extent *pitch, const occ_expr *e) \
    { \
        enum { \
            made = width + 2 * p - 2 * apart, \
            tall = rows == 3 ? made : width, \
            all = (m + 2) * (rows == 3 ? m + 2 : 1) \
        }; \
        enum { scratch = all * (group * (ic + (oc < 128 ? oc : 128)) + 32) }; \
        static const occ_image  x_at = {{2, ic, 1, width, width}, \
                                        {width * width * ic, 1, width * width * ic, width * ic, ic}}; \
        static const occ_image  y_at = {{2, oc, 1, tall, made}, \
                                        {tall * made * oc, 1, tall * made * oc, made * oc, oc}}; \
        static const occ_window window = {{1, rows, 3}, {1, 1, 1}, {1, 1, apart}, {0, rows == 3 ? p : 0, p}}; \
        static const occ_lots   lots = {m, group, oc * ic}; \
        static const occ_fused  fused = {2, {oc + 5, 0}, epilogue}; \
        float                  *u = transformed(c, w, m), *room = test_floats(scratch); \
        (void)xs, (void)ys, (void)pitch; \
        occ_winograd_f32(x, &x_at, u, bias, y, &y_at, room, &window, &lots, e, &fused); \
        test_release(u, all *oc *ic + pack_margin(oc)), test_release(room, scratch); \
    }
LITERALS(LITERAL)

/* A convolution of one pixel; a kernel of one row has no padding above and below. */
static Conv conv_of(int64_t batch, int64_t inputs, int64_t outputs, int64_t rows, int64_t apart, int64_t pad)
{
    return (Conv){.batch = batch,
                  .groups = 1,
                  .inputs = inputs,
                  .outputs = outputs,
                  .in = {1, 1, 1},
                  .out = {1, 1, 1},
                  .kernel = {1, rows, 3},
                  .stride = {1, 1, 1},
                  .dilation = {1, 1, apart},
                  .pad = {0, rows == 3 ? pad : 0, pad},
                  .bias = 1};
}

static void literal_geometry(void **state)
{
    (void)state;
#define CHECK(name, ic, oc, width, p, m, group, rows, apart) \
    { \
        Conv c = conv_of(2, ic, oc, rows, apart, p); \
        c.in[1] = c.in[2] = width; \
        c.out[1] = rows == 3 ? width + 2 * p - 2 : width; \
        c.out[2] = width + 2 * p - 2 * apart; \
        check_within(&c, run_##name, 0, 1, m == 2 ? 2e-6 : 1e-5); \
    }
    LITERALS(CHECK)
}

/* The same channels, tiles and groups; images, height and width are variables. */
#define OPEN(name, ic, oc, width, p, m, group, rows, apart) \
    OCC_STEP void open_##name(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, \
                              float *y, const int64_t *ys, const occ_extent *pitch, const occ_expr *e) \
    { \
        enum { all = (m + 2) * (rows == 3 ? m + 2 : 1), scratch = all * (group * (ic + (oc < 128 ? oc : 128)) + 32) }; \
        const occ_image  x_at = {{c->batch, ic, 1, c->in[1], c->in[2]}, {xs[0], 1, xs[2], xs[3], ic}}; \
        const occ_image  y_at = {{c->batch, oc, 1, c->out[1], c->out[2]}, {ys[0], 1, ys[2], ys[3], oc}}; \
        const occ_window window = {{1, rows, 3}, {1, 1, 1}, {1, 1, apart}, {0, rows == 3 ? p : 0, p}}; \
        const occ_lots   lots = {m, group, oc * ic}; \
        const occ_fused  fused = {2, {oc + 5, 0}, epilogue}; \
        float           *u = transformed(c, w, m), *room = test_floats(scratch); \
        (void)pitch; \
        occ_winograd_open_f32(x, &x_at, u, bias, y, &y_at, room, &window, &lots, e, &fused); \
        test_release(u, all *oc *ic + pack_margin(oc)), test_release(room, scratch); \
    }
LITERALS(OPEN)

static void open_extents(void **state)
{
    (void)state;
#define CHECK_OPEN(name, ic, oc, width, p, m, group, rows, apart) \
    for (int64_t i = 1; i < width + 3; i++) { \
        Conv c = conv_of(1 + i % 3, ic, oc, rows, apart, p); \
        if (!set_width(&c, i)) \
            continue; \
        c.out[1] = rows == 3 ? c.out[2] : i; \
        check_within(&c, open_##name, 0, 1, m == 2 ? 2e-6 : 1e-5); \
    }
    LITERALS(CHECK_OPEN)
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(literal_geometry), cmocka_unit_test(open_extents)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
