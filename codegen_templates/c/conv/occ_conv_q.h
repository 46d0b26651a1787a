/* occ_conv_q.h - tiles of convolutions of 8-bit integers with constant weights, and how tiles cover images of literal
 * geometry. Knows nothing of ONNX's padding modes. */
#ifndef OCC_CONV_Q_H
#define OCC_CONV_Q_H

#include "occ_conv.h"
#include "occ_put.h"

/* The size of a tile: vectors of channels across, and pixels down for 1, 2, 3 and 4 vectors. */
#if OCC_W == 16
#define OCC_Q_VECTORS 2
#define OCC_Q_ROWS(vectors) OCC_TILE_ROWS(vectors)
#elif OCC_W == 1
#define OCC_Q_VECTORS 4
#define OCC_Q_ROWS(vectors) 1
#else
#define OCC_Q_VECTORS 2
#define OCC_Q_ROWS(vectors) ((vectors) == 1 ? 8 : (vectors) == 2 ? 6 : 2)
#endif

/* Vectors of a tile of one pixel, which has registers to spare: all of a panel's row, so that weights are read once, in
 * order. */
#define OCC_Q_ALONE (OCC_W == 16 ? 2 : 4)

/* The parameters of a convolution of bytes, as its step passes them. */
typedef struct occ_q_form {
    occ_window window;
    int64_t    groups, xzero, yzero;
    int64_t    safe;   /* 1: sums of two products of weights fit 16 bits (OCC_DOT_SAFE) */
    int64_t    strip;  /* results of a row whose widened inputs are in the scratch, or 0 */
    int64_t    kept;   /* 1: the widened weights of a block are in the scratch, too */
    int64_t    gather; /* 1: the strip holds whole windows, one behind the other, of results of several rows */
} occ_q_form;

/* One convolution with its operands. */
typedef struct occ_conv_q {
    occ_conv       g; /* geometry, strides in elements, and the expression; its operands x, w, y are unused */
    const uint8_t *x;
    const int32_t *w; /* four weights in each lane */
    const int32_t *bias, *sums;
    void          *y;
    int32_t        zero, flip; /* value of padding; xor-ed to every four bytes of x */
    int32_t        yzero;
} occ_conv_q;

/* Parameters that are literal in every call: how the dot product reads x (occ_dot.h), and how results are stored. */
typedef struct occ_q_how {
    int        is_signed, kind;
    occ_fn_put put;
} occ_q_how;

/* A block of output channels: its first channel, lanes from one row of weights to the next, the weights, lanes that
 * have weights, and lanes whose results are stored. */
typedef struct occ_q_block {
    int64_t        channel, pitch;
    const int32_t *w;
    int            vectors, lanes, stored;
} occ_q_block;

/* The weights that a tile prefetches: `pace` bytes from `next` on for each row of weights that it reads. */
typedef struct occ_q_ahead {
    const char *next;
    int64_t     pace;
} occ_q_ahead;

/* Rows of weights: fours of inputs of all taps. */
OCC_HOT int64_t occ_q_depth(const occ_conv_q *q)
{
    return q->g.kernel[0] * q->g.kernel[1] * q->g.kernel[2] * ((q->g.inputs + 3) / 4);
}

/* Are there more weights than the nearest caches keep from one run to the next? Only then are they prefetched. */
OCC_HOT int occ_q_is_far(const occ_conv_q *q)
{
    const int64_t fours = occ_q_depth(q) * q->g.outputs;
    return OCC_W > 1 && OCC_KNOWN(fours) && fours >= 40 * 1024;
}

/* The panel of weights behind that of the block. */
OCC_HOT const char *occ_q_behind(const occ_conv_q *q, const occ_q_block *b)
{
    const int64_t within = b->channel % q->g.outputs % OCC_PANEL;
    return (const char *)(const void *)(b->w - within + occ_q_depth(q) * b->pitch);
}

/* The share that a tile of `columns` pixels prefetches of the panel behind its own, such that the tiles of all pixels
 * prefetch all of it; `pixel` is the number of the tile's first pixel. */
