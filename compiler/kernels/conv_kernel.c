/* conv_kernel.c - convolutions of floats and of bytes, computed directly. */
#include "kernels/conv_cost.h"
#include "kernels/tiles.h"
#include "kernels/window_kernel.h"
#include "program/operand.h"
#include "support/int.h"

/* Cutting along rows reads the weights once for each part; cutting along channels moves the images between threads,
 * since what comes before and after is mostly cut along rows. */
static void offer_conv(const Step *step, Cuts *cuts)
{
    double groups = (double)step_value(step, "groups", 0);
    double weights =
        step_product(step, "kernel") * (double)(step_value(step, "xdim", 1) * step_value(step, "ydim", 1)) / groups;
    double images = step_product(step, "xdim") + step_product(step, "ydim");

    window_offer(step, cuts, 1, weights > images ? 1.15 : 1.0);
    if (step_value(step, "groups", 0) == 1)
        cut_offer_channels(cuts, 1, step_value(step, "ydim", 1), 32, weights > images ? 1.0 : 1.15);
}

/* A part of the weights counts as few, but comes from as far away as the whole, and rows in blocks would read it again
 * and again. */
static void keep_choices(Step *part)
{
    double weights = step_product(part, "kernel") * (double)(step_value(part, "xdim", 1) * step_value(part, "ydim", 1));

    if (step_value(part, "tile", 1) == 0 && weights > 160 * 1024)
        part_set(part, "tile", 1, step_value(part, "ydim", 3));
    if (step_value(part, "tile", 2) == 0 && weights >= 40 * 1024)
        part_set(part, "tile", 2, -2);
}

static void take_conv(Step *part, int axis, int64_t lo, int64_t hi)
{
    if (axis == 1 && step_argument(part, "tile"))
        keep_choices(part);
    if (axis == 1)
        window_take_channels(part, lo, hi, (int64_t)step_product(part, "kernel") * step_value(part, "xdim", 1));
    else
        window_take_rows(part, axis, lo, hi);
}

/* Weights of bytes lie four inputs side by side; sums of weights and zero points of x as biases do. */
static void take_conv_bytes(Step *part, int axis, int64_t lo, int64_t hi)
{
    if (axis != 1) {
        take_conv(part, axis, lo, hi);
        return;
    }
    window_take_channels(part, lo, hi,
                         (int64_t)step_product(part, "kernel") * int_round_up(step_value(part, "xdim", 1), 4));
    part_shift_named(part, "sums", lo);
}

static double work_conv(const Step *step)
{
    return window_work_at(step, 25.0, 5.0);
}

/* One group, and all lanes at work whatever the outputs are. */
static double work_dot(const Step *step)
{
    return step_product(step, "ydim") * step_product(step, "kernel") * (double)step_value(step, "xdim", 1) / 25.0;
}

static double work_bytes(const Step *step)
{
    return window_work_at(step, 60.0, 13.0);
}

static double time_conv(const Core *core, const Step *step)
{
    ConvShape shape;

    return conv_shape_read(step, &shape) ? cost_direct(core, &shape, step_value(step, "tile", 0)) : 0.0;
}

/* Of the largest extents. */
static double time_bytes(const Core *core, const Step *step)
{
    ConvShape shape;

    conv_shape_read(step, &shape);
    if (step_value(step, "kept", 0) > 0)
        return cost_direct_strips(core, &shape, (double)step_value(step, "strip", 0));
    return cost_direct_q(core, &shape);
}

static double operations_dot(const Core *core, const Step *step)
{
    return step_product(step, "ydim") * step_product(step, "kernel") * (double)step_value(step, "xdim", 1) * 1.5 /
           core->lanes;
}

/* Sums of bytes do two lanes' work in one. */
static double operations_integer(const Core *core, const Step *step)
{
    return step_product(step, "ydim") * step_product(step, "kernel") * (double)step_value(step, "xdim", 1) /
           (2.0 * core->lanes);
}

static double operations_after(const Core *core, const Step *step)
{
    return step_product(step, "ydim") * (double)step_value(step, "blockdim", 1) * 1.2 / core->lanes;
}

/* ----------------------------------------------------------------------------------------------- smaller tiles */

/* Pixels that follow each other in both operands, each a result of its own: rows may be cut anywhere. */
static bool is_flat(const Step *step, const Geometry *g)
{
    int64_t kernel[3];

    return step_constants(step, "kernel", 3, kernel) && kernel[0] * kernel[1] * kernel[2] == 1 && g->stride[1] == 1 &&
           g->stride[2] == 1 && g->pad[1] == 0 && g->pad[2] == 0 && g->xdim[HEIGHT] == g->ydim[HEIGHT] &&
           g->xdim[WIDTH] == g->ydim[WIDTH] && g->xstride[HEIGHT] == g->xdim[WIDTH] * g->xstride[WIDTH] &&
           g->ystride[HEIGHT] == g->ydim[WIDTH] * g->ystride[WIDTH];
}

