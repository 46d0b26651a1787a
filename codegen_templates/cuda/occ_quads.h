/* occ_quads.h - a thread's part of a tile of a product of bytes, four terms in one instruction. Sums are exact in any
 * order. Knows nothing of where the factors come from. */
#ifndef OCC_QUADS_H
#define OCC_QUADS_H

#include "occ_product.h"
#include "occ_tile.h"

/* A tile has OCC_TILE_SIDE rows and OCC_PANEL columns; a thread computes OCC_QUAD_ROWS times OCC_QUAD_COLUMNS
 * of its results; OCC_QUAD_K terms lie in shared memory at a time, as sx[k][row] and sw[k][column]. */
#define OCC_QUAD_K 16
#define OCC_QUAD_ROWS 4
#define OCC_QUAD_COLUMNS 2
#define OCC_QUAD_ACROSS (OCC_PANEL / OCC_QUAD_COLUMNS)
#define OCC_QUAD_PARTS (OCC_TILE_SIDE / OCC_QUAD_ROWS * OCC_QUAD_ACROSS)
#define OCC_QUAD_X (OCC_TILE_SIDE + 4)
#define OCC_QUAD_W (OCC_PANEL + 4)

/* A part of a tile: where it begins, and its sums. */
typedef struct occ_quad_part {
    int     row, column;
    int32_t sum[OCC_QUAD_ROWS * OCC_QUAD_COLUMNS];
} occ_quad_part;

OCC_HOT occ_quad_part occ_quad_part_of(int part)
{
    const int     here = part % OCC_QUAD_PARTS;
    occ_quad_part p;
    p.row = here / OCC_QUAD_ACROSS * OCC_QUAD_ROWS;
    p.column = here % OCC_QUAD_ACROSS * OCC_QUAD_COLUMNS;
    OCC_UNROLLED
    for (int i = 0; i < OCC_QUAD_ROWS * OCC_QUAD_COLUMNS; i++)
        p.sum[i] = 0;
    return p;
}

/* Four neighbouring bytes, of which the first n exist; the others are 0. */
OCC_HOT uint32_t occ_quad_of(const uint8_t *x, int64_t n)
{
    uint32_t word = 0;
    if (n >= 4 && (uintptr_t)x % 4 == 0)
        return *(const uint32_t *)(const void *)x;
    OCC_UNROLLED
    for (int i = 0; i < 4; i++)
        word |= i < n ? (uint32_t)x[i] << 8 * i : 0;
    return word;
}

/* sum + the products of four bytes of x and w, which are signed or not. */
OCC_HOT int32_t occ_quad_dot(uint32_t x, uint32_t w, int32_t sum, int x_signed, int w_signed)
{
    if (x_signed)
        return w_signed ? occ_dot4_ii(x, w, sum) : occ_dot4_ui(w, x, sum);
    return w_signed ? occ_dot4_ui(x, w, sum) : occ_dot4_uu(x, w, sum);
}

/* Adds the terms in shared memory; those behind the last one are 0. */
OCC_HOT void occ_quad_add(occ_quad_part *p, const uint32_t *sx, const uint32_t *sw, int x_signed, int w_signed)
{
    OCC_UNROLLED
    for (int k = 0; k < OCC_QUAD_K; k++) {
        OCC_UNROLLED
        for (int i = 0; i < OCC_QUAD_ROWS; i++) {
            OCC_UNROLLED
            for (int j = 0; j < OCC_QUAD_COLUMNS; j++) {
                const uint32_t x = sx[k * OCC_QUAD_X + p->row + i], w = sw[k * OCC_QUAD_W + p->column + j];
                int32_t       *sum = p->sum + i * OCC_QUAD_COLUMNS + j;
                *sum = occ_quad_dot(x, w, *sum, x_signed, w_signed);
            }
        }
    }
}

#endif
