/* winograd_kernel.c - convolutions in the domain of Winograd's transform. */
#include "kernels/conv_cost.h"
#include "kernels/window.h"
#include "program/operand.h"
#include "support/int.h"

/* Cutting along rows reads the weights once for each part, from far where one core's cache does not hold them; cutting
 * along channels transforms the input that often. */
static void offer_winograd(const Step *step, Cuts *cuts)
{
    enum { NEAR = 256 * 1024 }; /* weights */
    int64_t m = step_value(step, "m", 0), outputs = step_value(step, "ydim", 1),
            weights = (m + 2) * (m + 2) * step_value(step, "xdim", 1) * outputs;
    double tiles = step_product(step, "ydim") / (double)(outputs * m * m);

    window_offer(step, cuts, m, 1.0 + 12.0 / tiles + (weights > NEAR ? 0.3 : 0.0));
    if (step_argument(step, "apart"))
        cut_offer_channels(cuts, 1, outputs, 32, 1.0 + 40.0 / (double)outputs);
}

static void take_winograd(Step *part, int axis, int64_t lo, int64_t hi)
{
    int64_t m = step_value(part, "m", 0), tiles;

    if (axis == 1) {
        window_take_channels(part, lo, hi, 0);
        part_shift_named(part, "u", lo * step_value(part, "xdim", 1));
        return;
    }
    window_take_rows(part, axis, lo, hi);
    tiles = step_value(part, "ydim", 0) * int_ceil_div(step_value(part, "ydim", 3), m) *
            int_ceil_div(step_value(part, "ydim", 4), m);
    part_set(part, "group", 0, int_min(step_value(part, "group", 0), tiles));
}

static double work_winograd(const Step *step)
{
    return step_product(step, "ydim") * (double)step_value(step, "xdim", 1) * 9.0 / 60.0;
}

static double time_winograd(const Core *core, const Step *step)
{
    ConvShape shape;

    return conv_shape_read(step, &shape)
               ? cost_winograd(core, &shape, step_value(step, "m", 0), step_value(step, "group", 0))
               : 0.0;
}

/* Of the largest extents. */
static double time_bytes(const Core *core, const Step *step)
{
    ConvShape shape;

    conv_shape_read(step, &shape);
    return cost_winograd_q(core, &shape, step_value(step, "m", 0), step_value(step, "group", 0));
}

const KernelRecord kernel_winograd = {
    .offer = offer_winograd, .take = take_winograd, .work = work_winograd, .time = time_winograd};

const KernelRecord kernel_winograd_bytes = {
    .offer = offer_winograd, .take = take_winograd, .work = work_winograd, .time = time_bytes};
