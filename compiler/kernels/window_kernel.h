/* window_kernel.h - rules that kernels over windows share: convolutions and pooling. Axes of x and y are {images,
 * channels, depth, height, width}. Knows nothing of weights but where panels of them begin. */
#ifndef OCC_KERNELS_WINDOW_KERNEL_H
#define OCC_KERNELS_WINDOW_KERNEL_H

#include "kernels/record.h"

enum { BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH, AXES }; /* of xdim, xstride, ydim, ystride */

/* A step that makes rows in rising order. */
typedef struct Geometry {
    int64_t xdim[AXES], xstride[AXES], ydim[AXES], ystride[AXES];
    int64_t stride[3], pad[3];
    int64_t block, tile; /* rows made together, 0: all; pixels of a row, 0: all */
} Geometry;

/* One image without depth or groups, of constant extents, all strides rising; else false. */
bool window_geometry(const Step *step, Geometry *geometry);

/* Rows of y are made in rising order, tile[1] of them together (0: all); where there is no such argument, pixels of a
 * row, KernelRecord.columns together at most. While they are made, only rows and columns of the first operand from
 * their first tap on are read, and nothing is written but they: so y may follow it through the same memory. */
bool window_follow(const Program *program, const Step *step, Follow *follow);

/* Images, or where there is one, rows of the result, `grain` together. */
void window_offer(const Step *step, Cuts *cuts, int64_t grain, double weight);
void window_offer_rows(const Step *step, Cuts *cuts);

/* What these cuts and those along a single axis of the image leave of a step. */
void window_take_rows(Step *part, int axis, int64_t lo, int64_t hi);
void window_take_space(Step *part, int axis, int64_t lo, int64_t hi);

/* Channels [lo, hi) of the result, each with so many elements of w: lo is the first of a panel. */
void window_take_channels(Step *part, int64_t lo, int64_t hi, int64_t weights);

/* Nanoseconds of a pass over all windows; of a kernel that makes so many products and reads so many weights each. */
double window_work(const Step *step);
double window_work_at(const Step *step, double products, double reads);

/* The same in vector operations of a core. */
double window_operations(const Core *core, const Step *step);

#endif
