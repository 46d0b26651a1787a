/* occ_factors.h - tiles of a product of two matrices in the device's memory, brought to shared memory piece by
 * piece. Knows nothing of what becomes of the sums. */
#ifndef OCC_FACTORS_H
#define OCC_FACTORS_H

#include "occ_epilogue.h"
#include "occ_place.h"
#include "occ_product.h"

/* The factors of one matrix of a stack, as a tile wants them. */
typedef struct occ_factors {
    occ_matrix a, b;
    int64_t    rows, columns, depth;
} occ_factors;

/* Copies terms k to k + OCC_TILE_K - 1 of the tile's rows of a into shared memory, neighbours by neighbouring threads.
 * Terms outside the matrix are 0. */
OCC_HOT void occ_factors_fill_a(float *sa, const occ_factors *f, int64_t row, int64_t k)
{
    for (int i = occ_thread(); i < OCC_TILE_SIDE * OCC_TILE_K; i += occ_threads()) {
        const int     r = f->a.column == 1 ? i / OCC_TILE_K : i % OCC_TILE_SIDE;
        const int     d = f->a.column == 1 ? i % OCC_TILE_K : i / OCC_TILE_SIDE;
        const int64_t m = row + r, at = k + d;
        sa[d * OCC_TILE_PITCH + r] = m < f->rows && at < f->depth ? f->a.data[m * f->a.row + at * f->a.column] : 0.0f;
    }
}

/* Copies the same terms of the tile's columns of b. */
OCC_HOT void occ_factors_fill_b(float *sb, const occ_factors *f, int64_t column, int64_t k)
{
    for (int i = occ_thread(); i < OCC_TILE_SIDE * OCC_TILE_K; i += occ_threads()) {
        const int     c = f->b.column == 1 ? i % OCC_TILE_SIDE : i / OCC_TILE_K;
        const int     d = f->b.column == 1 ? i / OCC_TILE_SIDE : i % OCC_TILE_K;
        const int64_t n = column + c, at = k + d;
        sb[d * OCC_TILE_PITCH + c] =
            n < f->columns && at < f->depth ? f->b.data[at * f->b.row + n * f->b.column] : 0.0f;
    }
}

/* The sums of one tile, terms in rising order. */
OCC_HOT void occ_factors_sums(float *sa, float *sb, occ_product *p, const occ_factors *f, int64_t row, int64_t column)
{
    for (int64_t k = 0; k < f->depth; k += OCC_TILE_K) {
        occ_factors_fill_a(sa, f, row, k);
        occ_factors_fill_b(sb, f, column, k);
        occ_barrier();
        occ_product_add(p, sa, sb, (int)occ_min(OCC_TILE_K, f->depth - k));
        occ_barrier();
    }
}

#endif
