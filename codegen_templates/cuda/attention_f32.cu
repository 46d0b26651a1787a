/* attention_f32.cu - attention by tiles of 16 queries and 64 columns, whose scores are never in the device's memory:
 * keys go by 64 at a time, with a running maximum and a running sum of weights (Milakov and Gimelshein, 2018; Dao et
 * al., 2022). Knows nothing of masks: they are part of the expression.
 *
 *   stages    q, k | v | q, k | v | ...      one comes while another is used; where the depth is above 64, q and k come
 *                                            in pieces of 64 terms
 *   scores    16 queries x 64 keys in shared memory, eight keys by each warp; the expression makes weights of them
 *   results   results * factor + weights times the values of these keys: eight columns in the registers of each warp
 *
 * The bits are those of these orders, whatever the grid. The sum of weights of a query: lane l of 16 adds the keys l,
 * l + 16, l + 32 and l + 48 of the 64; the sums of lanes are joined in pairs, 8 apart, 4, 2, 1. Scores and results:
 * occ_band.h; pieces of the depth are added one after the other. */
#include "occ_attention.h"
#include "occ_epilogue.h"
#include "occ_nest.h"
#include "occ_place.h"
#include "occ_reduce.h"
#include "occ_band.h"
#include "occ_vmath.h"

#define OCC_ATTENTION_LANES 16 /* that share the keys of a query */

/* The state that the threads of a block share besides stages. weight [key][query]: scores, then weights; at the end
 * results, [column][query]. For each query the largest score so far, the sum of weights relative to it, and the factor
 * that earlier results are multiplied by. */
typedef struct occ_attention_state {
    float weight[OCC_BAND_SIDE * OCC_BAND_GAP], top[OCC_BAND_ROWS], sum[OCC_BAND_ROWS], factor[OCC_BAND_ROWS];
} occ_attention_state;

/* One tile of one place of the stack. */
typedef struct occ_attention_at {
    occ_matrix       q, k, v;
    int64_t          rows, width, keys, depth;
    int64_t          place, query, column; /* where the tile begins */
    const occ_stack *y_at;
} occ_attention_at;

/* The stages of 64 keys: pieces of the depth, at least one, then the values. */
OCC_HOT int64_t occ_attention_pieces(const occ_attention_at *a)
{
    return occ_max((a->depth + OCC_BAND_SIDE - 1) / OCC_BAND_SIDE, 1);
}

/* Begins to bring 64 terms of `count` lines, `pitch` floats apart, of which `lines` and `terms` exist. `line` and
 * `term` are elements between neighbours. What does not exist becomes 0. Fours of aligned neighbours are copied while
 * the thread goes on. */
OCC_HOT void occ_attention_bring(float *to, int pitch, int count, const float *from, int64_t line, int64_t term,
                                 int64_t lines, int64_t terms)
{
    const int fours = OCC_BAND_SIDE / 4, at = occ_thread() % fours * 4;
    if (term == 1 && line % 4 == 0 && terms % 4 == 0 && (uintptr_t)from % 16 == 0) {
        for (int r = occ_thread() / fours; r < count; r += occ_threads() / fours)
            occ_copy16_or_zero(to + r * pitch + at, from + r * line + at, r < lines && at < terms);
        return;
    }
    for (int i = occ_thread(); i < count * OCC_BAND_SIDE; i += occ_threads()) {
        const int r = term == 1 ? i / OCC_BAND_SIDE : i % count, d = term == 1 ? i % OCC_BAND_SIDE : i / count;
        to[r * pitch + d] = r < lines && d < terms ? from[r * line + d * term] : 0.0f;
    }
}

#define OCC_ATTENTION_STAGE ((OCC_BAND_ROWS + OCC_BAND_SIDE) * OCC_BAND_PITCH) /* floats: of q and k, or of v */

/* The place of a stage, of which two lie in shared memory at a time. */
OCC_HOT float *occ_attention_place(float *memory, int64_t n)
{
    return memory + n % 2 * OCC_ATTENTION_STAGE;
}

/* Begins to bring stage n of a tile, if it exists. */
OCC_HOT void occ_attention_fill(float *memory, const occ_attention_at *a, int64_t n)
{
    float *const  to = occ_attention_place(memory, n);
    const int64_t pieces = occ_attention_pieces(a), key = n / (pieces + 1) * OCC_BAND_SIDE,
                  d = n % (pieces + 1) * OCC_BAND_SIDE;
    if (key < a->keys && n % (pieces + 1) == pieces) {
        occ_attention_bring(to, OCC_BAND_VALUES, OCC_BAND_SIDE, a->v.data + key * a->v.row + a->column, a->v.row, 1,
                            a->keys - key, a->width - a->column);
    } else if (key < a->keys) {
        occ_attention_bring(to, OCC_BAND_PITCH, OCC_BAND_ROWS, a->q.data + a->query * a->q.row + d * a->q.column,
                            a->q.row, a->q.column, a->rows - a->query, a->depth - d);
        occ_attention_bring(to + OCC_BAND_ROWS * OCC_BAND_PITCH, OCC_BAND_PITCH, OCC_BAND_SIDE,
                            a->k.data + key * a->k.column + d * a->k.row, a->k.column, a->k.row, a->keys - key,
                            a->depth - d);
    }
    occ_copy_commit();
}

