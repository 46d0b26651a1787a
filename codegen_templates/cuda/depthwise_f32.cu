/* depthwise_f32.cu - convolution of each channel by itself. A thread makes OCC_DEPTH_PIXELS neighbours of a row of one
 * channel in registers; neighbouring threads have neighbouring channels. Taps come in rising order, those outside the
 * image are left out, so the bits are those of the C kernel. Knows nothing of ONNX's padding modes. */
#include "occ_fused.h"
#include "occ_image.h"

#define OCC_DEPTH_PIXELS 4

/* Pixels of one row of results: which image, plane and row, and the first column. */
typedef struct occ_depth_place {
    int64_t image, depth, row, column;
} occ_depth_place;

/* sum += one row of taps: x is the row of the image, w its first weight; channels: elements from tap to tap. */
OCC_HOT void occ_depth_taps(float *sum, const float *x, const occ_image *x_at, const float *w, const occ_window *window,
                            int64_t column, int64_t channels)
{
    for (int64_t n = 0; n < window->kernel[2]; n++) {
        const float weight = w[n * channels];
        OCC_UNROLLED
        for (int j = 0; j < OCC_DEPTH_PIXELS; j++) {
            const int64_t c = (column + j) * window->stride[2] - window->pad[2] + n * window->dilation[2];
            if (c >= 0 && c < x_at->dim[4])
                sum[j] = occ_fma(x[c * x_at->stride[4]], weight, sum[j]);
        }
    }
}

/* sum += all taps; x is the channel in its image, w its first weight. */
OCC_HOT void occ_depth_sums(float *sum, const float *x, const occ_image *x_at, const float *w, const occ_window *window,
                            const occ_depth_place *at, int64_t channels)
{
    for (int64_t i = 0; i < window->kernel[0]; i++) {
        const int64_t d = at->depth * window->stride[0] - window->pad[0] + i * window->dilation[0];
        for (int64_t k = 0; d >= 0 && d < x_at->dim[2] && k < window->kernel[1]; k++) {
            const int64_t h = at->row * window->stride[1] - window->pad[1] + k * window->dilation[1];
            if (h >= 0 && h < x_at->dim[3])
                occ_depth_taps(sum, x + d * x_at->stride[2] + h * x_at->stride[3], x_at,
                               w + (i * window->kernel[1] + k) * window->kernel[2] * channels, window, at->column,
                               channels);
        }
    }
}

/* Applies the expression to the results of channel c that lie in the row, and stores them. */
OCC_HOT void occ_depth_store(const float *sum, float *y, const occ_image *y_at, const occ_depth_place *at, int64_t c,
                             const occ_expr *e, const occ_fused *fused)
{
    const int64_t first = ((at->image * y_at->dim[2] + at->depth) * y_at->dim[3] + at->row) * y_at->dim[4] + at->column;
    float        *to = y + occ_image_place(y_at, at->image, c, at->depth, at->row, at->column);
    OCC_UNROLLED
    for (int j = 0; j < OCC_DEPTH_PIXELS; j++) {
        const occ_expr pixel = occ_fused_at(e, fused, first + j);
        if (at->column + j < y_at->dim[4])
            to[j * y_at->stride[4]] = occ_apply_vf(&pixel, sum[j], c, 1, fused->fn);
    }
}

/* depthwise - y = expression(bias + sum over taps of x * w), padded with zeros.
 *   x, y  [batch][channels][depth][height][width] by strides
 *   w     [tap][channels], of which the first ones are those of x and y;  bias  that of y, or NULL
 *   the other arguments are those of conv_f32 */
OCC_INLINE void occ_depthwise_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t channels, const occ_expr *e,
                                  const occ_fused *fused)
{
    const int64_t groups = (y_at->dim[4] + OCC_DEPTH_PIXELS - 1) / OCC_DEPTH_PIXELS, made = y_at->dim[1];
    const int64_t total = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * groups * made;
    for (int64_t i = occ_unit(); i < total; i += occ_units()) {
        const int64_t         c = i % made, place = i / made, rows = place / groups, planes = rows / y_at->dim[3];
        const occ_depth_place at = {planes / y_at->dim[2], planes % y_at->dim[2], rows % y_at->dim[3],
                                    place % groups * OCC_DEPTH_PIXELS};
        float                 sum[OCC_DEPTH_PIXELS];
        OCC_UNROLLED
        for (int j = 0; j < OCC_DEPTH_PIXELS; j++)
            sum[j] = bias ? bias[c] : 0.0f;
        occ_depth_sums(sum, x + at.image * x_at->stride[0] + c * x_at->stride[1], x_at, w + c, window, &at, channels);
        occ_depth_store(sum, y, y_at, &at, c, e, fused);
    }
}
