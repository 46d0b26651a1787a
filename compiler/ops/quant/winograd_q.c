/* winograd_q.c - chooses and prepares 8-bit integer convolutions by Winograd's transform: weights become 16-bit
 * integers, see occ_winograd_q.h. */
#include "lower/packing.h"
#include "ops/lower/winograd.h"
#include "support/int.h"

#include <string.h>

enum {
    PANEL = 32,
    CACHE_BYTES = 256 * 1024, /* transformed tiles and sums that stay near */
    FAR_BYTES = 1024 * 1024,  /* weights of which reading them again costs more than tiles that are twice as far */
    LEAST_TILES = 12          /* together: two tiles of the product */
};

/* Rows of the weights' transform, without fractions. */
static const int small[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
static const int large[6][3] = {{6, 0, 0}, {-4, -4, -4}, {-4, 4, -4}, {1, 2, 4}, {1, -2, 4}, {0, 0, 12}};

/* ------------------------------------------------------------------------------------------------------- the choice */

/* The largest absolute value that a sum may take without its bias. */
static int64_t largest_sum(const ConvShape *shape, DType dtype, const int8_t *weights)
{
    int64_t largest = 0, filter = shape->kernel[1] * shape->kernel[2] * shape->inputs;

    for (int64_t o = 0; o < shape->outputs; o++) {
        int64_t more = 0, less = 0;

        for (int64_t i = 0; i < filter; i++) {
            int w = weights[o * filter + i];

            more += w > 0 ? w : 0;
            less -= w < 0 ? w : 0;
        }
        largest = int_max(largest, dtype == DTYPE_U8 ? 255 * int_max(more, less) : 128 * (more + less));
    }
    return largest;
}

/* The least value that a sum must not reach, see occ_winograd_q.h. */
static int64_t limit_of(const ConvShape *shape, int64_t m)
{
    if (shape->kernel[1] == 1)
        return INT64_C(1) << (m == 2 ? 30 : 28);
    return INT64_C(1) << (m == 2 ? 29 : 25);
}

static WinogradPlan plan_of(const ConvShape *shape, int64_t m, int64_t largest)
{
    int64_t frequencies = winograd_frequencies(shape, m), tiles = shape->batch * winograd_tiles(shape, m);
    bool    far = 2 * frequencies * shape->inputs * shape->outputs >= FAR_BYTES;
    int64_t together = far ? 2 * CACHE_BYTES : CACHE_BYTES;
    int64_t most = int_max(together / (frequencies * (2 * shape->inputs + 4 * PANEL)), LEAST_TILES);
    int64_t group = int_ceil_div(tiles, int_ceil_div(tiles, most)); /* even groups */

    if (!winograd_pays(shape) || largest >= limit_of(shape, m))
        return (WinogradPlan){0};
    return (WinogradPlan){m, group, winograd_rows(shape, m), winograd_q_scratch(shape, m, group)};
}

/* What AUTO charges for the weights, of so many bytes for each filter: memory, and loading them. */
static double price_of(Winograd choice, const Core *core, const ConvShape *shape, int64_t bytes, double byte_price)
{
    if (choice == WINOGRAD_ON)
        return 0.0;
    return winograd_memory(core, shape, bytes) + byte_price * (double)(bytes * shape->inputs * shape->outputs);
}

WinogradPlan winograd_q_plan(Winograd choice, const Core *core, const ConvShape *shape, DType dtype,
                             const int8_t *weights, double byte_price)
{
    double time =
        cost_direct_q(core, shape) + price_of(choice, core, shape, shape->kernel[1] * shape->kernel[2], byte_price);
    WinogradPlan best = {0};
    int64_t      largest;

    if (choice == WINOGRAD_OFF || core->pairs == 0.0 || !winograd_takes(shape))
        return best;
    largest = largest_sum(shape, dtype, weights);
    for (int64_t m = 2; m <= 4; m += 2) {
        WinogradPlan plan = plan_of(shape, m, largest);
        double       its = time;

        if (plan.m)
            its = cost_winograd_q(core, shape, m, plan.group) +
                  price_of(choice, core, shape, 2 * winograd_frequencies(shape, m), byte_price);
        if (its < time) {
            best = plan;
            time = its;
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------------ the weights */

/* Element (i, k) of the transformed filter, or k for a kernel of one row, whose gi is {1}. */
static int16_t transformed(const int8_t *w, int64_t rows, const int *gi, const int *gk)
{
    int sum = 0;

    for (int64_t r = 0; r < rows; r++)
        for (int c = 0; c < 3; c++)
            sum += gi[r] * w[3 * r + c] * gk[c];
    return (int16_t)sum;
}

/* Transformed weights, rows [frequency][pair of inputs]. */
typedef struct TransformedPairs {
    PanelPacking  base;
    const int8_t *data; /* [outputs][inputs][taps] */
    int64_t       taps, inputs, outputs, m;
} TransformedPairs;

static void put_pairs(const PanelPacking *packing, const PackedRows *rows, void *to)
{
    const TransformedPairs *p = (const TransformedPairs *)packing;
    const int(*g)[3] = p->m == 2 ? small : large, one[3] = {1, 0, 0};
    int64_t  pairs = (p->inputs + 1) / 2, width = int_min(p->outputs - rows->output, rows->width);
    int16_t *next = to;

    memset(to, 0, (size_t)(rows->count * rows->width * 2) * sizeof *next);
    for (int64_t row = rows->row; row < rows->row + rows->count; row++, next += rows->width * 2) {
        int64_t    frequency = row / pairs, input = row % pairs * 2;
        const int *gi = p->taps == 3 ? one : g[frequency / (p->m + 2)], *gk = g[frequency % (p->m + 2)];

        for (int64_t o = 0; o < width; o++)
            for (int64_t i = input; i < input + 2 && i < p->inputs; i++)
                next[2 * o + i - input] =
                    transformed(p->data + ((rows->output + o) * p->inputs + i) * p->taps, p->taps / 3, gi, gk);
    }
}

Operand winograd_q_weights(Lower *lower, const int8_t *data, int64_t taps, int64_t inputs, int64_t outputs, int64_t m,
                           const char *name)
{
    TransformedPairs *p = arena_one(lower->program->arena, TransformedPairs);

    *p = (TransformedPairs){.data = data, .taps = taps, .inputs = inputs, .outputs = outputs, .m = m};
    p->base = (PanelPacking){.groups = 1,
                             .outputs = int_round_up(outputs, 4),
                             .rows = (taps == 3 ? m + 2 : (m + 2) * (m + 2)) * ((inputs + 1) / 2),
                             .lane = 2,
                             .dtype = DTYPE_I16,
                             .put = put_pairs};
    return packing_add(lower, &p->base, name);
}
