/* winograd_q.c - 3x3 convolution of stride 1 of 8-bit integers, with constant weights and exact sums, in the
 * transformed domain: m x m results from (m + 2)^2 products of 16 bits instead of 9 m^2, m = 2 or 4. Knows nothing of
 * when this pays. */
#include "occ_winograd_q.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_T2 int8_t
#define TPL_N u8
#define TPL_N2 i8
#define occ_put_TPL_N2 occ_put_i8
#endif

/* winograd_q - conv_q with a 3x3 kernel, stride and dilation 1, one group, by tiles of m x m results.
 *   x, y, e, fused  as in conv_q; depth 1; all extents, m and group are literals
 *   u        transformed weights as panels: [block of 32 outputs][(m + 2)^2][inputs / 2 rounded up][32][2 inputs]; the
 *            last block is as wide as its outputs rounded up to 4
 *   bias     [outputs], less the zero point times the sums of the weights; or NULL
 *   scratch  [(m + 2)^2 * (group * (inputs / 2 rounded up + 32) + 32)]
 *   sums without bias must be in [-2^29, 2^29) for m = 2, in [-2^25, 2^25) for m = 4 */
OCC_INLINE void occ_winograd_q_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const int16_t *u,
                                            const int32_t *bias, TPL_T2 *y, const occ_image *y_at, int32_t *scratch,
                                            const occ_window *window, const occ_wq_form *form, const occ_expr *e,
                                            const occ_fused *fused)
{
    const int64_t   m = form->m, group = form->group;
    const occ_q_how with = {(TPL_T)-1 < (TPL_T)1, 0, occ_put_TPL_N2};
    const int64_t   across = (y_at->dim[4] + m - 1) / m, tiles = (y_at->dim[3] + m - 1) / m * across,
                  pairs = (x_at->dim[1] + 1) / 2;
    const int64_t  vfrequency = group * pairs + 16, mfrequency = group * OCC_WQ_BLOCK + 16;
    occ_winograd_q p = {{occ_conv_make(NULL, x_at, NULL, NULL, NULL, y_at, window, 1, fused, 0, 0), (const uint8_t *)x,
                         (const int32_t *)(const void *)u, bias, NULL, y, (int32_t)form->xzero, 0,
                         (int32_t)form->yzero},
                        across,
                        tiles,
                        group,
                        pairs,
                        vfrequency,
                        mfrequency,
                        scratch,
                        scratch + (m + 2) * (m + 2) * vfrequency};
    if (e)
        p.q.g.e = *e;
    occ_wq_groups(&p, with, (int)m);
}
