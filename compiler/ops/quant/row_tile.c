/* row_tile.c - tiles of a row for integer convolutions. */
#include "ops/quant/row_tile.h"
#include "support/int.h"

enum { LANE = 4, PANEL = 32 };

/* Results of a tile (the kernel has up to 14 at a time), bytes of its widened inputs, channels from which it pays, and
 * bytes of input and result next to which its own hardly count. */
enum { LEAST = 12, MOST = 96, BYTES = 16 << 10, LEAST_CHANNELS = 16, LEAST_TENSORS = 32 << 10 };

/* Where weights are widened too: results that use them, bytes of weights, and the least ratio of tensors to scratch. */
enum { WEIGHED = 48, WEIGHED_BYTES = 32 << 10, SHARE = 6 };

/* Pairs of 16 bits that the inputs of `columns` results in a row widen to. */
static int64_t input_words(const RowTileShape *s, int64_t columns)
{
    int64_t pixels = s->kernel > 1 ? (columns - 1) * s->stride + (s->kernel - 1) * s->dilation + 1 : columns;

    return s->rows * 2 * pixels * (s->inputs / LANE);
}

static int64_t columns_within(const RowTileShape *s, int64_t bytes)
{
    int64_t columns = LEAST;

    while (columns < MOST && input_words(s, columns + LEAST) * (int64_t)sizeof(int32_t) <= bytes)
        columns += LEAST;
    return columns;
}

RowTilePlan row_tile_plan(const RowTileShape *s)
{
    RowTilePlan plain = {0, false, 0}, weighed = {WEIGHED, true, 0};
    int64_t     weights = s->rows * s->kernel * (s->inputs / LANE) * 2 * PANEL, size = (int64_t)sizeof(int32_t);

    if (s->tensors < LEAST_TENSORS || s->outputs < LEAST_CHANNELS || s->inputs < LEAST_CHANNELS ||
        s->inputs % LANE != 0)
        return plain;
    weighed.words = input_words(s, WEIGHED) + weights;
    if (s->row >= WEIGHED && weights * size <= WEIGHED_BYTES && weighed.words * size * SHARE <= s->tensors)
        return weighed;
    plain.columns = columns_within(s, BYTES);
    plain.words = input_words(s, plain.columns);
    return plain;
}
