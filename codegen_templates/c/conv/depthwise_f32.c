/* depthwise_f32.c - depthwise convolution: tiles of pixels times a vector of channels, without sums across channels.
 * Knows nothing of ONNX's padding modes. */
#include "occ_conv.h"
#include "occ_vmath.h"

#define OCC_DEPTH_COLUMNS 8 /* the most pixels of a tile, all of one row */
#define OCC_DEPTH_REACH 64  /* columns of the input that a tile may span */

/* acc += one row of taps for `columns` (literal) pixels of one vector. Each column of the input is read once, for all
 * pixels that it contributes to. In a tile at an edge, whose first pixel is at column `at`, columns outside the image
 * are left out. Only the first columns can be left of it, as many as are padded; and in a near tile only the last ones
 * right of it, as many as a pixel's window has behind its first tap.
 *   x  of tap 0 at the tile's first pixel; w  the row's taps, `lanes` channels of each */
OCC_HOT void occ_depthwise_taps(const occ_conv *g, occ_vf *acc, const float *x, const float *w, int edge, int64_t at,
                                int columns, int lanes)
{
    const int64_t taps = g->kernel[2], step = g->stride[2], dilation = g->dilation[2];
    const int64_t reach = (columns - 1) * step + (taps - 1) * dilation + 1, before = g->pad[2] - at * step;
    const int64_t first = edge ? occ_max(before, 0) : 0, last = edge ? occ_min(before + g->in[2], reach) : reach;
    const int64_t right = edge == OCC_TILE_NEAR ? reach - (taps - 1) * dilation : 0;
    occ_vf        b[OCC_CONV_TAPS];
    OCC_UNROLL(OCC_CONV_TAPS)
    for (int64_t n = 0; n < taps; n++)
        b[n] = occ_vload(w + n * g->inputs, lanes);
    OCC_UNROLL(OCC_DEPTH_REACH)
    for (int64_t p = 0; p < reach; p++) {
        if ((p < g->pad[2] && p < first) || (p >= right && p >= last))
            continue;
        occ_vf v = occ_vload(x + p * g->xaxis[2], lanes);
        if (step == 1) /* a column contributes to as many pixels as there are taps */
            OCC_HOLD(v);
        OCC_UNROLL(OCC_DEPTH_COLUMNS)
        for (int c = 0; c < columns; c++) {
            const int64_t from = p - c * step;
            if (from >= 0 && from % dilation == 0 && from / dilation < taps)
                acc[c] = occ_vfma(v, b[from / dilation], acc[c]);
        }
    }
}

/* One tile of `columns` pixels and `lanes` channels from `from` on. */
OCC_HOT void occ_depthwise_tile(occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t c, occ_taps d, occ_taps h,
                                int edge, int columns, int64_t from, int lanes)
{
    const float *x = g->x + image * g->xbatch + (z * g->stride[0] - g->pad[0]) * g->xaxis[0] +
                     (r * g->stride[1] - g->pad[1]) * g->xaxis[1] + (c * g->stride[2] - g->pad[2]) * g->xaxis[2] + from;
    float               *y = g->y + image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    const occ_conv_block b = {from, 0, 0, g->w, 1, lanes, lanes};
    occ_vf               acc[OCC_DEPTH_COLUMNS];
    occ_conv_start(g, &b, acc, columns);
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++)
            occ_depthwise_taps(g, acc, x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1],
                               g->w + (i * g->kernel[1] + k) * g->kernel[2] * g->inputs + from, edge, c, columns,
                               lanes);
    occ_hide_literals(&g->e);
    occ_conv_store(g, &b, acc, y, occ_conv_pixel(g, image, z, r, c), 1, columns);
}

/* `columns` pixels of a row and all channels. */
OCC_HOT void occ_depthwise_tiles(occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t c, occ_taps d, occ_taps h,
                                 int edge, int columns)
{
    const int64_t rest = g->outputs % OCC_W;
    for (int64_t from = 0; from + OCC_W <= g->outputs; from += OCC_W)
        occ_depthwise_tile(g, image, z, r, c, d, h, edge, columns, from, OCC_W);
    if (rest > 0)
        occ_depthwise_tile(g, image, z, r, c, d, h, edge, columns, g->outputs - rest, (int)rest);
}

