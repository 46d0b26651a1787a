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

/* How far, {from, to}. */
typedef struct occ_probe_span {
    occ_extent from, to[2];
} occ_probe_span;

/* A comment that names {braces}, and commas. */
typedef struct occ_probe_form {
    occ_probe_span span;
    int64_t count; /* of elements, all of them */
    float scale;
    occ_fn_probe fn;
} occ_probe_form;

/* Where y and x lie. */
typedef struct occ_probe_place {
    occ_extent dim[2], stride[2];
} occ_probe_place;

/* y = fn(x) * scale, places of y and x apart, from form->span.from on. */
OCC_PROBE_INLINE void occ_probe_struct(const float *x, const occ_probe_place *x_at, float *y, const occ_probe_place *y_at,
                                       const occ_probe_form *form, const occ_expr *e, int64_t last)
{
    for (int64_t i = form->span.from; i < form->count; i++)
        y[i / y_at->dim[1] * y_at->stride[0] + i % y_at->dim[1] * y_at->stride[1]] =
            form->fn(e, x[i / x_at->dim[1] * x_at->stride[0] + i % x_at->dim[1] * x_at->stride[1]], i) * form->scale +
            (float)(form->span.to[0] + 10 * form->span.to[1] + 100 * last);
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
