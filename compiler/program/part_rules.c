/* part_rules.c - one rule for each family of kernels, whose arguments it knows by name: a cut along an axis of the
 * result moves the pointers and shortens the extents. */
#include "program/part_rules.h"
#include "program/operand.h"
#include "support/int.h"

#include <string.h>

/* -------------------------------------------------------------------------------------------------------- arguments */

static int64_t value(const Step *step, const char *name, int index)
{
    int count;

    return step_extents_of(step, name, &count)[index].max;
}

/* Operands and arguments were copied for this part: see step_part. */
static void set(Step *part, const char *name, int index, int64_t to)
{
    int count;

    step_extents_of(part, name, &count)[index] = extent_const(to);
}

static int pointer(const Step *step, const char *name)
{
    int at = 0;

    for (int i = 0; i < step->kernel->nparam; i++) {
        const Param *param = &step->kernel->param[i];

        if (param->kind != PARAM_READS && param->kind != PARAM_WRITES)
            continue;
        if (!strcmp(param->name, name))
            return at;
        at++;
    }
    return -1;
}

void part_shift(Step *part, int operand, int64_t elements)
{
    if (operand >= 0 && part->operand[operand].buffer >= 0)
        part->operand[operand].offset.max += elements;
}

/* Operand k of the expression moves by `elements[k]` of the kernel's own count of places. */
static void shift_expression(Step *part, const char *name, int64_t places)
{
    for (int k = part->nparam; k < part->noperand; k++)
        part_shift(part, k, places * value(part, name, k - part->nparam));
}

/* Elements between neighbours along the innermost axis, as the expression reads operand k. */
static int64_t inner_stride(const Step *step, int k)
{
    for (int i = 0; step->expr && i < step->expr->nnode; i++)
        if (step->expr->node[i].op == SCALAR_LOAD && step->expr->node[i].operand == k)
            return step->expr->node[i].stride;
    return 0;
}

static void offer(Cuts *cuts, int axis, int64_t units, int64_t grain, double weight)
{
    if (units > grain && cuts->count < MAX_CUTS)
        cuts->cut[cuts->count++] = (Cut){axis, units, grain, weight, false};
}

/* The same, where each unit has weights of its own. */
static void offer_channels(Cuts *cuts, int axis, int64_t units, int64_t grain, double weight)
{
    int before = cuts->count;

    offer(cuts, axis, units, grain, weight);
    if (cuts->count > before)
        cuts->cut[before].weights = true;
}

static double product(const Step *step, const char *name)
{
    int           count;
    const Extent *list = step_extents_of(step, name, &count);
    double        n = 1.0;

    for (int i = 0; i < count; i++)
        n *= (double)list[i].max;
    return n;
}

/* ---------------------------------------------------------------------------------------------- elementwise, copies */

static void offer_map(const Step *step, Cuts *cuts)
{
    int64_t rank = value(step, "rank", 0);

    for (int a = 0; a < rank; a++)
        offer(cuts, a, value(step, "dim", a), a == rank - 1 ? 64 : 1, a == rank - 1 ? 1.1 : 1.0);
}

static void take_map(Step *part, int axis, int64_t lo, int64_t hi)
{
    int64_t rank = value(part, "rank", 0);

    set(part, "dim", axis, hi - lo);
    part_shift(part, pointer(part, "y"), lo * value(part, "ystride", axis));
    part_shift(part, pointer(part, "x"), pointer(part, "x") < 0 ? 0 : lo * value(part, "xstride", axis));
    for (int k = part->nparam; k < part->noperand; k++) {
        int64_t at = (k - part->nparam) * rank + axis;

        part_shift(part, k,
                   lo * (axis == rank - 1 ? inner_stride(part, k - part->nparam) : value(part, "xstride", (int)at)));
    }
}

/* Vectors take a tenth of what elements do one by one. */
static double work_map(const Step *step)
{
    double each = 0.5 + 0.25 * (step->expr ? step->expr->nnode : 0);

    return product(step, "dim") * (strncmp(step->kernel->name, "map_vf_", 7) ? each : 0.1 * each);
}

/* ----------------------------------------------------------------------------------------- convolutions and pooling */

/* The first axis of the result, after the images, with more than one place: {batch, channels, depth, height, width}. */
static int first_space(const Step *step)
{
    int axis = 2;

    while (axis < 4 && value(step, "ydim", axis) == 1)
        axis++;
    return axis;
}

