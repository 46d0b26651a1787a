/* winograd.c - chooses and prepares float convolutions by Winograd's transform. */
#include "ops/lower/winograd.h"
#include "lower/packing.h"
#include "lower/panels.h"
#include "support/int.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_CHANNELS = 16,       /* below, the transforms cost more than they save */
    CACHE_FLOATS = 128 * 1024, /* transformed tiles that stay in a cache while their products are computed */
    HEAVY_FLOATS = 256 * 1024, /* transformed weights that do not: they should be read once only */
    MOST_TILES = 64
};

#define ROUNDING 0x1p-25 /* root mean square of the relative error of one rounding, about */
#define AUTO_PRICE 3.2   /* multiply-adds that each byte of larger weights must save under AUTO */

bool winograd_takes(const ConvShape *shape)
{
    bool line = shape->kernel[1] == 1;

    for (int i = 0; i < 3; i++)
        if (shape->stride[i] != 1 || (shape->dilation[i] != 1 && !(line && i == 2)))
            return false;
    return shape->kernel[0] == 1 && (line || shape->kernel[1] == 3) && shape->kernel[2] == 3 && shape->groups == 1 &&
           shape->in[0] == 1 && shape->out[0] == 1;
}

bool winograd_pays(const ConvShape *shape)
{
    return (shape->kernel[1] == 1 || shape->out[1] >= 4) && shape->out[2] >= 4 * shape->dilation[2] &&
           shape->inputs >= LEAST_CHANNELS && shape->outputs >= LEAST_CHANNELS;
}

/* The number of tiles that are transformed together, at most `most`. Constant extents make even groups. Where extents
 * are bounds, the tiles of the last group are known while running only, and the kernel computes no more than these; so
 * full groups are multiples of what the register tiles of all targets divide well. Example: 196 tiles, at most 64: four
 * groups of 49, or groups of 56. */
static int64_t group_of(const ConvShape *shape, int64_t tiles, int64_t most)
{
    enum { FEW = 4, MANY = 28 };

    if (!shape->is_bound)
        return int_ceil_div(tiles, int_ceil_div(tiles, most));
    tiles = int_round_up(shape->batch * tiles, FEW);
    return tiles <= most ? tiles : most - most % (most < MANY ? FEW : MANY);
}

WinogradPlan winograd_plan_of(const ConvShape *shape, int64_t m)
{
    int64_t frequencies = winograd_frequencies(shape, m);
    int64_t heavy = frequencies * shape->inputs * shape->outputs > HEAVY_FLOATS;
    int64_t most = heavy ? MOST_TILES : CACHE_FLOATS / (frequencies * (shape->inputs + shape->outputs));

    int64_t group = group_of(shape, winograd_tiles(shape, m), int_max(most, 12));

    if (!winograd_pays(shape))
        return (WinogradPlan){0};
    return (WinogradPlan){m, group, winograd_rows(shape, m), winograd_scratch(shape, m, group)};
}

double winograd_memory(const Core *core, const ConvShape *shape, int64_t bytes)
{
    return AUTO_PRICE * (double)(bytes * shape->inputs * shape->outputs) / (core->rate * core->lanes);
}

/* Weights of a filter for each input. */
static int64_t weights_of(const ConvShape *shape, int64_t m)
{
    return m ? winograd_frequencies(shape, m) : shape->kernel[1] * shape->kernel[2];
}

double winograd_price(const Core *core, const ConvShape *shape, int64_t m)
{
    return winograd_memory(core, shape, weights_of(shape, m) * (int64_t)sizeof(float));
}

/* What AUTO charges for the weights: memory, and loading them. */
static double price_of(Winograd choice, const Core *core, const ConvShape *shape, int64_t m, double byte_price)
{
    int64_t elements = weights_of(shape, m) * shape->inputs * shape->outputs;

    if (choice == WINOGRAD_ON)
        return 0.0;
    return winograd_price(core, shape, m) + byte_price * (double)elements * (double)sizeof(float);
}

/* Nanoseconds of transform m, or of the direct algorithm where m is 0 or the transform does not pay. A group of tiles
 * is that of the plan. */
static double time_of(Winograd choice, const Core *core, const ConvShape *shape, int64_t m, int64_t group,
                      double byte_price)
{
    double time = m ? cost_winograd(core, shape, m, group) : cost_direct(core, shape, 0);

    return time + price_of(choice, core, shape, m, byte_price);
}

/* Time of an image. Where the batch is a run-time integer: its mean in the largest batch and in one of a single image,
 * for which large weights take longer than what they save. */
static double time_of_image(Winograd choice, const Core *core, const ConvShape *shape, WinogradPlan plan,
                            double byte_price)
{
    ConvShape single = *shape;
    double    time = time_of(choice, core, shape, plan.m, plan.group, byte_price);

    single.batch = 1;
    if (!shape->is_batch_bound)
        return time;
    if (plan.m)
        plan = winograd_plan_of(&single, plan.m);
    return time / (double)shape->batch + time_of(choice, core, &single, plan.m, plan.group, byte_price);
}

WinogradPlan winograd_plan(Winograd choice, const Core *core, const ConvShape *shape, int64_t most, double byte_price)
{
    double       time;
    WinogradPlan best = {0};

    if (choice == WINOGRAD_OFF)
        return best;
    time = time_of_image(choice, core, shape, best, byte_price);
    for (int64_t m = 2; m <= most; m += 2) {
        WinogradPlan plan = winograd_plan_of(shape, m);
        double       its = time_of_image(choice, core, shape, plan, byte_price);

        if (its < time) {
            best = plan;
            time = its;
        }
    }
    return best;
}

