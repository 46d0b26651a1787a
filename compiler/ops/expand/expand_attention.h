/* expand_attention.h - what the expansions of attention operators share. Knows graphs only. */
#ifndef OCC_OPS_EXPAND_EXPAND_ATTENTION_H
#define OCC_OPS_EXPAND_EXPAND_ATTENTION_H

#include "ops/expand/expand.h"

/* a x b, [batch][heads][m][k] x [batch][kv_heads][k][n], where heads / kv_heads neighbours of a share one head of b. */
Value *expand_grouped_product(Expand *expand, Value *a, Value *b, int64_t heads, int64_t kv_heads);

/* Rotary embedding: in each row of x, of `size` places, the first 2 * half are `half` pairs, halves of that part or
 * neighbours (interleaved), and are turned by angles whose cosines and sines broadcast to [...][...][...][half]. */
Value *expand_turned(Expand *expand, Value *x, Value *cosine, Value *sine, int64_t half, int64_t size,
                     bool interleaved);

#endif
