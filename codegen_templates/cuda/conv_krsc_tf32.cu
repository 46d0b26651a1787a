/* conv_krsc_tf32.cu - conv_krsc_f32 on tensor cores: factors are rounded to TF32, sums are float32. The same tiles, and
 * the same slices of terms, whose factors come while others are used. Any grid gives the same bits. Knows nothing of
 * ONNX's padding modes. */
#include "conv_krsc_f32.cu"
#include "occ_slices_mma.h"

/* What occ_krsc_store stores, of sums that began with 0. */
OCC_HOT void occ_conv_mma_store(const void *target, int row, int column, float sum)
{
    occ_krsc_store(target, row, column, sum + occ_krsc_start(target, column));
}

/* Each warp's part of a tile is computed by one warp; blocks of fewer warps than parts go through a tile several times.
 * Arguments as of occ_conv_big_f32. */
OCC_HOT void occ_conv_mma_f32(float *memory, occ_krsc_row *rows, const float *x, const occ_image *x_at, const float *w,
                              const float *bias, float *y, const occ_image *y_at, const occ_window *window,
                              int64_t groups, const occ_expr *e, const occ_fused *fused)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t terms = occ_window_size(window) * inputs, across = (outputs + OCC_BIG_SIDE - 1) / OCC_BIG_SIDE;
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    const int64_t down = (pixels + OCC_BIG_SIDE - 1) / OCC_BIG_SIDE;
    const int        fours = occ_conv_by_fours(x, x_at, w, inputs);
    const occ_stages stages = occ_big_stages(OCC_BIG_SIDE);
    for (int64_t tile = occ_block(); tile < groups * down * across; tile += occ_grid()) {
        const int64_t         group = tile / (down * across);
        const occ_krsc_target t = occ_krsc_target_of(tile, OCC_BIG_SIDE, bias, y, y_at, groups, e, fused);
        const occ_conv_big    f = {x + group * inputs * x_at->stride[1], w + t.channel * terms, x_at, window, rows, inputs,
                                terms, t.columns, fours};
        /* The rows of the tile before are not read behind its last barrier. */
        occ_krsc_rows(rows, OCC_BIG_SIDE, x_at, y_at, window, t.pixel, pixels);
        occ_barrier();
        for (int part = occ_thread(); part - occ_thread() < OCC_BIG_PARTS; part += occ_threads()) {
            occ_mma_part p = occ_mma_begin(part, OCC_BIG_SIDE);
            occ_stages_run(memory, &stages, terms, occ_conv_big_fill, &f, occ_mma_add, &p);
            const occ_krsc_target to =
                occ_krsc_target_of(occ_again(tile), OCC_BIG_SIDE, bias, y, y_at, groups, e, fused);
            occ_big_finish(memory, &p, part - occ_thread(), occ_mma_show, occ_mma_owner, occ_conv_mma_store, &to);
        }
    }
}

OCC_INLINE void occ_conv_krsc_tf32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                   const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                   const occ_fused *fused)
{
    OCC_SHARED_ARRAY(float, memory, OCC_CONV_MEMORY);
    OCC_SHARED_ARRAY(occ_krsc_row, rows, OCC_SIDE_BIG);
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    const int64_t side = occ_side_of(groups, pixels, y_at->dim[1] / groups, 1);
    if (!OCC_HAS_MMA)
        occ_conv_krsc_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused);
    else if (side == OCC_SIDE_BIG)
        occ_conv_mma_f32(memory, rows, x, x_at, w, bias, y, y_at, window, groups, e, fused);
    else if (side == OCC_SIDE_MIDDLE)
        occ_conv_slices(memory, rows, OCC_SIDE_MIDDLE, occ_slice_add_tensor, 1, x, x_at, w, bias, y, y_at, window,
                        groups, e, fused);
    else
        occ_conv_slices(memory, rows, OCC_SIDE_SMALL, occ_slice_add_tensor, 1, x, x_at, w, bias, y, y_at, window,
                        groups, e, fused);
}
