/* cover_attention.h - attention as generated code calls it, for each kind of factors. */
#ifndef OCC_COVER_ATTENTION_H
#define OCC_COVER_ATTENTION_H

#include "cover.h"

/* Twelve heads of 64, 128 queries and keys, and a mask that all share; length known while running only. */
#define ATTENTION(kind) \
    extern "C" OCC_KERNEL void step_attention_##kind(float *y, const float *q, const float *k, const float *v, \
                                                     const float *mask) \
    { \
        static const occ_stack       q_at = {3, {12, 128, 64}, {64, 768, 1}}, k_at = {3, {12, 64, 128}, {64, 1, 768}}; \
        static const occ_blocks      blocks = {4, 0, 0, 1}; \
        static const occ_extent      pitch[] = {0, 0}; \
        static const occ_stack_fused fused = {1, pitch, cover_expression}; \
        const occ_expr               e = {{mask}, {0}}; \
        occ_attention_##kind(y, &q_at, 0, q, &q_at, k, &k_at, v, &q_at, &blocks, &e, &fused); \
    } \
    extern "C" OCC_KERNEL void step_attention_open_##kind(float *y, const float *q, const float *k, const float *v, \
                                                          int64_t length) \
    { \
        const occ_stack              q_at = {2, {length, 80}, {80, 1}}, k_at = {2, {80, length}, {1, 80}}; \
        static const occ_blocks      blocks = {4, 0, 0, 1}; \
        static const occ_stack_fused fused = {0, 0, 0}; \
        occ_attention_##kind(y, &q_at, 0, q, &q_at, k, &k_at, v, &q_at, &blocks, 0, &fused); \
    }

#endif
