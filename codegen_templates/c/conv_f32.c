/* conv_f32.c - convolution over one, two or three axes as an implicit matrix product: tiles of pixels times panels of weights.
 * Knows nothing of ONNX's padding modes. */
#include "occ_tile.h"
#include "occ_vmath.h"

/* One convolution: its operands and geometry. Axes are depth, height, width; strides in elements. */
typedef struct occ_conv {
    const float *x, *w, *bias;
    float *y;
    int64_t batch, inputs, outputs, in[3], out[3];
    int64_t xbatch, xchannel, xaxis[3], ybatch, ychannel, yaxis[3];
    int64_t kernel[3], stride[3], dilation[3], pad[3];
    int64_t nx;
    const occ_extent *pitch;
    occ_expr e;
    occ_fn_vf fn;
    const float *next;
    int64_t pace;
} occ_conv;

/* A block of output channels that one tile covers: the first, its weights, elements between rows of the panel and between
 * panels, and the lanes of the last vector that have weights, and that are stored. */
typedef struct occ_conv_block {
    int64_t channel, pitch, panel;
    const float *w;
    int vectors, lanes, stored;
} occ_conv_block;

/* Taps first <= t < last of one axis lie inside the input at output position `at`. */
typedef struct occ_taps {
    int64_t first, last;
} occ_taps;

OCC_HOT occ_taps occ_conv_taps(const occ_conv *g, int axis, int64_t at)
{
    const int64_t begin = at * g->stride[axis] - g->pad[axis], dilation = g->dilation[axis];
    occ_taps t;
    t.first = begin < 0 ? occ_ceil_div(-begin, dilation) : 0;
    t.last = occ_min(g->kernel[axis], occ_max(occ_ceil_div(g->in[axis] - begin, dilation), 0));
    t.first = occ_min(t.first, t.last);
    return t;
}

/* Output positions first <= p < last of one axis see every tap. */
OCC_HOT occ_taps occ_conv_interior(const occ_conv *g, int axis)
{
    const int64_t reach = g->in[axis] + g->pad[axis] - (g->kernel[axis] - 1) * g->dilation[axis];
    occ_taps t;
    t.first = occ_min(occ_ceil_div(g->pad[axis], g->stride[axis]), g->out[axis]);
    t.first = occ_max(t.first, 0);
    t.last = occ_min(occ_max(occ_ceil_div(reach, g->stride[axis]), t.first), g->out[axis]);
    return t;
}

/* acc += all taps in the given ranges; x is that of tap 0 at the tile's first pixel. */
OCC_HOT void occ_conv_sum(occ_conv *g, const occ_conv_block *b, const float *x, occ_vf *acc, const occ_taps *taps, int rows,
                          int columns)
{
    const int64_t down = g->stride[1] * g->xaxis[1], across = g->stride[2] * g->xaxis[2];
    const int64_t tap = g->inputs * b->pitch, step = g->dilation[2] * g->xaxis[2];
    const int joined = g->xchannel == 1 && step == g->inputs; /* the taps of a row follow each other in x as in w */
    const int64_t runs = joined ? 1 : taps[2].last - taps[2].first;
    const int64_t depth = joined ? (taps[2].last - taps[2].first) * g->inputs : g->inputs;
    for (int64_t d = taps[0].first; d < taps[0].last; d++)
        for (int64_t h = taps[1].first; h < taps[1].last; h++) {
            const float *xrow = x + d * g->dilation[0] * g->xaxis[0] + h * g->dilation[1] * g->xaxis[1];
            const float *wrow = b->w + (d * g->kernel[1] + h) * g->kernel[2] * tap;
            for (int64_t t = taps[2].first; t < taps[2].first + runs; t++)
                occ_tile_run(acc, xrow + t * step, g->xchannel, down, across, wrow + t * tap, b->pitch, b->panel, depth, rows,
                             columns, b->vectors, b->lanes, &g->next, g->pace);
        }
}

/* The tile's results: expression, then store. `pixel` counts output pixels in row-major order. */
OCC_HOT void occ_conv_store(const occ_conv *g, const occ_conv_block *b, const occ_vf *acc, float *y, int64_t pixel, int rows,
                            int columns)
{
    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++) {
        OCC_UNROLL(32)
        for (int c = 0; c < columns; c++) {
            occ_expr e = g->e;
            float *to = y + i * g->yaxis[1] + c * g->yaxis[2];
            OCC_UNROLL(8)
            for (int k = 0; k < 8; k++)
                e.at[k] += k < g->nx ? (pixel + i * g->out[2] + c) * g->pitch[k] : 0;
            OCC_UNROLL(4)
            for (int j = 0; j < b->vectors; j++) {
                const int n = j == b->vectors - 1 ? b->stored : OCC_W;
                const int64_t channel = b->channel + j * OCC_W;
                occ_vf v = occ_apply_vf(&e, acc[(i * columns + c) * b->vectors + j], channel, n, g->fn);
                if (g->ychannel == 1)
                    occ_vstore(to + channel, v, n);
                else
                    occ_vstores(to + channel * g->ychannel, g->ychannel, v, n);
            }
        }
    }
}

