/* test_wide.c - kernels of doubles against the same sums taken the other way round: each element of the
 * input is spread over the results that it belongs to. */
#include "image.h"
#include "kernel_test.h"

#include "wide_f64.h"

enum { ROUNDS = 200 };

static double *doubles(uint64_t *seed, int64_t n)
{
    double *p = malloc((size_t)(n + 1) * sizeof *p);

    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (double)test_float(seed) / 3.0;
    return p;
}

/* One geometry; the image of a group lies dense, or with columns before rows. */
typedef struct Geometry {
    int64_t    groups;
    occ_extent xdim[5], xstride[5], ydim[5], ystride[5], kernel[3], stride[3], dilation[3], pad[3], end[3];
} Geometry;

/* Strides of {batch, all channels, ...} when axes lie in the order of `order`, outermost first; returns the
 * elements. */
static int64_t lay_out(const occ_extent *dim, int64_t channels, occ_extent *stride, int turned)
{
    static const int straight[5] = {0, 1, 2, 3, 4}, last[5] = {0, 2, 4, 3, 1};
    int64_t          n = 1;

    for (int k = 4; k >= 0; k--) {
        const int axis = turned ? last[k] : straight[k];

        stride[axis] = n;
        n *= axis == 1 ? channels : dim[axis];
    }
    return n;
}

static void pick(uint64_t *seed, Geometry *g, int transposed)
{
    g->groups = test_pick(seed, 1, 3);
    g->xdim[0] = g->ydim[0] = test_pick(seed, 1, 2);
    g->xdim[1] = test_pick(seed, 1, 3);
    g->ydim[1] = test_pick(seed, 1, 3);
    for (int k = 0; k < 3; k++) {
        const int64_t in = k ? test_pick(seed, 1, 6) : test_pick(seed, 1, 2);

        g->kernel[k] = test_pick(seed, 1, 3);
        g->stride[k] = test_pick(seed, 1, 3);
        g->dilation[k] = test_pick(seed, 1, 2);
        g->pad[k] = test_pick(seed, 0, 2);
        g->end[k] = test_pick(seed, 0, 2);
        g->xdim[2 + k] = in;
        if (transposed)
            g->ydim[2 + k] =
                occ_max((in - 1) * g->stride[k] + (g->kernel[k] - 1) * g->dilation[k] + 1 - g->pad[k] - g->end[k], 0);
        else
            g->ydim[2 + k] =
                occ_max(in + g->pad[k] + g->end[k] - (g->kernel[k] - 1) * g->dilation[k] - 1 + g->stride[k], 0) /
                g->stride[k];
    }
}

static int64_t at5(const occ_extent *stride, int64_t b, int64_t c, const int64_t *p)
{
    return b * stride[0] + c * stride[1] + p[0] * stride[2] + p[1] * stride[3] + p[2] * stride[4];
}

/* The indices of element n of a block of three extents. */
static void indices_of(int64_t n, const occ_extent *dim, int64_t *place)
{
    place[0] = n / (dim[1] * dim[2]);
    place[1] = n / dim[2] % dim[1];
    place[2] = n % dim[2];
}

/* want += x * w for every element of x and every tap: where the two meet, or -1. */
static int64_t meeting(const Geometry *g, const int64_t *from, const int64_t *tap, int transposed, int64_t *to)
{
    for (int k = 0; k < 3; k++) {
        const int64_t reach = transposed ? from[k] * g->stride[k] + tap[k] * g->dilation[k] - g->pad[k]
                                         : from[k] + g->pad[k] - tap[k] * g->dilation[k];

        to[k] = transposed ? reach : reach / g->stride[k];
        if (reach < 0 || (!transposed && reach % g->stride[k]) || to[k] >= g->ydim[2 + k])
            return -1;
    }
    return 0;
}

