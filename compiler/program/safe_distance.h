/* safe_distance.h - how far above its result an input must lie so that a kernel that works row by row may write over
 * it. Examples: y[i] = x[i] + x[i + 1] reads ahead of what it writes: distance 0; y[i] = x[i] + x[i - 1] needs 1, since
 * x[i] is read once more after y[i] is written. Knows nothing of steps or buffers; includes the C library only. */
#ifndef OCC_PROGRAM_SAFE_DISTANCE_H
#define OCC_PROGRAM_SAFE_DISTANCE_H

#include <stdint.h>

/* A kernel that makes rows of the result in rising order, `block` rows at a time. While it makes a block it may read
 * any input row from that of the block's first tap on, and it may write any element of the block except the last one,
 * which it writes after its last read. With tile > 0 a block is one row, and the same holds for up to `tile`
 * neighbouring pixels and the input columns from their first tap on. Distances are in elements, of equal size in
 * both. */
typedef struct RowWalk {
    int64_t rows, block; /* rows of the result; of a block */
    int64_t stride, pad; /* rows of the input between two of the result, >= 1; rows of padding before the first */
    int64_t input_rows;
    int64_t xrow, yrow;       /* from one row to the next, >= 0 */
    int64_t tile, columns;    /* pixels made together, at most; pixels of a row of the result */
    int64_t across, left;     /* stride, >= 1, and padding of the columns */
    int64_t xcolumn, ycolumn; /* from one column to the next, >= 0 */
    int64_t ytail;            /* from the first element of a pixel of the result to the end of its last one */
} RowWalk;

/* The least distance from the first element of the result up to the first one of the input at which every input element
 * is read for the last time before it is overwritten. O(1). */
int64_t distance_of_rows(const RowWalk *walk);

enum { DISTANCE_AXES = 16 }; /* of a copy */

/* The safe distance of a copy of `rank` axes (codegen_templates/c/copy.c), whose outermost axis of more than one index
 * is walked in rising order. It is exact where the others are walked row by row, and at most one index of it too large
 * where two of them are walked in blocks, or where it has more than `most` rows (0: 65,536). INT64_MAX where none is
 * known, and for more than DISTANCE_AXES axes. Strides in elements. O(rows of one index). */
int64_t distance_of_copy(int rank, const int64_t *dim, const int64_t *ystride, const int64_t *xstride, int64_t most);

/* A kernel that makes tiles of the result in rising order, row of tiles by row of tiles, `group` tiles at a
 * time. It reads the input of the whole group, from the row and column of its first tap on, before it writes any pixel
 * of it. */
typedef struct GroupWalk {
    int64_t rows, columns; /* of the result */
    int64_t side, high;    /* columns and rows of a tile */
    int64_t group;         /* tiles */
    int64_t top, left;     /* rows and columns of padding; the stride is 1 */
    int64_t xrow, yrow, xcolumn, ycolumn, ytail;
} GroupWalk;

/* The safe distance of such a kernel; INT64_MAX where there are too many groups. O(tiles / group). */
int64_t distance_of_groups(const GroupWalk *walk);

/* A kernel that makes rows of the result [outer][out][inner] in rising order. Each row reads `taps` rows of the input
 * [outer][in][inner], which a table names. An element is written after its taps were read. */
typedef struct TableWalk {
    int64_t        outer, in, out, inner, taps;
    const int64_t *row; /* [out][taps], each 0 .. in-1 */
} TableWalk;

/* The safe distance of such a kernel. O(out * taps). */
int64_t distance_of_table(const TableWalk *walk);

#endif
