/* twin_mma.cc - tensor cores: the emulated instructions against plain sums, and convolutions and products that use them
 * against the C kernels, within what rounding the factors explains. Factors of TF32 and of half precision. */
#include "image.h"
#include "scalar_lowfloat.h"

#define occ_conv_krsc_f32 host_conv_krsc_f32
#define occ_conv_work_f32 host_conv_work_f32
#include "conv_krsc_f32.c"
#undef occ_conv_krsc_f32
#undef occ_conv_work_f32
#define occ_matmul_f32 host_matmul_f32
#define occ_matmul_work_f32 host_matmul_work_f32
#include "matmul_f32.c"
#undef occ_matmul_f32
#undef occ_matmul_work_f32
#include "conv_krsc_mma.cu"
#include "matmul_mma.cu"

static float tf32(float x)
{
    const uint32_t bits = occ_tf32(x);
    float          y;
    memcpy(&y, &bits, sizeof y);
    return y;
}

static void tf32_has_ten_bits(void **)
{
    const float ulp = 1.0f / 1024.0f;
    assert_true(tf32(1.0f + 0.5f * ulp) == 1.0f + ulp);
    assert_true(tf32(-1.0f - 0.5f * ulp) == -1.0f - ulp);
    assert_true(tf32(1.0f + 0.499f * ulp) == 1.0f);
    assert_true(tf32(1.0f + 1.5f * ulp) == 1.0f + 2.0f * ulp);
    assert_true(tf32(3e38f) < INFINITY && tf32(INFINITY) == INFINITY && std::isnan(tf32(NAN)));
}

static uint32_t half(float x)
{
    const uint32_t bits = occ_halves(x, 0.0f);
    assert_true(bits >> 16 == 0 && occ_halves(0.0f, x) == bits << 16);
    return bits;
}

/* Each half, and what lies beside the middle between it and the next one: subnormal, normal, and what is infinity. */
static void halves_are_the_nearest_even(void **)
{
    for (uint32_t code = 0; code < 0x7c00u; code++) {
        const float    here = occ_f16_to_f32(static_cast<uint16_t>(code));
        const float    next = code < 0x7bffu ? occ_f16_to_f32(static_cast<uint16_t>(code + 1)) : 65536.0f;
        const float    middle = here + (next - here) / 2;
        const uint32_t even = code + (code & 1u);
        assert_true(half(here) == code && half(middle) == even && half(-middle) == (0x8000u | even));
        assert_true(half(std::nextafter(middle, 0.0f)) == code && half(std::nextafter(middle, next)) == code + 1);
        assert_true(emulate_from_half(code) == here && emulate_from_half(code | 0x8000u) == -here);
    }
    assert_true(half(65519.996f) == 0x7bffu && half(65520.0f) == 0x7c00u && half(-3e38f) == 0xfc00u);
    assert_true(half(INFINITY) == 0x7c00u && half(NAN) == 0x7fffu && half(-NAN) == 0x7fffu && half(-0.0f) == 0x8000u);
    assert_true(emulate_from_half(0xfc00u) == -INFINITY && std::isnan(emulate_from_half(0x7fffu)));
}

/* Every place of the three matrices, in the registers where PTX's tables for mma.m16n8k8 of .tf32 put it. */
static void fragments_of_tf32_lie_as_ptx_says(void **)
{
    float a[16][8], b[8][8], d[16][8];
    for (int i = 0; i < 128; i++) {
        a[i / 8][i % 8] = static_cast<float>(i * 37 % 101 - 50);
        b[i / 8 % 8][i % 8] = static_cast<float>(i % 64 * 29 % 67 - 30);
    }
    emulate::run("mma", 1, 64, [&] {
        const int      g = occ_lane() / 4, t = occ_lane() % 4;
        float          sum[4] = {1, 2, 3, 4};
        const uint32_t fa[4] = {occ_tf32(a[g][t]), occ_tf32(a[g + 8][t]), occ_tf32(a[g][t + 4]),
                                occ_tf32(a[g + 8][t + 4])};
        const uint32_t fb[2] = {occ_tf32(b[t][g]), occ_tf32(b[t + 4][g])};
        occ_mma_tf32(sum, fa, fb);
        if (occ_thread() < 32) {
            d[g][2 * t] = sum[0] - 1, d[g][2 * t + 1] = sum[1] - 2;
            d[g + 8][2 * t] = sum[2] - 3, d[g + 8][2 * t + 1] = sum[3] - 4;
        }
    });
    for (int i = 0; i < 128; i++) {
        float sum = 0;
        for (int k = 0; k < 8; k++)
            sum += a[i / 8][k] * b[k][i % 8];
        assert_true(d[i / 8][i % 8] == sum);
    }
}

