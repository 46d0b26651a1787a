/* occ_strip_q.h - convolutions of 8-bit integers for processors that multiply pairs of 16-bit integers. The inputs of a
 * strip of pixels are widened to 16 bits once, and then multiplied with all weights. Knows nothing of ONNX's padding
 * modes. */
#ifndef OCC_STRIP_Q_H
#define OCC_STRIP_Q_H

#include "occ_conv_q.h"

#if defined(OCC_DOT_WORDS) && !defined(OCC_DOT_FOUR)
#define OCC_STRIPS 1
#else
#define OCC_STRIPS 0
#endif

#define OCC_STRIP_FAR (64 * 1024) /* bytes of weights that are prefetched, since caches near the processor lose them */

/* A strip: the widened inputs of consecutive results of a row, [row of taps][2][pixel][fours]. Of each four bytes, the
 * even ones are one pair, in the first half; the odd ones are another, in the second half. */
typedef struct occ_strip {
    int32_t *pairs;
    int32_t *wide; /* weights of a block as pairs for all pixels of a strip, [2][tap][fours][vectors]; or NULL */
    int64_t  fours, plane; /* pairs of one pixel, and of all pixels of a row of taps */
    int64_t  step, apart;  /* pixels of the strip between results; pixels of the image between those of the strip */
    int64_t  rows;         /* fours of a filter */
    int64_t  pace; /* bytes of the next panel that are prefetched at each four of a tile, such that all tiles of a panel
                      prefetch all; 0: none */
    const occ_conv_q *windows; /* the convolution whose windows are gathered, or NULL */
} occ_strip;

/* A strip for at most `columns` results. Where the window is one tap wide, the pixels that a stride skips are left
 * out. */
OCC_HOT occ_strip occ_strip_make(const occ_conv_q *q, int32_t *pairs, int64_t columns, int widens)
{
    const int64_t   taps = q->g.kernel[2], step = taps == 1 ? 1 : q->g.stride[2], fours = q->g.inputs / 4;
    const int64_t   plane = ((columns - 1) * step + (taps - 1) * q->g.dilation[2] + 1) * fours;
    const int64_t   high = q->g.kernel[0] * q->g.kernel[1], rows = high * taps * fours;
    const int64_t   tiles = occ_max(columns / OCC_Q_ROWS(OCC_Q_VECTORS), 1);
    const occ_strip s = {pairs, widens ? pairs + high * 2 * plane : NULL,
                         fours, plane,
                         step,  taps == 1 ? q->g.stride[2] : 1,
                         rows,  4 * rows * q->g.outputs >= OCC_STRIP_FAR ? 4 * OCC_Q_VECTORS * OCC_W / tiles : 0,
                         NULL};
    return s;
}

/* --------------------------------------------------------------------------------------------------------- widening */

/* Widens `fours` groups of four bytes to pairs, the even and the odd ones. */
OCC_HOT void occ_strip_widen(const occ_strip *s, int32_t *to, const uint8_t *x, int64_t fours, int is_signed)
{
    int64_t i = 0;
    for (; i + OCC_W <= fours; i += OCC_W) {
        const occ_vi    bytes = occ_viload((const int32_t *)(const void *)(x + 4 * i), OCC_W);
        const occ_quads v = occ_quads_of(bytes, is_signed, OCC_DOT_SIGNED);
        memcpy(to + i, &v.even, sizeof v.even);
        memcpy(to + s->plane + i, &v.odd, sizeof v.odd);
    }
    for (; i < fours; i++) {
        const occ_quads v = occ_quads_of(occ_viset(occ_four_bytes(x + 4 * i, 4)), is_signed, OCC_DOT_SIGNED);
        memcpy(to + i, &v.even, sizeof *to);
        memcpy(to + s->plane + i, &v.odd, sizeof *to);
    }
}

/* Fills pixels first to last - 1 of a row of taps with the zero point. */
OCC_HOT void occ_strip_border(const occ_conv_q *q, const occ_strip *s, int32_t *to, int64_t first, int64_t last)
{
    const int32_t pair = (int32_t)((uint32_t)(q->zero & 0xffff) * 0x10001u);
    for (int64_t i = first * s->fours; i < last * s->fours; i++)
        to[i] = to[s->plane + i] = pair;
}

