/* integer.cu - convolutions and products of 8-bit integers with any zero points. Integer sums are exact in any order,
 * so the bits are those of the C kernels. Knows nothing of scales. */
#include "occ_place.h"
#include "occ_quads.h"
#include "occ_result.h"

#ifndef TPL_T
#define TPL_T uint8_t
#define TPL_N u8
#define TPL_T2 int8_t
#define TPL_N2 i8
#endif

/* conv_integer - each thread makes every so many of the results; arguments as in C. */
OCC_INLINE void occ_conv_integer_TPL_N_TPL_N2(const TPL_T *x, const occ_image *x_at, const TPL_T2 *w,
                                              const TPL_T *xzero, const TPL_T2 *wzero, int32_t *y,
                                              const occ_image *y_at, const occ_window *window, int64_t groups,
                                              int64_t wstep)
{
    const int64_t inputs = x_at->dim[1] / groups, outputs = y_at->dim[1] / groups, total = occ_result_count(y_at);
    const int64_t weights = occ_window_size(window) * inputs;
    for (int64_t n = occ_unit(); n < total; n += occ_units()) {
        const occ_result r = occ_result_of(n, y_at);
        const int64_t    o = r.channel;
        y[occ_result_place(&r, y_at)] = occ_integer_sum_TPL_N_TPL_N2(
            x + r.batch * x_at->stride[0] + o / outputs * inputs * x_at->stride[1], w + o * weights, xzero ? *xzero : 0,
            wzero ? wzero[o * wstep] : 0, x_at, window, inputs, r.at);
    }
}

/* Four bytes `stride` apart, of which the first n exist; the others are 0. */
OCC_HOT uint32_t occ_quad_strided(const uint8_t *x, int64_t stride, int64_t n)
{
    uint32_t word = 0;
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        word |= i < n ? (uint32_t)x[i * stride] << 8 * i : 0;
    return word;
}

/* A matrix of bytes: elements from row to row and from column to column. */
typedef struct occ_quad_matrix {
    const uint8_t *data;
    int64_t        rows, row, column;
} occ_quad_matrix;

/* Copies terms 4k to 4 (k + OCC_QUAD_K) - 1 of the `side` (literal) rows of a matrix from its row `first` on to
 * shared memory, as s[term][row], rows of which are `pitch` apart. Terms and rows outside are 0. */
OCC_HOT void occ_quad_matrix_fill(uint32_t *s, int pitch, int side, const occ_quad_matrix *m, int64_t first, int64_t k,
                                  int64_t depth)
{
    for (int i = occ_thread(); i < OCC_QUAD_K * side; i += occ_threads()) {
        const int      r = m->column == 1 ? i / OCC_QUAD_K : i % side, d = m->column == 1 ? i % OCC_QUAD_K : i / side;
        const int64_t  term = 4 * (k + d), left = depth - term;
        const uint8_t *from = m->data + (first + r) * m->row + term * m->column;
        s[d * pitch + r] = first + r >= m->rows || left <= 0 ? 0
                           : m->column == 1                  ? occ_quad_of(from, left)
                                                             : occ_quad_strided(from, m->column, left);
    }
}

/* Sums of the bytes of a part's rows and columns, by which zero points are taken out of its sums. */
typedef struct occ_quad_totals {
    int32_t row[OCC_QUAD_ROWS], column[OCC_QUAD_COLUMNS];
} occ_quad_totals;

OCC_HOT void occ_quad_totals_add(occ_quad_totals *t, const occ_quad_part *p, const uint32_t *sx, const uint32_t *sw,
                                 int x_signed, int w_signed, int rows, int columns)
{
    const uint32_t ones = 0x01010101u;
    for (int k = 0; k < OCC_QUAD_K; k++) {
        OCC_UNROLLED
        for (int i = 0; i < OCC_QUAD_ROWS; i++)
            t->row[i] = rows ? occ_quad_dot(sx[k * OCC_QUAD_X + p->row + i], ones, t->row[i], x_signed, 0) : 0;
        OCC_UNROLLED
        for (int j = 0; j < OCC_QUAD_COLUMNS; j++)
            t->column[j] =
                columns ? occ_quad_dot(sw[k * OCC_QUAD_W + p->column + j], ones, t->column[j], w_signed, 0) : 0;
    }
}

/* Stores the results of a part: sum of (a - az) * (b - bz) = sum of a * b - az * sum of b - bz * sum of a + depth * az
 * * bz, which may wrap in between. */
