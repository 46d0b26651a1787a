/* test_softmax.c - softmax, its logarithm and hardmax along rows, across rows side by side and between, against double
 * precision. */
#include "kernel_test.h"

#include "softmax_f32.c"

/* Axis, strides and two kept axes of one case; the last kept axis lies next to itself or far apart. */
typedef struct Case {
    int64_t    axis, sx, sy, kind;
    occ_extent kdim[2], kx[2], ky[2];
} Case;

static Case draw(uint64_t *seed, int side_by_side)
{
    Case          c = {.axis = test_pick(seed, 1, test_pick(seed, 0, 2) ? 80 : 5),
                       .kind = test_pick(seed, 0, 2),
                       .kdim = {test_pick(seed, 1, 3), test_pick(seed, 1, 40)}};
    const int64_t gap = test_pick(seed, 0, 3);

    c.sx = side_by_side ? c.kdim[1] + gap : 1;
    c.kx[1] = side_by_side ? 1 : c.axis + gap;
    c.sy = c.sx;
    c.ky[1] = c.kx[1];
    if (gap == 3) { /* results lie the other way */
        c.sy = side_by_side ? 1 : c.kdim[1];
        c.ky[1] = side_by_side ? c.axis : 1;
    }
    c.kx[0] = (c.axis - 1) * c.sx + (c.kdim[1] - 1) * c.kx[1] + 1;
    c.ky[0] = (c.axis - 1) * c.sy + (c.kdim[1] - 1) * c.ky[1] + 1;
    return c;
}

static void check_row(const Case *c, const float *y, const float *x)
{
    double  sum = 0.0, top = (double)x[0];
    int64_t first = 0;

    for (int64_t i = 1; i < c->axis; i++)
        if ((double)x[i * c->sx] > top) {
            top = (double)x[i * c->sx];
            first = i;
        }
    for (int64_t i = 0; i < c->axis; i++)
        sum += exp((double)x[i * c->sx] - top);
    for (int64_t i = 0; i < c->axis; i++) {
        const double shifted = (double)x[i * c->sx] - top, got = (double)y[i * c->sy];
        const double want = c->kind == OCC_SOFTMAX       ? exp(shifted) / sum
                            : c->kind == OCC_SOFTMAX_LOG ? shifted - log(sum)
                                                         : i == first;

        if (!(fabs(got - want) <= 2e-6 * (fabs(want) + (c->kind == OCC_SOFTMAX_LOG))))
            fail_msg("element %d of %d is %.9g, not %.9g", (int)i, (int)c->axis, got, want);
    }
}

/* A row's neighbours take part in the same vectors, but each result may lie on its own operand. */
static void short_rows_are_weighed_in_place(void **state)
{
    uint64_t seed = 10;

    (void)state;
    for (int64_t axis = 1; axis <= 6; axis++)
        for (int kind = OCC_SOFTMAX; kind <= OCC_SOFTMAX_LOG; kind++) {
            const Case c = {axis, 1, 1, kind, {1, 45}, {45 * axis, axis}, {45 * axis, axis}};
            float     *x = test_random_floats(&seed, c.kx[0]), *y = test_floats(c.kx[0]);

            memcpy(y, x, (size_t)c.kx[0] * sizeof *x);
            occ_softmax_f32(y, y, kind, axis, 1, 1, 2, c.kdim, c.ky, c.kx);
            for (int64_t b = 0; b < c.kdim[1]; b++)
                check_row(&c, y + b * axis, x + b * axis);
            test_release(x, c.kx[0]);
            test_release(y, c.kx[0]);
        }
}

/* The elements of a few rows alternate: a vector holds some of each. */
static void alternating_rows_share_vectors(void **state)
{
    uint64_t seed = 11;

    (void)state;
    for (int64_t rows = 1; rows <= 8; rows *= 2)
        for (int64_t axis = 1; axis <= 70; axis += 3) {
            const Case c = {axis, rows, rows, OCC_SOFTMAX, {1, rows}, {rows * axis, 1}, {rows * axis, 1}};
            float     *x = test_random_floats(&seed, c.kx[0]), *y = test_floats(c.kx[0]);

            memcpy(y, x, (size_t)c.kx[0] * sizeof *x);
            occ_softmax_f32(y, y, OCC_SOFTMAX, axis, rows, rows, 2, c.kdim, c.ky, c.kx);
            for (int64_t b = 0; b < rows; b++)
                check_row(&c, y + b, x + b);
            test_release(x, c.kx[0]);
            test_release(y, c.kx[0]);
        }
}

static void rows_are_weights(void **state)
{
    uint64_t seed = 9;

    (void)state;
    for (int i = 0; i < 600; i++) {
        const Case    c = draw(&seed, i % 2);
        const int64_t nx = c.kdim[0] * c.kx[0], ny = c.kdim[0] * c.ky[0];
        float        *x = test_random_floats(&seed, nx), *y = test_floats(ny);

        occ_softmax_f32(y, x, c.kind, c.axis, c.sx, c.sy, 2, c.kdim, c.ky, c.kx);
        for (int64_t a = 0; a < c.kdim[0]; a++)
            for (int64_t b = 0; b < c.kdim[1]; b++)
                check_row(&c, y + a * c.ky[0] + b * c.ky[1], x + a * c.kx[0] + b * c.kx[1]);
        test_release(x, nx);
        test_release(y, ny);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_weights),
                                       cmocka_unit_test(short_rows_are_weighed_in_place),
                                       cmocka_unit_test(alternating_rows_share_vectors)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
