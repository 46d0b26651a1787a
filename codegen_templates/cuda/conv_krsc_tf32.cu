/* conv_krsc_tf32.cu - conv_krsc_f32 on tensor cores: factors are rounded to TF32, sums are float32. Tiles of 128 x 128
 * where there are enough of them, else of 64 x 64; their factors come while others are used. Any grid gives the same
 * bits. Knows nothing of ONNX's padding modes. */
#include "conv_krsc_f32.cu"
#include "occ_mma.h"

/* Adds all terms: while some are used, the next ones come. */
OCC_HOT void occ_conv_mma_sums(occ_mma_part *p, float *sa, float *sb, const occ_conv_big *f, int side)
{
    int stage = 0;
    occ_conv_big_fill(sa, sb, f, side, 0);
    for (int64_t k = 0; k < f->terms; k += OCC_BIG_K, stage ^= 1) {
        const int next = (stage ^ 1) * side * OCC_BIG_PITCH, here = stage * side * OCC_BIG_PITCH;
        if (k + OCC_BIG_K < f->terms)
            occ_conv_big_fill(sa + next, sb + next, f, side, k + OCC_BIG_K);
        else
            occ_copy_commit();
        occ_copy_wait(1);
        occ_barrier(); /* these terms are there */
        occ_mma_add(p, sa + here, sb + here, side);
        occ_barrier(); /* and have been used */
    }
}

/* Adds the bias, applies the expression to the results of a lane, and stores them. channel: of the tile's first column
 */
OCC_HOT void occ_conv_mma_store(occ_mma_part *p, int side, const float *bias, float *y, const occ_image *y_at,
                                int64_t pixel, int64_t pixels, int64_t channel, int64_t columns, const occ_expr *e,
                                const occ_fused *fused)
{
    OCC_UNROLLED
    for (int r = 0; r < side / 16; r++) {
        const int64_t  at = pixel + p->row + r * 8;
        float         *to = y + occ_krsc_pixel_at(y_at, at);
        const occ_expr row = occ_fused_at(e, fused, at);
        OCC_UNROLLED
        for (int c = 0; c < side / 16; c++) {
            const int64_t n = p->column + c / 2 * 8 + c % 2;
            if (at < pixels && n < columns) {
                const float sum = *occ_mma_sum(p, side, r, c) + (bias ? bias[channel + n] : 0.0f);
                to[(channel + n) * y_at->stride[1]] = occ_apply_vf(&row, sum, channel + n, 1, fused->fn);
            }
        }
    }
}

/* Each warp's part of a tile is computed by one warp; blocks of fewer warps than parts go through a tile several times.
 * Arguments as of conv_krsc_f32. */
OCC_HOT void occ_conv_mma_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                              const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                              const occ_fused *fused, int side)
{
    OCC_SHARED_ARRAY(float, mma_a, 2 * OCC_BIG_STAGE);
    OCC_SHARED_ARRAY(float, mma_b, 2 * OCC_BIG_STAGE);
    OCC_SHARED_ARRAY(occ_krsc_row, mma_row, OCC_BIG_SIDE);
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups;
    const int64_t terms = occ_window_size(window) * inputs, across = (outputs + side - 1) / side;
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    const int64_t down = (pixels + side - 1) / side;
    for (int64_t tile = occ_block(); tile < groups * down * across; tile += occ_grid()) {
        const int64_t group = tile / (down * across), pixel = tile / across % down * side,
                      first = tile % across * side, channel = group * outputs + first;
        const occ_conv_big f = {
            x + group * inputs * x_at->stride[1],  w + channel * terms, x_at, window, mma_row, inputs, terms,
            occ_min(outputs - first, side)};
        /* The rows of the tile before are not read behind its last barrier. */
        occ_krsc_rows(mma_row, side, x_at, y_at, window, pixel, pixels);
        occ_barrier();
        for (int part = occ_thread(); part - occ_thread() < OCC_BIG_PARTS; part += occ_threads()) {
            occ_mma_part p = occ_mma_begin(part, side);
            occ_conv_mma_sums(&p, mma_a, mma_b, &f, side);
            if (part < OCC_BIG_PARTS)
                occ_conv_mma_store(&p, side, bias, y, y_at, pixel, pixels, channel, f.columns, e, fused);
        }
    }
}

OCC_INLINE void occ_conv_krsc_tf32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                   const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                   const occ_fused *fused)
{
    const int64_t pixels = y_at->dim[0] * y_at->dim[2] * y_at->dim[3] * y_at->dim[4];
    if (!OCC_HAS_MMA)
        occ_conv_krsc_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused);
    else if (occ_conv_is_big(groups, pixels, y_at->dim[1] / groups))
        occ_conv_mma_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused, OCC_BIG_SIDE);
    else
        occ_conv_mma_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused, OCC_TILE_SIDE);
}
