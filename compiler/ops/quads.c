/* quads.c - weights of integer kernels. */
#include "ops/quads.h"
#include "support/int.h"

enum { PANEL = 32, LANE = 4 };

static int64_t fours(int64_t inputs)
{
    return (inputs + LANE - 1) / LANE;
}

/* One row of a panel: `count` outputs from `data` on, four inputs of each, of which `inputs` are there. */
static void put_row(int8_t *to, const int8_t *data, int64_t count, int64_t inputs, const int64_t *stride)
{
    for (int64_t o = 0; o < count; o++)
        for (int64_t k = 0; k < LANE && k < inputs; k++)
            to[o * LANE + k] = data[o * stride[1] + k * stride[2]];
}

Operand quads_constant(Lower *lower, const int8_t *data, PanelShape s, const int64_t *stride, const char *name)
{
    int64_t deep = fours(s.inputs) * s.taps * LANE, elements = s.groups * int_round_up(s.outputs, LANE) * deep;
    int8_t *to, *next;

    next = to = arena_array(lower->program->arena, int8_t, elements + 1);
    for (int64_t g = 0; g < s.groups; g++)
        for (int64_t o = 0; o < s.outputs; o += PANEL) {
            int64_t width = int_min(int_round_up(s.outputs - o, LANE), PANEL), count = int_min(s.outputs - o, width);

            for (int64_t t = 0; t < s.taps; t++)
                for (int64_t i = 0; i < s.inputs; i += LANE, next += width * LANE)
                    put_row(next, data + g * stride[0] + o * stride[1] + i * stride[2] + t * stride[3], count, s.inputs - i, stride);
        }
    return lower_weight(lower, to, DTYPE_I8, 1, &elements, name);
}

int32_t *quads_sums(Lower *lower, const int8_t *data, PanelShape s, const int64_t *stride)
{
    int32_t *sums = arena_array(lower->program->arena, int32_t, s.groups * s.outputs + 1);

    for (int64_t g = 0; g < s.groups; g++)
        for (int64_t o = 0; o < s.outputs; o++)
            for (int64_t n = 0; n < s.inputs * s.taps; n++)
                sums[g * s.outputs + o] += data[g * stride[0] + o * stride[1] + n / s.taps * stride[2] + n % s.taps * stride[3]];
    return sums;
}

static bool pair_is_safe(int a, int b)
{
    int more = (a > 0 ? a : 0) + (b > 0 ? b : 0), less = (a < 0 ? a : 0) + (b < 0 ? b : 0);

    return 255 * more <= INT16_MAX && 255 * less >= INT16_MIN;
}

bool quads_are_safe(const int8_t *data, PanelShape s, const int64_t *stride)
{
    for (int64_t n = 0; n < s.groups * s.outputs * s.taps; n++) {
        const int8_t *w = data + n / (s.outputs * s.taps) * stride[0] + n / s.taps % s.outputs * stride[1] + n % s.taps * stride[3];

        for (int64_t i = 0; i + 1 < s.inputs; i += 2)
            if (!pair_is_safe(w[i * stride[2]], w[(i + 1) * stride[2]]))
                return false;
    }
    return true;
}