/* Rows of G for m = 2 and m = 4. */
static const double small[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
static const double large[6][3] = {{1.0 / 4, 0, 0},
                                   {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                   {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                   {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                   {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                   {0, 0, 1}};

/* For the last result of a tile, which has the largest factors: for each frequency along an axis, its factor of A
 * squared times the variance of the transformed input (the sum of squares of a row of B). */
static const double small_weight[4] = {0, 2, 2, 2};
static const double large_weight[6] = {0, 34, 34, 640, 640, 42};

/* The matrix P: w' (P x P) w is the variance of that result's products over all frequencies for weights w, summed as if
 * they were equal in size. Its maximum for weights of length 1 is the square of P's largest eigenvalue. */
static void error_form(int64_t m, double form[3][3])
{
    const double(*g)[3] = m == 2 ? small : large, *weight = m == 2 ? small_weight : large_weight;

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            form[i][k] = 0.0;
            for (int64_t f = 0; f < m + 2; f++)
                form[i][k] += weight[f] * g[f][i] * g[f][k];
        }
}

/* For a kernel of one row the matrix is P alone: w' P w. */
static double error_of_line(double p[3][3], const float *w)
{
    double sum = 0.0;

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum += (double)w[i] * p[i][k] * (double)w[k];
    return sum;
}

static double error_of_filter(double p[3][3], const float *w)
{
    double sum = 0.0;

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double inner = 0.0;

            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    inner += p[i][r] * (double)w[3 * r + c] * p[c][k];
            sum += inner * (double)w[3 * i + k];
        }
    return sum;
}

/* The number of roundings of a product: both transforms, and on average half of the sums over inputs. */
static double error_scale(int64_t inputs)
{
    return ROUNDING * sqrt(9.0 + 0.5 * (double)inputs);
}

double winograd_error(const void *data, int64_t taps, int64_t inputs, int64_t outputs, int64_t m)
{
    double form[3][3], most = 0.0;

    error_form(m, form);
    for (int64_t o = 0; o < outputs; o++) {
        double error = 0.0, power = 0.0;

        for (int64_t i = 0; i < inputs; i++) {
            float w[9];

            memcpy(w, (const char *)data + (o * inputs + i) * taps * (int64_t)sizeof *w, (size_t)taps * sizeof *w);
            error += taps == 3 ? error_of_line(form, w) : error_of_filter(form, w);
            for (int k = 0; k < taps; k++)
                power += (double)w[k] * (double)w[k];
        }
        if (power > 0.0 && error > most * power)
            most = error / power;
    }
    return error_scale(inputs) * sqrt(most);
}

int64_t winograd_within(double limit, const void *data, int64_t taps, int64_t inputs, int64_t outputs)
{
    static const double worst[] = {[2] = 3.415, [4] = 80.96}; /* for the worst weights: P's largest eigenvalue */

    for (int64_t m = 4; m >= 2; m -= 2) {
        double most = taps == 3 ? sqrt(worst[m]) : worst[m];

        if (most * error_scale(inputs) <= limit || winograd_error(data, taps, inputs, outputs, m) <= limit)
            return m;
    }
    return 0;
}

/* Element (i, k) of G w G', or k of G w for a kernel of one row, whose gi is {1}. */
static float transformed(const char *data, int64_t rows, const double *gi, const double *gk)
{
    float  w[9];
    double sum = 0.0;

    memcpy(w, data, (size_t)(rows * 3) * sizeof *w);
    for (int64_t r = 0; r < rows; r++)
        for (int c = 0; c < 3; c++)
            sum += gi[r] * (double)w[3 * r + c] * gk[c];
    return (float)sum;
}

/* Transformed weights: the groups are frequencies, the rows inputs. */
typedef struct Transformed {
    PanelPacking base;
    const char  *data; /* [outputs][inputs][taps] floats */
    int64_t      taps, m;
} Transformed;

static void put_transformed(const PanelPacking *packing, const PackedRows *rows, void *to)
{
    const Transformed *p = (const Transformed *)packing;
    const double(*g)[3] = p->m == 2 ? small : large, one[3] = {1, 0, 0};
    const double *gi = p->taps == 3 ? one : g[rows->group / (p->m + 2)], *gk = g[rows->group % (p->m + 2)];
    const int64_t inputs = packing->rows, filter = p->taps * (int64_t)sizeof(float);
    float        *next = to;

    for (int64_t o = 0; o < rows->width; o++)
        for (int64_t i = 0; i < rows->count; i++)
            next[i * rows->width + o] =
                transformed(p->data + ((rows->output + o) * inputs + rows->row + i) * filter, p->taps / 3, gi, gk);
}

Operand winograd_weights(Lower *lower, const void *data, int64_t taps, int64_t inputs, int64_t outputs, int64_t m,
                         const char *name)
{
    Transformed *p = arena_one(lower->program->arena, Transformed);

    p->base = (PanelPacking){.groups = taps == 3 ? m + 2 : (m + 2) * (m + 2),
                             .outputs = outputs,
                             .rows = inputs,
                             .lane = 1,
                             .margin = panels_margin(outputs),
                             .dtype = DTYPE_F32,
                             .put = put_transformed};
    p->data = data;
    p->taps = taps;
    p->m = m;
    return packing_add(lower, &p->base, name);
}
