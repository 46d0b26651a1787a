/* conv_kernel.c - convolutions of floats and of bytes, computed directly. */
#include "kernels/conv_cost.h"
#include "kernels/tiles.h"
#include "kernels/window_kernel.h"
#include "program/operand.h"
#include "support/int.h"

enum { PANEL = 32, EVEN = 4 }; /* channels; kernels read a multiple of EVEN of each group's */

static int64_t outputs_of_group(const Step *step)
{
    return step_value(step, "ydim", 1) / int_max(step_value(step, "groups", 0), 1);
}

/* Channels are cut in whole panels of the only group, or in whole groups. */
static int64_t channel_grain(const Step *step)
{
    return step_value(step, "groups", 0) == 1 ? PANEL : outputs_of_group(step);
}

/* Offers cuts along rows and along channels. Along rows, each slice reads all weights. Along channels, activations move
 * between the threads' caches, since the steps before and after are mostly cut along rows. */
static void offer_conv(const Step *step, Cuts *cuts)
{
    double groups = (double)step_value(step, "groups", 0);
    double weights =
        step_product(step, "kernel") * (double)(step_value(step, "xdim", 1) * step_value(step, "ydim", 1)) / groups;
    double images = step_product(step, "xdim") + step_product(step, "ydim");

    window_offer(step, cuts, 1, weights > images ? 1.15 : 1.0);
    if (outputs_of_group(step) % EVEN == 0 || step_value(step, "groups", 0) == 1)
        cut_offer_channels(cuts, 1, step_extent(step, "ydim", 1), channel_grain(step), weights > images ? 1.0 : 1.15);
}

/* Keeps the kernel's choices that depend on the size of the weights: a slice reads few of them, but from as far away as
 * the whole step does, and blocks of rows would read them repeatedly. */
static void keep_choices(Step *slice)
{
    double groups = (double)step_value(slice, "groups", 0);
    double weights = step_product(slice, "kernel") *
                     (double)(step_value(slice, "xdim", 1) * step_value(slice, "ydim", 1)) / (groups * groups);

    if (step_value(slice, "tile", 1) == 0 && weights > 160 * 1024)
        slice_set(slice, "tile", 1, step_extent(slice, "ydim", 3));
    if (step_value(slice, "tile", 2) == 0 && weights >= 40 * 1024)
        slice_set(slice, "tile", 2, extent_const(-2));
}

/* Takes outputs, which are constants and read `lane` inputs at a time. Of several groups they are whole ones, or a part
 * of one, with their inputs. Example: 4 groups of 8 inputs and 16 outputs: outputs 16 to 47 are 2 groups and read
 * inputs 8 to 23. */
static void take_outputs(Step *slice, const UnitRange *range, int64_t lane)
{
    int64_t groups = step_value(slice, "groups", 0), outputs = outputs_of_group(slice),
            inputs = step_value(slice, "xdim", 1) / groups;
    UnitRange taken = {.model = range->model,
                       .lo = extent_const(range->lo.max / outputs),
                       .count = extent_const(int_max(range->count.max / outputs, 1))};

    window_take_channels(slice, range, (int64_t)step_product(slice, "kernel") * int_round_up(inputs, lane));
    if (groups == 1)
        return;
    slice_move_named(slice, &taken, "x",
                     extent_op(range->model, EXPR_MUL, extent_const(inputs), step_extent(slice, "xstride", 1)));
    slice_set(slice, "xdim", 1, extent_const(taken.count.max * inputs));
    slice_set(slice, "groups", 0, taken.count);
}

static void take_conv(Step *slice, const UnitRange *range)
{
    if (range->axis == 1 && step_argument(slice, "tile"))
        keep_choices(slice);
    if (range->axis == 1)
        take_outputs(slice, range, 1);
    else
        window_take_rows(slice, range);
}

/* Takes channels of an 8-bit convolution: weights are packed four inputs to a lane; sums of weights and zero points
 * follow the bias. */
static void take_conv_bytes(Step *slice, const UnitRange *range)
{
    if (range->axis != 1) {
        take_conv(slice, range);
        return;
    }
    take_outputs(slice, range, 4);
    slice_move_named(slice, range, "sums", extent_const(1));
}

/* The panels of weights, if all have one form: those of several groups do if each group fills its panels, or is less
 * than one. */
static Panels panels_of(const Step *step, int64_t lane, int64_t even)
{
    int64_t outputs = outputs_of_group(step), groups = step_value(step, "groups", 0);

    if (groups > 1 && outputs % EVEN == 0 && (outputs % PANEL == 0 || outputs < PANEL))
        return (Panels){step_value(step, "ydim", 1), int_min(outputs, PANEL), lane, even};
    return (Panels){groups == 1 ? outputs : 0, PANEL, lane, even};
}

