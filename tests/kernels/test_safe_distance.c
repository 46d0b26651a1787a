/* test_safe_distance.c - kernels that compute by rows or tiles, run with input and result in the same memory: at the
 * declared distance every bit is that of a run apart, and of each kind of kernel some case fails when the two lie one
 * element closer. */
#include "image.h"
#include "kernel_test.h"

#include "conv_dot_f32.c"
#include "depthwise_f32.c"
#include "pool_f32.c"
#include "winograd_f32.c" /* includes conv_f32.c */
#include "program/safe_distance.c"

enum { CONV, DEPTHWISE, POOL, DOT, RANDOM_KINDS, WINOGRAD = RANDOM_KINDS, KINDS };
enum { TAPS = 6 * 6, SAMPLES = 1000 }; /* taps of a kernel, or frequencies; of each kind */

typedef struct Case {
    int        kind;
    occ_extent xdim[5], ydim[5], xstride[5], ystride[5], kernel[3], stride[3], dilation[3], pad[3], tile[3];
    occ_extent side, group; /* of Winograd's tiles */
} Case;

static const char *const kind_name[KINDS] = {"conv", "depthwise", "pool", "conv_dot", "winograd"};

/* Channels last, with gaps between pixels and rows where asked for. */
static void lay_out(occ_extent *stride, const occ_extent *dim, int64_t pixel_gap, int64_t row_gap)
{
    stride[1] = 1;
    stride[4] = dim[1] + pixel_gap;
    stride[3] = dim[4] * stride[4] + row_gap;
    stride[2] = stride[0] = 0;
}

static int64_t extent_of(const occ_extent *dim, const occ_extent *stride)
{
    int64_t last = 0;

    for (int i = 0; i < 5; i++)
        last += (dim[i] - 1) * stride[i];
    return last + 1;
}

static RowWalk walk_of(const Case *c)
{
    RowWalk w = {.rows = c->ydim[3],
                 .block = c->kind == CONV ? c->tile[1] : 1,
                 .stride = c->stride[1],
                 .pad = c->pad[1],
                 .input_rows = c->xdim[3],
                 .xrow = c->xstride[3],
                 .yrow = c->ystride[3],
                 .columns = c->ydim[4],
                 .across = c->stride[2],
                 .left = c->pad[2],
                 .xcolumn = c->xstride[4],
                 .ycolumn = c->ystride[4]};

    w.tile = c->kind == POOL ? 1 : c->kind == DEPTHWISE ? 8 : c->kind == DOT ? 24 : 0;
    w.ytail = (c->ydim[1] - 1) * c->ystride[1] + 1;
    return w;
}

static int64_t distance_of(const Case *c)
{
    const RowWalk   rows = walk_of(c);
    const GroupWalk groups = {.rows = c->ydim[3],
                              .columns = c->ydim[4],
                              .side = c->side,
                              .high = c->side,
                              .group = c->group,
                              .top = c->pad[1],
                              .left = c->pad[2],
                              .xrow = c->xstride[3],
                              .yrow = c->ystride[3],
                              .xcolumn = c->xstride[4],
                              .ycolumn = c->ystride[4],
                              .ytail = rows.ytail};

    return c->kind == WINOGRAD ? distance_of_groups(&groups) : distance_of_rows(&rows);
}

static occ_vf doubled(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    (void)e, (void)c, (void)n;
    return occ_vadd(acc, acc);
}

typedef void (*Run)(const Case *c, const float *x, const float *w, float *y);

/* Geometry known while running. */
static void run_variable(const Case *c, const float *x, const float *w, float *y)
{
    static const occ_fused twice = {0, {0}, doubled};
    const occ_image        x_at = image_of(c->xdim, c->xstride, 1), y_at = image_of(c->ydim, c->ystride, 1);
    const occ_window       window = window_of(c->kernel, c->stride, c->dilation, c->pad);

    if (c->kind == CONV)
        occ_conv_f32(x, &x_at, w, NULL, y, &y_at, &window, 1, c->tile, NULL, &twice);
    else if (c->kind == DEPTHWISE)
        occ_depthwise_f32(x, &x_at, w, NULL, y, &y_at, &window, c->xdim[1], NULL, &twice);
    else if (c->kind == DOT)
        occ_conv_dot_f32(x, &x_at, w, NULL, y, &y_at, &window, NULL, &twice);
    else
        occ_pool_f32(x, &x_at, y, &y_at, &window, c->pad, OCC_POOL_MEAN, 0);
}

