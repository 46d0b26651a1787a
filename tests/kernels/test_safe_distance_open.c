/* test_safe_distance_open.c - one safe distance for all heights and widths up to a bound, derived as by window_distance
 * of compiler/kernels: kernels with literal channels and variable extents are run at every size with input and result
 * in the same memory, that far apart, and every bit is that of a run apart. */
#include "image.h"
#include "kernel_test.h"

#include "conv_dot_f32.c"
#include "copy_f32.h"
#include "depthwise_f32.c"
#include "pool_f32.c"
#include "winograd_f32.c" /* includes conv_f32.c */
#include "program/safe_distance.c"

enum { MOST_HEIGHT = 9, MOST_WIDTH = 21, TAPS = 6 * 6 };

/* A kernel at one size; the channels are those of its macro. */
typedef struct Size {
    occ_extent xdim[5], xstride[5], ydim[5], ystride[5];
} Size;

typedef struct Kernel {
    const char *name;
    void (*run)(const Size *s, const float *x, const float *w, float *y);
    int64_t inputs, outputs, kernel, stride, pad;
    int64_t block, tile, side, group; /* rows of a block, pixels of a tile, 0: all; side 0: no Winograd */
    int64_t gap;                      /* between pixels of the result */
} Kernel;

static int64_t result_of(const Kernel *k, int64_t extent)
{
    return (extent + 2 * k->pad - k->kernel) / k->stride + 1;
}

/* Channels last; false: the image is smaller than a window. */
static int set_size(const Kernel *k, Size *s, int64_t height, int64_t width)
{
    const int64_t x[5] = {1, k->inputs, 1, height, width},
                  y[5] = {1, k->outputs, 1, result_of(k, height), result_of(k, width)};

    if (height + 2 * k->pad < k->kernel || width + 2 * k->pad < k->kernel)
        return 0;
    for (int i = 0; i < 5; i++) {
        s->xdim[i] = x[i];
        s->ydim[i] = y[i];
        s->xstride[i] = s->ystride[i] = 0;
    }
    s->xstride[1] = s->ystride[1] = 1;
    s->xstride[4] = k->inputs;
    s->xstride[3] = width * k->inputs;
    s->ystride[4] = k->outputs + k->gap;
    s->ystride[3] = y[4] * (k->outputs + k->gap);
    return 1;
}

static int64_t distance_of(const Kernel *k, const Size *s)
{
    const int64_t   ytail = k->outputs;
    const RowWalk   rows = {s->ydim[3], k->block,   k->stride, k->pad, s->xdim[3],    s->xstride[3], s->ystride[3],
                            k->tile,    s->ydim[4], k->stride, k->pad, s->xstride[4], s->ystride[4], ytail};
    const GroupWalk groups = {s->ydim[3], s->ydim[4],    k->side,       k->side,       k->group,      k->pad,
                              k->pad,     s->xstride[3], s->ystride[3], s->xstride[4], s->ystride[4], ytail};

    return k->side ? distance_of_groups(&groups) : distance_of_rows(&rows) + 1;
}

/* The distance for every size: all widths, the most rows. */
static int64_t distance_for_all(const Kernel *k)
{
    int64_t distance = 0;
    Size    s;

    for (int64_t width = 1; width <= MOST_WIDTH; width++)
        if (set_size(k, &s, MOST_HEIGHT, width) && distance_of(k, &s) > distance)
            distance = distance_of(k, &s);
    return distance;
}

static int64_t elements(const occ_extent *dim, const occ_extent *stride)
{
    return (dim[1] - 1) * stride[1] + (dim[3] - 1) * stride[3] + (dim[4] - 1) * stride[4] + 1;
}

/* Does y, with x beginning `distance` elements above it, come out as it does apart? */
static int is_same(const Kernel *k, const Size *s, int64_t distance)
{
    const int64_t nx = elements(s->xdim, s->xstride), ny = elements(s->ydim, s->ystride),
                  nw = TAPS * (k->inputs + 32) * (k->outputs + 32), size = ny > distance + nx ? ny : distance + nx;
    uint64_t seed = 7;
    float   *x = test_random_floats(&seed, nx), *w = test_random_floats(&seed, nw), *want = test_floats(ny),
          *memory = test_floats(size);
    int same = 1;

    k->run(s, x, w, want);
    memcpy(memory + distance, x, (size_t)nx * sizeof *x);
    k->run(s, memory + distance, w, memory);
    for (int64_t h = 0; h < s->ydim[3]; h++)
        for (int64_t v = 0; v < s->ydim[4]; v++) {
            const int64_t at = h * s->ystride[3] + v * s->ystride[4];
            same = same && !memcmp(memory + at, want + at, (size_t)k->outputs * sizeof *want);
        }
    test_release(x, nx), test_release(w, nw), test_release(want, ny), test_release(memory, size);
    return same;
}

