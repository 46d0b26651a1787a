/* conv_krsc_f32.cu - convolution as a matrix product that nobody stores: rows are pixels, columns are outputs, terms
 * are taps times inputs, in the order of the weights. Blocks compute tiles whose side follows from the extents
 * (occ_sides.h): large ones, each result one sum in rising order, as the C kernel adds (occ_conv_big.h); or smaller
 * ones, each result the sum of eight slices of the terms (occ_conv_slices.h); or one row (occ_conv_line.h). The grid
 * decides no bit. Knows nothing of ONNX's padding modes. */
#include "occ_conv_line.h"
#include "occ_conv_slices.h"

#define OCC_CONV_MEMORY OCC_SLICE_MEMORY(OCC_SIDE_MIDDLE) /* floats; the most of all sides */

/* Computes tiles of the side that the extents ask for. big, small: what computes one */
OCC_HOT void occ_conv_by_side(const occ_krsc *c, occ_conv_work *big, occ_conv_work *small)
{
    OCC_SHARED_ARRAY(float, memory, OCC_CONV_MEMORY);
    OCC_SHARED_ARRAY(occ_krsc_row, rows, OCC_SIDE_BIG);
    const int sides = occ_sides_of(c->groups, occ_krsc_pixels(c->y_at), c->y_at->dim[1] / c->groups, c->tensor);
    if (sides == OCC_SIDES_BIG)
        occ_krsc_tiles(memory, rows, OCC_SIDES_BIG, c, big);
    else if (sides == OCC_SIDES_NARROW)
        occ_krsc_tiles(memory, rows, OCC_SIDES_NARROW, c, big);
    else if (sides == OCC_SIDES_HALF && c->tensor) /* single lanes take none of these */
        occ_krsc_tiles(memory, rows, OCC_SIDES_HALF, c, big);
    else if (sides == OCC_SIDES_MIDDLE)
        occ_krsc_tiles(memory, rows, OCC_SIDES_MIDDLE, c, small);
    else if (sides == OCC_SIDES_SMALL)
        occ_krsc_tiles(memory, rows, OCC_SIDES_SMALL, c, small);
    else
        occ_krsc_tiles(memory, rows, OCC_SIDES_LINE, c, occ_conv_line_tile);
}

/* conv_krsc - y = expression(bias + sum over taps and channels of x * w), grouped, padded with zeros.
 *   x     [batch][groups * inputs][depth][height][width], any strides
 *   w     [groups * outputs][tap][inputs];  bias  [groups * outputs], or NULL
 *   y     [batch][groups * outputs][depth][height][width], any strides */
OCC_INLINE void occ_conv_krsc_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, const occ_window *window, int64_t groups, const occ_expr *e,
                                  const occ_fused *fused)
{
    const occ_krsc c = {x, x_at, w, bias, y, y_at, window, groups, e, fused, 0};
    occ_conv_by_side(&c, occ_conv_big_tile, occ_conv_slice_tile);
}

/* conv_work - the same, for a step that an engine of a vendor's library may compute instead of this code, with
 * workspace.
 *   work  as many bytes as the engine may use, or NULL; not used here */
OCC_INLINE void occ_conv_work_f32(const float *x, const occ_image *x_at, const float *w, const float *bias, float *y,
                                  const occ_image *y_at, float *work, const occ_window *window, int64_t groups,
                                  const occ_expr *e, const occ_fused *fused)
{
    (void)work;
    occ_conv_krsc_f32(x, x_at, w, bias, y, y_at, window, groups, e, fused);
}
