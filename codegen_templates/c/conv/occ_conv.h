/* occ_conv.h - one tile of a convolution: its geometry, its taps, its results. Knows nothing of how tiles cover an
 * image. */
#ifndef OCC_CONV_H
#define OCC_CONV_H

#include "occ_image.h"
#include "occ_tile.h"

#define OCC_CONV_TAPS 16 /* the widest window whose edge tiles are computed tap by tap */

/* One convolution: its operands and geometry. Axes are depth, height, width; strides in elements. */
typedef struct occ_conv {
    const float *x, *w, *bias;
    float       *y;
    int64_t      batch, inputs, outputs, in[3], out[3];
    int64_t      xbatch, xchannel, xaxis[3], ybatch, ychannel, yaxis[3];
    int64_t      kernel[3], stride[3], dilation[3], pad[3];
    int64_t      pixel[5]; /* number of the first output pixel, and its steps between images, planes, rows, columns */
    const occ_fused *fused;
    occ_expr         e;
    const float     *next; /* the weights to prefetch */
    int64_t          skip; /* elements between the end of a panel and the weights to prefetch after it */
    int64_t          pace;
} occ_conv;

/* A block of output channels that one tile covers: its first channel, elements from row to row of a panel and from
 * panel to panel, the weights, its vectors, and the lanes of the last vector that have weights and that are stored. */
typedef struct occ_conv_block {
    int64_t      channel, pitch, panel;
    const float *w;
    int          vectors, lanes, stored;
} occ_conv_block;

/* The taps of one axis that are inside the input, for output position `at`. */
OCC_HOT occ_taps occ_conv_taps(const occ_conv *g, int axis, int64_t at)
{
    const int64_t begin = at * g->stride[axis] - g->pad[axis], dilation = g->dilation[axis];
    occ_taps      t;
    t.first = begin < 0 ? occ_ceil_div(-begin, dilation) : 0;
    t.last = occ_min(g->kernel[axis], occ_max(occ_ceil_div(g->in[axis] - begin, dilation), 0));
    t.first = occ_min(t.first, t.last);
    return t;
}

/* The output positions first <= p < last of one axis that see every tap. */
OCC_HOT occ_taps occ_conv_interior(const occ_conv *g, int axis)
{
    const int64_t reach = g->in[axis] + g->pad[axis] - (g->kernel[axis] - 1) * g->dilation[axis];
    occ_taps      t;
    t.first = occ_min(occ_ceil_div(g->pad[axis], g->stride[axis]), g->out[axis]);
    t.first = occ_max(t.first, 0);
    t.last = occ_min(occ_max(occ_ceil_div(reach, g->stride[axis]), t.first), g->out[axis]);
    return t;
}

/* The cut of one row into `tiles` tiles of nearly equal size: `larger` tiles of size + 1, then the others of `size`. */
typedef struct occ_conv_cut {
    int64_t tiles, size, larger;
} occ_conv_cut;

OCC_HOT occ_conv_cut occ_conv_cut_row(int64_t width, int64_t most)
{
    occ_conv_cut cut;
    cut.tiles = occ_max((width + most - 1) / most, 1);
    cut.size = width / cut.tiles;
    cut.larger = width % cut.tiles;
    return cut;
}

/* Do only the first and the last tile of a row miss taps, if it is cut into tiles of `most` pixels? */
OCC_HOT int occ_conv_edges_fit(int64_t out, int64_t in, const occ_window *window, int64_t most)
{
    const int64_t kernel = window->kernel[2], stride = window->stride[2], pad = window->pad[2];
    const int64_t left = occ_ceil_div(pad, stride),
                  right = out - occ_ceil_div(in + pad - (kernel - 1) * window->dilation[2], stride);
    const occ_conv_cut cut = occ_conv_cut_row(out, most);
    return kernel <= OCC_CONV_TAPS && (cut.tiles == 1 || (left <= cut.size && right <= cut.size));
}

/* How tiles of a row of a depthwise convolution meet the image. */
enum {
    OCC_TILE_INSIDE, /* its pixels see every tap */
    OCC_TILE_EDGE,   /* columns may be outside the image */
    OCC_TILE_NEAR    /* the same, but the first tap of every pixel is left of the image's right edge */
};

/* Are all tiles of a row near the image? */
OCC_HOT int occ_conv_is_near(int64_t out, int64_t in, const occ_window *window)
{
    return (out - 1) * window->stride[2] - window->pad[2] < in;
}

/* The remainder of `outputs` channels after the tiles of `vectors` vectors. */
OCC_HOT int64_t occ_conv_rest(int64_t outputs, int vectors)
{
    const int64_t wide = vectors * OCC_W, tail = outputs % OCC_PANEL;
    const int     three = tail > 2 * OCC_W && tail <= 3 * OCC_W && wide <= OCC_PANEL; /* three divide a panel badly */
    return three ? tail : outputs % wide;
}

