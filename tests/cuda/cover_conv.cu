/* cover_conv.cu - convolutions as generated code calls them, with literal geometry: compiled only. */
#include "occ_cuda.h"

#include "cover.h"
#include "conv_krsc_f32.cu"
#include "convtranspose_f32.cu"

/* name, batch, inputs, outputs, groups, width in, out, kernel, stride, pad */
#define CONV(name, batch, in, out, groups, width, made, k, s, p) \
    extern "C" OCC_KERNEL_IN_PAIRS void step_##name(float *y, const float *x, const float *w, const float *bias, \
                                           const float *r) \
    { \
        static const occ_image  x_at = {{batch, in, 1, width, width}, {width * width * in, 1, 0, width * in, in}}; \
        static const occ_image  y_at = {{batch, out, 1, made, made}, {made * made * out, 1, 0, made * out, out}}; \
        static const occ_window window = {{1, k, k}, {1, s, s}, {1, 1, 1}, {0, p, p}}; \
        static const occ_fused  fused = {1, {out}, cover_expression}; \
        const occ_expr          e = {{r}, {0}}; \
        occ_conv_krsc_f32(x, &x_at, w, bias, y, &y_at, &window, groups, &e, &fused); \
    }

CONV(stem, 1, 3, 64, 1, 224, 112, 7, 2, 3)
CONV(conv_3x3, 1, 64, 64, 1, 56, 56, 3, 1, 1)
CONV(conv_1x1, 32, 256, 1024, 1, 14, 14, 1, 1, 0)
CONV(conv_big, 8, 128, 128, 1, 56, 56, 3, 1, 1)
CONV(conv_groups, 1, 128, 256, 32, 28, 14, 3, 2, 1)

extern "C" OCC_KERNEL_IN_PAIRS void step_conv_open(float *y, const float *x, const float *w, int64_t width)
{
    const occ_image         x_at = {{1, 16, 1, 1, width}, {0, width, 0, 0, 1}}, y_at = x_at;
    static const occ_window window = {{1, 1, 5}, {1, 1, 1}, {1, 1, 1}, {0, 0, 2}};
    static const occ_fused  fused = {0, {0}, 0};
    occ_conv_krsc_f32(x, &x_at, w, 0, y, &y_at, &window, 1, 0, &fused);
}

/* With a workspace that the kernel has no use for. */
extern "C" OCC_KERNEL_IN_PAIRS void step_conv_work(float *y, const float *x, const float *w, float *work)
{
    const occ_image         x_at = {{1, 64, 1, 14, 14}, {12544, 1, 0, 896, 64}}, y_at = x_at;
    static const occ_window window = {{1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
    static const occ_fused  fused = {0, {0}, 0};
    occ_conv_work_f32(x, &x_at, w, 0, y, &y_at, work, &window, 1, 0, &fused);
}

/* Big or small tiles, as the batch asks. */
extern "C" OCC_KERNEL_IN_PAIRS void step_conv_batch(float *y, const float *x, const float *w, int64_t batch)
{
    const occ_image         x_at = {{batch, 256, 1, 14, 14}, {50176, 1, 0, 3584, 256}}, y_at = x_at;
    static const occ_window window = {{1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
    static const occ_fused  fused = {0, {0}, 0};
    occ_conv_krsc_f32(x, &x_at, w, 0, y, &y_at, &window, 1, 0, &fused);
}

/* Classes of a segmentation, eight times as wide and high: too many phases for a convolution of each. */
extern "C" OCC_KERNEL void step_convtranspose(float *y, const float *x, const float *w, const float *bias)
{
    static const occ_image  x_at = {{1, 21, 1, 70, 70}, {102900, 1, 0, 1470, 21}};
    static const occ_image  y_at = {{1, 21, 1, 568, 568}, {6775104, 322624, 0, 568, 1}};
    static const occ_window window = {{1, 16, 16}, {1, 8, 8}, {1, 1, 1}, {0, 0, 0}};
    occ_convtranspose_f32(x, &x_at, w, bias, y, &y_at, &window, 1);
}