/* One tile of rows x columns pixels (literals) at output position `at`, all taps in `taps`. */
OCC_HOT void occ_conv_tile(occ_conv *g, const occ_conv_block *b, int64_t image, const int64_t *at, const occ_taps *taps,
                           int rows, int columns)
{
    occ_vf acc[OCC_TILE_MAX];
    const float *x = g->x + image * g->xbatch;
    float *y = g->y + image * g->ybatch;
    int64_t pixel = image;
    for (int k = 0; k < 3; k++) {
        x += (at[k] * g->stride[k] - g->pad[k]) * g->xaxis[k];
        y += at[k] * g->yaxis[k];
        pixel = pixel * g->out[k] + at[k];
    }
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int n = j == b->vectors - 1 ? b->stored : OCC_W;
        const occ_vf start = g->bias ? occ_vload(g->bias + b->channel + j * OCC_W, n) : occ_vset(0.0f);
        OCC_UNROLL(32)
        for (int i = 0; i < rows * columns; i++)
            acc[i * b->vectors + j] = start;
    }
    occ_conv_sum(g, b, x, acc, taps, rows, columns);
    occ_conv_store(g, b, acc, y, pixel, rows, columns);
}

/* The two tiles of shared code: as many pixels as the registers hold times all vectors, and one pixel times one vector. */
OCC_INLINE void occ_conv_tile_full(occ_conv *g, const occ_conv_block *b, int64_t image, const int64_t *at, const occ_taps *taps)
{
    occ_conv_block wide = *b;
    wide.vectors = OCC_TILE_VECTORS;
    wide.lanes = wide.stored = OCC_W;
    occ_conv_tile(g, &wide, image, at, taps, 1, OCC_TILE_ROWS(OCC_TILE_VECTORS));
}

OCC_INLINE void occ_conv_tile_one(occ_conv *g, const occ_conv_block *b, int64_t image, const int64_t *at, const occ_taps *taps)
{
    for (int j = 0; j < b->vectors; j++) {
        occ_conv_block slim = *b;
        slim.channel += j * OCC_W;
        slim.w += j * OCC_W / OCC_PANEL * b->panel + j * OCC_W % OCC_PANEL;
        slim.vectors = 1;
        slim.lanes = j < b->vectors - 1 ? OCC_W : b->lanes;
        slim.stored = j < b->vectors - 1 ? OCC_W : b->stored;
        occ_conv_tile(g, &slim, image, at, taps, 1, 1);
    }
}

/* `count` pixels of one row in tiles as even as can be; the remainders of literal counts are tiles of their own. */
OCC_HOT void occ_conv_row(occ_conv *g, const occ_conv_block *b, int64_t image, const int64_t *from, const occ_taps *taps,
                          int64_t count)
{
    const int64_t most = OCC_TILE_ROWS(b->vectors);
    int64_t at[3] = {from[0], from[1], from[2]};
    const int64_t end = at[2] + count;
    if (OCC_KNOWN(count)) {
        const int64_t tiles = (count + most - 1) / most, size = tiles ? count / tiles : 0, larger = tiles ? count % tiles : 0;
        for (int64_t i = 0; i < larger; i++, at[2] += size + 1)
            occ_conv_tile(g, b, image, at, taps, 1, (int)size + 1);
        for (; at[2] < end; at[2] += size)
            occ_conv_tile(g, b, image, at, taps, 1, (int)size);
        return;
    }
    if (b->vectors == OCC_TILE_VECTORS && b->lanes == OCC_W && b->stored == OCC_W)
        for (; at[2] + OCC_TILE_ROWS(OCC_TILE_VECTORS) <= end; at[2] += OCC_TILE_ROWS(OCC_TILE_VECTORS))
            occ_conv_tile_full(g, b, image, at, taps);
    for (; at[2] < end; at[2]++)
        occ_conv_tile_one(g, b, image, at, taps);
}

/* Rows begin <= h < end of a strip `count` pixels wide that see the same taps: narrow strips take several rows a tile. */
OCC_HOT void occ_conv_strip(occ_conv *g, const occ_conv_block *b, int64_t image, const int64_t *from, const occ_taps *taps,
                            int64_t count, int64_t end)
{
    int64_t at[3] = {from[0], from[1], from[2]};
    if (OCC_KNOWN(count) && count > 0 && 2 * count <= OCC_TILE_ROWS(b->vectors)) {
        const int rows = OCC_TILE_ROWS(b->vectors) / (int)count;
        for (; at[1] + rows <= end; at[1] += rows)
            occ_conv_tile(g, b, image, at, taps, rows, (int)count);
    }
    for (; at[1] < end; at[1]++)
        occ_conv_row(g, b, image, at, taps, count);
}