/* The pace of prefetching: steps of k for each cache line of the next panel, so that the panel has arrived when the
 * `tiles` tiles of this one are done; 0 where `weights` floats stay in the cache anyway. */
OCC_HOT int64_t occ_conv_pace(int64_t weights, int64_t tiles, int vectors)
{
    const int64_t pace = tiles * OCC_PANEL / (vectors * OCC_W) / 2; /* two lines for each row of a panel */
    if (OCC_W == 1 || weights < 40 * 1024)
        return 0;
    return pace >= 32 ? 32 : pace >= 16 ? 16 : pace >= 8 ? 8 : pace >= 4 ? 4 : pace >= 2 ? 2 : 1;
}

/* The pace where extents are known only at run time: `most` (literal) or less, as occ_conv_pace has it. */
OCC_HOT int64_t occ_conv_pace_open(int64_t most, int64_t tiles, int vectors)
{
    const int64_t lines = tiles * OCC_PANEL / (vectors * OCC_W) / 2;
    int64_t       pace = most;
    while (pace > 1 && pace > lines)
        pace /= 2;
    return pace;
}

/* Is the convolution flat: 1x1, without padding behind the image, and evenly spaced pixels? Then the image is one long
 * row. */
OCC_HOT int occ_conv_is_flat(const occ_image *x_at, const occ_image *y_at, const occ_window *window)
{
    const int64_t plane = y_at->dim[3] * y_at->dim[4];
    const int     still = occ_window_size(window) == 1 && window->stride[0] == 1 && window->stride[1] == 1 &&
                      window->stride[2] == 1 && window->pad[0] == 0 && window->pad[1] == 0 && window->pad[2] == 0;
    const int inside = y_at->dim[2] <= x_at->dim[2] && y_at->dim[3] <= x_at->dim[3] && y_at->dim[4] <= x_at->dim[4];
    const int64_t *xs = x_at->stride, *ys = y_at->stride, width = y_at->dim[4];
    const int      rows = y_at->dim[3] == 1 || (xs[3] == width * xs[4] && ys[3] == width * ys[4]);
    const int      planes = y_at->dim[2] == 1 || (xs[2] == plane * xs[4] && ys[2] == plane * ys[4]);
    return still && inside && rows && planes;
}

/* Gathers operands and geometry; the caller sets the expression. */
OCC_HOT occ_conv occ_conv_make(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                               const occ_image *y_at, const occ_window *window, int64_t groups, const occ_fused *fused,
                               int64_t pace, int flat)
{
    const int64_t  width = flat ? y_at->dim[2] * y_at->dim[3] * y_at->dim[4] : y_at->dim[4];
    const occ_conv g = {x,
                        w,
                        bias,
                        y,
                        x_at->dim[0],
                        x_at->dim[1] / groups,
                        y_at->dim[1] / groups,
                        {flat ? 1 : x_at->dim[2], flat ? 1 : x_at->dim[3], flat ? width : x_at->dim[4]},
                        {flat ? 1 : y_at->dim[2], flat ? 1 : y_at->dim[3], width},
                        x_at->stride[0],
                        x_at->stride[1],
                        {x_at->stride[2], x_at->stride[3], x_at->stride[4]},
                        y_at->stride[0],
                        y_at->stride[1],
                        {y_at->stride[2], y_at->stride[3], y_at->stride[4]},
                        {window->kernel[0], window->kernel[1], window->kernel[2]},
                        {window->stride[0], window->stride[1], window->stride[2]},
                        {window->dilation[0], window->dilation[1], window->dilation[2]},
                        {window->pad[0], window->pad[1], window->pad[2]},
                        {0, y_at->dim[2] * y_at->dim[3] * y_at->dim[4], y_at->dim[3] * y_at->dim[4], y_at->dim[4], 1},
                        fused,
                        {{0}, {0}},
                        w,
                        0,
                        pace};
    return g;
}

/* A tile of rows and columns, in one of `width` columns. */
OCC_HOT occ_tile occ_conv_tile_of(const occ_conv *g, const occ_conv_block *b, int rows, int columns, int width)
{
    const occ_tile t = {g->xchannel,
                        g->stride[1] * g->xaxis[1],
                        g->stride[2] * g->xaxis[2],
                        b->pitch,
                        b->panel,
                        rows,
                        columns,
                        width,
                        b->vectors,
                        b->lanes};
    return t;
}

/* acc += all taps in the given ranges, where every column sees all taps of `t`; x is the input of tap 0 at the tile's
 * first pixel. */
