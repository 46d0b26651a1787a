/* occ_open_q.h - convolutions of 8-bit integers with literal channels and windows, of images whose extents are
 * variables: tiles of literal sizes, of which as many are taken as fit. Knows nothing of ONNX's padding modes. */
#ifndef OCC_OPEN_Q_H
#define OCC_OPEN_Q_H

#include "occ_runs.h"
#include "occ_strip_q.h"

/* ------------------------------------------------------------------------------------------------ bytes as they are */

/* The least pixels of a tile along a row; fewer are taken down the image. */
#define OCC_Q_LEAST 4

/* One tile of `pixels` (literal) pixels from row r, column c on, along a row or `down` (literal) a column, all of which
 * see the taps d, h and t. */
OCC_HOT void occ_q_tile_open(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, int64_t image, int64_t z,
                             int64_t r, int64_t c, occ_taps d, occ_taps h, occ_taps t, int down, int pixels)
{
    const occ_conv   *g = &q->g;
    const int64_t     rows = (g->inputs + 3) / 4, step = g->dilation[2] * g->xaxis[2];
    const int64_t     across = down ? g->stride[1] * g->xaxis[1] : g->stride[2] * g->xaxis[2];
    const int         joined = step == g->inputs && g->inputs % 4 == 0;
    const int64_t     runs = joined ? 1 : t.last - t.first, each = joined ? t.last - t.first : 1;
    const int64_t     pixel = occ_conv_pixel(g, image, z, r, c);
    const uint8_t    *x = occ_q_window(q, image, z, r, c);
    const occ_q_ahead ahead = occ_q_ahead_of(q, b, pixel, pixels);
    const int64_t     y = image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    occ_vi            start[4], acc[OCC_TILE_MAX];
    occ_q_start(q, how, b, start, d, h, t);
    occ_q_fill(acc, start, b->vectors, pixels);
    for (int64_t i = d.first; i < d.last; i++)
        for (int64_t k = h.first; k < h.last; k++) {
            const uint8_t *from = x + i * g->dilation[0] * g->xaxis[0] + k * g->dilation[1] * g->xaxis[1];
            for (int64_t n = t.first; n < t.first + runs; n++) {
                const int64_t before = ((i * g->kernel[1] + k) * g->kernel[2] + n) * rows;
                occ_q_run(q, how, b, acc, from + n * step, across, b->w + before * b->pitch, each,
                          occ_q_ahead_by(ahead, before), pixels);
            }
        }
    if (down) {
        occ_conv_q turned = *q;
        turned.g.yaxis[2] = g->yaxis[1];
        turned.g.pixel[4] = g->pixel[3];
        occ_q_store(&turned, how, b, acc, y, pixel, pixels);
    } else {
        occ_q_store(q, how, b, acc, y, pixel, pixels); /* without a copy of q, which takes longer than a small tile */
    }
}

/* The tiles of a row as `ends` has them; their columns see all taps across. */
OCC_HOT void occ_q_run_open(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, int64_t image, int64_t z,
                            int64_t r, int64_t c, occ_conv_ends ends, occ_taps d, occ_taps h)
{
    const int      full = OCC_Q_ROWS(b->vectors);
    const occ_taps all = {0, q->g.kernel[2]};
    OCC_ROLL
    for (; c + full <= ends.full; c += full)
        occ_q_tile_open(q, how, b, image, z, r, c, d, h, all, 0, full);
    OCC_UNROLL(OCC_CONV_SHORTER)
    for (int n = 0; n < OCC_CONV_SHORTER; n++) {
        const int pixels = occ_conv_shorter(full, OCC_Q_LEAST, n);
        OCC_ROLL
        for (; pixels > 0 && c + pixels <= ends.shorter[n]; c += pixels)
            occ_q_tile_open(q, how, b, image, z, r, c, d, h, all, 0, pixels);
    }
}

/* Rows r to end - 1, which see the same taps. The columns that are left of a row, and those that miss taps, are taken
 * downwards. */
OCC_HOT void occ_q_band_open(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, int64_t image, int64_t z,
                             int64_t r, int64_t end, occ_taps d, occ_taps h)
{
    const occ_taps      inside = occ_conv_interior(&q->g, 2);
    const occ_conv_ends ends = occ_conv_ends_of(inside.first, inside.last, OCC_Q_ROWS(b->vectors), OCC_Q_LEAST);
    const int64_t       left = ends.shorter[OCC_CONV_SHORTER - 1];
    OCC_ROLL
    for (int64_t k = r; k < end; k++)
        occ_q_run_open(q, how, b, image, z, k, inside.first, ends, d, h);
    OCC_ROLL
    for (int64_t c = inside.first > 0 ? 0 : left; c < q->g.out[2]; c = c + 1 == inside.first ? left : c + 1) {
        const occ_taps t = occ_conv_taps(&q->g, 2, c);
        int64_t        k = r;
        OCC_ROLL
        for (; k + OCC_Q_LEAST <= end; k += OCC_Q_LEAST)
            occ_q_tile_open(q, how, b, image, z, k, c, d, h, t, 1, OCC_Q_LEAST);
        OCC_ROLL
        for (; k < end; k++)
            occ_q_tile_open(q, how, b, image, z, k, c, d, h, t, 1, 1);
    }
}

/* All rows of a block of channels; consecutive ones that see all taps form a band. */
OCC_HOT void occ_q_rows_open(const occ_conv_q *q, occ_q_how how, const occ_q_block *b)
{
    const occ_taps inside = occ_conv_interior(&q->g, 1);
    for (int64_t image = 0; image < q->g.batch; image++)
        for (int64_t z = 0; z < q->g.out[0]; z++)
            for (int64_t r = 0, next; r < q->g.out[1]; r = next) {
                next = r < inside.first || r >= inside.last ? r + 1 : inside.last;
                occ_q_band_open(q, how, b, image, z, r, next, occ_conv_taps(&q->g, 0, z), occ_conv_taps(&q->g, 1, r));
            }
}

