/* occ_conv_big.h - convolution of large images to many outputs, as conv_krsc_f32.cu makes it, but by tiles of 128 or 64
 * rows and columns whose factors come while others are used. Terms come in the same order, so the bits are the same. */
#ifndef OCC_CONV_BIG_H
#define OCC_CONV_BIG_H

#include "occ_big.h"
#include "occ_epilogue.h"
#include "occ_implicit.h"
#include "occ_fused.h"
#include "occ_sides.h"

/* A convolution: the arguments of conv_krsc_f32. tensor: the kind of factors on tensor cores (occ_mma.h), or 0 */
typedef struct occ_krsc {
    const float      *x;
    const occ_image  *x_at;
    const float      *w, *bias;
    float            *y;
    const occ_image  *y_at;
    const occ_window *window;
    int64_t           groups;
    const occ_expr   *e;
    const occ_fused  *fused;
    int               tensor;
} occ_krsc;

/* The factors of a tile: its pixels and its columns of weights. fours: four neighbouring terms can be copied at once */
typedef struct occ_conv_big {
    const float        *x, *w; /* of the group; of the tile's first column */
    const occ_image    *x_at;
    const occ_window   *window;
    const occ_krsc_row *row;
    int64_t             inputs, terms, columns;
    int                 borders; /* axes along which windows may reach outside */
    int                 fours;
} occ_conv_big;

/* Whether four neighbouring terms, the first a multiple of four, are neighbours in memory at a multiple of 16 bytes, if
 * the tensors begin at one. */
OCC_HOT int occ_conv_strides_by_fours(const occ_image *x_at, int64_t inputs)
{
    int all = x_at->stride[1] == 1 && inputs % 4 == 0;
    OCC_UNROLLED
    for (int i = 0; i < 5; i++)
        all &= i == 1 || x_at->dim[i] == 1 || x_at->stride[i] % 4 == 0;
    return all;
}

OCC_HOT int occ_conv_by_fours(const float *x, const occ_image *x_at, const float *w, int64_t inputs)
{
    return occ_conv_strides_by_fours(x_at, inputs) && (uintptr_t)x % 16 == 0 && (uintptr_t)w % 16 == 0;
}

/* Whether row r of a tile has a term t, the k-th. */
OCC_HOT int occ_conv_has(const occ_conv_big *f, int r, const occ_krsc_term *t, int64_t k)
{
    return k < f->terms && occ_krsc_is_inside(f->x_at, f->borders, f->row + r, t);
}

/* Four terms from k on of a pixel of a tile, or of a column of weights, that can be read at once; those that do not
 * exist are 0. */
OCC_HOT occ_four occ_conv_four(const void *factors, int column, int line, int64_t k)
{
    const occ_conv_big *f = (const occ_conv_big *)factors;
    const occ_krsc_term t = occ_krsc_term_of(f->x_at, f->window, f->inputs, k);
    occ_four            x = {{0.0f, 0.0f, 0.0f, 0.0f}};
    if (column ? k < f->terms && line < f->columns : occ_conv_has(f, line, &t, k))
        x = occ_load_four(column ? f->w + line * f->terms + k : f->x + occ_krsc_place(f->row + line, &t));
    return x;
}

/* The same one by one. */
OCC_HOT occ_four occ_conv_each(const void *factors, int column, int line, int64_t k)
{
    const occ_conv_big *f = (const occ_conv_big *)factors;
    occ_four            x = {{0.0f, 0.0f, 0.0f, 0.0f}};
    OCC_UNROLLED
    for (int i = 0; i < 4; i++) {
        const occ_krsc_term t = occ_krsc_term_of(f->x_at, f->window, f->inputs, k + i);
        if (column ? k + i < f->terms && line < f->columns : occ_conv_has(f, line, &t, k + i))
            x.value[i] = *(column ? f->w + line * f->terms + k + i : f->x + occ_krsc_place(f->row + line, &t));
    }
    return x;
}

/* Begins to copy four terms from k on of rows and columns `first`, first + step, ... of a tile. */
OCC_HOT void occ_conv_copy(float *sa, float *sb, const occ_conv_big *f, const occ_stages *s, int first, int step,
                           int64_t k)
{
    const occ_krsc_term t = occ_krsc_term_of(f->x_at, f->window, f->inputs, k);
    OCC_UNROLLED
    for (int r = 0; r < occ_tile_rows(s->sides); r += step)
        occ_copy16_or_zero(sa + (first + r) * s->pitch, f->x + occ_krsc_place(f->row + first + r, &t),
                           occ_conv_has(f, first + r, &t, k));
    OCC_UNROLLED
    for (int r = 0; r < occ_tile_columns(s->sides); r += step)
        occ_copy16_or_zero(sb + (first + r) * s->pitch, f->w + (first + r) * f->terms + k,
                           k < f->terms && first + r < f->columns);
}

