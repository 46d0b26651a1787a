/* conv_cost.c - predicted times of convolutions. Computing and reading weights overlap in part. Moving activations does
 * not: a tile stores its results only when its sums are complete. Calibrated by `make bench-kernels`, which prints
 * predictions. */
#include "kernels/conv_cost.h"
#include "kernels/record.h"
#include "program/operand.h"
#include "support/int.h"

#include <math.h>

enum {
    PANEL = 32,           /* output channels of a block of weights */
    LATENCY = 10,         /* vector multiply-adds that fit between two dependent ones */
    TILE_START = 24,      /* vector multiply-adds lost where a tile begins and ends */
    NEAREST = 640 * 1024, /* bytes of a block that stays in the second cache */
    TRANSFORM_SMALL = 150,
    TRANSFORM_LARGE = 650 /* vector operations on one tile of m 2 and 4, both ways, spills included */
};

#define WIDENING 0.75 /* widening one weight to a pair of 16 bits takes as long as so many products */

/* Copies the largest extents. False: an extent is known only at run time. */
static bool copy_ints(int64_t *to, const Step *step, const char *name, int first, int count)
{
    int           all;
    const Extent *list = step_extents_of(step, name, &all);
    bool          known = true;

    for (int i = 0; i < count; i++) {
        to[i] = list ? list[first + i].max : 1;
        known = known && (!list || extent_is_const(list[first + i]));
    }
    return known;
}

/* Reads the fields that all kernels over windows have. */
bool conv_shape_read(const Step *step, ConvShape *s)
{
    const struct {
        int64_t    *to;
        const char *name;
        int         first, count;
    } slice[] = {{s->in, "xdim", 2, 3},       {s->out, "ydim", 2, 3},          {s->kernel, "kernel", 0, 3},
                 {s->stride, "stride", 0, 3}, {s->dilation, "dilation", 0, 3}, {s->pad, "pad", 0, 3},
                 {&s->batch, "xdim", 0, 1}};
    bool known = true;

    for (size_t i = 0; i < sizeof slice / sizeof *slice; i++)
        known = copy_ints(slice[i].to, step, slice[i].name, slice[i].first, slice[i].count) && known;
    s->groups = step_value(step, "groups", 0);
    s->inputs = step_value(step, "xdim", 1) / s->groups;
    s->outputs = step_value(step, "ydim", 1) / s->groups;
    return known;
}

bool conv_shape_of(const Step *step, ConvShape *shape)
{
    return step->kind == STEP_KERNEL &&
           (step->kernel->record == &kernel_conv || step->kernel->record == &kernel_winograd) &&
           conv_shape_read(step, shape);
}

bool conv_has_wide_border(const ConvShape *s)
{
    enum { LEAST_TILE = 3, MOST_TILE = 24, MOST_TAPS = 16 }; /* of tiles at an edge, as in occ_conv.h */
    int64_t inside = int_max(s->in[2] + s->pad[2] - (s->kernel[2] - 1) * s->dilation[2], 0);
    int64_t left = int_ceil_div(s->pad[2], s->stride[2]), right = s->out[2] - int_ceil_div(inside, s->stride[2]);
    bool    wide = s->kernel[2] > MOST_TAPS;

    for (int64_t most = LEAST_TILE; most <= MOST_TILE; most++) {
        int64_t tiles = int_max(int_ceil_div(s->out[2], most), 1);
        wide |= tiles > 1 && int_max(left, right) > s->out[2] / tiles;
    }
    return wide;
}

/* ------------------------------------------------------------------------------------------------------ floats */

/* Nanoseconds of computing while weights are read: prefetching hides half of the shorter one. */
double cost_overlapped(double compute, double stream)
{
    return fmax(compute, stream) + 0.5 * fmin(compute, stream);
}

/* Time of one tile over `depth` steps of k, in vector multiply-adds: a step takes pixels * vectors of them, and loads
 * one value for each pixel and one vector for each of `vectors`. Each sum depends on its predecessor. */
