/* nbits_kernel.c - products with weights of a few bits. */
#include "kernels/record.h"
#include "support/int.h"

/* Cuts along columns, each of which has weights, scales and zero points of its own. */
static void offer_nbits(const Step *step, Cuts *cuts)
{
    cut_offer_channels(cuts, 0, step_extent(step, "columns", 0), 16, 1.0);
}

static void take_nbits(Step *slice, const UnitRange *range)
{
    int64_t block = step_value(slice, "block", 0), bits = step_value(slice, "bits", 0),
            blocks = int_ceil_div(step_value(slice, "k", 0), block);

    slice_set(slice, "columns", 0, range->count);
    slice_move_named(slice, range, "y", extent_const(1));
    slice_move_named(slice, range, "bias", extent_const(1));
    slice_move_named(slice, range, "w", extent_const(blocks * (block * bits / 8)));
    slice_move_named(slice, range, "scale", extent_const(blocks));
    slice_move_named(slice, range, "zero", extent_const(blocks));
    slice_move_named(slice, range, "packed", extent_const(int_ceil_div(blocks * bits, 8)));
}

/* Units of one result. */
static void offer_results(const Step *step, Cuts *cuts)
{
    cut_offer(cuts, 1, step_extent(step, "rows", 0), 1, 1.0);
    cut_offer(cuts, 0, step_extent(step, "columns", 0), 1, 1.0);
}

static void take_results(Step *slice, const UnitRange *range)
{
    if (range->axis == 0) {
        take_nbits(slice, range);
        return;
    }
    slice_set(slice, "rows", 0, range->count);
    slice_move_named(slice, range, "y", step_extent(slice, "ystride", 0));
    slice_move_named(slice, range, "x", step_extent(slice, "k", 0));
}

/* The weights are decoded once for every four rows. */
static double work_nbits(const Step *step)
{
    double  weights = (double)step_value(step, "columns", 0) * (double)step_value(step, "k", 0);
    int64_t rows = step_value(step, "rows", 0);

    return weights * (0.5 * (double)int_ceil_div(rows, 4) + 0.1 * (double)rows);
}

static double work_blocks(const Step *step)
{
    return (double)step_value(step, "rows", 0) * (double)step_value(step, "k", 0) * 0.3;
}

const KernelRecord kernel_blocks = {.cut = {cut_offer_first_line, cut_take_line, work_blocks, false},
                                    .line = {{"rows", "x=k, y=row"}},
                                    .touched = {{"x", "rows k"}, {"y", "rows row"}}};
const KernelRecord kernel_nbits = {.cut = {offer_nbits, take_nbits, work_nbits, false},
                                   .units = {offer_results, take_results}};
