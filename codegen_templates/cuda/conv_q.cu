/* conv_q.cu - convolution of 8-bit integers with constant weights and exact sums, as a matrix product that nobody
 * stores: rows are pixels, columns are outputs, a term is four inputs of a tap, which one instruction multiplies and
 * adds. Integer sums are exact in any order, so the bits are those of the C kernel. Knows nothing of ONNX's padding
 * modes. */
#include "occ_fused.h"
#include "occ_implicit.h"
#include "occ_quads.h"
#include "occ_result.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_T2 int8_t
#define TPL_N u8
#define TPL_N2 i8
#define occ_put_TPL_N2 occ_put_i8
#endif

/* Copies terms k to k + OCC_QUAD_K - 1 of all pixels and of the block's outputs into shared memory. q: the pointer to
 * the group's inputs, and the zero point that stands outside of the image. A thread always copies the same term. */
OCC_HOT void occ_quad_fill(uint32_t *sx, uint32_t *sw, const occ_conv_q *q, const occ_image *x_at,
                           const occ_window *window, const occ_q_block *b, const occ_krsc_row *row, int64_t k,
                           int64_t terms)
{
    const int64_t       fours = (q->g.inputs + 3) / 4;
    const int           d = occ_thread() % OCC_QUAD_K, step = occ_threads() / OCC_QUAD_K;
    const int           some = k + d < terms;
    const occ_krsc_term t = occ_krsc_term_of(x_at, window, 4 * fours, 4 * (k + d));
    const int64_t       exist = q->g.inputs - (k + d) % fours * 4;
    const uint32_t      zero = (uint32_t)(q->zero & 255) * 0x01010101u;
    for (int i = occ_thread() / OCC_QUAD_K; i < OCC_TILE_SIDE; i += step)
        sx[d * OCC_QUAD_X + i] = !some ? 0
                                 : occ_krsc_is_inside(x_at, OCC_KRSC_AXES, row + i, &t)
                                     ? occ_quad_of(q->x + occ_krsc_place(row + i, &t), exist)
                                     : zero;
    for (int i = occ_thread(); i < OCC_QUAD_K * OCC_PANEL; i += occ_threads()) {
        const int term = i / OCC_PANEL, c = i % OCC_PANEL;
        sw[term * OCC_QUAD_W + c] = k + term < terms && c < b->lanes ? (uint32_t)b->w[(k + term) * b->pitch + c] : 0;
    }
}

/* Starts the sums: the biases, less the zero point's share where the bias does not contain it. */
OCC_HOT occ_quad_part occ_quad_begin(const occ_conv_q *q, const occ_q_block *b, int part)
{
    occ_quad_part p = occ_quad_part_of(part);
    OCC_UNROLLED
    for (int j = 0; j < OCC_QUAD_COLUMNS; j++) {
        const int     some = p.column + j < b->stored;
        const int64_t channel = b->channel + p.column + j;
        int32_t       start = q->bias && some ? q->bias[channel] : 0;
        if (q->sums && some)
            start -= q->zero * q->sums[channel];
        OCC_UNROLLED
        for (int i = 0; i < OCC_QUAD_ROWS; i++)
            p.sum[i * OCC_QUAD_COLUMNS + j] = start;
    }
    return p;
}

/* Applies the expression to the sums of a part, and stores the results. pixel: the first one of the tile */
OCC_HOT void occ_quad_store(const occ_conv_q *q, const occ_quad_part *p, const occ_image *y_at, const occ_q_block *b,
                            int64_t pixel, int64_t pixels, const occ_expr *e, const occ_fused *fused, occ_fn_put put)
{
    OCC_UNROLLED
    for (int i = 0; i < OCC_QUAD_ROWS; i++) {
        const int64_t at = pixel + p->row + i;
        const occ_expr      row = occ_fused_at(e, fused, at);
        OCC_UNROLLED
        for (int j = 0; j < OCC_QUAD_COLUMNS; j++) {
            const int64_t c = b->channel + p->column + j;
            if (at < pixels && p->column + j < b->stored)
                put(q->y, occ_krsc_pixel_at(y_at, at) + c * y_at->stride[1], y_at->stride[1],
                    p->sum[i * OCC_QUAD_COLUMNS + j], &row, c, 1, fused->fn, q->yzero);
        }
    }
}

/* Each part of a tile is computed by one thread; blocks of fewer threads than parts go through a tile several times.
 *
 * conv_q - y = round(expression(bias + sum over taps and channels of (x - zero) * w)) + yzero; arguments as in C. */
OCC_INLINE void occ_conv_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int8_t *w, const int32_t *bias,
                                        const int32_t *sums, const TPL_T *zero, TPL_T2 *y, const occ_image *y_at,
                                        int32_t *scratch, const occ_q_form *form, const occ_expr *e,
                                        const occ_fused *fused)
{
    OCC_SHARED_ARRAY(uint32_t, sx, OCC_QUAD_K * OCC_QUAD_X);
    OCC_SHARED_ARRAY(uint32_t, sw, OCC_QUAD_K * OCC_QUAD_W);
    OCC_SHARED_ARRAY(occ_krsc_row, row, OCC_TILE_SIDE);
    const occ_window *window = &form->window;
    occ_conv_q        q = {occ_conv_make(NULL, x_at, NULL, NULL, NULL, y_at, window, form->groups, fused, 0, 0),
                           (const uint8_t *)x,
                           (const int32_t *)(const void *)w,
                           bias,
                           sums,
                           y,
                    zero ? (int32_t)*zero : (int32_t)form->xzero,
                           0,
                           (int32_t)form->yzero};
    const int64_t     terms = occ_window_size(window) * ((q.g.inputs + 3) / 4),
                  pixels = occ_result_count(y_at) / y_at->dim[1];
    const int64_t across = (q.g.outputs + OCC_PANEL - 1) / OCC_PANEL,
                  down = (pixels + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE;
    (void)scratch;
    for (int64_t tile = occ_block(); tile < form->groups * down * across; tile += occ_grid()) {
        const int64_t group = tile / (down * across), pixel = tile / across % down * OCC_TILE_SIDE,
                      from = tile % across * OCC_PANEL;
        const occ_q_block b = occ_q_block_of(&q, group, from, occ_min(q.g.outputs - from, OCC_PANEL));
        q.x = (const uint8_t *)x + group * q.g.inputs;
        /* The rows of the tile before are not read behind its last barrier. */
        occ_krsc_rows(row, OCC_TILE_SIDE, x_at, y_at, window, pixel, pixels);
        for (int part = occ_thread(); part - occ_thread() < OCC_QUAD_PARTS; part += occ_threads()) {
            occ_quad_part p = occ_quad_begin(&q, &b, part);
            for (int64_t k = 0; k < terms; k += OCC_QUAD_K) {
                occ_barrier(); /* the rows are there, and the last terms have been used */
                occ_quad_fill(sx, sw, &q, x_at, window, &b, row, k, terms);
                occ_barrier();
                occ_quad_add(&p, sx, sw, (TPL_T)-1 < (TPL_T)1, 1);
            }
            if (part < OCC_QUAD_PARTS)
                occ_quad_store(&q, &p, y_at, &b, pixel, pixels, e, fused, occ_put_TPL_N2);
        }
    }
}
