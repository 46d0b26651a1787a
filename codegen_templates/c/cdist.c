/* cdist.c - distances between all rows of two matrices. */
#include "occ_base.h"

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#endif

/* cdist - y[i][j] = the sum of squared differences of rows a[i] and b[j]. a [n][k], b [m][k], y [n][m] */
OCC_INLINE void occ_cdist_TPL_N(const TPL_T *a, const TPL_T *b, TPL_T *y, int64_t n, int64_t m, int64_t k)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            TPL_T sum = 0;
            for (int64_t c = 0; c < k; c++) {
                const TPL_T d = a[i * k + c] - b[j * k + c];
                sum += d * d;
            }
            y[i * m + j] = sum;
        }
}