/* Rows begin <= h < end, all columns: those that miss taps one by one. */
OCC_HOT void occ_conv_band(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t depth, int64_t begin, int64_t end,
                           occ_taps depth_taps, occ_taps height_taps)
{
    const occ_taps inside = occ_conv_interior(g, 2);
    occ_taps taps[3] = {depth_taps, height_taps, {0, g->kernel[2]}};
    int64_t at[3] = {depth, begin, inside.first};
    occ_conv_strip(g, b, image, at, taps, inside.last - inside.first, end);
    for (int64_t edge = 0; edge < g->out[2] - (inside.last - inside.first); edge++) {
        at[2] = edge < inside.first ? edge : edge + (inside.last - inside.first);
        taps[2] = occ_conv_taps(g, 2, at[2]);
        occ_conv_strip(g, b, image, at, taps, 1, end);
    }
}

/* One block of channels over rows begin <= h < end of images first <= image < last; rows that see all taps go together. */
OCC_HOT void occ_conv_rows(occ_conv *g, const occ_conv_block *b, int64_t first, int64_t last, int64_t begin, int64_t end)
{
    const occ_taps inside = occ_conv_interior(g, 1);
    for (int64_t image = first; image < last; image++)
        for (int64_t depth = 0; depth < g->out[0]; depth++) {
            const occ_taps depth_taps = occ_conv_taps(g, 0, depth);
            for (int64_t h = begin, next; h < end; h = next) {
                next = h < inside.first || h >= inside.last ? h + 1 : occ_min(inside.last, end);
                occ_conv_band(g, b, image, depth, h, next, depth_taps, occ_conv_taps(g, 1, h));
            }
        }
}

/* `count` channels (literal, 1 to 4 vectors) from `channel` on. `width`: channels from there to the panel's end, rounded
 * up to 4; `pitch`: of the panel's rows. */
OCC_HOT void occ_conv_some(occ_conv *g, int64_t channel, const float *w, int64_t pitch, int64_t panel, int64_t count,
                           int64_t width, int64_t first, int64_t last, int64_t begin, int64_t end)
{
    occ_conv_block b;
    b.channel = channel;
    b.w = w;
    b.pitch = pitch;
    b.panel = panel;
    b.vectors = (int)((count + OCC_W - 1) / OCC_W);
    b.lanes = (int)occ_min(width - (b.vectors - 1) * OCC_W, OCC_W);
    b.stored = (int)(count - (b.vectors - 1) * OCC_W);
    occ_conv_rows(g, &b, first, last, begin, end);
}

/* The last panel's `count` < OCC_PANEL channels: tiles of the usual width, then one as narrow as what is left. */
OCC_HOT void occ_conv_tail(occ_conv *g, int64_t channel, const float *w, int64_t count, int64_t first, int64_t last,
                           int64_t begin, int64_t end)
{
    const int64_t pitch = (count + 3) / 4 * 4, wide = OCC_TILE_VECTORS * OCC_W;
    const int three = OCC_KNOWN(count) && count > 2 * OCC_W && count <= 3 * OCC_W;
    int64_t done = 0;
    if (!three)
        for (; done + wide <= count; done += wide)
            occ_conv_some(g, channel + done, w + done, pitch, 0, wide, wide, first, last, begin, end);
    if (OCC_KNOWN(count)) {
        const int64_t rest = three ? count : count % wide;
        if (rest > 0)
            occ_conv_some(g, channel + done, w + done, pitch, 0, rest, pitch - (count - rest), first, last, begin, end);
        return;
    }
    for (; done < count; done += OCC_W)
        occ_conv_some(g, channel + done, w + done, pitch, 0, occ_min(count - done, OCC_W), occ_min(pitch - done, OCC_W), first,
                      last, begin, end);
}

/* All channels of one group over a block of rows. g->w, g->bias, g->y and g->e are those of the whole convolution. */
OCC_HOT void occ_conv_block_of_rows(occ_conv *g, int64_t group, int vectors, int64_t first, int64_t last, int64_t begin,
                                    int64_t end)
{
    const int64_t depth = g->kernel[0] * g->kernel[1] * g->kernel[2] * g->inputs, panel = depth * OCC_PANEL;
    const int64_t full = g->outputs / OCC_PANEL, rest = g->outputs % OCC_PANEL, wide = vectors * OCC_W;
    const int64_t each = wide > OCC_PANEL ? wide / OCC_PANEL : 1; /* panels across a tile */
    const float *w = g->w + group * (full * panel + (rest + 3) / 4 * 4 * depth);
    int64_t channel = group * g->outputs, p = 0;
    for (; p + each <= full; p += each, w += each * panel)
        for (int64_t c = 0; c < each * OCC_PANEL; c += wide, channel += wide) {
            g->next = w + each * panel;
            occ_conv_some(g, channel, w + c, OCC_PANEL, panel, wide, wide, first, last, begin, end);
        }
    if (p < full) /* two panels a tile, and their count is odd */
        occ_conv_some(g, channel, w, OCC_PANEL, panel, OCC_PANEL, OCC_PANEL, first, last, begin, end);
    if (rest > 0)
        occ_conv_tail(g, g->outputs - rest + group * g->outputs, w + (full - p) * panel, rest, first, last, begin, end);
}

