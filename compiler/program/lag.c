/* lag.c - the safe distance between input and result of a kernel that works row by row.
 * The idea of overlapping both (diagonal memory optimisation) is that of Blacker, Bridges, Hadfield: "Rapid Deployment of
 * Deep Learning Models to Memory Constrained Devices", 2020; here the distance follows from the order of the rows. */
#include "program/lag.h"

/* The lowest row of the input that is read from row `at` of the result on. */
static int64_t lowest_read(const RowWalk *walk, int64_t at)
{
    int64_t row = at * walk->stride - walk->pad;

    return row < 0 ? 0 : row > walk->input_rows ? walk->input_rows : row;
}

/* The lag that the pixels of row `at` need among themselves. */
static int64_t lag_in_row(const RowWalk *walk, int64_t at)
{
    int64_t row = at * walk->yrow + walk->ytail - lowest_read(walk, at) * walk->xrow, lag = 0;

    for (int64_t first = 0; first < walk->columns; first++) { /* wherever a tile begins */
        int64_t last = first + walk->tile < walk->columns ? first + walk->tile - 1 : walk->columns - 1;
        int64_t read = first * walk->across - walk->left;
        int64_t ahead = row - 1 + last * walk->ycolumn - (read < 0 ? 0 : read) * walk->xcolumn;

        lag = ahead > lag ? ahead : lag;
    }
    return lag;
}

int64_t lag_of_rows(const RowWalk *walk)
{
    int64_t lag = 0, ytail = (walk->columns - 1) * walk->ycolumn + walk->ytail;

    for (int64_t first = 0; first < walk->rows; first += walk->block) {
        int64_t next = first + walk->block < walk->rows ? first + walk->block : walk->rows;
        int64_t end = (next - 1) * walk->yrow + ytail; /* of what is written until then */
        int64_t now = end - 1 - lowest_read(walk, first) * walk->xrow, later = end - lowest_read(walk, next) * walk->xrow;

        now = walk->tile > 0 ? lag_in_row(walk, first) : now;
        lag = now > lag ? now : lag;
        lag = later > lag && next < walk->rows ? later : lag;
    }
    return lag;
}
