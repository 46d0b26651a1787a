/* map_kernel.c - elementwise expressions and copies from strides to strides. */
#include "kernels/record.h"
#include "program/safe_distance.h"
#include "program/operand.h"

static void offer_map(const Step *step, Cuts *cuts)
{
    int64_t rank = step_value(step, "rank", 0);

    for (int a = 0; a < rank; a++)
        cut_offer(cuts, a, step_value(step, "dim", a), a == rank - 1 ? 64 : 1, a == rank - 1 ? 1.1 : 1.0);
}

static void take_map(Step *slice, int axis, int64_t lo, int64_t hi)
{
    int64_t rank = step_value(slice, "rank", 0);

    slice_set(slice, "dim", axis, hi - lo);
    slice_shift_named(slice, "y", lo * step_value(slice, "ystride", axis));
    if (step_operand_of(slice, "x"))
        slice_shift_named(slice, "x", lo * step_value(slice, "xstride", axis));
    for (int k = slice->nparam; k < slice->noperand; k++) {
        int64_t at = (k - slice->nparam) * rank + axis;

        slice_shift(slice, k,
                    lo * (axis == rank - 1 ? step_inner_stride(slice, k - slice->nparam)
                                           : step_value(slice, "xstride", (int)at)));
    }
}

/* Units of one element. */
static void offer_elements(const Step *step, Cuts *cuts)
{
    for (int a = 0; a < step_value(step, "rank", 0); a++)
        cut_offer(cuts, a, step_value(step, "dim", a), 1, 1.0);
}

/* The work of an expression: vectors take a tenth of the time of single elements. */
static double work_map(const Step *step)
{
    double each = 0.5 + 0.25 * (step->expr ? step->expr->nnode : 0);

    return step_product(step, "dim") * (step->kernel->vector ? 0.1 * each : each);
}

/* Whether all operands of a copy or map are contiguous or repeated along one common axis. */
static bool moves_lines(const Step *step)
{
    const Operand *x = step->operand;

    for (int i = 0; i < x->rank; i++) {
        bool dense = x->dim[i].max > 1;

        for (int k = 0; k < step->noperand; k++)
            dense = dense && (extent_is(x[k].stride[i], 1) || extent_is(x[k].stride[i], 0));
        if (dense)
            return true;
    }
    return x->rank == 0;
}

/* Elements one by one. */
static double operations_map(const Core *core, const Step *step)
{
    (void)core;
    return moves_lines(step) ? 0.0 : 50.0 * step_results(step);
}

static double operations_copy(const Core *core, const Step *step)
{
    (void)core;
    return moves_lines(step) ? 0.0 : 6.0 * step_results(step);
}

/* y may follow x: a copy moves elements from strides to strides. */
static bool follow_copy(const Program *program, const Step *step, Follow *follow)
{
    const Arg *dim;
    int64_t    extent[DISTANCE_AXES], ystride[DISTANCE_AXES], xstride[DISTANCE_AXES];

    (void)program;
    dim = step_argument(step, "dim");
    if (dim->count > DISTANCE_AXES)
        return false;
    follow->to = &step->operand[0];
    follow->from = &step->operand[1];
    if (follow->from->dtype != follow->to->dtype || follow->from->buffer < 0 || !operand_is_static(follow->from) ||
        !operand_is_static(follow->to) || !step_constants(step, "dim", dim->count, extent) ||
        !step_constants(step, "ystride", dim->count, ystride) || !step_constants(step, "xstride", dim->count, xstride))
        return false;
    follow->distance = distance_of_copy(dim->count, extent, ystride, xstride);
    return follow->distance < INT64_MAX / 16;
}

const KernelRecord kernel_map = {.cut = {offer_map, take_map, work_map, false},
                                 .units = {offer_elements, take_map},
                                 .touched = {{"y", "dim:ystride"}}};
const KernelRecord kernel_map_vectors = {.cut = {offer_map, take_map, work_map, false},
                                         .units = {offer_elements, take_map},
                                         .operations = operations_map,
                                         .touched = {{"y", "dim:ystride"}}};
const KernelRecord kernel_copy = {.cut = {offer_map, take_map, work_map, false},
                                  .units = {offer_elements, take_map},
                                  .operations = operations_copy,
                                  .follow = follow_copy,
                                  .touched = {{"y", "dim:ystride"}, {"x", "dim:xstride"}}};
