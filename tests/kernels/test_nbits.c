/* test_nbits.c - products with packed weights, and caches that grow, against plain loops. */
#include "kernel_test.h"

#include "cache_f32.h"
#include "nbits.c"
#include "nbits_q.c"
#include "round_blocks.c"

typedef struct Case {
    int64_t rows, columns, k, block, bits, gap, blocks, bytes, zeros;
    int     zero, group, bias, panel; /* zero: 0 none, 1 floats, 2 packed */
} Case;

static Case draw(uint64_t *seed)
{
    static const int64_t bits[] = {2, 4, 8};
    Case c = {.rows = test_pick(seed, 0, 30), .columns = test_pick(seed, 1, 300), .k = test_pick(seed, 1, 600)};

    c.block = (int64_t)16 << test_pick(seed, 0, 5);
    c.bits = bits[test_pick(seed, 0, 2)];
    c.gap = test_pick(seed, 0, 3);
    c.blocks = (c.k + c.block - 1) / c.block;
    c.bytes = c.blocks * (c.block * c.bits / 8);
    c.zeros = (c.blocks * c.bits + 7) / 8;
    c.zero = (int)test_pick(seed, 0, 2);
    c.group = test_pick(seed, 0, 3) == 0;
    c.bias = (int)test_pick(seed, 0, 1);
    c.panel = (int)test_pick(seed, 0, 1);
    return c;
}

static uint8_t *random_bytes(uint64_t *seed, int64_t n)
{
    uint8_t *p = malloc((size_t)n);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (uint8_t)test_random(seed);
    return p;
}

static int32_t *random_groups(uint64_t *seed, const Case *c)
{
    int32_t *p = malloc((size_t)c->k * sizeof *p);

    assert_non_null(p);
    for (int64_t i = 0; i < c->k; i++)
        p[i] = (int32_t)test_pick(seed, 0, c->blocks - 1);
    return p;
}

/* Element i of integers of some bits, the lowest first. */
static double packed_at(const uint8_t *p, int64_t i, int64_t bits)
{
    double value = 0.0;

    for (int64_t k = 0; k < bits; k++)
        value += ((p[(i * bits + k) / 8] >> ((i * bits + k) % 8)) & 1) * (double)(1 << k);
    return value;
}

