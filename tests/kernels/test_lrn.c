/* test_lrn.c - normalisation by neighbours, the channels being neighbours in memory, lying apart, or both with gaps,
 * against plain loops in double precision. */
#include "kernel_test.h"

#include "lrn_f32.c"

typedef struct Case {
    int64_t    axis, sx, sy, before, behind;
    occ_extent kdim[2], kx[2], ky[2];
    float      bias, beta;
} Case;

static double want_at(const Case *c, const float *x, int64_t at, double factor)
{
    double sum = 0.0;

    for (int64_t k = at - c->before; k <= at + c->behind; k++)
        if (k >= 0 && k < c->axis)
            sum += (double)x[k * c->sx] * (double)x[k * c->sx];
    return (double)x[at * c->sx] / pow((double)c->bias + factor * sum, (double)c->beta);
}

static void check(uint64_t *seed, const Case *c)
{
    const int64_t nx = (c->axis - 1) * c->sx + (c->kdim[0] - 1) * c->kx[0] + (c->kdim[1] - 1) * c->kx[1] + 1;
    const int64_t ny = (c->axis - 1) * c->sy + (c->kdim[0] - 1) * c->ky[0] + (c->kdim[1] - 1) * c->ky[1] + 1;
    float        *x = test_random_floats(seed, nx), *y = test_floats(ny);

    occ_lrn_f32(y, x, &(occ_lrn_axis){c->axis, c->sx, c->sy, c->before, c->behind, 0.7f, c->bias, c->beta}, 2, c->kdim,
                c->ky, c->kx);
    for (int64_t a = 0; a < c->kdim[0]; a++)
        for (int64_t b = 0; b < c->kdim[1]; b++)
            for (int64_t k = 0; k < c->axis; k++) {
                const double want = want_at(c, x + a * c->kx[0] + b * c->kx[1], k, (double)0.7f);
                const double got = (double)y[a * c->ky[0] + b * c->ky[1] + k * c->sy];

                if (!(fabs(got - want) <= 4e-6 * fabs(want)))
                    fail_msg("element %d of %d is %.9g, not %.9g", (int)k, (int)c->axis, got, want);
            }
    test_release(x, nx);
    test_release(y, ny);
}

static void neighbours_count(void **state)
{
    static const float beta[] = {0.75f, 0.5f, 1.0f, 0.6f};
    uint64_t           seed = 3;

    (void)state;
    for (int i = 0; i < 300; i++) {
        Case          c = {.axis = test_pick(&seed, 1, i % 10 ? 40 : 600),
                           .kdim = {test_pick(&seed, 1, 3), test_pick(&seed, 1, i % 7 ? 30 : 300)}};
        const int64_t gap = test_pick(&seed, 0, 3);

        c.before = test_pick(&seed, 0, i % 20 ? 4 : OCC_LRN_REACH + 3);
        c.behind = c.before + test_pick(&seed, 0, 1);
        c.bias = 1.0f + (float)test_pick(&seed, 0, 3);
        c.beta = beta[test_pick(&seed, 0, 3)];
        c.sx = c.sy = i % 2 ? 1 : c.kdim[1] + gap;
        c.kx[1] = c.ky[1] = i % 2 ? c.axis + gap : 1;
        if (i % 5 == 0) /* one of them turned */
            c.sx = c.kdim[1] + gap, c.kx[1] = 1, c.sy = 1, c.ky[1] = c.axis;
        c.kx[0] = (c.axis - 1) * c.sx + (c.kdim[1] - 1) * c.kx[1] + 1;
        c.ky[0] = (c.axis - 1) * c.sy + (c.kdim[1] - 1) * c.ky[1] + 1;
        check(&seed, &c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours_count)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
