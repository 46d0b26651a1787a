/* depthwise_f32.c - convolution of each channel by itself: tiles of pixels times vectors of channels, no sums across channels.
 * Knows nothing of ONNX's padding modes. */
#include "occ_conv.h"
#include "occ_vmath.h"

/* Vectors across a tile (a cache line of channels where registers allow), and pixels down it. */
#define OCC_DEPTH_VECTORS (OCC_W == 16 ? 1 : OCC_W == 1 ? 2 : 16 / OCC_W)
#define OCC_DEPTH_COLUMNS (OCC_W == 16 ? 8 : OCC_W == 4 ? 2 : 4)

/* acc += one row of taps for `columns` pixels; those of an edge tile at column `at` (literal) only where they lie inside.
 *   x  of tap 0 at the tile's first pixel; w  the row's taps, `all` channels each */
OCC_HOT void occ_depthwise_taps(const occ_conv *g, occ_vf *acc, const float *x, const float *w, int64_t all, occ_taps t, int edge,
                                int64_t at, int columns, int vectors, int lanes)
{
    const int64_t taps = edge ? g->kernel[2] : t.last, none = edge ? 0 : t.first;
    OCC_UNROLL(OCC_CONV_TAPS)
    for (int64_t n = none; n < taps; n++) {
        const int64_t from = g->pad[2] - n * g->dilation[2], to = from + g->in[2];
        const int64_t first = edge ? occ_max(occ_ceil_div(from, g->stride[2]) - at, 0) : 0;
        const int64_t last = edge ? occ_min(occ_ceil_div(to, g->stride[2]) - at, columns) : columns;
        occ_vf b[4];
        OCC_UNROLL(4)
        for (int j = 0; j < vectors; j++)
            b[j] = occ_vload(w + n * all + j * OCC_W, j == vectors - 1 ? lanes : OCC_W);
        OCC_UNROLL(32)
        for (int c = 0; c < columns; c++) {
            const float *p = x + n * g->dilation[2] * g->xaxis[2] + c * g->stride[2] * g->xaxis[2];
            OCC_UNROLL(4)
            for (int j = 0; j < vectors; j++)
                if (c >= first && c < last)
                    acc[c * vectors + j] += occ_vload(p + j * OCC_W, j == vectors - 1 ? lanes : OCC_W) * b[j];
        }
    }
}

/* One tile of `columns` pixels and `vectors` vectors of channels (literals) from channel `from` on. */
OCC_HOT void occ_depthwise_tile(occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t c, occ_taps d, occ_taps h, occ_taps t,
                                int edge, int columns, int64_t from, int vectors, int lanes)
{
    const float *x = g->x + image * g->xbatch + (z * g->stride[0] - g->pad[0]) * g->xaxis[0] +
                     (r * g->stride[1] - g->pad[1]) * g->xaxis[1] + (c * g->stride[2] - g->pad[2]) * g->xaxis[2] + from;
    float *y = g->y + image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    occ_conv_block b = {from, 0, 0, g->w, vectors, lanes, lanes};
    occ_vf acc[OCC_TILE_MAX];
    OCC_UNROLL(4)
    for (int j = 0; j < vectors; j++) {
        const int n = j == vectors - 1 ? lanes : OCC_W;
        const occ_vf start = g->bias ? occ_vload(g->bias + from + j * OCC_W, n) : occ_vset(0.0f);
        OCC_UNROLL(32)
        for (int i = 0; i < columns; i++)
            acc[i * vectors + j] = start;
    }
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++)
            occ_depthwise_taps(g, acc, x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1],
                               g->w + (i * g->kernel[1] + k) * g->kernel[2] * g->outputs + from, g->outputs, t, edge, c, columns,
                               vectors, lanes);
    occ_conv_store(g, &b, acc, y, occ_conv_pixel(g, image, z, r, c), 1, columns);
}

/* `columns` pixels of the channels from `from` on, or with `all` (literal) of all channels. */
OCC_HOT void occ_depthwise_tiles(occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t c, occ_taps d, occ_taps h, occ_taps t,
                                 int edge, int columns, int64_t from, int vectors, int lanes, int all)
{
    const int64_t wide = OCC_DEPTH_VECTORS * OCC_W, rest = g->outputs % wide;
    if (!all) {
        occ_depthwise_tile(g, image, z, r, c, d, h, t, edge, columns, from, vectors, lanes);
        return;
    }
    for (from = 0; from + wide <= g->outputs; from += wide)
        occ_depthwise_tile(g, image, z, r, c, d, h, t, edge, columns, from, OCC_DEPTH_VECTORS, OCC_W);
    if (rest > 0)
        occ_depthwise_tile(g, image, z, r, c, d, h, t, edge, columns, from, (int)((rest + OCC_W - 1) / OCC_W),
                           (int)((rest - 1) % OCC_W) + 1);
}

