/* occ_winograd_q.h - 3x3 and 1x3 convolutions of 8-bit integers in the transformed domain (Winograd 1980; Lavin and
 * Gray 2015, arXiv 1509.09308), exact. Inputs and weights are transformed to 16-bit integers without fractions. Sums
 * wrap at 32 bits. The transforms yield a whole multiple of each result; its range is so small that the result can be
 * computed from the wrapped 32 bits. Knows nothing of when this pays.
 *
 *                 input (transformed)  weights (transformed)  result times  range of the result
 *   m = 2, 3x3    |v| <=  1020         |u| <=  1152             4           [-2^29, 2^29)
 *   m = 4, 3x3    |v| <= 17340         |u| <= 18432           576 = 9 * 64  [-2^25, 2^25): 9 is odd and has an inverse
 *   m = 2, 1x3    |v| <=   510         |u| <=   384             2           [-2^30, 2^30)
 *   m = 4, 1x3    |v| <=  2550         |u| <=  1536            24 = 3 * 8   [-2^28, 2^28) */
#ifndef OCC_WINOGRAD_Q_H
#define OCC_WINOGRAD_Q_H

#include "occ_conv_q.h"
#include "occ_winograd.h"

/* OCC_WQ_BLOCK: outputs whose sums are computed before they are transformed back. OCC_WQ_FAR: a number of pairs of
 * weights that the caches do not hold. */
enum { OCC_WQ_BLOCK = 32, OCC_WQ_FAR = 64 * 1024 };

/* occ_vk: the integers of the input transform, of 16 bits where there are vectors. */
#if OCC_W == 1
typedef int32_t occ_vk;
#define OCC_VK 1
#else
typedef occ_vh  occ_vk;
typedef uint8_t occ_vkb __attribute__((vector_size(2 * OCC_W)));
typedef int8_t  occ_vksb __attribute__((vector_size(2 * OCC_W)));
typedef int64_t occ_vkw __attribute__((vector_size(2 * OCC_W)));
#define OCC_VK (2 * OCC_W)
#endif

/* m: results of a tile along a row, 2 or 4; group: tiles that are transformed together; xzero, yzero: zero
 * points. */
typedef struct occ_wq_form {
    int64_t m, group, xzero, yzero;
} occ_wq_form;

/* One convolution. The weights of q are pairs of transformed weights, the sums of q are NULL. v and m are the scratch:
 * transformed inputs in pairs, and sums. vfrequency, mfrequency: their strides from one frequency to the next. */
typedef struct occ_winograd_q {
    occ_conv_q q;
    occ_tiling tiling;
    int64_t    group, pairs, vfrequency, mfrequency;
    int32_t   *v, *m;
} occ_winograd_q;

/* -------------------------------------------------------------------------------------------------------- the input */

/* Widens n bytes, 0 <= n <= OCC_VK; the lanes from n on are 0. Compilers put a part of a vector together in memory,
 * where the processor waits for the pieces, and widen a whole one in halves. */
OCC_HOT occ_vk occ_wq_bytes(const uint8_t *x, int n, int is_signed)
{
#if OCC_W == 1
    return n < 1 ? 0 : is_signed ? (int8_t)*x : *x;
#else
    occ_vkw w = {0};
    if (n == OCC_VK)
        memcpy(&w, x, OCC_VK);
    OCC_UNROLL(4)
    for (int i = 0; i < OCC_VK / 8; i++)
        if (n < OCC_VK && n > 8 * i)
            w[i] = (int64_t)occ_bytes_word(x + 8 * i, n - 8 * i > 8 ? 8 : n - 8 * i);
#if defined(OCC_BYTES_AVX2) || (defined(OCC_BYTES_AVX512) && defined(__AVX512BW__))
    occ_vk v;
    if (is_signed)
        __asm__("vpmovsxbw %1, %0" : "=v"(v) : "vm"(w));
    else
        __asm__("vpmovzxbw %1, %0" : "=v"(v) : "vm"(w));
    return v;
#else
    return is_signed ? __builtin_convertvector((occ_vksb)w, occ_vk) : __builtin_convertvector((occ_vkb)w, occ_vk);
#endif
#endif
}