static void spread(const Geometry *g, const double *x, const double *w, double *want, int transposed)
{
    const int64_t pixels = g->xdim[2] * g->xdim[3] * g->xdim[4], taps = g->kernel[0] * g->kernel[1] * g->kernel[2];

    for (int64_t n = 0; n < g->xdim[0] * g->groups * g->xdim[1] * pixels * taps * g->ydim[1]; n++) {
        const int64_t o = n % g->ydim[1], t = n / g->ydim[1] % taps, p = n / g->ydim[1] / taps % pixels;
        const int64_t c = n / g->ydim[1] / taps / pixels % (g->groups * g->xdim[1]), group = c / g->xdim[1],
                      i = c % g->xdim[1];
        const int64_t b = n / g->ydim[1] / taps / pixels / (g->groups * g->xdim[1]);
        int64_t       from[3], tap[3], to[3];

        indices_of(p, g->xdim + 2, from);
        indices_of(t, g->kernel, tap);
        if (meeting(g, from, tap, transposed, to) == 0)
            want[at5(g->ystride, b, group * g->ydim[1] + o, to)] +=
                x[at5(g->xstride, b, c, from)] * (transposed
                                                      ? w[(c * g->ydim[1] + o) * taps + t]
                                                      : w[((group * g->ydim[1] + o) * g->xdim[1] + i) * taps + t]);
    }
}

static void convolve(int transposed)
{
    uint64_t seed = 5 + (uint64_t)transposed;

    for (int round = 0; round < ROUNDS; round++) {
        Geometry   g;
        int64_t    nx, ny, nw;
        double    *x, *w, *bias, *y, *want;
        int        biased = round % 3 > 0;
        occ_image  x_at, y_at;
        occ_window window;

        pick(&seed, &g, transposed);
        nx = lay_out(g.xdim, g.groups * g.xdim[1], g.xstride, round & 1);
        ny = lay_out(g.ydim, g.groups * g.ydim[1], g.ystride, round & 2);
        nw = g.groups * g.xdim[1] * g.ydim[1] * g.kernel[0] * g.kernel[1] * g.kernel[2];
        x = doubles(&seed, nx);
        w = doubles(&seed, nw);
        bias = doubles(&seed, g.groups * g.ydim[1]);
        y = doubles(&seed, ny);
        want = doubles(&seed, ny);
        for (int64_t i = 0; i < ny; i++)
            want[i] = biased ? bias[i / g.ystride[1] % (g.groups * g.ydim[1])] : 0.0;
        spread(&g, x, w, want, transposed);
        x_at = image_of(g.xdim, g.xstride, g.groups);
        y_at = image_of(g.ydim, g.ystride, g.groups);
        window = window_of(g.kernel, g.stride, g.dilation, g.pad);
        (transposed ? occ_convtranspose_f64 : occ_conv_f64)(x, &x_at, w, biased ? bias : NULL, y, &y_at, &window,
                                                            g.groups);
        for (int64_t i = 0; i < ny; i++)
            test_near(y[i], want[i], 1.0, 1e-13, transposed ? "transposed" : "convolution", i);
        free(x), free(w), free(bias), free(y), free(want);
    }
}

static void convolutions(void **state)
{
    (void)state;
    convolve(0);
}

static void transposed_convolutions(void **state)
{
    (void)state;
    convolve(1);
}

