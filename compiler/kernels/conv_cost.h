/* conv_cost.h - the shape of a convolution, its predicted time and scratch, however it is computed: what the ways of
 * computing it are compared by. Knows nothing of who chooses. */
#ifndef OCC_KERNELS_CONV_COST_H
#define OCC_KERNELS_CONV_COST_H

#include "kernels/cost.h"

enum { COST_CALL = 200 }; /* nanoseconds of any step */

/* A convolution of any kernel that computes one; narrower images have leading axes of 1. */
typedef struct ConvShape {
    int64_t batch, groups, inputs, outputs; /* channels of one group */
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
} ConvShape;

/* The largest shape of a step of a kernel over windows; false: not all of its extents are constant. */
bool conv_shape_read(const Step *step, ConvShape *shape);

/* The shape of a step of conv_f32 or winograd_f32 whose extents are constant; else false. */
bool conv_shape_of(const Step *step, ConvShape *shape);

/* Vector multiply-adds' time of `outputs` channels of a map, by blocks of so many vectors of them, `depth` products
 * each. */
double cost_blocks(const Core *core, int64_t height, int64_t width, int64_t outputs, int64_t vectors, double depth);

/* Of work and of the weights that it waits for. */
double cost_overlapped(double compute, double stream);

/* Nanoseconds by tiles of 1, 2 or 4 vectors (0: those that the kernel takes by itself), and in the domain of Winograd's
 * transform with m x m results and `group` tiles at a time. */
double cost_direct(const Core *core, const ConvShape *shape, int64_t vectors);
double cost_winograd(const Core *core, const ConvShape *shape, int64_t m, int64_t group);

/* The same for 8-bit integers; directly with weights that are widened for every `columns` pixels. */
double cost_direct_q(const Core *core, const ConvShape *shape);
double cost_direct_strips(const Core *core, const ConvShape *shape, double columns);
double cost_winograd_q(const Core *core, const ConvShape *shape, int64_t m, int64_t group);

/* Scratch of the kernels of Winograd's transform: floats; and 32-bit words, of 8-bit integers. */
int64_t winograd_scratch(int64_t m, int64_t group, int64_t inputs, int64_t outputs);
int64_t winograd_q_scratch(int64_t m, int64_t group, int64_t inputs);

#endif
