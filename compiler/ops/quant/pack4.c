/* pack4.c - weights of integer kernels. */
#include "ops/quant/pack4.h"
#include "lower/packing.h"
#include "support/int.h"

#include <string.h>

enum { LANE = 4 };

static int64_t fours(int64_t inputs)
{
    return (inputs + LANE - 1) / LANE;
}

/* Bytes of a constant in panels: rows are [tap][four inputs]. */
typedef struct QuadPanels {
    PanelPacking  base;
    const int8_t *data;
    int64_t       inputs, outputs;
    int64_t       stride[4];
} QuadPanels;

/* Packs one row: `count` outputs from `data` on with four inputs each, of which `inputs` exist. */
static void put_row(int8_t *to, const int8_t *data, int64_t count, int64_t inputs, const int64_t *stride)
{
    for (int64_t o = 0; o < count; o++)
        for (int64_t k = 0; k < LANE && k < inputs; k++)
            to[o * LANE + k] = data[o * stride[1] + k * stride[2]];
}

static void pack4_put(const PanelPacking *packing, const PackedRows *rows, void *to)
{
    const QuadPanels *p = (const QuadPanels *)packing;
    const int8_t     *from = p->data + rows->group * p->stride[0] + rows->output * p->stride[1];
    int64_t           deep = fours(p->inputs), count = int_min(p->outputs - rows->output, rows->width);
    int8_t           *next = to;

    memset(to, 0, (size_t)(rows->count * rows->width * LANE));
    for (int64_t row = rows->row; row < rows->row + rows->count; row++, next += rows->width * LANE) {
        int64_t t = row / deep, i = row % deep * LANE;

        put_row(next, from + i * p->stride[2] + t * p->stride[3], count, p->inputs - i, p->stride);
    }
}

Operand pack4_constant(Lower *lower, const int8_t *data, PanelShape s, const int64_t *stride, const char *name)
{
    QuadPanels *p = arena_one(lower->program->arena, QuadPanels);

    *p = (QuadPanels){.data = data, .inputs = s.inputs, .outputs = s.outputs};
    p->base = (PanelPacking){.groups = s.groups,
                             .outputs = int_round_up(s.outputs, LANE),
                             .rows = s.taps * fours(s.inputs),
                             .lane = LANE,
                             .dtype = DTYPE_I8,
                             .put = pack4_put};
    memcpy(p->stride, stride, sizeof p->stride);
    return packing_add(lower, &p->base, name);
}

int32_t *pack4_sums(Lower *lower, const int8_t *data, PanelShape s, const int64_t *stride)
{
    int32_t *sums = arena_array(lower->program->arena, int32_t, s.groups * s.outputs + 1);

    for (int64_t g = 0; g < s.groups; g++)
        for (int64_t o = 0; o < s.outputs; o++)
            for (int64_t n = 0; n < s.inputs * s.taps; n++)
                sums[g * s.outputs + o] +=
                    data[g * stride[0] + o * stride[1] + n / s.taps * stride[2] + n % s.taps * stride[3]];
    return sums;
}

static bool pair_is_safe(int a, int b)
{
    int more = (a > 0 ? a : 0) + (b > 0 ? b : 0), less = (a < 0 ? a : 0) + (b < 0 ? b : 0);

    return 255 * more <= INT16_MAX && 255 * less >= INT16_MIN;
}

bool pack4_is_safe(const int8_t *data, PanelShape s, const int64_t *stride)
{
    for (int64_t n = 0; n < s.groups * s.outputs * s.taps; n++) {
        const int8_t *w =
            data + n / (s.outputs * s.taps) * stride[0] + n / s.taps % s.outputs * stride[1] + n % s.taps * stride[3];

        for (int64_t i = 0; i + 1 < s.inputs; i += 2)
            if (!pair_is_safe(w[i * stride[2]], w[(i + 1) * stride[2]]))
                return false;
    }
    return true;
}