/* Widens `pixels` pixels of a row of taps for results from column c on; x is the image's row. */
OCC_HOT void occ_strip_line(const occ_conv_q *q, const occ_strip *s, int32_t *to, const uint8_t *x, int64_t c,
                            int64_t pixels, int is_signed)
{
    const int64_t begin = c * q->g.stride[2] - q->g.pad[2], across = s->apart * q->g.xaxis[2];
    const int64_t first = occ_min(occ_max(occ_ceil_div(-begin, s->apart), 0), pixels);
    const int64_t last = occ_max(occ_min(occ_ceil_div(q->g.in[2] - begin, s->apart), pixels), first);
    occ_strip_border(q, s, to, 0, first);
    occ_strip_border(q, s, to, last, pixels);
    x += (begin + first * s->apart) * q->g.xaxis[2];
    to += first * s->fours;
    if (across == q->g.inputs)
        occ_strip_widen(s, to, x, (last - first) * s->fours, is_signed);
    for (int64_t p = 0; across != q->g.inputs && p < last - first; p++)
        occ_strip_widen(s, to + p * s->fours, x + p * across, s->fours, is_signed);
}

/* Row `i` of taps in depth and `k` in height of the windows of plane z, row r, perhaps outside the image. */
OCC_HOT const uint8_t *occ_strip_row_of(const occ_conv_q *q, int64_t image, int64_t z, int64_t r, int64_t i, int64_t k)
{
    const occ_conv *g = &q->g;
    return q->x + (image * g->xbatch + (z * g->stride[0] - g->pad[0] + i * g->dilation[0]) * g->xaxis[0] +
                   (r * g->stride[1] - g->pad[1] + k * g->dilation[1]) * g->xaxis[1]);
}

/* Widens the window of one result: all its taps are consecutive from `to` on. */
OCC_HOT void occ_strip_window(const occ_conv_q *q, const occ_strip *s, int32_t *to, int64_t image, int64_t z, int64_t r,
                              int64_t c, int is_signed)
{
    const occ_conv *g = &q->g;
    const occ_taps  d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const occ_strip taps = {NULL, NULL, g->inputs / 4, s->plane, 1, g->dilation[2], 0, 0, NULL};
    for (int64_t i = 0; i < g->kernel[0]; i++)
        for (int64_t k = 0; k < g->kernel[1]; k++, to += g->kernel[2] * taps.fours)
            if (i >= d.first && i < d.last && k >= h.first && k < h.last)
                occ_strip_line(q, &taps, to, occ_strip_row_of(q, image, z, r, i, k), c, g->kernel[2], is_signed);
            else
                occ_strip_border(q, &taps, to, 0, g->kernel[2]);
}

/* Widens the windows of results from number c on, as many as the strip holds. They are numbered row by row. */
OCC_HOT void occ_strip_gather(const occ_conv_q *q, const occ_strip *s, int64_t image, int64_t c, int is_signed)
{
    const int64_t *out = q->g.out, last = occ_min(c + s->plane / s->fours, out[0] * out[1] * out[2]);
    for (int64_t n = c; n < last; n++) {
        const int64_t row = n / out[2];
        occ_strip_window(q, s, s->pairs + (n - c) * s->fours, image, row / out[1], row % out[1], n % out[2], is_signed);
    }
}

/* Widens all rows of taps that results of plane z, row r, from column c on need. */
OCC_HOT void occ_strip_lines(const occ_conv_q *q, const occ_strip *s, int64_t image, int64_t z, int64_t r, int64_t c,
                             int is_signed)
{
    const occ_taps d = occ_conv_taps(&q->g, 0, z), h = occ_conv_taps(&q->g, 1, r);
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++)
            occ_strip_line(q, s, s->pairs + (i * q->g.kernel[1] + k) * 2 * s->plane,
                           occ_strip_row_of(q, image, z, r, i, k), c, s->plane / s->fours, is_signed);
}

