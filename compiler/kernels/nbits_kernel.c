/* nbits_kernel.c - products with weights of a few bits. */
#include "kernels/record.h"
#include "support/int.h"

/* Cuts along columns, each of which has weights, scales and zero points of its own. */
static void offer_nbits(const Step *step, Cuts *cuts)
{
    cut_offer_channels(cuts, 0, step_value(step, "columns", 0), 16, 1.0);
}

static void take_nbits(Step *slice, int axis, int64_t lo, int64_t hi)
{
    int64_t block = step_value(slice, "block", 0), bits = step_value(slice, "bits", 0),
            blocks = int_ceil_div(step_value(slice, "k", 0), block);

    (void)axis;
    slice_set(slice, "columns", 0, hi - lo);
    slice_shift_named(slice, "y", lo);
    slice_shift_named(slice, "bias", lo);
    slice_shift_named(slice, "w", lo * blocks * (block * bits / 8));
    slice_shift_named(slice, "scale", lo * blocks);
    slice_shift_named(slice, "zero", lo * blocks);
    slice_shift_named(slice, "packed", lo * int_ceil_div(blocks * bits, 8));
}

/* Units of one result. */
static void offer_results(const Step *step, Cuts *cuts)
{
    cut_offer(cuts, 1, step_value(step, "rows", 0), 1, 1.0);
    cut_offer(cuts, 0, step_value(step, "columns", 0), 1, 1.0);
}

static void take_results(Step *slice, int axis, int64_t lo, int64_t hi)
{
    if (axis == 0) {
        take_nbits(slice, axis, lo, hi);
        return;
    }
    slice_set(slice, "rows", 0, hi - lo);
    slice_shift_named(slice, "y", lo * step_value(slice, "ystride", 0));
    slice_shift_named(slice, "x", lo * step_value(slice, "k", 0));
}

/* The weights are decoded once for every four rows. */
static double work_nbits(const Step *step)
{
    double  weights = (double)step_value(step, "columns", 0) * (double)step_value(step, "k", 0);
    int64_t rows = step_value(step, "rows", 0);

    return weights * (0.5 * (double)int_ceil_div(rows, 4) + 0.1 * (double)rows);
}

const KernelRecord kernel_nbits = {.cut = {offer_nbits, take_nbits, work_nbits, false},
                                   .units = {offer_results, take_results}};