static double wanted(const Case *c, const float *x, const uint8_t *w, const float *scale, const float *zero,
                     const uint8_t *packed, const int32_t *group, const float *bias, int64_t r, int64_t n, double *size)
{
    double sum = bias ? (double)bias[n] : 0.0;

    *size = fabs(sum);
    for (int64_t i = 0; i < c->k; i++) {
        const int64_t b = group ? group[i] : i / c->block;
        const double  middle = zero     ? (double)zero[n * c->blocks + b]
                               : packed ? packed_at(packed + n * c->zeros, b, c->bits)
                                        : (double)(1 << (c->bits - 1));
        const double  term = (double)x[r * c->k + i] * (packed_at(w + n * c->bytes, i, c->bits) - middle) *
                            (double)scale[n * c->blocks + b];

        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* The scratch that the kernel asks for. */
static int64_t scratch_floats(const Case *c)
{
    const int64_t depth = c->block > 512 ? c->block : 512, few = (c->rows < 4 ? c->rows : 4) * c->blocks * c->block;
    const int64_t panel = c->rows > 8 ? 32 * (c->k < depth ? c->k : depth) : 0;

    return c->bits == 4 && few > panel ? few : panel;
}

static void check_product(uint64_t *seed)
{
    const Case    c = draw(seed);
    const int64_t pitch = c.columns + c.gap, ny = c.rows * pitch, nx = c.rows * c.k, ns = c.columns * c.blocks;
    float        *x = test_random_floats(seed, nx), *y = test_floats(ny), *scale = test_random_floats(seed, ns);
    float        *zero = c.zero == 1 ? test_random_floats(seed, ns) : NULL,
          *bias = c.bias ? test_random_floats(seed, c.columns) : NULL;
    uint8_t *w = random_bytes(seed, c.columns * c.bytes),
            *packed = c.zero == 2 ? random_bytes(seed, c.columns * c.zeros) : NULL;
    int32_t      *group = c.group ? random_groups(seed, &c) : NULL;
    const int64_t np = scratch_floats(&c);
    float        *panel = c.panel ? test_floats(np) : NULL;

    occ_matmul_nbits_f32(y, x, w, scale, zero, packed, group, bias, panel,
                         &(occ_nbits){c.rows, c.columns, c.k, c.block, c.bits, pitch});
    for (int64_t r = 0; r < c.rows; r++)
        for (int64_t n = 0; n < pitch; n++) {
            double size = 1.0,
                   want = n < c.columns ? wanted(&c, x, w, scale, zero, packed, group, bias, r, n, &size) : (double)NAN;
            test_near((double)y[r * pitch + n], want, size, 2e-6, "product", r * pitch + n);
        }
    free(w);
    free(packed);
    free(group);
    test_release(x, nx);
    test_release(y, ny);
    test_release(scale, ns);
    if (zero)
        test_release(zero, ns);
    if (bias)
        test_release(bias, c.columns);
    if (panel)
        test_release(panel, np);
}

static void packed_weights_are_numbers(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int i = 0; i < 200; i++)
        check_product(&seed);
}

/* --------------------------------------------------------------------------------------------- x rounded to bytes */

/* x as its bytes say it: rounded in blocks of a row. */
static float *rounded(const Case *c, const float *x)
{
    float *y = test_floats(c->rows * c->k);

    for (int64_t r = 0; r < c->rows; r++)
        for (int64_t b = 0; b < c->blocks; b++) {
            const int64_t from = r * c->k + b * c->block, n = b + 1 < c->blocks ? c->block : c->k - b * c->block;
            float         top = 0.0f, scale;

            for (int64_t i = 0; i < n; i++)
                top = fabsf(x[from + i]) > top ? fabsf(x[from + i]) : top;
            scale = top / 127.0f;
            for (int64_t i = 0; i < n; i++)
                y[from + i] = scale >= 1e-34f ? scale * rintf(x[from + i] * (1.0f / scale)) : 0.0f;
        }
    return y;
}

/* The magnitude of the terms of a result: weights and zero points are multiplied apart from each other. */
static double magnitude(const Case *c, const float *x, const float *scale, int64_t r, int64_t n)
{
    double sum = 1.0;

    for (int64_t i = 0; i < c->k; i++)
        sum += 32.0 * fabs((double)x[r * c->k + i] * (double)scale[n * c->blocks + i / c->block]);
    return sum;
}

/* The scratch that the kernel asks for, and bytes of a row. */
static int64_t byte_words(const Case *c)
{
    const int64_t places = c->blocks * c->block, most = c->block > 1024 ? c->block : 1024;
    const int64_t part = places < most ? places : most;

    return c->rows > 8 ? 32 * (part / 4 + 2 * part / c->block) : 0;
}

static int64_t row_bytes(const Case *c)
{
    return (c->blocks * c->block + 127) / 128 * 128 + (8 * c->blocks + 127) / 128 * 128;
}

static void check_bytes(uint64_t *seed, int64_t rows, int64_t block)
{
    Case c = draw(seed);
    c.rows = rows < 0 ? c.rows : rows;
    c.block = block ? block : c.block;
    c.bits = 4;
    c.blocks = (c.k + c.block - 1) / c.block;
    c.bytes = c.blocks * (c.block / 2);
    c.zeros = (c.blocks + 1) / 2;

    const int64_t pitch = c.columns + c.gap, ny = c.rows * pitch, nx = c.rows * c.k, ns = c.columns * c.blocks,
                  np = byte_words(&c), nq = c.rows * row_bytes(&c) / 4;
    float   *x = test_random_floats(seed, nx), *y = test_floats(ny), *scale = test_random_floats(seed, ns);
    float   *bias = c.bias ? test_random_floats(seed, c.columns) : NULL, *room = test_floats(np);
    uint8_t *w = random_bytes(seed, c.columns * c.bytes),
            *packed = c.zero == 2 ? random_bytes(seed, c.columns * c.zeros) : NULL;

    for (int64_t i = 0; i < nx && i < c.k / 2; i++) /* a block of zeros, and one that is as good as zero */
        x[i] = i < c.k / 4 ? 0.0f : 1e-38f;
    float *as_bytes = rounded(&c, x), *q = test_floats(nq);
    occ_round_blocks((uint8_t *)q, x, c.rows, c.k, c.block, row_bytes(&c));
    occ_matmul_nbits_q(y, (const uint8_t *)q, w, scale, packed, bias, np ? room : NULL,
                       &(occ_nbits){c.rows, c.columns, c.k, c.block, c.bits, pitch});
    for (int64_t r = 0; r < c.rows; r++)
        for (int64_t n = 0; n < pitch; n++) {
            double size = 1.0, want = n < c.columns
                                          ? wanted(&c, as_bytes, w, scale, NULL, packed, NULL, bias, r, n, &size)
                                          : (double)NAN;
            size = n < c.columns ? magnitude(&c, as_bytes, scale, r, n) : 1.0;
            test_near((double)y[r * pitch + n], want, size, 2e-6, "product of bytes", r * pitch + n);
        }
    free(w);
    free(packed);
    test_release(x, nx);
    test_release(as_bytes, nx);
    test_release(q, nq);
    test_release(y, ny);
    test_release(scale, ns);
    test_release(room, np);
    if (bias)
        test_release(bias, c.columns);
}

static void rows_rounded_to_bytes_are_multiplied(void **state)
{
    uint64_t seed = 12;

    (void)state;
    for (int i = 0; i < 150; i++)
        check_bytes(&seed, -1, 0);
    check_bytes(&seed, 300, 32); /* three parts of the rows */
    check_bytes(&seed, 5, 1024); /* sums of 1024 products, which 16 bits do not hold */
    check_bytes(&seed, 17, 2048);
}

/* A block with NaN or infinity has no finite results. */
static void what_is_not_finite_stays_so(void **state)
{
    enum { ROWS = 10, COLUMNS = 3, K = 64, ROW = 256 };
    uint64_t  seed = 13;
    float     x[ROWS * K], y[ROWS * COLUMNS], scale[2 * COLUMNS], room[32 * (16 + 4)], q[ROWS * ROW / 4];
    uint8_t   w[COLUMNS * K / 2];
    const int bad[] = {3, 5};

    (void)state;
    for (int i = 0; i < ROWS * K; i++)
        x[i] = (float)test_pick(&seed, -100, 100);
    for (int i = 0; i < COLUMNS * K / 2; i++)
        w[i] = (uint8_t)test_random(&seed);
    for (int i = 0; i < 2 * COLUMNS; i++)
        scale[i] = 0.5f;
    x[bad[0] * K + 40] = (float)NAN;
    x[bad[1] * K + 7] = (float)INFINITY;
    for (int rows = 6; rows <= ROWS; rows += 4) { /* few rows, and many */
        occ_round_blocks((uint8_t *)q, x, rows, K, 32, ROW);
        occ_matmul_nbits_q(y, (const uint8_t *)q, w, scale, NULL, NULL, room,
                           &(occ_nbits){rows, COLUMNS, K, 32, 4, COLUMNS});
        for (int i = 0; i < rows * COLUMNS; i++)
            assert_int_equal(isfinite(y[i]), i / COLUMNS != bad[0] && i / COLUMNS != bad[1]);
    }
}

/* ----------------------------------------------------------------------------------------------------------- caches */

static void check_cache(uint64_t *seed)
{
    const int64_t batch = test_pick(seed, 1, 3), heads = test_pick(seed, 1, 3), old = test_pick(seed, 0, 5),
                  fresh = test_pick(seed, 1, 4);
    const int64_t width = test_pick(seed, 1, 9), rows = old + fresh + test_pick(seed, 0, 3),
                  gap = test_pick(seed, 0, 2);
    const occ_extent nstride[] = {fresh * heads * (width + gap), width + gap,
                                  heads * (width + gap)}; /* rows before heads */
    const int64_t    ny = batch * heads * rows * width, np = batch * heads * old * width, nn = batch * nstride[0];
    float           *y = test_floats(ny), *past = test_random_floats(seed, np), *now = test_random_floats(seed, nn);
    int64_t          length[3];

    for (int64_t b = 0; b < batch; b++)
        length[b] = test_pick(seed, 0, old);
    assert_int_equal(
        occ_cache_append_f32(y, old ? past : NULL, now, length, batch, heads, rows, 0, old, fresh, width, nstride), 0);
    for (int64_t i = 0; i < ny; i++) {
        const int64_t e = i % width, r = i / width % rows, h = i / width / rows % heads, b = i / width / rows / heads,
                      k = r - length[b];
        const float want = k < 0       ? past[((b * heads + h) * old + r) * width + e]
                           : k < fresh ? now[b * nstride[0] + h * nstride[1] + k * nstride[2] + e]
                                       : 0.0f;

        assert_true(y[i] == want);
    }
    length[batch - 1] = test_pick(seed, 0, 1) ? old + 1 : -1;
    assert_int_equal(
        occ_cache_append_f32(y, old ? past : NULL, now, length, batch, heads, rows, 0, old, fresh, width, nstride),
        OCC_EINDEX);
    test_release(y, ny);
    test_release(past, np);
    test_release(now, nn);
}

/* In the cache's own memory, which has `rows` rows; those from `total` on stay. */
static void check_cache_in_place(uint64_t *seed)
{
    const int64_t batch = test_pick(seed, 1, 3), heads = test_pick(seed, 1, 3), fresh = test_pick(seed, 1, 4),
                  rows = fresh + test_pick(seed, 0, 7), total = test_pick(seed, 0, rows + 2),
                  width = test_pick(seed, 1, 9), ny = batch * heads * rows * width, nn = batch * heads * fresh * width;
    const occ_extent nstride[] = {heads * fresh * width, fresh * width, width};
    float           *y = test_random_floats(seed, ny), *past = test_floats(ny), *now = test_random_floats(seed, nn);
    int64_t          length[3];

    memcpy(past, y, (size_t)ny * sizeof *y);
    for (int64_t b = 0; b < batch; b++)
        length[b] = test_pick(seed, 0, rows - fresh);
    assert_int_equal(occ_cache_append_f32(y, NULL, now, length, batch, heads, rows, total, rows, fresh, width, nstride),
                     0);
    for (int64_t i = 0; i < ny; i++) {
        const int64_t e = i % width, r = i / width % rows, head = i / width / rows, k = r - length[head / heads];
        const float   want = k >= 0 && k < fresh   ? now[(head * fresh + k) * width + e]
                             : k < 0 || r >= total ? past[i]
                                                   : 0.0f;

        assert_true(y[i] == want);
    }
    length[0] = rows - fresh + 1;
    assert_int_equal(occ_cache_append_f32(y, NULL, now, length, batch, heads, rows, total, rows, fresh, width, nstride),
                     OCC_EINDEX);
    test_release(y, ny);
    test_release(past, ny);
    test_release(now, nn);
}

static void caches_keep_what_they_held(void **state)
{
    uint64_t seed = 12;

    (void)state;
    for (int i = 0; i < 200; i++)
        check_cache(&seed), check_cache_in_place(&seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_weights_are_numbers), cmocka_unit_test(rows_rounded_to_bytes_are_multiplied),
        cmocka_unit_test(what_is_not_finite_stays_so), cmocka_unit_test(caches_keep_what_they_held)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
