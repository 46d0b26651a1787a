/* probe.c - a generic kernel and one that may fail. */
#include "probe_base.h"
#include <math.h>

#ifndef TPL_T
#define TPL_T float
#define TPL_N f32
#define occ_probe_copy_TPL_N occ_probe_copy_f32
#endif

/* y[i] = x[i], n elements. */
OCC_PROBE_INLINE void occ_probe_copy_TPL_N(const TPL_T *x, TPL_T *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
}

/* Every kind of parameter. */
OCC_PROBE_INLINE int occ_probe_all(const char *const *names, const float *x, float *y, int rank, const occ_extent *dim,
                                   float alpha, const double *table_scale, const occ_expr *e, occ_fn_probe fn)
{
    if (!names[0] || rank > OCC_PROBE_LIMIT)
        return OCC_PROBE_BAD;
    for (int64_t i = 0; i < dim[0]; i++)
        y[i] = fn(e, sqrtf(x[i]) * alpha * (float)table_scale[i], occ_probe_twice(i));
    return OCC_PROBE_OK;
}
