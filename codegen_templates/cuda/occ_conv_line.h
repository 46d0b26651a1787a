/* occ_conv_line.h - convolution with results for one pixel, a product of a row with a matrix: each weight is used once,
 * so it comes from memory straight to registers, and a block has a warp for each of its eight results. Weights are
 * never rounded: tensor cores gain nothing here.
 *
 *   terms    0-3  4-7 ... 124-127 | 128-131 ...        a lane adds each of its four terms to a sum of its own;
 *   lane      0    1  ...   31    |    0    ...        the four are added, then lanes in pairs: 16 apart, 8, ... */
#ifndef OCC_CONV_LINE_H
#define OCC_CONV_LINE_H

#include "occ_conv_big.h"

#define OCC_LINE_TERMS 128 /* of a warp */
#define OCC_LINE_AHEAD 4   /* times as many are on their way */

/* Four terms from k on of the row, or of a column of weights. */
typedef occ_four occ_conv_line_fetch(const void *factors, int column, int line, int64_t k);

/* The lane's sum of the terms of a column. */
OCC_HOT float occ_conv_line_lane(const occ_conv_big *f, int column, occ_conv_line_fetch *fetch)
{
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int64_t k = occ_lane() * 4; k < f->terms; k += OCC_LINE_AHEAD * OCC_LINE_TERMS) {
        occ_four x[OCC_LINE_AHEAD], w[OCC_LINE_AHEAD];
        OCC_UNROLLED
        for (int n = 0; n < OCC_LINE_AHEAD; n++) {
            x[n] = fetch(f, 0, 0, k + n * OCC_LINE_TERMS);
            w[n] = fetch(f, 1, column, k + n * OCC_LINE_TERMS);
        }
        OCC_UNROLLED
        for (int n = 0; n < OCC_LINE_AHEAD; n++) {
            OCC_UNROLLED
            for (int i = 0; i < 4; i++)
                sum[i] = occ_fma(x[n].value[i], w[n].value[i], sum[i]);
        }
    }
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* The results of a tile. Arguments as of occ_conv_big_tile. */
OCC_HOT void occ_conv_line_tile(float *memory, int sides, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    const occ_krsc_target t = occ_krsc_target_of(tile, sides, c);
    (void)memory;
    for (int column = occ_thread() / 32; column < t.columns; column += occ_threads() / 32) {
        float sum =
            f->fours ? occ_conv_line_lane(f, column, occ_conv_four) : occ_conv_line_lane(f, column, occ_conv_each);
        OCC_UNROLLED
        for (int apart = 16; apart > 0; apart /= 2)
            sum += occ_shuffle(sum, occ_lane() ^ apart);
        if (occ_lane() == 0)
            occ_krsc_store(&t, 0, column, occ_krsc_start(&t, column) + sum);
    }
    occ_barrier(); /* the row has been used */
}

#endif
