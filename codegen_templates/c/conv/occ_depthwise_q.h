/* occ_depthwise_q.h - tiles of depthwise convolutions of 8-bit integers: each channel is convolved by itself. Knows
 * nothing of ONNX's padding modes. */
#ifndef OCC_DEPTHWISE_Q_H
#define OCC_DEPTHWISE_Q_H

#include "occ_conv.h"
#include "occ_put.h"

/* The size of a tile: vectors of channels across, and pixels of a row. */
#define OCC_DQ_VECTORS (OCC_W >= 8 ? 1 : OCC_W == 1 ? 4 : 2)
#define OCC_DQ_COLUMNS (OCC_W == 16 ? 14 : OCC_W == 8 ? 8 : OCC_W == 1 ? 1 : 4)

/* The parameters of a convolution, as its step passes them. */
typedef struct occ_dq_form {
    int64_t xzero, yzero;
    int64_t wtap; /* elements between taps of w; 0: all channels share the taps */
} occ_dq_form;

typedef struct occ_depthwise_q {
    occ_conv       g; /* geometry, strides in elements, and the expression; its operands x, w, y are unused */
    const uint8_t *x;
    const int8_t  *w;
    int64_t        wtap; /* elements between taps of w */
    const int32_t *bias;
    void          *y;
    int32_t        zero, yzero;
} occ_depthwise_q;

/* Parameters that are literal in every call: how x is read, how results are stored, and whether several rows of taps
 * are taken at a time. */
typedef struct occ_dq_how {
    int        is_signed;
    occ_fn_put put;
    int        pairs;
} occ_dq_how;

/* Completes q, whose geometry is made, with operands and the expression. A function that returned all of it would leave
 * two copies on the stack of small processors. */
OCC_HOT void occ_dq_fill(occ_depthwise_q *q, const void *x, const int8_t *w, const int32_t *bias, int32_t zero, void *y,
                         const occ_dq_form *form, const occ_expr *e)
{
    q->x = (const uint8_t *)x;
    q->w = w;
    q->wtap = form->wtap;
    q->bias = bias;
    q->y = y;
    q->zero = zero;
    q->yzero = (int32_t)form->yzero;
    if (e)
        q->g.e = *e;
}

/* Channels of a tile: the first one, and how many. */
typedef struct occ_dq_block {
    int64_t channel;
    int     vectors, lanes;
} occ_dq_block;

OCC_HOT int occ_dq_lanes(const occ_dq_block *b, int vector)
{
    const int left = b->lanes - vector * OCC_W;
    return left > OCC_W ? OCC_W : left;
}

/* The pixels of a tile that see a tap: first to last - 1. Only those before `left` and from `right` on (literals) have
 * to be asked; 0 and all: none. */
typedef struct occ_dq_seen {
    int64_t first, last, left, right;
} occ_dq_seen;

#define OCC_DQ_PAIRS 7 /* the widest row of taps whose weights stay in registers */

/* Whether the geometry is literal and small enough for several rows of taps at a time. */
OCC_HOT int occ_dq_takes_pairs(const occ_window *window)
{
    return OCC_KNOWN(window->kernel[2]) && OCC_KNOWN(window->stride[2]) && OCC_KNOWN(window->dilation[2]) &&
           OCC_KNOWN(window->kernel[1]) && window->kernel[1] <= OCC_DQ_PAIRS && window->dilation[2] == 1 &&
           window->kernel[2] <= OCC_DQ_PAIRS && window->stride[2] <= 2;
}

/* The pixels of x that a tile reads in a row and that lie in the image; the tile's first result is in column `at`. */
OCC_HOT occ_dq_seen occ_dq_pixels(const occ_conv *g, int edge, int64_t at, int columns)
{
    const int64_t step = g->stride[2], all = (columns - 1) * step + g->kernel[2], first = g->pad[2] - at * step;
    occ_dq_seen   seen = {first, first + g->in[2], g->pad[2], (columns - 1) * step + 1};
    if (edge == OCC_TILE_INSIDE) {
        seen.left = 0;
        seen.right = all;
    } else if (edge == OCC_TILE_EDGE) {
        seen.left = all;
        seen.right = 0;
    }
    return seen;
}

