/* twin_integer.cc - products and convolutions of bytes with zero points on the device against the C kernels. */
#include "image.h"

#include "occ_conv_q.h"
#include "occ_place.h"
#include "occ_quads.h"
#include "occ_result.h"

#define TPL_T uint8_t
#define TPL_T2 int8_t
#define occ_matmul_integer_TPL_N_TPL_N2 host_matmul_integer
#define occ_conv_integer_TPL_N_TPL_N2 host_conv_integer
#include "integer.c"
#undef occ_matmul_integer_TPL_N_TPL_N2
#undef occ_conv_integer_TPL_N_TPL_N2
#define occ_matmul_integer_TPL_N_TPL_N2 occ_matmul_integer
#define occ_conv_integer_TPL_N_TPL_N2 occ_conv_integer
#include "integer.cu"
#undef occ_matmul_integer_TPL_N_TPL_N2
#undef occ_conv_integer_TPL_N_TPL_N2
#undef TPL_T
#undef TPL_T2

/* The other way round. */
namespace turned
{
#define TPL_T int8_t
#define TPL_T2 uint8_t
#define occ_matmul_integer_TPL_N_TPL_N2 host_matmul_integer
#define occ_conv_integer_TPL_N_TPL_N2 host_conv_integer
#define occ_integer_product_TPL_N_TPL_N2 product_turned
#include "integer.c"
#undef occ_matmul_integer_TPL_N_TPL_N2
#undef occ_conv_integer_TPL_N_TPL_N2
#define occ_matmul_integer_TPL_N_TPL_N2 occ_matmul_turned
#define occ_conv_integer_TPL_N_TPL_N2 occ_conv_turned
#include "integer.cu"
} // namespace turned

static occ_stack stack_of(int64_t stack, int64_t rows, int64_t columns, bool turned, bool one, int64_t gap)
{
    const int64_t pitch = (turned ? rows : columns) + gap, size = (turned ? columns : rows) * pitch;
    return {3, {stack, rows, columns}, {one ? 0 : size, turned ? 1 : pitch, turned ? pitch : 1}};
}

static int64_t size_of_stack(const occ_stack &at)
{
    int64_t n = 1;
    for (int i = 0; i < 3; i++)
        n += at.dim[i] ? (at.dim[i] - 1) * at.stride[i] : 0;
    return n;
}

static void check(Random *random, int64_t rows, int64_t columns, int64_t depth)
{
    const int64_t   stack = random->pick(1, 2), astep = random->coin(), bstep = random->coin();
    const occ_stack a_at = stack_of(stack, rows, depth, random->coin(), false, random->pick(0, 3)),
                    b_at = stack_of(stack, depth, columns, random->coin(), random->coin(), random->pick(0, 3)),
                    y_at = stack_of(stack, rows, columns, false, false, random->pick(0, 1));
    Tensor<uint8_t> a(size_of_stack(a_at)), az(rows);
    Tensor<int8_t>  b(size_of_stack(b_at)), bz(columns);
    Tensor<int32_t> y(size_of_stack(y_at));
    for (Tensor<uint8_t> *t : {&a, &az})
        t->fill([&] { return random->pick(0, 255); });
    for (Tensor<int8_t> *t : {&b, &bz})
        t->fill([&] { return random->pick(-128, 127); });
    const uint8_t *za = random->coin() ? az.at() : nullptr, *ub = reinterpret_cast<uint8_t *>(b.at()),
                  *uz = reinterpret_cast<uint8_t *>(bz.at());
    const int8_t *zb = random->coin() ? bz.at() : nullptr, *ia = reinterpret_cast<int8_t *>(a.at()),
                 *iz = reinterpret_cast<int8_t *>(az.at());
    compare(
        "matmul of u8 and i8", y,
        [&](int32_t *to) { host_matmul_integer(to, &y_at, a.at(), &a_at, b.at(), &b_at, za, zb, astep, bstep); },
        [&](int32_t *to) { occ_matmul_integer(to, &y_at, a.at(), &a_at, b.at(), &b_at, za, zb, astep, bstep); });
    compare(
        "matmul of i8 and u8", y,
        [&](int32_t *to) {
            turned::host_matmul_integer(to, &y_at, ia, &a_at, ub, &b_at, iz, zb ? uz : nullptr, astep, bstep);
        },
        [&](int32_t *to) {
            turned::occ_matmul_turned(to, &y_at, ia, &a_at, ub, &b_at, iz, zb ? uz : nullptr, astep, bstep);
        });
}

static void products(void **)
{
    Random random = {71};
    for (int i = 0; i < rounds(60); i++)
        check(&random, random.pick(1, 70), random.pick(1, 40),
              random.pick(0, 3) ? random.pick(1, 20) : random.pick(60, 140));
    check(&random, 3, 3, 0);
}

static void convolutions(void **)
{
    Random random = {72};
    for (int i = 0; i < rounds(60); i++) {
        const int64_t    in[3] = {random.pick(0, 3) ? 1 : 2, random.pick(1, 9), random.pick(1, 9)};
        int64_t          out[3];
        const occ_window window = window_of(&random, in, out);
        const int64_t    groups = random.pick(1, 2), inputs = random.pick(1, 6), outputs = random.pick(1, 6);
        const occ_image  x_at = image_of(1, groups * inputs, in, random.coin(), random.pick(0, 3)),
                        y_at = image_of(1, groups * outputs, out, random.coin(), random.pick(0, 3));
        Tensor<uint8_t> x(size_of(x_at));
        Tensor<int8_t>  w(groups * outputs * inputs * occ_window_size(&window)), zero(groups * outputs);
        Tensor<int32_t> y(size_of(y_at));
        const uint8_t   xzero = static_cast<uint8_t>(random.pick(0, 255));
        const int64_t   step = random.coin();
        x.fill([&] { return random.pick(0, 255); });
        w.fill([&] { return random.pick(-128, 127); });
        zero.fill([&] { return random.pick(-128, 127); });
        compare(
            "conv_integer", y,
            [&](int32_t *to) {
                host_conv_integer(x.at(), &x_at, w.at(), &xzero, zero.at(), to, &y_at, &window, groups, step);
            },
            [&](int32_t *to) {
                occ_conv_integer(x.at(), &x_at, w.at(), &xzero, zero.at(), to, &y_at, &window, groups, step);
            });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(products), cmocka_unit_test(convolutions)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