/* Fills the strip for results of plane z, row r, from column c on. */
OCC_STEP void occ_strip_fill(const occ_conv_q *q, const occ_strip *s, int64_t image, int64_t z, int64_t r, int64_t c,
                             int is_signed)
{
    if (s->windows && is_signed)
        occ_strip_gather(s->windows, s, image, c, 1);
    else if (s->windows)
        occ_strip_gather(s->windows, s, image, c, 0);
    else if (is_signed)
        occ_strip_lines(q, s, image, z, r, c, 1);
    else
        occ_strip_lines(q, s, image, z, r, c, 0);
}

/* ------------------------------------------------------------------------------------------------------------ tiles */

#if OCC_STRIPS
/* Widens the even or the odd bytes of four weights in each lane. */
OCC_HOT occ_vi occ_strip_weights(const int32_t *w, int lanes, int odd)
{
    const occ_vi v = occ_viload(w, lanes);
    return odd ? (occ_vi)((occ_vh)v >> 8) : (occ_vi)(((occ_vh)v << 8) >> 8);
}
#endif

/* Widens all weights of a block to pairs. */
OCC_HOT void occ_strip_weigh(const occ_q_block *b, const occ_strip *s)
{
#if OCC_STRIPS
    const int32_t *w = b->w;
    int32_t       *even = s->wide, *odd = even + s->rows * b->vectors * OCC_W;
    for (int64_t k = 0; k < s->rows; k++, w += b->pitch) {
        OCC_UNROLL(4)
        for (int j = 0; j < b->vectors; j++, even += OCC_W, odd += OCC_W) {
            const int    lanes = occ_q_lanes(b->lanes, j);
            const occ_vi none = occ_viset(0), first = lanes > 0 ? occ_strip_weights(w + j * OCC_W, lanes, 0) : none;
            const occ_vi second = lanes > 0 ? occ_strip_weights(w + j * OCC_W, lanes, 1) : none;
            memcpy(even, &first, sizeof first);
            memcpy(odd, &second, sizeof second);
        }
    }
#else
    (void)b, (void)s;
#endif
}

/* acc += `pairs` steps of two inputs; w holds whole vectors of pairs. From `next` on, `pace` bytes (literal) are
 * prefetched at each step. */
OCC_HOT void occ_strip_pairs(const occ_strip *s, const occ_q_block *b, occ_vi *acc, const int32_t *x, const int32_t *w,
                             int64_t pairs, int columns, const char *next, int64_t pace)
{
#if OCC_STRIPS
    OCC_ROLL
    for (int64_t k = 0; k < pairs; k++, x++, w += b->vectors * OCC_W) {
        occ_vi panel[4];
        if (pace > 0)
            OCC_PREFETCH(next + k * pace);
        OCC_UNROLL(4)
        for (int j = 0; j < b->vectors; j++)
            panel[j] = occ_viload(w + j * OCC_W, OCC_W);
        OCC_UNROLL(32)
        for (int c = 0; c < columns; c++) {
            const occ_vi pair = occ_vispread((const uint8_t *)(x + c * s->step * s->fours), 4, 0);
            OCC_UNROLL(4)
            for (int j = 0; j < b->vectors; j++)
                acc[c * b->vectors + j] += occ_dot_words(pair, panel[j]);
        }
    }
#else
    (void)s, (void)b, (void)acc, (void)x, (void)w, (void)pairs, (void)columns, (void)next, (void)pace;
#endif
}

/* acc += `fours` steps of four inputs. All even bytes are multiplied before the odd ones, so that a tile and its
 * operands fit the registers. From `next` on, s->pace bytes are prefetched at each step. */
OCC_HOT void occ_strip_run(const occ_strip *s, const occ_q_block *b, occ_vi *acc, const int32_t *x, const int32_t *w,
                           int64_t fours, int columns, const char *next)
{
#if OCC_STRIPS
    OCC_ROLL
    for (int64_t k = 0; k < fours; k++, x++, w += b->pitch) {
        if (s->pace > 0)
            OCC_PREFETCH(next + k * s->pace);
        OCC_UNROLL(2)
        for (int odd = 0; odd < 2; odd++) {
            occ_vi panel[4] = {occ_viset(0), occ_viset(0), occ_viset(0), occ_viset(0)};
            OCC_UNROLL(4)
            for (int j = 0; j < b->vectors; j++) {
                const int lanes = occ_q_lanes(b->lanes, j);
                if (lanes > 0)
                    panel[j] = occ_strip_weights(w + j * OCC_W, lanes, odd);
            }
            OCC_UNROLL(32)
            for (int c = 0; c < columns; c++) {
                const int32_t *from = x + odd * s->plane + c * s->step * s->fours;
                const occ_vi   pair = occ_vispread((const uint8_t *)from, 4, 0);
                OCC_UNROLL(4)
                for (int j = 0; j < b->vectors; j++)
                    acc[c * b->vectors + j] = occ_dot_add(acc[c * b->vectors + j], pair, panel[j]);
            }
        }
    }
#else
    (void)s, (void)b, (void)acc, (void)x, (void)w, (void)fours, (void)columns, (void)next;
#endif
}