/* The same one by one, where they are no neighbours. */
OCC_HOT void occ_conv_gather(float *sa, float *sb, const occ_conv_big *f, const occ_stages *s, int first, int step,
                             int64_t k)
{
    occ_krsc_term t[4];
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        t[i] = occ_krsc_term_of(f->x_at, f->window, f->inputs, k + i);
    OCC_ROLLED
    for (int r = first; r < occ_tile_rows(s->sides); r += step) {
        OCC_UNROLLED
        for (int i = 0; i < 4; i++)
            occ_copy4_or_zero(sa + r * s->pitch + i, f->x + occ_krsc_place(f->row + r, t + i),
                              occ_conv_has(f, r, t + i, k + i));
    }
    OCC_ROLLED
    for (int r = first; r < occ_tile_columns(s->sides); r += step) {
        OCC_UNROLLED
        for (int i = 0; i < 4; i++)
            occ_copy4_or_zero(sb + r * s->pitch + i, f->w + r * f->terms + k + i, k + i < f->terms && r < f->columns);
    }
}

/* Begins to bring a stage. A thread always brings the same four terms, so that these are taken apart once. */
OCC_HOT void occ_conv_fill(float *sa, float *sb, const void *factors, const occ_stages *s, int64_t k)
{
    const occ_conv_big *f = (const occ_conv_big *)factors;
    const int           fours = s->terms / 4, at = occ_thread() % fours * 4, first = occ_thread() / fours;
    if (f->fours && occ_threads() == OCC_BIG_PARTS)
        occ_conv_copy(sa + at, sb + at, f, s, first, OCC_BIG_PARTS / fours, k + at);
    else
        occ_conv_gather(sa + at, sb + at, f, s, first, occ_threads() / fours, k + at);
}

/* The place of a tile's results. pixel, channel: of its first row and column; columns: those that exist */
typedef struct occ_krsc_target {
    float           *y;
    const occ_image *y_at;
    const float     *bias; /* of the first column, or NULL */
    int64_t          pixel, pixels, channel, columns;
    const occ_expr  *e;
    const occ_fused *fused;
} occ_krsc_target;

/* The target of the tile-th tile. sides: their number */
OCC_HOT occ_krsc_target occ_krsc_target_of(int64_t tile, int sides, const occ_krsc *c)
{
    const int64_t outputs = c->y_at->dim[1] / c->groups,
                  across = (outputs + occ_tile_columns(sides) - 1) / occ_tile_columns(sides);
    const int64_t pixels = occ_krsc_pixels(c->y_at), down = (pixels + occ_tile_rows(sides) - 1) / occ_tile_rows(sides);
    const int64_t first = tile % across * occ_tile_columns(sides), channel = tile / (down * across) * outputs + first;
    const occ_krsc_target t = {c->y,
                               c->y_at,
                               c->bias ? c->bias + channel : c->bias,
                               tile / across % down * occ_tile_rows(sides),
                               pixels,
                               channel,
                               occ_min(outputs - first, occ_tile_columns(sides)),
                               c->e,
                               c->fused};
    return t;
}

/* The bias of a column of the tile, with which its sums begin. */
OCC_HOT float occ_krsc_start(const void *target, int column)
{
    const occ_krsc_target *t = (const occ_krsc_target *)target;
    return t->bias && column < t->columns ? t->bias[column] : 0.0f;
}

/* Applies the expression to a result of the tile, and stores it. */
OCC_HOT void occ_krsc_store(const void *target, int row, int column, float sum)
{
    const occ_krsc_target *t = (const occ_krsc_target *)target;
    const int64_t          at = t->pixel + row, c = t->channel + column;
    if (at >= t->pixels || column >= t->columns)
        return;
    const occ_expr e = occ_fused_at(t->e, t->fused, at);
    t->y[occ_krsc_pixel_at(t->y_at, at) + c * t->y_at->stride[1]] = occ_apply_vf(&e, sum, c, 1, t->fused->fn);
}

