/* label.c - tables from keys to values, of any element type. Knows nothing of what the labels mean. */
#include "occ_text.h"

#ifndef TPL_T
#define TPL_T int64_t
#define TPL_T2 int64_t
#define TPL_N i64
#define occ_same_TPL_N occ_same_i64
#endif

/* label_encode - y[i] = value[k] where key[k] equals x[i], else value[nkey]; n elements.
 *   key [nkey], value [nkey + 1]; the last value is the default */
OCC_INLINE void occ_label_encode_TPL_N_TPL_N2(const TPL_T *x, const TPL_T *key, const TPL_T2 *value, TPL_T2 *y,
                                              int64_t n, int64_t nkey)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        while (k < nkey && !occ_same_TPL_N(x[i], key[k]))
            k++;
        y[i] = value[k];
    }
}
