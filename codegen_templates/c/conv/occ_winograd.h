/* occ_winograd.h - the tiles of a convolution of stride 1 in the transformed domain: m x m results of a 3x3 kernel, m
 * results of a row for a 1x3 one. With a dilation the results of a tile are that many columns apart, and so are the
 * inputs that they need. Example: m = 2, dilation 2, 10 columns:
 *
 *   column   0  1  2  3  4  5  6  7  8  9
 *   tile     0  1  0  1  2  3  2  3  4  5
 */
#ifndef OCC_WINOGRAD_H
#define OCC_WINOGRAD_H

#include "occ_conv.h"

/* m, rows: results of a tile along a row of the image, and along a column, m or 1; apart: the dilation; across, every:
 * tiles of a row of tiles, of an image. m, rows and apart are literals. */
typedef struct occ_tiling {
    int64_t m, rows, apart, across, every;
} occ_tiling;

OCC_HOT occ_tiling occ_tiling_make(const occ_image *y_at, const occ_window *window, int64_t m)
{
    const int64_t    rows = window->kernel[1] > 1 ? m : 1, apart = window->dilation[2];
    const int64_t    across = occ_ceil_div(occ_ceil_div(y_at->dim[4], apart), m) * apart;
    const occ_tiling t = {m, rows, apart, across, occ_ceil_div(y_at->dim[3], rows) * across};
    return t;
}

/* Rows of the input that a tile needs, beside m + 2 columns. */
OCC_HOT int occ_tiling_high(const occ_tiling *t)
{
    return t->rows > 1 ? (int)t->rows + 2 : 1;
}

/* Products of a tile for each pair of channels. */
OCC_HOT int occ_tiling_frequencies(const occ_tiling *t)
{
    return occ_tiling_high(t) * ((int)t->m + 2);
}

/* A tile: its image, and the row and column of its first result. */
typedef struct occ_tile_place {
    int64_t image, top, left;
} occ_tile_place;

OCC_HOT occ_tile_place occ_tiling_at(const occ_tiling *t, int64_t tile)
{
    const int64_t        at = tile % t->every, column = at % t->across;
    const occ_tile_place place = {tile / t->every, at / t->across * t->rows,
                                  column / t->apart * t->m * t->apart + column % t->apart};
    return place;
}

#endif
