/* winograd.c - choosing and preparing convolutions of floats in the transformed domain. */
#include "ops/winograd.h"
#include "ops/panels.h"
#include "support/int.h"

#include <string.h>

enum {
    PANEL = 32,
    LEAST_CHANNELS = 16,        /* below, the transforms cost more than they save */
    CACHE_FLOATS = 128 * 1024,  /* transformed tiles that stay near while their products are made */
    HEAVY_FLOATS = 256 * 1024,  /* transformed weights that do not: they are better read once */
    MOST_TILES = 64
};

#define AUTO_PRICE 3.2 /* multiply-adds that each byte of larger weights must save under AUTO */

bool winograd_takes(const ConvShape *shape)
{
    for (int i = 0; i < 3; i++)
        if (shape->kernel[i] != (i ? 3 : 1) || shape->stride[i] != 1 || shape->dilation[i] != 1)
            return false;
    return shape->groups == 1 && shape->in[0] == 1 && shape->out[0] == 1;
}

bool winograd_pays(const ConvShape *shape)
{
    return shape->out[1] >= 4 && shape->out[2] >= 4 && shape->inputs >= LEAST_CHANNELS && shape->outputs >= LEAST_CHANNELS;
}

WinogradPlan winograd_plan_of(const ConvShape *shape, int64_t m)
{
    int64_t tiles = int_ceil_div(shape->out[1], m) * int_ceil_div(shape->out[2], m), frequencies = (m + 2) * (m + 2);
    int64_t heavy = frequencies * shape->inputs * shape->outputs > HEAVY_FLOATS;
    int64_t most = heavy ? MOST_TILES : CACHE_FLOATS / (frequencies * (shape->inputs + shape->outputs));

    if (!winograd_pays(shape))
        return (WinogradPlan){0, 0};
    if (most < 12)
        most = 12;
    return (WinogradPlan){m, int_ceil_div(tiles, int_ceil_div(tiles, most))}; /* even groups */
}

double winograd_memory(const Core *core, const ConvShape *shape, int64_t bytes)
{
    return AUTO_PRICE * (double)(bytes * shape->inputs * shape->outputs) / (core->rate * core->lanes);
}

double winograd_price(const Core *core, const ConvShape *shape, int64_t m)
{
    return winograd_memory(core, shape, (m ? (m + 2) * (m + 2) : 9) * (int64_t)sizeof(float));
}

WinogradPlan winograd_plan(Winograd choice, const Core *core, const ConvShape *shape)
{
    double       price = choice == WINOGRAD_ON ? 0.0 : 1.0, time;
    WinogradPlan best = {0, 0};

    if (choice == WINOGRAD_OFF)
        return best;
    time = cost_direct(core, shape, 0) + price * winograd_price(core, shape, 0);
    for (int64_t m = 2; m <= 4; m += 2) {
        WinogradPlan plan = winograd_plan_of(shape, m);
        double       its = plan.m ? cost_winograd(core, shape, m, plan.group) + price * winograd_price(core, shape, m) : time;

        if (its < time) {
            best = plan;
            time = its;
        }
    }
    return best;
}

int64_t winograd_scratch(WinogradPlan plan, int64_t inputs, int64_t outputs)
{
    return (plan.m + 2) * (plan.m + 2) * (plan.group * (inputs + outputs) + 32);
}

/* Rows of G for m = 2 and m = 4. */
static const double small[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
static const double large[6][3] = {{1.0 / 4, 0, 0},
                                   {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                   {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                   {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                   {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                   {0, 0, 1}};

/* to[f * step] = element f of G w G'. */
static void transform(float *to, int64_t step, const float *w, int64_t m)
{
    const double (*g)[3] = m == 2 ? small : large;
    int64_t size = m + 2;

    for (int64_t i = 0; i < size; i++)
        for (int64_t k = 0; k < size; k++) {
            double sum = 0.0;

            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    sum += g[i][r] * (double)w[3 * r + c] * g[k][c];
            to[(i * size + k) * step] = (float)sum;
        }
}

Operand winograd_weights(Lower *lower, const void *data, int64_t inputs, int64_t outputs, int64_t m, const char *name)
{
    const char *bytes = data;
    int64_t     one = outputs * inputs, elements = (m + 2) * (m + 2) * one + panels_margin(outputs);
    float      *to = arena_array(lower->program->arena, float, elements + 1);

    for (int64_t o = 0; o < outputs; o++) {
        int64_t before = o / PANEL * PANEL, width = int_min(outputs - before, PANEL);

        for (int64_t i = 0; i < inputs; i++) {
            float w[9];

            memcpy(w, bytes + (o * inputs + i) * (int64_t)sizeof w, sizeof w);
            transform(to + before * inputs + i * width + o % PANEL, one, w, m);
        }
    }
    return lower_weight(lower, to, DTYPE_F32, 1, &elements, name);
}