static double places(const Step *step)
{
    return product(step, "ydim");
}

/* Rows of the result; wide rows of a matrix product in multiples of every tile's height. */
static void offer_space(const Step *step, Cuts *cuts, int64_t grain, double weight)
{
    int axis = first_space(step);

    if (value(step, "ydim", 0) > 1)
        offer(cuts, 0, value(step, "ydim", 0), 1, 1.0);
    else
        offer(cuts, axis, value(step, "ydim", axis), axis == 4 && grain == 1 ? 2 : grain, weight);
}

/* Cutting along rows reads the weights once for each part; cutting along channels moves the images between threads,
 * since what comes before and after is mostly cut along rows. */
static void offer_conv(const Step *step, Cuts *cuts)
{
    double groups = (double)value(step, "groups", 0);
    double weights = product(step, "kernel") * (double)(value(step, "xdim", 1) * value(step, "ydim", 1)) / groups;
    double images = product(step, "xdim") + product(step, "ydim");

    offer_space(step, cuts, 1, weights > images ? 1.15 : 1.0);
    if (value(step, "groups", 0) == 1)
        offer_channels(cuts, 1, value(step, "ydim", 1), 32, weights > images ? 1.0 : 1.15);
}

/* As the convolutions before and after are, which take six channels to one: weights have more channels than images have
 * places. */
static void offer_depthwise(const Step *step, Cuts *cuts)
{
    bool deep = (double)value(step, "ydim", 1) > 7.0 * places(step) / (double)value(step, "ydim", 1);

    offer_space(step, cuts, 1, deep ? 1.15 : 1.0);
    offer(cuts, 1, value(step, "ydim", 1), 16, deep ? 1.0 : 1.15);
}

static void offer_rows(const Step *step, Cuts *cuts)
{
    offer_space(step, cuts, 1, 1.0);
}

/* Cutting along rows reads the weights once for each part, from far where one core's cache does not hold them; cutting
 * along channels transforms the input that often. */
static void offer_winograd(const Step *step, Cuts *cuts)
{
    enum { NEAR = 256 * 1024 }; /* weights */
    int64_t m = value(step, "m", 0), outputs = value(step, "ydim", 1),
            weights = (m + 2) * (m + 2) * value(step, "xdim", 1) * outputs;
    double tiles = places(step) / (double)(outputs * m * m);

    offer_space(step, cuts, m, 1.0 + 12.0 / tiles + (weights > NEAR ? 0.3 : 0.0));
    if (step_argument(step, "apart"))
        offer_channels(cuts, 1, outputs, 32, 1.0 + 40.0 / (double)outputs);
}

static void offer_pool(const Step *step, Cuts *cuts)
{
    if (pointer(step, "place") >= 0 && step->operand[pointer(step, "place")].buffer >= 0)
        return; /* places count the whole input */
    offer_space(step, cuts, 1, 1.0);
    offer(cuts, 1, value(step, "ydim", 1), value(step, "ystride", 1) == 1 ? 16 : 1, 1.3);
}

static void take_images(Step *part, int64_t lo, int64_t hi)
{
    int64_t pixels = value(part, "ydim", 2) * value(part, "ydim", 3) * value(part, "ydim", 4);

    set(part, "xdim", 0, hi - lo);
    set(part, "ydim", 0, hi - lo);
    part_shift(part, pointer(part, "x"), lo * value(part, "xstride", 0));
    part_shift(part, pointer(part, "y"), lo * value(part, "ystride", 0));
    if (step_argument(part, "pitch"))
        shift_expression(part, "pitch", lo * pixels);
}

/* The input begins at the first row that the part reads and ends behind the last: so its edges are those of the
 * whole. */
static void take_space(Step *part, int axis, int64_t lo, int64_t hi)
{
    int     k = axis - 2;
    int64_t step = value(part, "stride", k), dilation = value(part, "dilation", k), taps = value(part, "kernel", k);
    int64_t pad = value(part, "pad", k);
    int64_t skip = int_max(lo * step - pad, 0), inner = 1;
    int64_t reach = (hi - 1) * step - pad + (taps - 1) * dilation + 1 - skip;

    skip = int_min(skip, value(part, "xdim", axis));
    set(part, "pad", k, pad - lo * step + skip);
    set(part, "xdim", axis, int_max(int_min(value(part, "xdim", axis) - skip, reach), 0));
    set(part, "ydim", axis, hi - lo);
    part_shift(part, pointer(part, "x"), skip * value(part, "xstride", axis));
    part_shift(part, pointer(part, "y"), lo * value(part, "ystride", axis));
    for (int a = axis + 1; a < 5; a++)
        inner *= value(part, "ydim", a);
    shift_expression(part, "pitch", lo * inner);
}

