/* cost.c - multiply-adds, waste and bytes, in nanoseconds. Compute and the stream of weights overlap in part;
 * activations are added, since a tile's results wait for its sums. Calibrated by `make bench-kernels`, which prints
 * predictions. */
#include "program/cost.h"

#include "program/flow.h"
#include "program/operand.h"
#include "support/int.h"

#include <math.h>
#include <string.h>

enum {
    PANEL = 32,           /* output channels of a block of weights */
    LATENCY = 10,         /* vector multiply-adds that fit between two dependent ones */
    TILE_START = 24,      /* the same, lost where a tile begins and ends */
    CALL = 200,           /* nanoseconds of any step */
    NEAREST = 640 * 1024, /* bytes of a block that stays in the second cache */
    TRANSFORM_SMALL = 150,
    TRANSFORM_LARGE = 650, /* vector operations on one tile of m 2 and 4, both ways, spills included */
    SERIES = 160           /* vector operations of an exponential and the like, its call included */
};

#define WIDENING 0.75 /* products that making pairs of the weights takes the time of, for each that is made with them */

#define AVX2 8, {12, 6, 4, 3}, 7.0, 40.0, 16.0, 1.4, 0.0

/* What code for any compiler and for none runs on is guessed. */
static const Core cores[] = {
    {"portable", AVX2},
    {"null", AVX2},
    {"x86-64-v3", AVX2},
    {"x86-64-v4", 16, {24, 14, 9, 7}, 7.0, 64.0, 30.0, 1.4, 0.0},
    {"x86-64-v4-vnni", 16, {24, 14, 9, 7}, 7.0, 64.0, 30.0, 1.1, 1.1},
    {"armv8", 4, {16, 10, 7, 5}, 5.0, 24.0, 8.0, 0.0, 0.0},
    {"cortex-m", 1, {8, 4, 3, 2}, 0.06, 0.8, 0.2, 0.0, 0.0},
    {"x86-64", 4, {8, 4, 3, 2}, 4.0, 40.0, 10.0, 1.4, 0.0},
};

#undef AVX2

static const Core *core_named(const char *name)
{
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++)
        if (!strcmp(cores[i].name, name))
            return &cores[i];
    return NULL;
}

static const Core *core_here(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vl"))
        return core_named(__builtin_cpu_supports("avx512vnni") ? "x86-64-v4-vnni" : "x86-64-v4");
    return core_named(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "x86-64-v3" : "x86-64");
#else
    return core_named("armv8");
#endif
}

const Core *core_find(const char *target)
{
    return !strcmp(target, "native") ? core_here() : core_named(target);
}

/* ----------------------------------------------------------------------------------------------------- convolutions */

static double product_of(const int64_t *values, int count)
{
    double n = 1.0;

    for (int i = 0; i < count; i++)
        n *= (double)values[i];
    return n;
}

static double max_of(double a, double b)
{
    return a > b ? a : b;
}

static double min_of(double a, double b)
{
    return a < b ? a : b;
}

/* Of work and of the weights that it waits for: prefetching hides half. */
static double overlapped(double compute, double stream)
{
    return max_of(compute, stream) + 0.5 * min_of(compute, stream);
}

/* Vector multiply-adds' time of one tile over `depth` steps of k: each takes `pixels` times `vectors` of them, loads
 * one value for each pixel and one vector for each vector, and a sum waits for itself. */
static double tile_time(int64_t pixels, int64_t vectors, double depth)
{
    double products = (double)(pixels * vectors), loads = (double)(pixels + vectors);

    return depth * max_of(max_of(products, loads), LATENCY) + TILE_START + 2.0 * products;
}

/* All pixels of a map of `height` rows of `width` for one block of `vectors` vectors. */
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

/* Every block of channels over a map. */
static double blocks_time(const Core *core, int64_t height, int64_t width, int64_t outputs, int64_t vectors,
                          double depth)
{
    int64_t wide = vectors * core->lanes, tail = outputs % PANEL;
    bool    three = tail > 2 * core->lanes && tail <= 3 * core->lanes && wide <= PANEL;
    int64_t rest = three ? tail : outputs % wide;
    double  time = (double)((outputs - rest) / wide) * map_time(core, height, width, vectors, depth);

    return rest ? time + map_time(core, height, width, int_min(int_ceil_div(rest, core->lanes), 4), depth) : time;
}

