/* matmul_mma.cu - matmul_f32 on tensor cores: factors are rounded, sums are float32; tiles of 64 x 64, whose factors
 * come while others are used (occ_mma_tile.h). Any grid gives the same bits. Knows nothing of where the factors come
 * from. */
#include "matmul_f32.cu"
#include "occ_mma_tile.h"

/* The factors of a tile, and where it begins. */
typedef struct occ_mma_factors {
    const occ_factors  *f;
    const occ_place_in *at;
} occ_mma_factors;

/* Four terms from k on of a row of a, or of a column of b, whose places are counted from the tile's first. */
OCC_HOT occ_four occ_matmul_mma_fetch(const void *factors, int column, int line, int64_t k)
{
    const occ_factors  *f = ((const occ_mma_factors *)factors)->f;
    const occ_place_in *at = ((const occ_mma_factors *)factors)->at;
    const int64_t       n = line + (column ? at->column : at->row), lines = column ? f->columns : f->rows;
    const int64_t       term = column ? f->b.row : f->a.column;
    const float *const  from = column ? f->b.data + n * f->b.column + k * term : f->a.data + n * f->a.row + k * term;
    occ_four            x = {{0.0f, 0.0f, 0.0f, 0.0f}};
    if (n >= lines)
        return x;
    if (term == 1 && k + 4 <= f->depth && (uintptr_t)from % 16 == 0)
        return occ_load_four(from);
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        if (k + i < f->depth)
            x.value[i] = from[i * term];
    return x;
}

/* Applies the expression to the results of this lane, and stores them. */
OCC_HOT void occ_matmul_mma_store(float *y, const occ_stack *y_at, occ_mma_part *p, const occ_place_in *at,
                                  const occ_expr *e, const occ_stack_fused *fused)
{
    const int64_t pitch = y_at->rank - 1, yrow = occ_stack_row(y_at);
    OCC_UNROLLED
    for (int r = 0; r < OCC_TILE_SIDE / 16; r++) {
        const int64_t  m = at->row + p->row + r * 8;
        const occ_expr row = occ_matmul_row(e, fused, y_at, at->matrix, m);
        OCC_UNROLLED
        for (int c = 0; c < OCC_TILE_SIDE / 16; c++) {
            const int64_t n = at->column + p->column + c / 2 * 8 + c % 2;
            if (m < y_at->dim[pitch - 1] && n < y_at->dim[pitch])
                y[m * yrow + n] = occ_apply_vf(&row, *occ_mma_sum(p, OCC_SIDES_HALF, r, c), n, 1, fused->fn);
        }
    }
}

/* Each warp's part of a tile is computed by one warp; blocks of fewer warps than parts go through a tile several times.
 */
OCC_HOT void occ_matmul_mma(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at, const float *b,
                            const occ_stack *b_at, const occ_expr *e, const occ_stack_fused *fused, int kind)
{
    OCC_SHARED_ARRAY(float, memory, OCC_STAGES_FLOATS(2 * OCC_TILE_SIDE, OCC_BIG_PITCH, 2));
    const int64_t rank = y_at->rank, rows = y_at->dim[rank - 2], columns = y_at->dim[rank - 1];
    const int64_t across = (columns + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE,
                  down = (rows + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE, total = occ_stack_count(y_at) * down * across;
    for (int64_t tile = occ_block(); tile < total; tile += occ_grid()) {
        const int64_t      s = tile / (down * across);
        const occ_place_in at = {s, tile / across % down * OCC_TILE_SIDE, tile % across * OCC_TILE_SIDE};
        const occ_factors  f = occ_matmul_factors(a, a_at, b, b_at, y_at, s);
        const occ_mma_factors tile_of = {&f, &at};
        for (int part = occ_thread(); part - occ_thread() < OCC_BIG_PARTS; part += occ_threads()) {
            occ_mma_part p = occ_mma_begin(OCC_SIDES_HALF, part);
            occ_mma_run(memory, &p, OCC_SIDES_HALF, kind, part, f.depth, occ_matmul_mma_fetch, &tile_of);
            if (part < OCC_BIG_PARTS)
                occ_matmul_mma_store(y + occ_stack_at(s, y_at, y_at->stride), y_at, &p, &at, e, fused);
        }
    }
}

/* matmul - as matmul_f32, with its arguments and factors of TF32. */
OCC_INLINE void occ_matmul_tf32(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at, const float *b,
                                const occ_stack *b_at, const occ_expr *e, const occ_stack_fused *fused)
{
    if (OCC_HAS_MMA)
        occ_matmul_mma(y, y_at, a, a_at, b, b_at, e, fused, OCC_MMA_TF32);
    else
        occ_matmul_f32(y, y_at, a, a_at, b, b_at, e, fused);
}

/* The same with factors of half precision. */
OCC_INLINE void occ_matmul_fp16(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at, const float *b,
                                const occ_stack *b_at, const occ_expr *e, const occ_stack_fused *fused)
{
    if (OCC_HAS_MMA)
        occ_matmul_mma(y, y_at, a, a_at, b, b_at, e, fused, OCC_MMA_FP16);
    else
        occ_matmul_f32(y, y_at, a, a_at, b, b_at, e, fused);
}

/* matmul_work - the same, for a step that a vendor's library may compute instead of this code, with workspace.
 *   work  as many bytes as the library may use, or NULL; not used here */
OCC_INLINE void occ_matmul_work_tf32(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at,
                                     const float *b, const occ_stack *b_at, float *work, const occ_expr *e,
                                     const occ_stack_fused *fused)
{
    (void)work;
    occ_matmul_tf32(y, y_at, a, a_at, b, b_at, e, fused);
}

/* The same with factors of half precision. */
OCC_INLINE void occ_matmul_work_fp16(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at,
                                     const float *b, const occ_stack *b_at, float *work, const occ_expr *e,
                                     const occ_stack_fused *fused)
{
    (void)work;
    occ_matmul_fp16(y, y_at, a, a_at, b, b_at, e, fused);
}
