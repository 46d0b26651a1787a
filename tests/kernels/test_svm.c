/* test_svm.c - support vector machines against sums in double precision that are ordered by vector instead of by pair
 * of classes, and coupled probabilities against the exact minimum, from a system of linear equations. */
#include "kernel_test.h"

#include "svm.c"

enum { ROUNDS = 200, FEATURES = 6, CLASSES = 5, VECTORS = 20, ROWS = 4 };

static double alike(const float *x, const float *v, int64_t n, int64_t kind, double gamma, double offset, double degree)
{
    double product = 0.0, distance = 0.0;

    for (int64_t i = n; i-- > 0;) {
        product += (double)x[i] * (double)v[i];
        distance += ((double)x[i] - (double)v[i]) * ((double)x[i] - (double)v[i]);
    }
    return kind == 0   ? product
           : kind == 1 ? pow(gamma * product + offset, degree)
           : kind == 2 ? exp(-gamma * distance)
                       : tanh(gamma * product + offset);
}

static void fill(uint64_t *seed, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = test_float(seed);
}

static void one_number_for_each_row(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t kind = round % 4, n = test_pick(&seed, 1, FEATURES), vectors = test_pick(&seed, 1, VECTORS);
        const float   gamma = 0.25f, offset = 8.0f, degree = 3.0f,
                    rho = test_float(&seed); /* a power of positive numbers */
        float x[ROWS * FEATURES], v[VECTORS * FEATURES], coef[VECTORS], y[ROWS], sign[ROWS];

        fill(&seed, x, ROWS * FEATURES);
        fill(&seed, v, VECTORS * FEATURES);
        fill(&seed, coef, VECTORS);
        occ_svm_regress(x, v, coef, y, &(occ_svm_line){ROWS, n, vectors, kind, gamma, offset, degree, rho, 0});
        occ_svm_regress(x, v, coef, sign, &(occ_svm_line){ROWS, n, vectors, kind, gamma, offset, degree, rho, 1});
        for (int64_t r = 0; r < ROWS; r++) {
            double want = (double)rho, scale = 1.0;

            for (int64_t k = vectors; k-- > 0;) {
                const double term = (double)coef[k] * alike(x + r * n, v + k * n, n, kind, 0.25, 8.0, 3.0);

                want += term;
                scale += fabs(term);
            }
            test_near((double)y[r], want, scale, 1e-5, "regression", r);
            if (fabs(want) > 1e-4 * scale)
                assert_true(sign[r] == (want > 0.0 ? 1.0f : -1.0f));
        }
    }
}

/* The number of the pair of classes a < b among 01 02 .. 12 .. */
static int64_t pair_of(int64_t a, int64_t b, int64_t classes)
{
    return a * classes - a * (a + 1) / 2 + b - a - 1;
}

static void every_two_classes_vote(void **state)
{
    uint64_t seed = 2;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t classes = test_pick(&seed, 2, CLASSES), n = test_pick(&seed, 1, FEATURES), kind = round % 4;
        const int64_t pairs = classes * (classes - 1) / 2;
        occ_extent    first[CLASSES + 1] = {0};
        float x[ROWS * FEATURES], v[VECTORS * FEATURES], coef[CLASSES * VECTORS], rho[10], y[ROWS * 10], near[VECTORS];
        int64_t best[ROWS], votes[CLASSES];

        for (int64_t c = 0; c < classes; c++)
            first[c + 1] = first[c] + test_pick(&seed, 0, 4);
        fill(&seed, x, ROWS * FEATURES);
        fill(&seed, v, VECTORS * FEATURES);
        fill(&seed, coef, CLASSES * VECTORS);
        fill(&seed, rho, 10);
        occ_svm_pairs(x, v, coef, rho, y, best, near, votes,
                      &(occ_svm_classes){ROWS, n, classes, first, kind, 0.25f, 8.0f, 3.0f});
        for (int64_t r = 0; r < ROWS; r++) {
            double want[10], scale = 1.0;
            int    won[CLASSES] = {0}, most = 0;

            for (int64_t p = 0; p < pairs; p++)
                want[p] = (double)rho[p];
            for (int64_t c = 0; c < classes; c++)
                for (int64_t k = first[c]; k < first[c + 1]; k++)
                    for (int64_t d = 0; d < classes; d++) { /* what vector k of class c says of c and d */
                        const double term = (double)coef[(d > c ? d - 1 : d) * first[classes] + k] *
                                            alike(x + r * n, v + k * n, n, kind, 0.25, 8.0, 3.0);

                        if (d != c)
                            want[d > c ? pair_of(c, d, classes) : pair_of(d, c, classes)] += term;
                        scale += fabs(term);
                    }
            for (int64_t p = 0; p < pairs; p++)
                test_near((double)y[r * pairs + p], want[p], scale, 1e-5, "pair", p);
            for (int64_t a = 0; a < classes; a++)
                for (int64_t b = a + 1; b < classes; b++)
                    won[y[r * pairs + pair_of(a, b, classes)] > 0.0f ? a : b]++;
            for (int c = 1; c < classes; c++)
                most = won[c] > won[most] ? c : most;
            assert_int_equal(best[r], most);
        }
    }
}

