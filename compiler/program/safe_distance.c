/* safe_distance.c - the safe distance between input and result of a kernel that works row by row.
 * The idea of overlapping both (diagonal memory optimisation) is that of Blacker, Bridges, Hadfield: "Rapid Deployment
 * of Deep Learning Models to Memory Constrained Devices", 2020; here the distance follows from the order of the
 * rows. */
#include "program/safe_distance.h"

#include <stddef.h>

/* The lowest row of the input that is read from row `at` of the result on. */
static int64_t lowest_read(const RowWalk *walk, int64_t at)
{
    int64_t row = at * walk->stride - walk->pad;

    return row < 0 ? 0 : row > walk->input_rows ? walk->input_rows : row;
}

static int64_t among(int64_t place, int64_t count)
{
    return place < 0 ? 0 : place < count ? place : count - 1;
}

/* The safe distance of the tile that begins at pixel `first` of a row. `row`: elements from the first pixel that the
 * row reads to the end of the first one that it writes. */
static int64_t distance_of_tile(const RowWalk *walk, int64_t row, int64_t first)
{
    int64_t last = first + walk->tile < walk->columns ? first + walk->tile - 1 : walk->columns - 1;
    int64_t read = first * walk->across - walk->left;

    return row - 1 + last * walk->ycolumn - (read < 0 ? 0 : read) * walk->xcolumn;
}

/* The safe distance of the pixels of row `at` from each other. It is piecewise linear in the tile's first pixel, with
 * kinks where the padding ends and where the last whole tile begins, so only these places are evaluated. */
static int64_t distance_in_row(const RowWalk *walk, int64_t at)
{
    int64_t row = at * walk->yrow + walk->ytail - lowest_read(walk, at) * walk->xrow, distance = 0;
    int64_t padded = walk->left / walk->across, whole = walk->columns - walk->tile;
    int64_t place[] = {0, padded, padded + 1, whole, whole + 1, walk->columns - 1};

    for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
        int64_t ahead = distance_of_tile(walk, row, among(place[i], walk->columns));

        distance = ahead > distance ? ahead : distance;
    }
    return distance;
}

/* The safe distance of the block that begins with row `first`, and of the rows after it. */
static int64_t distance_of_block(const RowWalk *walk, int64_t first)
{
    int64_t ytail = (walk->columns - 1) * walk->ycolumn + walk->ytail;
    int64_t next = first + walk->block < walk->rows ? first + walk->block : walk->rows;
    int64_t end = (next - 1) * walk->yrow + ytail; /* end of the elements written so far */
    int64_t now = end - 1 - lowest_read(walk, first) * walk->xrow, later = end - lowest_read(walk, next) * walk->xrow;

    now = walk->tile > 0 ? distance_in_row(walk, first) : now;
    return later > now && next < walk->rows ? later : now;
}

/* Piecewise linear in the block's number too: kinks where the padding ends, where the input ends, and at the last
 * block. */
int64_t distance_of_rows(const RowWalk *walk)
{
    int64_t blocks = (walk->rows + walk->block - 1) / walk->block, distance = 0;
    int64_t top = walk->pad / (walk->stride * walk->block),
            bottom = (walk->pad + walk->input_rows) / (walk->stride * walk->block);
    int64_t place[] = {0, top - 1, top, top + 1, bottom - 1, bottom, bottom + 1, blocks - 2, blocks - 1};

    for (size_t i = 0; i < sizeof place / sizeof *place && walk->rows > 0 && walk->columns > 0; i++) {
        int64_t ahead = distance_of_block(walk, among(place[i], blocks) * walk->block);

        distance = ahead > distance ? ahead : distance;
    }
    return distance;
}

enum { MOST_ROWS = 65536, MOST_GROUPS = 1 << 20 };

/* The distance that the last axis needs: y[t] must not overwrite an x[s], s > t, that is still to be read. Rows
 * contiguous in both are moved whole and need none. */
static int64_t distance_among_rows(int rank, const int64_t *dim, const int64_t *ystride, const int64_t *xstride,
                                   int64_t rows)
{
    int64_t   index[DISTANCE_AXES] = {0}, y = 0, x = 0, distance = 0, written = -1; /* the highest place so far */
    const int last = rank - 1;

    for (int64_t r = 0; r < rows; r++) {
        int64_t n = dim[last], ys = ystride[last], xs = xstride[last];

        distance = written - x + 1 > distance ? written - x + 1 : distance;
        if (n > 1 && (ys != 1 || xs != 1)) {
            int64_t first = y - x - xs + 1, end = first + (n - 2) * (ys - xs);

            distance = first > distance ? first : distance;
            distance = end > distance ? end : distance;
        }
        written = y + (n - 1) * ys > written ? y + (n - 1) * ys : written;
        for (int i = last; i-- > 0;) {
            y += ystride[i];
            x += xstride[i];
            if (++index[i] < dim[i])
                break;
            y -= dim[i] * ystride[i];
            x -= dim[i] * xstride[i];
            index[i] = 0;
        }
    }
    return distance;
}