/* Does y, with x beginning `distance` elements above it, come out as `want`? */
static int same_bits(const Case *c, Run run, const float *x, const float *w, const float *want, int64_t distance)
{
    const int64_t nx = extent_of(c->xdim, c->xstride), ny = extent_of(c->ydim, c->ystride),
                  size = ny > distance + nx ? ny : distance + nx;
    float *memory = test_floats(size);
    int    same = 1;

    memcpy(memory + distance, x, (size_t)nx * sizeof *x);
    run(c, memory + distance, w, memory);
    for (int64_t h = 0; h < c->ydim[3]; h++)
        for (int64_t v = 0; v < c->ydim[4]; v++) {
            const int64_t at = h * c->ystride[3] + v * c->ystride[4];
            same = same && !memcmp(memory + at, want + at, (size_t)c->ydim[1] * sizeof *want);
        }
    test_release(memory, size);
    return same;
}

/* Counts the cases that fail one element closer. */
static void check(const Case *c, Run run, int tight[KINDS])
{
    const int64_t nx = extent_of(c->xdim, c->xstride), ny = extent_of(c->ydim, c->ystride);
    const int64_t nw = c->ydim[1] + 32 +
                       (c->kind == CONV || c->kind == DOT || c->kind == WINOGRAD ? c->xdim[1] * TAPS * (c->ydim[1] + 32)
                                                                                 : TAPS * c->ydim[1]);
    const int64_t distance = distance_of(c);
    uint64_t      seed = 5;
    float        *x = test_random_floats(&seed, nx), *w = test_random_floats(&seed, nw), *want = test_floats(ny);

    run(c, x, w, want);
    if (!same_bits(c, run, x, w, want, distance))
        fail_msg("%s: overwritten at distance %lld: in %lld x %lld x %lld, out %lld x %lld x %lld, kernel %lld, stride "
                 "%lld, pad %lld, rows %lld",
                 kind_name[c->kind], (long long)distance, (long long)c->xdim[1], (long long)c->xdim[3],
                 (long long)c->xdim[4], (long long)c->ydim[1], (long long)c->ydim[3], (long long)c->ydim[4],
                 (long long)c->kernel[1], (long long)c->stride[1], (long long)c->pad[1], (long long)c->tile[1]);
    tight[c->kind] += distance > 0 && !same_bits(c, run, x, w, want, distance - 1);
    test_release(x, nx), test_release(w, nw), test_release(want, ny);
}

/* What the kernel for few outputs takes; often one pixel wide, where a tile is a pixel. */
static void narrow_case(uint64_t *seed, Case *c)
{
    c->ydim[1] = test_pick(seed, 1, 4);
    c->dilation[2] = 1;
    c->ydim[4] = test_pick(seed, 0, 1) ? test_pick(seed, 1, 60) : 1;
    c->xdim[4] = test_pick(seed, 1, c->ydim[4] > 1 ? 60 : 4);
}

static Case random_case(uint64_t *seed, int kind)
{
    Case c = {.kind = kind, .kernel = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};

    c.xdim[0] = c.xdim[2] = c.ydim[0] = c.ydim[2] = 1;
    c.xdim[1] = c.ydim[1] = test_pick(seed, 0, 2) ? test_pick(seed, 1, 40) : 1;
    if (kind == CONV)
        c.ydim[1] = test_pick(seed, 1, 72);
    for (int a = 1; a < 3; a++) {
        c.kernel[a] = test_pick(seed, 1, 5);
        c.stride[a] = test_pick(seed, 1, 3);
        c.dilation[a] = kind == POOL ? 1 : test_pick(seed, 1, 2);
        c.pad[a] = test_pick(seed, 0, c.kernel[a] - 1);
        c.xdim[2 + a] = test_pick(seed, 1, 12);
        c.ydim[2 + a] =
            test_pick(seed, 0, 2) ? test_pick(seed, 1, 12) : 1 + a % 2 * 5; /* some columns, one pixel wide */
    }
    c.tile[1] = test_pick(seed, 1, c.ydim[3]);
    if (kind == DOT)
        narrow_case(seed, &c);
    lay_out(c.xstride, c.xdim, kind == DOT ? 0 : test_pick(seed, 0, 1) * 3, test_pick(seed, 0, 1) * 5);
    lay_out(c.ystride, c.ydim, test_pick(seed, 0, 2) * 7, test_pick(seed, 0, 1) * 5);
    return c;
}

