/* test_winograd_q.c - 3x3 and 1x3 convolutions of integers in the transformed domain against plain loops over 64-bit
 * integers: every sum is exact, every byte rounded half to even, to the ends of the ranges of inputs, weights, zero
 * points and sums. */
#include "kernel_test.h"

#include "winograd_q_i8_i8.h"
#include "winograd_q_u8_f32.h"
#include "winograd_q_u8_i32.h"
#include "program/safe_distance.c"

/* high: rows of the kernel, 3 or 1; apart: its dilation along the row. The image is a square, and rows are padded where
 * the kernel has several. */
typedef struct Case {
    int64_t inputs, outputs, width, pad, m, high, apart;
    int     kind; /* of results: bytes from signed bytes, sums or floats from unsigned ones */
} Case;

/* Columns and rows of the result. */
#define MADE(width, p, apart) ((width) + 2 * (p)-2 * (apart))
#define TALL(width, p, high) ((high) == 3 ? (width) + 2 * (p)-2 : (width))

enum { BYTES, SUMS, FLOATS };
enum { IMAGES = 2 };

/* What inputs and weights are: random, or the ends of their ranges. */
enum { RANDOM, ENDS, LEAST, MOST, FILLS };

static int8_t *bytes_of(uint64_t *seed, int64_t n, int fill)
{
    int8_t *p = malloc((size_t)n + 1);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (int8_t)(fill == RANDOM  ? test_pick(seed, -128, 127)
                        : fill == ENDS  ? (test_pick(seed, 0, 1) ? 127 : -128)
                        : fill == LEAST ? -128
                                        : 127);
    return p;
}

/* Sum over the taps inside of (x - zero) * w; x [image][row][column][input], w [output][input][taps]. */
static int64_t sum_at(const Case *c, const int8_t *x, const int8_t *w, int zero, int64_t image, int64_t r, int64_t q,
                      int64_t o)
{
    int64_t sum = 0;

    for (int64_t t = 0; t < 3 * c->high; t++) {
        int64_t h = r + t / 3 - (c->high == 3 ? c->pad : 0), v = q + t % 3 * c->apart - c->pad;

        if (h < 0 || h >= c->width || v < 0 || v >= c->width)
            continue;
        for (int64_t i = 0; i < c->inputs; i++) {
            int8_t byte = x[((image * c->width + h) * c->width + v) * c->inputs + i];

            sum +=
                (int64_t)((c->kind == BYTES ? byte : (uint8_t)byte) - zero) * w[(o * c->inputs + i) * 3 * c->high + t];
        }
    }
    return sum;
}

static const int small[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
static const int large[6][3] = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 12}};

/* Panels as winograd_q reads them. */
static int16_t *transformed(const Case *c, const int8_t *w)
{
    const int(*g)[3] = c->m == 2 ? small : large;
    int64_t  size = c->m + 2, all = c->high == 3 ? size * size : size, pairs = (c->inputs + 1) / 2;
    int16_t *to = calloc((size_t)((c->outputs + 4) * all * pairs), 4), *next = to;

    assert_non_null(to);
    for (int64_t before = 0; before < c->outputs; before += 32) {
        int64_t left = c->outputs - before, width = left >= 32 ? 32 : (left + 3) / 4 * 4;

        for (int64_t f = 0; f < all; f++)
            for (int64_t k = 0; k < pairs; k++, next += 2 * width)
                for (int64_t n = 0; n < 2 * width; n++) {
                    int64_t o = before + n / 2, i = 2 * k + n % 2;
                    int     sum = 0;

                    for (int t = 0; t < 3 * c->high && o < c->outputs && i < c->inputs; t++)
                        sum += (c->high == 3 ? g[f / size][t / 3] : 1) * w[(o * c->inputs + i) * 3 * c->high + t] *
                               g[f % size][t % 3];
                    assert_true(sum >= INT16_MIN && sum <= INT16_MAX);
                    next[n] = (int16_t)sum;
                }
    }
    return to;
}

static occ_vf third(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    return acc * occ_vload((const float *)e->x[0] + e->at[0] + c, n);
}

