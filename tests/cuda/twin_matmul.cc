/* twin_matmul.cc - the matrix product on the device against the C kernel. */
#include "twin.h"

#define occ_matmul_f32 host_matmul_f32
#define occ_matmul_work_f32 host_matmul_work_f32
#include "matmul_f32.c"
#undef occ_matmul_f32
#undef occ_matmul_work_f32
#include "matmul_f32.cu"

/* acc * x[0] + x[1]: the first moves with columns only, the second with rows, too. */
static float scale_and_add(const occ_expr *e, float acc, int64_t c, int n)
{
    const float *x0 = static_cast<const float *>(e->x[0]), *x1 = static_cast<const float *>(e->x[1]);
    (void)n;
    return acc * x0[e->at[0] + c] + x1[e->at[1] + c];
}

struct Product {
    int64_t stack[2], rows, columns, depth;
    bool    turned_a, turned_b, shared_b, fused;
};

static occ_stack stack_of(const Product &p, int64_t rows, int64_t columns, bool turned, bool one)
{
    const int64_t gap = 3, pitch = (turned ? rows : columns) + gap, size = (turned ? columns : rows) * pitch;
    return {4,
            {p.stack[0], p.stack[1], rows, columns},
            {one ? 0 : p.stack[1] * size, one ? 0 : size, turned ? 1 : pitch, turned ? pitch : 1}};
}

static int64_t size_of(const occ_stack &at)
{
    int64_t n = 1;
    for (int i = 0; i < 4; i++)
        n += at.dim[i] ? (at.dim[i] - 1) * at.stride[i] : 0;
    return n;
}

static void check(const Product &p, Random *random)
{
    const occ_stack a_at = stack_of(p, p.rows, p.depth, p.turned_a, false),
                    b_at = stack_of(p, p.depth, p.columns, p.turned_b, p.shared_b),
                    y_at = stack_of(p, p.rows, p.columns, false, false);
    const occ_extent      pitch[2][3] = {{0, 0, 0}, {0, 7, p.columns}};
    const occ_stack_fused fused = {p.fused ? 2 : 0, pitch[0], p.fused ? scale_and_add : nullptr};
    Tensor<float>         a(size_of(a_at)), b(size_of(b_at)), x0(p.columns), x1(p.columns * p.rows + 7 * p.stack[1]),
        y(size_of(y_at));
    for (Tensor<float> *t : {&a, &b, &x0, &x1})
        t->fill([&] { return random->real(); });
    occ_expr e = {{x0.at(), x1.at()}, {0, 0}};
    compare(
        "matmul", y, [&](float *to) { host_matmul_f32(to, &y_at, a.at(), &a_at, b.at(), &b_at, &e, &fused); },
        [&](float *to) { /* occ_matmul_f32 does it */
            occ_matmul_work_f32(to, &y_at, a.at(), &a_at, b.at(), &b_at, nullptr, &e, &fused);
        });
}

static void shapes_at_the_edges_of_tiles(void **)
{
    Random random = {5};
    for (int64_t rows : {1, 63, 64, 65})
        for (int64_t depth : {1, 15, 16, 33})
            check({{1, 1}, rows, 130 - rows, depth, false, false, false, false}, &random);
}

static void random_shapes(void **)
{
    Random random = {6};
    for (int i = 0; i < rounds(60); i++) {
        Product p = {{random.pick(1, 2), random.pick(1, 3)},
                     random.pick(1, 90),
                     random.pick(1, 90),
                     random.pick(0, 50),
                     random.coin(),
                     random.coin(),
                     random.coin(),
                     random.coin()};
        if (p.turned_b)
            p.turned_a = false;
        check(p, &random);
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(shapes_at_the_edges_of_tiles), cmocka_unit_test(random_shapes)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