static void random_geometry(void **state)
{
    uint64_t seed = 11;
    int      tight[KINDS] = {0};

    (void)state;
    for (int i = 0; i < SAMPLES * RANDOM_KINDS; i++) {
        Case c = random_case(&seed, i % RANDOM_KINDS);
        check(&c, run_variable, tight);
    }
    for (int kind = 0; kind < RANDOM_KINDS; kind++) {
        print_message("    %s: %d of %d fail one element closer\n", kind_name[kind], tight[kind], SAMPLES);
        assert_true(tight[kind] > 0);
    }
}

/* Literal geometry: name, kind, channels in, out, width in, out, kernel, stride, pad, rows of a block
 * (convolutions). */
/* clang-format off */
#define LITERALS(CASE) \
    CASE(conv_3x3, CONV, 16, 64, 14, 14, 3, 1, 1, 1) CASE(conv_rows, CONV, 8, 33, 14, 14, 3, 1, 1, 3) \
    CASE(conv_strided, CONV, 16, 32, 15, 8, 3, 2, 1, 1) CASE(conv_1x1, CONV, 32, 96, 16, 16, 1, 1, 0, 1) \
    CASE(conv_narrower, CONV, 96, 24, 8, 8, 1, 1, 0, 2) CASE(depthwise_3x3, DEPTHWISE, 48, 48, 14, 14, 3, 1, 1, 1) \
    CASE(depthwise_strided, DEPTHWISE, 32, 32, 15, 8, 3, 2, 1, 1) \
    CASE(depthwise_5x5, DEPTHWISE, 33, 33, 14, 14, 5, 1, 2, 1) \
    CASE(depthwise_wide, DEPTHWISE, 96, 96, 28, 14, 3, 2, 1, 1) \
    CASE(depthwise_odd, DEPTHWISE, 33, 33, 15, 15, 3, 1, 1, 1) CASE(pool_strided, POOL, 64, 64, 14, 7, 3, 2, 1, 1) \
    CASE(pool_2x2, POOL, 24, 24, 14, 7, 2, 2, 0, 1)
/* clang-format on */

#define LITERAL(name, sort, ic, oc, width, made, k, s, p, r) \
    OCC_STEP void run_##name(const Case *c, const float *x, const float *w, float *y) \
    { \
        static const occ_image  x_at = {{1, ic, 1, width, width}, {0, 1, 0, width * ic, ic}}; \
        static const occ_image  y_at = {{1, oc, 1, made, made}, {0, 1, 0, made * oc, oc}}; \
        static const occ_window window = {{1, k, k}, {1, s, s}, {1, 1, 1}, {0, p, p}}; \
        static const occ_extent tile[] = {0, r, 0}, pad[] = {0, p, p}; \
        static const occ_fused  fused = {0, {0}, NULL}; \
        (void)c; \
        if (sort == CONV) \
            occ_conv_f32(x, &x_at, w, NULL, y, &y_at, &window, 1, tile, NULL, &fused); \
        else if (sort == DEPTHWISE) \
            occ_depthwise_f32(x, &x_at, w, NULL, y, &y_at, &window, ic, NULL, &fused); \
        else \
            occ_pool_f32(x, &x_at, y, &y_at, &window, pad, OCC_POOL_MEAN, 0); \
    }
LITERALS(LITERAL)