OCC_HOT occ_q_ahead occ_q_ahead_of(const occ_conv_q *q, const occ_q_block *b, int64_t pixel, int columns)
{
    const int64_t depth = occ_q_depth(q), row = b->pitch * (int64_t)sizeof *b->w, pixels = q->g.batch * q->g.pixel[1];
    const int64_t wide = OCC_Q_VECTORS * OCC_W, within = b->channel % q->g.outputs % OCC_PANEL;
    const int64_t all = pixels * (OCC_PANEL / wide), before = pixel + within / wide * pixels;
    occ_q_ahead   ahead = {occ_q_behind(q, b), 0};
    if (occ_q_is_far(q)) {
        ahead.next += before * depth * row / all;
        ahead.pace = (columns * row + all - 1) / all;
    }
    return ahead;
}

OCC_HOT occ_q_ahead occ_q_ahead_by(occ_q_ahead ahead, int64_t rows)
{
    ahead.next += rows * ahead.pace;
    return ahead;
}

OCC_HOT int occ_q_lanes(int count, int vector)
{
    const int left = count - vector * OCC_W;
    return left > OCC_W ? OCC_W : left;
}

#if OCC_W == 1
/* acc[j] += x . w for four inputs, of which `n` (literal) exist, at one pixel. Weights are widened at their use, since
 * the few registers of a small processor do not hold all of them. */
OCC_HOT void occ_q_step(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, occ_vi *acc, const uint8_t *x,
                        int64_t across, const int32_t *w, int n, int columns)
{
    const occ_quads a = occ_quads_of(occ_vispread(x, n, q->flip), how.is_signed, how.kind);
    (void)across, (void)columns;
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++)
        acc[j] = occ_dot(acc[j], a, occ_quads_of(occ_q_lanes(b->lanes, j) > 0 ? occ_viload(w + j, 1) : 0, 1, how.kind),
                         how.kind);
}
#else
/* acc[c][j] += x . w for four inputs, of which `n` (literal) exist. */
OCC_HOT void occ_q_step(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, occ_vi *acc, const uint8_t *x,
                        int64_t across, const int32_t *w, int n, int columns)
{
    occ_quads panel[4];
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int lanes = occ_q_lanes(b->lanes, j);
        panel[j] = occ_quads_of(lanes > 0 ? occ_viload(w + j * OCC_W, lanes) : occ_viset(0), 1, how.kind);
    }
    OCC_UNROLL(32)
    for (int c = 0; c < columns; c++) {
        const occ_vi    word = occ_vispread(x + c * across, n, q->flip);
        const occ_quads a = occ_quads_of(word, how.is_signed, how.kind);
        OCC_UNROLL(4)
        for (int j = 0; j < b->vectors; j++)
            acc[c * b->vectors + j] = occ_dot(acc[c * b->vectors + j], a, panel[j], how.kind);
    }
}
#endif

/* One tap, or `taps` of them that are consecutive in x and w; the inputs of each are rounded up to four. The first row
 * of weights prefetches from ahead.next on. */
OCC_HOT void occ_q_run(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, occ_vi *acc, const uint8_t *x,
                       int64_t across, const int32_t *w, int64_t taps, occ_q_ahead ahead, int columns)
{
    const int fours = (int)(taps * q->g.inputs / 4), rest = (int)(q->g.inputs % 4);
    OCC_ROLL
    for (int k = 0; k < fours; k++, x += 4, w += b->pitch) {
        if (occ_q_is_far(q))
            OCC_PREFETCH(ahead.next + k * ahead.pace);
        occ_q_step(q, how, b, acc, x, across, w, 4, columns);
    }
    if (rest > 0)
        occ_q_step(q, how, b, acc, x, across, w, rest, columns);
}

/* add[j] += the zero point times the weights of `taps` that lie outside the image. */
OCC_HOT void occ_q_outside(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, occ_vi *add, const int32_t *w,
                           int64_t taps)
{
    const occ_quads zero =
        occ_quads_of(occ_viset((int32_t)((uint32_t)(q->zero & 255) * 0x01010101u)), how.is_signed, how.kind);
    const int rows = (int)(taps * ((q->g.inputs + 3) / 4));
    if (q->zero == 0)
        return;
    OCC_ROLL
    for (int k = 0; k < rows; k++, w += b->pitch) {
        OCC_UNROLL(4)
        for (int j = 0; j < b->vectors; j++) {
            const int lanes = occ_q_lanes(b->lanes, j);
            if (lanes > 0)
                add[j] = occ_dot(add[j], zero, occ_quads_of(occ_viload(w + j * OCC_W, lanes), 1, how.kind), how.kind);
        }
    }
}

