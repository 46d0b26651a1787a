/* test_move.c - maps, copies and tables over random nests of strides against one element at a time. */
#include "kernel_test.h"

#include "copy_f32.h"
#include "copy_u8.h"
#include "lookup.c"
#include "map_f32.h"
#include "map_i64.h"
#include "map_vf_f32.h"
#include "map_vf_u8.h"

enum { MAX = 4 };

typedef struct Nest {
    int64_t rank, dim[MAX], y[MAX], x[2][MAX], ny, nx[2];
} Nest;

/* Strides of a random order of axes with random gaps; `unit`: the innermost axis has stride 1. Returns the elements
 * covered. */
static int64_t random_strides(uint64_t *seed, const Nest *nest, int64_t *stride, int repeats, int unit)
{
    int64_t order[MAX] = {0, 1, 2, 3}, step = unit ? 1 : test_pick(seed, 1, 2), size = 1;

    for (int64_t i = nest->rank - 1; i > 0 && !unit; i--) {
        int64_t k = test_pick(seed, 0, i), t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    for (int64_t i = nest->rank; i-- > 0;) {
        int64_t axis = order[i];
        stride[axis] = repeats && test_pick(seed, 0, 3) == 0 ? 0 : step;
        if (stride[axis])
            step = step * nest->dim[axis] + test_pick(seed, 0, 1);
        size += (nest->dim[axis] > 0 ? nest->dim[axis] - 1 : 0) * stride[axis];
    }
    return size;
}

static Nest random_nest(uint64_t *seed, int unit)
{
    Nest nest = {.rank = test_pick(seed, 1, MAX)};

    for (int64_t i = 0; i < nest.rank; i++)
        nest.dim[i] = test_pick(seed, 0, 20) == 0 ? 0 : test_pick(seed, 1, i == nest.rank - 1 ? 40 : 5);
    nest.ny = random_strides(seed, &nest, nest.y, 0, unit);
    for (int k = 0; k < 2; k++)
        nest.nx[k] = random_strides(seed, &nest, nest.x[k], 1, unit);
    return nest;
}

/* The n-th index of the nest as an offset. */
static int64_t offset(const Nest *nest, const int64_t *stride, int64_t n)
{
    int64_t at = 0;

    for (int64_t i = nest->rank; i-- > 0; n /= nest->dim[i])
        at += n % nest->dim[i] * stride[i];
    return at;
}

static int64_t count_of(const Nest *nest)
{
    int64_t n = 1;

    for (int64_t i = 0; i < nest->rank; i++)
        n *= nest->dim[i];
    return n;
}

/* The innermost strides are the expression's own business: here they travel in at[7]. */
static occ_vf twice_plus(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    int64_t s0 = e->at[6], s1 = e->at[7];
    occ_vf  a = occ_vloads((const float *)e->x[0] + e->at[0] + c * s0, s0, n);
    occ_vf  b = occ_vloads((const float *)e->x[1] + e->at[1] + c * s1, s1, n);

    (void)acc;
    return occ_vadd(occ_vadd(a, a), b);
}

static float twice_plus_one(const occ_expr *e, float acc, int64_t c)
{
    (void)acc;
    return 2.0f * ((const float *)e->x[0])[e->at[0] + c * e->at[6]] + ((const float *)e->x[1])[e->at[1] + c * e->at[7]];
}

static int64_t whole(const occ_expr *e, int64_t acc, int64_t c)
{
    return acc + (int64_t)twice_plus_one(e, 0.0f, c);
}

static void maps_follow_every_stride(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int round = 0; round < 500; round++) {
        Nest       nest = random_nest(&seed, round % 2);
        float     *x[2] = {test_random_floats(&seed, nest.nx[0]), test_random_floats(&seed, nest.nx[1])};
        float     *y = test_floats(nest.ny), *z = test_floats(nest.ny);
        uint8_t   *bytes = calloc(1, (size_t)nest.ny);
        int64_t   *wide = calloc(8, (size_t)nest.ny);
        occ_expr   e = {{x[0], x[1]}, {0}};
        occ_extent strides[2 * MAX];

        for (int k = 0; k < 2; k++)
            for (int64_t i = 0; i < nest.rank; i++)
                strides[k * nest.rank + i] = nest.x[k][i];
        e.at[6] = nest.x[0][nest.rank - 1];
        e.at[7] = nest.x[1][nest.rank - 1];
        occ_map_vf_f32(y, nest.rank, nest.dim, nest.y, 2, strides, &e, twice_plus);
        occ_map_f32(z, nest.rank, nest.dim, nest.y, 2, strides, &e, twice_plus_one);
        occ_map_vf_u8(bytes, nest.rank, nest.dim, nest.y, 2, strides, &e, twice_plus);
        occ_map_i64(wide, nest.rank, nest.dim, nest.y, 2, strides, &e, whole);
        for (int64_t n = count_of(&nest); n-- > 0;) {
            int64_t at = offset(&nest, nest.y, n);
            float   want = 2.0f * x[0][offset(&nest, nest.x[0], n)] + x[1][offset(&nest, nest.x[1], n)];
            assert_true(y[at] == want && z[at] == want);
            assert_int_equal(bytes[at], want < 0.0f ? 0 : (int)want);
            assert_true(wide[at] == (int64_t)want);
        }
        test_release(x[0], nest.nx[0]), test_release(x[1], nest.nx[1]), test_release(y, nest.ny),
            test_release(z, nest.ny);
        free(bytes);
        free(wide);
    }
}