/* Channels lo (a multiple of 32) to hi - 1: whole panels of weights. */
static void take_channels(Step *part, int64_t lo, int64_t hi, int64_t weights)
{
    set(part, "ydim", 1, hi - lo);
    part_shift(part, pointer(part, "w"), lo * weights);
    part_shift(part, pointer(part, "bias"), lo);
    part_shift(part, pointer(part, "y"), lo * value(part, "ystride", 1));
    for (int k = part->nparam; k < part->noperand; k++)
        part_shift(part, k, lo * inner_stride(part, k - part->nparam));
}

/* A part of the weights counts as few, but comes from as far away as the whole, and rows in blocks would read it again
 * and again. */
static void keep_choices(Step *part)
{
    double weights = product(part, "kernel") * (double)(value(part, "xdim", 1) * value(part, "ydim", 1));

    if (value(part, "tile", 1) == 0 && weights > 160 * 1024)
        set(part, "tile", 1, value(part, "ydim", 3));
    if (value(part, "tile", 2) == 0 && weights >= 40 * 1024)
        set(part, "tile", 2, -2);
}

static void take_conv(Step *part, int axis, int64_t lo, int64_t hi)
{
    if (axis == 1 && step_argument(part, "tile"))
        keep_choices(part);
    if (axis == 0)
        take_images(part, lo, hi);
    else if (axis == 1)
        take_channels(part, lo, hi, (int64_t)product(part, "kernel") * value(part, "xdim", 1));
    else
        take_space(part, axis, lo, hi);
}

/* Weights of bytes lie four inputs side by side; sums of weights and zero points of x as biases do. */
static void take_conv_bytes(Step *part, int axis, int64_t lo, int64_t hi)
{
    if (axis != 1) {
        take_conv(part, axis, lo, hi);
        return;
    }
    take_channels(part, lo, hi, (int64_t)product(part, "kernel") * int_round_up(value(part, "xdim", 1), 4));
    part_shift(part, pointer(part, "sums"), lo);
}

/* Images, or what is nearest to rows. */
static void take_rows(Step *part, int axis, int64_t lo, int64_t hi)
{
    if (axis == 0)
        take_images(part, lo, hi);
    else
        take_space(part, axis, lo, hi);
}

static void take_depthwise(Step *part, int axis, int64_t lo, int64_t hi)
{
    if (axis != 1) {
        take_rows(part, axis, lo, hi);
        return;
    }
    take_channels(part, lo, hi, 1);
    set(part, "xdim", 1, hi - lo);
    part_shift(part, pointer(part, "x"), lo * value(part, "xstride", 1));
}

static void take_winograd(Step *part, int axis, int64_t lo, int64_t hi)
{
    int64_t m = value(part, "m", 0), tiles;

    if (axis == 1) {
        take_channels(part, lo, hi, 0);
        part_shift(part, pointer(part, "u"), lo * value(part, "xdim", 1));
        return;
    }
    take_rows(part, axis, lo, hi);
    tiles = value(part, "ydim", 0) * int_ceil_div(value(part, "ydim", 3), m) * int_ceil_div(value(part, "ydim", 4), m);
    set(part, "group", 0, int_min(value(part, "group", 0), tiles));
}

static void take_pool(Step *part, int axis, int64_t lo, int64_t hi)
{
    if (axis > 1) {
        take_space(part, axis, lo, hi);
        return;
    }
    set(part, "xdim", axis, hi - lo);
    set(part, "ydim", axis, hi - lo);
    part_shift(part, pointer(part, "x"), lo * value(part, "xstride", axis));
    part_shift(part, pointer(part, "y"), lo * value(part, "ystride", axis));
}

/* Of a kernel that makes so many products and reads so many weights a nanosecond: few pixels wait for the weights. */
static double work_at(const Step *step, double products, double reads)
{
    double weights = product(step, "kernel") * (double)(value(step, "xdim", 1) * value(step, "ydim", 1)) /
                     (double)value(step, "groups", 0);
    double pixels = places(step) / (double)value(step, "ydim", 1);

    return weights * (pixels / products > 1.0 / reads ? pixels / products : 1.0 / reads);
}

