/* winograd_f32.c - 3x3 convolution of stride 1 in the transformed domain (Winograd 1980; Lavin and Gray 2015, arXiv
 * 1509.09308): m x m results from (m + 2)^2 products instead of 9 m^2, m = 2 or 4. 1x3 ones, with any dilation: m
 * results from m + 2 products instead of 3 m. Knows nothing of when this pays. */
#include "conv_open_f32.c"
#include "occ_winograd.h"

/* The input transform of one row or column, in place: m + 2 vectors that are `step` apart. Products with powers of two
 * are exact. */
OCC_HOT void occ_winograd_in(occ_vf *d, int step, int m)
{
    if (m == 2) {
        const occ_vf a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
        d[0] = a - c;
        d[step] = b + c;
        d[2 * step] = c - b;
        d[3 * step] = b - e;
    } else {
        const occ_vf a = d[0], b = d[step], c = d[2 * step], e = d[3 * step], f = d[4 * step], g = d[5 * step];
        const occ_vf two = occ_vset(2.0f), four = occ_vset(4.0f), less = occ_vset(-5.0f);
        const occ_vf p = f - four * c, q = e - four * b, r = f - c, s = two * (e - b);
        d[0] = occ_vfma(less, c, four * a + f);
        d[step] = p + q;
        d[2 * step] = p - q;
        d[3 * step] = r + s;
        d[4 * step] = r - s;
        d[5 * step] = occ_vfma(less, e, four * b + g);
    }
}

/* The output transform of one row or column, in place: the first m of m + 2 vectors become the result. */
OCC_HOT void occ_winograd_out(occ_vf *d, int step, int m)
{
    const occ_vf a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    if (m == 2) {
        d[0] = a + b + c;
        d[step] = b - c - e;
    } else {
        const occ_vf f = d[4 * step], g = d[5 * step], p = b + c, q = b - c, r = e + f, s = e - f;
        d[0] = a + p + r;
        d[step] = q + occ_vset(2.0f) * s;
        d[2 * step] = p + occ_vset(4.0f) * r;
        d[3 * step] = q + occ_vset(8.0f) * s + g;
    }
}

#define OCC_WINOGRAD_OUTPUTS 128 /* channels whose products are in the scratch at the same time */

/* How tiles are grouped. m: results of a tile along a row, 2 or 4; group: tiles that are transformed together;
 * apart: elements of the weights from one frequency to the next. apart exceeds the current outputs if these are only a
 * part of all outputs. */
typedef struct occ_lots {
    int64_t m, group, apart;
} occ_lots;

/* One convolution. g: as in conv_f32; group: tiles that are transformed together; strides of weights and scratch
 * between frequencies; block: outputs whose products are computed together; v, m: scratch. */
typedef struct occ_winograd {
    occ_conv   g;
    occ_tiling tiling;
    int64_t    group, apart, vfrequency, mfrequency, block;
    float     *v, *m;
} occ_winograd;

/* The transformed input of n channels of tile t from channel c on, to v[frequency]. */
OCC_HOT void occ_winograd_load_lanes(const occ_winograd *p, const occ_tile_place *t, float *v, int64_t c, int n)
{
    const int     m = (int)p->tiling.m, wide = m + 2, high = occ_tiling_high(&p->tiling);
    const int64_t top = t->top - p->g.pad[1], left = t->left - p->g.pad[2], apart = p->tiling.apart;
    const float  *x = p->g.x + t->image * p->g.xbatch + top * p->g.xaxis[1] + left * p->g.xaxis[2] + c;
    occ_vf        d[36];
    OCC_UNROLL(6)
    for (int i = 0; i < high; i++) {
        const int row = top + i >= 0 && top + i < p->g.in[1];
        OCC_UNROLL(6)
        for (int k = 0; k < wide; k++) {
            const int64_t column = left + k * apart;
            const int     here = row && column >= 0 && column < p->g.in[2];
            d[i * wide + k] = here ? occ_vload(x + i * p->g.xaxis[1] + k * apart * p->g.xaxis[2], n) : occ_vset(0.0f);
        }
        occ_winograd_in(d + i * wide, 1, m);
    }
    OCC_UNROLL(6)
    for (int k = 0; k < wide; k++) {
        if (high > 1)
            occ_winograd_in(d + k, wide, m);
        OCC_UNROLL(6)
        for (int i = 0; i < high; i++)
            occ_vstore(v + (i * wide + k) * p->vfrequency + c, d[i * wide + k], n);
    }
}

