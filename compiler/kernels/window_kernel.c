/* window_kernel.c - cuts of images: along images, rows, or channels of the result. */
#include "kernels/window_kernel.h"
#include "graph/extent_walk.h"
#include "program/safe_distance.h"
#include "program/operand.h"
#include "support/int.h"

#include <string.h>

/* Moves the operands of the expression, whose pixels lie `pitch` apart. The axes inside that of the range hold the
 * pixels of a unit. */
static void move_expression(Step *slice, const UnitRange *range)
{
    Extent pixels = extent_const(1);

    for (int axis = range->axis < DEPTH ? DEPTH : range->axis + 1; axis < AXES; axis++)
        pixels = extent_op(range->model, EXPR_MUL, pixels, step_extent(slice, "ydim", axis));
    for (int k = slice->nparam; k < slice->noperand; k++)
        slice_move(slice, range, k,
                   extent_op(range->model, EXPR_MUL, pixels, step_extent(slice, "pitch", k - slice->nparam)));
}

/* The first axis of the result, after the images, with more than one place: {batch, channels, depth, height, width}. */
static int first_space(const Step *step)
{
    int axis = 2;

    while (axis < 4 && step_value(step, "ydim", axis) == 1)
        axis++;
    return axis;
}

/* Offers images, and rows of the result where there may be one image; the rows of a matrix product in multiples of
 * every tile's height. Operands of the expression are read by the number of the pixel, which only rows of one image
 * have in order. */
void window_offer(const Step *step, Cuts *cuts, int64_t grain, double weight)
{
    int    axis = first_space(step);
    Extent images = step_extent(step, "ydim", BATCH);

    if (images.max > 1)
        cut_offer(cuts, BATCH, images, 1, 1.0);
    if (images.max > 1 && extent_is_const(images))
        return;
    cut_offer(cuts, axis, step_extent(step, "ydim", axis), axis == WIDTH && grain == 1 ? 2 : grain, weight);
    if (cuts->count && cuts->cut[cuts->count - 1].axis == axis)
        cuts->cut[cuts->count - 1].alone = images.max > 1 && step->noperand > step->nparam;
}

void window_offer_rows(const Step *step, Cuts *cuts)
{
    window_offer(step, cuts, 1, 1.0);
}

void window_take_planes(Step *slice, const UnitRange *range)
{
    slice_set(slice, "xdim", range->axis, range->count);
    slice_set(slice, "ydim", range->axis, range->count);
    slice_move_named(slice, range, "x", step_extent(slice, "xstride", range->axis));
    slice_move_named(slice, range, "y", step_extent(slice, "ystride", range->axis));
}

/* The rows of the input that rows of the result read: from the first one, which lies in front of the image where
 * padding comes first, to the one behind the last. */
typedef struct InputRows {
    Extent first, end;
} InputRows;

static InputRows input_rows(const Step *slice, const UnitRange *range)
{
    Model    *m = range->model;
    int       k = range->axis - DEPTH;
    Extent    step = step_extent(slice, "stride", k), last = extent_op(m, EXPR_SUB, range->count, extent_const(1));
    int64_t   window = (step_value(slice, "kernel", k) - 1) * step_value(slice, "dilation", k) + 1;
    InputRows read = {.first = extent_op(m, EXPR_MUL, range->lo, step)};

    read.first = extent_op(m, EXPR_SUB, read.first, step_extent(slice, "pad", k));
    read.end = extent_op(m, EXPR_ADD, read.first, extent_op(m, EXPR_MUL, last, step));
    read.end = extent_op(m, EXPR_ADD, read.end, extent_const(window));
    return read;
}

/* Whether each row of the result is made of the row of the input at its place. */
static bool is_row_by_row(const Step *step, int axis)
{
    int k = axis - DEPTH;

    return step_value(step, "kernel", k) == 1 && step_value(step, "stride", k) == 1 &&
           extent_is(step_extent(step, "pad", k), 0) &&
           extent_same(step_extent(step, "xdim", axis), step_extent(step, "ydim", axis));
}

