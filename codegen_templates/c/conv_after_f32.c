/* conv_after_f32.c - a convolution of single pixels whose input is an expression: it is computed for one block of pixels at a
 * time, so that it never lies in memory as a whole. Knows nothing of what the expression computes. */
#include "conv_f32.c"
#include "occ_nest.h"

/* max(acc, 0), as an expression after the convolution. */
OCC_HOT occ_vf occ_conv_after_relu(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    (void)e, (void)c, (void)n;
    return occ_vmax(acc, occ_vset(0.0f));
}

/* The expression at `rows` pixels, densely. row: at the first of them, and behind the last one afterwards. */
OCC_HOT void occ_conv_after_fill(float *block, int64_t rows, int64_t inputs, int64_t nx, const occ_extent *pitch, occ_expr *row,
                                 occ_fn_vf fn)
{
    for (int64_t r = 0; r < rows; r++) {
        int64_t c = 0;
        for (; c + OCC_W <= inputs; c += OCC_W)
            occ_vstore(block + r * inputs + c, fn(row, occ_vset(0.0f), c, OCC_W), OCC_W);
        if (c < inputs)
            occ_vstore(block + r * inputs + c, fn(row, occ_vset(0.0f), c, (int)(inputs - c)), (int)(inputs - c));
        OCC_UNROLL(8)
        for (int k = 0; k < 8; k++)
            row->at[k] += k < nx ? pitch[k] : 0;
    }
}

/* conv_after - y = bias + sum over channels of expression * w, and with relu the larger of that and 0.
 *   w, bias  as for conv_f32, one tap and one group
 *   y        [pixels][outputs], pixels ystride[4] elements apart
 *   block    [rows][inputs], scratch
 *   xdim, xstride, ydim, ystride  of the convolution of one block, as for conv_f32: {1, inputs, 1, 1, rows} and so on; rows
 *            divides pixels
 *   pitch    [nx]: of each operand of the expression, elements between two pixels (its channels follow) */
OCC_INLINE void occ_conv_after_f32(const float *w, const float *bias, float *y, float *block, int64_t pixels, int64_t relu,
                                   const occ_extent *xdim, const occ_extent *xstride, const occ_extent *ydim,
                                   const occ_extent *ystride, int64_t nx, const occ_extent *pitch, const occ_expr *e, occ_fn_vf fn)
{
    static const occ_extent one[3] = {1, 1, 1}, none[3] = {0, 0, 0};
    const int64_t rows = xdim[4];
    occ_expr row = occ_expr_start(e);
    for (int64_t p = 0; p < pixels; p += rows) {
        occ_conv_after_fill(block, rows, xdim[1], nx, pitch, &row, fn);
        occ_conv_f32(block, w, bias, y + p * ystride[4], 1, xdim, xstride, ydim, ystride, one, one, one, none, none, 0, NULL, NULL,
                     relu ? occ_conv_after_relu : NULL);
    }
}