/* What bytes should hold: the value rounded half to even, + zero, saturated. */
static int rounded(float value, int zero)
{
    double at = nearbyint((double)value) + zero;

    return at < -128 ? -128 : at > 127 ? 127 : (int)at;
}

typedef void (*Run)(const int8_t *x, const int16_t *u, const int32_t *bias, int zero, void *y, const occ_expr *e);

/* name, kind, inputs, outputs, width, pad, m, tiles together, rows of the kernel, dilation */
/* clang-format off */
#define LITERALS(WINOGRAD) \
    WINOGRAD(two_whole, BYTES, 32, 32, 8, 1, 2, 16, 3, 1) WINOGRAD(two_odd, SUMS, 13, 43, 7, 1, 2, 5, 3, 1) \
    WINOGRAD(two_bare, FLOATS, 8, 24, 9, 0, 2, 25, 3, 1) WINOGRAD(two_deep, SUMS, 600, 9, 5, 1, 2, 9, 3, 1) \
    WINOGRAD(four_whole, SUMS, 32, 64, 12, 1, 4, 9, 3, 1) WINOGRAD(four_odd, BYTES, 21, 47, 13, 1, 4, 7, 3, 1) \
    WINOGRAD(four_one, FLOATS, 49, 31, 5, 1, 4, 4, 3, 1) WINOGRAD(four_wide_pad, SUMS, 9, 5, 6, 2, 4, 3, 3, 1) \
    WINOGRAD(four_deep, BYTES, 113, 65, 6, 1, 4, 6, 3, 1) WINOGRAD(line_two, BYTES, 32, 32, 8, 1, 2, 16, 1, 1) \
    WINOGRAD(line_two_apart, FLOATS, 13, 43, 11, 2, 2, 5, 1, 2) \
    WINOGRAD(line_two_deep, SUMS, 2700, 9, 6, 0, 2, 9, 1, 1) \
    WINOGRAD(line_four, SUMS, 32, 64, 12, 1, 4, 9, 1, 1) WINOGRAD(line_four_apart, BYTES, 21, 47, 14, 3, 4, 7, 1, 3) \
    WINOGRAD(line_four_bare, FLOATS, 49, 31, 13, 0, 4, 4, 1, 2) \
    WINOGRAD(line_four_deep, SUMS, 2700, 5, 9, 4, 4, 3, 1, 4)
/* clang-format on */

#define LITERAL(name, kind, ic, oc, width, p, m, group, rows, apart) \
    OCC_STEP void run_##name(const int8_t *x, const int16_t *u, const int32_t *bias, int zero, void *y, \
                             const occ_expr *e) \
    { \
        enum { made = MADE(width, p, apart), tall = TALL(width, p, rows), all = (m + 2) * (rows == 3 ? m + 2 : 1) }; \
        enum { scratch = all * (group * ((ic + 1) / 2 + 32) + 32) }; \
        static const occ_image  x_at = {{IMAGES, ic, 1, width, width}, \
                                        {width * width * ic, 1, width * width * ic, width * ic, ic}}; \
        static const occ_image  y_at = {{IMAGES, oc, 1, tall, made}, \
                                        {tall * made * oc, 1, tall * made * oc, made * oc, oc}}; \
        static const occ_window window = {{1, rows, 3}, {1, 1, 1}, {1, 1, apart}, {0, rows == 3 ? p : 0, p}}; \
        static const occ_fused  scaled = {1, {0}, third}, plain = {0, {0}, NULL}; \
        const occ_wq_form       form = {m, group, zero, 5}; \
        int32_t                *room = (int32_t *)(void *)test_floats(scratch); \
        if (kind == BYTES) \
            occ_winograd_q_i8_i8(x, &x_at, u, bias, y, &y_at, room, &window, &form, e, &scaled); \
        else if (kind == SUMS) \
            occ_winograd_q_u8_i32((const uint8_t *)x, &x_at, u, bias, y, &y_at, room, &window, &form, NULL, &plain); \
        else \
            occ_winograd_q_u8_f32((const uint8_t *)x, &x_at, u, bias, y, &y_at, room, &window, &form, e, &scaled); \
        test_release((float *)(void *)room, scratch); \
    }
LITERALS(LITERAL)