#if defined(OCC_DOT_FOUR)
/* A byte of each of `rows` (literal, 4 at most) rows in each lane, the first row lowest, for n channels. */
OCC_HOT occ_vi occ_dq_column(const uint8_t *const *row, int64_t at, int rows, int n)
{
    occ_vi v;
#if defined(OCC_BYTES_AVX512) && defined(__AVX512VBMI__) && defined(__AVX512VL__)
    if (n == OCC_W) { /* the rows one behind the other, then bytes 0, 16, 32, 48 for the first lane and so on */
        const occ_vi order = occ_viset(0x30201000) + occ_viset(0x01010101) * occ_viota();
        __asm__("vmovdqu32 %1, %x0" : "=v"(v) : "m"(*(const uint8_t(*)[OCC_W])(row[0] + at)));
        if (rows > 1)
            __asm__("vinserti32x4 $1, %1, %0, %0" : "+v"(v) : "m"(*(const uint8_t(*)[OCC_W])(row[1] + at)));
        if (rows > 2)
            __asm__("vinserti32x4 $2, %1, %0, %0" : "+v"(v) : "m"(*(const uint8_t(*)[OCC_W])(row[2] + at)));
        if (rows > 3)
            __asm__("vinserti32x4 $3, %1, %0, %0" : "+v"(v) : "m"(*(const uint8_t(*)[OCC_W])(row[3] + at)));
        __asm__("vpermb %0, %1, %0" : "+v"(v) : "v"(order));
        return v;
    }
#endif
    v = occ_viload_bytes(row[0] + at, n, 0);
    OCC_UNROLL(3)
    for (int k = 1; k < rows; k++)
        v |= occ_viload_bytes(row[k] + at, n, 0) << 8 * k;
    return v;
}

/* Adds rows k to k + rows - 1 (literals, 4 at most) of taps to a tile, with one instruction for the taps of a column.
 * Rows outside h are taken, too: from a row inside, times zeros. Pixels outside the image count as the zero point, and
 * what the zero point adds to each sum is taken away at the end. */
OCC_HOT void occ_dq_quads(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, occ_vi *acc,
                          const uint8_t *x, int64_t below, const int8_t *w, int k, int rows, occ_taps h,
                          occ_dq_seen seen, int columns)
{
    const int64_t  step = q->g.stride[2], taps = q->g.kernel[2], pixels = (columns - 1) * step + taps;
    const int32_t  flip = how.is_signed ? (int32_t)0x80808080 : 0;
    const occ_vi   zero = occ_viset((int32_t)((uint32_t)((q->zero + (how.is_signed ? 128 : 0)) & 255) * 0x01010101u));
    const int      has_zero = q->zero || how.is_signed;
    const uint8_t *row[4], *weights[4];
    uint32_t       some = 0;
    OCC_UNROLL(4)
    for (int i = 0; i < rows; i++) {
        row[i] = x + occ_min(occ_max(k + i, h.first), h.last - 1) * below;
        weights[i] = (const uint8_t *)w + (k + i) * taps * q->wtap;
        some |= k + i >= h.first && k + i < h.last ? 255u << 8 * i : 0;
    }
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int n = occ_dq_lanes(b, j);
        occ_vi    tap[OCC_DQ_PAIRS] = {{0}}, less = occ_viset(0);
        OCC_UNROLL(OCC_DQ_PAIRS)
        for (int64_t t = 0; t < taps; t++) {
            const occ_vi v = occ_dq_column(weights, t * q->wtap + j * OCC_W, rows, n) & occ_viset((int32_t)some);
            tap[t] = v;
            if (has_zero)
                less = occ_dot(less, (occ_quads){zero, zero}, (occ_quads){v, v}, OCC_DOT_UNSIGNED);
        }
        OCC_UNROLL(64)
        for (int64_t p = 0; p < pixels; p++) {
            const int outside = (p < seen.left && p < seen.first) || (p >= seen.right && p >= seen.last);
            occ_vi    v = zero;
            if (!outside)
                v = occ_dq_column(row, p * q->g.xaxis[2] + j * OCC_W, rows, n) ^ occ_viset(flip);
            OCC_UNROLL(OCC_DQ_PAIRS)
            for (int64_t t = 0; t < taps; t++)
                if (p >= t && (p - t) % step == 0 && (p - t) / step < columns) {
                    occ_vi *sum = &acc[(p - t) / step * b->vectors + j];
                    *sum = occ_dot(*sum, (occ_quads){v, v}, (occ_quads){tap[t], tap[t]}, OCC_DOT_UNSIGNED);
                }
        }
        if (has_zero) {
            OCC_UNROLL(32)
            for (int c = 0; c < columns; c++)
                acc[c * b->vectors + j] -= less;
        }
    }
}
#elif defined(OCC_BYTES_AVX2)
typedef uint8_t occ_dq_half __attribute__((vector_size(2 * OCC_W)));