/* All channels of one group, `vectors` (literal) vectors at a time, then the remainder. */
OCC_HOT void occ_q_channels_open(const occ_conv_q *q, occ_q_how how, int64_t group, int vectors)
{
    const int64_t wide = vectors * OCC_W, rest = q->g.outputs % wide;
    for (int64_t from = 0; from + wide <= q->g.outputs; from += wide) {
        occ_q_block b = occ_q_block_of(q, group, from, wide);
        b.lanes = (int)wide;
        occ_q_rows_open(q, how, &b);
    }
    if (rest > 0) {
        const occ_q_block b = occ_q_block_of(q, group, q->g.outputs - rest, rest);
        occ_q_rows_open(q, how, &b);
    }
}

/* -------------------------------------------------------------------------------------------------- strips of pairs */

/* `count` results of a row from column c on, for one block of channels: full tiles of `most` (literal) pixels, then
 * tiles half as wide and less. */
OCC_HOT void occ_strip_block_open(const occ_conv_q *q, occ_q_how how, const occ_q_block *b, const occ_strip *s,
                                  int64_t image, int64_t z, int64_t r, int64_t c, int64_t count, int most)
{
    const occ_conv *g = &q->g;
    const occ_taps  d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r), all = {0, g->kernel[2]};
    const int64_t   y = image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    const int64_t   pixel = occ_conv_pixel(g, image, z, r, c);
    const char     *next = occ_strip_next(q, b, s, count / most);
    int64_t         at = 0;
    occ_vi          start[4] = {occ_viset(0), occ_viset(0), occ_viset(0), occ_viset(0)};
    occ_q_start(q, how, b, start, d, h, all);
    if (s->wide)
        occ_strip_weigh(b, s);
    OCC_ROLL
    for (; at + most <= count; at += most, next += s->rows * s->pace)
        occ_strip_tile(q, how, b, s, start, d, h, at, y + at * g->yaxis[2], pixel + at * g->pixel[4], most, next);
    OCC_UNROLL(5)
    for (int pixels = 16; pixels > 0; pixels /= 2)
        if (pixels < most && at + pixels <= count) {
            occ_strip_tile(q, how, b, s, start, d, h, at, y + at * g->yaxis[2], pixel + at * g->pixel[4], pixels, next);
            at += pixels;
        }
}

/* One row of one group, a strip of at most `columns` (literal) results at a time. */
OCC_HOT void occ_strip_row_open(const occ_conv_q *q, occ_q_how how, const occ_strip *s, int64_t group, int64_t image,
                                int64_t z, int64_t r, int vectors, int64_t columns)
{
    const int     most = (int)occ_min(OCC_Q_ROWS(vectors), columns);
    const int64_t wide = vectors * OCC_W, rest = q->g.outputs % wide, each = columns / most * most;
    for (int64_t c = 0; c < q->g.out[2]; c += each) {
        const int64_t    count = occ_min(each, q->g.out[2] - c);
        const occ_conv_q lent = *q; /* a variable whose address is passed is no longer literal, so a copy is passed */
        const occ_strip  filled = *s;
        occ_strip_fill(&lent, &filled, image, z, r, c, how.is_signed);
        for (int64_t from = 0; from + wide <= q->g.outputs; from += wide) {
            occ_q_block b = occ_q_block_of(q, group, from, wide);
            b.lanes = (int)wide;
            occ_strip_block_open(q, how, &b, s, image, z, r, c, count, most);
        }
        if (rest > 0) {
            const occ_q_block b = occ_q_block_of(q, group, q->g.outputs - rest, rest);
            occ_strip_block_open(q, how, &b, s, image, z, r, c, count, (int)occ_min(OCC_Q_ROWS(b.vectors), columns));
        }
    }
}

/* All rows of one group of channels. */
OCC_HOT void occ_strip_group_open(const occ_conv_q *q, occ_q_how how, int32_t *pairs, int64_t group, int vectors,
                                  int64_t columns, int widens)
{
    const occ_strip s = occ_strip_make(q, pairs, columns, widens);
    for (int64_t image = 0; image < q->g.batch; image++)
        for (int64_t z = 0; z < q->g.out[0]; z++)
            for (int64_t r = 0; r < q->g.out[1]; r++)
                occ_strip_row_open(q, how, &s, group, image, z, r, vectors, columns);
}

/* All groups. q is a copy: of one for all forms of the kernel GCC would lose track. Strips hold signed bytes as they
 * are. */
OCC_HOT void occ_q_open(occ_conv_q q, occ_q_how how, int32_t *pairs, const occ_q_form *form, int is_signed)
{
    const int       strips = OCC_STRIPS && form->strip > 0 && !(form->safe && occ_dot_whole(OCC_DOT_SAFE));
    const occ_q_how widened = {is_signed, is_signed ? OCC_DOT_SIGNED : how.kind, how.put};
    if (strips && q.flip) {
        q.zero -= 128;
        q.flip = 0;
    }
    for (int64_t group = 0; group < form->groups; group++, q.x += q.g.inputs)
        if (strips)
            occ_strip_group_open(&q, widened, pairs, group, OCC_Q_VECTORS, form->strip, form->kept > 0);
        else
            occ_q_channels_open(&q, how, group, OCC_Q_VECTORS);
}

#endif