static void the_greatest_score_wins(void **state)
{
    static const float three[] = {0.1f, 0.9f, 0.9f, -1.0f, -2.0f, -3.0f},
                       two[] = {0.7f, 0.2f, -0.5f, -0.6f, 0.1f, 0.4f};
    int64_t best[3];

    (void)state;
    occ_svm_best(three, best, 2, 3, 0.0f);
    assert_true(best[0] == 1 && best[1] == 0);
    occ_svm_best(two, best, 3, 2, 0.0f);
    assert_true(best[0] == 1 && best[1] == 0 && best[2] == 1);
    occ_svm_best(two, best, 3, 2, 0.5f);
    assert_true(best[0] == 1 && best[1] == 0 && best[2] == 1);
}

/* Solves m z = right, [n][n] by elimination with the largest pivot; the answer replaces `right`. */
static void solve(double m[CLASSES + 1][CLASSES + 1], double *right, int n)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;

        for (int r = c; r < n; r++)
            pivot = fabs(m[r][c]) > fabs(m[pivot][c]) ? r : pivot;
        for (int k = 0; k < n; k++) {
            const double other = m[c][k];
            m[c][k] = m[pivot][k];
            m[pivot][k] = other;
        }
        const double other = right[c];
        right[c] = right[pivot];
        right[pivot] = other;
        for (int r = 0; r < n; r++) {
            const double factor = r == c ? 0.0 : m[r][c] / m[c][c];

            for (int k = 0; k < n; k++)
                m[r][k] -= factor * m[c][k];
            right[r] -= factor * right[c];
        }
    }
    for (int c = 0; c < n; c++)
        right[c] /= m[c][c];
}

/* The minimum of p' Q p under sum p = 1: Q p = t, whose multiplier t is one more unknown. */
static void coupled_probabilities_are_the_minimum(void **state)
{
    uint64_t seed = 3;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t classes = test_pick(&seed, 2, CLASSES), pairs = classes * (classes - 1) / 2;
        const int     n = (int)classes;
        float         x[10], a[10], b[10], y[CLASSES];
        double scratch[CLASSES * (CLASSES + 1)], m[CLASSES + 1][CLASSES + 1] = {{0.0}}, want[CLASSES + 1] = {0.0},
                                                                          sum = 0.0;

        fill(&seed, x, 10);
        fill(&seed, b, 10);
        for (int64_t p = 0, i = 0, j = 1; p < pairs; p++) {
            double share;

            a[p] = -1.5f;
            share = 1.0 / (1.0 + exp((double)a[p] * (double)x[p] + (double)b[p]));
            m[i][i] += (1.0 - share) * (1.0 - share);
            m[j][j] += share * share;
            m[i][j] = m[j][i] = -share * (1.0 - share);
            j = j + 1 < classes ? j + 1 : ++i + 1;
        }
        for (int c = 0; c < n; c++)
            m[c][n] = m[n][c] = 1.0;
        want[n] = 1.0;
        solve(m, want, n + 1);
        occ_svm_couple(x, a, b, y, scratch, 1, classes);
        for (int c = 0; c < n; c++) {
            test_near((double)y[c], want[c], 1.0, 0.02, "probability",
                      c); /* the kernel stops at a gradient of 0.005 / n */
            sum += (double)y[c];
        }
        test_near(sum, 1.0, 1.0, 1e-5, "sum", round);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_number_for_each_row), cmocka_unit_test(every_two_classes_vote),
        cmocka_unit_test(the_greatest_score_wins), cmocka_unit_test(coupled_probabilities_are_the_minimum)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
