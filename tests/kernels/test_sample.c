/* test_sample.c - images between their pixels and windows put back, against plain loops; indices that name nothing
 * stop. */
#include "kernel_test.h"

#include "region_f32.h"
#include "sample_f32.h"
#include "unfold_f32.h"

/* A grid whose points are the pixels themselves gives the image, whatever the mode and padding. */
static void pixels_themselves(void **state)
{
    static const occ_extent dim[] = {4, 5};
    uint64_t                seed = 1;
    float                   grid[20 * 2], y[2 * 20], *x = test_random_floats(&seed, 2 * 20);

    (void)state;
    for (int i = 0; i < 20; i++) {
        grid[2 * i] = 2.0f * (float)(i % 5) / 4.0f - 1.0f;
        grid[2 * i + 1] = 2.0f * (float)(i / 5) / 3.0f - 1.0f;
    }
    for (int mode = 0; mode < 3; mode++)
        for (int padding = 0; padding < 3; padding++) {
            occ_grid_sample_f32(y, x, grid, 1, 2, 20, 2, dim, mode, padding, 1);
            for (int i = 0; i < 40; i++)
                test_near((double)y[i], (double)x[i], 1.0, 1e-5, "pixel", i);
        }
    test_release(x, 40);
}

/* Linear between the pixels of one to three axes, zeros around them: every pixel's share by its distance. */
static double plain_linear(const float *x, const float *grid, int64_t axes, const occ_extent *dim)
{
    double sum = 0.0;

    for (int64_t n = 0; n < occ_count(axes, dim); n++) {
        double  share = 1.0;
        int64_t rest = n;

        for (int64_t a = axes; a-- > 0; rest /= dim[a]) {
            const double place = (((double)grid[axes - 1 - a] + 1.0) * (double)dim[a] - 1.0) / 2.0,
                         far = fabs(place - (double)(rest % dim[a]));

            share *= far < 1.0 ? 1.0 - far : 0.0;
        }
        sum += share * (double)x[n];
    }
    return sum;
}

static void between_pixels(void **state)
{
    uint64_t seed = 5;

    (void)state;
    for (int t = 0; t < 300; t++) {
        const int64_t axes = test_pick(&seed, 1, 3), points = test_pick(&seed, 1, 40),
                      channels = test_pick(&seed, 1, 3);
        const occ_extent dim[] = {test_pick(&seed, 1, 6), test_pick(&seed, 1, 6), test_pick(&seed, 1, 6)};
        const int64_t    size = occ_count(axes, dim);
        float *x = test_random_floats(&seed, 2 * channels * size), *grid = test_random_floats(&seed, 2 * points * axes);
        float *y = test_floats(2 * channels * points);

        occ_grid_sample_f32(y, x, grid, 2, channels, points, axes, dim, OCC_SAMPLE_LINEAR, OCC_SAMPLE_ZEROS, 0);
        for (int64_t i = 0; i < 2 * channels * points; i++) {
            const int64_t image = i / points, p = image / channels * points + i % points;

            test_near((double)y[i], plain_linear(x + image * size, grid + p * axes, axes, dim), 2.0, 2e-6, "point", i);
        }
        test_release(x, 2 * channels * size), test_release(grid, 2 * points * axes),
            test_release(y, 2 * channels * points);
    }
}

/* Points far outside, infinite or no number never read outside the image. */
static void points_nowhere(void **state)
{
    static const occ_extent dim[] = {2, 2};
    static const float      grid[] = {1e30f, -1e30f, NAN, 0.0f, INFINITY, INFINITY, -3.0f, 1e9f};
    uint64_t                seed = 2;
    float                   y[4], *x = test_random_floats(&seed, 4);

    (void)state;
    for (int mode = 0; mode < 3; mode++)
        for (int padding = 0; padding < 3; padding++)
            for (int corners = 0; corners < 2; corners++) {
                occ_grid_sample_f32(y, x, grid, 1, 1, 4, 2, dim, mode, padding, corners);
                assert_true(padding != OCC_SAMPLE_ZEROS || mode == OCC_SAMPLE_CUBIC || y[0] == 0.0f);
            }
    test_release(x, 4);
}