OCC_HOT occ_vk occ_wq_spread(int32_t a)
{
#if OCC_W == 1
    return a;
#else
    return (occ_vk)occ_viset((int32_t)((uint32_t)(a & 0xffff) * 0x10001u));
#endif
}

/* Stores the low 16 bits of the first n lanes. */
OCC_HOT void occ_wq_keep(int16_t *to, occ_vk v, int n)
{
#if OCC_W == 1
    (void)n;
    *to = (int16_t)v;
#else
    if (n == OCC_VK)
        memcpy(to, &v, sizeof v);
    else
        memcpy(to, &v, (size_t)n * sizeof *to);
#endif
}

/* Transforms one row or column in place: m + 2 vectors that are `step` apart. */
OCC_HOT void occ_wq_in(occ_vk *d, int step, int m)
{
    const occ_vk a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    if (m == 2) {
        d[0] = a - c;
        d[step] = b + c;
        d[2 * step] = c - b;
        d[3 * step] = b - e;
    } else {
        const occ_vk f = d[4 * step], g = d[5 * step], two = occ_wq_spread(2), four = occ_wq_spread(4);
        const occ_vk p = f - four * c, q = e - four * b, r = f - c, s = two * (e - b);
        d[0] = four * (a - c) + r;
        d[step] = p + q;
        d[2 * step] = p - q;
        d[3 * step] = r + s;
        d[4 * step] = r - s;
        d[5 * step] = four * (b - e) + g - e;
    }
}

/* Transforms `n` channels of one tile to v[frequency][tile][channel]. x: the input at the tile's first pixel, which is
 * in row `top` and column `left`, perhaps outside the image. */
OCC_HOT void occ_wq_load_some(const occ_winograd_q *p, const uint8_t *x, int16_t *v, int64_t top, int64_t left, int n,
                              int is_signed)
{
    const int     m = (int)p->tiling.m, wide = m + 2, high = occ_tiling_high(&p->tiling);
    const int64_t apart = p->tiling.apart;
    occ_vk        d[36];
    OCC_UNROLL(6)
    for (int i = 0; i < high; i++) {
        const int row = top + i >= 0 && top + i < p->q.g.in[1];
        OCC_UNROLL(6)
        for (int k = 0; k < wide; k++) {
            const int64_t  column = left + k * apart;
            const int      here = row && column >= 0 && column < p->q.g.in[2];
            const uint8_t *from = x + i * p->q.g.xaxis[1] + k * apart * p->q.g.xaxis[2];
            d[i * wide + k] = here ? occ_wq_bytes(from, n, is_signed) : occ_wq_spread(p->q.zero);
        }
        occ_wq_in(d + i * wide, 1, m);
    }
    OCC_UNROLL(6)
    for (int k = 0; k < wide; k++) {
        if (high > 1)
            occ_wq_in(d + k, wide, m);
        OCC_UNROLL(6)
        for (int i = 0; i < high; i++)
            occ_wq_keep(v + (i * wide + k) * p->vfrequency * 2, d[i * wide + k], n + (n & 1));
    }
}

/* Transforms all channels of one tile. For an odd number of channels the second half of the last pair is multiplied by
 * a weight of 0. */
OCC_HOT void occ_wq_load(const occ_winograd_q *p, int64_t slot, int64_t tile, int is_signed)
{
    const occ_conv      *g = &p->q.g;
    const occ_tile_place t = occ_tiling_at(&p->tiling, tile);
    const int64_t        top = t.top - g->pad[1], left = t.left - g->pad[2];
    const uint8_t       *x = p->q.x + (t.image * g->xbatch + top * g->xaxis[1] + left * g->xaxis[2]);
    int16_t             *v = (int16_t *)(void *)(p->v + slot * p->pairs);
    const int            rest = (int)(g->inputs % OCC_VK);
    int64_t              c = 0;
    for (; c + OCC_VK <= g->inputs; c += OCC_VK)
        occ_wq_load_some(p, x + c, v + c, top, left, OCC_VK, is_signed);
    if (rest > 0)
        occ_wq_load_some(p, x + c, v + c, top, left, rest, is_signed);
    for (int f = 0; f < occ_tiling_frequencies(&p->tiling) && OCC_W == 1 && g->inputs % 2; f++)
        v[f * p->vfrequency * 2 + c] = 0;
}

