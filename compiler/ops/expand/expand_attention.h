/* expand_attention.h - helpers that the expansions of several attention operators share. Knows graphs only. */
#ifndef OCC_OPS_EXPAND_EXPAND_ATTENTION_H
#define OCC_OPS_EXPAND_EXPAND_ATTENTION_H

#include "ops/expand/expand.h"

/* The product of [batch][heads][m][k] and [batch][kv_heads][k][n]. Each head of b serves heads / kv_heads consecutive
 * heads of a. */
Value *expand_grouped_product(Expand *expand, Value *a, Value *b, int64_t heads, int64_t kv_heads);

/* Rotary embedding. The first 2 * half of the `size` elements in each row of x are `half` pairs, which are rotated. A
 * pair is one element of each half of that part, or two neighbours if `interleaved`. Cosines and sines broadcast to
 * [...][...][...][half]. */
Value *expand_turned(Expand *expand, Value *x, Value *cosine, Value *sine, int64_t half, int64_t size,
                     bool interleaved);

#endif
