/* panels.h - packed weights of convolutions and matmuls, and the operands of epilogues. The order is that of
 * occ_conv_f32: [group][block of 32 outputs][tap][input][32]; the last block of a group is as wide as its outputs.
 * Kernels load vectors of four past the last row of such a block, so a margin of elements follows at the end. */
#ifndef OCC_LOWER_PANELS_H
#define OCC_LOWER_PANELS_H

#include "lower/call.h"

/* The logical shape of weights: element (group, output, input, tap). */
typedef struct PanelShape {
    int64_t groups, outputs, inputs, taps; /* outputs and inputs of one group */
} PanelShape;

/* Elements behind the weights that kernels may load without using them. */
int64_t panels_margin(int64_t outputs);

/* The stored elements of a float constant, perhaps unaligned in the mapped file: large weights are not copied twice. */
const void *panels_source(Lower *lower, const Value *constant);

/* Constant float weights, element (g, o, i, t) at data[g * stride[0] + o * stride[1] + i * stride[2] + t * stride[3]];
 * data lives as long as the program. */
Operand panels_constant(Lower *lower, const void *data, PanelShape shape, const int64_t *stride, const char *name);

/* Copies weights that are computed at run time into panels, by steps. w: axes [group * outputs][inputs][tap ...]. */
int panels_computed(Lower *lower, Operand w, PanelShape shape, Operand *out);

/* The pitch of an operand that an epilogue reads: elements between neighbouring pixels (all axes but `channel`, in
 * row-major order). False when pixels are not equally spaced or the channels' stride is a run-time integer. */
bool panels_pitch(Model *model, const Operand *x, int channel, Extent *pitch);

/* Gives each load of a deferred expression the stride of its channels, and lists the pitches. */
void panels_epilogue(Deferred *p, int channel, Extent *pitch);

/* The fields of an occ_fused as arguments, and the expression over `operand`, p's operands with the axes of the result
 * as it is passed. */
#define FUSED(p, operand, pitch) \
    ARG(fused.nx, (p)->noperand), ARGS(fused.pitch, (p)->noperand, pitch), \
        EXPR((p)->expr->nnode > 1 ? (p)->expr : NULL, operand, (p)->noperand)

#endif
