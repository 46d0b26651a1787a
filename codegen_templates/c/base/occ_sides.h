/* occ_sides.h - how large the tiles are by which blocks compute a product of matrices, or a convolution as one. Follows
 * from extents alone, since it decides the order of sums. Plain C: the compiler counts blocks with it, too. */
#ifndef OCC_SIDES_H
#define OCC_SIDES_H

#include "occ_base.h"

#define OCC_SIDE_BIG 128
#define OCC_SIDE_HALF 64
#define OCC_SIDE_MIDDLE 32
#define OCC_SIDE_SMALL 16
#define OCC_SIDE_LINE 8     /* columns of tiles of one row */
#define OCC_SIDE_PRODUCT 64 /* of stacks of products, whatever their extents */
#define OCC_SIDE_QUERIES 16 /* rows of the tiles of attention, which are OCC_SIDE_PRODUCT wide */

/* Fewer tiles than this leave processors of a device idle: smaller ones are better. Measured on 132 processors, with
 * single lanes and with tensor cores; OCC_HALF_LEAST is for tiles of 64 x 64. */
#define OCC_BIG_LEAST(tensor) ((tensor) ? 132 : 200)
#define OCC_HALF_LEAST 160
#define OCC_MIDDLE_LEAST 96

/* The tiles that there are, by number. Large ones, of 64 rows and more, compute each result as one sum in rising order;
 * small ones share out the terms of a sum (occ_slices.h), as do those of one row (occ_conv_line.h). */
enum { OCC_SIDES_BIG, OCC_SIDES_NARROW, OCC_SIDES_HALF, OCC_SIDES_MIDDLE, OCC_SIDES_SMALL, OCC_SIDES_LINE, OCC_SIDES };

OCC_HOT int occ_tile_columns(int sides)
{
    return sides == OCC_SIDES_BIG      ? OCC_SIDE_BIG
           : sides < OCC_SIDES_MIDDLE  ? OCC_SIDE_HALF
           : sides == OCC_SIDES_MIDDLE ? OCC_SIDE_MIDDLE
           : sides == OCC_SIDES_SMALL  ? OCC_SIDE_SMALL
                                       : OCC_SIDE_LINE;
}

OCC_HOT int occ_tile_rows(int sides)
{
    return sides == OCC_SIDES_NARROW ? OCC_SIDE_BIG : sides == OCC_SIDES_LINE ? 1 : occ_tile_columns(sides);
}

/* Tiles of one matrix of rows x columns. */
OCC_HOT int64_t occ_side_tiles(int64_t rows, int64_t columns, int sides)
{
    return (rows + occ_tile_rows(sides) - 1) / occ_tile_rows(sides) *
           ((columns + occ_tile_columns(sides) - 1) / occ_tile_columns(sides));
}

/* Whether tiles of 64 columns are better than of 128: a ninth more work for each result, but fewer columns behind the
 * last. */
OCC_HOT int occ_side_narrow(int64_t columns)
{
    return occ_side_tiles(1, columns, OCC_SIDES_NARROW) * 9 <= occ_side_tiles(1, columns, OCC_SIDES_BIG) * 16;
}

/* The number of the sides for `stack` such matrices. tensor: tensor cores multiply */
OCC_HOT int occ_sides_of(int64_t stack, int64_t rows, int64_t columns, int tensor)
{
    if (stack * rows == 1)
        return OCC_SIDES_LINE;
    if (columns > OCC_SIDE_MIDDLE && rows > OCC_SIDE_MIDDLE) {
        if (!occ_side_narrow(columns) && stack * occ_side_tiles(rows, columns, OCC_SIDES_BIG) >= OCC_BIG_LEAST(tensor))
            return OCC_SIDES_BIG;
        if (stack * occ_side_tiles(rows, columns, OCC_SIDES_NARROW) >= OCC_BIG_LEAST(tensor))
            return OCC_SIDES_NARROW;
        if (tensor && stack * occ_side_tiles(rows, columns, OCC_SIDES_HALF) >= OCC_HALF_LEAST)
            return OCC_SIDES_HALF;
    }
    if (rows > OCC_SIDE_SMALL && columns > OCC_SIDE_SMALL &&
        stack * occ_side_tiles(rows, columns, OCC_SIDES_MIDDLE) >= OCC_MIDDLE_LEAST)
        return OCC_SIDES_MIDDLE;
    return OCC_SIDES_SMALL;
}

#endif