/* One tile of `columns` pixels (literal) from result `at` of the strip on. Its first pixel is number `pixel` and stored
 * at y. next: the weights to prefetch. */
OCC_HOT void occ_strip_tile(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, const occ_strip *s,
                            const occ_vi *start, occ_taps d, occ_taps h, int64_t at, int64_t y, int64_t pixel,
                            int columns, const char *next)
{
    const occ_conv *g = &q->g;
    const int64_t   wide = b->vectors * OCC_W;
    const int64_t   each = g->dilation[2] == 1 ? g->kernel[2] : 1, runs = g->kernel[2] / each;
    occ_vi          acc[OCC_TILE_MAX];
    occ_q_fill(acc, start, b->vectors, columns);
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++)
            for (int64_t n = 0; n < runs; n++) {
                const int64_t  first = ((i * g->kernel[1] + k) * g->kernel[2] + n) * s->fours, steps = each * s->fours;
                const int32_t *x =
                    s->pairs + (i * g->kernel[1] + k) * 2 * s->plane + (at * s->step + n * g->dilation[2]) * s->fours;
                const char *ahead = next + first * s->pace;
                if (!s->wide) {
                    occ_strip_run(s, b, acc, x, b->w + first * b->pitch, steps, columns, ahead);
                } else {
                    occ_strip_pairs(s, b, acc, x, s->wide + first * wide, steps, columns, ahead, s->pace);
                    occ_strip_pairs(s, b, acc, x + s->plane, s->wide + (s->rows + first) * wide, steps, columns, ahead,
                                    0);
                }
            }
    occ_q_store(q, how, b, acc, y, pixel, columns);
}

/* The weights that the first tile of a block prefetches: its part of the panel behind that of the block, of which each
 * tile in `tiles` prefetches the same number of bytes. */
OCC_HOT const char *occ_strip_next(const occ_conv_q *q, const occ_q_block *b, const occ_strip *s, int64_t tiles)
{
    const int64_t within = b->channel % q->g.outputs % OCC_PANEL;
    return occ_q_behind(q, b) + within / (OCC_Q_VECTORS * OCC_W) * tiles * s->rows * s->pace;
}

/* Some tiles of a row from column c on, for one block of channels: `larger` tiles of size + 1, then `others` of
 * `size`. */
OCC_HOT void occ_strip_block(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, const occ_strip *s,
                             int64_t image, int64_t z, int64_t r, int64_t c, int64_t larger, int64_t others,
                             occ_conv_cut cut)
{
    const occ_conv *g = &q->g;
    const occ_taps  d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r), all = {0, g->kernel[2]};
    const int64_t   y = image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    const int64_t   pixel = occ_conv_pixel(g, image, z, r, c);
    const int       size = (int)cut.size, more = cut.larger > 0 ? size + 1 : 0;
    const char     *next = occ_strip_next(q, b, s, larger + others);
    int64_t         at = 0;
    occ_vi          start[4] = {occ_viset(0), occ_viset(0), occ_viset(0), occ_viset(0)};
    occ_q_start(q, how, b, start, d, h, all);
    if (s->wide)
        occ_strip_weigh(b, s);
    for (; more > 0 && larger > 0; larger--, at += more, next += s->rows * s->pace)
        occ_strip_tile(q, how, b, s, start, d, h, at, y + at * g->yaxis[2], pixel + at * g->pixel[4], more, next);
    for (; size > 0 && others > 0; others--, at += size, next += s->rows * s->pace)
        occ_strip_tile(q, how, b, s, start, d, h, at, y + at * g->yaxis[2], pixel + at * g->pixel[4], size, next);
}

