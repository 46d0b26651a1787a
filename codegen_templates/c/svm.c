/* svm.c - support vector machines: one number for each row, or votes between every two classes. Knows nothing of
 * training. */
#include "occ_base.h"
#include <math.h>

/* The kernel function of two vectors of n features. kind 0: their product; 1: a power of it; 2: a Gaussian of their
 * distance; 3: the tanh of their product. */
OCC_HOT float occ_svm_kernel(const float *x, const float *v, int64_t n, int64_t kind, float gamma, float offset,
                             float degree)
{
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++)
        sum += kind == 2 ? (x[i] - v[i]) * (x[i] - v[i]) : x[i] * v[i];
    switch (kind) {
    case 0:
        return sum;
    case 1:
        return powf(gamma * sum + offset, degree);
    case 2:
        return expf(-gamma * sum);
    default:
        return tanhf(gamma * sum + offset);
    }
}

/* The sizes of a regression: rows of n features, support vectors, and the parameters of the kernel function. */
typedef struct occ_svm_line {
    int64_t rows, n, vectors, kind;
    float   gamma, offset, degree, rho;
    int64_t sign;
} occ_svm_line;

/* svm_regress - y[r] = rho + sum over k of coef[k] * kernel(x[r], vector[k]).
 *   x [rows][n], vector [vectors][n], coef [vectors]
 *   sign  not 0: y[r] is 1 where that is positive, else -1 */
OCC_INLINE void occ_svm_regress(const float *x, const float *vector, const float *coef, float *y,
                                const occ_svm_line *form)
{
    const int64_t rows = form->rows, n = form->n, vectors = form->vectors, kind = form->kind;
    const float   gamma = form->gamma, offset = form->offset, degree = form->degree, rho = form->rho;
    const int64_t sign = form->sign;
    for (int64_t r = 0; r < rows; r++, x += n) {
        float sum = 0.0f;
        for (int64_t k = 0; k < vectors; k++)
            sum += coef[k] * occ_svm_kernel(x, vector + k * n, n, kind, gamma, offset, degree);
        sum += rho;
        y[r] = !sign ? sum : sum > 0.0f ? 1.0f : -1.0f;
    }
}

/* The sizes of a classification. first [classes + 1]: the first support vector of each class, and their number. */
typedef struct occ_svm_classes {
    int64_t           rows, n, classes;
    const occ_extent *first;
    int64_t           kind;
    float             gamma, offset, degree;
} occ_svm_classes;

/* svm_pairs - for each row, the score between every two classes, and the class that wins most often (the first of
 * such).
 *   x [rows][n], vector [first[classes]][n]: the vectors of class c are first[c] .. first[c + 1] - 1
 *   coef [classes - 1][vectors], rho [pairs], y [rows][pairs] in the order 01 02 .. 12 ..; best [rows]
 *   alike: scratch [vectors]; votes: scratch [classes] */
OCC_INLINE void occ_svm_pairs(const float *x, const float *vector, const float *coef, const float *rho, float *y,
                              int64_t *best, float *alike, int64_t *votes, const occ_svm_classes *form)
{
    const int64_t     rows = form->rows, n = form->n, classes = form->classes;
    const occ_extent *first = form->first;
    const int64_t     kind = form->kind;
    const float       gamma = form->gamma, offset = form->offset, degree = form->degree;
    const int64_t     vectors = first[classes];
    for (int64_t r = 0; r < rows; r++, x += n) {
        int64_t pair = 0;
        for (int64_t k = 0; k < vectors; k++)
            alike[k] = occ_svm_kernel(x, vector + k * n, n, kind, gamma, offset, degree);
        for (int64_t c = 0; c < classes; c++)
            votes[c] = 0;
        for (int64_t a = 0; a < classes; a++)
            for (int64_t b = a + 1; b < classes; b++, pair++) {
                double sum = 0.0;
                for (int64_t k = first[a]; k < first[a + 1]; k++)
                    sum += (double)(coef[(b - 1) * vectors + k] * alike[k]);
                for (int64_t k = first[b]; k < first[b + 1]; k++)
                    sum += (double)(coef[a * vectors + k] * alike[k]);
                sum += (double)rho[pair];
                *y++ = (float)sum;
                votes[sum > 0.0 ? a : b]++;
            }
        best[r] = 0;
        for (int64_t c = 1; c < classes; c++)
            best[r] = votes[c] > votes[best[r]] ? c : best[r];
    }
}

/* svm_best - the class with the greatest score. Of two classes it is the second one as soon as a score is above the
 * limit, as in ONNX Runtime. x [rows][classes] */
OCC_INLINE void occ_svm_best(const float *x, int64_t *best, int64_t rows, int64_t classes, float limit)
{
    for (int64_t r = 0; r < rows; r++, x += classes) {
        best[r] = 0;
        for (int64_t c = 1; c < classes; c++)
            best[r] = x[c] > x[best[r]] ? c : best[r];
        if (classes == 2 && x[best[r]] > limit)
            best[r] = 1;
    }
}

/* svm_couple - probabilities of the classes from the probabilities between every two classes: the minimum of a
 * quadratic form, found by improving one probability after the other (Wu, Lin, Weng: Probability estimates for
 * multi-class classification by pairwise coupling, JMLR 5, 2004, section 4).
 *   x [rows][pairs] scores; a, b [pairs]: 1 / (1 + exp(a x + b)) is the probability of the pair's first class
 *   y [rows][classes]; q: scratch [classes][classes + 1] */
OCC_INLINE void occ_svm_couple(const float *x, const float *a, const float *b, float *y, double *q, int64_t rows,
                               int64_t classes)
{
    double *product = q + classes * classes;
    for (int64_t r = 0; r < rows; r++, y += classes) {
        for (int64_t i = 0; i < classes * classes; i++)
            q[i] = 0.0;
        for (int64_t i = 0, pair = 0; i < classes; i++)
            for (int64_t j = i + 1; j < classes; j++, pair++, x++) {
                double share = 1.0 / (1.0 + exp((double)(a[pair] * *x + b[pair])));
                share = share < 1e-7 ? 1e-7 : share > 1.0 - 1e-7 ? 1.0 - 1e-7 : share;
                q[i * classes + i] += (1.0 - share) * (1.0 - share);
                q[j * classes + j] += share * share;
                q[i * classes + j] = q[j * classes + i] = -share * (1.0 - share);
            }
        for (int64_t i = 0; i < classes; i++)
            y[i] = 1.0f / (float)classes;
        for (int64_t turn = 0; turn < 100; turn++) {
            double total = 0.0, worst = 0.0;
            for (int64_t i = 0; i < classes; i++) {
                product[i] = 0.0;
                for (int64_t j = 0; j < classes; j++)
                    product[i] += q[i * classes + j] * (double)y[j];
                total += product[i] * (double)y[i];
            }
            for (int64_t i = 0; i < classes; i++)
                worst = fabs(product[i] - total) > worst ? fabs(product[i] - total) : worst;
            if (worst < 0.005 / (double)classes)
                break;
            for (int64_t i = 0; i < classes; i++) {
                const double step = (total - product[i]) / q[i * classes + i];
                y[i] = (float)((double)y[i] + step);
                total = (total + step * (step * q[i * classes + i] + 2.0 * product[i])) / (1.0 + step) / (1.0 + step);
                for (int64_t j = 0; j < classes; j++) {
                    product[j] = (product[j] + step * q[i * classes + j]) / (1.0 + step);
                    y[j] = (float)((double)y[j] / (1.0 + step));
                }
            }
        }
    }
}
