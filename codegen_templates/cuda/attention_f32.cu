/* attention_f32.cu - attention by tiles of 64 queries whose scores are never in the device's memory: the keys go by 64
 * at a time, with a running maximum and a running sum of weights (Milakov and Gimelshein, 2018; Dao et al., 2022). All
 * sums are in rising order of keys, whatever the grid. Knows nothing of masks: they are part of the expression.
 *
 *              keys go by: 64 at a time
 *   queries   [ q . k ] -> expression -> weights in shared memory, [key][query]
 *   results    = results * factor + weights times the values of these keys, in registers */
#include "occ_attention.h"
#include "occ_factors.h"
#include "occ_nest.h"
#include "occ_reduce.h"
#include "occ_vmath.h"

/* The state that the threads of a block share: the weights of 64 keys, and for each query the largest score so far, the
 * sum of weights relative to it, and the factor that earlier results are multiplied by. */
typedef struct occ_attention_state {
    float weight[OCC_TILE_SIDE * OCC_TILE_PITCH], top[OCC_TILE_SIDE], sum[OCC_TILE_SIDE], factor[OCC_TILE_SIDE];
} occ_attention_state;

/* Puts the scores of this thread's part of 64 queries and 64 keys where their weights will be; keys behind the last
 * get minus infinity. */
OCC_HOT void occ_attention_put(occ_attention_state *s, const occ_product *p, const occ_stack *y_at, int64_t place,
                               int64_t query, int64_t key, int64_t keys, const occ_expr *e,
                               const occ_stack_fused *fused)
{
    const int64_t pitch = y_at->rank - 1;
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART; i++) {
        const int64_t m = occ_min(query + p->row + i, y_at->dim[pitch - 1] - 1);
        occ_expr      row = occ_expr_start(e);
        OCC_UNROLLED
        for (int64_t k = 0; k < fused->nx; k++)
            row.at[k] += occ_stack_at(place, y_at, fused->pitch + k * pitch) + m * fused->pitch[k * pitch + pitch - 1];
        OCC_UNROLLED
        for (int j = 0; j < OCC_TILE_PART; j++) {
            const int64_t n = key + p->column + j;
            s->weight[(p->column + j) * OCC_TILE_PITCH + p->row + i] =
                n < keys ? occ_apply_vf(&row, p->sum[i * OCC_TILE_PART + j], n, 1, fused->fn)
                         : occ_reduce_start(OCC_REDUCE_MAX);
        }
    }
}

/* Turns the scores of these keys into weights relative to the largest score so far. A mask may hide all keys: then the
 * maximum is minus infinity, which must not be subtracted. */
OCC_HOT void occ_attention_weigh(occ_attention_state *s)
{
    for (int r = occ_thread(); r < OCC_TILE_SIDE; r += occ_threads()) {
        float *const weight = s->weight + r;
        float        top = s->top[r], sum = 0.0f;
        for (int n = 0; n < OCC_TILE_SIDE; n++)
            top = occ_vmax(top, weight[n * OCC_TILE_PITCH]);
        const float offset = occ_reduce_top(top);
        for (int n = 0; n < OCC_TILE_SIDE; n++) {
            weight[n * OCC_TILE_PITCH] = occ_vexp_apart(weight[n * OCC_TILE_PITCH] - offset);
            sum += weight[n * OCC_TILE_PITCH];
        }
        s->factor[r] = occ_vexp_apart(s->top[r] - offset);
        s->sum[r] = occ_fma(s->sum[r], s->factor[r], sum);
        s->top[r] = top;
    }
}

/* results = results * factor + weights of these keys times their values. */
OCC_HOT void occ_attention_add(occ_attention_state *s, float *sb, occ_product *p, const occ_factors *f, int64_t key,
                               int64_t column)
{
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART; i++) {
        OCC_UNROLLED
        for (int j = 0; j < OCC_TILE_PART; j++)
            p->sum[i * OCC_TILE_PART + j] *= s->factor[p->row + i];
    }
    for (int64_t k = 0; k < occ_min(OCC_TILE_SIDE, f->depth - key); k += OCC_TILE_K) {
        occ_factors_fill_b(sb, f, column, key + k);
        occ_barrier();
        occ_product_add(p, s->weight + k * OCC_TILE_PITCH, sb, (int)occ_min(OCC_TILE_K, f->depth - key - k));
        occ_barrier();
    }
}