OCC_HOT void occ_conv_sum(occ_conv *g, const occ_conv_block *b, const float *x, occ_vf *acc, occ_taps d, occ_taps h,
                          occ_taps t, int rows, int columns)
{
    const occ_tile tile = occ_conv_tile_of(g, b, rows, columns, columns);
    const int64_t  tap = g->inputs * b->pitch, step = g->dilation[2] * g->xaxis[2];
    const int      joined = g->xchannel == 1 && step == g->inputs; /* a row's taps are consecutive in x, as in w */
    const int64_t  runs = joined ? 1 : t.last - t.first, depth = joined ? (t.last - t.first) * g->inputs : g->inputs;
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++) {
            const float *xrow = x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1];
            const float *wrow = b->w + (i * g->kernel[1] + k) * g->kernel[2] * tap;
            for (int64_t n = t.first; n < t.first + runs; n++)
                occ_tile_run(&tile, acc, xrow + n * step, wrow + n * tap, depth, &g->next, g->pace);
        }
}

/* Adds an edge tile's products to acc, as occ_conv_sum does for a full tile. The tile begins at column `at` (literal)
 * and some of its columns miss taps: each tap takes the columns that see it. */
OCC_HOT void occ_conv_sum_edge(occ_conv *g, const occ_conv_block *b, const float *x, occ_vf *acc, occ_taps d,
                               occ_taps h, int64_t at, int rows, int columns)
{
    const int64_t tap = g->inputs * b->pitch, step = g->dilation[2] * g->xaxis[2], taps = g->kernel[2];
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++) {
            const float *xrow = x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1];
            const float *wrow = b->w + (i * g->kernel[1] + k) * g->kernel[2] * tap;
            OCC_UNROLL(OCC_CONV_TAPS)
            for (int64_t n = 0; n < taps; n++) {
                const int64_t  from = g->pad[2] - n * g->dilation[2], to = from + g->in[2];
                const int64_t  least = occ_max(occ_ceil_div(from, g->stride[2]) - at, 0);
                const int64_t  first = occ_min(least, columns);
                const int64_t  most = occ_max(occ_ceil_div(to, g->stride[2]) - at, first);
                const int64_t  last = occ_min(most, columns);
                const occ_tile tile = occ_conv_tile_of(g, b, rows, (int)(last - first), columns);
                if (first < last)
                    occ_tile_run(&tile, acc + first * b->vectors, xrow + n * step + first * tile.across, wrow + n * tap,
                                 g->inputs, &g->next, g->pace);
            }
        }
}

OCC_HOT int64_t occ_conv_pixel(const occ_conv *g, int64_t image, int64_t z, int64_t r, int64_t c)
{
    return g->pixel[0] + image * g->pixel[1] + z * g->pixel[2] + r * g->pixel[3] + c * g->pixel[4];
}

/* The expression's operands at one pixel. */
OCC_HOT occ_expr occ_conv_expr(const occ_conv *g, int64_t pixel)
{
    occ_expr e = g->e;
    OCC_UNROLL(8)
    for (int k = 0; k < 8; k++)
        e.at[k] += k < g->fused->nx ? pixel * g->fused->pitch[k] : 0;
    return e;
}

/* Stores a row of a tile whose channels are apart in y: one channel of all its pixels after the other, so that a cache
 * line of y is asked for once for all of these. `pixel` is the number of the row's first pixel. */
OCC_HOT void occ_conv_store_apart(const occ_conv *g, const occ_conv_block *b, const occ_vf *acc, float *y,
                                  int64_t pixel, int columns)
{
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int     n = j == b->vectors - 1 ? b->stored : OCC_W;
        const int64_t channel = b->channel + j * OCC_W;
        occ_vf        v[OCC_TILE_MAX];
        OCC_UNROLL(32)
        for (int c = 0; c < columns; c++) {
            const occ_expr e = occ_conv_expr(g, pixel + c * g->pixel[4]);
            v[c] = occ_apply_vf(&e, acc[c * b->vectors + j], channel, n, g->fused->fn);
        }
        OCC_UNROLL(32)
        for (int k = 0; k < OCC_W; k++) {
            OCC_UNROLL(32)
            for (int c = 0; c < columns; c++)
                if (k < n)
                    y[(channel + k) * g->ychannel + c * g->yaxis[2]] = occ_vlane(v[c], k);
        }
    }
}

