/* conv_after.h - a 1 x 1 convolution that computes its input, an elementwise expression, block by block. It serves
 * expressions over a window of a larger buffer, whose result could not take the window's place. Knows nothing of
 * windows. */
#ifndef OCC_LOWER_CONV_AFTER_H
#define OCC_LOWER_CONV_AFTER_H

#include "lower/lower.h"

/* Whether a deferred value stays deferred for `user`, which is such a convolution. */
bool conv_after_takes(const Lower *lower, const Node *user, const Deferred *input);

/* Whether the kernel can compute the epilogue of the convolution. */
bool conv_after_accepts(const Deferred *conv);

/* The only operand of the input's expression that has rows (four axes, batch 1); NULL: there are others. */
const Operand *conv_after_rows(const Deferred *input);

/* Appends the step y = conv(input) with the convolution's epilogue. Returns 1; 0 if the kernel cannot compute that
 * epilogue (nothing is appended); -1 with a message. */
int conv_after_finish(Lower *lower, Deferred *conv, Deferred *input, Operand w, Operand bias, Operand y);

#endif
