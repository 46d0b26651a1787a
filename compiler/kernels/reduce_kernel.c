/* reduce_kernel.c - sums, maxima, softmax and normalisations along some axes, for each place of the others. */
#include "kernels/record.h"
#include "program/operand.h"

static void offer_kept(const Step *step, Cuts *cuts)
{
    cut_offer_axes(step, cuts, "krank", "kdim", 16);
}

static void take_kept(Step *slice, const UnitRange *range)
{
    const char *y = step_argument(slice, "ky") ? "ky" : "kystride", *x = step_argument(slice, "kx") ? "kx" : "kxstride";

    slice_set(slice, "kdim", range->axis, range->count);
    slice_move_named(slice, range, "x", step_extent(slice, x, range->axis));
    for (int k = 0; k < slice->nparam; k++)
        if (slice->operand[k].access & OPERAND_WRITES)
            slice_move(slice, range, k, step_extent(slice, y, range->axis));
}

/* Units of one place. */
static void offer_places(const Step *step, Cuts *cuts)
{
    cut_offer_axes(step, cuts, "krank", "kdim", 1);
}

static double work_reduce(const Step *step)
{
    return step_product(step, "kdim") * step_product(step, "rdim") * 0.2;
}

static double work_softmax(const Step *step)
{
    return step_product(step, "kdim") * (double)step_value(step, "axis", 0) * 1.5;
}

static double operations_reduce(const Core *core, const Step *step)
{
    return step_product(step, "kdim") * step_product(step, "rdim") * 4.0 / core->lanes;
}

static double operations_softmax(const Core *core, const Step *step)
{
    return step_product(step, "kdim") * (double)step_value(step, "axis", 0) * 20.0 / core->lanes;
}

const KernelRecord kernel_reduce = {.cut = {offer_kept, take_kept, work_reduce, false},
                                    .units = {offer_places, take_kept},
                                    .operations = operations_reduce,
                                    .touched = {{"y", "kdim:kystride"}, {"x", "kdim:kxstride rdim:rstride"}}};
const KernelRecord kernel_softmax = {.cut = {offer_kept, take_kept, work_softmax, false},
                                     .units = {offer_places, take_kept},
                                     .operations = operations_softmax,
                                     .touched = {{"y", "kdim:ky axis:sy"}, {"x", "kdim:kx axis:sx"}}};
const KernelRecord kernel_moments = {.cut = {offer_kept, take_kept, work_reduce, false},
                                     .units = {offer_places, take_kept},
                                     .operations = operations_softmax,
                                     .touched = {{"x", "kdim:kx rdim:rstride"}}};
