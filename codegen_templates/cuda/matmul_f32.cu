/* matmul_f32.cu - stacks of matrix products, by tiles of 64 x 64 results that a block computes from shared memory.
 * Each result is one sum along k in rising order, whatever the grid, so its bits are those of the C kernel without
 * vectors. Knows nothing of where the factors come from. */
#include "occ_factors.h"
#include "occ_nest.h"

/* The place of a tile: its matrix in the stack, and its first row and column there. */
typedef struct occ_place_in {
    int64_t matrix, row, column;
} occ_place_in;

/* The sums of one tile where the columns of b are no neighbours: the C kernel adds four sums then, of every fourth
 * k. */
OCC_HOT void occ_matmul_dots(float *sa, float *sb, occ_product *p, const occ_factors *f, int64_t row, int64_t column)
{
    occ_product p1 = *p, p2 = *p, p3 = *p;
    for (int64_t k = 0; k < f->depth; k += OCC_TILE_K) {
        occ_factors_fill_a(sa, f, row, k);
        occ_factors_fill_b(sb, f, column, k);
        occ_barrier();
        occ_product_add_four(p, &p1, &p2, &p3, sa, sb, (int)occ_min(OCC_TILE_K, f->depth - k), f->depth / 4 * 4 - k);
        occ_barrier();
    }
    occ_product_join_four(p, &p1, &p2, &p3);
}

/* The factors of one matrix of the stack. */
OCC_HOT occ_factors occ_matmul_factors(const float *a, const occ_stack *a_at, const float *b, const occ_stack *b_at,
                                       const occ_stack *y_at, int64_t matrix)
{
    const int64_t     rank = y_at->rank;
    const occ_factors f = {{a + occ_stack_at(matrix, y_at, a_at->stride), occ_stack_row(a_at), occ_stack_column(a_at)},
                           {b + occ_stack_at(matrix, y_at, b_at->stride), occ_stack_row(b_at), occ_stack_column(b_at)},
                           y_at->dim[rank - 2],
                           y_at->dim[rank - 1],
                           a_at->dim[rank - 1]};
    return f;
}

/* The expression's operands at row m of one matrix of the stack. */
OCC_HOT occ_expr occ_matmul_row(const occ_expr *e, const occ_stack_fused *fused, const occ_stack *y_at, int64_t matrix,
                                int64_t m)
{
    const int64_t pitch = y_at->rank - 1;
    occ_expr      row = occ_expr_start(e);
    OCC_UNROLLED
    for (int64_t k = 0; k < fused->nx; k++)
        row.at[k] += occ_stack_at(matrix, y_at, fused->pitch + k * pitch) + m * fused->pitch[k * pitch + pitch - 1];
    return row;
}

/* Applies the expression to the results of this thread, and stores them. */
OCC_HOT void occ_matmul_store(float *y, const occ_stack *y_at, const occ_product *p, const occ_place_in *at,
                              const occ_expr *e, const occ_stack_fused *fused)
{
    const int64_t pitch = y_at->rank - 1, yrow = occ_stack_row(y_at);
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART; i++) {
        const int64_t  m = at->row + p->row + i;
        const occ_expr row = occ_matmul_row(e, fused, y_at, at->matrix, m);
        OCC_UNROLLED
        for (int j = 0; j < OCC_TILE_PART; j++) {
            const int64_t n = at->column + p->column + j;
            if (m < y_at->dim[pitch - 1] && n < y_at->dim[pitch])
                y[m * yrow + n] = occ_apply_vf(&row, p->sum[i * OCC_TILE_PART + j], n, 1, fused->fn);
        }
    }
}

/* Each part of a tile is computed by one thread; blocks of fewer threads than parts go through a tile several times.
 *
 * matmul - y[s][m][n] = expression(sum over k of a[s][m][k] * b[s][k][n]) for every place s of a stack.
 *   y     neighbouring columns
 *   a, b  any row and column strides; columns of b are neighbours, or those of a and the rows of b are */
OCC_INLINE void occ_matmul_f32(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at, const float *b,
                               const occ_stack *b_at, const occ_expr *e, const occ_stack_fused *fused)
{
    OCC_SHARED_ARRAY(float, sa, OCC_TILE_K *OCC_TILE_PITCH);
    OCC_SHARED_ARRAY(float, sb, OCC_TILE_K *OCC_TILE_PITCH);
    const int64_t rank = y_at->rank, rows = y_at->dim[rank - 2], columns = y_at->dim[rank - 1];
    const int64_t across = (columns + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE,
                  down = (rows + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE, total = occ_stack_count(y_at) * down * across;
    for (int64_t tile = occ_block(); tile < total; tile += occ_grid()) {
        const int64_t      s = tile / (down * across);
        const occ_place_in at = {s, tile / across % down * OCC_TILE_SIDE, tile % across * OCC_TILE_SIDE};
        const occ_factors  f = occ_matmul_factors(a, a_at, b, b_at, y_at, s);
        for (int part = occ_thread(); part - occ_thread() < OCC_TILE_PARTS; part += occ_threads()) {
            occ_product p = occ_product_begin(part);
            if (occ_stack_column(b_at) == 1)
                occ_factors_sums(sa, sb, &p, &f, at.row, at.column);
            else
                occ_matmul_dots(sa, sb, &p, &f, at.row, at.column);
            if (part < OCC_TILE_PARTS)
                occ_matmul_store(y + occ_stack_at(s, y_at, y_at->stride), y_at, &p, &at, e, fused);
        }
    }
}

/* matmul_work - the same, for a step that a vendor's library may compute instead of this code, with workspace.
 *   work  as many bytes as the library may use, or NULL; not used here */
OCC_INLINE void occ_matmul_work_f32(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at,
                                    const float *b, const occ_stack *b_at, float *work, const occ_expr *e,
                                    const occ_stack_fused *fused)
{
    (void)work;
    occ_matmul_f32(y, y_at, a, a_at, b, b_at, e, fused);
}