/* Adds one row of taps to a tile whose columns all see the taps t. */
OCC_HOT void occ_q_taps(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, occ_vi *acc, const uint8_t *x,
                        const int32_t *w, occ_taps t, occ_q_ahead ahead, int columns)
{
    const int64_t across = q->g.stride[2] * q->g.xaxis[2], step = q->g.dilation[2] * q->g.xaxis[2];
    const int64_t rows = (q->g.inputs + 3) / 4, tap = rows * b->pitch;
    const int     joined = step == q->g.inputs && q->g.inputs % 4 == 0;
    const int64_t runs = joined ? 1 : t.last - t.first, each = joined ? t.last - t.first : 1;
    for (int64_t n = t.first; n < t.first + runs; n++)
        occ_q_run(q, how, b, acc, x + n * step, across, w + n * tap, each, occ_q_ahead_by(ahead, n * rows), columns);
}

/* Adds one row of taps to an edge tile at column `at` (literal), some of whose columns miss taps: for these the tap
 * outside reads the zero point. */
OCC_HOT void occ_q_taps_edge(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, occ_vi *acc, const uint8_t *x,
                             const int32_t *w, int64_t at, occ_q_ahead ahead, int columns)
{
    const int64_t across = q->g.stride[2] * q->g.xaxis[2], step = q->g.dilation[2] * q->g.xaxis[2];
    const int64_t rows = (q->g.inputs + 3) / 4, tap = rows * b->pitch, taps = q->g.kernel[2];
    OCC_UNROLL(OCC_CONV_TAPS)
    for (int64_t n = 0; n < taps; n++) {
        const int64_t from = q->g.pad[2] - n * q->g.dilation[2], to = from + q->g.in[2];
        const int64_t least = occ_max(occ_ceil_div(from, q->g.stride[2]) - at, 0), first = occ_min(least, columns);
        const int64_t most = occ_max(occ_ceil_div(to, q->g.stride[2]) - at, first), last = occ_min(most, columns);
        if (first > 0 || last < columns) {
            occ_vi add[4] = {occ_viset(0), occ_viset(0), occ_viset(0), occ_viset(0)};
            occ_q_outside(q, how, b, add, w + n * tap, 1);
            OCC_UNROLL(32)
            for (int c = 0; c < columns; c++) {
                OCC_UNROLL(4)
                for (int j = 0; j < b->vectors; j++)
                    if (c < first || c >= last)
                        acc[c * b->vectors + j] += add[j];
            }
        }
        if (first < last)
            occ_q_run(q, how, b, acc + first * b->vectors, x + n * step + first * across, across, w + n * tap, 1,
                      occ_q_ahead_by(ahead, n * rows), (int)(last - first));
    }
}

/* Starts the sums: the biases, less the zero point's share where the bias does not contain it, and the taps outside the
 * image that all pixels share. */
OCC_HOT void occ_q_start(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, occ_vi *start, occ_taps d,
                         occ_taps h, occ_taps t)
{
    const int64_t tap = (q->g.inputs + 3) / 4 * b->pitch, row = q->g.kernel[2] * tap;
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int n = occ_q_lanes(b->stored, j);
        start[j] = q->bias && n > 0 ? occ_viload(q->bias + b->channel + j * OCC_W, n) : occ_viset(0);
        if (q->sums && n > 0)
            start[j] -= occ_viset(q->zero) * occ_viload(q->sums + b->channel + j * OCC_W, n);
    }
    for (int64_t i = 0; i < q->g.kernel[0] && q->zero != 0; i++)
        for (int64_t k = 0; k < q->g.kernel[1]; k++) {
            const int32_t *w = b->w + (i * q->g.kernel[1] + k) * row;
            const int      hidden = i < d.first || i >= d.last || k < h.first || k >= h.last;
            for (int64_t n = 0; n < q->g.kernel[2]; n++)
                if (hidden || n < t.first || n >= t.last)
                    occ_q_outside(q, how, b, start, w + n * tap, 1);
        }
}

