/* test_conv_shared.c - convolution called with variables, as where size matters and in constant folding: random
 * geometry. */
#define OCC_SHARED
#include "conv_check.h"
#include "conv_f32.c"

static void run_variable(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, float *y,
                         const int64_t *ys, const occ_extent *pitch, const occ_expr *e)
{
    occ_extent       xdim[] = {c->batch, c->inputs, c->in[0], c->in[1], c->in[2]};
    occ_extent       ydim[] = {c->batch, c->outputs, c->out[0], c->out[1], c->out[2]};
    const occ_image  x_at = image_of(xdim, xs, c->groups), y_at = image_of(ydim, ys, c->groups);
    const occ_window window = window_of(c->kernel, c->stride, c->dilation, c->pad);
    const occ_fused  fused = fused_of(pitch, e);

    occ_conv_f32(x, &x_at, w, bias, y, &y_at, &window, c->groups, c->tile, e, &fused);
}

static Conv random_conv(uint64_t *seed, int axes)
{
    static const int64_t channels[] = {1, 2, 3, 4, 5, 8, 12, 16, 20, 24, 28, 31, 32, 33, 40, 48, 56, 60, 64, 96, 100};
    Conv                 c = {.batch = test_pick(seed, 1, 2),
                              .groups = test_pick(seed, 0, 3) ? 1 : test_pick(seed, 1, 3),
                              .planar = (int)test_pick(seed, 0, 1),
                              .ragged = (int)test_pick(seed, 0, 1),
                              .bias = (int)test_pick(seed, 0, 1)};

    c.inputs = channels[test_pick(seed, 0, 7)];
    c.outputs = channels[test_pick(seed, 0, 20)];
    for (int a = 0; a < 3; a++) {
        int used = a >= 3 - axes;
        c.kernel[a] = used ? test_pick(seed, 1, 4) : 1;
        c.stride[a] = used ? test_pick(seed, 1, 3) : 1;
        c.dilation[a] = used ? test_pick(seed, 1, 3) : 1;
        c.pad[a] = used ? test_pick(seed, 0, 4) : 0;
        c.out[a] = used ? test_pick(seed, 1, a == 2 ? 17 : 5) : 1;
        c.in[a] = used ? (c.out[a] - 1) * c.stride[a] + (c.kernel[a] - 1) * c.dilation[a] + 1 - c.pad[a] -
                             test_pick(seed, 0, 2)
                       : 1;
        if (c.in[a] < 1)
            c.in[a] = test_pick(seed, 1, 3);
    }
    c.tile[0] = test_pick(seed, 0, 3) == 0 ? test_pick(seed, 0, 4) : 0;
    c.tile[1] = test_pick(seed, 0, 3) == 0 ? test_pick(seed, 1, 3) : 0;
    c.tile[2] = test_pick(seed, 0, 3) == 0 ? test_pick(seed, 1, 5) : 0;
    return c;
}

static void random_geometry(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 400; i++) {
        Conv c = random_conv(&seed, i % 8 == 0 ? 3 : i % 4 == 1 ? 1 : 2);
        check(&c, run_variable, i % 5 == 0, i % 3 == 0);
    }
}

/* Windows of one element, with results in the padding before or behind the image along each axis by itself. */
static void single_taps_beyond_each_end(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        int  axis = i % 3, before = i / 3 % 2;
        Conv c = {.batch = 2,
                  .groups = 1 + i / 12,
                  .inputs = 9,
                  .outputs = i / 6 % 2 ? 40 : 3,
                  .bias = 1,
                  .planar = i / 6 % 2};

        for (int a = 0; a < 3; a++) {
            c.kernel[a] = c.stride[a] = c.dilation[a] = 1;
            c.in[a] = 3 + a;
            c.out[a] = c.in[a] + (a == axis ? 2 : 0);
            c.pad[a] = a == axis && before ? 2 : 0;
        }
        check(&c, run_variable, i / 12, i % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_geometry),
                                       cmocka_unit_test(single_taps_beyond_each_end)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