static double tile_time(int64_t pixels, int64_t vectors, double depth)
{
    double products = (double)(pixels * vectors), loads = (double)(pixels + vectors);

    return depth * fmax(fmax(products, loads), LATENCY) + TILE_START + 2.0 * products;
}

/* Time of all pixels of a map, `height` rows of `width`, for one block of `vectors` vectors of channels. */
static double map_time(const Core *core, int64_t height, int64_t width, int64_t vectors, double depth)
{
    int64_t most = core->rows[vectors - 1], together = width > 0 ? most / width : 0, tiles, larger;

    if (width <= 0 || height <= 0)
        return 0.0;
    if (together > 1)
        return (double)(height / together) * tile_time(together * width, vectors, depth) +
               (double)(height % together) * tile_time(width, vectors, depth);
    tiles = int_ceil_div(width, most);
    larger = width % tiles;
    return (double)height * ((double)larger * tile_time(width / tiles + 1, vectors, depth) +
                             (double)(tiles - larger) * tile_time(width / tiles, vectors, depth));
}

/* Time of a map for every block of channels. */
double cost_blocks(const Core *core, int64_t height, int64_t width, int64_t outputs, int64_t vectors, double depth)
{
    int64_t wide = vectors * core->lanes, tail = outputs % PANEL;
    bool    three = tail > 2 * core->lanes && tail <= 3 * core->lanes && wide <= PANEL;
    int64_t rest = three ? tail : outputs % wide;
    double  time = (double)((outputs - rest) / wide) * map_time(core, height, width, vectors, depth);

    return rest ? time + map_time(core, height, width, int_min(int_ceil_div(rest, core->lanes), 4), depth) : time;
}

/* Bytes per nanosecond of a block that is written once and read repeatedly. */
static double block_rate(const Core *core, double bytes)
{
    return bytes <= NEAREST ? core->near : 0.5 * core->near;
}

static double product_of(const int64_t *values, int count)
{
    double n = 1.0;

    for (int i = 0; i < count; i++)
        n *= (double)values[i];
    return n;
}

static bool is_flat(const ConvShape *s)
{
    for (int i = 0; i < 3; i++)
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->pad[i] || s->out[i] > s->in[i])
            return false;
    return true;
}

/* Nanoseconds of reading and writing the images, which every block of channels reads again. */
static double activation_time(const Core *core, const ConvShape *s)
{
    double bytes = 4.0 * (double)(s->batch * s->groups) *
                   ((double)s->inputs * product_of(s->in, 3) + (double)s->outputs * product_of(s->out, 3));

    return bytes / block_rate(core, bytes);
}

double cost_direct(const Core *core, const ConvShape *s, int64_t vectors)
{
    bool    flat = is_flat(s);
    int64_t width = flat ? s->out[0] * s->out[1] * s->out[2] : s->out[2], height = flat ? 1 : s->out[0] * s->out[1];
    bool    narrow = core->lanes == 8 && width > core->rows[1] && width <= core->rows[0];
    bool    crowded = core->lanes == 16 && s->groups * s->inputs * s->stride[2] % 1024 == 0;
    double  depth = product_of(s->kernel, 3) * (double)s->inputs;
    double  weights = 4.0 * depth * (double)(s->outputs * s->groups), time;

    if (vectors != 1 && vectors != 2 && vectors != 4)
        vectors = narrow ? 1 : crowded ? 4 : 2;
    if (vectors == 4 && (core->lanes <= 4 || s->outputs % (4 * core->lanes)))
        vectors = 2;
    time = (double)(s->batch * s->groups) * cost_blocks(core, height, width, s->outputs, vectors, depth);
    return COST_CALL + cost_overlapped(time / core->rate, weights / core->far) + activation_time(core, s);
}

int64_t winograd_rows(const ConvShape *s, int64_t m)
{
    return s->kernel[1] == 1 ? 1 : m;
}

int64_t winograd_frequencies(const ConvShape *s, int64_t m)
{
    return s->kernel[1] == 1 ? m + 2 : (m + 2) * (m + 2);
}

int64_t winograd_tiles(const ConvShape *s, int64_t m)
{
    return int_ceil_div(s->out[1], winograd_rows(s, m)) * s->dilation[2] *
           int_ceil_div(int_ceil_div(s->out[2], s->dilation[2]), m);
}

