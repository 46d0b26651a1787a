/* matmul_f32.c - stacks of matrix products whose factors are both computed while running. */
#include "occ_base.h"
#include "occ_expr.h"

/* Where one matrix of a stack begins, and how it lies; strides in elements. */
typedef struct occ_matrix {
    const float *data;
    int64_t      row, column;
} occ_matrix;

/* rows (literal) x 2 vectors of results: acc[i][j] = sum over k of a[i][k] * b[k][j], columns of b being neighbours. */
OCC_HOT void occ_matmul_tile(occ_vf *acc, const occ_matrix *a, const float *b, int64_t brow, int64_t depth, int rows, int n0, int n1)
{
    OCC_UNROLL(16)
    for (int i = 0; i < 2 * rows; i++)
        acc[i] = occ_vset(0.0f);
    for (int64_t k = 0; k < depth; k++) {
        const occ_vf b0 = occ_vload(b + k * brow, n0), b1 = n1 > 0 ? occ_vload(b + k * brow + OCC_W, n1) : occ_vset(0.0f);

        OCC_UNROLL(8)
        for (int i = 0; i < rows; i++) {
            const occ_vf x = occ_vset(a->data[i * a->row + k * a->column]);

            acc[2 * i] += x * b0;
            acc[2 * i + 1] += x * b1;
        }
    }
}

/* One result by vectors along k, both factors being neighbours there. */
OCC_HOT float occ_matmul_dot(const float *a, const float *b, int64_t depth)
{
    occ_vf  sum[4];
    int64_t k = 0;

    for (int i = 0; i < 4; i++)
        sum[i] = occ_vset(0.0f);
    for (; k + 4 * OCC_W <= depth; k += 4 * OCC_W) {
        OCC_UNROLL(4)
        for (int i = 0; i < 4; i++)
            sum[i] += occ_vload(a + k + i * OCC_W, OCC_W) * occ_vload(b + k + i * OCC_W, OCC_W);
    }
    for (; k < depth; k += OCC_W) {
        int n = (int)occ_min(OCC_W, depth - k);

        sum[0] = occ_vpick(occ_vmask_first(n), sum[0] + occ_vload(a + k, n) * occ_vload(b + k, n), sum[0]);
    }
    return occ_vsum_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* Rows m .. m+rows-1 of one product, through the expression. `row0` counts the rows of the whole stack. */
OCC_HOT void occ_matmul_rows(float *y, int64_t yrow, occ_matrix a, occ_matrix b, int64_t row0, int64_t columns, int64_t depth,
                             int rows, int64_t nx, const occ_extent *pitch, const occ_expr *e, occ_fn_vf fn)
{
    for (int64_t c = 0; c < columns; c += 2 * OCC_W) {
        const int n0 = (int)occ_min(OCC_W, columns - c), n1 = (int)occ_max(0, occ_min(OCC_W, columns - c - OCC_W));
        occ_vf    acc[16];

        if (b.column == 1) {
            occ_matmul_tile(acc, &a, b.data + c, b.row, depth, rows, n0, n1);
        } else {
            for (int i = 0; i < rows; i++) {
                float lanes[2 * OCC_W] = {0};

                for (int j = 0; j < n0 + n1; j++)
                    lanes[j] = occ_matmul_dot(a.data + i * a.row, b.data + (c + j) * b.column, depth);
                acc[2 * i] = occ_vload(lanes, OCC_W);
                acc[2 * i + 1] = occ_vload(lanes + OCC_W, OCC_W);
            }
        }
        for (int i = 0; i < rows; i++) {
            occ_expr at = {{0}, {0}};

            if (e)
                at = *e;
            for (int64_t k = 0; k < nx; k++)
                at.at[k] += (row0 + i) * pitch[k];
            occ_vstore(y + i * yrow + c, occ_apply_vf(&at, acc[2 * i], c, n0, fn), n0);
            if (n1 > 0)
                occ_vstore(y + i * yrow + c + OCC_W, occ_apply_vf(&at, acc[2 * i + 1], c + OCC_W, n1, fn), n1);
        }
    }
}

/* matmul - y[s][m][n] = expression(sum over k of a[s][m][k] * b[s][k][n]) for every place s of a stack.
 *   stack  extents dim [rank]; strides ystack, astack, bstack (0: the same matrix for all)
 *   y  rows of stride yrow, neighbouring columns; a, b: any row and column strides; columns of b are neighbours, or those of
 *      a and the rows of b are
 *   pitch  [nx]: of each operand of the expression, elements between two rows of the whole stack in row-major order */
OCC_INLINE void occ_matmul_f32(float *y, const float *a, const float *b, int64_t rank, const occ_extent *dim,
                               const occ_extent *ystack, const occ_extent *astack, const occ_extent *bstack, int64_t rows,
                               int64_t columns, int64_t depth, int64_t yrow, int64_t arow, int64_t acolumn, int64_t brow,
                               int64_t bcolumn, int64_t nx, const occ_extent *pitch, const occ_expr *e, occ_fn_vf fn)
{
    int64_t at[8] = {0}, total = 1;

    for (int64_t r = 0; r < rank; r++)
        total *= dim[r];
    for (int64_t s = 0; s < total; s++) {
        occ_matrix ma = {a, arow, acolumn}, mb = {b, brow, bcolumn};
        float     *to = y;
        int64_t    m = 0;

        for (int64_t r = 0; r < rank; r++) {
            to += at[r] * ystack[r];
            ma.data += at[r] * astack[r];
            mb.data += at[r] * bstack[r];
        }
        for (; m + 4 <= rows; m += 4, ma.data += 4 * arow)
            occ_matmul_rows(to + m * yrow, yrow, ma, mb, s * rows + m, columns, depth, 4, nx, pitch, e, fn);
        for (; m < rows; m++, ma.data += arow)
            occ_matmul_rows(to + m * yrow, yrow, ma, mb, s * rows + m, columns, depth, 1, nx, pitch, e, fn);
        for (int64_t r = rank; r-- > 0 && ++at[r] == dim[r];)
            at[r] = 0;
    }
}
