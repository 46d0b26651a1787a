/* map_vf.c - elementwise expressions over float vectors, whose lanes may be stored as another type. Knows nothing of
 * what the expression computes. */
#include "occ_nest.h"
#include "occ_vpow.h"

#ifndef TPL_T
#define TPL_T float
#define occ_vstore_TPL_N occ_vstore_f32
#endif

/* Stores n results to elements of y that are `stride` apart. */
OCC_HOT void occ_map_store_TPL_N(TPL_T *y, int64_t stride, occ_vf v, int n)
{
    TPL_T lane[OCC_W];
    if (stride == 1) {
        occ_vstore_TPL_N(y, v, n);
        return;
    }
    occ_vstore_TPL_N(lane, v, n);
    for (int i = 0; i < n; i++)
        y[i * stride] = lane[i];
}

/* map_vf - y[i] = fn(...) for every index i of `rank` axes, the innermost axis in vectors.
 *   y        [dim[0]]...[dim[rank - 1]], strides ystride; rank >= 1
 *   xstride  [nx][rank], in elements: of the operands that fn reads; fn itself applies the innermost strides
 *   An operand of y's type and strides may be y itself. */
OCC_INLINE void occ_map_vf_TPL_N(TPL_T *y, int64_t rank, const occ_extent *dim, const occ_extent *ystride, int64_t nx,
                                 const occ_extent *xstride, const occ_expr *e, occ_fn_vf fn)
{
    const int64_t outer = rank - 1, n = dim[outer], step = ystride[outer], rows = occ_count(outer, dim);
    occ_expr      row = occ_expr_start(e);
    int64_t       index[8] = {0}, at = 0;
    for (int64_t r = 0; r < rows; r++) {
        int64_t c = 0;
        for (; c + OCC_W <= n; c += OCC_W)
            occ_map_store_TPL_N(y + at + c * step, step, fn(&row, occ_vset(0.0f), c, OCC_W), OCC_W);
        if (c < n)
            occ_map_store_TPL_N(y + at + c * step, step, fn(&row, occ_vset(0.0f), c, (int)(n - c)), (int)(n - c));
        occ_nest_step_expr(outer, dim, index, &row, nx, xstride, rank);
        at = occ_nest_step(outer, dim, index, at, ystride);
    }
}

/* map_columns_vf - the same where the innermost axis is one whose elements are apart in y, such as the pixels of an
 * image of three channels, or of a tile of pixels and channels: y is not written in the order of its memory.
 *   An operand of y's type, place and strides may be y itself. */
OCC_INLINE void occ_map_columns_vf_TPL_N(TPL_T *y, int64_t rank, const occ_extent *dim, const occ_extent *ystride,
                                         int64_t nx, const occ_extent *xstride, const occ_expr *e, occ_fn_vf fn)
{
    occ_map_vf_TPL_N(y, rank, dim, ystride, nx, xstride, e, fn);
}
