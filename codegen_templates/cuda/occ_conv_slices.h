/* occ_conv_slices.h - convolution as conv_krsc_f32.cu makes it, where tiles of 128 x 128 would be too few: smaller
 * tiles, whose terms the warps of a block share out (occ_slices.h). */
#ifndef OCC_CONV_SLICES_H
#define OCC_CONV_SLICES_H

#include "occ_conv_big.h"
#include "occ_slices.h"

OCC_HOT void occ_conv_slice_fill(float *sa, float *sb, const void *factors, int side, int64_t k)
{
    occ_conv_fill(sa, sb, (const occ_conv_big *)factors, side, k, OCC_SLICE_STAGE, OCC_SLICE_PITCH);
}

/* memory, rows: shared, OCC_SLICE_MEMORY(side) floats and `side` rows; add, tensor: as of occ_slice_tile; the others
 * as of conv_krsc_f32 */
OCC_HOT void occ_conv_slices(float *memory, occ_krsc_row *rows, int side, occ_stage_add *add, int tensor,
                             const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                             const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                             const occ_fused *fused)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t terms = occ_window_size(window) * inputs, across = (outputs + side - 1) / side;
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    const int64_t down = (pixels + side - 1) / side;
    const int     fours = occ_conv_by_fours(x, x_at, w, inputs);
    for (int64_t tile = occ_block(); tile < groups * down * across; tile += occ_grid()) {
        const int64_t         group = tile / (down * across);
        const occ_krsc_target t = occ_krsc_target_of(tile, side, bias, y, y_at, groups, e, fused);
        const occ_conv_big    f = {x + group * inputs * x_at->stride[1],
                                   w + t.channel * terms,
                                   x_at,
                                   window,
                                   rows,
                                   inputs,
                                   terms,
                                   t.columns,
                                   fours};
        occ_krsc_rows(rows, side, x_at, y_at, window, t.pixel, pixels);
        occ_barrier();
        occ_slice_tile(memory, side, terms, occ_conv_slice_fill, &f, add, tensor, occ_krsc_start, occ_krsc_store, &t);
    }
}

#endif
