/* integer_weights.h - quantised constants in the form of the integer kernels. Knows graphs only. */
#ifndef OCC_OPS_QUANT_INTEGER_WEIGHTS_H
#define OCC_OPS_QUANT_INTEGER_WEIGHTS_H

#include "graph/make.h"

/* Constant weights less their zero point (NULL: 0) as an int8 constant; NULL where they are not constant bytes, or do
 * not fit. A zero point of several elements has one for each place of `axis`. `swap`: a matrix is transposed. */
Value *integer_weights(Graph *graph, const Value *w, const Value *zero, int axis, bool swap);

/* A zero point that changes nothing: NULL, or constant zeros. */
bool integer_is_zero(Arena *arena, const Value *value);

/* The elements of a constant float vector (or a single one, repeated) as `count` doubles; false: not so. */
bool integer_scales(const Value *scale, int64_t count, double *out);

/* float [count], or [] when all are equal. */
Value *integer_scale(Graph *graph, const double *data, int64_t count);

#endif