int64_t distance_of_copy(int rank, const int64_t *dim, const int64_t *ystride, const int64_t *xstride, int64_t most)
{
    int64_t end = 1, rows = 1, distance, steps;
    int     outer = 0;

    most = most ? most : MOST_ROWS;
    while (outer < rank - 1 && dim[outer] <= 1)
        outer++;
    if (rank < 1 || rank - outer > DISTANCE_AXES || dim[outer] < 1)
        return INT64_MAX;
    for (int i = outer; i < rank; i++) {
        if (dim[i] < 1 || xstride[i] < 0 || ystride[i] < 0)
            return INT64_MAX;
        end += i > outer ? (dim[i] - 1) * ystride[i] : 0;
        rows *= i > outer && i < rank - 1 && rows <= most ? dim[i] : 1;
    }
    if (outer == rank - 1)
        return distance_among_rows(1, dim + outer, ystride + outer, xstride + outer, 1);
    for (int i = outer; i < rank - 1; i++)
        if (xstride[i] == 1 && xstride[rank - 1] != 1 && dim[i] > 1) { /* two axes are walked in blocks */
            if (i == outer)
                return INT64_MAX;
            rows = most + 1;
        }
    distance = rows > most ? end - 1
                           : distance_among_rows(rank - outer - 1, dim + outer + 1, ystride + outer + 1,
                                                 xstride + outer + 1, rows);
    distance = end - xstride[outer] > distance ? end - xstride[outer]
                                               : distance; /* the first element that the next index reads */
    steps = ystride[outer] > xstride[outer] ? dim[outer] - 1 : 0;
    return distance + steps * (ystride[outer] - xstride[outer]);
}

static int64_t at_least_zero(int64_t x)
{
    return x < 0 ? 0 : x;
}

/* The lowest element of the input that tile `at` or a later one reads. */
static int64_t lowest_of_tiles(const GroupWalk *walk, int64_t at, int64_t across)
{
    int64_t row = at_least_zero(at / across * walk->high - walk->top),
            column = at_least_zero(at % across * walk->side - walk->left);
    int64_t below =
        at_least_zero((at / across + 1) * walk->high - walk->top); /* the next row of tiles, from its first column on */
    int64_t here = row * walk->xrow + column * walk->xcolumn;

    return (at / across + 1) * walk->high < walk->rows && below * walk->xrow < here ? below * walk->xrow : here;
}

/* The end of the highest element of the result that the tiles before `at` write. */
static int64_t end_of_tiles(const GroupWalk *walk, int64_t at, int64_t across)
{
    int64_t above = at / across * walk->high, rows = above + walk->high < walk->rows ? above + walk->high : walk->rows;
    int64_t columns = at % across * walk->side, end = 0;

    if (above > 0)
        end = (above - 1) * walk->yrow + (walk->columns - 1) * walk->ycolumn + walk->ytail;
    if (columns > 0 && (rows - 1) * walk->yrow + (columns - 1) * walk->ycolumn + walk->ytail > end)
        end = (rows - 1) * walk->yrow + (columns - 1) * walk->ycolumn + walk->ytail;
    return end;
}

int64_t distance_of_groups(const GroupWalk *walk)
{
    int64_t across = (walk->columns + walk->side - 1) / walk->side, distance = 0;
    int64_t tiles = (walk->rows + walk->high - 1) / walk->high * across;

    if (tiles / walk->group > MOST_GROUPS)
        return INT64_MAX;
    for (int64_t at = walk->group; at < tiles; at += walk->group) {
        int64_t ahead = end_of_tiles(walk, at, across) - lowest_of_tiles(walk, at, across);

        distance = ahead > distance ? ahead : distance;
    }
    return distance;
}

/* Elements by which row i of the result reaches beyond row `low` of the input. The outer index is the same for both. */
static int64_t ahead_of(const TableWalk *walk, int64_t i, int64_t low, int64_t outer)
{
    int64_t longer = walk->out > walk->in ? walk->out - walk->in : 0;

    return (i - low + (outer - 1) * longer) * walk->inner;
}

int64_t distance_of_table(const TableWalk *walk)
{
    int64_t distance = 0, later = walk->in; /* the lowest input row that rows after i read */

    for (int64_t i = walk->out; i-- > 0;) {
        int64_t low = walk->in, behind = ahead_of(walk, i + 1, later, walk->outer), within;

        for (int64_t k = 0; k < walk->taps; k++)
            low = walk->row[i * walk->taps + k] < low ? walk->row[i * walk->taps + k] : low;
        within = ahead_of(walk, i, low, walk->outer);
        distance = i + 1 < walk->out && behind > distance ? behind : distance;
        distance = walk->inner > 1 && within > distance ? within : distance;
        later = low < later ? low : later;
    }
    if (walk->outer > 1 && ahead_of(walk, walk->out, walk->in + later, walk->outer - 1) > distance)
        distance = ahead_of(walk, walk->out, walk->in + later, walk->outer - 1);
    return distance;
}