/* ----------------------------------------------------------------------------------------------------- the products */

/* acc + the sums of two products of 16 bits, modulo 2^32. */
OCC_HOT occ_vu occ_wq_dot(occ_vu acc, occ_vi a, occ_vi b)
{
#if OCC_W == 16 && defined(OCC_DOT_FOUR)
    __asm__("vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
#elif defined(OCC_DOT_FOUR)
    __asm__("%{vex%} vpdpwssd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
    return acc;
#elif defined(OCC_DOT_WORDS)
    return acc + (occ_vu)occ_dot_words(a, b);
#elif OCC_W == 1
    return acc + (occ_vu)((int16_t)a * (int16_t)b) + (occ_vu)((a >> 16) * (b >> 16));
#else
    return acc + (occ_vu)(((occ_vi)((occ_vu)a << 16) >> 16) * ((occ_vi)((occ_vu)b << 16) >> 16)) +
           (occ_vu)((a >> 16) * (b >> 16));
#endif
}

/* The sums of `columns` (literal) tiles for `vectors` (literal) vectors of the outputs of a block from its lane `lane`
 * on. Meanwhile the weights from `next` on are prefetched, `pace` bytes (literal; 0: none) for each pair of inputs. */
OCC_HOT void occ_wq_tile(const occ_winograd_q *p, const occ_q_block *b, const int32_t *v, const int32_t *u,
                         int32_t *sums, int lane, int vectors, int columns, const char *next, int64_t pace)
{
    occ_vu acc[OCC_TILE_MAX];
    OCC_UNROLL(32)
    for (int i = 0; i < columns * vectors; i++)
        acc[i] = (occ_vu)occ_viset(0);
    OCC_ROLL
    for (int64_t k = 0; k < p->pairs; k++, v++, u += b->pitch) {
        occ_vi panel[OCC_Q_VECTORS];
        if (pace > 0)
            OCC_PREFETCH(next + k * pace);
        OCC_UNROLL(4)
        for (int j = 0; j < vectors; j++)
            panel[j] = occ_viload(u + j * OCC_W, occ_q_lanes(b->lanes - lane, j));
        OCC_UNROLL(32)
        for (int c = 0; c < columns; c++) {
            const occ_vi pair = occ_vispread((const uint8_t *)(v + c * p->pairs), 4, 0);
            OCC_UNROLL(4)
            for (int j = 0; j < vectors; j++)
                acc[c * vectors + j] = occ_wq_dot(acc[c * vectors + j], pair, panel[j]);
        }
    }
    OCC_UNROLL(32)
    for (int c = 0; c < columns; c++) {
        OCC_UNROLL(4)
        for (int j = 0; j < vectors; j++)
            memcpy(sums + c * OCC_WQ_BLOCK + j * OCC_W, &acc[c * vectors + j], sizeof *acc);
    }
}

/* The products of a frequency for `vectors` (literal) vectors of outputs, and where the prefetching went to. */
OCC_HOT const char *occ_wq_frequency(const occ_winograd_q *p, const occ_q_block *b, int f, int lane, int vectors,
                                     const char *next, int64_t pace)
{
    const occ_conv_cut cut = occ_conv_cut_row(p->group, OCC_Q_ROWS(vectors));
    const int          size = (int)cut.size, more = cut.larger > 0 ? size + 1 : 0;
    const int32_t     *u = b->w + f * p->pairs * b->pitch + lane, *v = p->v + f * p->vfrequency;
    int32_t           *sums = p->m + f * p->mfrequency + lane;
    int64_t            t = 0, at = 0;
    for (; more > 0 && t < cut.larger; t++, at += more, next += p->pairs * pace)
        occ_wq_tile(p, b, v + at * p->pairs, u, sums + at * OCC_WQ_BLOCK, lane, vectors, more, next, pace);
    for (; size > 0 && t < cut.tiles; t++, at += size, next += p->pairs * pace)
        occ_wq_tile(p, b, v + at * p->pairs, u, sums + at * OCC_WQ_BLOCK, lane, vectors, size, next, pace);
    return next;
}

/* The products of all frequencies: m[frequency][tile][lane of the block]. */
OCC_HOT void occ_wq_products(const occ_winograd_q *p, const occ_q_block *b, int frequencies)
{
    const int     wide = OCC_Q_VECTORS * OCC_W, rest = b->lanes % wide, few = (rest + OCC_W - 1) / OCC_W;
    const int64_t runs = occ_conv_cut_row(p->group, OCC_Q_ROWS(OCC_Q_VECTORS)).tiles * (b->lanes / wide) +
                         (rest > 0 ? occ_conv_cut_row(p->group, OCC_Q_ROWS(few)).tiles : 0);
    const int64_t row = b->pitch * (int64_t)sizeof *b->w;
    const int64_t pace =
        OCC_W > 1 && frequencies * p->pairs * p->q.g.outputs >= OCC_WQ_FAR ? (row + runs - 1) / runs : 0;
    for (int f = 0; f < frequencies; f++) {
        const char *next = (const char *)(const void *)(b->w + (f + 1) * p->pairs * b->pitch);
        int         lane = 0;
        for (; lane + wide <= b->lanes; lane += wide)
            next = occ_wq_frequency(p, b, f, lane, OCC_Q_VECTORS, next, pace);
        if (rest > 0)
            occ_wq_frequency(p, b, f, lane, few, next, pace);
    }
}

/* ------------------------------------------------------------------------------------------------------ the results */

/* Transforms one row or column of sums in place: the first m of m + 2 vectors become results, times 2 for m = 2 and 24
 * for m = 4. */
OCC_HOT void occ_wq_out(occ_vu *d, int step, int m)
{
    const occ_vu a = d[0], b = d[step], c = d[2 * step], e = d[3 * step];
    if (m == 2) {
        d[0] = a + b + c;
        d[step] = b - c - e;
    } else {
        const occ_vu f = d[4 * step], g = d[5 * step], p = b + c, q = b - c, r = e + f, s = e - f;
        d[0] = a + p + r;
        d[step] = q + (s << 1);
        d[2 * step] = p + (r << 2);
        d[3 * step] = q + (s << 3) + (g << 1);
    }
}

/* Divides out the factor that the transforms multiplied the result with: times the inverse of 9 or 3, and a shift. */
OCC_HOT occ_vi occ_wq_result(const occ_tiling *t, occ_vu v)
{
    const int line = t->rows == 1;
    return t->m == 2 ? (occ_vi)v >> (line ? 1 : 2)
                     : (occ_vi)(v * (occ_vu)occ_viset(line ? -1431655765 : 954437177)) >> (line ? 3 : 6);
}

/* Transforms back and stores the outputs `lane` to lane + n - 1 of a block, of one tile. */
OCC_HOT void occ_wq_store_some(const occ_winograd_q *p, occ_q_how how, const occ_q_block *b, const int32_t *sums,
                               const occ_tile_place *t, int64_t lane, int n)
{
    const occ_conv   *g = &p->q.g;
    const int         m = (int)p->tiling.m, wide = m + 2, high = occ_tiling_high(&p->tiling);
    const int64_t     apart = p->tiling.apart;
    const occ_q_block one = {b->channel + lane, 0, NULL, 1, n, n};
    const occ_vi      start = p->q.bias ? occ_viload(p->q.bias + one.channel, n) : occ_viset(0);
    const int64_t     y = t->image * g->ybatch + t->top * g->yaxis[1] + t->left * g->yaxis[2],
                  pixel = occ_conv_pixel(g, t->image, 0, t->top, t->left);
    occ_vu d[36];
    OCC_UNROLL(6)
    for (int i = 0; i < high; i++) {
        OCC_UNROLL(6)
        for (int k = 0; k < wide; k++)
            memcpy(&d[i * wide + k], sums + (i * wide + k) * p->mfrequency + lane, sizeof *d);
        occ_wq_out(d + i * wide, 1, m);
    }
    OCC_UNROLL(4)
    for (int k = 0; k < m; k++) {
        if (high > 1)
            occ_wq_out(d + k, wide, m);
        OCC_UNROLL(4)
        for (int i = 0; i < p->tiling.rows; i++) {
            const occ_vi v = occ_wq_result(&p->tiling, d[i * wide + k]) + start;
            if (t->top + i < g->out[1] && t->left + k * apart < g->out[2])
                occ_q_store(&p->q, how, &one, &v, y + i * g->yaxis[1] + k * apart * g->yaxis[2],
                            pixel + i * g->pixel[3] + k * apart * g->pixel[4], 1);
        }
    }
}

/* Transforms back and stores all outputs of a block, of one tile. */
OCC_HOT void occ_wq_store(const occ_winograd_q *p, occ_q_how how, const occ_q_block *b, int64_t slot, int64_t tile)
{
    const occ_tile_place t = occ_tiling_at(&p->tiling, tile);
    const int32_t       *sums = p->m + slot * OCC_WQ_BLOCK;
    const int            rest = b->stored % OCC_W;
    int64_t              lane = 0;
    for (; lane + OCC_W <= b->stored; lane += OCC_W)
        occ_wq_store_some(p, how, b, sums, &t, lane, OCC_W);
    if (rest > 0)
        occ_wq_store_some(p, how, b, sums, &t, lane, rest);
}

/* ----------------------------------------------------------------------------------------------------------- groups */

/* Tiles `first` to first + count - 1, whose transformed inputs are in the scratch, for `outputs` (literal) channels
 * from `from` on. */
OCC_HOT void occ_wq_block(const occ_winograd_q *p, occ_q_how how, int64_t from, int64_t outputs, int64_t first,
                          int64_t count)
{
    const int         frequencies = occ_tiling_frequencies(&p->tiling);
    const int64_t     pitch = (outputs + 3) / 4 * 4;
    const occ_q_block b = {from, pitch, p->q.w + from * frequencies * p->pairs, 0, (int)pitch, (int)outputs};
    occ_wq_products(p, &b, frequencies);
    for (int64_t slot = 0; slot < count; slot++)
        occ_wq_store(p, how, &b, slot, first + slot);
}

/* All tiles, a group of them at a time. */
OCC_HOT void occ_wq_groups(const occ_winograd_q *p, occ_q_how how)
{
    const int64_t every = p->q.g.batch * p->tiling.every, outputs = p->q.g.outputs, rest = outputs % OCC_WQ_BLOCK;
    for (int64_t first = 0; first < every; first += p->group) {
        const int64_t count = occ_min(p->group, every - first);
        for (int64_t slot = 0; slot < count; slot++)
            occ_wq_load(p, slot, first + slot, how.is_signed);
        for (int f = 0; f < occ_tiling_frequencies(&p->tiling) && count < p->group;
             f++) /* the last group may be short */
            memset(p->v + f * p->vfrequency + count * p->pairs, 0,
                   (size_t)((p->group - count) * p->pairs) * sizeof *p->v);
        for (int64_t from = 0; from + OCC_WQ_BLOCK <= outputs; from += OCC_WQ_BLOCK)
            occ_wq_block(p, how, from, OCC_WQ_BLOCK, first, count);
        if (rest > 0)
            occ_wq_block(p, how, outputs - rest, rest, first, count);
    }
}

#endif