/* Likewise mma.m16n8k16 and mma.m16n8k8 of .f16. */
static void fragments_of_halves_lie_as_ptx_says(void **)
{
    float a[16][16], b[16][8], d[16][8];
    for (int i = 0; i < 256; i++) {
        a[i / 16][i % 16] = static_cast<float>(i * 37 % 101 - 50);
        b[i / 8 % 16][i % 8] = static_cast<float>(i % 128 * 29 % 67 - 30);
    }
    for (int terms : {8, 16}) {
        emulate::run("mma", 1, 64, [&] {
            const int      g = occ_lane() / 4, t = occ_lane() % 4 * 2;
            float          sum[4] = {1, 2, 3, 4};
            const uint32_t fa[4] = {occ_halves(a[g][t], a[g][t + 1]), occ_halves(a[g + 8][t], a[g + 8][t + 1]),
                                    occ_halves(a[g][t + 8], a[g][t + 9]), occ_halves(a[g + 8][t + 8], a[g + 8][t + 9])};
            const uint32_t fb[2] = {occ_halves(b[t][g], b[t + 1][g]), occ_halves(b[t + 8][g], b[t + 9][g])};
            occ_mma_fp16(sum, fa, fb, terms);
            if (occ_thread() < 32) {
                d[g][t] = sum[0] - 1, d[g][t + 1] = sum[1] - 2;
                d[g + 8][t] = sum[2] - 3, d[g + 8][t + 1] = sum[3] - 4;
            }
        });
        for (int i = 0; i < 128; i++) {
            float sum = 0;
            for (int k = 0; k < terms; k++)
                sum += a[i / 8][k] * b[k][i % 8];
            assert_true(d[i / 8][i % 8] == sum);
        }
    }
}

static int  kind;  /* of factors */
static bool exact; /* factors that both kinds hold: only the order of sums differs */

static float factor(Random *random)
{
    return exact ? random->real() : static_cast<float>(random->pick(-1000000, 1000000)) / 524288.0f;
}

/* The tolerance of a sum of n products of factors that are at most 2, each off by 2^-11 of itself at most. What comes
 * behind, add_and_scale and scale_and_add, multiplies by at most 2. */
static double bound(int64_t terms)
{
    return exact ? 1e-4 : 2.0 * 4.0 * static_cast<double>(terms) * (0x1p-10 + 0x1p-21) + 1e-4;
}

static int sides; /* of the tiles that are tried, by number; OCC_SIDES: those that the kernel takes */

static void convolve_tiles(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                           const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                           const occ_fused *fused)
{
    if (sides == OCC_SIDES) {
        if (kind == OCC_MMA_TF32) /* occ_conv_krsc_... does it */
            occ_conv_work_tf32(x, x_at, w, bias, y, y_at, nullptr, window, groups, e, fused);
        else
            occ_conv_work_fp16(x, x_at, w, bias, y, y_at, nullptr, window, groups, e, fused);
        return;
    }
    OCC_SHARED_ARRAY(float, memory, OCC_CONV_MEMORY);
    OCC_SHARED_ARRAY(occ_krsc_row, rows, OCC_SIDE_BIG);
    const occ_krsc c = {x, x_at, w, bias, y, y_at, window, groups, e, fused, kind};
    occ_krsc_tiles(memory, rows, sides, &c,
                   sides < OCC_SIDES_MIDDLE  ? occ_conv_mma_tile
                   : sides == OCC_SIDES_LINE ? occ_conv_line_tile
                                             : occ_conv_mma_slice_tile);
}

static void convolve(Random *random, int64_t groups, int64_t inputs, int64_t outputs, const int64_t *in, int64_t batch)
{
    int64_t          out[3];
    const occ_window window = window_of(random, in, out);
    const occ_image  x_at = image_of(batch, groups * inputs, in, random->coin(), random->pick(0, 3)),
                    y_at = image_of(batch, groups * outputs, out, random->coin(), random->pick(0, 3));
    const int64_t all = groups * outputs, pixels = batch * out[0] * out[1] * out[2],
                  terms = inputs * occ_window_size(&window);
    exact = random->coin();
    const bool    fuse = random->coin(), with_bias = random->coin();
    occ_fused     fused = {fuse ? 2 : 0, {all + 1, 0}, fuse ? add_and_scale : nullptr};
    Tensor<float> x(size_of(x_at)), w(all * terms), bias(all), x0(pixels * (all + 1)), x1(all), y(size_of(y_at));
    for (Tensor<float> *t : {&x, &w, &bias, &x0, &x1})
        t->fill([&] { return factor(random); });
    const occ_expr     e = {{x0.at(), x1.at()}, {0, 0}};
    const float *const add = with_bias ? bias.at() : nullptr;
    near(
        "conv_krsc", bound(terms), y,
        [&](float *to) {
            host_conv_krsc_f32(x.at(), &x_at, w.at(), add, to, &y_at, &window, groups, &e, &fused);
        },
        [&](float *to) {
            convolve_tiles(x.at(), &x_at, w.at(), add, to, &y_at, &window, groups, &e, &fused);
        });
}