/* One that makes all rows together, with weights small enough to be read again for every block. */
static bool can_make_small_rows(const Step *step, int64_t pixels)
{
    enum { MOST_WEIGHTS = 160 * 1024 }; /* floats that stay in the cache */
    Geometry g;
    int64_t  kernel[3];

    return window_geometry(step, &g) && !g.block && step_constants(step, "kernel", 3, kernel) &&
           kernel[0] * kernel[1] * kernel[2] * g.xdim[CHANNELS] * g.ydim[CHANNELS] <= MOST_WEIGHTS &&
           g.ydim[HEIGHT] * g.ydim[WIDTH] >= pixels;
}

/* The image as rows of so many pixels. */
static void cut_rows(Program *program, Step *step, Geometry *g, int64_t width, TileChanges *changes)
{
    g->ydim[HEIGHT] = g->xdim[HEIGHT] = g->ydim[HEIGHT] * g->ydim[WIDTH] / width;
    g->ydim[WIDTH] = g->xdim[WIDTH] = width;
    g->xstride[HEIGHT] = width * g->xstride[WIDTH];
    g->ystride[HEIGHT] = width * g->ystride[WIDTH];
    tiles_set(program, step, "xdim", g->xdim, AXES, changes);
    tiles_set(program, step, "ydim", g->ydim, AXES, changes);
    tiles_set(program, step, "xstride", g->xstride, AXES, changes);
    tiles_set(program, step, "ystride", g->ystride, AXES, changes);
}

static void small_rows_of_conv(Program *program, Step *step, BlockSize size, TileChanges *changes)
{
    Geometry g;
    int64_t  tile[3], pixels, width;

    window_geometry(step, &g);
    pixels = g.ydim[HEIGHT] * g.ydim[WIDTH];
    width = size.bytes / (g.ydim[CHANNELS] * (int64_t)sizeof(float));
    step_constants(step, "tile", 3, tile);
    width = int_min(int_max(width, size.pixels), pixels);
    if (is_flat(step, &g)) {
        while (pixels % width)
            width--;
        cut_rows(program, step, &g, width, changes);
    }
    tile[1] = int_ceil_div(size.pixels, g.ydim[WIDTH]);
    tiles_set(program, step, "tile", tile, 3, changes);
}

/* The block of a kernel that computes its input, cut down. */
static void small_scratch_after(Program *program, Step *step, TileChanges *changes)
{
    enum { SCRATCH_BYTES = 6400, SCRATCH_PIXELS = 4 }; /* of the values of an expression, at most; pixels, at least */
    int64_t block[AXES], ydim[AXES], ystride[AXES], pixels, rows;

    if (!step_constants(step, "blockdim", AXES, block) || !step_constants(step, "ydim", AXES, ydim) ||
        !step_constants(step, "ystride", AXES, ystride))
        return;
    pixels = ydim[BATCH] * ydim[WIDTH];
    rows = int_max(SCRATCH_BYTES / (block[CHANNELS] * (int64_t)sizeof(float)), SCRATCH_PIXELS);
    while (pixels % rows)
        rows--;
    if (rows >= block[WIDTH])
        return;
    ydim[BATCH] = pixels / rows;
    ydim[WIDTH] = rows;
    ystride[BATCH] = rows * ystride[WIDTH];
    tiles_set(program, step, "ydim", ydim, AXES, changes);
    tiles_set(program, step, "ystride", ystride, AXES, changes);
    tiles_set_scratch(program, &step->operand[step->nparam - 1], WIDTH, rows, rows * block[CHANNELS], changes);
}

const KernelRecord kernel_conv = {.cut = {offer_conv, take_conv, work_conv, true},
                                  .time = time_conv,
                                  .follow = window_follow,
                                  .tiles = {can_make_small_rows, small_rows_of_conv},
                                  .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_bytes = {
    .cut = {offer_conv, take_conv_bytes, work_bytes, true}, .time = time_bytes, .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_dot = {.cut = {window_offer_rows, window_take_rows, work_dot},
                                      .operations = operations_dot,
                                      .follow = window_follow,
                                      .columns = 24,
                                      .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_after = {.operations = operations_after,
                                        .tiles = {.small_scratch = small_scratch_after}};
const KernelRecord kernel_conv_integer = {.operations = operations_integer, .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_wide = {.shared = {{"xdim", "ydim", 0, 0}}};