/* Nanoseconds of transforming so many vectors of a tile, both ways. A line of a tile is transformed once instead of in
 * each of its m + 2 columns and rows. */
static double transform_time(const Core *core, const ConvShape *s, int64_t m, double vectors)
{
    double tile = (m == 2 ? TRANSFORM_SMALL : TRANSFORM_LARGE) / 2.0;

    return vectors * (s->kernel[1] == 1 ? tile / (double)(m + 2) : tile) / core->rate;
}

double cost_winograd(const Core *core, const ConvShape *s, int64_t m, int64_t group)
{
    double frequencies = (double)winograd_frequencies(s, m), channels = (double)(s->inputs + s->outputs);
    double tiles = (double)(s->batch * winograd_tiles(s, m));
    double groups = (double)int_ceil_div((int64_t)tiles, group),
           weights = 4.0 * frequencies * (double)(s->inputs * s->outputs);
    double vectors = (double)(int_ceil_div(s->inputs, core->lanes) + int_ceil_div(s->outputs, core->lanes));
    double products = groups * frequencies * cost_blocks(core, 1, group, s->outputs, 2, (double)s->inputs) / core->rate;
    double fetched = weights / core->far + (groups - 1.0) * weights / block_rate(core, weights);
    double transforms = transform_time(core, s, m, tiles * vectors);
    double moved =
        8.0 * tiles * frequencies * channels / block_rate(core, 4.0 * (double)group * frequencies * channels);

    return COST_CALL + cost_overlapped(products, fetched) + transforms + moved + activation_time(core, s);
}

/* --------------------------------------------------------------------------------------------- 8-bit integers */

/* Time of products with an instruction that multiplies two 16-bit values in each lane and adds them. */
static double pairs_time(const Core *core, double products)
{
    return products / (2.0 * core->lanes) * (core->pairs > 0.0 ? core->pairs : 1.0) / core->rate;
}

/* Time of 8-bit products: four in each lane where there is an instruction, else pairs of weights, widened once for
 * every `columns` pixels. */
static double bytes_time(const Core *core, double products, double columns)
{
    return core->quads > 0.0 ? products / (4.0 * core->lanes) * core->quads / core->rate
                             : pairs_time(core, products * (1.0 + WIDENING / columns));
}

/* The direct convolution with weights widened once for every `columns` pixels. */
double cost_direct_strips(const Core *core, const ConvShape *s, double columns)
{
    double weights = product_of(s->kernel, 3) * (double)(s->inputs * s->outputs * s->groups);
    double products = product_of(s->out, 3) * (double)s->batch * weights;
    double bytes = (double)(s->batch * s->groups) *
                   ((double)s->inputs * product_of(s->in, 3) + (double)s->outputs * product_of(s->out, 3));

    return COST_CALL + cost_overlapped(bytes_time(core, products, columns), weights / core->far) + bytes / core->near;
}

double cost_direct_q(const Core *core, const ConvShape *s)
{
    int64_t width = is_flat(s) ? s->out[0] * s->out[1] * s->out[2] : s->out[2];

    return cost_direct_strips(core, s, (double)width / (double)int_max(int_ceil_div(width, core->rows[1]), 1));
}

double cost_winograd_q(const Core *core, const ConvShape *s, int64_t m, int64_t group)
{
    double frequencies = (double)winograd_frequencies(s, m), filters = (double)(s->inputs * s->outputs),
           weights = 2.0 * frequencies * filters;
    double tiles = (double)(s->batch * winograd_tiles(s, m));
    double groups = (double)int_ceil_div((int64_t)tiles, group);
    double products = pairs_time(core, groups * (double)group * frequencies * filters);
    double fetched = weights / core->far + (groups - 1.0) * weights / core->near;
    double vectors = (double)int_ceil_div(s->inputs, 2 * core->lanes) + (double)int_ceil_div(s->outputs, core->lanes);
    double transforms = transform_time(core, s, m, tiles * vectors);

    return COST_CALL + cost_overlapped(products, fetched) + transforms;
}
