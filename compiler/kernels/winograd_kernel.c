/* winograd_kernel.c - convolutions in the domain of Winograd's transform. */
#include "kernels/conv_cost.h"
#include "kernels/tiles.h"
#include "kernels/window_kernel.h"
#include "program/operand.h"
#include "program/safe_distance.h"
#include "support/int.h"

enum {
    OUTPUTS_TOGETHER = 128, /* as OCC_WINOGRAD_OUTPUTS of winograd_f32.c */
    PANEL = 32,
    GAP = 32,     /* words between frequencies, of inputs and of sums */
    BADLY_CUT = 7 /* tiles that the kernel takes as six and one where their number is known while running only */
};

/* Offers cuts along rows and along channels. Along rows, each slice reads all weights, from main memory if a core's
 * cache does not hold them. Along channels, each slice transforms the whole input. */
static void offer_winograd(const Step *step, Cuts *cuts)
{
    enum { NEAR = 256 * 1024 }; /* weights */
    int64_t   m = step_value(step, "m", 0), grain = m, weights;
    ConvShape s;

    conv_shape_read(step, &s);
    if (s.kernel[1] == 1)
        grain = s.out[1] > 1 ? 1 : m * s.dilation[2];
    weights = winograd_frequencies(&s, m) * s.inputs * s.outputs;
    window_offer(step, cuts, grain,
                 1.0 + 12.0 / (double)(s.batch * winograd_tiles(&s, m)) + (weights > NEAR ? 0.3 : 0.0));
    cut_offer_channels(cuts, 1, step_extent(step, "ydim", 1), 32, 1.0 + 40.0 / (double)s.outputs);
}

static void take_winograd(Step *slice, const UnitRange *range)
{
    int64_t   m = step_value(slice, "m", 0), pairs;
    ConvShape s;

    conv_shape_read(slice, &s);
    pairs = winograd_frequencies(&s, m) * int_ceil_div(s.inputs, 2) * 2;
    if (range->axis == 1) {
        window_take_channels(slice, range, 0);
        slice_move_named(slice, range, "u", extent_const(step_argument(slice, "apart") ? s.inputs : pairs));
        return;
    }
    window_take_rows(slice, range);
    conv_shape_read(slice, &s);
    slice_set(slice, "group", 0, extent_const(int_min(step_value(slice, "group", 0), s.batch * winograd_tiles(&s, m))));
}

static double work_winograd(const Step *step)
{
    return step_product(step, "ydim") * (double)step_value(step, "xdim", 1) * step_product(step, "kernel") / 60.0;
}

/* Of the largest extents. */
static double time_winograd(const Core *core, const Step *step)
{
    ConvShape shape;

    conv_shape_read(step, &shape);
    return cost_winograd(core, &shape, step_value(step, "m", 0), step_value(step, "group", 0));
}

/* Predicted nanoseconds of a kernel for bytes, for the largest extents. */
static double time_bytes(const Core *core, const Step *step)
{
    ConvShape shape;

    conv_shape_read(step, &shape);
    return cost_winograd_q(core, &shape, step_value(step, "m", 0), step_value(step, "group", 0));
}

static int64_t distance_of_tiles(const Step *step, const Geometry *g)
{
    GroupWalk walk = {.rows = g->ydim[HEIGHT],
                      .columns = g->ydim[WIDTH],
                      .side = step_value(step, "m", 0),
                      .high = step_value(step, "kernel", 1) == 1 ? 1 : step_value(step, "m", 0),
                      .group = step_value(step, "group", 0),
                      .top = g->pad[1],
                      .left = g->pad[2],
                      .xrow = g->xstride[HEIGHT],
                      .yrow = g->ystride[HEIGHT],
                      .xcolumn = g->xstride[WIDTH],
                      .ycolumn = g->ystride[WIDTH],
                      .ytail = (g->ydim[CHANNELS] - 1) * g->ystride[CHANNELS] + 1};

    return distance_of_groups(&walk);
}

/* y may follow its first operand: the kernel makes tiles of m x m or m pixels of one image in rising order, `group` at
 * a time, and reads all that a group needs (3 x 3 or 3 taps, stride 1) before it writes any of them. With a dilation
 * neighbouring tiles share columns, and no distance is known. */
static bool follow_groups(const Program *program, const Step *step, Follow *follow)
{
    Geometry g;

    if (!step_pair(program, step, &follow->from, &follow->to) || !window_geometry(program, step, &g) ||
        step_value(step, "dilation", 2) > 1)
        return false;
    follow->distance = window_distance(program, step, &g, distance_of_tiles);
    return follow->distance < INT64_MAX;
}

