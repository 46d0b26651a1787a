/* test_region.c - regions of images against sums over all pixels, each weighted by how near a sample lies to it, and
 * against cells whose borders are fractions of whole numbers. */
#include "kernel_test.h"

#include "region_f64.h"

enum { ROUNDS = 300, SIDE = 9, CHANNELS = 2, BATCH = 2, CELLS = 4 };

static double inside(double place, int64_t n)
{
    return place < 0.0 ? 0.0 : place > (double)(n - 1) ? (double)(n - 1) : place;
}

/* How much of a pixel a sample takes: a tent one pixel wide on either side. */
static double tent(double distance)
{
    return fabs(distance) < 1.0 ? 1.0 - fabs(distance) : 0.0;
}

/* The image at a place: 0 beyond a pixel outside of it, constant within that pixel. With `largest`, the greatest
 * weighted pixel instead of the sum, of the four around it. */
static double sample(const double *x, int64_t height, int64_t width, double v, double u, int largest)
{
    double sum = 0.0, most = -HUGE_VAL;

    if (v < -1.0 || v > (double)height || u < -1.0 || u > (double)width)
        return 0.0;
    v = inside(v, height);
    u = inside(u, width);
    for (int64_t i = 0; i < height; i++)
        for (int64_t j = 0; j < width; j++) {
            const double weight = tent(v - (double)i) * tent(u - (double)j), term = weight * x[i * width + j];

            sum += term;
            if (weight > 0.0)
                most = term > most ? term : most;
        }
    if (largest && (floor(v) == v || floor(u) == u)) /* its other neighbours have no weight, and count */
        most = most > 0.0 ? most : 0.0;
    return largest ? most : sum;
}

static void regions_brought_to_one_size(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t height = test_pick(&seed, 1, SIDE), width = test_pick(&seed, 1, SIDE),
                      rows = test_pick(&seed, 1, CELLS);
        const int64_t columns = test_pick(&seed, 1, CELLS), samples = test_pick(&seed, 0, 3),
                      image = test_pick(&seed, 0, 1);
        const int     half = round & 1, largest = round & 2;
        const double  scale = round % 5 ? 1.0 : 0.5;
        double        x[BATCH * CHANNELS * SIDE * SIDE], roi[4], y[CHANNELS * CELLS * CELLS], high, wide;
        const occ_roi form = {BATCH, CHANNELS, height, width, 1, rows, columns, samples, largest, half, scale};

        for (int64_t i = 0; i < BATCH * CHANNELS * height * width; i++)
            x[i] = (double)test_float(&seed);
        for (int k = 0; k < 4; k++)
            roi[k] = (double)test_pick(&seed, -20, 100) / 7.0;
        wide = (roi[2] - roi[0]) * scale;
        high = (roi[3] - roi[1]) * scale;
        wide = half ? wide : fmax(wide, 1.0);
        high = half ? high : fmax(high, 1.0);
        assert_int_equal(occ_roi_align_f64(y, x, roi, &image, &form), 0);
        for (int64_t n = 0; n < CHANNELS * rows * columns; n++) {
            const double *from = x + (image * CHANNELS + n / (rows * columns)) * height * width;
            const double  cell[2] = {high / (double)rows, wide / (double)columns};
            const int64_t down = samples ? samples : (int64_t)ceil(cell[0]),
                          across = samples ? samples : (int64_t)ceil(cell[1]);
            double sum = 0.0, most = -HUGE_VAL;

            for (int64_t s = 0; s < down * across && down > 0 && across > 0; s++) {
                const double v = roi[1] * scale - 0.5 * half +
                                 cell[0] * ((double)(n / columns % rows) + ((double)(s / across) + 0.5) / (double)down);
                const double u = roi[0] * scale - 0.5 * half +
                                 cell[1] * ((double)(n % columns) + ((double)(s % across) + 0.5) / (double)across);
                const double one = sample(from, height, width, v, u, largest);

                sum += one;
                most = one > most ? one : most;
            }
            if (largest)
                test_near(y[n], isinf(most) ? 0.0 : most, 1.0, 1e-9, "largest", n);
            else
                test_near(y[n], down > 0 && across > 0 ? sum / (double)(down * across) : 0.0, 1.0, 1e-9, "mean", n);
        }
    }
}

/* Cell i of `cells` over pixels first .. first + size - 1 has those from floor(i size / cells) to ceil((i + 1) size /
 * cells). */
static int in_cell(int64_t pixel, int64_t first, int64_t size, int64_t cells, int64_t i)
{
    return (pixel - first) >= i * size / cells && (pixel - first) * cells < (i + 1) * size;
}

static void largest_pixels_of_cells(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t height = test_pick(&seed, 1, SIDE), width = test_pick(&seed, 1, SIDE);
        const int64_t rows = INT64_C(1) << test_pick(&seed, 0, 2),
                      columns = INT64_C(1) << test_pick(&seed, 0, 2); /* exact in binary */
        const int64_t corner[4] = {test_pick(&seed, -2, 10), test_pick(&seed, -2, 10), test_pick(&seed, -2, 12),
                                   test_pick(&seed, -2, 12)};
        const double  roi[5] = {(double)(round % BATCH), 2.0 * (double)corner[0], 2.0 * (double)corner[1],
                                2.0 * (double)corner[2], 2.0 * (double)corner[3]};
        const int64_t wide = corner[2] < corner[0] ? 1 : corner[2] - corner[0] + 1,
                      high = corner[3] < corner[1] ? 1 : corner[3] - corner[1] + 1;
        double x[BATCH * CHANNELS * SIDE * SIDE], y[CHANNELS * CELLS * CELLS];

        for (int64_t i = 0; i < BATCH * CHANNELS * height * width; i++)
            x[i] = (double)test_float(&seed);
        assert_int_equal(occ_max_roi_pool_f64(y, x, roi, BATCH, CHANNELS, height, width, 1, rows, columns, 0.5), 0);
        for (int64_t n = 0; n < CHANNELS * rows * columns; n++) {
            const double *from = x + (round % BATCH * CHANNELS + n / (rows * columns)) * height * width;
            double        most = -HUGE_VAL;

            for (int64_t p = 0; p < height * width; p++)
                if (in_cell(p / width, corner[1], high, rows, n / columns % rows) &&
                    in_cell(p % width, corner[0], wide, columns, n % columns))
                    most = from[p] > most ? from[p] : most;
            test_near(y[n], isinf(most) ? 0.0 : most, 1.0, 0.0, "cell", n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions_brought_to_one_size),
                                       cmocka_unit_test(largest_pixels_of_cells)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
