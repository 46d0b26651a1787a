/* quant.h - QuantizeLinear and DequantizeLinear of bytes as passes see them. */
#ifndef OCC_PASSES_QUANT_H
#define OCC_PASSES_QUANT_H

#include "graph/make.h"
#include "passes/passes.h"

/* A tensor of bytes with one scale and one zero point, all constant. */
typedef struct Quant {
    Value *x, *scale, *zero; /* zero: NULL or a constant */
    double step, point;
} Quant;

bool quant_made(const Value *value, Quant *out); /* whether `value` is a dequantised tensor that is not constant */
bool quant_makes(const Node *node, Quant *out);  /* the node quantises */

/* Inserts a node with output `out` behind position `at`, or before it. */
Node  *quant_insert(Graph *graph, int at, OpKind op, Value *const *in, int count, Value *out, const Node *like);
Value *quant_value(Graph *graph, const Type *like, DType dtype); /* a new value: `like` with other elements */

/* Moves elements as bytes (quant_move.c). Returns how many changes that took. uses: those of all values before pairs
 * were dropped. */
int quant_move(Graph *graph, Uses *uses);

#endif
