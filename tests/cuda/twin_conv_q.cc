/* twin_conv_q.cc - convolutions of bytes on the device against the C kernels. */
#include "image.h"

#include "occ_depthwise_q.h"
#include "occ_fused.h"
#include "occ_implicit.h"
#include "occ_open_q.h"
#include "occ_quads.h"
#include "occ_result.h"

/* Each namespace has both kernels for one pair of element types. */
namespace bytes
{
#define TPL_T uint8_t
#define TPL_T2 int8_t
#define occ_put_TPL_N2 occ_put_i8
#define occ_conv_q_TPL_N_TPL_N2 host_conv_q
#define occ_depthwise_q_TPL_N_TPL_N2 host_depthwise_q
#include "conv_q.c"
#include "depthwise_q.c"
#undef occ_conv_q_TPL_N_TPL_N2
#undef occ_depthwise_q_TPL_N_TPL_N2
#define occ_conv_q_TPL_N_TPL_N2 occ_conv_q_bytes
#define occ_depthwise_q_TPL_N_TPL_N2 occ_depthwise_q_bytes
#include "conv_q.cu"
#include "depthwise_q.cu"
#undef occ_conv_q_TPL_N_TPL_N2
#undef occ_depthwise_q_TPL_N_TPL_N2
#undef occ_put_TPL_N2
#undef TPL_T
#undef TPL_T2
} // namespace bytes

namespace sums
{
#define TPL_T int8_t
#define TPL_T2 int32_t
#define occ_put_TPL_N2 occ_put_i32
#define occ_conv_q_TPL_N_TPL_N2 host_conv_q
#define occ_depthwise_q_TPL_N_TPL_N2 host_depthwise_q
#include "conv_q.c"
#include "depthwise_q.c"
#undef occ_conv_q_TPL_N_TPL_N2
#undef occ_depthwise_q_TPL_N_TPL_N2
#define occ_conv_q_TPL_N_TPL_N2 occ_conv_q_sums
#define occ_depthwise_q_TPL_N_TPL_N2 occ_depthwise_q_sums
#include "conv_q.cu"
#include "depthwise_q.cu"
} // namespace sums

/* acc * 1/64 + x[0], which moves with pixels. */
static float scale_and_add(const occ_expr *e, float acc, int64_t c, int n)
{
    (void)n;
    return acc * 0.015625f + static_cast<const float *>(e->x[0])[e->at[0] + c];
}

/* Weights of a group lie in blocks of 32 outputs; inputs behind the last one are 0. */
static int64_t weights_of(Random *random, int64_t groups, int64_t inputs, int64_t outputs, int64_t taps,
                          Tensor<int8_t> *w)
{
    const int64_t fours = (inputs + 3) / 4, wide = (outputs % 32 + 3) / 4 * 4 + outputs / 32 * 32;
    const int64_t size = groups * wide * taps * fours * 4;
    if (!w)
        return size;
    for (int64_t i = 0; i < size; i++) {
        const int64_t in_block = i % (wide * taps * fours * 4), block = in_block / (32 * taps * fours * 4);
        const int64_t pitch = block < outputs / 32 ? 32 : wide - outputs / 32 * 32;
        const int64_t quad = (in_block - block * 32 * taps * fours * 4) / (pitch * 4) % fours;
        w->at()[i] = static_cast<int8_t>(quad * 4 + i % 4 < inputs ? random->pick(-128, 127) : 0);
    }
    return size;
}

/* A convolution with its geometry, and what it computes with. */
struct Case {
    int64_t         in[3], out[3], batch, groups, inputs, outputs;
    occ_q_form      form;
    occ_image       x_at, y_at;
    Tensor<uint8_t> x;
    Tensor<int8_t>  w;
    Tensor<int32_t> bias, sums;
    Tensor<float>   x0;
    occ_fused       fused;
    Case(Random *random, int64_t g, int64_t i, int64_t o)
        : in{random->pick(0, 3) ? 1 : 2, random->pick(1, 9), random->pick(1, 9)}, batch(random->pick(1, 2)), groups(g),
          inputs(i), outputs(o), form{window_of(random, in, out), g, random->pick(0, 90), random->pick(-9, 9), 0, 0, 0, 0},
          x_at(image_of(batch, g * i, in, false, random->pick(0, 3))),
          y_at(image_of(batch, g * o, out, random->coin(), random->pick(0, 3))), x(size_of(x_at)),
          w(weights_of(random, g, i, o, occ_window_size(&form.window), nullptr)), bias(g * o), sums(g * o),
          x0(batch * out[0] * out[1] * out[2] * (g * o + 1)), fused{random->coin(), {g * o + 1}, nullptr}
    {
        fused.fn = fused.nx ? scale_and_add : nullptr;
        x.fill([&] { return random->pick(0, 255); });
        weights_of(random, g, i, o, occ_window_size(&form.window), &w);
        bias.fill([&] { return random->pick(-9999, 9999); });
        sums.fill([&] { return random->pick(-999, 999); });
        x0.fill([&] { return random->real(); });
    }
};

