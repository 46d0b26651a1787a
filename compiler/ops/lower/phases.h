/* phases.h - transposed convolutions as convolutions: results at equal places modulo the stride read the same taps.
 * Each such phase is a convolution of stride 1 that writes every stride-th result. Example: stride 2 in two dimensions
 * has four phases. Knows nothing of element types. */
#ifndef OCC_OPS_LOWER_PHASES_H
#define OCC_OPS_LOWER_PHASES_H

#include "infer/window.h"
#include "lower/lower.h"

enum { MOST_PHASES = 16 };

/* One axis of a phase: results first, first + stride, ..., each of which reads taps tap, tap + stride, ...
 * backwards. */
typedef struct AxisPhase {
    Extent  count;
    int64_t first, stride;
    int64_t tap, taps, dilation;
    int64_t pad,
        skip; /* padding before the input, or elements to skip where the first result reads none of its beginning */
} AxisPhase;

/* Whether every phase has taps and reads some of the input, with constant padding and constant weights. */
bool phases_exist(Lower *lower, const Node *node, const Window *w);

int64_t phases_count(const Window *w);

/* The axes of phase `number`, row-major. */
void phases_of(Lower *lower, const Window *w, int64_t number, AxisPhase *axis);

/* Taps of a phase. */
int64_t phases_taps(const Window *w, const AxisPhase *axis);

/* The number of a tap of the whole kernel, from that of the phase; both row-major. */
int64_t phases_tap(const Window *w, const AxisPhase *axis, int64_t tap);

/* One phase as a convolution, from the whole's window, input and results: of the input from `skip` on, into every
 * stride-th element of y. False: it has no results. */
bool phases_take(Lower *lower, const AxisPhase *axis, Window *window, Operand *x, Operand *y);

/* Deferred.accepts: the pixels of a phase are not contiguous, so an operand must be the same for all. */
bool phases_accept(const Deferred *p, const Operand *x);

#endif
