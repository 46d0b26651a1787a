/* panels.h - weights in the order in which the kernels of convolutions and products read them, and the epilogue's
 * operands. The order is that of occ_conv_f32: [group][block of 32 outputs][tap][input][32], the last block of a group
 * as wide as its outputs. Vectors of four read past the last row of such a block: at the end are as many elements as
 * they may see. */
#ifndef OCC_LOWER_PANELS_H
#define OCC_LOWER_PANELS_H

#include "lower/lower.h"

/* Weights as a program sees them: element (group, output, input, tap). */
typedef struct PanelShape {
    int64_t groups, outputs, inputs, taps; /* outputs and inputs of one group */
} PanelShape;

/* Elements past the weights that kernels may read, and do not use. */
int64_t panels_margin(int64_t outputs);

/* The elements of a float constant where they lie, perhaps unaligned in the mapped file: large weights are not copied
 * twice. */
const void *panels_source(Lower *lower, const Value *constant);

/* Constant float weights, element (g, o, i, t) at data[g * stride[0] + o * stride[1] + i * stride[2] + t * stride[3]];
 * data lives as long as the program. */
Operand panels_constant(Lower *lower, const void *data, PanelShape shape, const int64_t *stride, const char *name);

/* Weights that are computed while running, `w` with axes [group * outputs][inputs][tap ...]: copied into panels by
 * steps. */
int panels_computed(Lower *lower, Operand w, PanelShape shape, Operand *out);

/* Of an operand with the result's axes that an epilogue reads: elements between pixels (all axes but `channel`,
 * row-major). False when it does not lie so, or its channels have a stride that only the run knows. */
bool panels_pitch(Model *model, const Operand *x, int channel, Extent *pitch);

/* Gives each load of a deferred expression the stride of its channels, and lists the pitches. */
void panels_epilogue(Deferred *p, int channel, Extent *pitch);

/* Append the fields of an occ_fused, and the expression over `operand`, p's operands with the axes of the result as it
 * is passed. */
void panels_put_fused(Lower *lower, Step *step, const Deferred *p, const Operand *operand, const Extent *pitch);

#endif
