/* control.h - shared by If, Loop and Scan: places for the results of bodies, their run-time extents, copies at the
 * borders. */
#ifndef OCC_LOWER_CONTROL_H
#define OCC_LOWER_CONTROL_H

#include "lower/lower.h"

/* Appends the steps of deferred outer values that `body` reads: a step appended inside a branch would not run
 * outside. */
int control_finish_outer(Lower *lower, const Graph *body);

/* A boolean value as a run-time integer; an integer value likewise, within [lo, hi]. */
int control_condition(Lower *lower, Value *value, Extent *out);
int control_integer(Lower *lower, Value *value, int64_t lo, int64_t hi, Extent *out);

/* Append a control step; its ranges are filled in by the caller. Returns its position. */
int control_begin(Lower *lower, StepKind kind, Extent set);

/* The symbol of the iteration number, 0 up to `trips`, from axis `axis` of the body's counter; never a constant. */
Extent control_iteration(Lower *lower, const Value *counter, int axis, Extent trips);

/* Whether a loop of so many trips never runs. Its body is left out, because values that it reads may have no bytes. */
static inline bool control_never(Extent trips)
{
    return trips.max <= 0;
}

/* A loop around all steps appended until its end; `iteration` is its counter. Begin returns the position and sets
 * `mark`, which end needs. */
int  control_loop_begin(Lower *lower, Extent trips, Extent iteration, int *mark);
void control_loop_end(Lower *lower, int loop, int mark);

/* A condition around all steps appended until its end, likewise. */
int  control_if_begin(Lower *lower, Extent condition, int *mark);
void control_if_end(Lower *lower, int branch, int mark);

/* Give `to` a row-major buffer of its capacity, unless it has a place. Sequences and optionals too. */
int control_place(Lower *lower, Value *to);

/* Lets `from` be computed directly into `to`, where possible. */
void control_aim(Lower *lower, Value *from, Value *to);

/* Copies `from` to `to` (nothing if it was computed there) and sets the run-time extents of `to`. */
int control_deliver(Lower *lower, Value *from, Value *to);

/* For an If with one branch left: output `index` is the value `from` of its body. */
int control_alias(Lower *lower, const Node *node, int index, Value *from);

/* The run-time extents of `value` are known from here on (they were set inside a range). */
void control_define(Lower *lower, const Value *value);

/* Sets the run-time extents of `to` to 0. */
int control_zero_extents(Lower *lower, const Value *to);

/* The symbol of `value` itself in `extent` or in its bound; a constant when there is none. */
Extent control_symbol(const Lower *lower, const Value *value, Extent extent);

/* `extent`, one of the extents of `to`, has the value `value`: a symbol of `to` is set, anything else is compared. */
int control_give(Lower *lower, const Value *to, Extent extent, Extent value);

/* The two halves of control_deliver for tensors: the elements, the extents. */
int control_copy(Lower *lower, Value *from, Value *to);
int control_give_extents(Lower *lower, const Type *from, const Value *to);

/* dims[symbol] = the boolean or integer `value`. */
int control_read(Lower *lower, Value *value, Extent symbol);

/* Inside the body a loop's condition is true, or the body would not run. */
void control_condition_in(Lower *lower, Value *parameter);

/* Whether a loop's condition can never become false; an absent one is true. */
bool control_always(const Value *initial, const Value *result);

/* Makes the final value of a carried buffer the output. */
int control_final(Lower *lower, Value *parameter, Value *output);

/* Extents and strides of the stacked value, from this iteration's item; items must agree. `trips`: along `axis`. */
int control_stack_extents(Lower *lower, const Value *item, const Value *stack, int axis, Extent iteration, Extent trips,
                          Operand *whole);

Operand control_drop_axis(Operand x, int axis);
Place   control_slot_place(Lower *lower, Extent symbol, int rank); /* a run-time integer as a tensor of one element */
bool    control_is_nested(const Value *value);                     /* a sequence, optional or map: not one tensor */

#endif