static void copies_follow_every_stride(void **state)
{
    uint64_t seed = 12;

    (void)state;
    for (int round = 0; round < 800; round++) {
        Nest     nest = random_nest(&seed, round % 2);
        float   *x = test_random_floats(&seed, nest.nx[0]), *y = test_floats(nest.ny);
        uint8_t *from = calloc(1, 100000), *to = calloc(1, (size_t)nest.ny);

        for (int64_t i = 0; i < nest.nx[0]; i++)
            from[i] = (uint8_t)test_random(&seed);
        occ_copy_f32(y, x, nest.rank, nest.dim, nest.y, nest.x[0]);
        occ_copy_u8(to, from, nest.rank, nest.dim, nest.y, nest.x[0]);
        for (int64_t n = count_of(&nest); n-- > 0;) {
            assert_true(y[offset(&nest, nest.y, n)] == x[offset(&nest, nest.x[0], n)]);
            assert_int_equal(to[offset(&nest, nest.y, n)], from[offset(&nest, nest.x[0], n)]);
        }
        test_release(x, nest.nx[0]), test_release(y, nest.ny);
        free(from);
        free(to);
    }
}

/* Rows of 1 to 40 bytes, more than one vector long, apart and in place. */
static void bytes_are_looked_up_at_every_stride(void **state)
{
    uint64_t seed = 14;
    uint8_t  table[256];

    (void)state;
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)test_random(&seed);
    for (int round = 0; round < 800; round++) {
        Nest     nest = random_nest(&seed, round % 2);
        uint8_t *from = malloc((size_t)nest.nx[0]), *to = calloc(1, (size_t)nest.ny), *same = malloc((size_t)nest.ny);

        for (int64_t i = 0; i < nest.nx[0]; i++)
            from[i] = (uint8_t)test_random(&seed);
        for (int64_t i = 0; i < nest.ny; i++)
            same[i] = (uint8_t)i;
        occ_lookup(to, from, table, nest.rank, nest.dim, nest.y, nest.x[0]);
        occ_lookup(same, same, table, nest.rank, nest.dim, nest.y, nest.y);
        for (int64_t n = count_of(&nest); n-- > 0;) {
            int64_t at = offset(&nest, nest.y, n);

            assert_int_equal(to[at], table[from[offset(&nest, nest.x[0], n)]]);
            assert_int_equal(same[at], table[(uint8_t)at]);
        }
        free(from), free(to), free(same);
    }
}

/* The bytes hold the elements that are read, and no more: a checked heap finds a read behind them. */
static void loads_take_elements_that_are_apart(void **state)
{
    (void)state;
    for (int n = 1; n <= OCC_W; n++)
        for (int stride = 0; stride < 8; stride++) {
            size_t   count = (size_t)((n - 1) * stride + 1);
            float   *f = malloc(count * sizeof *f);
            uint8_t *u = malloc(count);
            int8_t  *i = malloc(count);
            int32_t *w = malloc(count * sizeof *w);
            float    lane[4][OCC_W];

            for (int k = 0; k < (int)count; k++) {
                f[k] = 0.5f * (float)k;
                u[k] = (uint8_t)(250 - k);
                i[k] = (int8_t)(-k);
                w[k] = 1000 * k - 7000;
            }
            occ_vstore(lane[0], occ_vloads(f, stride, n), OCC_W);
            occ_vstore(lane[1], occ_vloads_u8(u, stride, n), OCC_W);
            occ_vstore(lane[2], occ_vloads_i8(i, stride, n), OCC_W);
            occ_vstore(lane[3], occ_vloads_i32(w, stride, n), OCC_W);
            for (int k = 0; k < n; k++) {
                assert_true(lane[0][k] == f[k * stride] && lane[1][k] == (float)u[k * stride]);
                assert_true(lane[2][k] == (float)i[k * stride] && lane[3][k] == (float)w[k * stride]);
            }
            free(f), free(u), free(i), free(w);
        }
}

