/* test_pool.c - windows over images, channels or pixels being neighbours, against plain loops in double precision. */
#include "image.h"
#include "kernel_test.h"

#include "pool_planes_f32.c"

enum { AXES = 5 };

typedef struct Case {
    occ_extent xdim[AXES], xstride[AXES], ydim[AXES], ystride[AXES], kernel[3], stride[3], dilation[3], pad[3],
        pad_end[3];
} Case;

static void lay_out(occ_extent *stride, const occ_extent *dim, int channels_last, int64_t gap)
{
    int64_t next = channels_last ? dim[1] + gap : 1;

    for (int i = 4; i > 1; i--) {
        stride[i] = next;
        next *= dim[i];
        next += i == 4 ? gap : 0;
    }
    stride[1] = channels_last ? 1 : next;
    stride[0] = channels_last ? next : next * dim[1];
}

static Case draw(uint64_t *seed, int channels_last)
{
    Case c = {.xdim = {test_pick(seed, 1, 2), test_pick(seed, 1, 20)}};

    for (int k = 0; k < 3; k++) {
        const int64_t largest = k == 0 ? 2 : k == 1 ? 4 : 9;
        int64_t       reach;

        c.kernel[k] = test_pick(seed, 1, largest);
        c.stride[k] = test_pick(seed, 1, k == 2 ? 4 : 2);
        c.dilation[k] = test_pick(seed, 1, 2);
        reach = (c.kernel[k] - 1) * c.dilation[k] + 1;
        c.pad[k] = test_pick(seed, 0, c.kernel[k] - 1);
        c.xdim[2 + k] = reach + test_pick(seed, 0, k == 0 ? 1 : k == 1 ? 4 : 120);
        c.pad_end[k] = test_pick(seed, 0, c.kernel[k] - 1);
        c.ydim[2 + k] = (c.xdim[2 + k] + c.pad[k] + c.pad_end[k] - reach) / c.stride[k] + 1;
    }
    c.ydim[0] = c.xdim[0];
    c.ydim[1] = c.xdim[1];
    lay_out(c.xstride, c.xdim, channels_last, test_pick(seed, 0, 2));
    lay_out(c.ystride, c.ydim, channels_last, test_pick(seed, 0, 2));
    return c;
}

/* One result. */
static double expected(const Case *c, const float *x, const int64_t *at, int64_t kind, double p)
{
    double  most = (double)-INFINITY, sum = 0.0;
    int64_t inside = 0, padded = 0, taps = c->kernel[0] * c->kernel[1] * c->kernel[2];

    for (int64_t t = 0; t < taps; t++) {
        const int64_t tap[3] = {t / (c->kernel[1] * c->kernel[2]), t / c->kernel[2] % c->kernel[1], t % c->kernel[2]};
        int64_t       from[AXES] = {at[0], at[1]};
        int           in = 1, in_pads = 1;

        for (int k = 0; k < 3; k++) {
            from[2 + k] = at[2 + k] * c->stride[k] - c->pad[k] + tap[k] * c->dilation[k];
            in &= from[2 + k] >= 0 && from[2 + k] < c->xdim[2 + k];
            in_pads &= from[2 + k] < c->xdim[2 + k] + c->pad_end[k];
        }
        padded += in_pads;
        if (!in)
            continue;
        inside++;
        sum += kind == OCC_POOL_LP ? pow(fabs((double)x[place_of(c->xstride, from)]), p)
                                   : (double)x[place_of(c->xstride, from)];
        if (!((double)x[place_of(c->xstride, from)] <= most) && !isnan(most))
            most = (double)x[place_of(c->xstride, from)];
    }
    return kind == OCC_POOL_MAX  ? most
           : kind == OCC_POOL_LP ? pow(sum, 1.0 / p)
                                 : sum / (double)(kind == OCC_POOL_MEAN ? inside : padded);
}

static void check(uint64_t *seed, int planes, int64_t kind, float p)
{
    const Case       c = draw(seed, !planes);
    const int64_t    xs = c.xstride[0] * c.xdim[0], ys = c.ystride[0] * c.ydim[0], all = occ_count(AXES, c.ydim);
    float           *x = test_random_floats(seed, xs), *y = test_floats(ys);
    const occ_image  x_at = image_of(c.xdim, c.xstride, 1), y_at = image_of(c.ydim, c.ystride, 1);
    const occ_window window = window_of(c.kernel, c.stride, c.dilation, c.pad);

    if (kind == OCC_POOL_MAX && test_pick(seed, 0, 1))
        x[test_pick(seed, 0, xs - 1)] = (float)NAN;
    if (planes)
        occ_pool_planes_f32(x, &x_at, y, &y_at, &window, c.pad_end, kind, p);
    else
        occ_pool_f32(x, &x_at, y, &y_at, &window, c.pad_end, kind, p);
    for (int64_t i = 0; i < all; i++) {
        int64_t at[AXES], rest = i;

        for (int a = AXES; a-- > 0; rest /= c.ydim[a])
            at[a] = rest % c.ydim[a];
        test_near((double)y[place_of(c.ystride, at)], expected(&c, x, at, kind, (double)p), 1.0, 1e-5,
                  planes ? "planes" : "pool", i);
    }
    test_release(x, xs);
    test_release(y, ys);
}

static void check_all(int planes)
{
    uint64_t seed = 21;

    for (int i = 0; i < 60; i++) {
        check(&seed, planes, OCC_POOL_MAX, 0.0f);
        check(&seed, planes, OCC_POOL_MEAN, 0.0f);
        check(&seed, planes, OCC_POOL_MEAN_PADS, 0.0f);
        check(&seed, planes, OCC_POOL_LP, (float)(1 + i % 3));
    }
}

static void channels_are_neighbours(void **state)
{
    (void)state;
    check_all(0);
}

static void pixels_are_neighbours(void **state)
{
    (void)state;
    check_all(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(channels_are_neighbours),
                                       cmocka_unit_test(pixels_are_neighbours)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
