/* window.h - rules that kernels over windows share: convolutions and pooling. Axes of x and y are {images, channels,
 * depth, height, width}. Knows nothing of weights but where panels of them begin. */
#ifndef OCC_KERNELS_WINDOW_H
#define OCC_KERNELS_WINDOW_H

#include "kernels/record.h"

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
