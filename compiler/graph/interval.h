/* interval.h - the least and greatest value that an operator on run-time integers can give. Knows nothing of models. */
#ifndef OCC_GRAPH_INTERVAL_H
#define OCC_GRAPH_INTERVAL_H

#include "graph/ir.h"

/* The operator on two numbers. Results saturate; a division by 0 gives 0. */
int64_t interval_evaluate(ExprOp op, int64_t a, int64_t b);

/* Sets lo and hi of `out`, whose op is set, from the intervals of its operands. */
void interval_set(Expr *out, const Expr *a, const Expr *b);

/* The least interval that holds both. */
void interval_join(Expr *out, const Expr *a, const Expr *b);

#endif