/* name, inputs, outputs, kernel, stride, pad, rows of a block, tile, side, group, gap */
/* clang-format off */
#define KERNELS(CONV, FLAT, DEPTHWISE, POOL, DOT, TILES) \
    CONV(conv_3x3, 16, 64, 3, 1, 1, 1, 0, 0, 0, 0) CONV(conv_blocks, 8, 33, 3, 1, 1, 3, 0, 0, 0, 0) \
    CONV(conv_strided, 16, 32, 3, 2, 1, 1, 0, 0, 0, 0) CONV(conv_1x1, 32, 96, 1, 1, 0, 1, 0, 0, 0, 0) \
    CONV(conv_narrower, 96, 24, 1, 1, 0, 2, 0, 0, 0, 0) CONV(conv_apart, 12, 20, 3, 1, 1, 2, 0, 0, 0, 7) \
    CONV(conv_left_edge, 32, 32, 2, 1, 1, 1, 0, 0, 0, 0) CONV(conv_bare, 16, 16, 3, 1, 0, 1, 0, 0, 0, 0) \
    CONV(conv_deep, 128, 64, 1, 1, 0, 1, 0, 0, 0, 0) CONV(conv_shrinking, 64, 32, 2, 2, 0, 1, 0, 0, 0, 0) \
    FLAT(flat, 32, 96, 1, 1, 0, 1, 0, 0, 0, 0) FLAT(flat_narrower, 96, 24, 1, 1, 0, 2, 0, 0, 0, 0) \
    FLAT(flat_deep, 128, 64, 1, 1, 0, 3, 0, 0, 0, 0) FLAT(flat_apart, 24, 20, 1, 1, 0, 2, 0, 0, 0, 7) \
    DEPTHWISE(depthwise_3x3, 48, 48, 3, 1, 1, 1, 8, 0, 0, 0) \
    DEPTHWISE(depthwise_strided, 32, 32, 3, 2, 1, 1, 8, 0, 0, 0) \
    DEPTHWISE(depthwise_5x5, 33, 33, 5, 1, 2, 1, 8, 0, 0, 0) DEPTHWISE(depthwise_bare, 16, 16, 3, 1, 0, 1, 8, 0, 0, 0) \
    POOL(pool_3x3, 24, 24, 3, 2, 1, 1, 1, 0, 0, 0) POOL(pool_2x2, 16, 16, 2, 2, 0, 1, 1, 0, 0, 0) \
    DOT(dot_3x3, 24, 3, 3, 1, 1, 1, 24, 0, 0, 0) DOT(dot_apart, 16, 4, 3, 1, 1, 1, 24, 0, 0, 16) \
    TILES(two, 16, 24, 3, 1, 1, 1, 0, 2, 4, 0) TILES(two_bare, 16, 16, 3, 1, 0, 1, 0, 2, 3, 0) \
    TILES(four, 32, 32, 3, 1, 1, 1, 0, 4, 4, 0) TILES(four_narrower, 36, 20, 3, 1, 1, 1, 0, 4, 5, 0) \
    TILES(four_apart, 24, 24, 3, 1, 1, 1, 0, 4, 1, 8)
/* clang-format on */

/* The function of a kernel, whose channels and window are literal. */
#define RUN(name, ic, oc, k, s, p, made, call) \
    OCC_STEP void run_##name(const Size *c, const float *x, const float *w, float *y) \
    { \
        const occ_image         x_at = {{1, ic, 1, c->xdim[3], c->xdim[4]}, {0, 1, 0, c->xstride[3], ic}}; \
        const occ_image         y_at = {{1, oc, 1, c->ydim[3], c->ydim[4]}, {0, 1, 0, c->ystride[3], made}}; \
        static const occ_window window = {{1, k, k}, {1, s, s}, {1, 1, 1}, {0, p, p}}; \
        static const occ_fused  fused = {0, {0}, NULL}; \
        (void)w, (void)fused; \
        call; \
    }