static bool is_flat(const ConvShape *s)
{
    for (int i = 0; i < 3; i++)
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->pad[i] || s->out[i] > s->in[i])
            return false;
    return true;
}

/* Bytes a nanosecond of a block that is written and read again and again. */
static double block_rate(const Core *core, double bytes)
{
    return bytes <= NEAREST ? core->near : 0.5 * core->near;
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
    time = (double)(s->batch * s->groups) * blocks_time(core, height, width, s->outputs, vectors, depth);
    return CALL + overlapped(time / core->rate, weights / core->far) + activation_time(core, s);
}

double cost_winograd(const Core *core, const ConvShape *s, int64_t m, int64_t group)
{
    double frequencies = (double)((m + 2) * (m + 2)), channels = (double)(s->inputs + s->outputs);
    double tiles = (double)(s->batch * int_ceil_div(s->out[1], m) * int_ceil_div(s->out[2], m));
    double groups = (double)int_ceil_div((int64_t)tiles, group),
           weights = 4.0 * frequencies * (double)(s->inputs * s->outputs);
    double vectors = (double)(int_ceil_div(s->inputs, core->lanes) + int_ceil_div(s->outputs, core->lanes));
    double products = groups * frequencies * blocks_time(core, 1, group, s->outputs, 2, (double)s->inputs) / core->rate;
    double fetched = weights / core->far + (groups - 1.0) * weights / block_rate(core, weights);
    double transforms = tiles * vectors * (m == 2 ? TRANSFORM_SMALL : TRANSFORM_LARGE) / 2.0 / core->rate;
    double moved =
        8.0 * tiles * frequencies * channels / block_rate(core, 4.0 * (double)group * frequencies * channels);

    return CALL + overlapped(products, fetched) + transforms + moved + activation_time(core, s);
}

/* ----------------------------------------------------------------------------------- convolutions of 8-bit integers */

/* Products that join the lanes of a vector two at a time. */
static double pairs_time(const Core *core, double products)
{
    return products / (2.0 * core->lanes) * (core->pairs > 0.0 ? core->pairs : 1.0) / core->rate;
}

/* Products of bytes: four at a time, or as pairs that the weights are widened to for every `columns` pixels. */
static double bytes_time(const Core *core, double products, double columns)
{
    return core->quads > 0.0 ? products / (4.0 * core->lanes) * core->quads / core->rate
                             : pairs_time(core, products * (1.0 + WIDENING / columns));
}

/* The same with weights that are widened for every `columns` pixels. */
static double direct_q(const Core *core, const ConvShape *s, double columns)
{
    double weights = product_of(s->kernel, 3) * (double)(s->inputs * s->outputs * s->groups);
    double products = product_of(s->out, 3) * (double)s->batch * weights;
    double bytes = (double)(s->batch * s->groups) *
                   ((double)s->inputs * product_of(s->in, 3) + (double)s->outputs * product_of(s->out, 3));

    return CALL + overlapped(bytes_time(core, products, columns), weights / core->far) + bytes / core->near;
}

double cost_direct_q(const Core *core, const ConvShape *s)
{
    int64_t width = is_flat(s) ? s->out[0] * s->out[1] * s->out[2] : s->out[2];

    return direct_q(core, s, (double)width / (double)int_max(int_ceil_div(width, core->rows[1]), 1));
}