static double work_conv(const Step *step)
{
    return work_at(step, 25.0, 5.0);
}

/* One group, and all lanes at work whatever the outputs are. */
static double work_dot(const Step *step)
{
    return places(step) * product(step, "kernel") * (double)value(step, "xdim", 1) / 25.0;
}

static double work_bytes(const Step *step)
{
    return work_at(step, 60.0, 13.0);
}

static double work_winograd(const Step *step)
{
    return places(step) * (double)value(step, "xdim", 1) * 9.0 / 60.0;
}

static double work_window(const Step *step)
{
    return places(step) * product(step, "kernel") / 16.0;
}

/* --------------------------------------------------------------------------------------------------------- products */

/* Axes of the result of a stack of products: those of the stack, then rows, then columns. */
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
        n *= (double)value(step, "ydim", i);
    return n;
}

static void offer_matmul(const Step *step, Cuts *cuts)
{
    int rows = rows_axis(step), axis = 0;

    while (axis < rows && value(step, "ydim", axis) == 1)
        axis++;
    if (axis < rows)
        offer(cuts, axis, value(step, "ydim", axis), 1, 1.0);
    if (stack_count(step) == 1.0)
        offer(cuts, rows, value(step, "ydim", rows), 2, 1.0);
}

/* Places lo to hi - 1 along an axis of a stack, where the operand is one of all places. */
static void cut_stack(Step *part, int operand, int axis, int64_t lo, int64_t hi)
{
    Operand *x = &part->operand[operand];

    part_shift(part, operand, lo * x->stride[axis].max);
    x->dim[axis] = extent_const(hi - lo);
}

/* The factor `first` has the rows of the result; the others only the stack. The pitches of operands of the expression
 * are those of the stack's axes and then that of the rows. */
static void take_stack(Step *part, int axis, int64_t lo, int64_t hi, const char *first, const char *second,
                       const char *third)
{
    int rows = rows_axis(part);

    cut_stack(part, pointer(part, "y"), axis, lo, hi);
    cut_stack(part, pointer(part, first), axis, lo, hi);
    if (axis < rows)
        cut_stack(part, pointer(part, second), axis, lo, hi);
    if (axis < rows && third)
        cut_stack(part, pointer(part, third), axis, lo, hi);
    for (int k = part->nparam; k < part->noperand; k++)
        part_shift(part, k, lo * value(part, "pitch", (k - part->nparam) * (rows + 1) + axis));
}

static void take_matmul(Step *part, int axis, int64_t lo, int64_t hi)
{
    take_stack(part, axis, lo, hi, "a", "b", NULL);
}

static void take_attention(Step *part, int axis, int64_t lo, int64_t hi)
{
    take_stack(part, axis, lo, hi, "q", "k", "v");
}

static double work_matmul(const Step *step)
{
    return product(step, "ydim") * (double)value(step, "adim", rows_axis(step) + 1) / 20.0;
}

static double work_attention(const Step *step)
{
    int    rows = rows_axis(step);
    double depth = (double)value(step, "qdim", rows + 1), width = (double)value(step, "ydim", rows + 1);

    double queries = stack_count(step) * (double)value(step, "ydim", rows),
           keys = (double)value(step, "kdim", rows + 1);

    return queries * keys * (depth + width + 30.0) / 20.0;
}

/* ---------------------------------------------------------------------------------- reductions over kept axes, rows */

static void offer_kept(const Step *step, Cuts *cuts)
{
    int64_t rank = value(step, "krank", 0);

    for (int a = 0; a < rank; a++)
        offer(cuts, a, value(step, "kdim", a), a == rank - 1 ? 16 : 1, a == rank - 1 ? 1.1 : 1.0);
}

static void take_kept(Step *part, int axis, int64_t lo, int64_t hi)
{
    const char *y = step_argument(part, "ky") ? "ky" : "kystride", *x = step_argument(part, "kx") ? "kx" : "kxstride";

    set(part, "kdim", axis, hi - lo);
    part_shift(part, pointer(part, "x"), lo * value(part, x, axis));
    for (int k = 0; k < part->nparam; k++)
        if (part->operand[k].access & OPERAND_WRITES)
            part_shift(part, k, lo * value(part, y, axis));
}

