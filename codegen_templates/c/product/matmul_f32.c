/* matmul_f32.c - stacks of matrix products both of whose factors are computed at run time. */
#include "occ_conv.h"
#include "occ_epilogue.h"

/* One result. Vectors run along k, where the elements of both factors are neighbours. */
OCC_HOT float occ_matmul_dot(const float *a, const float *b, int64_t depth)
{
    occ_vf  sum[4];
    int64_t k = 0;

    for (int i = 0; i < 4; i++)
        sum[i] = occ_vset(0.0f);
    for (; k + 4 * OCC_W <= depth; k += 4 * OCC_W) {
        OCC_UNROLL(4)
        for (int i = 0; i < 4; i++)
            sum[i] = occ_vfma(occ_vload(a + k + i * OCC_W, OCC_W), occ_vload(b + k + i * OCC_W, OCC_W), sum[i]);
    }
    for (; k < depth; k += OCC_W) {
        int n = (int)occ_min(OCC_W, depth - k);

        sum[0] = occ_vpick(occ_vmask_first(n), occ_vfma(occ_vload(a + k, n), occ_vload(b + k, n), sum[0]), sum[0]);
    }
    return occ_vsum_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* acc[i][j] = row i of a times the columns of b from c on; rows, vectors and the `lanes` of the last vector are
 * literals. */
OCC_HOT void occ_matmul_sum(occ_vf *acc, const occ_matrix *a, const occ_matrix *b, int64_t c, int64_t depth, int rows,
                            int vectors, int lanes)
{
    const occ_tile tile = {a->column, 0, a->row, b->row, 0, 1, rows, rows, vectors, lanes};
    const float   *next = b->data;

    OCC_UNROLL(32)
    for (int i = 0; i < rows * vectors; i++)
        acc[i] = occ_vset(0.0f);
    if (b->column == 1) {
        occ_tile_run(&tile, acc, a->data, b->data + c, depth, &next, 0);
        return;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) {
            float one[OCC_W] = {0};

            for (int l = 0; l < (j == vectors - 1 ? lanes : OCC_W); l++)
                one[l] = occ_matmul_dot(a->data + i * a->row, b->data + (c + j * OCC_W + l) * b->column, depth);
            acc[i * vectors + j] = occ_vload(one, OCC_W);
        }
}

/* One tile of results, with the epilogue, stored to y. Its first row is row m of the matrix. */
OCC_HOT void occ_matmul_tile(float *y, int64_t yrow, const occ_matrix *a, const occ_matrix *b, int64_t m, int64_t c,
                             int64_t depth, int rows, int vectors, int lanes, const occ_epilogue *p)
{
    occ_vf   acc[OCC_TILE_MAX];
    occ_expr first = p->e;

    occ_matmul_sum(acc, a, b, c, depth, rows, vectors, lanes);
    occ_hide_literals(&first);
    OCC_UNROLL(32)
    for (int i = 0; i < rows; i++) {
        occ_expr e = first;

        for (int64_t k = 0; k < p->nx; k++)
            e.at[k] += (m + i) * p->row[k * p->step];
        OCC_UNROLL(4)
        for (int j = 0; j < vectors; j++) {
            const int     n = j == vectors - 1 ? lanes : OCC_W;
            const int64_t at = c + j * OCC_W;

            occ_vstore(y + i * yrow + at, occ_apply_vf(&e, acc[i * vectors + j], p->first + at, n, p->fn), n);
        }
    }
}

/* All rows of a few columns. A known number of rows is cut evenly, else into full tiles and single rows. */
OCC_HOT void occ_matmul_columns(float *y, int64_t yrow, occ_matrix a, const occ_matrix *b, int64_t m, int64_t rows,
                                int64_t c, int64_t depth, int vectors, int lanes, const occ_epilogue *p)
{
    const occ_conv_cut cut = occ_conv_cut_row(rows, OCC_TILE_ROWS(2));
    const int known = OCC_KNOWN(rows), size = known ? (int)cut.size : 1, larger = known ? size + 1 : OCC_TILE_ROWS(2);
    int64_t   i = 0;

    if (size < 1)
        return;
    for (; known ? i < cut.larger * larger : i + larger <= rows; i += larger, a.data += larger * a.row)
        occ_matmul_tile(y + i * yrow, yrow, &a, b, m + i, c, depth, larger, vectors, lanes, p);
    for (; i < rows; i += size, a.data += size * a.row)
        occ_matmul_tile(y + i * yrow, yrow, &a, b, m + i, c, depth, size, vectors, lanes, p);
}

/* Rows m to m + rows - 1 of one product: two vectors of columns at a time, so that these columns of b stay in the
 * nearest cache; then the remainder. */
OCC_HOT void occ_matmul_matrix(float *y, int64_t yrow, occ_matrix a, const occ_matrix *b, int64_t m, int64_t rows,
                               int64_t columns, int64_t depth, const occ_epilogue *p)
{
    const int64_t whole = columns - columns % (2 * OCC_W);
    const int     rest = (int)(columns - whole);

    for (int64_t c = 0; c < whole; c += 2 * OCC_W)
        occ_matmul_columns(y, yrow, a, b, m, rows, c, depth, 2, OCC_W, p);
    if (rest > OCC_W)
        occ_matmul_columns(y, yrow, a, b, m, rows, whole, depth, 2, rest - OCC_W, p);
    else if (rest > 0)
        occ_matmul_columns(y, yrow, a, b, m, rows, whole, depth, 1, rest, p);
}

/* matmul - y[s][m][n] = expression(sum over k of a[s][m][k] * b[s][k][n]) for every place s of a stack.
 *   y     columns are neighbours
 *   a, b  any strides, but either the columns of b are neighbours, or the columns of a and the rows of b are */
OCC_INLINE void occ_matmul_f32(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at, const float *b,
                               const occ_stack *b_at, const occ_expr *e, const occ_stack_fused *fused)
{
    const int64_t rank = y_at->rank, total = occ_stack_count(y_at);
    int64_t       place[8] = {0};

    for (int64_t s = 0; s < total; s++, occ_stack_next(y_at, place)) {
        const occ_epilogue p = occ_matmul_epilogue(e, fused, rank, place);
        const occ_matrix   ma = {a + occ_stack_offset(a_at, place), occ_stack_row(a_at), occ_stack_column(a_at)};
        const occ_matrix   mb = {b + occ_stack_offset(b_at, place), occ_stack_row(b_at), occ_stack_column(b_at)};

        occ_matmul_matrix(y + occ_stack_offset(y_at, place), occ_stack_row(y_at), ma, &mb, 0, y_at->dim[rank - 2],
                          y_at->dim[rank - 1], a_at->dim[rank - 1], &p);
    }
}

/* matmul_work - the same, for a step that a vendor's library may compute instead of this code, with workspace. The
 * result is never stored where the expression reads.
 *   work  as many bytes as the library may use, or NULL; not used here */
OCC_INLINE void occ_matmul_work_f32(float *y, const occ_stack *y_at, const float *a, const occ_stack *a_at,
                                    const float *b, const occ_stack *b_at, float *work, const occ_expr *e,
                                    const occ_stack_fused *fused)
{
    (void)work;
    occ_matmul_f32(y, y_at, a, a_at, b, b_at, e, fused);
}
