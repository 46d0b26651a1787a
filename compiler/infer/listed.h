/* listed.h - extents of inputs of which --dim lists the sizes. Each combination of sizes is a model of its own, in
 * which they are constants. Knows graphs only. */
#ifndef OCC_INFER_LISTED_H
#define OCC_INFER_LISTED_H

#include "graph/ir.h"

/* Combinations of listed sizes; 1: no list. Saturates. */
int64_t listed_combinations(const DimBound *bound, int nbound);

/* The size that `of`, one of the bounds from `bound` on, has in a combination, counted from 0. */
int64_t listed_size(const DimBound *bound, const DimBound *of, int combination);

/* The bounds with the sizes of one combination in place of lists. */
DimBound *listed_pin(Arena *arena, const DimBound *bound, int nbound, int combination);

/* Gives the inputs of `model` the types that those of `whole` have in one combination. Other run-time extents keep
 * their symbols, so `model` was read after `whole`. */
void listed_inputs(const Model *whole, Model *model, int combination);

/* Not 0 where the caller gives the sizes of the combination. */
Extent listed_condition(Model *whole, int combination);

/* "H=224 W=320" */
const char *listed_label(const Model *whole, int combination);

/* Whether some input has the extents that a bound of the model lists. */
bool listed_is_used(const Model *whole, const DimBound *bound);

/* The sizes of the extent; NULL: it is not listed. */
const DimBound *listed_bound(const Model *whole, int expr);

#endif