static double work_reduce(const Step *step)
{
    return product(step, "kdim") * product(step, "rdim") * 0.2;
}

static double work_softmax(const Step *step)
{
    return product(step, "kdim") * (double)value(step, "axis", 0) * 1.5;
}

static void offer_outer(const Step *step, Cuts *cuts)
{
    offer(cuts, 0, value(step, "outer", 0), 1, 1.0);
}

static void take_outer(Step *part, int axis, int64_t lo, int64_t hi)
{
    (void)axis;
    set(part, "outer", 0, hi - lo);
    part_shift(part, pointer(part, "y"), lo * value(part, "out", 0) * value(part, "inner", 0));
    part_shift(part, pointer(part, "x"), lo * value(part, "in", 0) * value(part, "inner", 0));
}

static double work_resample(const Step *step)
{
    return (double)(value(step, "outer", 0) * value(step, "out", 0)) *
           (double)(value(step, "inner", 0) * value(step, "taps", 0)) * 0.4;
}

/* Columns: each has weights, scales and zero points of its own. */
static void offer_nbits(const Step *step, Cuts *cuts)
{
    offer_channels(cuts, 0, value(step, "columns", 0), 16, 1.0);
}

static void take_nbits(Step *part, int axis, int64_t lo, int64_t hi)
{
    int64_t block = value(part, "block", 0), bits = value(part, "bits", 0),
            blocks = int_ceil_div(value(part, "k", 0), block);

    (void)axis;
    set(part, "columns", 0, hi - lo);
    part_shift(part, pointer(part, "y"), lo);
    part_shift(part, pointer(part, "bias"), lo);
    part_shift(part, pointer(part, "w"), lo * blocks * (block * bits / 8));
    part_shift(part, pointer(part, "scale"), lo * blocks);
    part_shift(part, pointer(part, "zero"), lo * blocks);
    part_shift(part, pointer(part, "packed"), lo * int_ceil_div(blocks * bits, 8));
}

/* Every four rows decode the weights anew. */
static double work_nbits(const Step *step)
{
    double  weights = (double)value(step, "columns", 0) * (double)value(step, "k", 0);
    int64_t rows = value(step, "rows", 0);

    return weights * (0.5 * (double)int_ceil_div(rows, 4) + 0.1 * (double)rows);
}

/* -------------------------------------------------------------------------------------------------------- the table */

static const PartRule rules[] = {
    {"conv_f32", offer_conv, take_conv, work_conv, true},
    {"conv_dot_f32", offer_rows, take_rows, work_dot, false},
    {"conv_q_", offer_conv, take_conv_bytes, work_bytes, true},
    {"depthwise_q_", offer_rows, take_rows, work_window, false},
    {"winograd_q_", offer_winograd, take_winograd, work_winograd, false},
    {"winograd_f32", offer_winograd, take_winograd, work_winograd, false},
    {"depthwise_f32", offer_depthwise, take_depthwise, work_window, false},
    {"pool_f32", offer_pool, take_pool, work_window, false},
    {"pool_planes_f32", offer_pool, take_pool, work_window, false},
    {"maxpool_", offer_pool, take_pool, work_window, false},
    {"matmul_f32", offer_matmul, take_matmul, work_matmul, false},
    {"matmul_nbits_f32", offer_nbits, take_nbits, work_nbits, false},
    {"attention_f32", offer_matmul, take_attention, work_attention, false},
    {"map_", offer_map, take_map, work_map, false},
    {"copy_", offer_map, take_map, work_map, false},
    {"reduce_", offer_kept, take_kept, work_reduce, false},
    {"softmax_f32", offer_kept, take_kept, work_softmax, false},
    {"lrn_f32", offer_kept, take_kept, work_softmax, false},
    {"moments_f32", offer_kept, take_kept, work_reduce, false},
    {"resample_f32", offer_outer, take_outer, work_resample, false},
};

const PartRule *part_rule(const Step *step)
{
    for (size_t i = 0; step->kind == STEP_KERNEL && !step->kernel->fails && i < sizeof rules / sizeof *rules; i++) {
        size_t length = strlen(rules[i].kernel);

        if (!strncmp(step->kernel->name, rules[i].kernel, length) &&
            (rules[i].kernel[length - 1] == '_' || !step->kernel->name[length]))
            return &rules[i];
    }
    return NULL;
}
