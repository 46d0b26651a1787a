/* occ_deep.h - convolutions of small images with deep windows: many inputs and few pixels, so that weights are the
 * traffic. The outermost loop runs over taps and blocks of inputs; each block of weights stays in the nearest cache
 * while it is multiplied with all pixels that see the tap. The sums are kept in memory, [pixel][channel of the panel].
 * A tile takes pixels in row-major order of those that see the tap, so rows need not be a multiple of the tile, and
 * edges need no tiles of their own. */
#ifndef OCC_DEEP_H
#define OCC_DEEP_H

#include "occ_conv.h"

/* The most pixels whose sums are kept; those of an image of one row, where columns that miss taps have no neighbours in
 * another row to share a tile with, and those of one whose weights stay in the caches; steps of k in a block. */
#define OCC_DEEP_PIXELS 196
#define OCC_DEEP_ROW 64
#define OCC_DEEP_FEW 12
#define OCC_DEEP_PART 128
#define OCC_DEEP_VECTORS (OCC_PANEL / OCC_W)
#define OCC_DEEP_TILE (OCC_W == 16 ? 7 : OCC_TILE_ROWS(2)) /* pixels, each with an address in a register */

/* A block of one tap: the current pixel, the columns that see the tap, the input at row 0 and column 0 and its strides,
 * the weights, the sums, which begin with row `first` and have `width` pixels a row, and the weights to prefetch, of
 * which each step takes the next `ahead` bytes. */
typedef struct occ_deep {
    int64_t      row, column, depth, first, width, down, across, ahead;
    occ_taps     columns;
    const float *x, *w;
    const char  *next;
    occ_vf      *kept;
} occ_deep;

/* The output positions along an axis that see tap number `tap`. */
OCC_HOT occ_taps occ_deep_places(const occ_conv *g, int axis, int64_t tap)
{
    const int64_t from = g->pad[axis] - tap * g->dilation[axis];
    occ_taps      t;
    t.first = occ_min(occ_max(occ_ceil_div(from, g->stride[axis]), 0), g->out[axis]);
    t.last = occ_max(occ_min(occ_ceil_div(from + g->in[axis], g->stride[axis]), g->out[axis]), t.first);
    return t;
}

/* acc += all steps of k, for pixels at x. */
OCC_HOT void occ_deep_run(const occ_deep *p, occ_vf *acc, const float *const *x, const float *w, const char *next,
                          int pixels)
{
    const int64_t depth = p->depth, ahead = p->ahead;
    OCC_ROLL
    for (int64_t k = 0; k < depth; k++, next += ahead) {
        OCC_PREFETCH(next);
        occ_vf a = occ_vload(w + k * OCC_PANEL, OCC_W), b = occ_vload(w + k * OCC_PANEL + OCC_W, OCC_W);
        OCC_HOLD(a);
        OCC_HOLD(b);
        OCC_UNROLL(32)
        for (int i = 0; i < pixels; i++) {
            const occ_vf t = occ_vset(x[i][k]);
            acc[2 * i] = occ_vfma(t, a, acc[2 * i]);
            acc[2 * i + 1] = occ_vfma(t, b, acc[2 * i + 1]);
        }
    }
}

/* The next `pixels` (literal) pixels, all channels of the panel. */
OCC_HOT void occ_deep_tile(occ_deep *p, int pixels)
{
    const float *x[OCC_DEEP_TILE];
    occ_vf      *kept[OCC_DEEP_TILE];
    OCC_UNROLL(32)
    for (int i = 0; i < pixels; i++) {
        x[i] = p->x + p->row * p->down + p->column * p->across;
        kept[i] = p->kept + ((p->row - p->first) * p->width + p->column) * OCC_DEEP_VECTORS;
        if (++p->column == p->columns.last) {
            p->column = p->columns.first;
            p->row++;
        }
    }
    for (int64_t j = 0; j < OCC_DEEP_VECTORS; j += 2, p->next += p->depth * p->ahead) {
        occ_vf acc[2 * OCC_DEEP_TILE];
        OCC_UNROLL(32)
        for (int i = 0; i < 2 * pixels; i++)
            acc[i] = kept[i / 2][j + i % 2];
        occ_deep_run(p, acc, x, p->w + j * OCC_W, p->next, pixels);
        OCC_UNROLL(32)
        for (int i = 0; i < 2 * pixels; i++)
            kept[i / 2][j + i % 2] = acc[i];
    }
}

