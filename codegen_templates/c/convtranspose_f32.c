/* convtranspose_f32.c - transposed convolution, result by result: the taps that reach it, times panels of weights. */
#include "occ_tile.h"

/* convtranspose - y[.., o] = bias + sum over taps k and inputs of x[.., i] * w with o = i * stride + k * dilation - pad.
 *   x  {batch, groups * inputs, depth, height, width}, y  {batch, groups * outputs, ...}: extents xdim (channels: inputs of a
 *   group), ydim (outputs of a group), strides xstride, ystride in elements
 *   w  [group][block of 32 outputs][tap][input][32], the last block of a group as wide as its outputs;
 *      past the end are as many elements as round outputs up to 4, of any value
 *   kernel, stride, dilation, pad  {depth, height, width} */
OCC_INLINE void occ_convtranspose_f32(const float *x, const float *w, const float *bias, float *y, int64_t groups,
                                      const occ_extent *xdim, const occ_extent *xstride, const occ_extent *ydim,
                                      const occ_extent *ystride, const occ_extent *kernel, const occ_extent *stride,
                                      const occ_extent *dilation, const occ_extent *pad)
{
    const int64_t taps = kernel[0] * kernel[1] * kernel[2], plane = ydim[3] * ydim[4];

    for (int64_t g = 0; g < groups; g++)
        for (int64_t block = 0; block < ydim[1]; block += 32) {
            const int64_t lanes = occ_min(32, ydim[1] - block), channel = g * ydim[1] + block;

            for (int64_t n = 0; n < xdim[0] * ydim[2] * plane; n++) {
                const int64_t at[3] = {n / plane % ydim[2], n / ydim[4] % ydim[3], n % ydim[4]}, image = n / (ydim[2] * plane);
                float        *to = y + image * ystride[0] + channel * ystride[1];
                occ_vf        acc[32 / OCC_W];

                for (int j = 0; j < 32 / OCC_W; j++) {
                    const int64_t left = occ_max(0, occ_min(OCC_W, lanes - j * OCC_W));

                    acc[j] = bias && left > 0 ? occ_vload(bias + channel + j * OCC_W, (int)left) : occ_vset(0.0f);
                }
                for (int64_t t = 0; t < taps; t++) {
                    const int64_t tap[3] = {t / (kernel[1] * kernel[2]), t / kernel[2] % kernel[1], t % kernel[2]};
                    const float  *from = x + image * xstride[0] + g * xdim[1] * xstride[1], *wt = w + t * xdim[1] * lanes;
                    int           hit = 1;

                    for (int k = 0; k < 3; k++) {
                        const int64_t reach = at[k] + pad[k] - tap[k] * dilation[k], i = reach / stride[k];

                        hit = hit && reach >= 0 && i * stride[k] == reach && i < xdim[2 + k];
                        from += i * xstride[2 + k];
                    }
                    for (int64_t c = 0; hit && c < xdim[1]; c++) {
                        const occ_vf a = occ_vset(from[c * xstride[1]]);

                        for (int j = 0; j < 32 / OCC_W; j++) {
                            const int64_t left = occ_min(OCC_W, (lanes + 3) / 4 * 4 - j * OCC_W);

                            if (left > 0)
                                acc[j] += a * occ_vload(wt + c * lanes + j * OCC_W, (int)left);
                        }
                    }
                }
                for (int k = 0; k < 3; k++)
                    to += at[k] * ystride[2 + k];
                for (int j = 0; j < 32 / OCC_W; j++) {
                    const int64_t left = occ_min(OCC_W, lanes - j * OCC_W);

                    if (left > 0)
                        occ_vstores(to + j * OCC_W * ystride[1], ystride[1], acc[j], (int)left);
                }
            }
            w += taps * xdim[1] * lanes;
        }
}
