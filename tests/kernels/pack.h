/* pack.h - weights in the order in which the kernels read them, written for the tests alone. */
#include "kernel_test.h"

enum { PACK_PANEL = 32 };

/* Elements past the weights that a kernel may read: of any value, NaN here. */
static UNUSED int64_t pack_margin(int64_t channels)
{
    return (4 - channels % 4) % 4;
}

/* One matrix of `depth` rows, whose element (k, n) is w[k * kstride + n * nstride], as panels. Returns the end. */
static float *pack_panels(float *to, const float *w, int64_t depth, int64_t channels, int64_t kstride, int64_t nstride)
{
    for (int64_t first = 0; first < channels; first += PACK_PANEL) {
        int64_t rest = channels - first, width = rest < PACK_PANEL ? rest : PACK_PANEL;

        for (int64_t k = 0; k < depth; k++, to += width)
            for (int64_t n = 0; n < width; n++)
                to[n] = w[k * kstride + (first + n) * nstride];
    }
    return to;
}

static UNUSED int64_t pack_conv_size(int64_t groups, int64_t outputs, int64_t inputs, int64_t taps)
{
    return groups * taps * inputs * outputs + pack_margin(outputs);
}

/* `group` is one group's weights, (output, input, tap) at the given strides. */
static UNUSED float *pack_group(float *to, const float *group, int64_t outputs, int64_t inputs, int64_t taps,
                                int64_t output_stride, int64_t input_stride)
{
    for (int64_t first = 0; first < outputs; first += PACK_PANEL) {
        int64_t rest = outputs - first < PACK_PANEL ? outputs - first : PACK_PANEL;

        for (int64_t tap = 0; tap < taps; tap++)
            to = pack_panels(to, group + first * output_stride + tap, inputs, rest, input_stride, output_stride);
    }
    return to;
}

static UNUSED void pack_conv(float *to, const float *w, int64_t groups, int64_t outputs, int64_t inputs, int64_t taps)
{
    for (int64_t g = 0; g < groups; g++)
        to = pack_group(to, w + g * outputs * inputs * taps, outputs, inputs, taps, inputs * taps, taps);
}

static UNUSED void pack_convtranspose(float *to, const float *w, int64_t groups, int64_t outputs, int64_t inputs,
                                      int64_t taps)
{
    for (int64_t g = 0; g < groups; g++)
        to = pack_group(to, w + g * outputs * inputs * taps, outputs, inputs, taps, taps, outputs * taps);
}

static UNUSED int64_t pack_gemm_size(int64_t k, int64_t n)
{
    return k * n + pack_margin(n);
}

static UNUSED void pack_gemm(float *to, const float *b, int64_t k, int64_t n, int64_t kstride, int64_t nstride)
{
    pack_panels(to, b, k, n, kstride, nstride);
}

static UNUSED void pack_depthwise(float *to, const float *w, int64_t channels, int64_t taps)
{
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t c = 0; c < channels; c++)
            *to++ = w[c * taps + tap];
}
