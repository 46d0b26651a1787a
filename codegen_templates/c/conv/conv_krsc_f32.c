/* conv_krsc_f32.c - convolution with weights [output][tap][input], one result at a time. A device's kernel of this name
 * must agree with this one; steps of this kernel that are placed on the host run it. */
#include "occ_expr.h"
#include "occ_image.h"
#include "occ_nest.h"

/* acc + the sum over taps and inputs of x * w in rising order of w, for the window that begins at `begin`. A pixel
 * outside the image counts as 0, and is multiplied like the others. */
OCC_HOT occ_vf occ_krsc_sum(occ_vf acc, const float *x, const occ_image *x_at, const float *w, const occ_window *window,
                            int64_t inputs, const int64_t *begin)
{
    const int64_t taps = occ_window_size(window), plane = window->kernel[1] * window->kernel[2];
    for (int64_t tap = 0; tap < taps; tap++, w += inputs) {
        const int64_t d = begin[0] + tap / plane * window->dilation[0],
                      h = begin[1] + tap % plane / window->kernel[2] * window->dilation[1],
                      c = begin[2] + tap % window->kernel[2] * window->dilation[2];
        const int    inside = d >= 0 && d < x_at->dim[2] && h >= 0 && h < x_at->dim[3] && c >= 0 && c < x_at->dim[4];
        const float *from = inside ? x + occ_image_place(x_at, 0, 0, d, h, c) : x;
        for (int64_t i = 0; i < inputs; i++)
            acc = occ_vfma(occ_vset(inside ? from[i * x_at->stride[1]] : 0.0f), occ_vset(w[i]), acc);
    }
    return acc;
}

/* All channels of the pixel at `place` {image, depth, row, column}, whose number in row-major order is `pixel`. */
OCC_HOT void occ_krsc_pixel(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                            const occ_image *y_at, const occ_window *window, int64_t groups, const int64_t *place,
                            int64_t pixel, const occ_expr *e, const occ_fused *fused)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups, taps = occ_window_size(window);
    const int64_t begin[3] = {place[1] * window->stride[0] - window->pad[0],
                              place[2] * window->stride[1] - window->pad[1],
                              place[3] * window->stride[2] - window->pad[2]};
    occ_expr      at = occ_expr_start(e);
    for (int64_t k = 0; k < fused->nx; k++)
        at.at[k] += pixel * fused->pitch[k];
    for (int64_t c = 0; c < y_at->dim[1]; c++) {
        const float *from = x + place[0] * x_at->stride[0] + c / outputs * inputs * x_at->stride[1];
        const occ_vf sum =
            occ_krsc_sum(occ_vset(bias ? bias[c] : 0.0f), from, x_at, w + c * taps * inputs, window, inputs, begin);
        occ_vstore(y + occ_image_place(y_at, place[0], c, place[1], place[2], place[3]),
                   occ_apply_vf(&at, sum, c, 1, fused->fn), 1);
    }
}

/* conv_krsc - y = expression(bias + sum over taps and channels of x * w), grouped, padded with zeros.
 *   x     [batch][groups * inputs][depth][height][width], any strides
 *   w     [groups * outputs][tap][inputs];  bias  [groups * outputs], or NULL
 *   y     [batch][groups * outputs][depth][height][width], any strides */
OCC_INLINE void occ_conv_krsc_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                  const occ_fused *fused)
{
    const occ_extent dim[4] = {y_at->dim[0], y_at->dim[2], y_at->dim[3], y_at->dim[4]}, none[4] = {0};
    const int64_t    pixels = occ_count(4, dim);
    int64_t          place[4] = {0};
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        occ_krsc_pixel(x, x_at, w, bias, y, y_at, window, groups, place, pixel, e, fused);
        occ_nest_step(4, dim, place, 0, none);
    }
}

/* conv_work - the same, for a step that an engine of a vendor's library may compute instead of this code, with
 * workspace. The result is never stored where the expression reads.
 *   work  as many bytes as the engine may use, or NULL; not used here */
OCC_INLINE void occ_conv_work_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, float *work, const occ_window *window, int64_t groups,
                                  const occ_expr *e, const occ_fused *fused)
{
    (void)work;
    occ_conv_krsc_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused);
}