/* Channels of `count` that are taken by vectors whose number of lanes is a literal, so that none of 36 loads tests it.
 * With wide vectors such loads take longer: GCC puts them in an order in which a tenth of the time is lost. */
OCC_HOT int64_t occ_winograd_whole(int64_t count)
{
    return OCC_W < 8 ? count - count % OCC_W : 0;
}

/* The transformed input of one tile: v[frequency][tile][channel]. */
OCC_HOT void occ_winograd_load(const occ_winograd *p, int64_t slot, int64_t tile)
{
    const occ_tile_place t = occ_tiling_at(&p->tiling, tile);
    const int64_t        whole = occ_winograd_whole(p->g.inputs);
    float               *v = p->v + slot * p->g.inputs;
    for (int64_t c = 0; c < whole; c += OCC_W)
        occ_winograd_load_lanes(p, &t, v, c, OCC_W);
    for (int64_t c = whole; c < p->g.inputs; c += OCC_W)
        occ_winograd_load_lanes(p, &t, v, c, (int)occ_min(OCC_W, p->g.inputs - c));
}

/* Transforms back and stores the results of tile t in the lanes of `b`. from: m[frequency] of its first channel. */
OCC_HOT void occ_winograd_store_lanes(const occ_winograd *p, const occ_tile_place *t, const occ_conv_block *b,
                                      const float *from)
{
    const int     m = (int)p->tiling.m, wide = m + 2, high = occ_tiling_high(&p->tiling), n = b->stored;
    const int64_t apart = p->tiling.apart;
    const occ_vf  start = p->g.bias ? occ_vload(p->g.bias + b->channel, n) : occ_vset(0.0f);
    float        *y = p->g.y + t->image * p->g.ybatch + t->top * p->g.yaxis[1] + t->left * p->g.yaxis[2];
    occ_vf        d[36];
    OCC_UNROLL(6)
    for (int i = 0; i < high; i++) {
        OCC_UNROLL(6)
        for (int k = 0; k < wide; k++)
            d[i * wide + k] = occ_vload(from + (i * wide + k) * p->mfrequency, n);
        occ_winograd_out(d + i * wide, 1, m);
    }
    OCC_UNROLL(4)
    for (int k = 0; k < m; k++) {
        if (high > 1)
            occ_winograd_out(d + k, wide, m);
        OCC_UNROLL(4)
        for (int i = 0; i < p->tiling.rows; i++) {
            const occ_vf v = d[i * wide + k] + start;
            if (t->top + i < p->g.out[1] && t->left + k * apart < p->g.out[2])
                occ_conv_store(&p->g, b, &v, y + i * p->g.yaxis[1] + k * apart * p->g.yaxis[2],
                               occ_conv_pixel(&p->g, t->image, 0, t->top + i, t->left + k * apart), 1, 1);
        }
    }
}

/* Transforms back and stores the results of one tile in channels `from` to from + count - 1, which are at
 * m[frequency][tile][channel - from]. */
OCC_HOT void occ_winograd_store(const occ_winograd *p, int64_t slot, int64_t tile, int64_t from, int64_t count)
{
    const occ_tile_place t = occ_tiling_at(&p->tiling, tile);
    const int64_t        whole = occ_winograd_whole(count);
    const float         *sums = p->m + slot * p->block;
    for (int64_t c = 0; c < whole; c += OCC_W) {
        const occ_conv_block b = {from + c, 0, 0, NULL, 1, OCC_W, OCC_W};
        occ_winograd_store_lanes(p, &t, &b, sums + c);
    }
    for (int64_t c = whole; c < count; c += OCC_W) {
        const int            n = (int)occ_min(OCC_W, count - c);
        const occ_conv_block b = {from + c, 0, 0, NULL, 1, n, n};
        occ_winograd_store_lanes(p, &t, &b, sums + c);
    }
}

/* The product of frequency f with `outputs` filters as a convolution of one row of `width` tiles. u: the first weights
 * of frequency 0. */
