/* conv_q.c - convolution of 8-bit integers with constant weights and exact sums: tiles of pixels times panels of
 * weights, four inputs at a time. Padding holds the zero point. Knows nothing of ONNX's padding modes. */
#include "occ_open_q.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_T2 int8_t
#define TPL_N u8
#define TPL_N2 i8
#define occ_put_TPL_N2 occ_put_i8
#endif

/* ---------------------------------------------------------------------------------- geometry known at run time only */

OCC_HOT void occ_q_group_TPL_N_TPL_N2(const occ_conv_q *q, int64_t group)
{
    const int64_t wide = OCC_Q_VECTORS * OCC_W;
    for (int64_t from = 0; from < q->g.outputs; from += wide) {
        const occ_q_block b = occ_q_block_of(q, group, from, occ_min(q->g.outputs - from, wide));
        for (int64_t image = 0; image < q->g.batch; image++)
            for (int64_t z = 0; z < q->g.out[0]; z++)
                for (int64_t r = 0; r < q->g.out[1]; r++)
                    for (int64_t c = 0; c < q->g.out[2]; c++)
                        if ((TPL_T)-1 < (TPL_T)1 && (OCC_W == 1 || !q->flip))
                            occ_q_pixel_signed(q, &b, occ_put_TPL_N2, image, z, r, c);
                        else
                            occ_q_pixel_unsigned(q, &b, occ_put_TPL_N2, image, z, r, c);
    }
}

/* ------------------------------------------------------------------------------------------------------- the kernel */

/* conv_q - y = round(expression(bias + sum over taps and channels of (x - zero) * w)) + yzero, clamped to the range of
 * bytes. Results that are floats are not rounded; 32-bit results are the sums themselves. Grouped; padding holds the
 * zero point.
 *   x  [batch][groups * inputs][depth][height][width], any strides, but channels are neighbours
 *   w  [group][block of 32 outputs][tap][inputs / 4 rounded up][32][4 inputs]; the last block of a group is as wide as
 *      its outputs rounded up to 4
 *   bias  [groups * outputs], or NULL
 *   sums  [groups * outputs]: the sum of each output's weights; NULL: bias has - zero * sums in it already
 *   zero  one element, or NULL: form->xzero
 *   scratch  the pairs of an occ_strip, or NULL; with it, inputs are a multiple of 4
 *   the other arguments are those of conv_f32 */
OCC_INLINE void occ_conv_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int8_t *w, const int32_t *bias,
                                        const int32_t *sums, const TPL_T *zero, TPL_T2 *y, const occ_image *y_at,
                                        int32_t *scratch, const occ_q_form *form, const occ_expr *e,
                                        const occ_fused *fused)
{
    const occ_window *window = &form->window;
    const int         is_signed = (TPL_T)-1 < (TPL_T)1, flat = occ_conv_is_flat(x_at, y_at, window);
    const int64_t     width = flat ? y_at->dim[2] * y_at->dim[3] * y_at->dim[4] : y_at->dim[4];
    const int         known = OCC_KNOWN(width) && OCC_KNOWN(x_at->dim[4]) && OCC_KNOWN(y_at->dim[1] / form->groups) &&
                      OCC_KNOWN(window->kernel[2]);
    const int edges = occ_conv_edges_fit(width, x_at->dim[4], window, OCC_Q_ROWS(OCC_Q_VECTORS)) &&
                      occ_conv_edges_fit(width, x_at->dim[4], window, OCC_Q_ROWS(1));
    const int       strips = OCC_STRIPS && known && form->strip > 0 && !(form->safe && occ_dot_whole(OCC_DOT_SAFE));
    const int       flip = is_signed && sums != NULL && !strips && OCC_W > 1;
    const occ_q_how with = {is_signed && !flip,
                            is_signed && !flip ? OCC_DOT_SIGNED
                            : form->safe       ? OCC_DOT_SAFE
                                               : OCC_DOT_UNSIGNED,
                            occ_put_TPL_N2};
    occ_conv_q      q = {occ_conv_make(NULL, x_at, NULL, NULL, NULL, y_at, window, form->groups, fused, 0, flat),
                         (const uint8_t *)x,
                         (const int32_t *)(const void *)w,
                         bias,
                         sums,
                         y,
                         (zero ? (int32_t)*zero : (int32_t)form->xzero) + (flip ? 128 : 0),
                    flip ? (int32_t)0x80808080 : 0,
                         (int32_t)form->yzero};
    if (e)
        q.g.e = *e;
    for (int64_t group = 0; group < form->groups; group++, q.x += q.g.inputs)
        if (strips && form->gather > 0 && occ_strip_is_dense(&q.g))
            occ_strip_gathered(&q, with, scratch, group, OCC_Q_VECTORS, form->strip, form->kept > 0);
        else if (strips)
            occ_strip_group(&q, with, scratch, group, OCC_Q_VECTORS, form->strip, form->kept > 0);
        else if (known && (flat || edges))
            occ_q_channels(&q, with, group, width == 1 && q.g.batch == 1 ? OCC_Q_ALONE : OCC_Q_VECTORS);
        else
            occ_q_group_TPL_N_TPL_N2(&q, group);
}

#if OCC_OPEN_EXTENTS
/* conv_q of images whose width is known only at run time. Steps call it by its own name, for the reason that
 * conv_open_f32.c gives. */
OCC_INLINE void occ_conv_open_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int8_t *w,
                                             const int32_t *bias, const int32_t *sums, const TPL_T *zero, TPL_T2 *y,
                                             const occ_image *y_at, int32_t *scratch, const occ_q_form *form,
                                             const occ_expr *e, const occ_fused *fused)
{
    const occ_window *window = &form->window;
    const int         is_signed = (TPL_T)-1 < (TPL_T)1, flip = is_signed && sums != NULL && OCC_W > 1;
    const occ_q_how   with = {is_signed && !flip,
                            is_signed && !flip ? OCC_DOT_SIGNED
                              : form->safe       ? OCC_DOT_SAFE
                                                 : OCC_DOT_UNSIGNED,
                              occ_put_TPL_N2};
    occ_conv_q        q = {occ_conv_make(NULL, x_at, NULL, NULL, NULL, y_at, window, form->groups, fused, 0,
                                         occ_conv_is_flat(x_at, y_at, window)),
                           (const uint8_t *)x,
                           (const int32_t *)(const void *)w,
                           bias,
                           sums,
                           y,
                           (zero ? (int32_t)*zero : (int32_t)form->xzero) + (flip ? 128 : 0),
                    flip ? (int32_t)0x80808080 : 0,
                           (int32_t)form->yzero};
    if (e)
        q.g.e = *e;
    if (OCC_W > 1 && OCC_KNOWN(x_at->dim[1] / form->groups) && OCC_KNOWN(y_at->dim[1] / form->groups) &&
        OCC_KNOWN(window->kernel[2])) {
        occ_q_open(q, with, scratch, form, is_signed);
        return;
    }
    for (int64_t group = 0; group < form->groups; group++, q.x += q.g.inputs)
        occ_q_group_TPL_N_TPL_N2(&q, group);
}
#endif
