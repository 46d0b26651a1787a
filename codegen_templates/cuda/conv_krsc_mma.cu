/* conv_krsc_mma.cu - conv_krsc_f32 on tensor cores: factors are rounded, sums are float32. Tiles, and slices of terms,
 * are those of conv_krsc_f32.cu; factors come while others are used. Any grid gives the same bits. Knows nothing of
 * ONNX's padding modes. */
#include "conv_krsc_f32.cu"
#include "occ_slices_mma.h"

/* Stores a result whose sum began with 0. */
OCC_HOT void occ_conv_mma_store(const void *target, int row, int column, float sum)
{
    occ_krsc_store(target, row, column, sum + occ_krsc_start(target, column));
}

/* Each warp's part of a tile is computed by one warp; blocks of fewer warps than parts go through a tile several times.
 * Arguments as of occ_conv_big_tile. */
OCC_HOT void occ_conv_mma_tile(float *memory, int side, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    const occ_stages stages = occ_big_stages(side);
    for (int part = occ_thread(); part - occ_thread() < OCC_BIG_PARTS; part += occ_threads()) {
        occ_mma_part p = occ_mma_begin(part, side, c->tensor);
        occ_stages_run(memory, &stages, f->terms, occ_conv_big_fill, f, occ_mma_add, &p);
        const occ_krsc_target to = occ_krsc_target_of(occ_again(tile), side, c);
        occ_big_finish(memory, &p, part - occ_thread(), occ_mma_show, occ_mma_owner, occ_conv_mma_store, &to);
    }
}

/* Arguments as of occ_conv_slice_tile. */
OCC_HOT void occ_conv_mma_slice_tile(float *memory, int side, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    const occ_krsc_target t = occ_krsc_target_of(tile, side, c);
    occ_slice_tile(memory, side, f->terms, occ_conv_slice_fill, f, occ_slice_add_tensor, c->tensor, occ_krsc_start,
                   occ_krsc_store, &t);
}

OCC_HOT void occ_conv_mma(const occ_krsc *c)
{
    if (OCC_HAS_MMA)
        occ_conv_by_side(c, occ_conv_mma_tile, occ_conv_mma_slice_tile);
    else
        occ_conv_krsc_f32(c->x, c->x_at, c->w, c->bias, c->y, c->y_at, c->window, c->groups, c->e, c->fused);
}

/* With factors of TF32. */
OCC_INLINE void occ_conv_krsc_tf32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                   const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                   const occ_fused *fused)
{
    const occ_krsc c = {x, x_at, w, bias, y, y_at, window, groups, e, fused, OCC_MMA_TF32};
    occ_conv_mma(&c);
}

/* With factors of half precision. */
OCC_INLINE void occ_conv_krsc_fp16(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                   const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                   const occ_fused *fused)
{
    const occ_krsc c = {x, x_at, w, bias, y, y_at, window, groups, e, fused, OCC_MMA_FP16};
    occ_conv_mma(&c);
}
