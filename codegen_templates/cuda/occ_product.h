/* occ_product.h - a thread's part of a tile of a matrix product whose factors lie in shared memory. Knows nothing
 * of how they came there. */
#ifndef OCC_PRODUCT_H
#define OCC_PRODUCT_H

#include "occ_sides.h"

/* A tile has OCC_TILE_SIDE rows and columns; a thread computes OCC_TILE_PART of each; OCC_TILE_K terms of all sums lie
 * in shared memory at a time, as sa[k][row] and sb[k][column] with OCC_TILE_PITCH floats between two k.
 *
 *            sb  k=0 [ . . . . | . . . . |         ...          ]
 *                k=1 [ . . . . | . . . . |                      ]
 *                          the four columns of a thread
 *   sa  k=0 k=1
 *       [ .   . ]     +---------+---------+
 *       [ .   . ]     | part 0  | part 1  |   16 parts to a row,
 *       [ .   . ]     |  4 x 4  |  4 x 4  |   256 in a tile
 *       [ .   . ]     +---------+---------+          */
#define OCC_TILE_SIDE OCC_SIDE_PRODUCT
#define OCC_TILE_K 16
#define OCC_TILE_PITCH (OCC_TILE_SIDE + 4) /* a multiple of 4, so that four neighbours are one load */
#define OCC_TILE_PART 4
#define OCC_TILE_PARTS (OCC_TILE_SIDE / OCC_TILE_PART * (OCC_TILE_SIDE / OCC_TILE_PART))

/* A part of a tile: where it begins, and its sums. */
typedef struct occ_product {
    int   row, column;
    float sum[OCC_TILE_PART * OCC_TILE_PART];
} occ_product;

OCC_HOT occ_product occ_product_begin(int part)
{
    const int   width = OCC_TILE_SIDE / OCC_TILE_PART, here = part % OCC_TILE_PARTS;
    occ_product p;
    p.row = here / width * OCC_TILE_PART;
    p.column = here % width * OCC_TILE_PART;
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART * OCC_TILE_PART; i++)
        p.sum[i] = 0.0f;
    return p;
}

/* Adds the products of row k of both factors. */
OCC_HOT void occ_product_step(occ_product *p, const float *sa, const float *sb, int k)
{
    const occ_four a = occ_load_four(sa + k * OCC_TILE_PITCH + p->row),
                   b = occ_load_four(sb + k * OCC_TILE_PITCH + p->column);
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART; i++) {
        OCC_UNROLLED
        for (int j = 0; j < OCC_TILE_PART; j++)
            p->sum[i * OCC_TILE_PART + j] = occ_fma(a.value[i], b.value[j], p->sum[i * OCC_TILE_PART + j]);
    }
}

/* The first `terms` of those in shared memory, in rising order. */
OCC_HOT void occ_product_add(occ_product *p, const float *sa, const float *sb, int terms)
{
    if (terms == OCC_TILE_K) {
        OCC_UNROLLED
        for (int k = 0; k < OCC_TILE_K; k++)
            occ_product_step(p, sa, sb, k);
        return;
    }
    for (int k = 0; k < terms; k++)
        occ_product_step(p, sa, sb, k);
}

/* The same into four sums by turns; those from `whole` on, a multiple of 4, which no four share, into the first. */
OCC_HOT void occ_product_add_four(occ_product *p, occ_product *p1, occ_product *p2, occ_product *p3, const float *sa,
                                  const float *sb, int terms, int64_t whole)
{
    const int fours = (int)occ_min(whole, terms) / 4 * 4;
    for (int k = 0; k < fours; k += 4) {
        occ_product_step(p, sa, sb, k);
        occ_product_step(p1, sa, sb, k + 1);
        occ_product_step(p2, sa, sb, k + 2);
        occ_product_step(p3, sa, sb, k + 3);
    }
    for (int k = fours; k < terms; k++)
        occ_product_step(p, sa, sb, k);
}

OCC_HOT void occ_product_join_four(occ_product *p, const occ_product *p1, const occ_product *p2, const occ_product *p3)
{
    OCC_UNROLLED
    for (int i = 0; i < OCC_TILE_PART * OCC_TILE_PART; i++)
        p->sum[i] = (p->sum[i] + p1->sum[i]) + (p2->sum[i] + p3->sum[i]);
}

#endif