/* The same of four neighbours of a row: their values; and stores them. */
OCC_HOT occ_four occ_krsc_value(const void *target, int row, int column, occ_four sums)
{
    const occ_krsc_target *t = (const occ_krsc_target *)target;
    const int64_t          at = t->pixel + row, c = t->channel + column;
    const occ_expr         e = occ_fused_at(t->e, t->fused, at);
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        if (at < t->pixels && column + i < t->columns)
            sums.value[i] = occ_apply_vf(&e, sums.value[i], c + i, 1, t->fused->fn);
    return sums;
}

OCC_HOT void occ_krsc_put(const void *target, int row, int column, occ_four values)
{
    const occ_krsc_target *t = (const occ_krsc_target *)target;
    const int64_t          at = t->pixel + row, c = t->channel + column, apart = t->y_at->stride[1];
    if (at >= t->pixels)
        return;
    float *y = t->y + occ_krsc_pixel_at(t->y_at, at) + c * apart;
    if (apart == 1 && column + 4 <= t->columns && (uintptr_t)y % 16 == 0) {
        occ_store_four(y, values);
        return;
    }
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        if (column + i < t->columns)
            y[i * apart] = values.value[i];
}

/* Starts the sums of a part with the bias of their columns. */
OCC_HOT occ_big_part occ_conv_big_begin(int part, const occ_krsc_target *t, int sides)
{
    occ_big_part p;
    occ_big_place(&p, part % OCC_BIG_PARTS);
    OCC_UNROLLED
    for (int j = 0; j < occ_tile_columns(sides) / OCC_BIG_APART; j++) {
        const float start = occ_krsc_start(t, p.column + j * OCC_BIG_APART);
        OCC_UNROLLED
        for (int i = 0; i < occ_tile_rows(sides) / OCC_BIG_APART; i++)
            p.sum[i * OCC_BIG_PART + j] = start;
    }
    return p;
}

/* Computes the tile-th tile from its factors. memory: shared */
typedef void occ_conv_work(float *memory, int sides, const occ_conv_big *f, const occ_krsc *c, int64_t tile);

/* Computes all tiles. sides: their number; rows: shared, as many as a tile has */
OCC_HOT void occ_krsc_tiles(float *memory, occ_krsc_row *rows, int sides, const occ_krsc *c, occ_conv_work *work)
{
    const int64_t inputs = c->x_at->dim[1] / c->groups, terms = occ_window_size(c->window) * inputs;
    const int64_t pixels = occ_krsc_pixels(c->y_at);
    const int64_t each = occ_side_tiles(pixels, c->y_at->dim[1] / c->groups, sides);
    const int     fours = occ_conv_by_fours(c->x, c->x_at, c->w, inputs);
    for (int64_t tile = occ_block(); tile < c->groups * each; tile += occ_grid()) {
        const occ_krsc_target t = occ_krsc_target_of(tile, sides, c);
        const occ_conv_big    f = {c->x + tile / each * inputs * c->x_at->stride[1],
                                   c->w + t.channel * terms,
                                   c->x_at,
                                   c->window,
                                   rows,
                                   inputs,
                                   terms,
                                   t.columns,
                                   occ_krsc_borders(c->x_at, c->y_at, c->window),
                                   fours};
        /* The rows of the tile before are not read behind its last barrier. */
        occ_krsc_rows(rows, occ_tile_rows(sides), c->x_at, c->y_at, c->window, t.pixel, pixels);
        occ_barrier();
        work(memory, sides, &f, c, tile);
    }
}

/* Each part of a tile is computed by one thread; blocks of fewer threads than parts go through a tile several times.
 * memory: OCC_BIG_MEMORY floats */
OCC_HOT void occ_conv_big_tile(float *memory, int sides, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    const occ_stages      stages = occ_big_stages(sides);
    const occ_krsc_target t = occ_krsc_target_of(tile, sides, c);
    for (int part = occ_thread(); part - occ_thread() < OCC_BIG_PARTS; part += occ_threads()) {
        occ_big_part p = occ_conv_big_begin(part, &t, sides);
        occ_stages_run(memory, &stages, f->terms, occ_conv_fill, f, occ_big_add, &p);
        const occ_krsc_target to = occ_krsc_target_of(occ_again(tile), sides, c);
        occ_big_finish(memory, &p, part - occ_thread(), sides, occ_big_show, occ_big_owner, occ_krsc_value,
                       occ_krsc_put, &to);
    }
}

#endif