#define RUN_CONV(name, ic, oc, k, s, p, block, tile, side, group, gap) \
    static const occ_extent tile_##name[] = {0, block, 0}; \
    RUN(name, ic, oc, k, s, p, oc + gap, \
        occ_conv_open_f32(x, &x_at, w, NULL, y, &y_at, &window, 1, tile_##name, NULL, &fused))
#define RUN_FLAT(name, ic, oc, k, s, p, block, tile, side, group, gap) \
    static const occ_extent tile_##name[] = {0, block, 0}; \
    RUN(name, ic, oc, k, s, p, oc + gap, \
        occ_conv_flat_f32(x, &x_at, w, NULL, y, &y_at, &window, 1, tile_##name, NULL, &fused))
#define RUN_DEPTHWISE(name, ic, oc, k, s, p, block, tile, side, group, gap) \
    RUN(name, ic, oc, k, s, p, oc + gap, occ_depthwise_open_f32(x, &x_at, w, NULL, y, &y_at, &window, ic, NULL, &fused))
#define RUN_POOL(name, ic, oc, k, s, p, block, tile, side, group, gap) \
    static const occ_extent pad_##name[] = {0, p, p}; \
    RUN(name, ic, oc, k, s, p, oc + gap, occ_pool_f32(x, &x_at, y, &y_at, &window, pad_##name, OCC_POOL_MEAN, 0))
#define RUN_DOT(name, ic, oc, k, s, p, block, tile, side, group, gap) \
    RUN(name, ic, oc, k, s, p, oc + gap, occ_conv_dot_f32(x, &x_at, w, NULL, y, &y_at, &window, NULL, &fused))
#define RUN_TILES(name, ic, oc, k, s, p, block, tile, side, group, gap) \
    static const occ_lots lots_##name = {side, group, oc * ic}; \
    static float          room_##name[(side + 2) * (side + 2) * (group * (ic + oc) + 32)]; \
    RUN(name, ic, oc, k, s, p, oc + gap, \
        occ_winograd_open_f32(x, &x_at, w, NULL, y, &y_at, room_##name, &window, &lots_##name, NULL, &fused))
KERNELS(RUN_CONV, RUN_FLAT, RUN_DEPTHWISE, RUN_POOL, RUN_DOT, RUN_TILES)

#define ROW(name, ic, oc, k, s, p, block, tile, side, group, gap) \
    {#name, run_##name, ic, oc, k, s, p, block, tile, side, group, gap},
static const Kernel kernels[] = {KERNELS(ROW, ROW, ROW, ROW, ROW, ROW)};

static void every_size_at_one_distance(void **state)
{
    int tight = 0;

    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const Kernel *k = &kernels[i];
        const int64_t distance = distance_for_all(k);
        int           fails = 0;
        Size          s;

        for (int64_t height = 1; height <= MOST_HEIGHT; height++)
            for (int64_t width = 1; width <= MOST_WIDTH; width++) {
                if (!set_size(k, &s, height, width))
                    continue;
                if (!is_same(k, &s, distance))
                    fail_msg("%s: overwritten at distance %lld: %lld x %lld", k->name, (long long)distance,
                             (long long)height, (long long)width);
                fails += height == MOST_HEIGHT && distance > 1 && !is_same(k, &s, distance - 2);
            }
        tight += fails > 0;
    }
    print_message("    %d of %zu kernels fail two elements closer\n", tight, sizeof kernels / sizeof *kernels);
    assert_true(tight > 0);
}

/* A copy of two-element blocks of pixels to rows of pixels (DepthToSpace), for every height and width. */
static void copies_at_one_distance(void **state)
{
    enum { CHANNELS = 5, AXES = 5 };
    int64_t distance = 0;

    (void)state;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t height = pass ? 1 : MOST_HEIGHT; height <= MOST_HEIGHT; height++)
            for (int64_t width = 1; width <= MOST_WIDTH; width++) {
                const occ_extent dim[AXES] = {height, 2, width, 2, CHANNELS},
                                 ystride[AXES] = {4 * width * CHANNELS, 2 * width * CHANNELS, 2 * CHANNELS, CHANNELS,
                                                  1},
                                 xstride[AXES] = {4 * width * CHANNELS, 2, 4 * CHANNELS, 1, 4};
                const int64_t n = 4 * height * width * CHANNELS;
                const int64_t here = distance_of_copy(AXES, dim, ystride, xstride, 0), size = n + distance;
                uint64_t      seed = 3;
                float        *x = test_random_floats(&seed, n), *want = test_floats(n), *memory = test_floats(size);

                if (!pass)
                    distance = here > distance ? here : distance;
                occ_copy_f32(want, x, AXES, dim, ystride, xstride);
                if (pass) {
                    memcpy(memory + distance, x, (size_t)n * sizeof *x);
                    occ_copy_f32(memory, memory + distance, AXES, dim, ystride, xstride);
                    assert_memory_equal(memory, want, (size_t)n * sizeof *want);
                }
                test_release(x, n), test_release(want, n), test_release(memory, size);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_size_at_one_distance),
                                       cmocka_unit_test(copies_at_one_distance)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