OCC_HOT occ_conv occ_winograd_product(const occ_winograd *p, const float *u, int64_t outputs, int f, int64_t width,
                                      int64_t pace)
{
    static const occ_fused none = {0, {0}, NULL};
    const int64_t          inputs = p->g.inputs;
    const occ_conv         g = {p->v + f * p->vfrequency,
                                u + f * p->apart,
                                NULL,
                                p->m + f * p->mfrequency,
                                1,
                                inputs,
                                outputs,
                                {1, 1, width},
                                {1, 1, width},
                                0,
                                1,
                                {0, 0, inputs},
                                0,
                                1,
                                {0, 0, p->block},
                                {1, 1, 1},
                                {1, 1, 1},
                                {1, 1, 1},
                                {0, 0, 0},
                                {0, 0, 0, 0, 0},
                                &none,
                                {{0}, {0}},
                                u,
                                p->apart - outputs * inputs,
                                pace};
    return g;
}

/* The steps of k for each cache line of weights that is prefetched while a group of tiles is multiplied. */
OCC_HOT int64_t occ_winograd_pace(const occ_winograd *p)
{
    const int64_t tiles = occ_conv_cut_row(p->group, OCC_TILE_ROWS(OCC_TILE_VECTORS)).tiles;
    return occ_conv_pace(occ_tiling_frequencies(&p->tiling) * p->g.outputs * p->g.inputs, tiles, OCC_TILE_VECTORS);
}

/* The products of all frequencies f with `outputs` filters whose first weights are at u: m[f] = v[f] * u[f], for
 * `width` tiles. */
OCC_HOT void occ_winograd_products(const occ_winograd *p, const float *u, int64_t outputs, int64_t width)
{
    const int64_t pace = occ_winograd_pace(p);
    for (int f = 0; f < occ_tiling_frequencies(&p->tiling); f++) {
        occ_conv g = occ_winograd_product(p, u, outputs, f, width, pace);
        OCC_FREE_VECTORS();
        occ_conv_channels(&g, 0, OCC_TILE_VECTORS, 0, 1, 0, 1, OCC_CONV_EDGES);
    }
}

/* The results of `count` tiles in channels `from` to from + outputs - 1. If the last block is narrower, each of the two
 * widths is a literal: code for any width is long, and C compilers take long for it. The products are of `width` tiles,
 * which may be more than `count`. */
OCC_HOT void occ_winograd_block(const occ_winograd *p, const float *u, int64_t first, int64_t count, int64_t width,
                                int64_t from, int64_t outputs)
{
    occ_winograd_products(p, u + from * p->g.inputs, outputs, width);
    for (int64_t slot = 0; slot < count; slot++)
        occ_winograd_store(p, slot, first + slot, from, outputs);
}

/* The convolution of an entry below, which has its operands and arguments. */
OCC_HOT occ_winograd occ_winograd_make(const float *x, const occ_image *x_at, const float *bias, float *y,
                                       const occ_image *y_at, float *scratch, const occ_window *window,
                                       const occ_lots *lots, const occ_expr *e, const occ_fused *fused)
{
    const occ_tiling tiling = occ_tiling_make(y_at, window, lots->m);
    const int64_t    block = occ_min(y_at->dim[1], OCC_WINOGRAD_OUTPUTS), vfrequency = lots->group * x_at->dim[1] + 16,
                  mfrequency = lots->group * block + 16;
    occ_winograd p = {occ_conv_make(x, x_at, NULL, bias, y, y_at, window, 1, fused, 0, 0),
                      tiling,
                      lots->group,
                      lots->apart,
                      vfrequency,
                      mfrequency,
                      block,
                      scratch,
                      scratch + occ_tiling_frequencies(&tiling) * vfrequency};
    if (e)
        p.g.e = *e;
    return p;
}

/* The width of a whole block of outputs. Where all are whole ones it is p->block, too, but no literal for GCC, which
 * otherwise unrolls the loop over k and runs a tenth more instructions. */
OCC_HOT int64_t occ_winograd_width(const occ_winograd *p, int64_t from)
{
    return p->g.outputs % p->block ? p->block : occ_min(p->block, p->g.outputs - from);
}

/* The transformed inputs of `count` tiles, and zeros for those up to `width`, whose results are not read. */
OCC_HOT void occ_winograd_load_group(const occ_winograd *p, int64_t first, int64_t count, int64_t width)
{
    for (int64_t slot = 0; slot < count; slot++)
        occ_winograd_load(p, slot, first + slot);
    for (int f = 0; f < occ_tiling_frequencies(&p->tiling) && count < width; f++)
        memset(p->v + f * p->vfrequency + count * p->g.inputs, 0,
               (size_t)((width - count) * p->g.inputs) * sizeof *p->v);
}