static void compare(const Case *c, const void *y, int64_t at, int64_t want, float scale)
{
    float   value = (float)(int32_t)want * scale;
    int64_t got = c->kind == BYTES ? ((const int8_t *)y)[at] : ((const int32_t *)y)[at];

    if (c->kind == FLOATS) {
        if (((const float *)y)[at] != value)
            fail_msg("element %lld is %a, wanted %a", (long long)at, (double)((const float *)y)[at], (double)value);
    } else if (got != (c->kind == BYTES ? rounded(value, 5) : want)) {
        fail_msg("element %lld is %lld, the sum is %lld", (long long)at, (long long)got, (long long)want);
    }
}

/* All sums without their bias stay inside the range of m. */
static int is_in_range(const Case *c, int fill)
{
    const int64_t line = c->m == 2 ? 1LL << 30 : 1LL << 28, square = c->m == 2 ? 1LL << 29 : 1LL << 25;

    return fill == RANDOM || 255 * 128 * 3 * c->high * c->inputs < (c->high == 3 ? square : line);
}

static void check(const Case *c, Run run, int xfill, int wfill, uint64_t *seed)
{
    const int64_t made = MADE(c->width, c->pad, c->apart), tall = TALL(c->width, c->pad, c->high),
                  pixels = IMAGES * tall * made, taps = 3 * c->high * c->inputs;
    const int zeros[] = {(int)test_pick(seed, 1, 254), 0, 255},
              zero = zeros[test_pick(seed, 0, 2)] - (c->kind == BYTES ? 128 : 0);
    int8_t *x = bytes_of(seed, IMAGES * c->width * c->width * c->inputs, xfill),
           *w = bytes_of(seed, c->outputs * taps, wfill);
    int16_t       *u = transformed(c, w);
    int32_t       *bias = calloc((size_t)c->outputs + 16, 4), *extra = calloc((size_t)c->outputs + 16, 4);
    float         *y = test_floats(pixels * c->outputs), *scale = test_floats(c->outputs);
    const occ_expr e = {{scale}, {0}};

    for (int64_t o = 0; o < c->outputs; o++) {
        extra[o] = (int32_t)test_pick(seed, -99999, 99999);
        scale[o] = 1.0f / (float)(1 << test_pick(seed, 8, 14));
        bias[o] = extra[o];
        for (int64_t n = 0; n < taps; n++)
            bias[o] -= zero * w[o * taps + n];
    }
    run(x, u, bias, zero, y, &e);
    for (int64_t i = 0; i < pixels * c->outputs; i++) {
        int64_t o = i % c->outputs, at = i / c->outputs, r = at / made % tall;

        compare(c, y, i, extra[o] + sum_at(c, x, w, zero, at / made / tall, r, at % made, o), scale[o]);
    }
    test_release(y, pixels * c->outputs), test_release(scale, c->outputs);
    free(x), free(w), free(u), free(bias), free(extra);
}

