/* resample_kernel.c - images resized along one axis by a table of places and weights. */
#include "kernels/table.h"

static void offer_outer(const Step *step, Cuts *cuts)
{
    cut_offer(cuts, 0, step_value(step, "outer", 0), 1, 1.0);
}

static void take_outer(Step *part, int axis, int64_t lo, int64_t hi)
{
    (void)axis;
    part_set(part, "outer", 0, hi - lo);
    part_shift_named(part, "y", lo * step_value(part, "out", 0) * step_value(part, "inner", 0));
    part_shift_named(part, "x", lo * step_value(part, "in", 0) * step_value(part, "inner", 0));
}

static double work_resample(const Step *step)
{
    return (double)(step_value(step, "outer", 0) * step_value(step, "out", 0)) *
           (double)(step_value(step, "inner", 0) * step_value(step, "taps", 0)) * 0.4;
}

const KernelRecord kernel_resample = {.cut = {offer_outer, take_outer, work_resample},
                                      .follow = table_follow,
                                      .touched = {{"y", "outer out inner"}, {"x", "outer in inner"}}};

const KernelRecord kernel_resample_wide = {.follow = table_follow,
                                           .touched = {{"y", "outer out inner"}, {"x", "outer in inner"}}};