/* Where every tap is the pixel itself and pixels lie evenly, the image is one long row. */
OCC_HOT void occ_conv_flatten(occ_conv *g)
{
    const int64_t taps = g->kernel[0] * g->kernel[1] * g->kernel[2];
    const int still = g->stride[0] == 1 && g->stride[1] == 1 && g->stride[2] == 1 && !g->pad[0] && !g->pad[1] && !g->pad[2];
    const int even1 = g->out[1] == 1 || (g->xaxis[1] == g->out[2] * g->xaxis[2] && g->yaxis[1] == g->out[2] * g->yaxis[2]);
    const int64_t plane = g->out[1] * g->out[2];
    const int even0 = g->out[0] == 1 || (g->xaxis[0] == plane * g->xaxis[2] && g->yaxis[0] == plane * g->yaxis[2]);
    if (taps != 1 || !still || !even1 || !even0)
        return;
    g->in[2] = g->out[2] = g->out[0] * plane;
    g->in[0] = g->in[1] = g->out[0] = g->out[1] = 1;
}

/* conv - y = expression(bias + sum over taps and channels of x * w), grouped, padded with zeros.
 *   x  [batch][groups * inputs][depth][height][width], any strides; a narrower image has leading axes of 1
 *   w  [group][block of 32 outputs][tap][input][32], the last block of a group as wide as its outputs rounded up to 4
 *   bias  [groups * outputs], or NULL
 *   y  [batch][groups * outputs][depth][height][width], any strides; fast where channels follow each other
 *   xdim, ydim        {batch, channels of one group, depth, height, width}
 *   xstride, ystride  elements between images, channels, planes, rows, columns
 *   kernel, stride, dilation, pad  {depth, height, width}; pad: before the first element
 *   tile   {vectors across a tile: 1, 2 or 4; rows of the image a block, all channels of which are made before the next;
 *           steps of k for each prefetched line of weights}; 0: chosen here, no prefetching
 *   pitch  [nx]: of each operand of the expression, elements between two pixels in row-major order (its channels follow) */
OCC_INLINE void occ_conv_f32(const float *x, const float *w, const float *bias, float *y, int64_t groups,
                             const occ_extent *xdim, const occ_extent *xstride, const occ_extent *ydim,
                             const occ_extent *ystride, const occ_extent *kernel, const occ_extent *stride,
                             const occ_extent *dilation, const occ_extent *pad, const occ_extent *tile, int64_t nx,
                             const occ_extent *pitch, const occ_expr *e, occ_fn_vf fn)
{
    const int vectors = !OCC_KNOWN(tile[0]) ? OCC_TILE_VECTORS
                        : tile[0] == 1      ? 1
                        : tile[0] == 4 && OCC_W > 4 ? 4
                                                    : OCC_TILE_VECTORS;
    occ_conv g = {
        x, w, bias, y, xdim[0], xdim[1], ydim[1], {xdim[2], xdim[3], xdim[4]}, {ydim[2], ydim[3], ydim[4]},
        xstride[0], xstride[1], {xstride[2], xstride[3], xstride[4]},
        ystride[0], ystride[1], {ystride[2], ystride[3], ystride[4]},
        {kernel[0], kernel[1], kernel[2]}, {stride[0], stride[1], stride[2]},
        {dilation[0], dilation[1], dilation[2]}, {pad[0], pad[1], pad[2]}, nx, pitch, {{0}, {0}}, fn, w, tile[2]};
    const int64_t rows = tile[1] == 0 ? g.out[1] : occ_min(tile[1], g.out[1]);
    const int64_t images = rows == g.out[1] ? g.batch : 1;
    if (e)
        g.e = *e;
    if (rows == g.out[1])
        occ_conv_flatten(&g);
    for (int64_t group = 0; group < groups; group++, g.x += g.inputs * g.xchannel)
        for (int64_t image = 0; image < g.batch; image += images)
            for (int64_t h = 0; h < g.out[1]; h += rows)
                occ_conv_block_of_rows(&g, group, vectors, image, image + images, h, occ_min(h + rows, g.out[1]));
}
