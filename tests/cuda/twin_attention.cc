/* twin_attention.cc - attention on the device: near the C kernel, and the same bits under every grid and order.
 * On tensor cores it is near within what rounding the factors explains. */
#include "twin.h"

#define occ_attention_f32 host_attention_f32
#define occ_matmul_f32 host_matmul_f32
#define occ_matmul_work_f32 host_matmul_work_f32
#define occ_reduce_f32 host_reduce_f32
#define occ_softmax_f32 host_softmax_f32
#define occ_moments_f32 host_moments_f32
#include "attention_f32.c"
#undef occ_attention_f32
#include "attention_mma.cu"

/* A scale, and a mask that hides keys. */
static float scale_and_hide(const occ_expr *e, float acc, int64_t c, int n)
{
    (void)n;
    return acc * *static_cast<const float *>(e->x[0]) + static_cast<const float *>(e->x[1])[e->at[1] + c];
}

struct Attention {
    int64_t heads, rows, keys, depth, width;
    bool    masked, turned; /* turned: the depth terms of a key are neighbours, else its keys are */
};

/* How operands lie: `front` elements before the first one; lines of neighbours begin at multiples of four, each with
 * `gap` elements more behind it, or without any gap if that is -1. */
struct Layout {
    int64_t front, gap;
};

static occ_stack stack_of(int64_t heads, int64_t rows, int64_t columns, bool turned, const Layout &l)
{
    const int64_t used = turned ? rows : columns, lines = turned ? columns : rows,
                  line = l.gap < 0 ? used : (used + 3) / 4 * 4 + l.gap;
    return {3, {heads, rows, columns}, {lines * line, turned ? 1 : line, turned ? line : 1}};
}

/* Elements of a stack; no numbers beside them. */
template <typename Make> static Tensor<float> tensor_of(const occ_stack &at, const Layout &l, Make make)
{
    const bool    turned = at.stride[1] == 1 && at.stride[2] != 1;
    const int64_t used = at.dim[turned ? 1 : 2], line = at.stride[turned ? 2 : 1];
    Tensor<float> t(l.front + at.dim[0] * at.stride[0]);
    int64_t       i = -l.front;
    t.fill([&] { return i++ >= 0 && (i - 1) % line < used ? make() : NAN; });
    return t;
}

/* Each query sees the keys of a random range, which may be empty. */
static void hide(Tensor<float> *mask, int64_t keys, Random *random)
{
    for (int64_t from = 0; from < static_cast<int64_t>(mask->count); from += keys) {
        const int64_t first = random->pick(0, keys), last = random->pick(0, 3) ? keys : random->pick(0, keys);
        for (int64_t n = 0; n < keys; n++)
            mask->at()[from + n] = n < first || n >= last ? -INFINITY : 0.0f;
    }
}

static int  kind;  /* of factors */
static bool exact; /* q, k and v that all kinds hold: only weights are rounded, and sums are in another order */

static float factor(Random *random)
{
    return exact ? random->real() : static_cast<float>(random->pick(-1000000, 1000000)) / 524288.0f;
}

/* The tolerance of a result. q, k and v are at most 2; q is at most an eighth where factors are rounded. A score of n
 * terms is then off by n / 4 * 2^-10, its weight by e to that and 2^-11 of itself, and so is the sum of weights. */
static double bound(int64_t depth)
{
    const double score = exact ? 0.0 : static_cast<double>(depth) / 4.0 * (0x1p-10 + 0x1p-21);
    return kind == 0 ? 2e-5 : 2.0 * (std::exp(2.0 * score) - 1.0) + 2.0 * (0x1p-10 + 0x1p-21) + 1e-4;
}