/* Bytes of a vector of channels as 16-bit integers, one in each lane; `two` (literal): those of the row `below` beside
 * them, in the higher half of the lane. */
OCC_HOT occ_vi occ_dq_words(const uint8_t *x, int64_t below, int is_signed, int two)
{
    occ_dq_half a, b;
    occ_vi      v;
    if (!two)
        return occ_viload_bytes(x, OCC_W, is_signed);
    __asm__("vmovq %1, %0" : "=x"(a) : "m"(*(const uint8_t(*)[OCC_W])x));
    __asm__("vmovq %1, %0" : "=x"(b) : "m"(*(const uint8_t(*)[OCC_W])(x + below)));
    __asm__("vpunpcklbw %2, %1, %0" : "=x"(a) : "x"(a), "x"(b));
    if (is_signed)
        __asm__("vpmovsxbw %1, %0" : "=x"(v) : "x"(a));
    else
        __asm__("vpmovzxbw %1, %0" : "=x"(v) : "x"(a));
    return v;
}

/* Adds one row of taps, or two (literal) rows that are `below` apart in x, to a tile. Each pixel of x is widened once,
 * for all taps and results that need it; those outside the image count as zero. */
OCC_HOT void occ_dq_pairs(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, occ_vi *acc,
                          const uint8_t *x, int64_t below, const int8_t *w, int two, occ_dq_seen seen, int columns)
{
    const int64_t  step = q->g.stride[2], taps = q->g.kernel[2], pixels = (columns - 1) * step + taps;
    const uint32_t zero = (uint32_t)q->zero & 0xffff, zeros = two ? zero * 0x10001u : zero;
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        occ_vi tap[OCC_DQ_PAIRS] = {{0}};
        OCC_UNROLL(OCC_DQ_PAIRS)
        for (int64_t n = 0; n < taps; n++) {
            const uint8_t *from = (const uint8_t *)w + n * q->wtap + j * OCC_W;
            const occ_vi   v = occ_dq_words(from, taps * q->wtap, 1, two);
            tap[n] = two ? v : v & occ_viset(0xffff);
        }
        OCC_UNROLL(32)
        for (int64_t p = 0; p < pixels; p++) {
            if ((p < seen.left && p < seen.first) || (p >= seen.right && p >= seen.last))
                continue;
            const occ_vi v = occ_dq_words(x + p * q->g.xaxis[2] + j * OCC_W, below, how.is_signed, two);
            const occ_vi part = q->zero ? (occ_vi)((occ_vh)v - (occ_vh)occ_viset((int32_t)zeros)) : v;
            OCC_UNROLL(OCC_DQ_PAIRS)
            for (int64_t n = 0; n < taps; n++)
                if (p >= n && (p - n) % step == 0 && (p - n) / step < columns)
                    acc[(p - n) / step * b->vectors + j] += occ_dot_words(part, tap[n]);
        }
    }
}
#endif

