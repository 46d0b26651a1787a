/* cover_depthwise.cu - depthwise convolutions as generated code calls them: compiled only. */
#include "occ_cuda.h"

#include "cover.h"
#include "depthwise_f32.cu"

/* name, channels, width in, out, kernel, stride, pad */
#define DEPTHWISE(name, channels, width, made, k, s, p) \
    extern "C" OCC_KERNEL void step_##name(float *y, const float *x, const float *w, const float *bias, \
                                           const float *r) \
    { \
        static const occ_image  x_at = {{1, channels, 1, width, width}, \
                                        {width * width * channels, 1, 0, width * channels, channels}}; \
        static const occ_image  y_at = {{1, channels, 1, made, made}, \
                                        {made * made * channels, 1, 0, made * channels, channels}}; \
        static const occ_window window = {{1, k, k}, {1, s, s}, {1, 1, 1}, {0, p, p}}; \
        static const occ_fused  fused = {1, {channels}, cover_expression}; \
        const occ_expr          e = {{r}, {0}}; \
        occ_depthwise_f32(x, &x_at, w, bias, y, &y_at, &window, channels, &e, &fused); \
    }

DEPTHWISE(depthwise_3, 96, 112, 112, 3, 1, 1)
DEPTHWISE(depthwise_5, 240, 28, 14, 5, 2, 2)
