/* conv_after.h - a convolution of single pixels that computes its input, an elementwise expression, block by block: for
 * expressions over a part of a larger buffer, whose result could not take that part's place. Knows nothing of
 * windows. */
#ifndef OCC_LOWER_CONV_AFTER_H
#define OCC_LOWER_CONV_AFTER_H

#include "lower/lower.h"

/* A value that waits may go on waiting for this user, which is such a convolution. */
bool conv_after_takes(const Lower *lower, const Node *user, const Deferred *input);

/* Whether its kernel can make what waits behind the convolution. */
bool conv_after_accepts(const Deferred *conv);

/* The only operand of the input's expression that has rows, of four axes with batch 1; NULL: there are others. */
const Operand *conv_after_rows(const Deferred *input);

/* Append the step y = conv(input) with what waits behind the convolution. Returns 1; 0 when its kernel cannot make
 * that, and nothing was appended; -1 with a message. */
int conv_after_finish(Lower *lower, Deferred *conv, Deferred *input, Operand w, Operand bias, Operand y);

#endif
