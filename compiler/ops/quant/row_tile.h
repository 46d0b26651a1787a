/* row_tile.h - tiles of a row for integer convolutions on processors that multiply pairs of 16 bits: the number of
 * results of a row whose inputs are widened together, and the scratch for it. Knows nothing of steps. */
#ifndef OCC_OPS_QUANT_ROW_TILE_H
#define OCC_OPS_QUANT_ROW_TILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct RowTileShape {
    int64_t inputs, outputs;                /* channels of one group */
    int64_t row, results;                   /* results in a row, and of an image; 0: known while running */
    int64_t rows, kernel, stride, dilation; /* rows of taps; taps of one, between results and between themselves */
    int64_t tensors;                        /* bytes of input and result */
} RowTileShape;

typedef struct RowTilePlan {
    int64_t
         columns;  /* results whose inputs are widened together; 0: none, where memory is small or too few weights meet
                    them */
    bool weighs;   /* the weights of a block are widened once, too, for all these results */
    bool gathers;  /* whole windows are widened, one behind the other, so that results of several rows are together */
    int64_t words; /* scratch, in units of 32 bits */
} RowTilePlan;

RowTilePlan row_tile_plan(const RowTileShape *shape);

#endif