/* Copies these starts to the sums of `columns` pixels. */
OCC_HOT void occ_q_fill(occ_vi *acc, const occ_vi *start, int vectors, int columns)
{
    OCC_UNROLL(32)
    for (int i = 0; i < columns; i++) {
        OCC_UNROLL(4)
        for (int j = 0; j < vectors; j++)
            acc[i * vectors + j] = start[j];
    }
}

/* Applies the expression to the sums of a tile and stores the results. `pixel` is the number of the first pixel. */
OCC_HOT void occ_q_store(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, const occ_vi *acc, int64_t y,
                         int64_t pixel, int columns)
{
    OCC_UNROLL(32)
    for (int c = 0; c < columns; c++) {
        occ_expr e = q->g.e;
        occ_vi   sums[4];
        OCC_UNROLL_LANES(8)
        for (int k = 0; k < 8; k++)
            e.at[k] += k < q->g.fused->nx ? (pixel + c * q->g.pixel[4]) * q->g.fused->pitch[k] : 0;
        OCC_UNROLL(4)
        for (int j = 0; j < b->vectors; j++)
            sums[j] = acc[c * b->vectors + j];
        occ_put_pixel(how.put, q->y, y + c * q->g.yaxis[2] + b->channel * q->g.ychannel, q->g.ychannel, sums,
                      b->vectors, b->stored, &e, b->channel, q->g.fused->fn, q->yzero);
    }
}

/* The first tap of the window at plane z, row r, column c of an image, perhaps outside of it. */
OCC_HOT const uint8_t *occ_q_window(const occ_conv_q *q, int64_t image, int64_t z, int64_t r, int64_t c)
{
    const occ_conv *g = &q->g;
    return q->x + (image * g->xbatch + (z * g->stride[0] - g->pad[0]) * g->xaxis[0] +
                   (r * g->stride[1] - g->pad[1]) * g->xaxis[1] + (c * g->stride[2] - g->pad[2]) * g->xaxis[2]);
}

/* One tile of `columns` pixels (literal) at plane z, row r, column c of an image. All pixels see the same taps of depth
 * and height. They see the taps t across; at an edge (literal; c is then, too) t is what any column may see. */
OCC_HOT void occ_q_tile(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, int64_t image, int64_t z, int64_t r,
                        int64_t c, occ_taps t, int edge, int columns)
{
    const occ_conv   *g = &q->g;
    const occ_taps    d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const int64_t     rows = g->kernel[2] * ((g->inputs + 3) / 4), pixel = occ_conv_pixel(g, image, z, r, c);
    const uint8_t    *x = occ_q_window(q, image, z, r, c);
    const occ_q_ahead ahead = occ_q_ahead_of(q, b, pixel, columns);
    occ_vi            start[4], acc[OCC_TILE_MAX];
    occ_q_start(q, how, b, start, d, h, t);
    occ_q_fill(acc, start, b->vectors, columns);
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++) {
            const uint8_t *from = x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1];
            const int64_t  before = (i * g->kernel[1] + k) * rows;
            const int32_t *w = b->w + before * b->pitch;
            if (edge)
                occ_q_taps_edge(q, how, b, acc, from, w, c, occ_q_ahead_by(ahead, before), columns);
            else
                occ_q_taps(q, how, b, acc, from, w, t, occ_q_ahead_by(ahead, before), columns);
        }
    occ_q_store(q, how, b, acc, image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2], pixel,
                columns);
}

/* The block of `count` channels from `from` on. */
OCC_HOT occ_q_block occ_q_block_of(const occ_conv_q *q, int64_t group, int64_t from, int64_t count)
{
    const int64_t depth = occ_q_depth(q), outputs = q->g.outputs;
    const int64_t tail = outputs % OCC_PANEL, narrow = (tail + 3) / 4 * 4, within = from % OCC_PANEL,
                  before = from - within;
    occ_q_block b;
    b.pitch = before + OCC_PANEL <= outputs ? OCC_PANEL : narrow;
    b.channel = group * outputs + from;
    b.w = q->w + group * (outputs - tail + narrow) * depth + before * depth + within;
    b.vectors = (int)((count + OCC_W - 1) / OCC_W);
    b.stored = (int)count;
    b.lanes = (int)(b.pitch - within);
    return b;
}