/* Joins the values of the 16 lanes of a query; all of them get the result. */
OCC_HOT float occ_attention_join(float value, int64_t kind)
{
    OCC_UNROLLED
    for (int apart = OCC_ATTENTION_LANES / 2; apart > 0; apart /= 2)
        value = occ_reduce_merge(value, occ_shuffle(value, occ_lane() ^ apart), kind);
    return value;
}

/* The expression's operands at a query; those of the last one where it does not exist. */
OCC_HOT occ_expr occ_attention_row(const occ_attention_at *a, const occ_expr *e, const occ_stack_fused *fused,
                                   int64_t query)
{
    const int64_t pitch = a->y_at->rank - 1, m = occ_min(query, a->rows - 1);
    occ_expr      row = occ_expr_start(e);
    OCC_UNROLLED
    for (int64_t k = 0; k < fused->nx; k++)
        row.at[k] +=
            occ_stack_at(a->place, a->y_at, fused->pitch + k * pitch) + m * fused->pitch[k * pitch + pitch - 1];
    return row;
}

/* Turns the sums of a query and these keys into weights relative to the largest score so far. Keys behind the last
 * have the score minus infinity. A mask may hide all keys: then the maximum is minus infinity, which must not be
 * subtracted. */
OCC_HOT void occ_attention_weigh(occ_attention_state *s, const occ_attention_at *a, const occ_expr *e,
                                 const occ_stack_fused *fused, int64_t key, int query, int lane)
{
    const int      each = OCC_BAND_SIDE / OCC_ATTENTION_LANES;
    const occ_expr row = occ_attention_row(a, e, fused, a->query + query);
    float *const   weight = s->weight + lane * OCC_BAND_GAP + query;
    const float    before = lane == 0 && key > 0 ? s->top[query] : occ_reduce_start(OCC_REDUCE_MAX);
    float          score[OCC_BAND_SIDE / OCC_ATTENTION_LANES], top = before, sum = 0.0f;
    OCC_UNROLLED
    for (int i = 0; i < each; i++) {
        const int64_t n = key + lane + i * OCC_ATTENTION_LANES;
        score[i] = n < a->keys ? occ_apply_vf(&row, weight[i * OCC_ATTENTION_LANES * OCC_BAND_GAP], n, 1, fused->fn)
                               : occ_reduce_start(OCC_REDUCE_MAX);
        top = occ_vmax(top, score[i]);
    }
    top = occ_attention_join(top, OCC_REDUCE_MAX);
    const float offset = occ_reduce_top(top);
    OCC_UNROLLED
    for (int i = 0; i < each; i++) {
        const float w = occ_vexp_apart(score[i] - offset);
        weight[i * OCC_ATTENTION_LANES * OCC_BAND_GAP] = w;
        sum += w;
    }
    sum = occ_attention_join(sum, OCC_REDUCE_SUM);
    if (lane == 0) {
        s->factor[query] = occ_vexp_apart(before - offset);
        s->sum[query] = key > 0 ? occ_fma(s->sum[query], s->factor[query], sum) : sum;
        s->top[query] = top;
    }
}

/* The weights of 64 keys, whose first stage is n; returns the next stage. */
OCC_HOT int64_t occ_attention_weights(occ_attention_state *s, float *memory, const occ_attention_at *a, int64_t n,
                                      int64_t key, const occ_expr *e, const occ_stack_fused *fused,
                                      const occ_band_product *band)
{
    for (int64_t piece = 0; piece < occ_attention_pieces(a); piece++) {
        const float *stage = occ_attention_place(memory, n + piece);
        occ_copy_wait(0);
        occ_barrier(); /* this stage is there, and the one before has been used */
        occ_attention_fill(memory, a, n + piece + 1);
        for (int part = occ_thread() / 32; part < OCC_BANDS; part += occ_threads() / 32)
            band->scores(s->weight, stage, stage + OCC_BAND_ROWS * OCC_BAND_PITCH, part, piece > 0, band->tensor);
    }
    occ_barrier(); /* all scores are there */
    occ_attention_fill(memory, a, n + occ_attention_pieces(a) + 1);
    for (int i = occ_thread(); i < OCC_BAND_ROWS * OCC_ATTENTION_LANES; i += occ_threads())
        occ_attention_weigh(s, a, e, fused, key, i / OCC_ATTENTION_LANES, i % OCC_ATTENTION_LANES);
    return n + occ_attention_pieces(a);
}