static void check(const Attention &a, Random *random)
{
    const Layout    l = {random->pick(0, 2) / 2, random->pick(-1, 1)};
    const occ_stack q_at = stack_of(a.heads, a.rows, a.depth, false, l),
                    k_at = stack_of(a.heads, a.depth, a.keys, a.turned, l),
                    v_at = stack_of(a.heads, a.keys, a.width, false, l),
                    y_at = stack_of(a.heads, a.rows, a.width, false, {0, -1});
    const occ_blocks      blocks = {4, random->coin() ? 0 : 16, 8, a.turned};
    const occ_extent      pitch[] = {0, 0, 0, a.keys};
    const occ_stack_fused fused = {a.masked ? 2 : 0, pitch, a.masked ? scale_and_hide : nullptr};
    exact = kind == 0 || random->coin();
    Tensor<float> q = tensor_of(q_at, l, [&] { return exact ? random->real() : factor(random) / 16.0f; }),
                  k = tensor_of(k_at, l, [&] { return factor(random); }),
                  v = tensor_of(v_at, l, [&] { return factor(random); }), mask(a.rows * a.keys),
                  y(a.heads * a.rows * a.width), scratch(8192 + OCC_SCORES(a.keys) * (a.depth + 4));
    const float    scale = 0.25f;
    const occ_expr e = {{&scale, mask.at()}, {0, 0}};
    hide(&mask, a.keys, random);
    near(
        "attention", bound(a.depth), y,
        [&](float *to) {
            host_attention_f32(to, &y_at, scratch.at(), q.at() + l.front, &q_at, k.at() + l.front, &k_at,
                               v.at() + l.front, &v_at, &blocks, &e, &fused);
        },
        [&](float *to) {
            const auto attend = kind == 0              ? occ_attention_f32
                                : kind == OCC_MMA_TF32 ? occ_attention_tf32
                                                       : occ_attention_fp16;
            attend(to, &y_at, nullptr, q.at() + l.front, &q_at, k.at() + l.front, &k_at, v.at() + l.front, &v_at,
                   &blocks, &e, &fused);
        });
}

/* On tensor cores the lanes of a warp meet at each product, which takes ThreadSanitizer minutes for one large case. So
 * it sees two small ones: several tiles of queries and keys, then of terms and columns, come to every barrier. */
static bool is_long_run(void)
{
#if defined(FIBER_TSAN)
    return kind != 0;
#else
    return false;
#endif
}

static void one_tile_and_several(void **state)
{
    Random random = {41};
    kind = *static_cast<const int *>(*state);
    if (is_long_run()) {
        check({1, 17, 65, 8, 8, true, true}, &random);
        check({1, 1, 5, 65, 65, false, false}, &random);
        return;
    }
    check({2, 20, 20, 16, 16, false, true}, &random);
    check({1, 70, 130, 16, 20, false, true}, &random);
    check({1, 9, 70, 17, 70, true, true}, &random);
    check({2, 65, 65, 8, 12, true, false}, &random);
    check({1, 1, 1, 1, 1, false, true}, &random);
    check({1, 3, 5, 0, 4, true, true}, &random);
    static const int64_t depth[] = {65, 130, 64, 63};
    for (int i = 0; i < rounds(kind == 0 ? 4 : 2); i++)
        check({1, 17, 130, depth[i % 4], i % 2 ? 80 : 36, true, random.coin()}, &random);
}

static void random_shapes(void **state)
{
    Random random = {42};
    kind = *static_cast<const int *>(*state);
    for (int i = 0; i < rounds(kind == 0 ? 8 : 4) && !is_long_run(); i++)
        check({random.pick(1, 3), random.pick(1, 40), random.pick(1, 90), random.pick(1, 20), random.pick(1, 24),
               random.coin(), random.coin()},
              &random);
}

int main()
{
    static int       float32 = 0, tf32 = OCC_MMA_TF32, fp16 = OCC_MMA_FP16;
    const CMUnitTest tests[] = {
        cmocka_unit_test_prestate(one_tile_and_several, &float32), cmocka_unit_test_prestate(random_shapes, &float32),
        cmocka_unit_test_prestate(one_tile_and_several, &tf32),    cmocka_unit_test_prestate(random_shapes, &tf32),
        cmocka_unit_test_prestate(one_tile_and_several, &fp16),    cmocka_unit_test_prestate(random_shapes, &fp16)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
