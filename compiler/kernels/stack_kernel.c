/* stack_kernel.c - batched matmuls of two computed matrices, and attention, which is two of them. */
#include "kernels/conv_cost.h"
#include "kernels/record.h"
#include "kernels/tiles.h"
#include "program/operand.h"
#include "support/int.h"

#include <math.h>

/* The axis of rows in the result of a batched matmul: axes of the stack, rows, columns. */
static int rows_axis(const Step *step)
{
    int rank;

    step_extents_of(step, "ydim", &rank);
    return rank - 2;
}

static double stack_count(const Step *step)
{
    double n = 1.0;

    for (int i = 0; i < rows_axis(step); i++)
        n *= (double)step_value(step, "ydim", i);
    return n;
}

static void offer_matmul(const Step *step, Cuts *cuts)
{
    int rows = rows_axis(step), axis = 0;

    while (axis < rows && step_value(step, "ydim", axis) == 1)
        axis++;
    if (axis < rows)
        cut_offer(cuts, axis, step_extent(step, "ydim", axis), 1, 1.0);
    if (stack_count(step) == 1.0)
        cut_offer(cuts, rows, step_extent(step, "ydim", rows), 2, 1.0);
}

/* Takes places along an axis of a stack; an operand that is the same for all places stays. */
static void cut_stack(Step *slice, const UnitRange *range, const char *operand)
{
    Operand *x = step_operand_of(slice, operand);

    slice_move_named(slice, range, operand, x->stride[range->axis]);
    x->dim[range->axis] = range->count;
}

/* Takes a slice. Operand `first` has the rows of the result, the others only the stack. Pitches of the expression's
 * operands are those of the stack's axes, then that of the rows. */
static void take_stack(Step *slice, const UnitRange *range, const char *first, const char *second, const char *third)
{
    int rows = rows_axis(slice);

    cut_stack(slice, range, "y");
    cut_stack(slice, range, first);
    if (range->axis < rows)
        cut_stack(slice, range, second);
    if (range->axis < rows && third)
        cut_stack(slice, range, third);
    for (int k = slice->nparam; k < slice->noperand; k++)
        slice_move(slice, range, k, step_extent(slice, "pitch", (k - slice->nparam) * (rows + 1) + range->axis));
}

static void take_matmul(Step *slice, const UnitRange *range)
{
    take_stack(slice, range, "a", "b", NULL);
}

static void take_attention(Step *slice, const UnitRange *range)
{
    take_stack(slice, range, "q", "k", "v");
}

static double work_matmul(const Step *step)
{
    return step_product(step, "ydim") * (double)step_value(step, "adim", rows_axis(step) + 1) / 20.0;
}

static double work_attention(const Step *step)
{
    int    rows = rows_axis(step);
    double depth = (double)step_value(step, "qdim", rows + 1), width = (double)step_value(step, "ydim", rows + 1);

    double queries = stack_count(step) * (double)step_value(step, "ydim", rows),
           keys = (double)step_value(step, "kdim", rows + 1);

    return queries * keys * (depth + width + 30.0) / 20.0;
}

static double operations_matmul(const Core *core, const Step *step)
{
    int    rows = rows_axis(step);
    double results = (double)step_value(step, "ydim", rows) * (double)step_value(step, "ydim", rows + 1);

    return 1.2 * step_product(step, "ydim") / fmax(results, 1.0) *
           cost_blocks(core, 1, step_value(step, "ydim", rows), step_value(step, "ydim", rows + 1), 2,
                       (double)step_value(step, "adim", rows + 1));
}

/* Vector operations of attention: each query times all keys, and the softmax. */
static double operations_attention(const Core *core, const Step *step)
{
    int    rows = rows_axis(step);
    double width = (double)step_value(step, "ydim", rows + 1), depth = (double)step_value(step, "qdim", rows + 1);

    return step_product(step, "ydim") / fmax(width, 1.0) * (double)step_value(step, "kdim", rows + 1) *
           (depth + width + 30.0) * 2.4 / core->lanes;
}

/* Smaller scratch of scores: fewer queries at a time, so keys and values are read more often. */
static void small_scratch_of_scores(Program *program, Step *step)
{
    enum { FEW_QUERIES = 6 };
    const Operand *k = &step->operand[3];
    const Extent  *all = &k->dim[k->rank - 1];
    int64_t        keys, block, elements, few = FEW_QUERIES; /* keys processed together: some, or all */
    Operand       *scores = &step->operand[1];

    if (!step_constants(step, "part", 1, &keys) || (!keys && !extent_is_const(*all)) ||
        !step_constants(step, "block", 1, &block) || block <= few)
        return;
    keys = keys ? keys : all->max;
    tiles_set(step, "block", &few, 1);
    elements = scores->dim[0].max - (block - few) * int_round_up(keys, 16);
    tiles_set_scratch(program, scores, 0, elements, elements);
}

const KernelRecord kernel_matmul = {
    .cut = {offer_matmul, take_matmul, work_matmul, false},
    .operations = operations_matmul,
    .shared = {{"ydim", "adim", -2, -2}, {"ydim", "bdim", -1, -1}, {"adim", "bdim", -1, -2}, {"ydim", "adim", 0, 0}}};
const KernelRecord kernel_attention = {.cut = {offer_matmul, take_attention, work_attention, false},
                                       .operations = operations_attention,
                                       .tiles = {.small_scratch = small_scratch_of_scores},
                                       .shared = {{"ydim", "qdim", -2, -2},
                                                  {"ydim", "vdim", -1, -1},
                                                  {"qdim", "kdim", -1, -2},
                                                  {"kdim", "vdim", -1, -2},
                                                  {"ydim", "qdim", 0, 0}}};
/* Units of one result: places of the stack, rows, columns. */
static void offer_results(const Step *step, Cuts *cuts)
{
    for (int axis = 0; axis < rows_axis(step) + 2; axis++)
        cut_offer(cuts, axis, step_extent(step, "ydim", axis), 1, 1.0);
}

static void take_result(Step *slice, const UnitRange *range)
{
    int rows = rows_axis(slice), axis = range->axis;

    cut_stack(slice, range, "y");
    if (axis <= rows)
        cut_stack(slice, range, "a");
    if (axis != rows)
        cut_stack(slice, range, "b");
    if (axis == rows && step_operand_of(slice, "azero"))
        slice_move_named(slice, range, "azero", step_extent(slice, "azstep", 0));
    if (axis == rows + 1 && step_operand_of(slice, "bzero"))
        slice_move_named(slice, range, "bzero", step_extent(slice, "bzstep", 0));
}

const KernelRecord kernel_matmul_wide = {
    .units = {offer_results, take_result},
    .shared = {{"ydim", "adim", -2, -2}, {"ydim", "bdim", -1, -1}, {"adim", "bdim", -1, -2}, {"ydim", "adim", 0, 0}}};
