/* cover_attention.cu - attention as generated code calls it: compiled only. */
#include "occ_cuda.h"

#include "attention_f32.cu"
#include "cover.h"

/* Twelve heads of 64, 128 queries and keys, and a mask that all share. */
extern "C" OCC_KERNEL void step_attention(float *y, const float *q, const float *k, const float *v, const float *mask)
{
    static const occ_stack q_at = {3, {12, 128, 64}, {64, 768, 1}}, k_at = {3, {12, 64, 128}, {64, 1, 768}},
                           v_at = {3, {12, 128, 64}, {64, 768, 1}}, y_at = {3, {12, 128, 64}, {64, 768, 1}};
    static const occ_blocks      blocks = {4, 0, 0, 1};
    static const occ_extent      pitch[] = {0, 0};
    static const occ_stack_fused fused = {1, pitch, cover_expression};
    const occ_expr               e = {{mask}, {0}};
    occ_attention_f32(y, &y_at, 0, q, &q_at, k, &k_at, v, &v_at, &blocks, &e, &fused);
}
