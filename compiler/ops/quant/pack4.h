/* pack4.h - weights of integer kernels: four inputs side by side in each lane, panels of outputs.
 * The order is that of occ_conv_q: [group][block of 32 outputs][tap][inputs / 4 rounded up][32][4], the last block of a
 * group as wide as its outputs rounded up to 4. */
#ifndef OCC_OPS_QUANT_PACK4_H
#define OCC_OPS_QUANT_PACK4_H

#include "lower/panels.h"

/* Constant int8 weights, element (g, o, i, t) at data[g * stride[0] + o * stride[1] + i * stride[2] + t *
 * stride[3]]. */
Operand pack4_constant(Lower *lower, const int8_t *data, PanelShape shape, const int64_t *stride, const char *name);

/* Sums of the weights of each output, [groups * outputs]. */
int32_t *pack4_sums(Lower *lower, const int8_t *data, PanelShape shape, const int64_t *stride);

/* Whether 255 * (w0 + w1) fits 16 bits for any two inputs that one lane multiplies side by side. */
bool pack4_is_safe(const int8_t *data, PanelShape shape, const int64_t *stride);

#endif
