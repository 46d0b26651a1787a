/* attention_f32.c - attention by blocks of queries: the scores of one block stay in the cache, and the scores of all
 * queries are never in memory at once. The softmax is exact where a block has all of its keys. Very many keys are taken
 * part by part, with a running maximum and a running sum of weights (Milakov and Gimelshein, 2018; Dao et al., 2022),
 * so that scratch does not grow with the number of keys.
 * Knows nothing of masks: they are part of the expression. */
#include "occ_attention.h"
#include "matmul_f32.c"
#include "softmax_f32.c"

/* The attention of one place of the stack: one head of one batch member, say. */
typedef struct occ_attention {
    occ_matrix k, v;
    int64_t    keys, depth, width, yrow;
    int64_t    block, part, group; /* queries and keys that are taken together; part 0: all keys */
    int64_t    turn;               /* 1: keys are copied first, transposed so that columns are neighbours */
    float     *scores, *turned; /* [block][line], [depth][line], where a line holds the keys that are taken together */
    float     *top, *sum,
        *factor; /* [group] each, of every query: the largest score yet, the weights relative to that, and what
                                        the results before the last part of the keys count */
    occ_epilogue p;
} occ_attention;

/* Results of queries m to m + rows - 1 over all keys; y and q point to the first of them. */
OCC_HOT void occ_attention_block(const occ_attention *g, float *y, occ_matrix q, int64_t m, int64_t rows)
{
    const occ_epilogue none = {{{0}, {0}}, 0, 0, 0, 0, 0};
    const int64_t      line = OCC_SCORES(g->keys);
    const occ_matrix   weights = {g->scores, line, 1};

    occ_matmul_matrix(g->scores, line, q, &g->k, m, rows, g->keys, g->depth, &g->p);
    for (int64_t i = 0; i < rows; i++)
        occ_softmax_row(g->scores + i * line, g->scores + i * line, g->keys, OCC_SOFTMAX);
    occ_matmul_matrix(y, g->yrow, weights, &g->v, 0, rows, g->width, g->keys, &none);
}

/* Adds the results of these keys to those of the keys before, which are scaled to the new maximum. */
OCC_HOT occ_vf occ_attention_join(const occ_expr *e, occ_vf acc, int64_t c, int n)
{
    const float *y = (const float *)e->x[0] + e->at[0] + c, *factor = (const float *)e->x[1] + e->at[1];

    return occ_vfma(occ_vload(y, n), occ_vset(*factor), acc);
}

/* Turns the scores of n more keys into weights relative to the largest score so far, for query i of a group. A mask may
 * hide all keys: then the maximum is minus infinity, which must not be subtracted. */
OCC_HOT void occ_attention_weigh(const occ_attention *g, float *scores, int64_t n, int64_t i)
{
    const occ_extent dim[1] = {n}, one[1] = {1};
    const occ_vf     before = occ_vset(g->top[i]),
                 here = occ_vset(occ_reduce_terms(scores, 1, dim, one, 1, 0.0f, OCC_REDUCE_MAX));
    const occ_vf top = occ_vmax(before, here), offset = occ_reduce_top(top);

    g->top[i] = occ_vlane(top, 0);
    g->factor[i] = occ_vlane(occ_vexp_apart(occ_vsub(before, offset)), 0);
    g->sum[i] = g->sum[i] * g->factor[i] + occ_vsum_lanes(occ_softmax_weights(scores, scores, n, offset, OCC_SOFTMAX));
}

/* Results of queries m to m + rows - 1, the first of which is number `at` of its group, over keys first to first + n -
 * 1, to which k and v point. */
OCC_HOT void occ_attention_part(const occ_attention *g, float *y, occ_matrix q, const occ_matrix *k,
                                const occ_matrix *v, int64_t m, int64_t at, int64_t rows, int64_t first, int64_t n)
{
    const occ_extent   pitch[2] = {g->yrow, 1};
    const occ_epilogue join = {{{y, g->factor + at}, {0}}, occ_attention_join, 2, 1, pitch, 0};
    const int64_t      line = OCC_SCORES(g->part);
    const occ_matrix   weights = {g->scores, line, 1};
    occ_epilogue       p = g->p;

    p.first = first;
    occ_matmul_matrix(g->scores, line, q, k, m, rows, n, g->depth, &p);
    for (int64_t i = 0; i < rows; i++)
        occ_attention_weigh(g, g->scores + i * line, n, at + i);
    occ_matmul_matrix(y, g->yrow, weights, v, 0, rows, g->width, n, &join);
}

/* Transposes keys into `to` [depth][line] where the columns of k are not neighbours. */
OCC_HOT void occ_attention_turn(float *to, int64_t line, const occ_matrix *k, int64_t keys, int64_t depth)
{
    for (int64_t first = 0; first < keys; first += 16)
        for (int64_t d = 0; d < depth; d++)
            for (int64_t n = first; n < occ_min(first + 16, keys); n++)
                to[d * line + n] = k->data[d * k->row + n * k->column];
}

