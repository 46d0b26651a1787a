/* conv_dot_f32.c - convolution with few output channels. The lanes of a vector run along the inputs of a row of taps,
 * which are neighbours in memory, and are added up at the end. Knows nothing of ONNX's padding modes. */
#include "occ_conv.h"
#include "occ_vmath.h"

/* acc[pixel][output] += the products of one vector of n inputs. */
OCC_HOT void occ_dot_step(occ_vf *acc, const float *x, int64_t across, const float *w, int64_t plane, int n, int pixels,
                          int outputs)
{
    occ_vf b[4];
    OCC_UNROLL(4)
    for (int j = 0; j < outputs; j++)
        b[j] = occ_vload(w + j * plane, n);
    OCC_UNROLL(32)
    for (int i = 0; i < pixels; i++) {
        occ_vf a = occ_vload(x + i * across, n);
        if (OCC_W == 16) /* loads are as long as sums there */
            OCC_HOLD(a);
        OCC_UNROLL(4)
        for (int j = 0; j < outputs; j++)
            acc[i * outputs + j] = occ_vfma(a, b[j], acc[i * outputs + j]);
    }
}

/* acc[pixel][output] += products of `depth` neighbours of x, `across` elements apart for each pixel, and of w, `plane`
 * elements apart for each output; pixels and outputs are literals. */
OCC_HOT void occ_dot_run(occ_vf *acc, const float *x, int64_t across, const float *w, int64_t plane, int64_t depth,
                         int pixels, int outputs)
{
    int64_t k = 0;
    OCC_ROLL
    for (; k + OCC_W <= depth; k += OCC_W)
        occ_dot_step(acc, x + k, across, w + k, plane, OCC_W, pixels, outputs);
    if (k < depth)
        occ_dot_step(acc, x + k, across, w + k, plane, (int)(depth - k), pixels, outputs);
}

/* sum[i] = the sum of the lanes of v[i]. */
OCC_HOT void occ_dot_sums(float *sum, const occ_vf *v, int count)
{
    OCC_UNROLL(32)
    for (int i = 0; i < count; i += OCC_W) {
        occ_vf part[OCC_W];
        OCC_UNROLL(16)
        for (int k = 0; k < OCC_W; k++)
            part[k] = i + k < count ? v[i + k] : occ_vset(0.0f);
        occ_vstore(sum + i, occ_vsums(part, OCC_W), OCC_W);
    }
}

/* Applies bias and expression to sum[pixel][output] and stores the results. Pixels of one output that lie side by side,
 * as all operands of the expression do, are the lanes of a vector; else the outputs of a pixel are. */
OCC_HOT void occ_dot_store(const occ_conv *g, const float *sum, float *y, int64_t first, int pixels, int outputs)
{
    const occ_conv_block b = {0, 0, 0, NULL, 1, outputs, outputs};
    int                  line = outputs == 1 && g->ychannel == 1 && g->yaxis[2] == 1;
    OCC_UNROLL(8)
    for (int k = 0; k < 8; k++)
        line = line && (k >= g->fused->nx || g->fused->pitch[k] == 1);
    if (line) {
        OCC_UNROLL(32)
        for (int i = 0; i < pixels; i += OCC_W) {
            const int      n = (int)occ_min(OCC_W, pixels - i);
            const occ_expr e = occ_conv_expr(g, first + i);
            const occ_vf   v = occ_vload(sum + i, n) + occ_vset(g->bias ? g->bias[0] : 0.0f);
            occ_vstore(y + i, occ_apply_vf(&e, v, 0, n, g->fused->fn), n);
        }
        return;
    }
    OCC_UNROLL(32)
    for (int i = 0; i < pixels; i++) {
        OCC_UNROLL(4)
        for (int j = 0; j < outputs; j += OCC_W) {
            const int      n = (int)occ_min(OCC_W, outputs - j);
            occ_conv_block part = b;
            occ_vf         v = occ_vload(sum + i * outputs + j, n);
            if (g->bias)
                v = v + occ_vload(g->bias + j, n);
            part.channel = j;
            part.stored = n;
            occ_conv_store(g, &part, &v, y + i * g->yaxis[2], first + i, 1, 1);
        }
    }
}

/* One tile of `pixels` pixels of a row from column c on, all of which see the taps t. */
OCC_HOT void occ_dot_tile(occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t c, occ_taps t, int pixels,
                          int outputs)
{
    const occ_taps d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const int64_t  row = g->kernel[2] * g->inputs, plane = g->kernel[0] * g->kernel[1] * row;
    const float   *x = g->x + image * g->xbatch + (z * g->stride[0] - g->pad[0]) * g->xaxis[0] +
                     (r * g->stride[1] - g->pad[1]) * g->xaxis[1] +
                     (c * g->stride[2] - g->pad[2] + t.first) * g->xaxis[2];
    float *y = g->y + image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    float  sum[OCC_TILE_MAX];
    occ_vf acc[OCC_TILE_MAX];
    OCC_UNROLL(32)
    for (int i = 0; i < pixels * outputs; i++)
        acc[i] = occ_vset(0.0f);
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++)
            occ_dot_run(acc, x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1],
                        g->stride[2] * g->xaxis[2], g->w + (i * g->kernel[1] + k) * row + t.first * g->inputs, plane,
                        (t.last - t.first) * g->inputs, pixels, outputs);
    if (pixels > 1)
        occ_dot_sums(sum, acc, pixels * outputs);
    else
        for (int j = 0; j < outputs; j++)
            sum[j] = occ_vsum_lanes(acc[j]);
    occ_dot_store(g, sum, y, occ_conv_pixel(g, image, z, r, c), pixels, outputs);
}

/* All pixels: `most` (literal) at a time where all of them see all taps of a row, else one at a time. */
OCC_HOT void occ_dot_pixels(occ_conv *g, int most, int outputs)
{
    const occ_taps inside = occ_conv_interior(g, 2), all = {0, g->kernel[2]};
    for (int64_t image = 0; image < g->batch; image++)
        for (int64_t z = 0; z < g->out[0]; z++)
            for (int64_t r = 0; r < g->out[1]; r++)
                for (int64_t c = 0; c < g->out[2];) {
                    if (c >= inside.first && c + most <= inside.last) {
                        occ_dot_tile(g, image, z, r, c, all, most, outputs);
                        c += most;
                    } else {
                        occ_dot_tile(g, image, z, r, c, occ_conv_taps(g, 2, c), 1, outputs);
                        c++;
                    }
                }
}

/* conv_dot - y = expression(bias + sum over taps and channels of x * w), padded with zeros, for at most 4 outputs.
 *   x  channels are neighbours, and columns are consecutive without gaps; dilation 1 along the width
 *   w  [output][tap][input];  bias  [outputs], or NULL
 *   the other arguments are those of conv_f32, without groups and tile */
OCC_INLINE void occ_conv_dot_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                 const occ_image *y_at, const occ_window *window, const occ_expr *e,
                                 const occ_fused *fused)
{
    const int64_t outputs = y_at->dim[1];
    occ_conv      g = occ_conv_make(x, x_at, w, bias, y, y_at, window, 1, fused, 0, 0);
    if (e)
        g.e = *e;
    if (outputs == 1)
        occ_dot_pixels(&g, OCC_TILE_ROWS(1), 1);
    else if (outputs == 2)
        occ_dot_pixels(&g, OCC_TILE_ROWS(2), 2);
    else if (outputs == 3)
        occ_dot_pixels(&g, OCC_TILE_ROWS(3), 3);
    else
        occ_dot_pixels(&g, OCC_TILE_ROWS(4), 4);
}
