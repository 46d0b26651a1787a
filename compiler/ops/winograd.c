/* winograd.c - choosing and preparing convolutions in the transformed domain. */
#include "ops/winograd.h"
#include "support/int.h"

#include <string.h>

enum {
    PANEL = 32,
    LEAST_CHANNELS = 32,        /* below, the transforms cost more than they save */
    AUTO_CHANNELS = 64,         /* and small models keep small weights */
    CACHE_FLOATS = 128 * 1024,  /* transformed tiles that stay near while their products are made */
    HEAVY_FLOATS = 256 * 1024,  /* transformed weights that do not: they are better read once */
    MOST_TILES = 64
};

/* Results per tile: 4 costs four times the weights and saves more multiplications, but wastes the ends of small maps. */
static int64_t tile_size(Winograd choice, int64_t height, int64_t width)
{
    int64_t least = height < width ? height : width;

    if (least < 4)
        return 0;
    return least >= (choice == WINOGRAD_ON ? 12 : 24) ? 4 : 2;
}

WinogradPlan winograd_plan(Winograd choice, int64_t inputs, int64_t outputs, int64_t height, int64_t width)
{
    int64_t      least = choice == WINOGRAD_ON ? LEAST_CHANNELS : AUTO_CHANNELS;
    WinogradPlan plan = {0, 0};
    int64_t      tiles, most, frequencies;

    if (choice == WINOGRAD_OFF || inputs < least || outputs < least)
        return plan;
    plan.m = tile_size(choice, height, width);
    if (!plan.m)
        return plan;
    frequencies = (plan.m + 2) * (plan.m + 2);
    tiles = int_ceil_div(height, plan.m) * int_ceil_div(width, plan.m);
    most = frequencies * inputs * outputs > HEAVY_FLOATS ? MOST_TILES : CACHE_FLOATS / (frequencies * (inputs + outputs));
    if (most < 12)
        most = 12;
    plan.group = int_ceil_div(tiles, int_ceil_div(tiles, most)); /* even groups */
    return plan;
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
    int64_t     tail = outputs % PANEL, one = (outputs - tail + (tail + 3) / 4 * 4) * inputs;
    int64_t     elements = (m + 2) * (m + 2) * one;
    float      *to = arena_array(lower->program->arena, float, elements + 1);

    for (int64_t o = 0; o < outputs; o++) {
        int64_t before = o / PANEL * PANEL, left = outputs - before, width = left < PANEL ? (left + 3) / 4 * 4 : PANEL;

        for (int64_t i = 0; i < inputs; i++) {
            float w[9];

            memcpy(w, bytes + (o * inputs + i) * (int64_t)sizeof w, sizeof w);
            transform(to + before * inputs + i * width + o % PANEL, one, w, m);
        }
    }
    return lower_weight(lower, to, DTYPE_F32, 1, &elements, name);
}
