/* convtranspose_f32.cu - transposed convolution whose weights are panels: each thread computes every so many of the
 * results, those of neighbouring threads are neighbouring outputs of a pixel. A sum has the order of the C kernel: taps
 * in rising order, of each tap the inputs in rising order. */
#include "occ_image.h"

/* One result: its place along the three axes, the inputs of its group, and the outputs of its block of weights. */
typedef struct occ_turned_at {
    int64_t at[3], inputs, lanes;
} occ_turned_at;

/* The element of an axis of the input that tap k reads for the result at `at`; -1: none. */
OCC_HOT int64_t occ_turned_input(int64_t at, int64_t k, int axis, const occ_image *x_at, const occ_window *window)
{
    const int64_t reach = at + window->pad[axis] - k * window->dilation[axis], i = reach / window->stride[axis];

    return reach >= 0 && i * window->stride[axis] == reach && i < x_at->dim[2 + axis] ? i : -1;
}

/* sum + the products of one tap. x: of the pixel and the group; w: of the tap and the output */
OCC_HOT float occ_turned_tap(float sum, const float *x, int64_t x_step, const float *w, int64_t w_step, int64_t inputs)
{
    for (int64_t c = 0; c < inputs; c++)
        sum = occ_fma(x[c * x_step], w[c * w_step], sum);
    return sum;
}

/* sum + the products of all taps that reach the result. x: of the image and the group; w: of the output */
OCC_HOT float occ_turned_taps(float sum, const float *x, const occ_image *x_at, const float *w,
                              const occ_window *window, const occ_turned_at *r)
{
    const occ_extent *kernel = window->kernel;

    for (int64_t a = 0; a < kernel[0]; a++) {
        const int64_t depth = occ_turned_input(r->at[0], a, 0, x_at, window);

        for (int64_t b = 0; depth >= 0 && b < kernel[1]; b++) {
            const int64_t row = occ_turned_input(r->at[1], b, 1, x_at, window);

            for (int64_t c = 0; row >= 0 && c < kernel[2]; c++) {
                const int64_t column = occ_turned_input(r->at[2], c, 2, x_at, window);
                const int64_t tap = (a * kernel[1] + b) * kernel[2] + c;

                if (column >= 0)
                    sum = occ_turned_tap(sum, x + occ_image_place(x_at, 0, 0, depth, row, column), x_at->stride[1],
                                         w + tap * r->inputs * r->lanes, r->lanes, r->inputs);
            }
        }
    }
    return sum;
}

/* convtranspose - y[.., o] = bias + sum over taps k and inputs of x[.., i] * w, with o = i * stride + k * dilation -
 * pad.
 *   w  [group][block of 32 outputs][tap][input][32]; the last block of a group is as wide as its outputs */
OCC_INLINE void occ_convtranspose_f32(const float *x, const occ_image *x_at, const float *w, const float *bias,
                                      float *y, const occ_image *y_at, const occ_window *window, int64_t groups)
{
    const int64_t     channels = y_at->dim[1], inputs = x_at->dim[1] / groups, outputs = channels / groups;
    const occ_extent *dim = y_at->dim;
    const int64_t     plane = dim[3] * dim[4], pixels = dim[0] * dim[2] * plane;

    for (int64_t u = occ_unit(); u < pixels * channels; u += occ_units()) {
        const int64_t       channel = u % channels, n = u / channels, image = n / plane / dim[2];
        const int64_t       output = channel % outputs, block = output / 32 * 32;
        const occ_turned_at r = {
            {n / plane % dim[2], n / dim[4] % dim[3], n % dim[4]}, inputs, occ_min(32, outputs - block)};
        const float *from = x + occ_image_place(x_at, image, channel / outputs * inputs, 0, 0, 0);
        const float *weights = w + (channel - output + block) * occ_window_size(window) * inputs + output % 32;

        y[occ_image_place(y_at, image, channel, r.at[0], r.at[1], r.at[2])] =
            occ_turned_taps(bias ? bias[channel] : 0.0f, from, x_at, weights, window, &r);
    }
}