/* All tiles of a block: `full` of them have as many pixels as the registers hold, the others one less. One copy serves
 * all convolutions: what differs between them is read from p. */
OCC_STEP void occ_deep_tiles(occ_deep *p, int64_t full, int64_t tiles)
{
    for (int64_t t = 0; t < full; t++)
        occ_deep_tile(p, OCC_DEEP_TILE);
    for (int64_t t = full; t < tiles; t++)
        occ_deep_tile(p, OCC_DEEP_TILE - 1);
}

/* Likewise `count` pixels, which are not as many as tiles of these two sizes hold: tiles of one less, of four and
 * what is left, which may be five. Example: of six at most, 13 pixels are a tile of 5 and two of 4. */
OCC_STEP void occ_deep_few(occ_deep *p, int64_t count)
{
    for (; count % 4 && count >= OCC_DEEP_TILE - 1; count -= OCC_DEEP_TILE - 1)
        occ_deep_tile(p, OCC_DEEP_TILE - 1);
    for (; count >= 4 && count != 5; count -= 4)
        occ_deep_tile(p, 4);
    if (OCC_DEEP_TILE > 6 && count == 5)
        occ_deep_tile(p, 5);
    else if (count == 3)
        occ_deep_tile(p, 3);
    else if (count == 2)
        occ_deep_tile(p, 2);
    else if (count == 1)
        occ_deep_tile(p, 1);
}

/* The tap at row k, column n of the window, whose weights in the panel are w, for a block of rows. */
OCC_HOT void occ_deep_tap(occ_conv *g, occ_vf *kept, const float *w, int64_t k, int64_t n, occ_taps block)
{
    const occ_taps     see = occ_deep_places(g, 1, k), columns = occ_deep_places(g, 2, n);
    const int64_t      row = occ_max(see.first, block.first), rows = occ_min(see.last, block.last) - row;
    const occ_conv_cut cut = occ_conv_cut_row(rows * (columns.last - columns.first), OCC_DEEP_TILE);
    const int64_t      full = cut.size == OCC_DEEP_TILE ? cut.tiles : cut.larger,
                  parts = cut.tiles > 1 ? occ_ceil_div(g->inputs, OCC_DEEP_PART) : 1;
    const float *x =
        g->x + (k * g->dilation[1] - g->pad[1]) * g->xaxis[1] + (n * g->dilation[2] - g->pad[2]) * g->xaxis[2];
    for (int64_t i = 0; i < parts; i++) {
        const int64_t from = i * g->inputs / parts, depth = (i + 1) * g->inputs / parts - from;
        const float  *part = w + from * OCC_PANEL;
        occ_deep      p = {row,
                           columns.first,
                           depth,
                           block.first,
                           g->out[2],
                           g->stride[1] * g->xaxis[1],
                           g->stride[2] * g->xaxis[2],
                           occ_ceil_div(64, g->pace),
                           columns,
                           x + from,
                           part,
                           (const char *)(part + depth * OCC_PANEL),
                           kept};
#if OCC_OPEN_EXTENTS
        if (cut.size < OCC_DEEP_TILE - 1) {
            occ_deep_few(&p, rows * (columns.last - columns.first));
            continue;
        }
#endif
        occ_deep_tiles(&p, full, cut.tiles);
    }
}