/* Stores the results of a query in every 16th column from `lane` on, if one of the warps' parts, which are those from
 * `first` on, has them; y: of this place of the stack. */
OCC_HOT void occ_attention_store(float *y, const occ_attention_state *s, const occ_attention_at *a, int first,
                                 int query, int lane)
{
    const float  by = 1.0f / s->sum[query];
    float *const to = y + (a->query + query) * occ_stack_row(a->y_at) + a->column;
    OCC_UNROLLED
    for (int i = 0; i < OCC_BAND_SIDE / OCC_ATTENTION_LANES; i++) {
        const int c = lane + i * OCC_ATTENTION_LANES, part = c / OCC_BAND_COLUMNS - first;
        if (a->query + query < a->rows && a->column + c < a->width && part >= 0 && part < occ_threads() / 32)
            to[c] = s->weight[c * OCC_BAND_GAP + query] * by;
    }
}

/* The parts of the results from `first` on, one by each warp. */
OCC_HOT void occ_attention_parts(occ_attention_state *s, float *memory, float *y, const occ_attention_at *a, int first,
                                 const occ_expr *e, const occ_stack_fused *fused, const occ_band_product *band)
{
    const int part = first + occ_thread() / 32;
    occ_band  p = occ_band_begin();
    int64_t   n = 0;
    occ_attention_fill(memory, a, 0);
    for (int64_t key = 0; key < a->keys; key += OCC_BAND_SIDE, n++) {
        n = occ_attention_weights(s, memory, a, n, key, e, fused, band);
        occ_copy_wait(1); /* for the values, not for the stage behind them */
        occ_barrier();    /* they and the weights are there */
        if (part < OCC_BANDS)
            band->results(&p, s->factor, s->weight, occ_attention_place(memory, n), part, band->tensor);
    }
    occ_copy_wait(0);
    occ_barrier(); /* the weights have been used */
    if (part < OCC_BANDS)
        band->put(s->weight, &p, part, 0);
    occ_barrier(); /* all results are there */
    for (int i = occ_thread(); i < OCC_BAND_ROWS * OCC_ATTENTION_LANES; i += occ_threads())
        occ_attention_store(y, s, a, first, i / OCC_ATTENTION_LANES, i % OCC_ATTENTION_LANES);
}

/* Blocks of fewer warps than parts go through a tile several times. */
OCC_HOT void occ_attention_tiles(float *y, const occ_stack *y_at, const float *q, const occ_stack *q_at, const float *k,
                                 const occ_stack *k_at, const float *v, const occ_stack *v_at, const occ_expr *e,
                                 const occ_stack_fused *fused, const occ_band_product *band)
{
    OCC_SHARED_ARRAY(float, memory, 2 * OCC_ATTENTION_STAGE);
    OCC_SHARED_ARRAY(occ_attention_state, state, 1);
    const int64_t rank = y_at->rank, rows = y_at->dim[rank - 2], width = y_at->dim[rank - 1],
                  keys = k_at->dim[rank - 1], depth = q_at->dim[rank - 1];
    const int64_t across = (width + OCC_BAND_SIDE - 1) / OCC_BAND_SIDE,
                  down = (rows + OCC_BAND_ROWS - 1) / OCC_BAND_ROWS;
    const int64_t total = keys ? occ_stack_count(y_at) * down * across : 0;
    for (int64_t tile = occ_block(); tile < total; tile += occ_grid()) {
        const int64_t          place = tile / (down * across);
        const occ_attention_at a = {
            {q + occ_stack_at(place, y_at, q_at->stride), occ_stack_row(q_at), occ_stack_column(q_at)},
            {k + occ_stack_at(place, y_at, k_at->stride), occ_stack_row(k_at), occ_stack_column(k_at)},
            {v + occ_stack_at(place, y_at, v_at->stride), occ_stack_row(v_at), 1},
            rows,
            width,
            keys,
            depth,
            place,
            tile / across % down * OCC_BAND_ROWS,
            tile % across * OCC_BAND_SIDE,
            y_at};
        for (int first = 0; first < OCC_BANDS; first += occ_threads() / 32)
            occ_attention_parts(state, memory, y + occ_stack_at(place, y_at, y_at->stride), &a, first, e, fused, band);
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
    const occ_band_product lanes = {occ_lanes_scores, occ_lanes_results, occ_lanes_put, 0};
    (void)scratch, (void)blocks;
    occ_attention_tiles(y, y_at, q, q_at, k, k_at, v, v_at, e, fused, &lanes);
}
