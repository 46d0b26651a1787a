/* row_tile.c - tiles of a row for integer convolutions. */
#include "ops/quant/row_tile.h"
#include "support/int.h"

enum { LANE = 4, PANEL = 32 };

/* Results of a tile (the kernel has up to 14 at a time), bytes of its widened inputs, channels from which it pays, and
 * bytes of input and result next to which its own hardly count. */
enum { LEAST = 12, MOST = 96, BYTES = 16 << 10, LEAST_CHANNELS = 16, LEAST_TENSORS = 32 << 10 };

/* Where weights are widened too: results that use them, bytes of weights, and the least ratio of tensors to scratch. */
enum { WEIGHED = 48, WEIGHED_BYTES = 32 << 10, SHARE = 6 };

/* Windows of several taps are gathered where they take at most GATHERED_BYTES, each widened input meets at least
 * GATHERED_CHANNELS channels, and at most GATHERED_SHARE percent of a row's tiles are in use. */
enum { GATHERED_BYTES = 128 << 10, GATHERED_CHANNELS = 64, GATHERED_SHARE = 80 };

/* Pairs of 16 bits that the inputs of `columns` results widen to. Where windows are gathered, a row has room, too: the
 * kernel takes rows if the image that it writes has gaps between them. */
static int64_t input_words(const RowTileShape *s, int64_t columns, bool gathers)
{
    int64_t pixels = s->kernel > 1 ? (columns - 1) * s->stride + (s->kernel - 1) * s->dilation + 1 : columns;

    return s->rows * 2 * int_max(pixels, gathers ? columns * s->kernel : 0) * (s->inputs / LANE);
}

static int64_t columns_within(const RowTileShape *s, int64_t bytes, bool gathers)
{
    int64_t columns = LEAST;

    while (columns < MOST && input_words(s, columns + LEAST, gathers) * (int64_t)sizeof(int32_t) <= bytes)
        columns += LEAST;
    return columns;
}

/* Whether windows are gathered. A row of 14 results is two tiles of 12, of which 58 % are in use; gathered, the last
 * tile alone is not full. Windows of one tap cost nothing more than a row. */
static bool gathers(const RowTileShape *s)
{
    int64_t tiled = int_round_up(s->row, LEAST);

    if (s->results <= s->row || s->results < 2 * LEAST)
        return false;
    return s->rows * s->kernel == 1 ||
           (100 * s->row <= GATHERED_SHARE * tiled && s->outputs >= GATHERED_CHANNELS &&
            input_words(s, LEAST, true) * (int64_t)sizeof(int32_t) <= int_min(GATHERED_BYTES, s->tensors));
}

RowTilePlan row_tile_plan(const RowTileShape *s)
{
    bool        gathered = gathers(s);
    RowTilePlan plain = {0, false, gathered, 0}, weighed = {WEIGHED, true, gathered, 0};
    int64_t     weights = s->rows * s->kernel * (s->inputs / LANE) * 2 * PANEL, size = (int64_t)sizeof(int32_t);

    if (s->tensors < LEAST_TENSORS || s->outputs < LEAST_CHANNELS || s->inputs < LEAST_CHANNELS ||
        s->inputs % LANE != 0)
        return (RowTilePlan){0, false, false, 0};
    weighed.words = input_words(s, WEIGHED, gathered) + weights;
    if ((gathered ? s->results : s->row) >= WEIGHED && weights * size <= WEIGHED_BYTES &&
        weighed.words * size * SHARE <= s->tensors)
        return weighed;
    plain.columns = columns_within(s, BYTES, gathered);
    plain.words = input_words(s, plain.columns, gathered);
    return plain;
}
