/* conv_cost.h - the shape of a convolution, and the predicted time and scratch of each algorithm for it. Knows nothing
 * of the choice between them. */
#ifndef OCC_KERNELS_CONV_COST_H
#define OCC_KERNELS_CONV_COST_H

#include "kernels/cost.h"

enum { COST_CALL = 200 }; /* nanoseconds of any step */

/* A convolution of any kernel that computes one; narrower images have leading axes of 1. */
typedef struct ConvShape {
    int64_t batch, groups, inputs, outputs; /* channels of one group */
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
    bool    is_bound; /* batch, in, out or pad are upper bounds of run-time extents */
    bool    is_batch_bound;
} ConvShape;

/* The largest shape of a step of a kernel over windows; false: not all of its extents are constant. */
bool conv_shape_read(const Step *step, ConvShape *shape);

/* The shape of a step of conv_f32 or winograd_f32 whose extents are constant; else false. */
bool conv_shape_of(const Step *step, ConvShape *shape);

/* Whether more columns at an end of a row may miss taps than a tile has. Tiles are as narrow as the vectors of the C
 * compiler's machine ask for (occ_tile.h), so every width of a tile is tried. Example: with 3 taps 12 columns apart and
 * 12 columns of padding, 12 columns at either end miss a tap. */
bool conv_has_wide_border(const ConvShape *shape);

/* Time of `outputs` channels of a map by blocks of so many vectors, `depth` products each, in vector multiply-adds. */
double cost_blocks(const Core *core, int64_t height, int64_t width, int64_t outputs, int64_t vectors, double depth);

/* Nanoseconds of computing while weights are read. */
double cost_overlapped(double compute, double stream);

/* Winograd's transform with tiles of m results along a row: products of a tile for each pair of channels, results of a
 * tile along a column, and tiles of an image. */
int64_t winograd_frequencies(const ConvShape *shape, int64_t m);
int64_t winograd_rows(const ConvShape *shape, int64_t m);
int64_t winograd_tiles(const ConvShape *shape, int64_t m);

/* Nanoseconds of the direct convolution by tiles of 1, 2 or 4 vectors (0: the kernel's own choice), and of Winograd's
 * transform with m results along a row of a tile and `group` tiles at a time. */
double cost_direct(const Core *core, const ConvShape *shape, int64_t vectors);
double cost_winograd(const Core *core, const ConvShape *shape, int64_t m, int64_t group);

/* The times of convolutions of 8-bit integers. cost_direct_strips: with weights widened once for every `columns`
 * pixels. */
double cost_direct_q(const Core *core, const ConvShape *shape);
double cost_direct_strips(const Core *core, const ConvShape *shape, double columns);
double cost_winograd_q(const Core *core, const ConvShape *shape, int64_t m, int64_t group);

/* Scratch of the Winograd kernels: in floats, and in 32-bit words for 8-bit integers. */
int64_t winograd_scratch(const ConvShape *shape, int64_t m, int64_t group);
int64_t winograd_q_scratch(const ConvShape *shape, int64_t m, int64_t group);

#endif
