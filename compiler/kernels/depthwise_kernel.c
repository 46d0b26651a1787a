/* depthwise_kernel.c - convolutions of each channel by itself. */
#include "kernels/window_kernel.h"

/* Prefers the cut of the 1 x 1 convolutions before and after, so that activations stay in their core's cache. These
 * have about six channels on one side for each on the other, so with 7 times as many channels as pixels their weights
 * outweigh their images. */
static void offer_depthwise(const Step *step, Cuts *cuts)
{
    bool deep =
        (double)step_value(step, "ydim", 1) > 7.0 * step_product(step, "ydim") / (double)step_value(step, "ydim", 1);

    window_offer(step, cuts, 1, deep ? 1.15 : 1.0);
    cut_offer(cuts, 1, step_extent(step, "ydim", 1), 16, deep ? 1.0 : 1.15);
}

static void take_depthwise(Step *slice, const UnitRange *range)
{
    if (range->axis != 1) {
        window_take_rows(slice, range);
        return;
    }
    window_take_channels(slice, range, 1);
    slice_set(slice, "xdim", 1, range->count);
    slice_move_named(slice, range, "x", step_extent(slice, "xstride", 1));
}

const KernelRecord kernel_depthwise = {.cut = {offer_depthwise, take_depthwise, window_work, false},
                                       .operations = window_operations,
                                       .follow = window_follow,
                                       .columns = 8,
                                       .form = window_form,
                                       .shared = {{"xdim", "ydim", 0, 0}, {"xdim", "ydim", 1, 1}}};
const KernelRecord kernel_depthwise_bytes = {.cut = {window_offer_rows, window_take_rows, window_work, false},
                                             .operations = window_operations,
                                             .form = window_form,
                                             .shared = {{"xdim", "ydim", 0, 0}, {"xdim", "ydim", 1, 1}}};
