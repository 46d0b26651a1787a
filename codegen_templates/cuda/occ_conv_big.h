/* occ_conv_big.h - convolution of large images to many outputs, as conv_krsc_f32.cu makes it, but by tiles of 128 x 128
 * whose factors come while others are used. Terms come in the same order, so the bits are the same. */
#ifndef OCC_CONV_BIG_H
#define OCC_CONV_BIG_H

#include "occ_big.h"
#include "occ_epilogue.h"
#include "occ_implicit.h"
#include "occ_fused.h"

/* Fewer big tiles than this leave processors of a device idle: small tiles are better. */
#define OCC_BIG_LEAST 64

OCC_HOT int occ_conv_is_big(int64_t groups, int64_t pixels, int64_t outputs)
{
    return outputs >= OCC_BIG_SIDE && groups * (pixels / OCC_BIG_SIDE) * (outputs / OCC_BIG_SIDE) >= OCC_BIG_LEAST;
}

/* The factors of a tile: its pixels and its columns of weights. */
typedef struct occ_conv_big {
    const float        *x, *w; /* of the group; of the tile's first column */
    const occ_image    *x_at;
    const occ_window   *window;
    const occ_krsc_row *row;
    int64_t             inputs, terms, columns;
} occ_conv_big;

/* Brings four terms from k on of one row of the tile. */
OCC_HOT void occ_conv_big_pixel(float *to, const occ_conv_big *f, const occ_krsc_row *row, int64_t k)
{
    const occ_krsc_term first = occ_krsc_term_of(f->x_at, f->window, f->inputs, k);
    if (f->x_at->stride[1] == 1 && f->inputs % 4 == 0 && k < f->terms) {
        const int inside = occ_krsc_is_inside(f->x_at, row, &first);
        occ_big_bring(to, inside ? f->x + occ_krsc_place(f->x_at, row, &first) : f->x, inside ? 4 : 0);
        return;
    }
    for (int i = 0; i < 4; i++) {
        const occ_krsc_term t = occ_krsc_term_of(f->x_at, f->window, f->inputs, k + i);
        to[i] =
            k + i < f->terms && occ_krsc_is_inside(f->x_at, row, &t) ? f->x[occ_krsc_place(f->x_at, row, &t)] : 0.0f;
    }
}

/* Begins to bring terms k to k + OCC_BIG_K - 1 of all rows and columns of a tile, `side` of each. */
OCC_HOT void occ_conv_big_fill(float *sa, float *sb, const occ_conv_big *f, int side, int64_t k)
{
    const int fours = OCC_BIG_K / 4;
    for (int i = occ_thread(); i < side * fours; i += occ_threads()) {
        const int     r = i / fours, at = i % fours * 4;
        const int64_t left = r < f->columns ? f->terms - (k + at) : 0;
        occ_conv_big_pixel(sa + r * OCC_BIG_PITCH + at, f, f->row + r, k + at);
        occ_big_bring(sb + r * OCC_BIG_PITCH + at, left > 0 ? f->w + r * f->terms + k + at : f->w, left);
    }
    occ_copy_commit();
}

/* Starts the sums of a part with the bias of their columns. */
OCC_HOT occ_big_part occ_conv_big_begin(int part, const float *bias, int64_t columns)
{
    const int    here = part % OCC_BIG_PARTS;
    occ_big_part p;
    p.row = here / OCC_BIG_APART;
    p.column = here % OCC_BIG_APART;
    OCC_UNROLLED
    for (int j = 0; j < OCC_BIG_PART; j++) {
        const int   c = p.column + j * OCC_BIG_APART;
        const float start = bias && c < columns ? bias[c] : 0.0f;
        OCC_UNROLLED
        for (int i = 0; i < OCC_BIG_PART; i++)
            p.sum[i * OCC_BIG_PART + j] = start;
    }
    return p;
}