/* Cuts the input to the rows that the slice reads, so that its padding is that of the whole image. */
void window_take_space(Step *slice, const UnitRange *range)
{
    Model *m = range->model;
    int    axis = range->axis;
    Extent rows = step_extent(slice, "xdim", axis), none = extent_const(0), from = range->lo, taken = range->count;

    if (!is_row_by_row(slice, axis)) {
        InputRows read = input_rows(slice, range);

        from = extent_op(m, EXPR_MIN, extent_op(m, EXPR_MAX, read.first, none), rows);
        taken = extent_op(m, EXPR_SUB, extent_op(m, EXPR_MIN, rows, read.end), from);
        taken = extent_op(m, EXPR_MAX, taken, none);
        slice_set(slice, "pad", axis - DEPTH, extent_op(m, EXPR_SUB, from, read.first));
    }
    slice_set(slice, "xdim", axis, taken);
    slice_set(slice, "ydim", axis, range->count);
    slice_move_named(slice, &(UnitRange){.model = m, .lo = from}, "x", step_extent(slice, "xstride", axis));
    slice_move_named(slice, range, "y", step_extent(slice, "ystride", axis));
    move_expression(slice, range);
}

void window_take_channels(Step *slice, const UnitRange *range, int64_t weights)
{
    slice_set(slice, "ydim", CHANNELS, range->count);
    slice_move_named(slice, range, "w", extent_const(weights));
    slice_move_named(slice, range, "bias", extent_const(1));
    slice_move_named(slice, range, "y", step_extent(slice, "ystride", CHANNELS));
    for (int k = slice->nparam; k < slice->noperand; k++)
        slice_move(slice, range, k, extent_const(step_inner_stride(slice, k - slice->nparam)));
}

void window_take_rows(Step *slice, const UnitRange *range)
{
    if (range->axis != BATCH) {
        window_take_space(slice, range);
        return;
    }
    window_take_planes(slice, range);
    if (step_argument(slice, "pitch"))
        move_expression(slice, range);
}

/* Nanoseconds from products and weights read per nanosecond: with few pixels, reading the weights takes longer. */
double window_work_at(const Step *step, double products, double reads)
{
    double weights = step_product(step, "kernel") *
                     (double)(step_value(step, "xdim", 1) * step_value(step, "ydim", 1)) /
                     (double)step_value(step, "groups", 0);
    double pixels = step_product(step, "ydim") / (double)step_value(step, "ydim", 1);

    return weights * (pixels / products > 1.0 / reads ? pixels / products : 1.0 / reads);
}

double window_operations(const Core *core, const Step *step)
{
    return step_product(step, "ydim") * step_product(step, "kernel") * 1.5 / core->lanes;
}

double window_work(const Step *step)
{
    return step_product(step, "ydim") * step_product(step, "kernel") / 16.0;
}

/* -------------------------------------------------------------------------------------------------- following */

/* Reads a list of extents at their largest; false: another number of them, or one may be negative. */
static bool read_extents(const Program *program, const Step *step, const char *name, int64_t *value, bool *is_bound)
{
    int           count;
    const Extent *list = step_extents_of(step, name, &count);

    if (!list || count != AXES)
        return false;
    for (int i = 0; i < AXES; i++) {
        if (extent_min(program->model, list[i]) < 0)
            return false;
        value[i] = list[i].max;
        *is_bound |= !extent_is_const(list[i]);
    }
    return true;
}

/* Whether there is one image, without depth or groups. */
static bool is_flat_image(const Step *step)
{
    int           count;
    int64_t       groups;
    const Extent *x = step_extents_of(step, "xdim", &count), *y = step_extents_of(step, "ydim", &count);

    return extent_is(y[BATCH], 1) && extent_is(y[DEPTH], 1) && extent_is(x[DEPTH], 1) && extent_is_const(x[CHANNELS]) &&
           extent_is_const(y[CHANNELS]) && !(step_constants(step, "groups", 1, &groups) && groups != 1);
}

bool window_geometry(const Program *program, const Step *step, Geometry *g)
{
    int64_t tile[3];

    g->is_bound = false;
    if (!read_extents(program, step, "xdim", g->xdim, &g->is_bound) ||
        !read_extents(program, step, "xstride", g->xstride, &g->is_bound) ||
        !read_extents(program, step, "ydim", g->ydim, &g->is_bound) ||
        !read_extents(program, step, "ystride", g->ystride, &g->is_bound) ||
        !step_constants(step, "stride", 3, g->stride) || !step_constants(step, "pad", 3, g->pad) ||
        !is_flat_image(step))
        return false;
    g->block = 1;
    g->tile = step->kernel->record->columns;
    if (step_argument(step, "tile")) {
        if (!step_constants(step, "tile", 3, tile))
            return false;
        g->block = tile[1];
        g->tile = 0;
    }
    return true;
}

