/* winograd_q.c - choosing and preparing convolutions of 8-bit integers in the transformed domain: weights as whole numbers of 16
 * bits, see occ_winograd_q.h. */
#include "ops/winograd.h"
#include "support/int.h"

enum {
    PANEL = 32,
    CACHE_BYTES = 256 * 1024,  /* transformed tiles and sums that stay near */
    LEAST_TILES = 12,          /* together: two tiles of the product */
    GAP = 32                   /* words between frequencies, of inputs and of sums */
};

/* Rows of the weights' transform, without fractions. */
static const int small[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
static const int large[6][3] = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 12}};

/* ------------------------------------------------------------------------------------------------------------ the choice */

/* The largest absolute value that a sum may take without its bias. */
static int64_t largest_sum(const ConvShape *shape, DType dtype, const int8_t *weights)
{
    int64_t largest = 0;

    for (int64_t o = 0; o < shape->outputs; o++) {
        int64_t more = 0, less = 0;

        for (int64_t i = 0; i < 9 * shape->inputs; i++) {
            int w = weights[o * 9 * shape->inputs + i];

            more += w > 0 ? w : 0;
            less -= w < 0 ? w : 0;
        }
        largest = int_max(largest, dtype == DTYPE_U8 ? 255 * int_max(more, less) : 128 * (more + less));
    }
    return largest;
}

static WinogradPlan plan_of(const ConvShape *shape, int64_t m, int64_t largest)
{
    int64_t frequencies = (m + 2) * (m + 2), tiles = shape->batch * int_ceil_div(shape->out[1], m) * int_ceil_div(shape->out[2], m);
    int64_t most = int_max(CACHE_BYTES / (frequencies * (2 * shape->inputs + 4 * PANEL)), LEAST_TILES);

    if (!winograd_pays(shape) || largest >= (m == 2 ? INT64_C(1) << 29 : INT64_C(1) << 25))
        return (WinogradPlan){0, 0};
    return (WinogradPlan){m, int_ceil_div(tiles, int_ceil_div(tiles, most))}; /* even groups */
}

WinogradPlan winograd_q_plan(Winograd choice, const Core *core, const ConvShape *shape, DType dtype, const int8_t *weights)
{
    double       price = choice == WINOGRAD_ON ? 0.0 : 1.0;
    double       time = cost_direct_q(core, shape) + price * winograd_memory(core, shape, 9);
    WinogradPlan best = {0, 0};
    int64_t      largest;

    if (choice == WINOGRAD_OFF || core->pairs == 0.0 || !winograd_takes(shape))
        return best;
    largest = largest_sum(shape, dtype, weights);
    for (int64_t m = 2; m <= 4; m += 2) {
        WinogradPlan plan = plan_of(shape, m, largest);
        double       its = time;

        if (plan.m)
            its = cost_winograd_q(core, shape, m, plan.group) + price * winograd_memory(core, shape, 2 * (m + 2) * (m + 2));
        if (its < time) {
            best = plan;
            time = its;
        }
    }
    return best;
}

int64_t winograd_q_scratch(WinogradPlan plan, int64_t inputs)
{
    return (plan.m + 2) * (plan.m + 2) * (plan.group * ((inputs + 1) / 2 + PANEL) + GAP);
}

/* ----------------------------------------------------------------------------------------------------------- the weights */

/* to[f * step] = element f of the transformed filter. */
static void transform(int16_t *to, int64_t step, const int8_t *w, int64_t m)
{
    const int (*g)[3] = m == 2 ? small : large;
    int64_t size = m + 2;

    for (int64_t i = 0; i < size; i++)
        for (int64_t k = 0; k < size; k++) {
            int sum = 0;

            for (int r = 0; r < 3; r++)
                for (int c = 0; c < 3; c++)
                    sum += g[i][r] * w[3 * r + c] * g[k][c];
            to[(i * size + k) * step] = (int16_t)sum;
        }
}

Operand winograd_q_weights(Lower *lower, const int8_t *data, int64_t inputs, int64_t outputs, int64_t m, const char *name)
{
    int64_t  pairs = (inputs + 1) / 2, deep = (m + 2) * (m + 2) * pairs * 2;
    int64_t  elements = int_round_up(outputs, 4) * deep;
    int16_t *to = arena_array(lower->program->arena, int16_t, elements + 1);

    for (int64_t o = 0; o < outputs; o++) {
        int64_t before = o / PANEL * PANEL, width = int_min(int_round_up(outputs - before, 4), PANEL);

        for (int64_t i = 0; i < inputs; i++)
            transform(to + before * deep + (i / 2 * width + o % PANEL) * 2 + i % 2, pairs * width * 2, data + (o * inputs + i) * 9, m);
    }
    return lower_weight(lower, to, DTYPE_I16, 1, &elements, name);
}