static void convolutions(void **state)
{
    Random random = {21};
    kind = *static_cast<const int *>(*state);
    for (int s = 0; s <= OCC_SIDES; s++) {
        sides = s;
        for (int i = 0; i < rounds(kind == OCC_MMA_TF32 ? 8 : 4); i++) {
            const int64_t in[3] = {random.pick(0, 3) ? 1 : 2, random.pick(1, 9), random.pick(1, 9)};
            convolve(&random, random.pick(0, 2) ? 1 : 3, random.pick(1, 12), random.pick(1, 20), in, random.pick(1, 2));
        }
        for (int64_t outputs : {63, 64, 65, 129}) {
            const int64_t one[3] = {1, 10, 13}, two[3] = {1, 5, 13};
            convolve(&random, 1, 8, outputs, one, 1);
            convolve(&random, 2, 5, outputs, two, 1);
        }
    }
}

static float scale_and_add(const occ_expr *e, float acc, int64_t c, int n)
{
    const float *x0 = static_cast<const float *>(e->x[0]), *x1 = static_cast<const float *>(e->x[1]);
    (void)n;
    return acc * x0[e->at[0] + c] + x1[e->at[1] + c];
}

/* A stack of two matrices with gaps between rows. */
static occ_stack stack_of(int64_t rows, int64_t columns, bool turned)
{
    const int64_t pitch = (turned ? rows : columns) + 3, size = (turned ? columns : rows) * pitch;
    return {3, {2, rows, columns}, {size, turned ? 1 : pitch, turned ? pitch : 1}};
}

static void multiply(Random *random, int64_t rows, int64_t columns, int64_t depth, bool turned_a, bool turned_b)
{
    const occ_stack a_at = stack_of(rows, depth, turned_a), b_at = stack_of(depth, columns, turned_b),
                    y_at = stack_of(rows, columns, false);
    const occ_extent      pitch[2][2] = {{0, 0}, {7, columns}};
    const bool            fuse = random->coin();
    exact = random->coin();
    const occ_stack_fused fused = {fuse ? 2 : 0, pitch[0], fuse ? scale_and_add : nullptr};
    Tensor<float>         a(2 * a_at.stride[0]), b(2 * b_at.stride[0]), x0(columns), x1(columns * rows + 7),
        y(2 * y_at.stride[0]);
    for (Tensor<float> *t : {&a, &b, &x0, &x1})
        t->fill([&] { return factor(random); });
    const occ_expr e = {{x0.at(), x1.at()}, {0, 0}};
    near(
        "matmul", bound(depth), y,
        [&](float *to) { host_matmul_f32(to, &y_at, a.at(), &a_at, b.at(), &b_at, &e, &fused); },
        [&](float *to) {
            (kind == OCC_MMA_TF32 ? occ_matmul_work_tf32 : occ_matmul_work_fp16)(to, &y_at, a.at(), &a_at, b.at(),
                                                                                 &b_at, nullptr, &e, &fused);
        });
}

static void products(void **state)
{
    Random random = {22};
    kind = *static_cast<const int *>(*state);
    for (int64_t rows : {1, 63, 64, 65})
        for (int64_t depth : {0, 1, 7, 8, 9, 33}) {
            multiply(&random, rows, 66 - rows, depth, false, random.coin());
            multiply(&random, rows, 70, depth, true, false);
        }
}

/* What half precision cannot hold: too large a factor is infinity, too small a one 0; TF32 holds both. */
static void factors_out_of_range(void **)
{
    const occ_stack       at = {2, {1, 1}, {1, 1}};
    const occ_stack_fused fused = {0, nullptr, nullptr};
    const float           factors[][4] = {/* a, b, with halves, with TF32 */
                                          {65536.0f, 1.0f, INFINITY, 65536.0f},
                                          {1.0f, -65536.0f, -INFINITY, -65536.0f},
                                          {0x1p-14f, 0x1p-24f, 0x1p-38f, 0x1p-38f},
                                          {0x1p-26f, 1024.0f, 0.0f, 0x1p-16f}};
    for (const float *f : factors) {
        float y[2] = {1, 1};
        emulate::run("matmul", 1, 32, [&] {
            occ_matmul_fp16(y, &at, f, &at, f + 1, &at, nullptr, &fused);
            occ_matmul_tf32(y + 1, &at, f, &at, f + 1, &at, nullptr, &fused);
        });
        assert_true(y[0] == f[2] && y[1] == f[3]);
    }
}

int main()
{
    static int tf32_factors = OCC_MMA_TF32, fp16_factors = OCC_MMA_FP16;
    const CMUnitTest tests[] = {cmocka_unit_test(tf32_has_ten_bits),
                                cmocka_unit_test(halves_are_the_nearest_even),
                                cmocka_unit_test(fragments_of_tf32_lie_as_ptx_says),
                                cmocka_unit_test(fragments_of_halves_lie_as_ptx_says),
                                cmocka_unit_test(factors_out_of_range),
                                cmocka_unit_test_prestate(convolutions, &tf32_factors),
                                cmocka_unit_test_prestate(convolutions, &fp16_factors),
                                cmocka_unit_test_prestate(products, &tf32_factors),
                                cmocka_unit_test_prestate(products, &fp16_factors)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
