/* attention_mma.cu - attention_f32 on tensor cores: the factors of both its products are rounded when a warp takes them
 * from shared memory; scores, weights and all sums are float32. Any grid gives the same bits. Knows nothing of how the
 * factors come there.
 *
 * A warp's band of 16 rows and eight columns is one product of matrices, 16 terms (8 of TF32) at a time in rising
 * order. A weight is at most 1, so half precision holds it; from 2^-25 down it becomes 0. */
#include "attention_f32.cu"
#include "occ_mma.h"

/* A lane's n-th register of a line whose terms are `term` floats apart, and of which it has every fourth. */
OCC_HOT uint32_t occ_attention_factor(const float *from, int term, int n, int kind)
{
    return kind == OCC_MMA_TF32 ? occ_tf32(from[n * 4 * term])
                                : occ_halves(from[n * 8 * term], from[(n * 8 + 4) * term]);
}

/* Adds 64 terms. Lines of a and of b are arow and bcolumn floats apart, terms aterm and bterm. */
OCC_HOT void occ_attention_product(occ_band *p, const float *a, int arow, int aterm, const float *b, int bcolumn,
                                   int bterm, int kind)
{
    const int terms = kind == OCC_MMA_TF32 ? 8 : 16, line = occ_lane() / 4, first = occ_lane() % 4;
    a += line * arow + first * aterm;
    b += line * bcolumn + first * bterm;
    OCC_UNROLLED
    for (int k = 0; k < OCC_BAND_SIDE; k += terms, a += terms * aterm, b += terms * bterm) {
        const uint32_t left[4] = {
            occ_attention_factor(a, aterm, 0, kind), occ_attention_factor(a + 8 * arow, aterm, 0, kind),
            occ_attention_factor(a, aterm, 1, kind), occ_attention_factor(a + 8 * arow, aterm, 1, kind)};
        const uint32_t right[2] = {occ_attention_factor(b, bterm, 0, kind), occ_attention_factor(b, bterm, 1, kind)};
        occ_mma(p->sum, left, right, kind, terms);
    }
}

/* Writes a lane's four sums to [column][row]: where occ_mma.h says. */
OCC_HOT void occ_attention_put(float *to, const occ_band *p, int part, int more)
{
    to += (part * OCC_BAND_COLUMNS + occ_lane() % 4 * 2) * OCC_BAND_GAP + occ_lane() / 4;
    OCC_UNROLLED
    for (int i = 0; i < 4; i++) {
        float *at = to + i % 2 * OCC_BAND_GAP + i / 2 * 8;
        *at = more ? *at + p->sum[i] : p->sum[i];
    }
}

OCC_HOT void occ_attention_scores(float *to, const float *q, const float *k, int part, int more, int kind)
{
    occ_band p = occ_band_begin();
    occ_attention_product(&p, q, OCC_BAND_PITCH, 1, k + part * OCC_BAND_COLUMNS * OCC_BAND_PITCH, OCC_BAND_PITCH, 1,
                          kind);
    occ_attention_put(to, &p, part, more);
}

OCC_HOT void occ_attention_results(occ_band *p, const float *factor, const float *weight, const float *v, int part,
                                   int kind)
{
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        p->sum[i] *= factor[occ_lane() / 4 + i / 2 * 8];
    occ_attention_product(p, weight, 1, OCC_BAND_GAP, v + part * OCC_BAND_COLUMNS, 1, OCC_BAND_VALUES, kind);
}

/* attention - as attention_f32, with its arguments and factors of TF32. */
OCC_INLINE void occ_attention_tf32(float *y, const occ_stack *y_at, float *scratch, const float *q,
                                   const occ_stack *q_at, const float *k, const occ_stack *k_at, const float *v,
                                   const occ_stack *v_at, const occ_blocks *blocks, const occ_expr *e,
                                   const occ_stack_fused *fused)
{
    const occ_band_product warps = {occ_attention_scores, occ_attention_results, occ_attention_put, OCC_MMA_TF32};
    if (OCC_HAS_MMA)
        occ_attention_tiles(y, y_at, q, q_at, k, k_at, v, v_at, e, fused, &warps);
    else
        occ_attention_f32(y, y_at, scratch, q, q_at, k, k_at, v, v_at, blocks, e, fused);
}

/* The same with factors of half precision. */
OCC_INLINE void occ_attention_fp16(float *y, const occ_stack *y_at, float *scratch, const float *q,
                                   const occ_stack *q_at, const float *k, const occ_stack *k_at, const float *v,
                                   const occ_stack *v_at, const occ_blocks *blocks, const occ_expr *e,
                                   const occ_stack_fused *fused)
{
    const occ_band_product warps = {occ_attention_scores, occ_attention_results, occ_attention_put, OCC_MMA_FP16};
    if (OCC_HAS_MMA)
        occ_attention_tiles(y, y_at, q, q_at, k, k_at, v, v_at, e, fused, &warps);
    else
        occ_attention_f32(y, y_at, scratch, q, q_at, k, k_at, v, v_at, blocks, e, fused);
}