/* Sums, counts and powers of windows, spread from the pixels; padded places count where the kind says so. */
static void pools(void **state)
{
    uint64_t seed = 9;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int  kind = round % 3 == 0 ? OCC_POOL_MEAN : round % 3 == 1 ? OCC_POOL_MEAN_PADS : OCC_POOL_LP;
        Geometry   g;
        int64_t    nx, ny, pixels, taps;
        double    *x, *y, *sum, *count, p = (double)test_pick(&seed, 1, 3);
        occ_image  x_at, y_at;
        occ_window window;

        pick(&seed, &g, 0);
        g.groups = 1;
        g.ydim[1] = g.xdim[1];
        nx = lay_out(g.xdim, g.xdim[1], g.xstride, round & 1);
        ny = lay_out(g.ydim, g.ydim[1], g.ystride, round & 2);
        x = doubles(&seed, nx);
        y = doubles(&seed, ny);
        sum = calloc((size_t)ny + 1, sizeof *sum);
        count = calloc((size_t)ny + 1, sizeof *count);
        assert_true(sum && count);
        pixels =
            (g.xdim[2] + g.pad[0] + g.end[0]) * (g.xdim[3] + g.pad[1] + g.end[1]) * (g.xdim[4] + g.pad[2] + g.end[2]);
        taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
        for (int64_t n = 0; n < g.xdim[0] * g.xdim[1] * pixels * taps; n++) {
            const occ_extent padded[3] = {g.xdim[2] + g.pad[0] + g.end[0], g.xdim[3] + g.pad[1] + g.end[1],
                                          g.xdim[4] + g.pad[2] + g.end[2]};
            const int64_t    c = n / taps / pixels % g.xdim[1], b = n / taps / pixels / g.xdim[1];
            int64_t          from[3], tap[3], to[3];
            int              inside = 1;

            indices_of(n / taps % pixels, padded, from);
            indices_of(n % taps, g.kernel, tap);
            for (int k = 0; k < 3; k++) {
                from[k] -= g.pad[k];
                inside = inside && from[k] >= 0 && from[k] < g.xdim[2 + k];
            }
            if (meeting(&g, from, tap, 0, to) < 0)
                continue;
            count[at5(g.ystride, b, c, to)] += inside || kind == OCC_POOL_MEAN_PADS;
            if (inside) {
                const double item = x[at5(g.xstride, b, c, from)];

                sum[at5(g.ystride, b, c, to)] += kind == OCC_POOL_LP ? pow(fabs(item), p) : item;
            }
        }
        x_at = image_of(g.xdim, g.xstride, 1);
        y_at = image_of(g.ydim, g.ystride, 1);
        window = window_of(g.kernel, g.stride, g.dilation, g.pad);
        occ_pool_f64(x, &x_at, y, &y_at, &window, g.end, kind, p);
        for (int64_t i = 0; i < ny; i++)
            test_near(y[i], kind == OCC_POOL_LP ? pow(sum[i], 1.0 / p) : sum[i] / count[i], 1.0, 1e-12, "pool", i);
        free(x), free(y), free(sum), free(count);
    }
}

/* A stack of 2 x 3 products whose right matrices are shared along the first axis and turned; rows of zeros are left
 * out. */
static void products_of_doubles(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t   m = test_pick(&seed, 1, 5), n = test_pick(&seed, 1, 5), k = test_pick(&seed, 0, 5);
        const occ_stack y_at = {4, {2, 3, m, n}, {3 * m * n, m * n, n, 1}},
                        a_at = {4, {2, 3, m, k}, {3 * m * k, m * k, k, 1}};
        const occ_stack b_at = {4, {2, 3, k, n}, {0, n * k, 1, k}};
        double         *a = doubles(&seed, 6 * m * k), *b = doubles(&seed, 3 * n * k), *y = doubles(&seed, 6 * m * n),
               want[6 * 25] = {0};

        for (int64_t i = 0; i < 6 * m * k; i++) /* each element of a meets a row of b */
            for (int64_t c = 0; c < n; c++)
                want[i / (m * k) * m * n + i % (m * k) / k * n + c] +=
                    a[i] * b[i / (m * k) % 3 * n * k + c * k + i % k];
        occ_matmul_f64(y, &y_at, a, &a_at, b, &b_at);
        for (int64_t i = 0; i < 6 * m * n; i++)
            test_near(y[i], want[i], 1.0, 1e-14, "product", i);
        free(a), free(b), free(y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions), cmocka_unit_test(transposed_convolutions),
                                       cmocka_unit_test(pools), cmocka_unit_test(products_of_doubles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
