/* cover_bytes.cu - convolutions of bytes, and a transpose, as generated code calls them: compiled only. */
#if defined(__CUDACC__)
#pragma nv_diag_suppress 128 /* loops over literal extents of 0, as in generated code */
#endif
#include "occ_cuda.h"

#include "cover.h"
#include "occ_depthwise_q.h"
#include "occ_stack.h"
#include "occ_strip_q.h"
#include "occ_nest.h"

#define TPL_T int8_t
#define TPL_T2 int8_t
#define occ_put_TPL_N2 occ_put_i8
#define occ_conv_q_TPL_N_TPL_N2 occ_conv_q_i8_i8
#define occ_depthwise_q_TPL_N_TPL_N2 occ_depthwise_q_i8_i8
#include "conv_q.cu"
#include "depthwise_q.cu"
#define occ_matmul_integer_TPL_N_TPL_N2 host_matmul_integer
#define occ_conv_integer_TPL_N_TPL_N2 host_conv_integer
#include "integer.c"
#undef occ_matmul_integer_TPL_N_TPL_N2
#undef occ_conv_integer_TPL_N_TPL_N2
#define occ_matmul_integer_TPL_N_TPL_N2 occ_matmul_i8_i8
#define occ_conv_integer_TPL_N_TPL_N2 occ_conv_i8_i8
#include "integer.cu"
#undef TPL_T
#define TPL_T float
#define occ_copy_TPL_N occ_copy_f32
#include "copy.cu"

/* name, inputs, outputs, width in, width out, kernel, stride, pad */
#define CONV(name, in, out, width, made, k, s, p) \
    extern "C" OCC_KERNEL void step_##name(int8_t *y, const int8_t *x, const int8_t *w, const int32_t *bias, \
                                           const float *r) \
    { \
        static const occ_image  x_at = {{1, in, 1, width, width}, {width * width * in, 1, 0, width * in, in}}; \
        static const occ_image  y_at = {{1, out, 1, made, made}, {made * made * out, 1, 0, made * out, out}}; \
        static const occ_q_form form = {{{1, k, k}, {1, s, s}, {1, 1, 1}, {0, p, p}}, 1, 3, -5, 0, 0, 0, 0}; \
        static const occ_fused  fused = {1, {out}, cover_expression}; \
        const occ_expr          e = {{r}, {0}}; \
        occ_conv_q_i8_i8(x, &x_at, w, bias, 0, 0, y, &y_at, 0, &form, &e, &fused); \
    }

CONV(bytes_3x3, 64, 64, 56, 56, 3, 1, 1)
CONV(bytes_1x1, 256, 1000, 14, 14, 1, 1, 0)
CONV(bytes_stem, 3, 32, 224, 112, 3, 2, 1)

extern "C" OCC_KERNEL void step_bytes_depthwise(int8_t *y, const int8_t *x, const int8_t *w, const int32_t *bias)
{
    static const occ_image   at = {{1, 96, 1, 56, 56}, {301056, 1, 0, 5376, 96}};
    static const occ_window  window = {{1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
    static const occ_dq_form form = {3, -5, 96};
    static const occ_fused   fused = {0, {0}, 0};
    occ_depthwise_q_i8_i8(x, &at, w, bias, 0, y, &at, &window, &form, 0, &fused);
}

extern "C" OCC_KERNEL void step_transpose(float *y, const float *x)
{
    static const occ_extent dim[] = {8, 128, 768}, ystride[] = {98304, 768, 1}, xstride[] = {98304, 1, 128};
    occ_copy_f32(y, x, 3, dim, ystride, xstride);
}

extern "C" OCC_KERNEL void step_slice(float *y, const float *x, int64_t rows)
{
    const occ_extent dim[] = {rows, 30}, ystride[] = {30, 1}, xstride[] = {64, 1};
    occ_copy_f32(y, x, 2, dim, ystride, xstride);
}

/* Rows that begin at multiples of 16 bytes, if y and x do, with two elements behind the last of these. */
extern "C" OCC_KERNEL void step_rows(float *y, const float *x, int64_t rows)
{
    const occ_extent dim[] = {rows, 30}, ystride[] = {32, 1}, xstride[] = {64, 1};
    occ_copy_f32(y, x, 2, dim, ystride, xstride);
}

extern "C" OCC_KERNEL void step_aligned_rows(void *y, const void *x)
{
    static const occ_extent dim[] = {128, 60}, ystride[] = {60, 1}, xstride[] = {64, 1};
    occ_copy_f32((float *)occ_aligned(y), (const float *)occ_aligned(x), 2, dim, ystride, xstride);
}

/* Zero points of rows and columns. */
extern "C" OCC_KERNEL void step_bytes_product(int32_t *y, const int8_t *a, const int8_t *b, const int8_t *az,
                                              const int8_t *bz)
{
    static const occ_stack a_at = {2, {128, 768}, {768, 1}}, b_at = {2, {768, 3072}, {3072, 1}},
                           y_at = {2, {128, 3072}, {3072, 1}};
    occ_matmul_i8_i8(y, &y_at, a, &a_at, b, &b_at, az, bz, 1, 1);
}
