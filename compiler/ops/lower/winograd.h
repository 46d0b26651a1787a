/* winograd.h - when a 3x3 or 1x3 convolution is computed by Winograd's transform, and its transformed weights: for
 * floats (winograd.c) and, exactly, for 8-bit integers (winograd_q.c). Knows nothing of steps. */
#ifndef OCC_OPS_LOWER_WINOGRAD_H
#define OCC_OPS_LOWER_WINOGRAD_H

#include "lower/lower.h"

/* The form. */
typedef struct WinogradPlan {
    int64_t m;       /* results of a tile along a row, 2 or 4; 0: do not */
    int64_t group;   /* tiles transformed together */
    int64_t rows;    /* results of a tile along a column: m, or 1 for a kernel of one row */
    int64_t scratch; /* elements */
} WinogradPlan;

/* Whether it is a 3x3 convolution of stride and dilation 1, or a 1x3 one of stride 1 with any dilation along the row,
 * of images without depth, in one group. */
bool winograd_takes(const ConvShape *shape);

/* The expected rounding error of the worst result, relative to the root mean square of that output channel's results,
 * for independent inputs of equal size; data, taps as in winograd_weights. Single roundings are taken as independent
 * (Higham and Mary, A new approach to probabilistic rounding error analysis, 2019). */
double winograd_error(const void *data, int64_t taps, int64_t inputs, int64_t outputs, int64_t m);

/* The largest tile, 4 or 2, whose error is at most `limit`; 0: none is. */
int64_t winograd_within(double limit, const void *data, int64_t taps, int64_t inputs, int64_t outputs);

/* The form that is predicted to be fastest, with tiles of at most `most`; m 0: the direct convolution is. Under AUTO
 * the larger weights count as time, `byte_price` nanoseconds a byte besides (Options.byte_price). */
WinogradPlan winograd_plan(Winograd choice, const Core *core, const ConvShape *shape, int64_t most, double byte_price);

/* Whether map and channels are large enough for the transforms to save more than they cost. */
bool winograd_pays(const ConvShape *shape);

/* The plan with tiles of m results along a row, 2 or 4; m 0 where the map is smaller than a tile or channels are too
 * few. */
WinogradPlan winograd_plan_of(const ConvShape *shape, int64_t m);

/* Nanoseconds that AUTO charges for the memory of weights, `bytes` for each filter. */
double winograd_memory(const Core *core, const ConvShape *shape, int64_t bytes);

/* Nanoseconds that AUTO charges for float weights transformed for tiles of m results along a row; m 0: direct ones. */
double winograd_price(const Core *core, const ConvShape *shape, int64_t m);

/* The transformed weights, [frequency][block of 32 outputs][input][32]; data: [outputs][inputs][taps] floats, at any
 * address; taps: 9 or 3. */
Operand winograd_weights(Lower *lower, const void *data, int64_t taps, int64_t inputs, int64_t outputs, int64_t m,
                         const char *name);

/* The form that is predicted to be fastest for 8-bit integers of type `dtype` with weights [outputs][inputs][taps]. m
 * is 0 also where a sum may overflow the kernel. */
WinogradPlan winograd_q_plan(Winograd choice, const Core *core, const ConvShape *shape, DType dtype,
                             const int8_t *weights, double byte_price);

/* The transformed weights, int16 [block of 32 outputs][frequency][inputs / 2 rounded up][32][2]. */
Operand winograd_q_weights(Lower *lower, const int8_t *data, int64_t taps, int64_t inputs, int64_t outputs, int64_t m,
                           const char *name);

#endif
