/* test_conv_dot.c - convolution with few outputs against plain loops in double precision. */
#include "conv_check.h"
#include "conv_dot_f32.c"

/* [output][tap][input] from one panel as wide as the outputs. */
static void run(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, float *y,
                const int64_t *ys, const occ_extent *pitch, const occ_expr *e)
{
    int64_t          taps = c->kernel[0] * c->kernel[1] * c->kernel[2], plane = taps * c->inputs;
    occ_extent       xdim[] = {c->batch, c->inputs, c->in[0], c->in[1], c->in[2]};
    occ_extent       ydim[] = {c->batch, c->outputs, c->out[0], c->out[1], c->out[2]};
    const occ_image  x_at = image_of(xdim, xs, 1), y_at = image_of(ydim, ys, 1);
    const occ_window window = window_of(c->kernel, c->stride, c->dilation, c->pad);
    const occ_fused  fused = fused_of(pitch, e);
    float           *to = test_floats(c->outputs * plane);

    for (int64_t o = 0; o < c->outputs; o++)
        for (int64_t k = 0; k < plane; k++)
            to[o * plane + k] = w[k * c->outputs + o];
    occ_conv_dot_f32(x, &x_at, to, bias, y, &y_at, &window, e, &fused);
    test_release(to, c->outputs * plane);
}

static void random_geometry(void **state)
{
    uint64_t seed = 4;

    (void)state;
    for (int i = 0; i < 300; i++) {
        Conv c = {.batch = test_pick(&seed, 1, 2),
                  .groups = 1,
                  .inputs = test_pick(&seed, 1, 40),
                  .outputs = test_pick(&seed, 1, 4),
                  .bias = (int)test_pick(&seed, 0, 1)};
        for (int a = 0; a < 3; a++) {
            int used = a > 0 || i % 8 == 0;
            c.kernel[a] = used ? test_pick(&seed, 1, 5) : 1;
            c.stride[a] = used ? test_pick(&seed, 1, 3) : 1;
            c.dilation[a] = used && a < 2 ? test_pick(&seed, 1, 3) : 1;
            c.pad[a] = used ? test_pick(&seed, 0, 4) : 0;
            c.out[a] = used ? test_pick(&seed, 1, a == 2 ? 20 : 6) : 1;
            c.in[a] = used ? test_pick(&seed, 1, 24) : 1;
        }
        check(&c, run, i % 5 == 0, i % 3 == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_geometry)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