/* The channels of one panel for a block of rows. */
OCC_HOT void occ_deep_block(occ_conv *g, const occ_conv_block *b, occ_taps block)
{
    const int64_t taps = g->kernel[1] * g->kernel[2], first = block.first * g->out[2], last = block.last * g->out[2];
    occ_vf        kept[OCC_DEEP_PIXELS * OCC_DEEP_VECTORS];
    for (int64_t i = first; i < last; i++)
        occ_conv_start(g, b, kept + (i - first) * OCC_DEEP_VECTORS, 1);
    for (int64_t t = 0; t < taps; t++)
        occ_deep_tap(g, kept, b->w + t * g->inputs * OCC_PANEL, t / g->kernel[2], t % g->kernel[2], block);
    for (int64_t i = first; i < last; i++) {
        const int64_t r = i / g->out[2], c = i % g->out[2];
        occ_hide_literals(&g->e);
        occ_conv_store(g, b, kept + (i - first) * OCC_DEEP_VECTORS, g->y + r * g->yaxis[1] + c * g->yaxis[2],
                       occ_conv_pixel(g, 0, 0, r, c), 1, 1);
    }
}

/* All channels of one group. */
OCC_HOT void occ_deep_channels(occ_conv *g, int64_t group)
{
    const occ_conv_cut cut = occ_conv_cut_row(g->out[1], OCC_DEEP_PIXELS / g->out[2]);
    for (int64_t from = 0; from < g->outputs; from += OCC_PANEL) {
        const occ_conv_block b = occ_conv_block_of(g, group, from, OCC_PANEL);
        occ_taps             block = {0, 0};
        for (int64_t i = 0; i < cut.tiles; i++, block.first = block.last) {
            block.last += i < cut.larger ? cut.size + 1 : cut.size;
            occ_deep_block(g, &b, block);
        }
    }
}

/* All groups of all images, one image after the other. */
OCC_HOT void occ_deep_images(occ_conv g, int64_t groups)
{
    const int64_t next = g.xbatch - groups * g.inputs;
    for (int64_t image = 0; image < g.batch; image++, g.x += next, g.y += g.ybatch, g.pixel[0] += g.pixel[1])
        for (int64_t group = 0; group < groups; group++, g.x += g.inputs)
            occ_deep_channels(&g, group);
}

/* occ_conv_is_deep where extents are known only at run time. Images of one block have no edge tiles in the loop over
 * rows, so they are deep even if few pixels see a tap. Images of one row are only if a tap has inputs enough. */
OCC_HOT int occ_conv_is_deep_open(const occ_conv *g)
{
    const int shape = g->kernel[0] == 1 && g->in[0] == 1 && g->out[0] == 1 && g->xchannel == 1 &&
                      g->outputs % OCC_PANEL == 0; /* literals */
    const int64_t  full = OCC_DEEP_TILE;
    const occ_taps rows = occ_conv_interior(g, 1), columns = occ_conv_interior(g, 2);
    const int      row = g->out[1] == 1 && (g->out[2] > OCC_DEEP_ROW || g->inputs < OCC_PANEL);
    int64_t        high, least;
    if (!shape || row || g->out[1] < 1 || g->out[2] < 1 || g->out[2] > OCC_DEEP_PIXELS)
        return 0;
    high = occ_conv_cut_row(g->out[1], OCC_DEEP_PIXELS / g->out[2]).size;
    least = (high - g->out[1] + rows.last - rows.first) * (columns.last - columns.first);
    return g->out[1] * g->out[2] <= OCC_DEEP_PIXELS || least >= (full - 1) * (full - 1);
}

/* Is the loop over taps faster than the loop over rows? With vectors of 8 lanes it is for weights that do not stay in
 * the cache, and enough pixels in every block of rows that see each tap to be cut into full tiles and tiles of one
 * pixel less. */
OCC_HOT int occ_conv_is_deep(const occ_conv *g)
{
    const occ_taps rows = occ_conv_interior(g, 1), columns = occ_conv_interior(g, 2);
    const int      fits = g->out[2] > 0 && g->out[2] <= OCC_DEEP_PIXELS;
    const int64_t  high = fits ? occ_conv_cut_row(g->out[1], OCC_DEEP_PIXELS / g->out[2]).size : 0;
    const int64_t  least = (high - g->out[1] + rows.last - rows.first) * (columns.last - columns.first),
                  full = OCC_DEEP_TILE;
    return g->kernel[0] == 1 && g->in[0] == 1 && g->out[0] == 1 && g->out[1] > 1 && g->xchannel == 1 && g->pace > 0 &&
           g->outputs % OCC_PANEL == 0 && least >= (full - 1) * (full - 1);
}

#endif