static void check(Random *random, int64_t groups, int64_t inputs, int64_t outputs)
{
    Case            c(random, groups, inputs, outputs);
    const occ_expr  e = {{c.x0.at()}, {0}};
    const int32_t  *bias = random->coin() ? c.bias.at() : nullptr, *sums = random->coin() ? c.sums.at() : nullptr;
    const uint8_t   zero = static_cast<uint8_t>(random->pick(0, 255)), *z = random->coin() ? &zero : nullptr;
    const int8_t   *x = reinterpret_cast<const int8_t *>(c.x.at()), *sz = reinterpret_cast<const int8_t *>(z);
    Tensor<int8_t>  y(size_of(c.y_at));
    Tensor<int32_t> wide(size_of(c.y_at));
    compare(
        "conv_q of u8", y,
        [&](int8_t *to) {
            bytes::host_conv_q(c.x.at(), &c.x_at, c.w.at(), bias, sums, z, to, &c.y_at, nullptr, &c.form, &e, &c.fused);
        },
        [&](int8_t *to) {
            bytes::occ_conv_q_bytes(c.x.at(), &c.x_at, c.w.at(), bias, sums, z, to, &c.y_at, nullptr, &c.form, &e,
                                    &c.fused);
        });
    compare(
        "conv_q of i8", wide,
        [&](int32_t *to) {
            sums::host_conv_q(x, &c.x_at, c.w.at(), bias, sums, sz, to, &c.y_at, nullptr, &c.form, &e, &c.fused);
        },
        [&](int32_t *to) {
            sums::occ_conv_q_sums(x, &c.x_at, c.w.at(), bias, sums, sz, to, &c.y_at, nullptr, &c.form, &e, &c.fused);
        });
}

static void random_geometry(void **)
{
    Random random = {61};
    for (int i = 0; i < rounds(50); i++)
        check(&random, random.pick(0, 2) ? 1 : random.pick(2, 3), random.pick(1, 20), random.pick(1, 40));
}

static void more_outputs_than_a_block_has(void **)
{
    Random random = {62};
    for (int64_t outputs : {32, 33, 70}) {
        check(&random, 1, 17, outputs);
        check(&random, 2, 8, outputs);
    }
}

static void each_channel_by_itself(void **)
{
    Random random = {63};
    for (int i = 0; i < rounds(80); i++) {
        Case              c(&random, random.pick(1, 40), 1, 1);
        const occ_expr    e = {{c.x0.at()}, {0}};
        const occ_dq_form form = {c.form.xzero, c.form.yzero, random.pick(0, 3) ? c.groups : 0};
        const int8_t     *x = reinterpret_cast<const int8_t *>(c.x.at());
        Tensor<int8_t>    w(c.groups * occ_window_size(&c.form.window) + 32), y(size_of(c.y_at));
        Tensor<int32_t>   wide(size_of(c.y_at));
        w.fill([&] { return form.wtap ? random.pick(-128, 127) : 3; }); /* shared taps are equal */
        compare(
            "depthwise_q of u8", y,
            [&](int8_t *to) {
                bytes::host_depthwise_q(c.x.at(), &c.x_at, w.at(), c.bias.at(), nullptr, to, &c.y_at, &c.form.window,
                                        &form, &e, &c.fused);
            },
            [&](int8_t *to) {
                bytes::occ_depthwise_q_bytes(c.x.at(), &c.x_at, w.at(), c.bias.at(), nullptr, to, &c.y_at,
                                             &c.form.window, &form, &e, &c.fused);
            });
        compare(
            "depthwise_q of i8", wide,
            [&](int32_t *to) {
                sums::host_depthwise_q(x, &c.x_at, w.at(), nullptr, nullptr, to, &c.y_at, &c.form.window, &form, &e,
                                       &c.fused);
            },
            [&](int32_t *to) {
                sums::occ_depthwise_q_sums(x, &c.x_at, w.at(), nullptr, nullptr, to, &c.y_at, &c.form.window, &form, &e,
                                           &c.fused);
            });
    }
}

int main()
{
    const CMUnitTest tests[] = {cmocka_unit_test(random_geometry), cmocka_unit_test(more_outputs_than_a_block_has),
                                cmocka_unit_test(each_channel_by_itself)};
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
