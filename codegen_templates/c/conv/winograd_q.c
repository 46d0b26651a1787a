/* winograd_q.c - 3x3 convolution of stride 1 of 8-bit integers, with constant weights and exact sums, in the
 * transformed domain: m x m results from (m + 2)^2 products of 16 bits instead of 9 m^2, m = 2 or 4. 1x3 ones, with any
 * dilation: m results from m + 2 products instead of 3 m. Knows nothing of when this pays. */
#include "occ_winograd_q.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_T2 int8_t
#define TPL_N u8
#define TPL_N2 i8
#define occ_put_TPL_N2 occ_put_i8
#endif

/* winograd_q - conv_q of stride 1 and one group, with a 3x3 kernel of dilation 1 by tiles of m x m results, or with a
 * 1x3 one by tiles of m results; F is (m + 2)^2 or m + 2.
 *   x, y, e, fused  as in conv_q; depth 1; all extents, m and group are literals
 *   u        transformed weights as panels: [block of 32 outputs][F][inputs / 2 rounded up][32][2 inputs]; the last
 *            block is as wide as its outputs rounded up to 4
 *   bias     [outputs], less the zero point times the sums of the weights; or NULL
 *   scratch  [F * (group * (inputs / 2 rounded up + 32) + 32)]
 *   sums without bias must be in [-2^29, 2^29) for m = 2, in [-2^25, 2^25) for m = 4; with a 1x3
 *   kernel in [-2^30, 2^30), [-2^28, 2^28) */
OCC_INLINE void occ_winograd_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int16_t *u,
                                            const int32_t *bias, TPL_T2 *y, const occ_image *y_at, int32_t *scratch,
                                            const occ_window *window, const occ_wq_form *form, const occ_expr *e,
                                            const occ_fused *fused)
{
    const int64_t    group = form->group, pairs = (x_at->dim[1] + 1) / 2;
    const int64_t    vfrequency = group * pairs + 16, mfrequency = group * OCC_WQ_BLOCK + 16;
    const occ_q_how  with = {(TPL_T)-1 < (TPL_T)1, 0, occ_put_TPL_N2};
    const occ_tiling tiling = occ_tiling_make(y_at, window, form->m);
    occ_winograd_q p = {{occ_conv_make(NULL, x_at, NULL, NULL, NULL, y_at, window, 1, fused, 0, 0), (const uint8_t *)x,
                         (const int32_t *)(const void *)u, bias, NULL, y, (int32_t)form->xzero, 0,
                         (int32_t)form->yzero},
                        tiling,
                        group,
                        pairs,
                        vfrequency,
                        mfrequency,
                        scratch,
                        scratch + occ_tiling_frequencies(&tiling) * vfrequency};
    if (e)
        p.q.g.e = *e;
    occ_wq_groups(&p, with);
}
