/* window_kernel.h - rules that kernels over windows share: convolutions and pooling. Axes of x and y are {images,
 * channels, depth, height, width}. Of weights it knows only where panels begin. */
#ifndef OCC_KERNELS_WINDOW_KERNEL_H
#define OCC_KERNELS_WINDOW_KERNEL_H

#include "kernels/record.h"

enum { BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH, AXES }; /* of xdim, xstride, ydim, ystride */

/* A step that makes rows in rising order. */
typedef struct Geometry {
    int64_t xdim[AXES], xstride[AXES], ydim[AXES], ystride[AXES];
    int64_t stride[3], pad[3];
    int64_t block, tile; /* rows made together, 0: all; pixels of a row, 0: all */
    bool    is_bound;    /* the extents and strides are the largest of those that a run may bring */
} Geometry;

/* One image without depth or groups, all strides rising, padding that is constant; else false. */
bool window_geometry(const Program *program, const Step *step, Geometry *geometry);

/* The greatest distance(step, g) over all heights and widths that a run may bring; `distance` must not fall when there
 * are more rows. INT64_MAX where there are too many widths to try. */
int64_t window_distance(const Program *program, const Step *step, const Geometry *geometry,
                        int64_t (*distance)(const Step *step, const Geometry *g));

/* y may follow its first operand through the same memory: rows of y are made in rising order, tile[1] at a time (0:
 * all), or, without that argument, at most KernelRecord.columns pixels of a row at a time. While these are made, only
 * rows and columns of the operand from their first tap on are read, and nothing else is written. */
bool window_follow(const Program *program, const Step *step, Follow *follow);

/* Offers cuts along images or, where there is one image, rows of the result, `grain` at a time. */
void window_offer(const Step *step, Cuts *cuts, int64_t grain, double weight);
void window_offer_rows(const Step *step, Cuts *cuts);

/* Takes such a slice, and one along an axis inside the image. */
void window_take_rows(Step *slice, const UnitRange *range);
void window_take_space(Step *slice, const UnitRange *range);

/* Takes images, or channels that each are made of the one of the input at their place. */
void window_take_planes(Step *slice, const UnitRange *range);

/* Takes channels of the result, each with so many elements of w; the first one is the first of a panel. */
void window_take_channels(Step *slice, const UnitRange *range, int64_t weights);

/* Nanoseconds of visiting all windows; of a kernel with so many products and weight reads per nanosecond. */
double window_work(const Step *step);
double window_work_at(const Step *step, double products, double reads);

/* The work of visiting all windows, in vector operations of a core. */
double window_operations(const Core *core, const Step *step);

/* KernelRecord.form: NULL where the width of both images is constant; else the form for other widths, which is named
 * by the kernel: conv_open_f32 of conv_f32. */
const char *window_form(Model *model, const Step *step);

/* The same of a convolution, which takes an image as one line where it has one tap. */
const char *window_form_of_lines(Model *model, const Step *step);

#endif