/* ---------------------------------------------------------------------------------------------- scratch, tiles */

int64_t winograd_scratch(const ConvShape *s, int64_t m, int64_t group)
{
    return winograd_frequencies(s, m) * (group * (s->inputs + int_min(s->outputs, OUTPUTS_TOGETHER)) + GAP);
}

int64_t winograd_q_scratch(const ConvShape *s, int64_t m, int64_t group)
{
    return winograd_frequencies(s, m) * (group * ((s->inputs + 1) / 2 + PANEL) + GAP);
}

/* Tiles to transform together where memory is short. The weights, `bytes`, are read again for each group, and groups
 * are even, because the last one costs as much as the others. */
static int64_t few_tiles(int64_t tiles, int64_t bytes)
{
    enum {
        FEW = 6, /* together */
        NEAR_WEIGHTS = 2560 * 1024,
        FAR_BYTES = 32 << 20 /* bytes of weights that may be read for so few tiles; larger ones are read once in all */
    };
    int64_t most = bytes <= NEAR_WEIGHTS ? FEW : int_max(FEW, int_ceil_div(tiles * bytes, FAR_BYTES));

    return int_ceil_div(tiles, int_ceil_div(tiles, most));
}

static int64_t scratch_of(const Step *step, const ConvShape *s, int64_t group)
{
    int64_t m = step_value(step, "m", 0);

    return step->kernel->record == &kernel_winograd ? winograd_scratch(s, m, group) : winograd_q_scratch(s, m, group);
}

static void set_group(Program *program, Step *step, const ConvShape *s, int64_t group)
{
    int64_t elements = scratch_of(step, s, group);

    tiles_set(step, "group", &group, 1);
    tiles_set_scratch(program, &step->operand[step->nparam - 1], 0, elements, elements);
}

/* Smaller scratch: fewer tiles transformed together. */
static void small_scratch_of_winograd(Program *program, Step *step)
{
    ConvShape s;
    int64_t   m = step_value(step, "m", 0), few;
    bool      is_known = conv_shape_read(step, &s); /* of the largest extents */

    few = few_tiles(winograd_tiles(&s, m), program->buffer[step->operand[1].buffer].size);
    if (!is_known && few == BADLY_CUT)
        few++;
    if (step_value(step, "group", 0) > few)
        set_group(program, step, &s, few);
}

/* Larger scratch: more tiles transformed together, in groups that are even, or multiples of four where the number of
 * tiles is known only at run time. */
static void large_scratch_of_winograd(Program *program, Step *step, int64_t bytes)
{
    enum { EASILY_CUT = 4 };
    ConvShape s;
    int64_t   group = step_value(step, "group", 0), larger = step_value(step->large, "group", 0), tiles;
    int64_t   element = operand_bytes_per_element(&step->operand[step->nparam - 1]);
    bool      is_known = conv_shape_read(step, &s);

    tiles = winograd_tiles(&s, step_value(step, "m", 0));
    for (int64_t n = int_ceil_div(tiles, larger) + 1; larger > group && element * scratch_of(step, &s, larger) > bytes;
         n++)
        larger = is_known ? int_ceil_div(tiles, n) : (larger - 1) / EASILY_CUT * EASILY_CUT;
    if (larger > group)
        set_group(program, step, &s, larger);
}

/* Another where the number of tiles is known only at run time. */
static const char *form_of_winograd(Model *model, const Step *step)
{
    int           count;
    const Extent *y = step_extents_of(step, "ydim", &count);

    (void)model;
    return extent_is_const(y[0]) && extent_is_const(y[3]) && extent_is_const(y[4]) ? NULL : "winograd_open_f32";
}

const KernelRecord kernel_winograd = {
    .cut = {offer_winograd, take_winograd, work_winograd, false},
    .time = time_winograd,
    .follow = follow_groups,
    .form = form_of_winograd,
    .tiles = {.small_scratch = small_scratch_of_winograd, .large_scratch = large_scratch_of_winograd},
    .shared = {{"xdim", "ydim", 0, 0}}};
const KernelRecord kernel_winograd_bytes = {
    .cut = {offer_winograd, take_winograd, work_winograd, false},
    .time = time_bytes,
    .follow = follow_groups,
    .tiles = {.small_scratch = small_scratch_of_winograd, .large_scratch = large_scratch_of_winograd},
    .shared = {{"xdim", "ydim", 0, 0}}};
