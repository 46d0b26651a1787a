/* conv_check.h - one convolution compared with plain loops in double precision. */
#include "image.h"
#include "kernel_test.h"

#include "occ_conv.h"
#include "pack.h"

typedef struct Conv {
    int64_t batch, groups, inputs, outputs, in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], tile[3];
    int     planar, ragged, bias; /* x in ONNX's order; gaps between pixels and rows of x and y */
} Conv;

static int64_t size_of(const Conv *c, int64_t channels, const int64_t *dim, int64_t *stride, int planar, int ragged)
{
    int64_t all = channels * c->groups, gap = ragged ? 3 : 0;

    stride[1] = planar ? dim[0] * dim[1] * dim[2] : 1;
    stride[4] = planar ? 1 : all + gap;
    stride[3] = dim[2] * stride[4] + gap;
    stride[2] = dim[1] * stride[3];
    stride[1] = planar ? dim[0] * stride[2] : 1;
    stride[0] = planar ? all * stride[1] : dim[0] * stride[2];
    return c->batch * stride[0] + 1;
}

static double want_conv(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias,
                        int64_t image, int64_t channel, const int64_t *at)
{
    int64_t group = channel / c->outputs, taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
    double  sum = bias ? (double)bias[channel] : 0.0;

    for (int64_t i = 0; i < c->inputs; i++)
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t t[3] = {tap / c->kernel[2] / c->kernel[1], tap / c->kernel[2] % c->kernel[1], tap % c->kernel[2]};
            int64_t from = image * xs[0] + (group * c->inputs + i) * xs[1];
            int     inside = 1;
            for (int a = 0; a < 3; a++) {
                int64_t p = at[a] * c->stride[a] - c->pad[a] + t[a] * c->dilation[a];
                inside = inside && p >= 0 && p < c->in[a];
                from += p * xs[2 + a];
            }
            if (inside)
                sum += (double)x[from] * (double)w[(channel * c->inputs + i) * taps + tap];
        }
    return sum;
}

/* acc * 2 + residual + per channel */
static UNUSED occ_vf epilogue(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    occ_vf r = occ_vload((const float *)e->x[0] + e->at[0] + c, n),
           s = occ_vload((const float *)e->x[1] + e->at[1] + c, n);

    return occ_vmax(occ_vadd(occ_vadd(acc, r), s), occ_vset(0.0f));
}

typedef void (*Run)(const Conv *c, const float *x, const int64_t *xs, const float *w, const float *bias, float *y,
                    const int64_t *ys, const occ_extent *pitch, const occ_expr *e);

/* Two operands, of which the first moves from pixel to pixel. */
static UNUSED occ_fused fused_of(const occ_extent *pitch, const occ_expr *e)
{
    const occ_fused fused = {e ? 2 : 0, {pitch[0], pitch[1]}, e ? epilogue : NULL};

    return fused;
}

/* tolerance: of the largest sum that the inputs can make by chance. */
static UNUSED void check_within(const Conv *c, Run run, int planar_y, int with_expression, double tolerance)
{
    uint64_t seed = 7;
    int64_t  xs[5], ys[5], all = c->groups * c->outputs, taps = c->kernel[0] * c->kernel[1] * c->kernel[2];
    int64_t  nx = size_of(c, c->inputs, c->in, xs, c->planar, c->ragged), nw = all * c->inputs * taps;
    int64_t  ny = size_of(c, c->outputs, c->out, ys, planar_y, c->ragged),
            np = pack_conv_size(c->groups, c->outputs, c->inputs, taps);
    int64_t    pixels = c->batch * c->out[0] * c->out[1] * c->out[2], p = 0;
    float     *x = test_random_floats(&seed, nx), *w = test_random_floats(&seed, nw), *packed = test_floats(np);
    float     *y = test_floats(ny), *bias = c->bias ? test_random_floats(&seed, all) : NULL;
    float     *residual = test_random_floats(&seed, pixels * (all + 5)), *scale = test_random_floats(&seed, all);
    occ_expr   e = {{residual, scale}, {0}};
    occ_extent pitch[] = {all + 5, 0};

    pack_conv(packed, w, c->groups, c->outputs, c->inputs, taps);
    run(c, x, xs, packed, bias, y, ys, pitch, with_expression ? &e : NULL);
    for (int64_t image = 0; image < c->batch; image++)
        for (int64_t d = 0; d < c->out[0]; d++)
            for (int64_t h = 0; h < c->out[1]; h++)
                for (int64_t v = 0; v < c->out[2]; v++, p++)
                    for (int64_t channel = 0; channel < all; channel++) {
                        int64_t at[3] = {d, h, v},
                                to = image * ys[0] + channel * ys[1] + d * ys[2] + h * ys[3] + v * ys[4];
                        double want = want_conv(c, x, xs, w, bias, image, channel, at);
                        if (with_expression) {
                            want += (double)residual[p * (all + 5) + channel] + (double)scale[channel];
                            want = want > 0.0 ? want : 0.0;
                        }
                        test_near((double)y[to], want, 4.0 * sqrt((double)(c->inputs * taps)), tolerance, "conv", to);
                    }
    test_release(x, nx), test_release(w, nw), test_release(packed, np), test_release(y, ny),
        test_release(residual, pixels * (all + 5));
    test_release(scale, all);
    if (bias)
        test_release(bias, all);
}

static UNUSED void check(const Conv *c, Run run, int planar_y, int with_expression)
{
    check_within(c, run, planar_y, with_expression, 1e-6);
}

/* A square image of any width, and its results where the window is padded by as much behind as before it; 0: there
 * are none. */
static UNUSED int set_width(Conv *c, int64_t width)
{
    int64_t reach = width + 2 * c->pad[2] - (c->kernel[2] - 1) * c->dilation[2] - 1;

    c->in[1] = c->in[2] = width;
    c->out[1] = c->out[2] = reach / c->stride[2] + 1;
    return reach >= 0;
}