/* Starts the result of query i of a group: zeros, the least maximum, no sum of weights. */
OCC_HOT void occ_attention_begin(const occ_attention *g, float *y, int64_t i)
{
    for (int64_t c = 0; c < g->width; c += OCC_W)
        occ_vstore(y + c, occ_vset(0.0f), (int)occ_min(OCC_W, g->width - c));
    g->top[i] = occ_reduce_start(OCC_REDUCE_MAX);
    g->sum[i] = 0.0f;
}

OCC_HOT void occ_attention_end(const occ_attention *g, float *y, int64_t i)
{
    const occ_vf by = occ_vrecip(occ_vset(g->sum[i]));

    for (int64_t c = 0; c < g->width; c += OCC_W) {
        const int n = (int)occ_min(OCC_W, g->width - c);

        occ_vstore(y + c, occ_vmul(occ_vload(y + c, n), by), n);
    }
}

/* Queries m to m + rows - 1, at most a group; the keys are taken part by part. */
OCC_HOT void occ_attention_group(const occ_attention *g, float *y, occ_matrix q, int64_t m, int64_t rows)
{
    const int64_t whole = rows - rows % g->block;

    for (int64_t i = 0; i < rows; i++)
        occ_attention_begin(g, y + i * g->yrow, i);
    for (int64_t first = 0; first < g->keys; first += g->part) {
        const int64_t n = occ_min(g->part, g->keys - first);
        occ_matrix    k = g->k, v = g->v, part = q;
        int64_t       i = 0;

        k.data += first * k.column;
        v.data += first * v.row;
        if (g->turn) {
            occ_attention_turn(g->turned, OCC_SCORES(g->part), &k, n, g->depth);
            k = (occ_matrix){g->turned, OCC_SCORES(g->part), 1};
        }
        for (; i < whole; i += g->block, part.data += g->block * q.row)
            occ_attention_part(g, y + i * g->yrow, part, &k, &v, m + i, i, g->block, first, n);
        if (i < rows)
            occ_attention_part(g, y + i * g->yrow, part, &k, &v, m + i, i, rows - i, first, n);
    }
    for (int64_t i = 0; i < rows; i++)
        occ_attention_end(g, y + i * g->yrow, i);
}

/* All queries of one place of the stack; each block of them takes all keys at once. */
OCC_HOT void occ_attention_whole(occ_attention *g, float *y, occ_matrix q, int64_t rows)
{
    const int64_t rest = rows % g->block;
    int64_t       m = 0;

    if (g->turn) {
        occ_attention_turn(g->turned, OCC_SCORES(g->keys), &g->k, g->keys, g->depth);
        g->k = (occ_matrix){g->turned, OCC_SCORES(g->keys), 1};
    }
    for (; m + g->block <= rows; m += g->block, q.data += g->block * q.row)
        occ_attention_block(g, y + m * g->yrow, q, m, g->block);
    if (rest > 0)
        occ_attention_block(g, y + m * g->yrow, q, m, rest);
}

/* attention - y[s][m] = sum over n of w[s][m][n] * v[s][n] for every place s of a stack, with w = softmax over n of
 * expression(sum over d of q[s][m][d] * k[s][d][n]).
 *   y, q  [rows][width], [rows][depth]; k [depth][keys]; v [keys][width]; the columns of y and v are neighbours
 *   scratch  floats: block * line; where `turn`, depth * line more; where part is not 0, 3 * group more;
 *            line = OCC_SCORES(part, or keys) */
OCC_INLINE void occ_attention_f32(float *y, const occ_stack *y_at, float *scratch, const float *q,
                                  const occ_stack *q_at, const float *k, const occ_stack *k_at, const float *v,
                                  const occ_stack *v_at, const occ_blocks *blocks, const occ_expr *e,
                                  const occ_stack_fused *fused)
{
    const int64_t rank = y_at->rank, rows = y_at->dim[rank - 2], keys = k_at->dim[rank - 1],
                  depth = q_at->dim[rank - 1];
    const int64_t part = blocks->part, group = blocks->group, total = rows && keys ? occ_stack_count(y_at) : 0;
    const int64_t line = OCC_SCORES(part ? part : keys), yrow = occ_stack_row(y_at), qrow = occ_stack_row(q_at);
    float *const turned = scratch + blocks->block * line, *const state = turned + (blocks->turn ? depth * line : 0);
    int64_t place[8] = {0};

    for (int64_t s = 0; s < total; s++, occ_stack_next(y_at, place)) {
        occ_attention g = {{k + occ_stack_offset(k_at, place), occ_stack_row(k_at), occ_stack_column(k_at)},
                           {v + occ_stack_offset(v_at, place), occ_stack_row(v_at), 1},
                           keys,
                           depth,
                           y_at->dim[rank - 1],
                           yrow,
                           blocks->block,
                           part,
                           group,
                           blocks->turn,
                           scratch,
                           turned,
                           state,
                           state + group,
                           state + 2 * group,
                           occ_matmul_epilogue(e, fused, rank, place)};
        occ_matrix    mq = {q + occ_stack_offset(q_at, place), qrow, occ_stack_column(q_at)};
        float        *to = y + occ_stack_offset(y_at, place);

        if (!part)
            occ_attention_whole(&g, to, mq, rows);
        for (int64_t m = 0; part && m < rows; m += group, mq.data += group * qrow)
            occ_attention_group(&g, to + m * yrow, mq, m, occ_min(group, rows - m));
    }
}