/* Adds all terms: while some are used, the next ones come. */
OCC_HOT void occ_conv_big_sums(occ_big_part *p, float *sa, float *sb, const occ_conv_big *f)
{
    int stage = 0;
    occ_conv_big_fill(sa, sb, f, OCC_BIG_SIDE, 0);
    for (int64_t k = 0; k < f->terms; k += OCC_BIG_K, stage ^= 1) {
        const int next = (stage ^ 1) * OCC_BIG_STAGE;
        if (k + OCC_BIG_K < f->terms)
            occ_conv_big_fill(sa + next, sb + next, f, OCC_BIG_SIDE, k + OCC_BIG_K);
        else
            occ_copy_commit();
        occ_copy_wait(1);
        occ_barrier(); /* these terms are there */
        occ_big_add(p, sa + stage * OCC_BIG_STAGE, sb + stage * OCC_BIG_STAGE, (int)occ_min(OCC_BIG_K, f->terms - k));
        occ_barrier(); /* and have been used */
    }
}

/* Applies the expression to the results of a part, and stores them. channel: of the tile's first column */
OCC_HOT void occ_conv_big_store(const occ_big_part *p, float *y, const occ_image *y_at, int64_t pixel, int64_t pixels,
                                int64_t channel, int64_t columns, const occ_expr *e, const occ_fused *fused)
{
    OCC_UNROLLED
    for (int i = 0; i < OCC_BIG_PART; i++) {
        const int64_t  at = pixel + p->row + i * OCC_BIG_APART;
        float         *to = y + occ_krsc_pixel_at(y_at, at);
        const occ_expr row = occ_fused_at(e, fused, at);
        OCC_UNROLLED
        for (int j = 0; j < OCC_BIG_PART; j++) {
            const int64_t c = p->column + j * OCC_BIG_APART;
            if (at < pixels && c < columns)
                to[(channel + c) * y_at->stride[1]] =
                    occ_apply_vf(&row, p->sum[i * OCC_BIG_PART + j], channel + c, 1, fused->fn);
        }
    }
}

/* Each part of a tile is computed by one thread; blocks of fewer threads than parts go through a tile several times.
 * Arguments as of conv_krsc_f32. */
OCC_HOT void occ_conv_big_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                              const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                              const occ_fused *fused)
{
    OCC_SHARED_ARRAY(float, big_a, 2 * OCC_BIG_STAGE);
    OCC_SHARED_ARRAY(float, big_b, 2 * OCC_BIG_STAGE);
    OCC_SHARED_ARRAY(occ_krsc_row, big_row, OCC_BIG_SIDE);
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t terms = occ_window_size(window) * inputs, across = (outputs + OCC_BIG_SIDE - 1) / OCC_BIG_SIDE;
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    const int64_t down = (pixels + OCC_BIG_SIDE - 1) / OCC_BIG_SIDE;
    for (int64_t tile = occ_block(); tile < groups * down * across; tile += occ_grid()) {
        const int64_t group = tile / (down * across), pixel = tile / across % down * OCC_BIG_SIDE,
                      first = tile % across * OCC_BIG_SIDE, channel = group * outputs + first;
        const occ_conv_big f = {
            x + group * inputs * x_at->stride[1],  w + channel * terms, x_at, window, big_row, inputs, terms,
            occ_min(outputs - first, OCC_BIG_SIDE)};
        /* The rows of the tile before are not read behind its last barrier. */
        occ_krsc_rows(big_row, OCC_BIG_SIDE, x_at, y_at, window, pixel, pixels);
        occ_barrier();
        for (int part = occ_thread(); part - occ_thread() < OCC_BIG_PARTS; part += occ_threads()) {
            occ_big_part p = occ_conv_big_begin(part, bias ? bias + channel : bias, f.columns);
            occ_conv_big_sums(&p, big_a, big_b, &f);
            if (part < OCC_BIG_PARTS)
                occ_conv_big_store(&p, y, y_at, pixel, pixels, channel, f.columns, e, fused);
        }
    }
}

#endif