/* Every element of every block is added where the block lies: random geometry against one element at a time. */
static void blocks_put_back(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < 200; round++) {
        occ_extent image[2], block[2], stride[2], dilation[2], pad[2], end[2], places[2];
        float     *x, *y, want[15 * 15] = {0};
        int64_t    count, taps;

        for (int a = 0; a < 2; a++) {
            block[a] = test_pick(&seed, 1, 3);
            stride[a] = test_pick(&seed, 1, 3);
            dilation[a] = test_pick(&seed, 1, 2);
            image[a] = test_pick(&seed, dilation[a] * (block[a] - 1) + 1, 15);
            pad[a] = test_pick(&seed, 0, 2);
            end[a] = test_pick(&seed, 0, 2);
            places[a] = (image[a] + pad[a] + end[a] - dilation[a] * (block[a] - 1) - 1) / stride[a] + 1;
        }
        count = places[0] * places[1];
        taps = block[0] * block[1];
        x = test_random_floats(&seed, taps * count);
        y = test_floats(image[0] * image[1]);
        assert_int_equal(occ_col2im_f32(y, x, 1, count + 1, 2, image, block, stride, dilation, pad, end), OCC_ESHAPE);
        assert_int_equal(occ_col2im_f32(y, x, 1, count, 2, image, block, stride, dilation, pad, end), 0);
        for (int64_t n = 0; n < taps * count; n++) {
            const int64_t t = n / count, p = n % count;
            const int64_t i = p / places[1] * stride[0] + t / block[1] * dilation[0] - pad[0];
            const int64_t j = p % places[1] * stride[1] + t % block[1] * dilation[1] - pad[1];

            if (i >= 0 && i < image[0] && j >= 0 && j < image[1])
                want[i * image[1] + j] += x[n];
        }
        for (int64_t i = 0; i < image[0] * image[1]; i++)
            test_near((double)y[i], (double)want[i], 1.0, 1e-5, "sum", i);
        test_release(x, taps * count);
        test_release(y, image[0] * image[1]);
    }
}

static void indices_that_name_nothing(void **state)
{
    static const occ_extent dim[] = {1, 1, 3, 3}, from[] = {1, 1, 2, 2};
    static const float      x[4] = {1, 2, 3, 4}, roi[] = {0, 0, 1, 1}, pooled[] = {1, 0, 0, 1, 1},
                       endless[] = {0, 0, INFINITY, 1};
    static const occ_roi one = {1, 1, 2, 2, 1, 1, 1, 1, 0, 0, 1.0};
    static const int64_t good[] = {3, 0, 1, 2}, bad[] = {0, 1, 4, 2}, image = 1, first = 0;
    float                y[9];

    (void)state;
    assert_int_equal(occ_max_unpool_f32(y, x, good, 4, 4, dim, from), 0);
    assert_true(y[0] == 2.0f && y[1] == 3.0f && y[2] == 0.0f && y[3] == 4.0f && y[4] == 1.0f);
    assert_int_equal(occ_max_unpool_f32(y, x, bad, 4, 4, dim, from), OCC_EINDEX);
    assert_int_equal(occ_roi_align_f32(y, x, roi, &image, &one), OCC_EINDEX);
    assert_int_equal(occ_roi_align_f32(y, x, endless, &first, &one), OCC_EINDEX);
    assert_int_equal(occ_max_roi_pool_f32(y, x, pooled, 1, 1, 2, 2, 1, 1, 1, 1.0), OCC_EINDEX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pixels_themselves), cmocka_unit_test(between_pixels),
                                       cmocka_unit_test(points_nowhere), cmocka_unit_test(blocks_put_back),
                                       cmocka_unit_test(indices_that_name_nothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
