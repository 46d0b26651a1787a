/* det.c - determinants of square matrices. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* det - y[b] = the determinant of x[b], by Gaussian elimination with the largest pivot of each column, in double.
 *   x [batch][n][n], y [batch], work [n][n] */
OCC_INLINE void occ_det_TPL_N(TPL_T *y, const TPL_T *x, double *work, int64_t batch, int64_t n)
{
    for (int64_t b = 0; b < batch; b++, x += n * n) {
        double product = 1.0;

        for (int64_t i = 0; i < n * n; i++)
            work[i] = (double)x[i];
        for (int64_t k = 0; k < n; k++) {
            int64_t pivot = k;

            for (int64_t i = k + 1; i < n; i++)
                if ((work[i * n + k] < 0.0 ? -work[i * n + k] : work[i * n + k]) >
                    (work[pivot * n + k] < 0.0 ? -work[pivot * n + k] : work[pivot * n + k]))
                    pivot = i;
            for (int64_t j = k; j < n && pivot != k; j++) {
                const double swap = work[k * n + j];

                work[k * n + j] = work[pivot * n + j];
                work[pivot * n + j] = swap;
            }
            product *= pivot != k ? -work[k * n + k] : work[k * n + k];
            for (int64_t i = k + 1; i < n && work[k * n + k] != 0.0; i++) {
                const double factor = work[i * n + k] / work[k * n + k];

                for (int64_t j = k; j < n; j++)
                    work[i * n + j] -= factor * work[k * n + j];
            }
        }
        y[b] = (TPL_T)product;
    }
}