static void transposes_go_in_blocks(void **state)
{
    static const occ_extent dim[] = {3, 37, 50}, to[] = {1850, 50, 1}, from[] = {1850, 1, 37};
    uint64_t                seed = 13;
    float                  *x = test_random_floats(&seed, 3 * 1850), *y = test_floats(3 * 1850);

    (void)state;
    occ_copy_f32(y, x, 3, dim, to, from);
    for (int64_t n = 0; n < 3 * 1850; n++)
        assert_true(y[n] == x[n / 1850 * 1850 + n % 50 * 37 + n / 50 % 37]);
    test_release(x, 3 * 1850), test_release(y, 3 * 1850);
}

/* Planes of floats become pixels of three, and of more with a gap behind them. */
static void planes_become_triples(void **state)
{
    (void)state;
    for (int64_t pixels = 1; pixels < 40; pixels++)
        for (int64_t pitch = 3; pitch < 5; pitch++) {
            const occ_extent dim[] = {2, pixels, 3}, to[] = {pixels * pitch, pitch, 1},
                             from[] = {3 * pixels, 1, pixels};
            const int64_t nx = 6 * pixels, ny = 2 * pixels * pitch;
            uint64_t      seed = (uint64_t)pixels;
            float *x = test_random_floats(&seed, nx), *y = test_random_floats(&seed, ny), *before = test_floats(ny);

            memcpy(before, y, (size_t)ny * sizeof *y);
            occ_copy_f32(y, x, 3, dim, to, from);
            for (int64_t i = 0; i < ny; i++) {
                const int64_t image = i / (pixels * pitch), p = i / pitch % pixels, c = i % pitch;

                assert_true(y[i] == (c < 3 ? x[(image * 3 + c) * pixels + p] : before[i]));
            }
            test_release(x, nx), test_release(y, ny), test_release(before, ny);
        }
}

/* Planes of bytes become pixels of `channels` bytes, `pitch` apart, between bytes that stay. */
static void check_pixels(int64_t pixels, int64_t channels, int64_t pitch)
{
    const occ_extent dim[] = {2, pixels, channels}, to[] = {(pixels + 1) * pitch, pitch, 1};
    const occ_extent from[] = {pixels * channels, 1, pixels};
    const int64_t    all = 2 * (pixels + 1) * pitch;
    uint8_t         *x = malloc((size_t)(2 * pixels * channels)), *y = malloc((size_t)all);

    for (int64_t i = 0; i < 2 * pixels * channels; i++)
        x[i] = (uint8_t)(i * 7 % 251);
    memset(y, 255, (size_t)all);
    occ_copy_u8(y, x, 3, dim, to, from);
    for (int64_t i = 0; i < all; i++) {
        int64_t image = i / ((pixels + 1) * pitch), p = i / pitch % (pixels + 1), c = i % pitch;

        assert_int_equal(y[i], p < pixels && c < channels ? x[(image * channels + c) * pixels + p] : 255);
    }
    free(x), free(y);
}

static void planes_of_bytes_become_pixels(void **state)
{
    (void)state;
    for (int64_t channels = 1; channels <= 37; channels += channels < 18 ? 1 : 9)
        for (int64_t pixels = 1; pixels < 70; pixels += pixels < 30 ? 5 : 16) {
            check_pixels(pixels, channels, channels);
            check_pixels(pixels, channels, channels + 3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_follow_every_stride),
                                       cmocka_unit_test(copies_follow_every_stride),
                                       cmocka_unit_test(bytes_are_looked_up_at_every_stride),
                                       cmocka_unit_test(loads_take_elements_that_are_apart),
                                       cmocka_unit_test(planes_of_bytes_become_pixels),
                                       cmocka_unit_test(transposes_go_in_blocks),
                                       cmocka_unit_test(planes_become_triples)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