/* acc[c][j] += one tap for those of `columns` pixels that see it: pixels `across` elements apart, the weights at w. */
OCC_HOT void occ_dq_tap(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, occ_vi *acc, const uint8_t *x,
                        int64_t across, const int8_t *w, occ_dq_seen seen, int columns)
{
    occ_vi tap[4];
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int n = occ_dq_lanes(b, j);
        tap[j] = n > 0 ? occ_viload_bytes((const uint8_t *)w + j * OCC_W, n, 1) : occ_viset(0);
    }
    OCC_UNROLL(32)
    for (int c = 0; c < columns; c++) {
        if ((c < seen.left && c < seen.first) || (c >= seen.right && c >= seen.last))
            continue;
        OCC_UNROLL(4)
        for (int j = 0; j < b->vectors; j++) {
            const int n = occ_dq_lanes(b, j);
            if (n > 0)
                acc[c * b->vectors + j] += occ_mul_small(
                    occ_viload_bytes(x + c * across + j * OCC_W, n, how.is_signed) - occ_viset(q->zero), tap[j]);
        }
    }
}

/* Adds one row of taps. In a tile at an edge, whose first pixel is at column `at`, each tap is added only to the pixels
 * that see it; `at` is literal but in near tiles. */
OCC_HOT void occ_dq_taps(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, occ_vi *acc, const uint8_t *x,
                         const int8_t *w, occ_taps t, int edge, int64_t at, int columns)
{
    const occ_conv   *g = &q->g;
    const int64_t     step = g->stride[2], across = step * g->xaxis[2];
    const int64_t     none = edge ? 0 : t.first, taps = edge ? g->kernel[2] : t.last;
    const occ_dq_seen all = {0, columns, 0, columns};
#if OCC_OPEN_EXTENTS
    if (columns == 1 && !edge) { /* t is a variable in images of variable width, kernel[2] is a literal */
        OCC_UNROLL(OCC_CONV_TAPS)
        for (int64_t n = 0; n < g->kernel[2]; n++)
            if (n >= none && n < taps)
                occ_dq_tap(q, how, b, acc, x + n * g->dilation[2] * g->xaxis[2], across, w + n * q->wtap, all, 1);
        return;
    }
#endif
    OCC_UNROLL(OCC_CONV_TAPS)
    for (int64_t n = none; n < taps; n++) {
        const uint8_t *tap = x + n * g->dilation[2] * g->xaxis[2];
        const int64_t  from = g->pad[2] - n * g->dilation[2], to = from + g->in[2];
        const int64_t  least = edge ? occ_max(occ_ceil_div(from, step) - at, 0) : 0, first = occ_min(least, columns);
        const int64_t  most = edge ? occ_max(occ_ceil_div(to, step) - at, first) : columns,
                      last = occ_min(most, columns);
        if (edge == OCC_TILE_NEAR) {
            const int64_t     behind = (columns - 1) * step + 1 - n * g->dilation[2];
            const occ_dq_seen seen = {least, most, occ_max(occ_ceil_div(from, step), 0),
                                      occ_max(occ_ceil_div(behind, step), 0)};
            occ_dq_tap(q, how, b, acc, tap, across, w + n * q->wtap, seen, columns);
        } else if (first < last) {
            occ_dq_tap(q, how, b, acc + first * b->vectors, tap + first * across, across, w + n * q->wtap, all,
                       (int)(last - first));
        }
    }
}

/* Starts the sums of a tile of `columns` pixels (literal) with the bias. */
OCC_HOT void occ_dq_start(const occ_depthwise_q *q, const occ_dq_block *b, occ_vi *acc, int columns)
{
    OCC_UNROLL(4)
    for (int j = 0; j < b->vectors; j++) {
        const int    n = occ_dq_lanes(b, j);
        const occ_vi start = q->bias && n > 0 ? occ_viload(q->bias + b->channel + j * OCC_W, n) : occ_viset(0);
        OCC_UNROLL(32)
        for (int i = 0; i < columns; i++)
            acc[i * b->vectors + j] = start;
    }
}