/* The weights of 64 queries for 64 keys; qk: the factors of all scores. */
OCC_HOT void occ_attention_scores(occ_attention_state *s, float *sa, float *sb, const occ_factors *qk,
                                  const occ_stack *y_at, int64_t place, int64_t query, int64_t key, const occ_expr *e,
                                  const occ_stack_fused *fused)
{
    for (int part = occ_thread(); part - occ_thread() < OCC_TILE_PARTS; part += occ_threads()) {
        occ_product p = occ_product_begin(part);
        occ_factors_sums(sa, sb, &p, qk, query, key);
        if (part < OCC_TILE_PARTS)
            occ_attention_put(s, &p, y_at, place, query, key, qk->columns, e, fused);
    }
    occ_barrier();
    occ_attention_weigh(s);
    occ_barrier();
}

OCC_HOT void occ_attention_begin(occ_attention_state *s)
{
    for (int r = occ_thread(); r < OCC_TILE_SIDE; r += occ_threads()) {
        s->top[r] = occ_reduce_start(OCC_REDUCE_MAX);
        s->sum[r] = 0.0f;
    }
}

/* Stores the results of this thread; y: of this place of the stack. */
OCC_HOT void occ_attention_store(float *y, int64_t yrow, const occ_attention_state *s, const occ_product *p,
                                 const occ_factors *wv, int64_t query, int64_t column)
{
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART; i++) {
        const float by = 1.0f / s->sum[p->row + i];
        OCC_UNROLLED
        for (int j = 0; j < OCC_TILE_PART; j++) {
            const int64_t m = query + p->row + i, n = column + p->column + j;
            if (m < wv->rows && n < wv->columns)
                y[m * yrow + n] = p->sum[i * OCC_TILE_PART + j] * by;
        }
    }
}

/* attention - y[s][m] = sum over n of w[s][m][n] * v[s][n] with w = softmax over n of expression(sum over d of
 * q[s][m][d] * k[s][d][n]), for every place s of a stack.
 *   y, q  [rows][width], [rows][depth]; k [depth][keys]; v [keys][width]; the columns of y and v are neighbours
 *   scratch and blocks are those of the C kernel, and not used */
OCC_INLINE void occ_attention_f32(float *y, const occ_stack *y_at, float *scratch, const float *q,
                                  const occ_stack *q_at, const float *k, const occ_stack *k_at, const float *v,
                                  const occ_stack *v_at, const occ_blocks *blocks, const occ_expr *e,
                                  const occ_stack_fused *fused)
{
    OCC_SHARED_ARRAY(float, sa, OCC_TILE_K *OCC_TILE_PITCH);
    OCC_SHARED_ARRAY(float, sb, OCC_TILE_K *OCC_TILE_PITCH);
    OCC_SHARED_ARRAY(occ_attention_state, s, 1);
    const int64_t rank = y_at->rank, rows = y_at->dim[rank - 2], width = y_at->dim[rank - 1],
                  keys = k_at->dim[rank - 1], depth = q_at->dim[rank - 1];
    const int64_t across = (width + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE,
                  down = (rows + OCC_TILE_SIDE - 1) / OCC_TILE_SIDE;
    const int64_t total = keys ? occ_stack_count(y_at) * down * across : 0;
    (void)scratch, (void)blocks;
    for (int64_t tile = occ_block(); tile < total; tile += occ_grid()) {
        const int64_t place = tile / (down * across), query = tile / across % down * OCC_TILE_SIDE,
                      column = tile % across * OCC_TILE_SIDE;
        const occ_factors qk = {
            {q + occ_stack_at(place, y_at, q_at->stride), occ_stack_row(q_at), occ_stack_column(q_at)},
            {k + occ_stack_at(place, y_at, k_at->stride), occ_stack_row(k_at), occ_stack_column(k_at)},
            rows,
            keys,
            depth};
        const occ_factors wv = {
            {0, 0, 0}, {v + occ_stack_at(place, y_at, v_at->stride), occ_stack_row(v_at), 1}, rows, width, keys};
        for (int part = occ_thread(); part - occ_thread() < OCC_TILE_PARTS; part += occ_threads()) {
            occ_product p = occ_product_begin(part);
            occ_attention_begin(s);
            for (int64_t key = 0; key < keys; key += OCC_TILE_SIDE) {
                occ_attention_scores(s, sa, sb, &qk, y_at, place, query, key, e, fused);
                occ_attention_add(s, sb, &p, &wv, key, column);
            }
            if (part < OCC_TILE_PARTS)
                occ_attention_store(y + occ_stack_at(place, y_at, y_at->stride), occ_stack_row(y_at), s, &p, &wv, query,
                                    column);
            occ_barrier(); /* before the state begins anew */
        }
    }
}
