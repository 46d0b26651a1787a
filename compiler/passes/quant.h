/* quant.h - QuantizeLinear and DequantizeLinear of bytes as passes see them. */
#ifndef OCC_PASSES_QUANT_H
#define OCC_PASSES_QUANT_H

#include "graph/make.h"

/* A tensor of bytes with one scale and one zero point, all constant. */
typedef struct Quant {
    Value *x, *scale, *zero; /* zero: NULL or a constant */
    double step, point;
} Quant;

bool quant_made(const Value *value, Quant *out); /* whether `value` is a dequantised tensor that is not constant */
bool quant_makes(const Node *node, Quant *out);  /* the node quantises */

#endif