/* Applies the expression to the sums of a tile and stores the results. `pixel` is the number of the first pixel. */
OCC_HOT void occ_conv_store(const occ_conv *g, const occ_conv_block *b, const occ_vf *acc, float *y, int64_t pixel,
                            int rows, int columns)
{
    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++) {
        if (g->ychannel != 1) {
            occ_conv_store_apart(g, b, acc + i * columns * b->vectors, y + i * g->yaxis[1], pixel + i * g->pixel[3],
                                 columns);
            continue;
        }
        OCC_UNROLL(32)
        for (int c = 0; c < columns; c++) {
            const occ_expr e = occ_conv_expr(g, pixel + i * g->pixel[3] + c * g->pixel[4]);
            float         *to = y + i * g->yaxis[1] + c * g->yaxis[2];
            OCC_UNROLL(4)
            for (int j = 0; j < b->vectors; j++) {
                const int     n = j == b->vectors - 1 ? b->stored : OCC_W;
                const int64_t channel = b->channel + j * OCC_W;
                const occ_vf  sum = acc[(i * columns + c) * b->vectors + j];
                occ_vstore(to + channel, occ_apply_vf(&e, sum, channel, n, g->fused->fn), n);
            }
        }
    }
}

/* Prefetches the operands that the tile's expression reads pixel by pixel, while its sums are computed. */
OCC_HOT void occ_conv_fetch(const occ_conv *g, const occ_conv_block *b, int64_t pixel, int rows, int columns)
{
    OCC_UNROLL(8)
    for (int k = 0; k < 8; k++) {
        if (OCC_W == 1 || k >= g->fused->nx || g->fused->pitch[k] == 0)
            continue;
        OCC_UNROLL(32)
        for (int i = 0; i < rows; i++) {
            OCC_UNROLL(32)
            for (int c = 0; c < columns; c++)
                OCC_PREFETCH((const float *)g->e.x[k] + g->e.at[k] + b->channel +
                             (pixel + i * g->pixel[3] + c * g->pixel[4]) * g->fused->pitch[k]);
        }
    }
}

/* Starts the sums of every pixel of a tile with the bias. */
OCC_HOT void occ_conv_start(const occ_conv *g, const occ_conv_block *b, occ_vf *acc, int pixels)
{
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int    n = j == b->vectors - 1 ? b->stored : OCC_W;
        const occ_vf start = g->bias ? occ_vload(g->bias + b->channel + j * OCC_W, n) : occ_vset(0.0f);
        OCC_UNROLL(32)
        for (int i = 0; i < pixels; i++)
            acc[i * b->vectors + j] = start;
    }
}

/* One tile of rows x columns pixels (literals), the first at plane z, row r, column c of an image. All pixels see the
 * taps d and h. They see the taps t across; at an edge (literal; c is then, too) t is ignored, and each column takes
 * the taps that it sees. */
OCC_HOT void occ_conv_tile(occ_conv *g, const occ_conv_block *b, int64_t image, int64_t z, int64_t r, int64_t c,
                           occ_taps d, occ_taps h, occ_taps t, int edge, int rows, int columns)
{
    occ_vf       acc[OCC_TILE_MAX];
    const float *x = g->x + image * g->xbatch + (z * g->stride[0] - g->pad[0]) * g->xaxis[0] +
                     (r * g->stride[1] - g->pad[1]) * g->xaxis[1] + (c * g->stride[2] - g->pad[2]) * g->xaxis[2];
    float *y = g->y + image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
#if OCC_OPEN_EXTENTS
    OCC_FREE_VECTORS();
#endif
    occ_conv_fetch(g, b, occ_conv_pixel(g, image, z, r, c), rows, columns);
    occ_conv_start(g, b, acc, rows * columns);
    if (edge)
        occ_conv_sum_edge(g, b, x, acc, d, h, c, rows, columns);
    else
        occ_conv_sum(g, b, x, acc, d, h, t, rows, columns);
    occ_hide_literals(&g->e);
    occ_conv_store(g, b, acc, y, occ_conv_pixel(g, image, z, r, c), rows, columns);
}

/* The block of `count` channels (1 to 4 vectors) from `from` on. */
OCC_HOT occ_conv_block occ_conv_block_of(const occ_conv *g, int64_t group, int64_t from, int64_t count)
{
    const int64_t  depth = g->kernel[0] * g->kernel[1] * g->kernel[2] * g->inputs, tail = g->outputs % OCC_PANEL;
    const int64_t  within = from % OCC_PANEL, before = from - within;
    occ_conv_block b;
    b.pitch = tail == 0 || before + OCC_PANEL <= g->outputs ? OCC_PANEL : tail; /* often a literal */
    b.panel = depth * OCC_PANEL;
    b.channel = group * g->outputs + from;
    b.w = g->w + group * g->outputs * depth + before * depth + within;
    b.vectors = (int)((count + OCC_W - 1) / OCC_W);
    b.stored = (int)(count - (b.vectors - 1) * OCC_W);
    b.lanes = (b.stored + 3) / 4 * 4 < OCC_W ? (b.stored + 3) / 4 * 4 : OCC_W;
    return b;
}

#endif