static void literal_geometry(void **state)
{
    int tight[KINDS] = {0};

    (void)state;
#define CHECK(name, sort, ic, oc, width, made, k, s, p, r) \
    { \
        Case c = {sort, \
                  {1, ic, 1, width, width}, \
                  {1, oc, 1, made, made}, \
                  {0, 1, 0, width * ic, ic}, \
                  {0, 1, 0, made * oc, oc}, \
                  {1, k, k}, \
                  {1, s, s}, \
                  {1, 1, 1}, \
                  {0, p, p}, \
                  {0, r, 0}, \
                  0, \
                  0}; \
        check(&c, run_##name, tight); \
    }
    LITERALS(CHECK)
    assert_true(tight[CONV] > 0);
}

/* ------------------------------------------------------------------------------------------------------------ tiles */

/* name, inputs, outputs, width, padding, gap between pixels of the result, side of a tile, tiles together */
/* clang-format off */
#define WINOGRADS(TILES) \
    TILES(two_same, 16, 16, 12, 1, 0, 2, 4) TILES(two_wider, 8, 40, 13, 1, 0, 2, 7) \
    TILES(two_narrower, 40, 24, 11, 1, 0, 2, 3) TILES(two_bare, 16, 16, 12, 0, 0, 2, 1) \
    TILES(two_apart, 12, 12, 10, 1, 20, 2, 11) TILES(four_same, 32, 32, 16, 1, 0, 4, 4) \
    TILES(four_wider, 16, 64, 13, 1, 0, 4, 3) TILES(four_narrower, 36, 20, 15, 1, 0, 4, 5) \
    TILES(four_bare, 20, 20, 14, 0, 0, 4, 2) TILES(four_apart, 24, 24, 18, 1, 8, 4, 6) \
    TILES(four_whole, 16, 16, 12, 1, 0, 4, 9) TILES(four_many, 16, 160, 13, 1, 0, 4, 5)
/* clang-format on */

#define TILED(name, ic, oc, width, p, gap, m, together) \
    OCC_STEP void run_##name(const Case *c, const float *x, const float *w, float *y) \
    { \
        enum { \
            made = width + 2 * p - 2, \
            scratch = (m + 2) * (m + 2) * (together * (ic + (oc < 128 ? oc : 128)) + 32) \
        }; \
        static const occ_image  x_at = {{1, ic, 1, width, width}, {0, 1, 0, width * ic, ic}}; \
        static const occ_image  y_at = {{1, oc, 1, made, made}, {0, 1, 0, made * (oc + gap), oc + gap}}; \
        static const occ_window window = {{1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, p, p}}; \
        static const occ_lots   lots = {m, together, oc * ic}; \
        static const occ_fused  fused = {0, {0}, NULL}; \
        float                  *room = test_floats(scratch); \
        (void)c; \
        occ_winograd_f32(x, &x_at, w, NULL, y, &y_at, room, &window, &lots, NULL, &fused); \
        test_release(room, scratch); \
    }
WINOGRADS(TILED)

static void tiles_are_read_before_they_are_written(void **state)
{
    int tight[KINDS] = {0}, count = 0;

    (void)state;
#define CHECK_TILED(name, ic, oc, width, p, gap, m, together) \
    { \
        enum { made = width + 2 * p - 2 }; \
        Case c = {WINOGRAD, \
                  {1, ic, 1, width, width}, \
                  {1, oc, 1, made, made}, \
                  {0, 1, 0, width * ic, ic}, \
                  {0, 1, 0, made * (oc + gap), oc + gap}, \
                  {1, 3, 3}, \
                  {1, 1, 1}, \
                  {1, 1, 1}, \
                  {0, p, p}, \
                  {0}, \
                  m, \
                  together}; \
        check(&c, run_##name, tight); \
        count++; \
    }
    WINOGRADS(CHECK_TILED)
    print_message("    winograd: %d of %d fail one element closer\n", tight[WINOGRAD], count);
    assert_true(tight[WINOGRAD] > 0);
}

/* ---------------------------------------------------------------------------------------------------------- extents */

/* Distances of more rows, pixels and tiles than can be looked at one by one. */
static void vast_extents(void **state)
{
    const int64_t   many = (int64_t)1 << 40;
    const RowWalk   wide = {.rows = 1,
                            .block = 1,
                            .stride = 1,
                            .input_rows = 1,
                            .tile = 1,
                            .columns = many,
                            .across = 1,
                            .xcolumn = 1,
                            .ycolumn = 2,
                            .ytail = 1};
    const RowWalk   high = {.rows = many,
                            .block = 1,
                            .stride = 1,
                            .input_rows = many,
                            .xrow = 1,
                            .yrow = 2,
                            .columns = 1,
                            .across = 1,
                            .ytail = 1};
    const GroupWalk tiles = {.rows = many, .columns = many >> 16, .side = 2, .high = 2, .group = 4, .ytail = 1};

    (void)state;
    assert_int_equal(distance_of_rows(&wide), many - 1);
    assert_int_equal(distance_of_rows(&high), many - 1);
    assert_true(distance_of_groups(&tiles) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_geometry), cmocka_unit_test(literal_geometry),
                                       cmocka_unit_test(tiles_are_read_before_they_are_written),
                                       cmocka_unit_test(vast_extents)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