/* winograd - conv_f32 of stride 1 and one group, with a 3x3 kernel of dilation 1 by tiles of m x m results, or with a
 * 1x3 one by tiles of m results; F is (m + 2)^2 or m + 2.
 *   x, bias, y, e, fused  as in conv_f32; depth 1; the channels of x are neighbours
 *   u        G w G' or w G' of every filter, as panels: [F][block of 32 outputs][input][32], ended as in conv_f32
 *   scratch  [F * (group * (inputs + min(outputs, 128)) + 32)] floats
 *   m, group and the channels are literals */
OCC_INLINE void occ_winograd_f32(const float *x, const occ_image *x_at, const float *u, const float *bias, float *y,
                                 const occ_image *y_at, float *scratch, const occ_window *window, const occ_lots *lots,
                                 const occ_expr *e, const occ_fused *fused)
{
    const occ_winograd p = occ_winograd_make(x, x_at, bias, y, y_at, scratch, window, lots, e, fused);
    const int64_t      all = x_at->dim[0] * p.tiling.every, rest = p.g.outputs % p.block, whole = p.g.outputs - rest;
    OCC_ROLL
    for (int64_t first = 0; first < all; first += p.group) {
        const int64_t count = occ_min(p.group, all - first);
        const int64_t width = OCC_KNOWN(all) ? p.group : occ_min(p.group, occ_ceil_div(count, 4) * 4);
        occ_winograd_load_group(&p, first, count, width);
        for (int64_t from = 0; from < whole; from += p.block)
            occ_winograd_block(&p, u, first, count, width, from, occ_winograd_width(&p, from));
        if (rest > 0)
            occ_winograd_block(&p, u, first, count, width, whole, rest);
    }
}

/* The results of `count` tiles in channels `from` to from + outputs - 1, as occ_winograd_block makes them. */
OCC_HOT void occ_winograd_block_open(const occ_winograd *p, const float *u, int64_t first, int64_t count, int64_t width,
                                     int64_t from, int64_t outputs)
{
    const int64_t pace = occ_winograd_pace(p);
    for (int f = 0; f < occ_tiling_frequencies(&p->tiling); f++) {
        occ_conv g = occ_winograd_product(p, u + from * p->g.inputs, outputs, f, width, pace);
        g.pace = occ_conv_pace_open(pace, occ_ceil_div(width, OCC_TILE_ROWS(OCC_TILE_VECTORS)), OCC_TILE_VECTORS);
        occ_conv_channels_open(&g, 0, OCC_TILE_VECTORS, 0, 1, 0, 1);
    }
    for (int64_t slot = 0; slot < count; slot++)
        occ_winograd_store(p, slot, first + slot, from, outputs);
}

/* winograd_f32, with its operands and arguments, for literal channels and any extents of images. */
OCC_INLINE void occ_winograd_open_f32(const float *x, const occ_image *x_at, const float *u, const float *bias,
                                      float *y, const occ_image *y_at, float *scratch, const occ_window *window,
                                      const occ_lots *lots, const occ_expr *e, const occ_fused *fused)
{
    const occ_winograd p = occ_winograd_make(x, x_at, bias, y, y_at, scratch, window, lots, e, fused);
    const int64_t      all = x_at->dim[0] * p.tiling.every, rest = p.g.outputs % p.block, whole = p.g.outputs - rest;
    const int          cut = occ_conv_cut_of(OCC_TILE_ROWS(OCC_TILE_VECTORS), OCC_CONV_LEAST(OCC_TILE_VECTORS));
    OCC_ROLL
    for (int64_t first = 0; first < all; first += p.group) {
        const int64_t count = occ_min(p.group, all - first), fours = occ_min(p.group, occ_ceil_div(count, 4) * 4);
        const int64_t width = cut != OCC_CUT_HALVES && count >= 8 ? count : fours;
        occ_winograd_load_group(&p, first, count, width);
        for (int64_t from = 0; from < whole; from += p.block)
            occ_winograd_block_open(&p, u, first, count, width, from, occ_winograd_width(&p, from));
        if (rest > 0)
            occ_winograd_block_open(&p, u, first, count, width, whole, rest);
    }
}