/* One row: tiles at the edges, where columns miss taps, and full tiles between them. */
OCC_HOT void occ_depthwise_row(occ_conv *g, int64_t image, int64_t z, int64_t r)
{
    const occ_conv_cut cut = occ_conv_cut_row(g->out[2], OCC_DEPTH_COLUMNS);
    const occ_taps     inside = occ_conv_interior(g, 2), d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const int          left = inside.first > 0, right = inside.last < g->out[2];
    const int          first = (int)(cut.larger > 0 ? cut.size + 1 : cut.size), last = (int)cut.size;
    int64_t            c = 0, larger = cut.larger - (left && cut.larger > 0),
            others = cut.tiles - cut.larger - (left && !cut.larger) - right;
    if (cut.tiles == 1) {
        if (first > 0)
            occ_depthwise_tiles(g, image, z, r, 0, d, h, left || right ? OCC_TILE_EDGE : OCC_TILE_INSIDE, first);
        return;
    }
    if (left) {
        occ_depthwise_tiles(g, image, z, r, 0, d, h, OCC_TILE_EDGE, first);
        c = first;
    }
    for (; larger > 0; larger--, c += first)
        occ_depthwise_tiles(g, image, z, r, c, d, h, OCC_TILE_INSIDE, first);
    for (; others > 0; others--, c += last)
        occ_depthwise_tiles(g, image, z, r, c, d, h, OCC_TILE_INSIDE, last);
    if (right)
        occ_depthwise_tiles(g, image, z, r, g->out[2] - last, d, h, OCC_TILE_EDGE, last);
}

/* One row whose width is known only at run time: tiles of OCC_DEPTH_COLUMNS pixels, then of half as many, down to one;
 * or tiles of one pixel less, where that makes fewer: 14 = 7 + 7 instead of 8 + 4 + 2. All are near the image. */
OCC_HOT void occ_depthwise_row_open(occ_conv *g, int64_t image, int64_t z, int64_t r)
{
    const occ_taps inside = occ_conv_interior(g, 2), d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const int64_t  rest = g->out[2] % OCC_DEPTH_COLUMNS, missing = OCC_DEPTH_COLUMNS - rest;
    int64_t        c = 0, less = (rest & (rest - 1)) && missing <= g->out[2] / OCC_DEPTH_COLUMNS + 1 ? missing : 0;
    OCC_ROLL
    for (; less > 0; less--, c += OCC_DEPTH_COLUMNS - 1)
        occ_depthwise_tiles(g, image, z, r, c, d, h, OCC_TILE_NEAR, OCC_DEPTH_COLUMNS - 1);
    OCC_ROLL
    for (; c + OCC_DEPTH_COLUMNS <= g->out[2]; c += OCC_DEPTH_COLUMNS)
        if (c >= inside.first && c + OCC_DEPTH_COLUMNS <= inside.last)
            occ_depthwise_tiles(g, image, z, r, c, d, h, OCC_TILE_INSIDE, OCC_DEPTH_COLUMNS);
        else
            occ_depthwise_tiles(g, image, z, r, c, d, h, OCC_TILE_NEAR, OCC_DEPTH_COLUMNS);
    OCC_UNROLL(3)
    for (int columns = OCC_DEPTH_COLUMNS / 2; columns > 0; columns /= 2)
        if (c + columns <= g->out[2]) {
            occ_depthwise_tiles(g, image, z, r, c, d, h, OCC_TILE_NEAR, columns);
            c += columns;
        }
}

/* One pixel and one vector of any geometry. */
OCC_HOT void occ_depthwise_pixel(const occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t c, int64_t from)
{
    const occ_taps d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r), t = occ_conv_taps(g, 2, c);
    const float   *x = g->x + image * g->xbatch + (z * g->stride[0] - g->pad[0]) * g->xaxis[0] +
                     (r * g->stride[1] - g->pad[1]) * g->xaxis[1] + (c * g->stride[2] - g->pad[2]) * g->xaxis[2] + from;
    float               *y = g->y + image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    const int            lanes = (int)occ_min(g->outputs - from, OCC_W);
    const occ_conv_block b = {from, 0, 0, g->w, 1, lanes, lanes};
    occ_vf               acc;
    occ_conv_start(g, &b, &acc, 1);
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++) {
            const float *from_x = x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1];
            const float *w = g->w + (i * g->kernel[1] + k) * g->kernel[2] * g->inputs + from;
            for (int64_t n = t.first; n < t.last; n++)
                acc = occ_vfma(occ_vload(from_x + n * g->dilation[2] * g->xaxis[2], lanes),
                               occ_vload(w + n * g->inputs, lanes), acc);
        }
    occ_conv_store(g, &b, &acc, y, occ_conv_pixel(g, image, z, r, c), 1, 1);
}

