/* twin_limits.c - which steps the device's own kernels can count. A tensor may have any number of elements: their
 * places are counted in 64 bits, and blocks go through tiles of any number in a grid that is small. But places along
 * one axis of a convolution, the terms of its sums and ranks along an axis are counted in 32:
 *
 *     MatMul of [2200000000][2] by a constant [2][1] is a convolution of one tap, whose images are 2200000000 wide */
#include "device/device.h"
#include "kernels/record.h"
#include "support/int.h"

#include <math.h>

/* Whether an axis of the image, and its windows from the first tap of the first to the last tap of the last, pads
 * included, fit 32 bits. */
static bool holds_axis(const Step *step, int axis)
{
    double stride = (double)step_value(step, "stride", axis), dilation = (double)step_value(step, "dilation", axis),
           taps = (double)step_value(step, "kernel", axis), results = (double)step_value(step, "ydim", 2 + axis),
           reach = fmax(results - 1.0, 0.0) * stride + (taps - 1.0) * dilation + 1.0,
           places = (double)step_value(step, "xdim", 2 + axis);

    return fmax(reach, places) <= INT32_MAX && step_value(step, "pad", axis) <= INT32_MAX;
}

/* Whether the terms of a sum do; of bytes they come by fours. */
static bool holds_terms(const Step *step)
{
    int64_t groups = int_max(step_value(step, "groups", 0), 1),
            inputs = int_round_up(step_value(step, "xdim", 1) / groups, 4);

    return (double)inputs * step_product(step, "kernel") <= UINT32_MAX;
}

bool twin_holds(const Step *step)
{
    if (step_is_of(step, "topk"))
        return step_value(step, "n", 0) <= INT32_MAX;
    if (!step_is_krsc(step) && !step_is_of(step, "conv_q"))
        return true;
    return holds_axis(step, 0) && holds_axis(step, 1) && holds_axis(step, 2) && holds_terms(step);
}
