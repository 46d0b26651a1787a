/* test_reduce.c - reductions of random tensors over random axes, in either order of memory, against double
 * precision. */
#include "kernel_test.h"

#include "reduce_f32.c"

enum { AXES = 4 };

typedef struct Nest {
    int64_t    kept, reduced; /* axes of each */
    occ_extent kdim[AXES], kystride[AXES], kxstride[AXES], rdim[AXES], rstride[AXES];
    int64_t    nx, ny;
} Nest;

/* One or two axes of each sort; the reduced ones lie inside or outside the others in x. */
static Nest random_nest(uint64_t *seed)
{
    static const int64_t last[] = {1, 5, 16, 31, 64, 130, 1025, 2100};
    Nest                 nest = {.kept = test_pick(seed, 1, 2), .reduced = test_pick(seed, 0, 2), .nx = 1, .ny = 1};
    const int            inside = test_pick(seed, 0, 2) == 0;

    for (int64_t i = nest.reduced; inside && i-- > 0; nest.nx *= nest.rdim[i]) {
        nest.rdim[i] = test_pick(seed, 1, 40);
        nest.rstride[i] = nest.nx;
    }
    for (int64_t i = nest.kept; i-- > 0;) {
        nest.kdim[i] = i == nest.kept - 1 ? last[test_pick(seed, 0, inside ? 3 : 7)] : test_pick(seed, 1, 3);
        nest.kxstride[i] = nest.nx;
        nest.kystride[i] = nest.ny;
        nest.nx *= nest.kdim[i];
        nest.ny *= nest.kdim[i] + (i == nest.kept - 1);
    }
    for (int64_t i = nest.reduced; !inside && i-- > 0; nest.nx *= nest.rdim[i]) {
        nest.rdim[i] = test_pick(seed, 1, 9);
        nest.rstride[i] = nest.nx;
    }
    return nest;
}

static double plain_join(double sum, double term, int64_t kind)
{
    switch (kind) {
    case OCC_REDUCE_MAX:
        return fmax(sum, term);
    case OCC_REDUCE_MIN:
        return fmin(sum, term);
    case OCC_REDUCE_PROD:
        return sum * term;
    case OCC_REDUCE_L1:
        return sum + fabs(term);
    case OCC_REDUCE_L2:
    case OCC_REDUCE_SUMSQUARE:
        return sum + term * term;
    case OCC_REDUCE_LOGSUMEXP:
        return sum + exp(term);
    default:
        return sum + term;
    }
}

/* Of the terms from x on. */
static double plain_reduce(const Nest *nest, const float *x, int64_t kind)
{
    double  sum = kind == OCC_REDUCE_PROD  ? 1.0
                  : kind == OCC_REDUCE_MAX ? (double)-INFINITY
                  : kind == OCC_REDUCE_MIN ? (double)INFINITY
                                           : 0.0;
    int64_t count = occ_count(nest->reduced, nest->rdim);

    for (int64_t k = 0; k < count; k++) {
        int64_t at = 0, rest = k;

        for (int64_t i = nest->reduced; i-- > 0; rest /= nest->rdim[i])
            at += rest % nest->rdim[i] * nest->rstride[i];
        sum = plain_join(sum, (double)x[at], kind);
    }
    if (kind == OCC_REDUCE_MEAN)
        return sum / (double)count;
    return kind == OCC_REDUCE_L2                                       ? sqrt(sum)
           : kind == OCC_REDUCE_LOGSUM || kind == OCC_REDUCE_LOGSUMEXP ? log(sum)
                                                                       : sum;
}

static void check_nest(const Nest *nest, uint64_t *seed)
{
    const int64_t count = occ_count(nest->reduced, nest->rdim), inner = nest->kdim[nest->kept - 1];
    float        *x = test_random_floats(seed, nest->nx), *y = test_floats(nest->ny);

    for (int64_t i = 0; i < nest->nx; i++)
        x[i] = x[i] == 0.0f ? 1.0f : fabsf(x[i]); /* logarithms, and products that stay away from zero */
    for (int64_t kind = OCC_REDUCE_SUM; kind <= OCC_REDUCE_LOGSUMEXP; kind++) {
        for (int64_t i = 0; i < nest->ny; i++)
            y[i] = -77.0f;
        occ_reduce_f32(y, x, kind, nest->kept, nest->kdim, nest->kystride, nest->kxstride, nest->reduced, nest->rdim,
                       nest->rstride);
        for (int64_t i = 0; i < occ_count(nest->kept, nest->kdim); i++) {
            int64_t row = i / inner;
            double  want = plain_reduce(
                 nest, x + i % inner * nest->kxstride[nest->kept - 1] + row * nest->kxstride[0] * (nest->kept > 1),
                 kind);

            test_near((double)y[i % inner + row * (inner + 1)], want, 1e-30, 1e-6 * (double)(8 + count), "result", i);
        }
        for (int64_t i = inner; i < nest->ny; i += inner + 1)
            assert_true(y[i] == -77.0f); /* the gap behind each line of results */
    }
    test_release(x, nest->nx);
    test_release(y, nest->ny);
}

static void random_nests(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (int t = 0; t < 300; t++) {
        Nest nest = random_nest(&seed);

        check_nest(&nest, &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_nests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