/* One row of one group, a strip at a time; `vectors` and `columns` are literals. */
OCC_HOT void occ_strip_row(const occ_conv_q *q, occ_q_how how, const occ_strip *s, int64_t group, int64_t image,
                           int64_t z, int64_t r, int vectors, int64_t columns)
{
    const occ_conv_cut cut = occ_conv_cut_row(q->g.out[2], occ_min(OCC_Q_ROWS(vectors), columns));
    const int64_t wide = vectors * OCC_W, rest = q->g.outputs % wide, tiles = columns / (cut.size + (cut.larger > 0));
    for (int64_t t = 0, c = 0; t < cut.tiles; t += tiles) {
        const int64_t    last = occ_min(t + tiles, cut.tiles), larger = occ_max(occ_min(cut.larger, last) - t, 0);
        const int64_t    others = last - t - larger;
        const occ_conv_q lent = *q; /* a variable whose address is passed is no longer literal, so a copy is passed */
        const occ_strip  filled = *s;
        occ_strip_fill(&lent, &filled, image, z, r, c, how.is_signed);
        for (int64_t from = 0; from + wide <= q->g.outputs; from += wide) {
            occ_q_block b = occ_q_block_of(q, group, from, wide);
            b.lanes = (int)wide;
            occ_strip_block(q, how, &b, s, image, z, r, c, larger, others, cut);
        }
        if (rest > 0) {
            const occ_q_block b = occ_q_block_of(q, group, q->g.outputs - rest, rest);
            occ_strip_block(q, how, &b, s, image, z, r, c, larger, others, cut);
        }
        c += larger * (cut.size + 1) + others * cut.size;
    }
}

/* Are the results of an image one long row? */
OCC_HOT int occ_strip_is_dense(const occ_conv *g)
{
    return (g->out[1] == 1 || g->yaxis[1] == g->out[2] * g->yaxis[2]) &&
           (g->out[0] == 1 || g->yaxis[0] == g->out[1] * g->out[2] * g->yaxis[2]);
}

/* The convolution of gathered windows: one tap with the inputs of all taps, and one long row of results. Its image is
 * the strip. */
OCC_HOT occ_conv_q occ_strip_flat(const occ_conv_q *q)
{
    const int64_t width = q->g.out[0] * q->g.out[1] * q->g.out[2];
    occ_conv_q    f = *q;
    f.g.inputs *= q->g.kernel[0] * q->g.kernel[1] * q->g.kernel[2];
    f.g.in[0] = f.g.in[1] = f.g.out[0] = f.g.out[1] = 1;
    f.g.in[2] = f.g.out[2] = width;
    f.g.kernel[0] = f.g.kernel[1] = f.g.kernel[2] = 1;
    f.g.stride[0] = f.g.stride[1] = f.g.stride[2] = 1;
    f.g.dilation[0] = f.g.dilation[1] = f.g.dilation[2] = 1;
    f.g.pad[0] = f.g.pad[1] = f.g.pad[2] = 0;
    return f;
}

/* All rows of one group of channels. */
OCC_HOT void occ_strip_group(const occ_conv_q *q, occ_q_how how, int32_t *pairs, int64_t group, int vectors,
                             int64_t columns, int widens)
{
    const occ_strip s = occ_strip_make(q, pairs, columns, widens);
    for (int64_t image = 0; image < q->g.batch; image++)
        for (int64_t z = 0; z < q->g.out[0]; z++)
            for (int64_t r = 0; r < q->g.out[1]; r++)
                occ_strip_row(q, how, &s, group, image, z, r, vectors, columns);
}

/* All results of one group of channels, whose windows are gathered. */
OCC_HOT void occ_strip_gathered(const occ_conv_q *q, occ_q_how how, int32_t *pairs, int64_t group, int vectors,
                                int64_t columns, int widens)
{
    const occ_conv_q windows = *q, flat = occ_strip_flat(q);
    occ_strip        s = occ_strip_make(&flat, pairs, columns, widens);
    s.windows = &windows;
    for (int64_t image = 0; image < q->g.batch; image++)
        occ_strip_row(&flat, how, &s, group, image, 0, 0, vectors, columns);
}

#endif