/* Applies the expression to the sums of a tile and stores the results. `pixel` is the number of the first pixel. */
OCC_HOT void occ_dq_store(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, const occ_vi *acc, int64_t y,
                          int64_t pixel, int columns)
{
    OCC_UNROLL(32)
    for (int i = 0; i < columns; i++) {
        occ_expr e = q->g.e;
        occ_vi   sums[4];
        OCC_UNROLL_LANES(8)
        for (int k = 0; k < 8; k++)
            e.at[k] += k < q->g.fused->nx ? (pixel + i * q->g.pixel[4]) * q->g.fused->pitch[k] : 0;
        OCC_UNROLL(4)
        for (int j = 0; j < b->vectors; j++)
            sums[j] = acc[i * b->vectors + j];
        occ_put_pixel(how.put, q->y, y + i * q->g.yaxis[2] + b->channel * q->g.ychannel, q->g.ychannel, sums,
                      b->vectors, b->lanes, &e, b->channel, q->g.fused->fn, q->yzero);
    }
}

/* One tile of `columns` pixels (literal) at plane z, row r, column c of an image. */
OCC_HOT void occ_dq_tile(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, int64_t image, int64_t z,
                         int64_t r, int64_t c, occ_taps t, int edge, int columns)
{
    const occ_conv *g = &q->g;
    const occ_taps  d = occ_conv_taps(g, 0, z), h = occ_conv_taps(g, 1, r);
    const uint8_t  *x = q->x + b->channel +
                       (image * g->xbatch + (z * g->stride[0] - g->pad[0]) * g->xaxis[0] +
                        (r * g->stride[1] - g->pad[1]) * g->xaxis[1] + (c * g->stride[2] - g->pad[2]) * g->xaxis[2]);
    const int64_t y = image * g->ybatch + z * g->yaxis[0] + r * g->yaxis[1] + c * g->yaxis[2];
    occ_vi        acc[OCC_TILE_MAX];
    occ_dq_start(q, b, acc, columns);
    for (int64_t i = d.first; i < d.last; i++) {
        const int64_t  row = g->kernel[2] * q->wtap, below = g->dilation[1] * g->xaxis[1];
        const uint8_t *from = x + i * g->dilation[0] * g->xaxis[0];
        const int8_t  *w = q->w + i * g->kernel[1] * row + (q->wtap ? b->channel : 0);
        int64_t        k = h.first;
#if defined(OCC_DOT_FOUR)
        if (columns > 1 && how.pairs && h.first < h.last) {
            const occ_dq_seen seen = occ_dq_pixels(g, edge, c, columns);
            OCC_UNROLL(2)
            for (int group = 0; group < g->kernel[1]; group += 4)
                occ_dq_quads(q, how, b, acc, from, below, w, group, (int)occ_min(g->kernel[1] - group, 4), h, seen,
                             columns);
            k = h.last;
        }
#elif defined(OCC_BYTES_AVX2)
        if (columns > 1 && b->lanes == b->vectors * OCC_W && how.pairs) {
            const occ_dq_seen seen = occ_dq_pixels(g, edge, c, columns);
            OCC_ROLL
            for (; k + 2 <= h.last; k += 2)
                occ_dq_pairs(q, how, b, acc, from + k * below, below, w + k * row, 1, seen, columns);
            if (k < h.last)
                occ_dq_pairs(q, how, b, acc, from + k * below, below, w + k * row, 0, seen, columns);
            k = h.last;
        }
#endif
        for (; k < h.last; k++)
            occ_dq_taps(q, how, b, acc, from + k * below, w + k * row, t, edge, c, columns);
    }
    occ_dq_store(q, how, b, acc, y, occ_conv_pixel(g, image, z, r, c), columns);
}