/* The extents that a safe distance depends on beside the numbers of rows, and where a geometry holds them. */
static int distance_extents(const Step *step, Geometry *g, Extent *extent, int64_t **place)
{
    int           count, n = 0;
    const Extent *xdim = step_extents_of(step, "xdim", &count), *xstride = step_extents_of(step, "xstride", &count);
    const Extent *ydim = step_extents_of(step, "ydim", &count), *ystride = step_extents_of(step, "ystride", &count);

    for (int axis = HEIGHT; axis <= WIDTH; axis++) {
        extent[n] = xstride[axis];
        place[n++] = &g->xstride[axis];
        extent[n] = ystride[axis];
        place[n++] = &g->ystride[axis];
    }
    extent[n] = xdim[WIDTH];
    place[n++] = &g->xdim[WIDTH];
    extent[n] = ydim[WIDTH];
    place[n++] = &g->ydim[WIDTH];
    extent[n] = g->ydim[CHANNELS] > 1 ? ystride[CHANNELS] : extent_const(0);
    place[n++] = &g->ystride[CHANNELS];
    return n;
}

int64_t window_distance(const Program *program, const Step *step, const Geometry *g,
                        int64_t (*distance)(const Step *step, const Geometry *g))
{
    enum { MOST_WIDTHS = 8192, EXTENTS = 7 };
    Extent     extent[EXTENTS];
    Geometry   at = *g;
    int64_t   *place[EXTENTS], greatest = INT64_MAX;
    int        count = distance_extents(step, &at, extent, place);
    ArenaMark  mark = arena_mark(program->arena);
    ExtentWalk walk;

    if (extent_walk_begin(&walk, program->model, program->arena, extent, count, MOST_WIDTHS))
        for (greatest = 0; extent_walk_next(&walk);) {
            for (int i = 0; i < count; i++)
                *place[i] = extent_walk_value(&walk, extent[i]);
            greatest = int_max(greatest, distance(step, &at));
        }
    arena_release(program->arena, mark);
    return greatest;
}

static RowWalk walk_of(const Geometry *g)
{
    RowWalk walk = {.rows = g->ydim[HEIGHT],
                    .block = g->block,
                    .stride = g->stride[1],
                    .pad = g->pad[1],
                    .input_rows = g->xdim[HEIGHT],
                    .xrow = g->xstride[HEIGHT],
                    .yrow = g->ystride[HEIGHT],
                    .tile = g->tile,
                    .columns = g->ydim[WIDTH],
                    .across = g->stride[2],
                    .left = g->pad[2],
                    .xcolumn = g->xstride[WIDTH],
                    .ycolumn = g->ystride[WIDTH]};

    walk.ytail = (g->ydim[CHANNELS] - 1) * g->ystride[CHANNELS] + 1;
    return walk;
}

/* Where extents are known while running, the last element of a block is not written last (conv_f32.c takes edges behind
 * the interior), so one element more. More rows only add reads and writes, at the same places. */
static int64_t distance_of_window(const Step *step, const Geometry *g)
{
    RowWalk walk = walk_of(g);

    (void)step;
    return distance_of_rows(&walk) + g->is_bound;
}

bool window_follow(const Program *program, const Step *step, Follow *follow)
{
    Geometry g;

    if (!step_pair(program, step, &follow->from, &follow->to) || !window_geometry(program, step, &g) || g.block < 1)
        return false;
    follow->distance = window_distance(program, step, &g, distance_of_window);
    return follow->distance < INT64_MAX;
}

static const char *open_form(Model *model, const Step *step)
{
    const char *name = step->kernel->name, *rest = strchr(name, '_');

    return arena_printf(model->arena, "%.*s_open%s", (int)(rest - name), name, rest);
}

static bool has_constant_widths(const Step *step, const Extent **y)
{
    int           count;
    const Extent *x = step_extents_of(step, "xdim", &count);

    *y = step_extents_of(step, "ydim", &count);
    return extent_is_const(x[WIDTH]) && extent_is_const((*y)[WIDTH]);
}

const char *window_form(Model *model, const Step *step)
{
    const Extent *y;

    return has_constant_widths(step, &y) ? NULL : open_form(model, step);
}

const char *window_form_of_lines(Model *model, const Step *step)
{
    const Extent *y;
    bool          may_join = step_product(step, "kernel") == 1 && step_product(step, "stride") == 1;

    if (has_constant_widths(step, &y) && (!may_join || (extent_is_const(y[DEPTH]) && extent_is_const(y[HEIGHT]))))
        return NULL;
    return open_form(model, step);
}
