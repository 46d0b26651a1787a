/* pool_kernel.c - averages and maxima of windows. */
#include "kernels/window_kernel.h"

static void offer_pool(const Step *step, Cuts *cuts)
{
    if (step_operand_of(step, "place"))
        return; /* places count the whole input */
    window_offer(step, cuts, 1, 1.0);
    cut_offer(cuts, 1, step_value(step, "ydim", 1), step_value(step, "ystride", 1) == 1 ? 16 : 1, 1.3);
}

static void take_pool(Step *slice, int axis, int64_t lo, int64_t hi)
{
    if (axis > 1) {
        window_take_space(slice, axis, lo, hi);
        return;
    }
    slice_set(slice, "xdim", axis, hi - lo);
    slice_set(slice, "ydim", axis, hi - lo);
    slice_shift_named(slice, "x", lo * step_value(slice, "xstride", axis));
    slice_shift_named(slice, "y", lo * step_value(slice, "ystride", axis));
}

/* Units of one channel of one image: rows differ by their padding. */
static void offer_planes(const Step *step, Cuts *cuts)
{
    for (int axis = 0; axis < 2 && !step_operand_of(step, "place"); axis++)
        cut_offer(cuts, axis, step_value(step, "ydim", axis), 1, 1.0);
}

const KernelRecord kernel_pool_rows = {.cut = {offer_pool, take_pool, window_work, false},
                                       .units = {offer_planes, take_pool},
                                       .operations = window_operations,
                                       .follow = window_follow,
                                       .columns = 1,
                                       .shared = {{"xdim", "ydim", 0, 0}, {"xdim", "ydim", 1, 1}}};
const KernelRecord kernel_pool = {.cut = {offer_pool, take_pool, window_work, false},
                                  .units = {offer_planes, take_pool},
                                  .operations = window_operations,
                                  .shared = {{"xdim", "ydim", 0, 0}, {"xdim", "ydim", 1, 1}}};
const KernelRecord kernel_pool_wide = {.units = {offer_planes, take_pool},
                                       .operations = window_operations,
                                       .shared = {{"xdim", "ydim", 0, 0}, {"xdim", "ydim", 1, 1}}};