/* One pixel of any geometry and one block of channels. One copy of the code serves all types of results. */
OCC_HOT void occ_q_pixel(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, int64_t image, int64_t z, int64_t r,
                         int64_t c)
{
    occ_q_block wide = *b;
    wide.vectors = OCC_Q_VECTORS;
    occ_q_tile(q, how, &wide, image, z, r, c, occ_conv_taps(&q->g, 2, c), 0, 1);
}

OCC_STEP void occ_q_pixel_signed(const occ_conv_q *q, const occ_q_block *b, occ_fn_put put, int64_t image, int64_t z,
                                 int64_t r, int64_t c)
{
    const occ_q_how how = {1, OCC_DOT_SIGNED, put};
    occ_q_pixel(q, how, b, image, z, r, c);
}

OCC_STEP void occ_q_pixel_unsigned(const occ_conv_q *q, const occ_q_block *b, occ_fn_put put, int64_t image, int64_t z,
                                   int64_t r, int64_t c)
{
    const occ_q_how how = {0, OCC_DOT_UNSIGNED, put};
    occ_q_pixel(q, how, b, image, z, r, c);
}

/* ------------------------------------------------------------------------------------------------- literal geometry */

/* One row: tiles at the edges, where columns miss taps, and full tiles between them. */
OCC_HOT void occ_q_row(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, int64_t image, int64_t z, int64_t r)
{
    const occ_conv_cut cut = occ_conv_cut_row(q->g.out[2], OCC_Q_ROWS(b->vectors));
    const occ_taps     inside = occ_conv_interior(&q->g, 2), all = {0, q->g.kernel[2]};
    const int          left = inside.first > 0, right = inside.last < q->g.out[2];
    const int          first = (int)(cut.larger > 0 ? cut.size + 1 : cut.size), last = (int)cut.size;
    int64_t            c = 0, larger = cut.larger - (left && cut.larger > 0),
            others = cut.tiles - cut.larger - (left && !cut.larger) - right;
    if (cut.tiles == 1) {
        if (first > 0)
            occ_q_tile(q, how, b, image, z, r, 0, all, left || right, first);
        return;
    }
    if (left) {
        occ_q_tile(q, how, b, image, z, r, 0, all, 1, first);
        c = first;
    }
    for (; larger > 0; larger--, c += first)
        occ_q_tile(q, how, b, image, z, r, c, all, 0, first);
    for (; others > 0; others--, c += last)
        occ_q_tile(q, how, b, image, z, r, c, all, 0, last);
    if (right)
        occ_q_tile(q, how, b, image, z, r, q->g.out[2] - last, all, 1, last);
}

/* All channels of one group, `vectors` (literal) vectors at a time, then the remainder. */
OCC_HOT void occ_q_channels(const occ_conv_q *q, occ_q_how how, int64_t group, int vectors)
{
    const int64_t wide = vectors * OCC_W, rest = q->g.outputs % wide;
    for (int64_t from = 0; from + wide <= q->g.outputs; from += wide) {
        occ_q_block b = occ_q_block_of(q, group, from, wide);
        b.lanes = (int)wide;
        for (int64_t image = 0; image < q->g.batch; image++)
            for (int64_t z = 0; z < q->g.out[0]; z++)
                for (int64_t r = 0; r < q->g.out[1]; r++)
                    occ_q_row(q, how, &b, image, z, r);
    }
    if (rest > 0) {
        const occ_q_block b = occ_q_block_of(q, group, q->g.outputs - rest, rest);
        for (int64_t image = 0; image < q->g.batch; image++)
            for (int64_t z = 0; z < q->g.out[0]; z++)
                for (int64_t r = 0; r < q->g.out[1]; r++)
                    occ_q_row(q, how, &b, image, z, r);
    }
}

#endif
