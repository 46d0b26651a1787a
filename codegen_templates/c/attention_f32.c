/* attention_f32.c - attention by blocks of queries, so that the scores of a block stay in the cache and those of all queries
 * are never in memory at once. The softmax is exact: a block has all of its keys.
 * Knows nothing of masks: they are part of the expression. */
#include "matmul_f32.c"
#include "softmax_f32.c"

/* Floats of scratch in a row of scores. */
#define OCC_SCORES(keys) (((keys) + 15) / 16 * 16)

/* Queries m to m + rows - 1 of one place of the stack; y and q begin at the first of them, scores hold [rows][keys]. */
OCC_HOT void occ_attention_block(float *y, int64_t yrow, float *scores, occ_matrix q, const occ_matrix *k, const occ_matrix *v,
                                 int64_t m, int64_t rows, int64_t keys, int64_t depth, int64_t width, const occ_epilogue *p)
{
    const occ_epilogue none = {{{0}, {0}}, 0, 0, 0, 0};
    const occ_matrix   weights = {scores, OCC_SCORES(keys), 1};

    occ_matmul_matrix(scores, OCC_SCORES(keys), q, k, m, rows, keys, depth, p);
    for (int64_t i = 0; i < rows; i++)
        occ_softmax_row(scores + i * OCC_SCORES(keys), scores + i * OCC_SCORES(keys), keys, OCC_SOFTMAX);
    occ_matmul_matrix(y, yrow, weights, v, 0, rows, width, keys, &none);
}

/* to [depth][keys], rows of OCC_SCORES(keys), from k, whose columns are no neighbours. */
OCC_HOT void occ_attention_turn(float *to, const occ_matrix *k, int64_t keys, int64_t depth)
{
    for (int64_t first = 0; first < keys; first += 16)
        for (int64_t d = 0; d < depth; d++)
            for (int64_t n = first; n < occ_min(first + 16, keys); n++)
                to[d * OCC_SCORES(keys) + n] = k->data[d * k->row + n * k->column];
}

/* attention - y[s][m] = sum over n of w[s][m][n] * v[s][n] with w = softmax over n of expression(sum over d of
 * q[s][m][d] * k[s][d][n]), for every place s of a stack.
 *   y, q  [rows][width], [rows][depth]; k [depth][keys]; v [keys][width]; the columns of y and v are neighbours
 *   scratch  floats: block * OCC_SCORES(keys), and depth * OCC_SCORES(keys) more where kcolumn is not 1
 *   block    queries that are taken together
 *   the stack and pitch as in matmul */
OCC_INLINE void occ_attention_f32(float *y, float *scratch, const float *q, const float *k, const float *v, int64_t rank,
                                  const occ_extent *dim, const occ_extent *ystack, const occ_extent *qstack,
                                  const occ_extent *kstack, const occ_extent *vstack, int64_t rows, int64_t keys, int64_t depth,
                                  int64_t width, int64_t block, int64_t yrow, int64_t qrow, int64_t qcolumn, int64_t krow,
                                  int64_t kcolumn, int64_t vrow, int64_t nx, const occ_extent *pitch, const occ_expr *e,
                                  occ_fn_vf fn)
{
    float *const turned = scratch + block * OCC_SCORES(keys);
    int64_t      at[8] = {0}, total = rows && keys ? 1 : 0;

    for (int64_t r = 0; r < rank; r++)
        total *= dim[r];
    for (int64_t s = 0; s < total; s++) {
        const occ_epilogue p = occ_matmul_epilogue(e, fn, nx, pitch, rank, at);
        occ_matrix         mq = {q, qrow, qcolumn}, mk = {k, krow, kcolumn}, mv = {v, vrow, 1};
        const int64_t      rest = rows % block;
        float             *to = y;
        int64_t            m = 0;

        for (int64_t r = 0; r < rank; r++) {
            to += at[r] * ystack[r];
            mq.data += at[r] * qstack[r];
            mk.data += at[r] * kstack[r];
            mv.data += at[r] * vstack[r];
        }
        if (kcolumn != 1) {
            occ_attention_turn(turned, &mk, keys, depth);
            mk.data = turned;
            mk.row = OCC_SCORES(keys);
            mk.column = 1;
        }
        for (; m + block <= rows; m += block, mq.data += block * qrow)
            occ_attention_block(to + m * yrow, yrow, scratch, mq, &mk, &mv, m, block, keys, depth, width, &p);
        if (rest > 0)
            occ_attention_block(to + m * yrow, yrow, scratch, mq, &mk, &mv, m, rest, keys, depth, width, &p);
        for (int64_t r = rank; r-- > 0 && ++at[r] == dim[r];)
            at[r] = 0;
    }
}
