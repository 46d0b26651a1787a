/* convtranspose_f32.c - transposed convolution, one result at a time: the taps that contribute to it, times panels of
 * weights. */
#include "occ_image.h"
#include "occ_tile.h"

/* convtranspose - y[.., o] = bias + sum over taps k and inputs of x[.., i] * w, with o = i * stride + k * dilation -
 * pad.
 *   w  [group][block of 32 outputs][tap][input][32]; the last block of a group is as wide as its outputs;
 *      past the end are elements of any value, as many as round outputs up to a multiple of 4 */
OCC_INLINE void occ_convtranspose_f32(const float *x, const occ_image *x_at, const float *w, const float *bias,
                                      float *y, const occ_image *y_at, const occ_window *window, int64_t groups)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t taps = occ_window_size(window), plane = y_at->dim[3] * y_at->dim[4];

    for (int64_t g = 0; g < groups; g++)
        for (int64_t block = 0; block < outputs; block += 32) {
            const int64_t lanes = occ_min(32, outputs - block), channel = g * outputs + block;

            for (int64_t n = 0; n < x_at->dim[0] * y_at->dim[2] * plane; n++) {
                const int64_t at[3] = {n / plane % y_at->dim[2], n / y_at->dim[4] % y_at->dim[3], n % y_at->dim[4]};
                const int64_t image = n / (y_at->dim[2] * plane);
                float        *to = y + image * y_at->stride[0] + channel * y_at->stride[1];
                occ_vf        acc[32 / OCC_W];

                for (int j = 0; j < 32 / OCC_W; j++) {
                    const int64_t left = occ_max(0, occ_min(OCC_W, lanes - j * OCC_W));

                    acc[j] = bias && left > 0 ? occ_vload(bias + channel + j * OCC_W, (int)left) : occ_vset(0.0f);
                }
                for (int64_t t = 0; t < taps; t++) {
                    const int64_t tap[3] = {t / (window->kernel[1] * window->kernel[2]),
                                            t / window->kernel[2] % window->kernel[1], t % window->kernel[2]};
                    const float  *from = x + image * x_at->stride[0] + g * inputs * x_at->stride[1];
                    const float  *wt = w + t * inputs * lanes;
                    int           hit = 1;

                    for (int k = 0; k < 3; k++) {
                        const int64_t reach = at[k] + window->pad[k] - tap[k] * window->dilation[k],
                                      i = reach / window->stride[k];

                        hit = hit && reach >= 0 && i * window->stride[k] == reach && i < x_at->dim[2 + k];
                        from += i * x_at->stride[2 + k];
                    }
                    for (int64_t c = 0; hit && c < inputs; c++) {
                        const occ_vf a = occ_vset(from[c * x_at->stride[1]]);

                        for (int j = 0; j < 32 / OCC_W; j++) {
                            const int64_t left = occ_min(OCC_W, (lanes + 3) / 4 * 4 - j * OCC_W);

                            if (left > 0)
                                acc[j] += a * occ_vload(wt + c * lanes + j * OCC_W, (int)left);
                        }
                    }
                }
                for (int k = 0; k < 3; k++)
                    to += at[k] * y_at->stride[2 + k];
                for (int j = 0; j < 32 / OCC_W; j++) {
                    const int64_t left = occ_min(OCC_W, lanes - j * OCC_W);

                    if (left > 0)
                        occ_vstores(to + j * OCC_W * y_at->stride[1], y_at->stride[1], acc[j], (int)left);
                }
            }
            w += taps * inputs * lanes;
        }
}
