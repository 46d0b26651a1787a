/* depthwise_q.c - depthwise convolution of 8-bit integers with exact sums: tiles of pixels times vectors of channels.
 * Knows nothing of ONNX's padding modes. */
#include "occ_depthwise_q.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_T2 int8_t
#define TPL_N u8
#define TPL_N2 i8
#define occ_put_TPL_N2 occ_put_i8
#endif

/* One pixel of any geometry and the channels from `from` on. */
OCC_STEP void occ_dq_pixel_TPL_N_TPL_N2(const occ_depthwise_q *q, int64_t image, int64_t z, int64_t r, int64_t c,
                                        int64_t from)
{
    const occ_dq_block b = {from, OCC_DQ_VECTORS, (int)occ_min(q->g.outputs - from, OCC_DQ_VECTORS * OCC_W)};
    const occ_dq_how   how = {(TPL_T)-1 < (TPL_T)1, occ_put_TPL_N2, 0};
    occ_dq_tile(q, how, &b, image, z, r, c, occ_conv_taps(&q->g, 2, c), OCC_TILE_INSIDE, 1);
}

/* Geometry that no tiles fit. q is a copy: a variable whose address is passed is no longer literal. */
OCC_HOT void occ_dq_pixels_TPL_N_TPL_N2(occ_depthwise_q q)
{
    for (int64_t image = 0; image < q.g.batch; image++)
        for (int64_t z = 0; z < q.g.out[0]; z++)
            for (int64_t r = 0; r < q.g.out[1]; r++)
                for (int64_t c = 0; c < q.g.out[2]; c++)
                    for (int64_t from = 0; from < q.g.outputs; from += OCC_DQ_VECTORS * OCC_W)
                        occ_dq_pixel_TPL_N_TPL_N2(&q, image, z, r, c, from);
}

/* depthwise_q - y = round(expression(bias + sum over taps of (x - zero) * w)) + yzero, stored as by conv_q. Padding
 * counts as zero.
 *   x, y  [batch][channels][depth][height][width] by strides; the channels of x are neighbours
 *   w     [tap][channels];  bias  [channels], or NULL
 *   form  zero points, and the elements between taps of w
 *   the other arguments are those of conv_f32 */
OCC_INLINE void occ_depthwise_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int8_t *w,
                                             const int32_t *bias, const TPL_T *zero, TPL_T2 *y, const occ_image *y_at,
                                             const occ_window *window, const occ_dq_form *form, const occ_expr *e,
                                             const occ_fused *fused)
{
    const int literal = OCC_KNOWN(y_at->dim[4]) && OCC_KNOWN(x_at->dim[4]) && OCC_KNOWN(y_at->dim[1]) &&
                        OCC_KNOWN(window->kernel[2]) &&
                        occ_conv_edges_fit(y_at->dim[4], x_at->dim[4], window, OCC_DQ_COLUMNS);
    const occ_dq_how with = {(TPL_T)-1 < (TPL_T)1, occ_put_TPL_N2, occ_dq_takes_pairs(window)};
    occ_depthwise_q  q;
    q.g = occ_conv_make(NULL, x_at, NULL, NULL, NULL, y_at, window, 1, fused, 0, 0);
    occ_dq_fill(&q, x, w, bias, zero ? (int32_t)*zero : (int32_t)form->xzero, y, form, e);
    if (literal)
        occ_dq_rows(&q, with);
    else
        occ_dq_pixels_TPL_N_TPL_N2(q);
}

#if OCC_OPEN_EXTENTS
/* depthwise_q of images whose width is known only at run time. Steps call it by its own name, for the reason that
 * conv_open_f32.c gives. */
OCC_INLINE void occ_depthwise_open_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int8_t *w,
                                                  const int32_t *bias, const TPL_T *zero, TPL_T2 *y,
                                                  const occ_image *y_at, const occ_window *window,
                                                  const occ_dq_form *form, const occ_expr *e, const occ_fused *fused)
{
    const occ_dq_how with = {(TPL_T)-1 < (TPL_T)1, occ_put_TPL_N2, occ_dq_takes_pairs(window)};
    occ_depthwise_q  q;
    q.g = occ_conv_make(NULL, x_at, NULL, NULL, NULL, y_at, window, 1, fused, 0, 0);
    occ_dq_fill(&q, x, w, bias, zero ? (int32_t)*zero : (int32_t)form->xzero, y, form, e);
    if (OCC_W > 1 && OCC_KNOWN(y_at->dim[1]) && OCC_KNOWN(window->kernel[2]) && window->kernel[2] <= OCC_CONV_TAPS &&
        occ_conv_is_near(y_at->dim[4], x_at->dim[4], window))
        occ_dq_open(q, with, fused);
    else
        occ_dq_pixels_TPL_N_TPL_N2(q);
}
#endif
