/* pool_kernel.c - averages and maxima of windows. */
#include "kernels/window_kernel.h"

static void offer_pool(const Step *step, Cuts *cuts)
{
    if (step_operand_of(step, "place"))
        return; /* places count the whole input */
    window_offer(step, cuts, 1, 1.0);
    cut_offer(cuts, 1, step_extent(step, "ydim", 1), step_value(step, "ystride", 1) == 1 ? 16 : 1, 1.3);
}

static void take_pool(Step *slice, const UnitRange *range)
{
    if (range->axis > 1)
        window_take_space(slice, range);
    else
        window_take_planes(slice, range);
}

/* Units of one channel of one image: rows differ by their padding. */
static void offer_planes(const Step *step, Cuts *cuts)
{
    for (int axis = 0; axis < 2 && !step_operand_of(step, "place"); axis++)
        cut_offer(cuts, axis, step_extent(step, "ydim", axis), 1, 1.0);
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
