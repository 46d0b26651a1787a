/* conv_after_f32.c - a 1x1 convolution whose input is an expression. The expression is computed for one block of pixels
 * at a time, so its whole result is never in memory. Knows nothing of what the expression computes. */
#include "conv_open_f32.c"
#include "occ_nest.h"

/* max(acc, 0), the expression after the convolution. */
OCC_HOT occ_vf occ_conv_after_relu(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    (void)e, (void)c, (void)n;
    return occ_vmax(acc, occ_vset(0.0f));
}

/* The expression after the convolution: none, or max(acc, 0). A constant, like everything that specialises a step: C
 * compilers that must find it out first keep, and optimise, the code for all other cases. */
static const occ_fused occ_conv_after_limit[2] = {{0, {0}, NULL}, {0, {0}, occ_conv_after_relu}};

/* Computes the expression at `rows` pixels into a dense block. row: of the first pixel, moved behind the last one. */
OCC_HOT void occ_conv_after_fill(float *block, int64_t rows, int64_t inputs, const occ_fused *fused, occ_expr *row)
{
    for (int64_t r = 0; r < rows; r++) {
        int64_t c = 0;
        for (; c + OCC_W <= inputs; c += OCC_W)
            occ_vstore(block + r * inputs + c, fused->fn(row, occ_vset(0.0f), c, OCC_W), OCC_W);
        if (c < inputs)
            occ_vstore(block + r * inputs + c, fused->fn(row, occ_vset(0.0f), c, (int)(inputs - c)), (int)(inputs - c));
        OCC_UNROLL(8)
        for (int k = 0; k < 8; k++)
            row->at[k] += k < fused->nx ? fused->pitch[k] : 0;
    }
}

/* conv_after - y = bias + sum over channels of expression * w; with relu, the larger of that and 0.
 *   w, bias  as for conv_f32, one tap and one group
 *   y        {blocks, outputs, 1, 1, rows}
 *   block    {1, inputs, 1, 1, rows}, scratch */
OCC_INLINE void occ_conv_after_f32(const float *w, const float *bias, float *y, const occ_image *y_at, float *block,
                                   const occ_image *block_at, int64_t relu, const occ_expr *e, const occ_fused *fused)
{
    static const occ_window one = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    static const occ_extent tile[3] = {0, 0, 0};
    occ_expr                row = occ_expr_start(e);
    for (int64_t i = 0; i < y_at->dim[0]; i++) { /* one image per block of pixels */
        occ_conv_after_fill(block, block_at->dim[4], block_at->dim[1], fused, &row);
#if OCC_OPEN_EXTENTS
        if (!OCC_KNOWN(block_at->dim[4])) {
            occ_conv_open_f32(block, block_at, w, bias, y + i * y_at->stride[0], y_at, &one, 1, tile, NULL,
                              &occ_conv_after_limit[relu]);
            continue;
        }
#endif
        occ_conv_f32(block, block_at, w, bias, y + i * y_at->stride[0], y_at, &one, 1, tile, NULL,
                     &occ_conv_after_limit[relu]);
    }
}