static void every_sum_is_exact(void **state)
{
    uint64_t seed = 11;

    (void)state;
#define CHECK(name, kind, ic, oc, width, p, m, group, rows, apart) \
    { \
        const Case c = {ic, oc, width, p, m, rows, apart, kind}; \
        for (int xfill = 0; xfill < FILLS; xfill++) \
            for (int wfill = 0; wfill < FILLS; wfill++) \
                if (is_in_range(&c, xfill + wfill)) \
                    check(&c, run_##name, xfill, wfill, &seed); \
    }
    LITERALS(CHECK)
}

/* ----------------------------------------------------------------------------------- input and result in one memory */

static occ_vf smaller(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    (void)e, (void)c, (void)n;
    return acc * occ_vset(0x1p-14f);
}

typedef void (*Tiled)(const int8_t *x, const int16_t *u, int8_t *y);

/* name, inputs, outputs, width, padding, side of a tile, tiles together, rows of the kernel */
/* clang-format off */
#define WINOGRADS(TILES) \
    TILES(two_same, 16, 16, 12, 1, 2, 4, 3) TILES(two_wider, 8, 40, 13, 1, 2, 7, 3) \
    TILES(two_bare, 40, 24, 11, 0, 2, 3, 3) TILES(four_same, 32, 32, 16, 1, 4, 4, 3) \
    TILES(four_wider, 16, 64, 13, 1, 4, 3, 3) TILES(four_bare, 36, 20, 15, 0, 4, 5, 3) \
    TILES(line_same, 16, 16, 12, 1, 2, 4, 1) TILES(line_wider, 8, 40, 13, 1, 4, 3, 1) \
    TILES(line_bare, 36, 20, 15, 0, 4, 5, 1)
/* clang-format on */

#define TILED(name, ic, oc, width, p, m, group, rows) \
    OCC_STEP void tiled_##name(const int8_t *x, const int16_t *u, int8_t *y) \
    { \
        enum { made = MADE(width, p, 1), tall = TALL(width, p, rows), all = (m + 2) * (rows == 3 ? m + 2 : 1) }; \
        enum { scratch = all * (group * ((ic + 1) / 2 + 32) + 32) }; \
        static const occ_image   x_at = {{1, ic, 1, width, width}, {0, 1, 0, width * ic, ic}}; \
        static const occ_image   y_at = {{1, oc, 1, tall, made}, {0, 1, 0, made * oc, oc}}; \
        static const occ_window  window = {{1, rows, 3}, {1, 1, 1}, {1, 1, 1}, {0, rows == 3 ? p : 0, p}}; \
        static const occ_wq_form form = {m, group, 3, -4}; \
        static const occ_fused   fused = {0, {0}, smaller}; \
        int32_t                 *room = (int32_t *)(void *)test_floats(scratch); \
        occ_winograd_q_i8_i8(x, &x_at, u, NULL, y, &y_at, room, &window, &form, NULL, &fused); \
        test_release((float *)(void *)room, scratch); \
    }
WINOGRADS(TILED)

/* Whether y is what it should be with x beginning `distance` bytes above it. */
static int same_bytes(Tiled run, const int8_t *x, const int16_t *u, const int8_t *want, int64_t nx, int64_t ny,
                      int64_t distance)
{
    int8_t *memory = calloc((size_t)(nx + ny + distance), 1);
    int     same;

    memcpy(memory + distance, x, (size_t)nx);
    run(memory + distance, u, memory);
    same = !memcmp(memory, want, (size_t)ny);
    free(memory);
    return same;
}

static void tiles_are_read_before_they_are_written(void **state)
{
    uint64_t seed = 13;
    int      tight = 0;

    (void)state;
#define CHECK_TILED(name, ic, oc, width, p, m, together, kernel) \
    { \
        enum { \
            made = MADE(width, p, 1), \
            tall = TALL(width, p, kernel), \
            nx = width * width * ic, \
            ny = tall * made * oc \
        }; \
        const Case      c = {ic, oc, width, p, m, kernel, 1, BYTES}; \
        const GroupWalk walk = {.rows = tall, \
                                .columns = made, \
                                .side = m, \
                                .high = kernel == 3 ? m : 1, \
                                .group = together, \
                                .top = kernel == 3 ? p : 0, \
                                .left = p, \
                                .xrow = width * ic, \
                                .yrow = made * oc, \
                                .xcolumn = ic, \
                                .ycolumn = oc, \
                                .ytail = oc}; \
        const int64_t   distance = distance_of_groups(&walk); \
        int8_t         *x = bytes_of(&seed, nx, RANDOM), *w = bytes_of(&seed, oc * ic * 3 * kernel, RANDOM), \
               *want = calloc(ny, 1); \
        int16_t *u = transformed(&c, w); \
        tiled_##name(x, u, want); \
        if (!same_bytes(tiled_##name, x, u, want, nx, ny, distance)) \
            fail_msg(#name ": overwritten at distance %lld", (long long)distance); \
        tight += distance > 0 && !same_bytes(tiled_##name, x, u, want, nx, ny, distance - 1); \
        free(x), free(w), free(want), free(u); \
    }
    WINOGRADS(CHECK_TILED)
    print_message("    %d fail one element closer\n", tight);
    assert_true(tight > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_sum_is_exact),
                                       cmocka_unit_test(tiles_are_read_before_they_are_written)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