static Panels panels_of_floats(const Step *step)
{
    return panels_of(step, 1, 1);
}

static Panels panels_of_bytes(const Step *step)
{
    return panels_of(step, 4, EVEN);
}

static double work_conv(const Step *step)
{
    return window_work_at(step, 25.0, 5.0);
}

/* The products of a convolution of one group. */
static double products_of(const Step *step)
{
    return step_product(step, "ydim") * step_product(step, "kernel") * (double)step_value(step, "xdim", 1);
}

/* The work of a convolution of one group, whose lanes are all in use whatever the number of outputs. */
static double work_dot(const Step *step)
{
    return products_of(step) / 25.0;
}

static double work_bytes(const Step *step)
{
    return window_work_at(step, 60.0, 13.0);
}

/* Predicted nanoseconds of conv_f32, for the largest extents. */
static double time_conv(const Core *core, const Step *step)
{
    ConvShape shape;

    conv_shape_read(step, &shape);
    return cost_direct(core, &shape, step_value(step, "tile", 0));
}

/* Predicted nanoseconds of a kernel for bytes, for the largest extents. */
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
    return products_of(step) * 1.5 / core->lanes;
}

/* Vector operations of 8-bit sums, which do two lanes' work in one. */
static double operations_integer(const Core *core, const Step *step)
{
    return products_of(step) / (2.0 * core->lanes);
}

static double operations_after(const Core *core, const Step *step)
{
    return step_product(step, "ydim") * (double)step_value(step, "blockdim", 1) * 1.2 / core->lanes;
}

/* ----------------------------------------------------------------------------------------------- smaller tiles */

/* Whether pixels are contiguous in both operands and each result depends on one pixel only, so that rows may be cut
 * anywhere. */
static bool is_flat(const Step *step, const Geometry *g)
{
    int64_t kernel[3];

    return step_constants(step, "kernel", 3, kernel) && kernel[0] * kernel[1] * kernel[2] == 1 && g->stride[1] == 1 &&
           g->stride[2] == 1 && g->pad[1] == 0 && g->pad[2] == 0 && g->xdim[HEIGHT] == g->ydim[HEIGHT] &&
           g->xdim[WIDTH] == g->ydim[WIDTH] && g->xstride[HEIGHT] == g->xdim[WIDTH] * g->xstride[WIDTH] &&
           g->ystride[HEIGHT] == g->ydim[WIDTH] * g->ystride[WIDTH];
}

/* Whether the kernel makes all rows in one go, with weights small enough to be read again for every block. */
static bool can_make_small_rows(const Program *program, const Step *step, int64_t pixels)
{
    enum { MOST_WEIGHTS = 160 * 1024 }; /* floats that stay in the cache */
    Geometry g;
    int64_t  kernel[3];

    return window_geometry(program, step, &g) && !g.block && step_constants(step, "kernel", 3, kernel) &&
           kernel[0] * kernel[1] * kernel[2] * g.xdim[CHANNELS] * g.ydim[CHANNELS] <= MOST_WEIGHTS &&
           g.ydim[HEIGHT] * g.ydim[WIDTH] >= pixels;
}

/* Views the image as rows of `pixels` pixels. */
static void cut_rows(const Step *step, Geometry *g, int64_t width)
{
    g->ydim[HEIGHT] = g->xdim[HEIGHT] = g->ydim[HEIGHT] * g->ydim[WIDTH] / width;
    g->ydim[WIDTH] = g->xdim[WIDTH] = width;
    g->xstride[HEIGHT] = width * g->xstride[WIDTH];
    g->ystride[HEIGHT] = width * g->ystride[WIDTH];
    tiles_set(step, "xdim", g->xdim, AXES);
    tiles_set(step, "ydim", g->ydim, AXES);
    tiles_set(step, "xstride", g->xstride, AXES);
    tiles_set(step, "ystride", g->ystride, AXES);
}

static void small_rows_of_conv(const Program *program, Step *step, BlockSize size)
{
    Geometry g;
    int64_t  tile[3], pixels, width;

    window_geometry(program, step, &g);
    pixels = g.ydim[HEIGHT] * g.ydim[WIDTH];
    width = size.bytes / (g.ydim[CHANNELS] * (int64_t)sizeof(float));
    step_constants(step, "tile", 3, tile);
    width = int_min(int_max(width, size.pixels), pixels);
    if (!g.is_bound && is_flat(step, &g)) {
        while (pixels % width)
            width--;
        cut_rows(step, &g, width);
    }
    tile[1] = int_ceil_div(size.pixels, g.ydim[WIDTH]);
    tiles_set(step, "tile", tile, 3);
}

