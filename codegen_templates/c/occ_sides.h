/* occ_sides.h - how large the tiles are by which blocks compute a product of matrices, or a convolution as one. Follows
 * from extents alone, since it decides the order of sums. Plain C: the compiler counts blocks with it, too. */
#ifndef OCC_SIDES_H
#define OCC_SIDES_H

#include "occ_base.h"

#define OCC_SIDE_BIG 128
#define OCC_SIDE_MIDDLE 32
#define OCC_SIDE_SMALL 16
#define OCC_SIDE_PRODUCT 64 /* of stacks of products, whatever their extents */
#define OCC_SIDE_QUERIES 16 /* rows of the tiles of attention, which are OCC_SIDE_PRODUCT wide */

/* Fewer tiles than this leave processors of a device idle: smaller ones are better, sooner where single lanes multiply
 * than where tensor cores do. */
#define OCC_BIG_LEAST(tensor) ((tensor) ? 64 : 200)
#define OCC_MIDDLE_LEAST 96

/* Tiles of one matrix of rows x columns. */
OCC_HOT int64_t occ_side_tiles(int64_t rows, int64_t columns, int64_t side)
{
    return (rows + side - 1) / side * ((columns + side - 1) / side);
}

/* The side of the tiles of `stack` such matrices. tensor: tensor cores multiply */
OCC_HOT int64_t occ_side_of(int64_t stack, int64_t rows, int64_t columns, int tensor)
{
    if (columns > OCC_SIDE_MIDDLE && rows > OCC_SIDE_MIDDLE &&
        stack * occ_side_tiles(rows, columns, OCC_SIDE_BIG) >= OCC_BIG_LEAST(tensor))
        return OCC_SIDE_BIG;
    if (rows > OCC_SIDE_SMALL && columns > OCC_SIDE_SMALL &&
        stack * occ_side_tiles(rows, columns, OCC_SIDE_MIDDLE) >= OCC_MIDDLE_LEAST)
        return OCC_SIDE_MIDDLE;
    return OCC_SIDE_SMALL;
}

#endif