OCC_HOT void occ_quad_matrix_store_TPL_N_TPL_N2(int32_t *y, const occ_stack *y_at, const occ_quad_part *p,
                                                const occ_quad_totals *t, int64_t m, int64_t n, int64_t depth,
                                                const TPL_T *azero, const TPL_T2 *bzero, int64_t azstep, int64_t bzstep)
{
    const int64_t rows = y_at->dim[y_at->rank - 2], columns = y_at->dim[y_at->rank - 1];
    OCC_UNROLLED
    for (int i = 0; i < OCC_QUAD_ROWS; i++) {
        OCC_UNROLLED
        for (int j = 0; j < OCC_QUAD_COLUMNS; j++) {
            const int64_t r = m + p->row + i, c = n + p->column + j;
            if (r >= rows || c >= columns)
                continue;
            const uint32_t az = (uint32_t)(azero ? azero[r * azstep] : 0),
                           bz = (uint32_t)(bzero ? bzero[c * bzstep] : 0);
            y[r * occ_stack_row(y_at) + c * occ_stack_column(y_at)] =
                (int32_t)((uint32_t)p->sum[i * OCC_QUAD_COLUMNS + j] - az * (uint32_t)t->column[j] -
                          bz * (uint32_t)t->row[i] + (uint32_t)depth * az * bz);
        }
    }
}

/* Each part of a tile is computed by one thread; blocks of fewer threads than parts go through a tile several times.
 *
 * matmul_integer - y[s][m][n] = sum over k of (a[s][m][k] - azero) * (b[s][k][n] - bzero); arguments as in C. */
OCC_INLINE void occ_matmul_integer_TPL_N_TPL_N2(int32_t *y, const occ_stack *y_at, const TPL_T *a,
                                                const occ_stack *a_at, const TPL_T2 *b, const occ_stack *b_at,
                                                const TPL_T *azero, const TPL_T2 *bzero, int64_t azstep, int64_t bzstep)
{
    OCC_SHARED_ARRAY(uint32_t, sx, OCC_QUAD_K * OCC_QUAD_X);
    OCC_SHARED_ARRAY(uint32_t, sw, OCC_QUAD_K * OCC_QUAD_W);
    const int     a_signed = (TPL_T)-1 < (TPL_T)1, b_signed = (TPL_T2)-1 < (TPL_T2)1;
    const int64_t rank = y_at->rank, rows = y_at->dim[rank - 2], columns = y_at->dim[rank - 1],
                  depth = a_at->dim[rank - 1];
    const int64_t across = (columns + OCC_PANEL - 1) / OCC_PANEL, down = (rows + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE;
    for (int64_t tile = occ_block(); tile < occ_stack_count(y_at) * down * across; tile += occ_grid()) {
        const int64_t s = tile / (down * across), m = tile / across % down * OCC_TILE_SIDE,
                      n = tile % across * OCC_PANEL;
        const occ_quad_matrix fa = {(const uint8_t *)(a + occ_stack_at(s, y_at, a_at->stride)), rows,
                                    occ_stack_row(a_at), occ_stack_column(a_at)},
                              fb = {(const uint8_t *)(b + occ_stack_at(s, y_at, b_at->stride)), columns,
                                    occ_stack_column(b_at), occ_stack_row(b_at)};
        for (int part = occ_thread(); part - occ_thread() < OCC_QUAD_PARTS; part += occ_threads()) {
            occ_quad_part   p = occ_quad_part_of(part);
            occ_quad_totals t = {{0}, {0}};
            for (int64_t k = 0; 4 * k < depth; k += OCC_QUAD_K) {
                occ_quad_matrix_fill(sx, OCC_QUAD_X, OCC_TILE_SIDE, &fa, m, k, depth);
                occ_quad_matrix_fill(sw, OCC_QUAD_W, OCC_PANEL, &fb, n, k, depth);
                occ_barrier();
                occ_quad_add(&p, sx, sw, a_signed, b_signed);
                occ_quad_totals_add(&t, &p, sx, sw, a_signed, b_signed, bzero != NULL, azero != NULL);
                occ_barrier();
            }
            if (part < OCC_QUAD_PARTS)
                occ_quad_matrix_store_TPL_N_TPL_N2(y + occ_stack_at(s, y_at, y_at->stride), y_at, &p, &t, m, n, depth,
                                                   azero, bzero, azstep, bzstep);
        }
    }
}