/* One row of some channels: a tile at either edge where columns miss taps, and the tiles between. */
OCC_HOT void occ_depthwise_row(occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t from, int vectors, int lanes, int all)
{
    const occ_conv_cut cut = occ_conv_cut_row(g->out[2], OCC_DEPTH_COLUMNS);
    const occ_taps inside = occ_conv_interior(g, 2), t = {0, g->kernel[2]};
    const occ_taps d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const int left = inside.first > 0, right = inside.last < g->out[2];
    const int first = (int)(cut.larger > 0 ? cut.size + 1 : cut.size), last = (int)cut.size;
    int64_t c = 0, larger = cut.larger - (left && cut.larger > 0), others = cut.tiles - cut.larger - (left && !cut.larger) - right;
    if (cut.tiles == 1) {
        if (first > 0)
            occ_depthwise_tiles(g, image, z, r, 0, d, h, t, left || right, first, from, vectors, lanes, all);
        return;
    }
    if (left) {
        occ_depthwise_tiles(g, image, z, r, 0, d, h, t, 1, first, from, vectors, lanes, all);
        c = first;
    }
    for (; larger > 0; larger--, c += first)
        occ_depthwise_tiles(g, image, z, r, c, d, h, t, 0, first, from, vectors, lanes, all);
    for (; others > 0; others--, c += last)
        occ_depthwise_tiles(g, image, z, r, c, d, h, t, 0, last, from, vectors, lanes, all);
    if (right)
        occ_depthwise_tiles(g, image, z, r, g->out[2] - last, d, h, t, 1, last, from, vectors, lanes, all);
}

/* Any geometry, a pixel and a vector at a time. */
OCC_STEP void occ_depthwise_shared(const float *x, const float *w, const float *bias, float *y, const occ_extent *xdim,
                                   const occ_extent *xstride, const occ_extent *ydim, const occ_extent *ystride,
                                   const occ_extent *kernel, const occ_extent *stride, const occ_extent *dilation,
                                   const occ_extent *pad, int64_t nx, const occ_extent *pitch, const occ_expr *e, occ_fn_vf fn)
{
    occ_conv g = occ_conv_make(x, w, bias, y, xdim, xstride, ydim, ystride, kernel, stride, dilation, pad, nx, pitch, fn, 0, 0);
    if (e)
        g.e = *e;
    for (int64_t image = 0; image < g.batch; image++)
        for (int64_t z = 0; z < g.out[0]; z++)
            for (int64_t r = 0; r < g.out[1]; r++)
                for (int64_t c = 0; c < g.out[2]; c++)
                    for (int64_t from = 0; from < g.outputs; from += OCC_W)
                        occ_depthwise_tile(&g, image, z, r, c, occ_conv_taps(&g, 0, z), occ_conv_taps(&g, 1, r),
                                           occ_conv_taps(&g, 2, c), 0, 1, from, 1, (int)occ_min(g.outputs - from, OCC_W));
}

/* depthwise - y = expression(bias + sum over taps of x * w), padded with zeros.
 *   x, y  [batch][channels][depth][height][width] by strides; the channels of x follow each other
 *   w     [tap][channels];  bias  [channels], or NULL
 *   pixels  1: rows are made pixel by pixel, OCC_DEPTH_COLUMNS (at most 8) together, so that y may follow x closely
 *   the other arguments are those of conv_f32 */
OCC_INLINE void occ_depthwise_f32(const float *x, const float *w, const float *bias, float *y, const occ_extent *xdim,
                                  const occ_extent *xstride, const occ_extent *ydim, const occ_extent *ystride,
                                  const occ_extent *kernel, const occ_extent *stride, const occ_extent *dilation,
                                  const occ_extent *pad, int64_t pixels, int64_t nx, const occ_extent *pitch,
                                  const occ_expr *e, occ_fn_vf fn)
{
    const int64_t wide = OCC_DEPTH_VECTORS * OCC_W, rest = ydim[1] % wide;
    if (!OCC_KNOWN(ydim[4]) || !OCC_KNOWN(xdim[4]) || !OCC_KNOWN(ydim[1]) || !OCC_KNOWN(kernel[2]) ||
        !occ_conv_edges_fit(ydim[4], xdim[4], kernel[2], stride[2], dilation[2], pad[2], OCC_DEPTH_COLUMNS)) {
        occ_depthwise_shared(x, w, bias, y, xdim, xstride, ydim, ystride, kernel, stride, dilation, pad, nx, pitch, e, fn);
        return;
    }
    occ_conv g = occ_conv_make(x, w, bias, y, xdim, xstride, ydim, ystride, kernel, stride, dilation, pad, nx, pitch, fn, 0, 0);
    if (e)
        g.e = *e;
    for (int64_t image = 0; image < g.batch; image++)
        for (int64_t z = 0; z < g.out[0]; z++)
            for (int64_t r = 0; r < g.out[1]; r++) {
                int64_t from = 0;
                if (pixels) {
                    occ_depthwise_row(&g, image, z, r, 0, 0, 0, 1);
                    continue;
                }
                for (; from + wide <= g.outputs; from += wide)
                    occ_depthwise_row(&g, image, z, r, from, OCC_DEPTH_VECTORS, OCC_W, 0);
                if (rest > 0)
                    occ_depthwise_row(&g, image, z, r, from, (int)((rest + OCC_W - 1) / OCC_W), (int)((rest - 1) % OCC_W) + 1, 0);
            }
}
