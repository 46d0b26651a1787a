/* cover_softmax.cu - reductions as generated code calls them: compiled only. */
#include "occ_cuda.h"

#include "softmax_f32.cu"

/* Global average pooling of 7 x 7 pixels, and a log-sum-exp of a long row. */
extern "C" OCC_KERNEL void step_mean(float *y, const float *x)
{
    static const occ_extent kdim[] = {32, 2048}, ky[] = {2048, 1}, kx[] = {100352, 1}, rdim[] = {49}, rs[] = {2048};
    occ_reduce_f32(y, x, OCC_REDUCE_MEAN, 2, kdim, ky, kx, 1, rdim, rs);
}

extern "C" OCC_KERNEL void step_logsumexp(float *y, const float *x)
{
    static const occ_extent kdim[] = {12}, ky[] = {1}, kx[] = {4000}, rdim[] = {4, 1000}, rs[] = {1000, 1};
    occ_reduce_f32(y, x, OCC_REDUCE_LOGSUMEXP, 1, kdim, ky, kx, 2, rdim, rs);
}

extern "C" OCC_KERNEL void step_softmax(float *y, const float *x)
{
    static const occ_extent kdim[] = {12, 128}, k[] = {16384, 128};
    occ_softmax_f32(y, x, OCC_SOFTMAX, 128, 1, 1, 2, kdim, k, k);
}

extern "C" OCC_KERNEL void step_log_softmax(float *y, const float *x)
{
    static const occ_extent kdim[] = {1}, k[] = {1000};
    occ_softmax_f32(y, x, OCC_SOFTMAX_LOG, 1000, 1, 1, 1, kdim, k, k);
}

extern "C" OCC_KERNEL void step_hardmax(float *y, const float *x)
{
    static const occ_extent kdim[] = {50}, k[] = {1};
    occ_softmax_f32(y, x, OCC_SOFTMAX_HARD, 10, 50, 50, 1, kdim, k, k);
}

extern "C" OCC_KERNEL void step_moments(float *mean, float *inverse, const float *x)
{
    static const occ_extent kdim[] = {384}, ky[] = {1}, kx[] = {768}, rdim[] = {768}, rs[] = {1};
    occ_moments_f32(mean, inverse, x, 1, 1e-12f, 1, kdim, ky, kx, 1, rdim, rs);
}