/* Gathers operands, geometry and the expression. */
OCC_HOT occ_conv occ_depthwise_make(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                    const occ_image *y_at, const occ_window *window, int64_t channels,
                                    const occ_expr *e, const occ_fused *fused)
{
    occ_conv g = occ_conv_make(x, x_at, w, bias, y, y_at, window, 1, fused, 0, 0);
    g.inputs = channels;
    if (e)
        g.e = *e;
    return g;
}

/* Pixels of a row of x that a full tile reads. */
OCC_HOT int64_t occ_depthwise_reach(const occ_window *window)
{
    return (OCC_DEPTH_COLUMNS - 1) * window->stride[2] + (window->kernel[2] - 1) * window->dilation[2] + 1;
}

/* Any geometry, one pixel and one vector of channels at a time. One copy serves all calls. */
OCC_STEP void occ_depthwise_shared(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                   const occ_image *y_at, const occ_window *window, int64_t channels, const occ_expr *e,
                                   const occ_fused *fused)
{
    occ_conv g = occ_depthwise_make(x, x_at, w, bias, y, y_at, window, channels, e, fused);
    for (int64_t image = 0; image < g.batch; image++)
        for (int64_t z = 0; z < g.out[0]; z++)
            for (int64_t r = 0; r < g.out[1]; r++)
                for (int64_t c = 0; c < g.out[2]; c++)
                    for (int64_t from = 0; from < g.outputs; from += OCC_W)
                        occ_depthwise_pixel(&g, image, z, r, c, from);
}

/* depthwise - y = expression(bias + sum over taps of x * w), padded with zeros.
 *   x, y  [batch][channels][depth][height][width] by strides; the channels of x are neighbours
 *   w     [tap][channels], the first of which are those of x and y;  bias  for the channels of y, or NULL
 *   A tile has at most OCC_DEPTH_COLUMNS pixels, so that y may overlap x and be written closely behind its reads.
 *   the other arguments are those of conv_f32 */
OCC_INLINE void occ_depthwise_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t channels, const occ_expr *e,
                                  const occ_fused *fused)
{
    const int64_t reach = occ_depthwise_reach(window);
    if (!OCC_KNOWN(y_at->dim[1]) || !OCC_KNOWN(y_at->dim[4]) || !OCC_KNOWN(x_at->dim[4]) || !OCC_KNOWN(reach) ||
        reach > OCC_DEPTH_REACH || window->kernel[2] > OCC_CONV_TAPS ||
        !occ_conv_edges_fit(y_at->dim[4], x_at->dim[4], window, OCC_DEPTH_COLUMNS)) {
        occ_depthwise_shared(x, x_at, w, bias, y, y_at, window, channels, e, fused);
        return;
    }
    occ_conv g = occ_depthwise_make(x, x_at, w, bias, y, y_at, window, channels, e, fused);
    for (int64_t image = 0; image < g.batch; image++)
        for (int64_t z = 0; z < g.out[0]; z++)
            for (int64_t r = 0; r < g.out[1]; r++)
                occ_depthwise_row(&g, image, z, r);
}

#if OCC_OPEN_EXTENTS
/* depthwise of images whose width is known only at run time. Steps call it by its own name, for the reason that
 * conv_open_f32.c gives. */
OCC_INLINE void occ_depthwise_open_f32(const float *x, const occ_image *x_at, const float *w, const float *bias,
                                       float *y, const occ_image *y_at, const occ_window *window, int64_t channels,
                                       const occ_expr *e, const occ_fused *fused)
{
    const int64_t reach = occ_depthwise_reach(window);
    if (!OCC_KNOWN(y_at->dim[1]) || !OCC_KNOWN(reach) || reach > OCC_DEPTH_REACH || window->kernel[2] > OCC_CONV_TAPS ||
        OCC_W == 1 || !occ_conv_is_near(y_at->dim[4], x_at->dim[4], window)) {
        occ_depthwise_shared(x, x_at, w, bias, y, y_at, window, channels, e, fused);
        return;
    }
    occ_conv g = occ_depthwise_make(x, x_at, w, bias, y, y_at, window, channels, e, fused);
    for (int64_t image = 0; image < g.batch; image++)
        for (int64_t z = 0; z < g.out[0]; z++)
            for (int64_t r = 0; r < g.out[1]; r++)
                occ_depthwise_row_open(&g, image, z, r);
}
#endif
