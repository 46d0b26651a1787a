/* map_kernel.c - elementwise expressions and copies from strides to strides. */
#include "graph/extent_walk.h"
#include "kernels/record.h"
#include "program/safe_distance.h"
#include "program/operand.h"

static void offer_map(const Step *step, Cuts *cuts)
{
    cut_offer_axes(step, cuts, "rank", "dim", 64);
}

static void take_map(Step *slice, const UnitRange *range)
{
    int64_t rank = step_value(slice, "rank", 0);
    int     axis = range->axis;

    slice_set(slice, "dim", axis, range->count);
    slice_move_named(slice, range, "y", step_extent(slice, "ystride", axis));
    if (step_operand_of(slice, "x"))
        slice_move_named(slice, range, "x", step_extent(slice, "xstride", axis));
    for (int k = slice->nparam; k < slice->noperand; k++) {
        int64_t at = (k - slice->nparam) * rank + axis;

        slice_move(slice, range, k,
                   axis == rank - 1 ? extent_const(step_inner_stride(slice, k - slice->nparam))
                                    : step_extent(slice, "xstride", (int)at));
    }
}

/* Units of one element. */
static void offer_elements(const Step *step, Cuts *cuts)
{
    cut_offer_axes(step, cuts, "rank", "dim", 1);
}

/* The work of an expression: vectors take a tenth of the time of single elements. */
static double work_map(const Step *step)
{
    double each = 0.5 + 0.25 * (step->expr ? step->expr->nnode : 0);

    return step_product(step, "dim") * (step->kernel->vector ? 0.1 * each : each);
}

static double work_lookup(const Step *step)
{
    return 0.2 * step_product(step, "dim");
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

/* A vector takes some 40 operations for 4 bytes of each lane. */
static double operations_lookup(const Core *core, const Step *step)
{
    (void)core;
    return 10.0 * step_results(step);
}

/* The extents of a copy in a walk: first those of its axes, then the strides of y and of x. */
typedef struct CopyAxes {
    int    rank;
    Extent extent[3 * DISTANCE_AXES];
} CopyAxes;

/* Reads the axes. A run with fewer indices along the outermost axis does the same as one with more up to its last, so
 * that axis is as long as it can be. */
static bool read_axes(const Step *step, CopyAxes *axes)
{
    static const char *const list[] = {"dim", "ystride", "xstride"};
    int                      count, outer = 0;

    axes->rank = step_argument(step, "dim")->count;
    if (axes->rank > DISTANCE_AXES)
        return false;
    for (int i = 0; i < 3; i++) {
        const Extent *from = step_extents_of(step, list[i], &count);

        if (count != axes->rank)
            return false;
        for (int k = 0; k < count; k++)
            axes->extent[i * axes->rank + k] = from[k];
    }
    while (outer < axes->rank - 1 && extent_is(axes->extent[outer], 1))
        outer++;
    axes->extent[outer] = extent_const(axes->extent[outer].max);
    return true;
}

/* The greatest safe distance of all sizes that a run may bring. */
static int64_t distance_at_bounds(const Program *program, const CopyAxes *axes)
{
    enum { MOST_SIZES = 8192, MOST_ROWS = 1 << 20 };
    int64_t value[3 * DISTANCE_AXES], *ystride = value + axes->rank, *xstride = ystride + axes->rank, sizes = 1,
                                      greatest = 0;
    ExtentWalk walk;

    if (!extent_walk_begin(&walk, program->model, program->arena, axes->extent, 3 * axes->rank, MOST_SIZES))
        return INT64_MAX;
    sizes = extent_walk_count(&walk);
    while (extent_walk_next(&walk)) {
        int64_t distance = 0;
        bool    is_empty = false;

        for (int i = 0; i < 3 * axes->rank; i++)
            value[i] = extent_walk_value(&walk, axes->extent[i]);
        for (int i = 0; i < axes->rank; i++)
            is_empty = is_empty || value[i] < 1;
        if (!is_empty)
            distance = distance_of_copy(axes->rank, value, ystride, xstride, sizes > 1 ? MOST_ROWS / sizes : 0);
        greatest = distance > greatest ? distance : greatest;
    }
    return greatest;
}

/* y may follow x: a copy moves elements from strides to strides. */
static bool follow_copy(const Program *program, const Step *step, Follow *follow)
{
    ArenaMark mark = arena_mark(program->arena);
    CopyAxes  axes;

    follow->to = &step->operand[0];
    follow->from = &step->operand[1];
    if (follow->from->dtype != follow->to->dtype || follow->from->buffer < 0 || !read_axes(step, &axes))
        return false;
    follow->distance = distance_at_bounds(program, &axes);
    arena_release(program->arena, mark);
    return follow->distance < INT64_MAX / 16;
}

const KernelRecord kernel_map = {.cut = {offer_map, take_map, work_map, false},
                                 .units = {offer_elements, take_map},
                                 .touched = {{"y", "dim:ystride"}}};
const KernelRecord kernel_map_vectors = {.cut = {offer_map, take_map, work_map, false},
                                         .units = {offer_elements, take_map},
                                         .operations = operations_map,
                                         .touched = {{"y", "dim:ystride"}}};
const KernelRecord kernel_lookup = {.cut = {offer_map, take_map, work_lookup, false},
                                    .units = {offer_elements, take_map},
                                    .operations = operations_lookup,
                                    .touched = {{"y", "dim:ystride"}, {"x", "dim:xstride"}}};
const KernelRecord kernel_copy = {.cut = {offer_map, take_map, work_map, false},
                                  .units = {offer_elements, take_map},
                                  .operations = operations_copy,
                                  .follow = follow_copy,
                                  .touched = {{"y", "dim:ystride"}, {"x", "dim:xstride"}}};
