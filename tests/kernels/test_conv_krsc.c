/* test_conv_krsc.c - convolution with weights [output][tap][input] against plain loops in double precision. */
#include "conv_check.h"
#include "conv_krsc_f32.c"

/* The weights of conv_check.h, [output][input][tap], in the kernel's order. */
static float *turned(const float *w, int64_t outputs, int64_t inputs, int64_t taps)
{
    float *to = test_floats(outputs * inputs * taps);

    for (int64_t o = 0; o < outputs; o++)
        for (int64_t i = 0; i < inputs; i++)
            for (int64_t t = 0; t < taps; t++)
                to[(o * taps + t) * inputs + i] = w[(o * inputs + i) * taps + t];
    return to;
}

static occ_image image_at(const Conv *c, int64_t channels, const int64_t *dim, const int64_t *stride)
{
    const occ_image at = {{c->batch, c->groups * channels, dim[0], dim[1], dim[2]},
                          {stride[0], stride[1], stride[2], stride[3], stride[4]}};

    return at;
}

static void compare(const Conv *c, const float *y, const int64_t *ys, const float *x, const int64_t *xs, const float *w,
                    const float *bias)
{
    const int64_t all = c->groups * c->outputs, pixels = c->batch * c->out[0] * c->out[1] * c->out[2];

    for (int64_t i = 0; i < pixels * all; i++) {
        const int64_t p = i / all, channel = i % all;
        const int64_t at[3] = {p / c->out[2] / c->out[1] % c->out[0], p / c->out[2] % c->out[1], p % c->out[2]};
        const int64_t image = p / c->out[2] / c->out[1] / c->out[0];
        const int64_t to = image * ys[0] + channel * ys[1] + at[0] * ys[2] + at[1] * ys[3] + at[2] * ys[4];

        test_near((double)y[to], want_conv(c, x, xs, w, bias, image, channel, at),
                  4.0 * sqrt((double)(c->inputs * c->kernel[0] * c->kernel[1] * c->kernel[2])), 1e-6, "conv_krsc", to);
    }
}

static void check_one(const Conv *c)
{
    const int64_t    all = c->groups * c->outputs, taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
    const occ_window window = {{c->kernel[0], c->kernel[1], c->kernel[2]},
                               {c->stride[0], c->stride[1], c->stride[2]},
                               {c->dilation[0], c->dilation[1], c->dilation[2]},
                               {c->pad[0], c->pad[1], c->pad[2]}};
    const occ_fused  none = {0, {0}, NULL};
    uint64_t         seed = 9;
    int64_t          xs[5], ys[5], nx = size_of(c, c->inputs, c->in, xs, c->planar, c->ragged),
                          ny = size_of(c, c->outputs, c->out, ys, 0, c->ragged), nw = all * c->inputs * taps;
    const occ_image x_at = image_at(c, c->inputs, c->in, xs), y_at = image_at(c, c->outputs, c->out, ys);
    float          *x = test_random_floats(&seed, nx), *w = test_random_floats(&seed, nw), *y = test_floats(ny);
    float          *bias = c->bias ? test_random_floats(&seed, all) : NULL, *krsc = turned(w, all, c->inputs, taps);

    occ_conv_krsc_f32(x, &x_at, krsc, bias, y, &y_at, &window, c->groups, NULL, &none);
    compare(c, y, ys, x, xs, w, bias);
    memset(y, 0, (size_t)ny * sizeof *y);
    occ_conv_work_f32(x, &x_at, krsc, bias, y, &y_at, NULL, &window, c->groups, NULL, &none);
    compare(c, y, ys, x, xs, w, bias);
    test_release(x, nx), test_release(w, nw), test_release(y, ny), test_release(krsc, nw);
    if (bias)
        test_release(bias, all);
}

static void geometries(void **state)
{
    const Conv conv[] = {
        {2, 1, 5, 7, {1, 9, 8}, {1, 9, 8}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0}, 0, 1, 1},
        {1, 3, 4, 2, {1, 11, 7}, {1, 5, 3}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0}, 1, 0, 0},
        {1, 1, 3, 5, {4, 6, 6}, {4, 3, 3}, {2, 2, 2}, {1, 2, 2}, {2, 1, 1}, {1, 0, 0}, {0}, 0, 0, 1},
        {1, 2, 8, 9, {1, 1, 20}, {1, 1, 10}, {1, 1, 5}, {1, 1, 2}, {1, 1, 1}, {0, 0, 2}, {0}, 0, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof conv / sizeof *conv; i++)
        check_one(&conv[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(geometries)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