/* One row of some channels: tiles at the edges, where columns miss taps, and full tiles between them. */
OCC_HOT void occ_dq_row(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, int64_t image, int64_t z,
                        int64_t r)
{
    const occ_conv_cut cut = occ_conv_cut_row(q->g.out[2], OCC_DQ_COLUMNS);
    const occ_taps     inside = occ_conv_interior(&q->g, 2), t = {0, q->g.kernel[2]};
    const int          left = inside.first > 0, right = inside.last < q->g.out[2];
    const int          first = (int)(cut.larger > 0 ? cut.size + 1 : cut.size), last = (int)cut.size;
    int64_t            c = 0, larger = cut.larger - (left && cut.larger > 0),
            others = cut.tiles - cut.larger - (left && !cut.larger) - right;
    if (cut.tiles == 1) {
        if (first > 0)
            occ_dq_tile(q, how, b, image, z, r, 0, t, left || right ? OCC_TILE_EDGE : OCC_TILE_INSIDE, first);
        return;
    }
    if (left) {
        occ_dq_tile(q, how, b, image, z, r, 0, t, OCC_TILE_EDGE, first);
        c = first;
    }
    for (; larger > 0; larger--, c += first)
        occ_dq_tile(q, how, b, image, z, r, c, t, OCC_TILE_INSIDE, first);
    for (; others > 0; others--, c += last)
        occ_dq_tile(q, how, b, image, z, r, c, t, OCC_TILE_INSIDE, last);
    if (right)
        occ_dq_tile(q, how, b, image, z, r, q->g.out[2] - last, t, OCC_TILE_EDGE, last);
}

/* All rows of a literal geometry, a block of channels at a time. */
OCC_HOT void occ_dq_rows(const occ_depthwise_q *q, occ_dq_how how)
{
    const int64_t wide = OCC_DQ_VECTORS * OCC_W, rest = q->g.outputs % wide;
    for (int64_t image = 0; image < q->g.batch; image++)
        for (int64_t z = 0; z < q->g.out[0]; z++)
            for (int64_t r = 0; r < q->g.out[1]; r++) {
                occ_dq_block b = {0, OCC_DQ_VECTORS, (int)wide};
                for (; b.channel + wide <= q->g.outputs; b.channel += wide)
                    occ_dq_row(q, how, &b, image, z, r);
                b.vectors = (int)((rest + OCC_W - 1) / OCC_W);
                b.lanes = (int)rest;
                if (rest > 0)
                    occ_dq_row(q, how, &b, image, z, r);
            }
}

/* One row whose width is known only at run time: full tiles, then those of 8, 4, 2 pixels and one. All are near the
 * image. */
OCC_HOT void occ_dq_row_open(const occ_depthwise_q *q, occ_dq_how how, const occ_dq_block *b, int64_t image, int64_t z,
                             int64_t r)
{
    const occ_taps inside = occ_conv_interior(&q->g, 2), all = {0, q->g.kernel[2]};
    int64_t        c = 0;
    OCC_ROLL
    for (; c + OCC_DQ_COLUMNS <= q->g.out[2]; c += OCC_DQ_COLUMNS)
        if (c >= inside.first && c + OCC_DQ_COLUMNS <= inside.last)
            occ_dq_tile(q, how, b, image, z, r, c, all, OCC_TILE_INSIDE, OCC_DQ_COLUMNS);
        else
            occ_dq_tile(q, how, b, image, z, r, c, all, OCC_TILE_NEAR, OCC_DQ_COLUMNS);
    OCC_UNROLL(4)
    for (int columns = 8; columns > 0; columns /= 2)
        if (columns < OCC_DQ_COLUMNS && c + columns <= q->g.out[2]) {
            occ_dq_tile(q, how, b, image, z, r, c, all, OCC_TILE_NEAR, columns);
            c += columns;
        }
}

/* All rows, a block of channels at a time. q is a copy, as in occ_q_open; fused: its expression, which GCC loses sight
 * of in copies. */
OCC_HOT void occ_dq_open(occ_depthwise_q q, occ_dq_how how, const occ_fused *fused)
{
    const int64_t wide = OCC_DQ_VECTORS * OCC_W, rest = q.g.outputs % wide;
    q.g.fused = fused;
    for (int64_t image = 0; image < q.g.batch; image++)
        for (int64_t z = 0; z < q.g.out[0]; z++)
            for (int64_t r = 0; r < q.g.out[1]; r++) {
                occ_dq_block b = {0, OCC_DQ_VECTORS, (int)wide};
                for (; b.channel + wide <= q.g.outputs; b.channel += wide)
                    occ_dq_row_open(&q, how, &b, image, z, r);
                b.vectors = (int)((rest + OCC_W - 1) / OCC_W);
                b.lanes = (int)rest;
                if (rest > 0)
                    occ_dq_row_open(&q, how, &b, image, z, r);
            }
}

#endif
