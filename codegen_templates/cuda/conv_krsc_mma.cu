/* conv_krsc_mma.cu - conv_krsc_f32 on tensor cores: factors are rounded, sums are float32. Tiles, and slices of terms,
 * are those of conv_krsc_f32.cu; factors come while others are used. Any grid gives the same bits. Knows nothing of
 * ONNX's padding modes. */
#include "conv_krsc_f32.cu"
#include "occ_mma_tile.h"
#include "occ_slices_mma.h"

/* Brings and adds all terms of a tile. Terms that come one by one need the registers of a stage on its way. A short
 * loop must do where extents allow fours but tensors begin elsewhere. */
OCC_HOT void occ_conv_mma_run(float *memory, occ_mma_part *p, int sides, const occ_conv_big *f, int kind, int part)
{
    if (f->fours)
        occ_mma_run(memory, p, sides, kind, part, f->terms, occ_conv_four, f);
    else if (occ_threads() == OCC_BIG_PARTS && !occ_conv_strides_by_fours(f->x_at, f->inputs))
        occ_mma_run_near(memory, p, sides, kind, part, f->terms, occ_conv_each, f);
    else
        occ_mma_run_any(memory, p, sides, kind, part, f->terms, occ_conv_each, f);
}

/* The values of four results whose sums began with 0. */
OCC_HOT occ_four occ_conv_mma_value(const void *target, int row, int column, occ_four sums)
{
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        sums.value[i] += occ_krsc_start(target, column + i);
    return occ_krsc_value(target, row, column, sums);
}

/* Each warp's part of a tile is computed by one warp; blocks of fewer warps than parts go through a tile several times.
 * Arguments as of occ_conv_big_tile. */
OCC_HOT void occ_conv_mma_tile(float *memory, int sides, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    for (int part = occ_thread(); part - occ_thread() < OCC_BIG_PARTS; part += occ_threads()) {
        occ_mma_part p = occ_mma_begin(sides, part);
        occ_conv_mma_run(memory, &p, sides, f, c->tensor, part);
        const occ_krsc_target to = occ_krsc_target_of(occ_again(tile), sides, c);
        occ_big_finish(memory, &p, part - occ_thread(), sides, occ_mma_show, occ_mma_owner, occ_conv_mma_value,
                       occ_krsc_put, &to);
    }
}

/* Arguments as of occ_conv_slice_tile. */
OCC_HOT void occ_conv_mma_slice_tile(float *memory, int sides, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    const occ_krsc_target t = occ_krsc_target_of(tile, sides, c);
    occ_slice_tile(memory, sides, f->terms, occ_conv_fill, f, occ_slice_add_tensor, c->tensor, occ_krsc_start,
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

/* conv_work - the same, for a step that an engine of a vendor's library may compute instead of this code, with
 * workspace.
 *   work  as many bytes as the engine may use, or NULL; not used here */
OCC_INLINE void occ_conv_work_tf32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, float *work, const occ_window *window, int64_t groups,
                                  const occ_expr *e, const occ_fused *fused)
{
    (void)work;
    occ_conv_krsc_tf32(x, x_at, w, bias, y, y_at, window, groups, e, fused);
}

/* The same with factors of half precision. */
OCC_INLINE void occ_conv_work_fp16(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, float *work, const occ_window *window, int64_t groups,
                                  const occ_expr *e, const occ_fused *fused)
{
    (void)work;
    occ_conv_krsc_fp16(x, x_at, w, bias, y, y_at, window, groups, e, fused);
}
