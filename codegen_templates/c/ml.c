/* ml.c - scores of linear models, transforms of scores, and the choice of a class. Knows nothing of training. */
#include "occ_text.h"
#include <math.h>

#ifndef TPL_T
#define TPL_T int64_t
#define TPL_N i64
#define occ_same_TPL_N occ_same_i64
#endif

/* linear_scores - y[r][t] = bias[t] + sum over k of x[r][k] * coef[t][k]; bias may be NULL. */
OCC_INLINE void occ_linear_scores(const float *x, const float *coef, const float *bias, float *y, int64_t rows,
                                  int64_t features, int64_t targets)
{
    for (int64_t r = 0; r < rows; r++, x += features)
        for (int64_t t = 0; t < targets; t++) {
            float sum = bias ? bias[t] : 0.0f;
            for (int64_t k = 0; k < features; k++)
                sum += x[k] * coef[t * features + k];
            *y++ = sum;
        }
}

OCC_HOT float occ_logistic(float x)
{
    const float e = 1.0f / (1.0f + expf(-fabsf(x)));
    return x < 0.0f ? 1.0f - e : e;
}

/* The inverse of the normal distribution, by Winitzki's approximation of the inverse error function, as in ONNX
 * Runtime. */
OCC_HOT float occ_probit(float p)
{
    const float x = 2.0f * p - 1.0f, sign = x < 0.0f ? -1.0f : 1.0f, l = logf((1.0f - x) * (1.0f + x));
    const float v = 2.0f / (3.14159f * 0.147f) + 0.5f * l, w = l / 0.147f;
    return 1.41421356f * sign * sqrtf(-v + sqrtf(v * v - w));
}

/* Softmax of n scores in place. zero not 0: scores of 0 stay 0. */
OCC_HOT void occ_score_softmax(float *x, int64_t n, int zero)
{
    float most = x[0], sum = 0.0f;
    for (int64_t i = 1; i < n; i++)
        most = x[i] > most ? x[i] : most;
    for (int64_t i = 0; i < n; i++) {
        if (zero && fabsf(x[i]) <= 1e-7f)
            x[i] *= expf(-most);
        else
            x[i] = expf(x[i] - most);
        sum += x[i];
    }
    for (int64_t i = 0; i < n; i++)
        x[i] /= sum;
}

/* score_transform - turns scores into what the model reports.
 *   x       [rows][n]; y [rows][m]; m is n, or 2 where n is 1: a score for each of two classes
 *   how     0: none, 1: softmax, 2: logistic, 3: softmax that keeps zeros, 4: probit
 *   signed_pair  two classes made from one score s: 0: 1 - s and s; 1: -s and s, before a logistic function */
OCC_INLINE void occ_score_transform(const float *x, float *y, int64_t rows, int64_t n, int64_t m, int64_t how,
                                    int64_t signed_pair)
{
    for (int64_t r = 0; r < rows; r++, x += n, y += m) {
        for (int64_t i = 0; i < n; i++)
            y[m - n + i] = x[i];
        if (m > n && how == 4) {
            y[1] = occ_probit(x[0]);
            y[0] = y[1];
        } else if (m > n && signed_pair) {
            y[0] = how == 2 ? 1.0f - occ_logistic(x[0]) : -x[0];
            y[1] = how == 2 ? occ_logistic(x[0]) : x[0];
        } else if (m > n) {
            y[0] = 1.0f - x[0];
        } else if (how == 1 || how == 3) {
            if (n > 1)
                occ_score_softmax(y, n, how == 3);
        } else {
            for (int64_t i = 0; i < n; i++)
                y[i] = how == 2 ? occ_logistic(y[i]) : how == 4 ? occ_probit(y[i]) : y[i];
        }
    }
}

/* score_label - the class of each row: the one with the greatest score.
 *   x      [rows][n] scores before any transform; seen [rows][n] or NULL: 1 where a score was given at all
 *   label  [labels]
 *   limit  for one score and two labels: the second class is chosen for a score above it */
OCC_INLINE void occ_score_label_TPL_N(const float *x, const uint8_t *seen, const TPL_T *label, TPL_T *y, int64_t rows,
                                      int64_t n, int64_t labels, float limit)
{
    for (int64_t r = 0; r < rows; r++, x += n) {
        int64_t best = 0;
        for (int64_t i = 1; i < n; i++)
            if (seen && seen[r * n + i] && !seen[r * n + best])
                best = i;
            else if ((!seen || seen[r * n + i]) && x[i] > x[best])
                best = i;
        if (n == 1 && labels > 1)
            best = x[0] > limit;
        y[r] = label[best];
    }
}

/* row_normalize - divides each row by its greatest element, its sum of magnitudes, or the root of its sum of squares.
 *   kind  0: greatest, 1: L1, 2: L2; a row whose divisor is 0 stays */
OCC_INLINE void occ_row_normalize(const float *x, float *y, int64_t rows, int64_t n, int64_t kind)
{
    for (int64_t r = 0; r < rows; r++, x += n, y += n) {
        float size = kind == 0 && n ? x[0] : 0.0f;
        for (int64_t i = 0; i < n; i++)
            size = kind == 0 ? (x[i] > size ? x[i] : size) : size + (kind == 1 ? fabsf(x[i]) : x[i] * x[i]);
        if (kind == 2)
            size = sqrtf(size);
        for (int64_t i = 0; i < n; i++)
            y[i] = size != 0.0f ? x[i] / size : x[i];
    }
}

/* category_one_hot - y[i][k] = 1 if x[i] is category k, else 0, for n elements. An unknown category ends the run with
 * OCC_EINDEX unless `zeros`. */
OCC_INLINE int occ_category_one_hot_TPL_N(const TPL_T *x, const TPL_T *category, float *y, int64_t n, int64_t count,
                                          int64_t zeros)
{
    for (int64_t i = 0; i < n; i++, y += count) {
        int found = 0;
        for (int64_t k = 0; k < count; k++) {
            const int same = occ_same_TPL_N(x[i], category[k]);
            y[k] = same ? 1.0f : 0.0f;
            found |= same;
        }
        if (!found && !zeros)
            return OCC_EINDEX;
    }
    return 0;
}
