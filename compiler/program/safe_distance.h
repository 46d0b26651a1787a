/* safe_distance.h - how far above its result an input must lie so that a kernel that works row by row may write over
 * it. Examples: y[i] = x[i] + x[i + 1] reads ahead of what it writes: distance 0; y[i] = x[i] + x[i - 1] needs 1, since
 * x[i] is read once more after y[i] is written. Knows nothing of steps or buffers; includes the C library only. */
#ifndef OCC_PROGRAM_SAFE_DISTANCE_H
#define OCC_PROGRAM_SAFE_DISTANCE_H

#include <stdint.h>

/* Rows of the result are made in rising order, `block` together; while a block is made, any row of the input from the
 * one of its first tap on may be read, and any of its results but the last one may be written: that is written after
 * the last read. Where tile > 0, a row is a block, and the same holds of up to `tile` neighbouring pixels of it and the
 * columns from their first tap on. Distances in elements, of equal size in both. */
typedef struct RowWalk {
    int64_t rows, block; /* rows of the result; of a block */
    int64_t stride, pad; /* rows of the input between two of the result, >= 1; rows of padding before the first */
    int64_t input_rows;
    int64_t xrow, yrow;       /* from one row to the next, >= 0 */
    int64_t tile, columns;    /* pixels made together, at most; of a row of the result */
    int64_t across, left;     /* stride, >= 1, and padding of the columns */
    int64_t xcolumn, ycolumn; /* from one column to the next, >= 0 */
    int64_t ytail;            /* from the start of a pixel of the result to behind its last element */
} RowWalk;

/* The least distance from the first element of the result up to the first one of the input at which no element is
 * overwritten before it was read for the last time. O(1). */
int64_t distance_of_rows(const RowWalk *walk);

enum { DISTANCE_AXES = 16 }; /* of a copy */

/* The same for a copy of `rank` axes (codegen_templates/c/copy.c), whose outermost axis of more than one index is
 * walked in rising order; exact where the others are walked row by row, at most one index of it more where two of them
 * are walked in blocks. INT64_MAX where none is known, and of more than DISTANCE_AXES axes. Strides in elements. O(rows
 * of one index). */
int64_t distance_of_copy(int rank, const int64_t *dim, const int64_t *ystride, const int64_t *xstride);

/* Square tiles of the result in rising order, row of tiles by row of tiles, `group` of them together: all that they
 * need of the input, from the row and column of their first tap on, is read before any of their pixels is written.
 * Distances as above. */
typedef struct GroupWalk {
    int64_t rows, columns; /* of the result */
    int64_t side, group;   /* pixels of a tile's side; tiles */
    int64_t top, left;     /* rows and columns of padding; the stride is 1 */
    int64_t xrow, yrow, xcolumn, ycolumn, ytail;
} GroupWalk;

/* The same for those; INT64_MAX where there are too many. O(tiles / group). */
int64_t distance_of_groups(const GroupWalk *walk);

/* Rows of the result [outer][out][inner] in rising order, each made of `taps` rows of the input [outer][in][inner] that
 * a table names; an element is written when they were read at it. */
typedef struct TableWalk {
    int64_t        outer, in, out, inner, taps;
    const int64_t *row; /* [out][taps], each 0 .. in-1 */
} TableWalk;

/* The same for those. O(out * taps). */
int64_t distance_of_table(const TableWalk *walk);

#endif
