/* cover_rank.cu - argmax, topk, running sums, scattered slices and caches as generated code calls them: compiled
 * only. */
#include "occ_cuda.h"

#define occ_argmax_TPL_N host_argmax
#define occ_topk_TPL_N host_topk
#include "rank.c"
#undef occ_argmax_TPL_N
#undef occ_topk_TPL_N
#include "rank.cu"
#include "host_series.h"
#include "host_index.h"

#define occ_cache_append_TPL_N host_cache_append
#include "cache.c"
#undef occ_cache_append_TPL_N
#include "cache.cu"

extern "C" OCC_KERNEL void step_argmax_row(int64_t *y, const float *x)
{
    occ_argmax_TPL_N(y, x, 1, 50257, 1, 1, 0);
}

extern "C" OCC_KERNEL void step_argmax_classes(int64_t *y, const float *x)
{
    occ_argmax_TPL_N(y, x, 1, 21, 512 * 512, 1, 1);
}

extern "C" OCC_KERNEL void step_topk(float *value, int64_t *place, const float *x, int *status)
{
    if (*status)
        return;
    occ_fail(status, occ_topk_TPL_N(value, place, x, 1, 8400, 1, 300, 1));
}

extern "C" OCC_KERNEL void step_topk_short(float *value, int64_t *place, const float *x, int64_t k, int *status)
{
    if (*status)
        return;
    occ_fail(status, occ_topk_TPL_N(value, place, x, 1024, 8, 1, k, 0));
}

extern "C" OCC_KERNEL void step_cumsum(float *y, const float *x)
{
    occ_cumsum_TPL_N(y, x, 4, 100000, 1, 0, 1);
}

extern "C" OCC_KERNEL void step_cumprod(float *y, const float *x, int64_t n)
{
    occ_cumprod_TPL_N(y, x, 4, n, 64, 1, 0);
}

extern "C" OCC_KERNEL void step_scatter(float *y, const int64_t *index, const float *update, int *status)
{
    static const occ_extent dim[] = {1, 12, 1024};
    if (*status)
        return;
    occ_fail(status, occ_scatter_nd_TPL_N(y, index, update, 12, 3, dim, 64, OCC_SCATTER_SET));
}

extern "C" OCC_KERNEL void step_cache(float *y, const float *past, const float *now, const int64_t *length, int *status)
{
    static const occ_extent nstride[] = {4096, 128, 4096};
    if (*status)
        return;
    occ_fail(status, occ_cache_append_TPL_N(y, past, now, length, 1, 32, 2048, 2048, 2047, 1, 128, nstride));
}