double cost_winograd_q(const Core *core, const ConvShape *s, int64_t m, int64_t group)
{
    double frequencies = (double)((m + 2) * (m + 2)), filters = (double)(s->inputs * s->outputs),
           weights = 2.0 * frequencies * filters;
    double tiles = (double)(s->batch * int_ceil_div(s->out[1], m) * int_ceil_div(s->out[2], m));
    double groups = (double)int_ceil_div((int64_t)tiles, group);
    double products = pairs_time(core, groups * (double)group * frequencies * filters);
    double fetched = weights / core->far + (groups - 1.0) * weights / core->near;
    double vectors = (double)int_ceil_div(s->inputs, 2 * core->lanes) + (double)int_ceil_div(s->outputs, core->lanes);
    double transforms = tiles * vectors * (m == 2 ? TRANSFORM_SMALL : TRANSFORM_LARGE) / 2.0 / core->rate;

    return CALL + overlapped(products, fetched) + transforms;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static int64_t value(const Step *step, const char *name, int index)
{
    int           count;
    const Extent *list = step_extents_of(step, name, &count);

    return list && index < count ? list[index].max : 1;
}

/* false: an extent is known only while running. */
static bool copy_ints(int64_t *to, const Step *step, const char *name, int first, int count)
{
    int           all;
    const Extent *list = step_extents_of(step, name, &all);

    for (int i = 0; i < count; i++) {
        to[i] = list ? list[first + i].max : 1;
        if (list && !extent_is_const(list[first + i]))
            return false;
    }
    return true;
}

/* What every kernel over windows has. */
static bool window_shape(const Step *step, ConvShape *s)
{
    const struct {
        int64_t    *to;
        const char *name;
        int         first, count;
    } part[] = {{s->in, "xdim", 2, 3},       {s->out, "ydim", 2, 3},          {s->kernel, "kernel", 0, 3},
                {s->stride, "stride", 0, 3}, {s->dilation, "dilation", 0, 3}, {s->pad, "pad", 0, 3},
                {&s->batch, "xdim", 0, 1}};
    bool known = true;

    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        known = copy_ints(part[i].to, step, part[i].name, part[i].first, part[i].count) && known;
    s->groups = value(step, "groups", 0);
    s->inputs = value(step, "xdim", 1) / s->groups;
    s->outputs = value(step, "ydim", 1) / s->groups;
    return known;
}

static bool kernel_is(const Step *step, const char *start)
{
    return step->kernel && !strncmp(step->kernel->name, start, strlen(start));
}

bool conv_shape_of(const Step *step, ConvShape *shape)
{
    return step->kind == STEP_KERNEL && (kernel_is(step, "conv_f32") || kernel_is(step, "winograd_f32")) &&
           window_shape(step, shape);
}

static double product_named(const Step *step, const char *name)
{
    int           count;
    const Extent *list = step_extents_of(step, name, &count);
    double        n = 1.0;

    for (int i = 0; list && i < count; i++)
        n *= (double)list[i].max;
    return n;
}

/* Vector operations of the expression for one vector of results. */
static double expression_operations(const Step *step)
{
    double sum = 0.0;

    for (int i = 0; step->expr && i < step->expr->nnode; i++) {
        ScalarOp op = step->expr->node[i].op;
        bool     series = op == SCALAR_exp || op == SCALAR_tanh || op == SCALAR_sigmoid || op == SCALAR_erf ||
                      op == SCALAR_log || op == SCALAR_softplus || op == SCALAR_sin || op == SCALAR_cos;

        sum += series ? SERIES : !step->expr->vector ? 8.0 : 1.0;
    }
    return sum;
}

/* Results of a step: the elements that it writes. */
static double results(const Step *step)
{
    double n = 1.0;

    for (int k = 0; k < step->nparam; k++)
        if (step->operand[k].access & OPERAND_WRITES) {
            for (int i = 0; i < step->operand[k].rank; i++)
                n *= (double)step->operand[k].dim[i].max;
            return n;
        }
    return n;
}

/* Whether along some axis all operands of a copy or map lie without gaps, or repeat one element. */
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

/* Of each query with all keys, and what a softmax takes besides. */
static double attention_products(const Step *step)
{
    int    rank = step->operand[0].rank;
    double width = (double)value(step, "ydim", rank - 1), depth = (double)value(step, "qdim", rank - 1);

    return product_named(step, "ydim") / fmax(width, 1.0) * (double)value(step, "kdim", rank - 1) *
           (depth + width + 30.0);
}

/* Vector operations of other kernels than the convolutions above; sums of bytes do two lanes' work in one. */
static double other_operations(const Core *core, const Step *step)
{
    double lanes = core->lanes;

    if (kernel_is(step, "conv_integer"))
        return product_named(step, "ydim") * product_named(step, "kernel") * (double)value(step, "xdim", 1) /
               (2.0 * lanes);
    if (kernel_is(step, "copy") || kernel_is(step, "map_vf"))
        return moves_lines(step) ? 0.0 : (kernel_is(step, "copy") ? 6.0 : 50.0) * results(step);
    if (kernel_is(step, "depthwise") || kernel_is(step, "pool_") || kernel_is(step, "maxpool"))
        return product_named(step, "ydim") * product_named(step, "kernel") * 1.5 / lanes;
    if (kernel_is(step, "conv_dot"))
        return product_named(step, "ydim") * product_named(step, "kernel") * (double)value(step, "xdim", 1) * 1.5 /
               lanes;
    if (kernel_is(step, "conv_after"))
        return product_named(step, "ydim") * (double)value(step, "blockdim", 1) * 1.2 / lanes;
    if (kernel_is(step, "attention"))
        return attention_products(step) * 2.4 / lanes;
    if (kernel_is(step, "softmax") || kernel_is(step, "lrn") || kernel_is(step, "moments"))
        return product_named(step, "kdim") * (double)value(step, "axis", 0) * 20.0 / lanes;
    if (kernel_is(step, "reduce"))
        return product_named(step, "kdim") * product_named(step, "rdim") * 4.0 / lanes;
    return 0.0;
}

/* A stack of products of two computed matrices. */
static double stack_time(const Core *core, const Step *step)
{
    int    rank = step->operand[0].rank;
    double rows = (double)value(step, "ydim", rank - 2) * (double)value(step, "ydim", rank - 1);

    return 1.2 * product_named(step, "ydim") / fmax(rows, 1.0) *
           blocks_time(core, 1, value(step, "ydim", rank - 2), value(step, "ydim", rank - 1), 2,
                       (double)value(step, "adim", rank - 1));
}

/* Bytes of the operands from number `first` on; a repeated axis counts once, and of what rows are picked from, those
 * picked. */
static double bytes_from(const Program *program, const Step *step, int first, bool weights)
{
    double sum = 0.0, most = kernel_is(step, "gather") ? results(step) : INFINITY;

    for (int k = first; k < step->noperand; k++) {
        const Operand *x = &step->operand[k];
        double         n = 1.0;

        if (x->buffer < 0 || (program->buffer[x->buffer].kind == BUFFER_WEIGHT) != weights)
            continue;
        for (int i = 0; i < x->rank; i++)
            n *= extent_is_const(x->stride[i]) && x->stride[i].max == 0 ? 1.0 : (double)x->dim[i].max;
        sum += fmin(n, most) * operand_bytes_per_element(x);
    }
    return sum;
}

static double float_products(const Core *core, const Step *step, const ConvShape *shape)
{
    if (kernel_is(step, "winograd"))
        return cost_winograd(core, shape, value(step, "m", 0), value(step, "group", 0));
    return cost_direct(core, shape, value(step, "tile", 0));
}

/* Of the largest extents. */
static double byte_products(const Core *core, const Step *step)
{
    ConvShape shape;

    window_shape(step, &shape);
    if (kernel_is(step, "winograd"))
        return cost_winograd_q(core, &shape, value(step, "m", 0), value(step, "group", 0));
    if (value(step, "kept", 0) > 0)
        return direct_q(core, &shape, (double)value(step, "strip", 0));
    return cost_direct_q(core, &shape);
}

double cost_step(const Core *core, const Program *program, const Step *step)
{
    ConvShape shape;
    double    operations, epilogue;
    bool      in_floats, in_bytes;

    if (step->kind != STEP_KERNEL)
        return 0.0;
    epilogue = results(step) / core->lanes * expression_operations(step) / core->rate;
    in_floats = conv_shape_of(step, &shape);
    in_bytes = kernel_is(step, "conv_q") || kernel_is(step, "winograd_q");
    if (in_floats || in_bytes)
        return epilogue + bytes_from(program, step, step->nparam, false) / core->near +
               (in_floats ? float_products(core, step, &shape) : byte_products(core, step));
    operations = kernel_is(step, "matmul_f32") ? stack_time(core, step) : other_operations(core, step);
    return CALL + epilogue + overlapped(operations / core->rate, bytes_from(program, step, 0, true) / core->far) +
           bytes_from(program, step, 0, false) / core->near;
}

/* Weights that are read again are fetched while products are made. */
double *cost_steps(const Core *core, const Program *program)
{
    double *time = flow_runs(program->arena, program);
    Core    warm = *core;

    warm.far = warm.near * 1e3;
    for (int s = 0; s < program->nstep; s++) {
        const Step *step = &program->step[s];

        time[s] = fmin(time[s], 1.0) * cost_step(core, program, step) +
                  fmax(time[s] - 1.0, 0.0) * cost_step(&warm, program, step);
    }
    return time;
}

double cost_program(const Core *core, const Program *program)
{
    const double *time = cost_steps(core, program);
    double        sum = 0.0;

    for (int s = 0; s < program->nstep; s++)
        sum += time[s];
    return sum;
}
