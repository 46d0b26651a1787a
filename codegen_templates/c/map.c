/* map.c - elementwise expressions over strided scalars of any stored type. Knows nothing of what the expression
 * computes. */
#include "occ_nest.h"

#ifndef TPL_T
#define TPL_T float
#endif

/* Computes one result of stored type TPL_T at inner index c of the current row. */
typedef TPL_T (*occ_fn_TPL_N)(const occ_expr *e, TPL_T acc, int64_t c);

/* map - y[i] = fn(...) for every index i of `rank` axes.
 *   y        [dim[0]]...[dim[rank - 1]], strides ystride; rank >= 1
 *   xstride  [nx][rank], in elements: of the operands that fn reads; fn itself applies the innermost strides
 *   An operand of y's type and strides may be y itself. */
OCC_INLINE void occ_map_TPL_N(TPL_T *y, int64_t rank, const occ_extent *dim, const occ_extent *ystride, int64_t nx,
                              const occ_extent *xstride, const occ_expr *e, occ_fn_TPL_N fn)
{
    const int64_t outer = rank - 1, n = dim[outer], step = ystride[outer], rows = occ_count(outer, dim);
    occ_expr      row = occ_expr_start(e);
    int64_t       index[8] = {0}, at = 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < n; c++)
            y[at + c * step] = fn(&row, 0, c);
        occ_nest_step_expr(outer, dim, index, &row, nx, xstride, rank);
        at = occ_nest_step(outer, dim, index, at, ystride);
    }
}