/* Smaller scratch for a kernel that computes its input block by block. */
static void small_scratch_after(Program *program, Step *step)
{
    enum { SCRATCH_BYTES = 6400, SCRATCH_PIXELS = 4 }; /* bytes of an expression's values, at most; pixels, at least */
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
    tiles_set(step, "ydim", ydim, AXES);
    tiles_set(step, "ystride", ystride, AXES);
    tiles_set_scratch(program, &step->operand[step->nparam - 1], WIDTH, rows, rows * block[CHANNELS]);
}

static bool has_wide_border(const Step *step)
{
    ConvShape shape;

    conv_shape_read(step, &shape);
    return conv_has_wide_border(&shape);
}

/* Whether the pixels of an image lie evenly spaced from row to row. */
static bool rows_join(Model *model, const Extent *dim, const Extent *stride)
{
    return (extent_is_const(dim[HEIGHT]) && dim[HEIGHT].max == 1) ||
           extent_same(stride[HEIGHT], extent_op(model, EXPR_MUL, dim[WIDTH], stride[WIDTH]));
}

/* Whether each result is made of the pixel at its place, and both images are one line of pixels whatever their extents:
 * occ_conv_is_flat. */
static bool is_flat_for_all(Model *model, const Step *step)
{
    int           count;
    const Extent *x = step_extents_of(step, "xdim", &count), *y = step_extents_of(step, "ydim", &count);

    for (int axis = DEPTH; axis < AXES; axis++)
        if (!extent_same(x[axis], y[axis]) || step_value(step, "pad", axis - DEPTH) != 0)
            return false;
    return step_product(step, "kernel") == 1 && step_product(step, "stride") == 1 && extent_is_const(y[DEPTH]) &&
           y[DEPTH].max == 1 && rows_join(model, x, step_extents_of(step, "xstride", &count)) &&
           rows_join(model, y, step_extents_of(step, "ystride", &count));
}

static const char *form_of_conv(Model *model, const Step *step)
{
    const char *form = window_form_of_lines(model, step);

    return form && is_flat_for_all(model, step) ? "conv_flat_f32" : form;
}

const KernelRecord kernel_conv = {
    .cut = {offer_conv, take_conv, work_conv, true},
    .panels = panels_of_floats,
    .time = time_conv,
    .follow = window_follow,
    .wide_border = has_wide_border,
    .form = form_of_conv,
    .tiles = {.can_make_small_rows = can_make_small_rows, .small_rows = small_rows_of_conv},
    .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_bytes = {.cut = {offer_conv, take_conv_bytes, work_bytes, true},
                                        .panels = panels_of_bytes,
                                        .time = time_bytes,
                                        .form = window_form_of_lines,
                                        .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_dot = {.cut = {window_offer_rows, window_take_rows, work_dot, false},
                                      .operations = operations_dot,
                                      .follow = window_follow,
                                      .columns = 24,
                                      .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_after = {.operations = operations_after,
                                        .tiles = {.small_scratch = small_scratch_after}};
/* Units of one channel of one image, where each channel has weights of its own behind the others'. */
static void offer_channels(const Step *step, Cuts *cuts)
{
    cut_offer(cuts, 0, step_extent(step, "ydim", 0), 1, 1.0);
    if (step_value(step, "groups", 0) == 1)
        cut_offer(cuts, 1, step_extent(step, "ydim", 1), 1, 1.0);
}

static void take_channels(Step *slice, const UnitRange *range)
{
    int64_t weights = step_value(slice, "xdim", 1) * (int64_t)step_product(slice, "kernel");

    if (range->axis == 0) {
        slice_set(slice, "xdim", 0, range->count);
        slice_move_named(slice, range, "x", step_extent(slice, "xstride", 0));
    } else {
        slice_move_named(slice, range, "w", extent_const(weights));
        slice_move_named(slice, range, "bias", extent_const(1));
        if (step_argument(slice, "wstep"))
            slice_move_named(slice, range, "wzero", step_extent(slice, "wstep", 0));
    }
    slice_set(slice, "ydim", range->axis, range->count);
    slice_move_named(slice, range, "y", step_extent(slice, "ystride", range->axis));
}

/* Units of one image: a channel of the input reaches all of the result. */
static void offer_images(const Step *step, Cuts *cuts)
{
    cut_offer(cuts, 0, step_extent(step, "ydim", 0), 1, 1.0);
}

const KernelRecord kernel_conv_integer = {
    .units = {offer_channels, take_channels}, .operations = operations_integer, .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_spread = {.units = {offer_images, take_channels}, .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_conv_wide = {.units = {offer_channels, take_channels}, .shared = {{"xdim", "ydim", 0, 0}}};
