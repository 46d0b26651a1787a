/* cover_mma.cu - convolutions, products and attention on tensor cores as generated code calls them: compiled only. The
 * names of kernels that end in _tf32 and _fp16 tell check_cuda.py which products of matrices they must hold (sm_80). */
#include "occ_cuda.h"

#include "cover_attention.h"
#include "attention_mma.cu"
#include "conv_krsc_mma.cu"
#include "matmul_mma.cu"

/* name, kind of factors, batch, inputs, outputs, width, kernel */
#define CONV(name, kind, batch, in, out, width, k) \
    extern "C" OCC_KERNEL_IN_PAIRS void step_##name##_##kind(float *y, const float *x, const float *w, \
                                                             const float *bias, const float *r) \
    { \
        static const occ_image  x_at = {{batch, in, 1, width, width}, {width * width * in, 1, 0, width * in, in}}; \
        static const occ_image  y_at = {{batch, out, 1, width, width}, {width * width * out, 1, 0, width * out, out}}; \
        static const occ_window window = {{1, k, k}, {1, 1, 1}, {1, 1, 1}, {0, k / 2, k / 2}}; \
        static const occ_fused  fused = {1, {out}, cover_expression}; \
        const occ_expr          e = {{r}, {0}}; \
        occ_conv_krsc_##kind(x, &x_at, w, bias, y, &y_at, &window, 1, &e, &fused); \
    }

/* A batch that is known while running only; q times the transposed keys of an attention; rows likewise. */
#define COVER(kind) \
    CONV(stem, kind, 1, 3, 64, 112, 7) \
    CONV(conv_3x3, kind, 1, 64, 64, 56, 3) \
    CONV(conv_big, kind, 8, 128, 128, 56, 3) \
    extern "C" OCC_KERNEL_IN_PAIRS void step_conv_batch_##kind(float *y, const float *x, const float *w, \
                                                               int64_t batch) \
    { \
        const occ_image         x_at = {{batch, 256, 1, 14, 14}, {50176, 1, 0, 3584, 256}}, y_at = x_at; \
        static const occ_window window = {{1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}}; \
        static const occ_fused  fused = {0, {0}, 0}; \
        occ_conv_krsc_##kind(x, &x_at, w, 0, y, &y_at, &window, 1, 0, &fused); \
    } \
    extern "C" OCC_KERNEL void step_dots_##kind(float *y, const float *a, const float *b, const float *bias) \
    { \
        static const occ_stack       a_at = {3, {12, 128, 64}, {8192, 64, 1}}; \
        static const occ_stack       b_at = {3, {12, 64, 128}, {8192, 1, 64}}; \
        static const occ_stack       y_at = {3, {12, 128, 128}, {16384, 128, 1}}; \
        static const occ_extent      pitch[] = {0, 0}; \
        static const occ_stack_fused fused = {1, pitch, cover_expression}; \
        const occ_expr               e = {{bias}, {0}}; \
        occ_matmul_##kind(y, &y_at, a, &a_at, b, &b_at, &e, &fused); \
    } \
    extern "C" OCC_KERNEL void step_open_##kind(float *y, const float *a, const float *b, int64_t rows) \
    { \
        const occ_stack              a_at = {2, {rows, 768}, {768, 1}}, y_at = {2, {rows, 3072}, {3072, 1}}; \
        static const occ_stack       b_at = {2, {768, 3072}, {3072, 1}}; \
        static const occ_stack_fused fused = {0, 0, 0}; \
        occ_matmul_##kind(y, &y_at, a, &a_at, b, &b_at, 0, &fused); \
    }

COVER(tf32)
COVER(fp16)
ATTENTION(tf32)
ATTENTION(fp16)
