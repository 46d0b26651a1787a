/* occ_slices.h - a tile of a product that all warps of a block compute together: each adds a slice of the terms, then
 * the slices are added. So a block has work for all its warps where a product has few results and many terms. Knows
 * nothing of where factors come from and what becomes of results.
 *
 *   terms     0-7  8-15 16-23 ... 56-63 | 64-71 72-79 ...        eight slices, each of every eighth eight terms,
 *   slice      0    1    2    ...   7   |   0     1   ...        in rising order
 *
 * A result is ((start + slice 0) + slice 1) + ...: the same bits whatever the grid. */
#ifndef OCC_SLICES_H
#define OCC_SLICES_H

#include "occ_big.h"
#include "occ_sides.h"

/* A stage is OCC_SLICE_STAGE terms of all rows and columns of a tile in shared memory, as sa[row][k] and sb[column][k]
 * with OCC_SLICE_PITCH floats between two rows: eight rows, or four, of four neighbouring k lie in all banks. */
#define OCC_SLICES 8
#define OCC_SLICE_TERMS 8
#define OCC_SLICE_STAGE (OCC_SLICES * OCC_SLICE_TERMS)
#define OCC_SLICE_PITCH (OCC_SLICE_STAGE + 4)
#define OCC_SLICE_GAP 4 /* floats between the rows of a slice's sums, likewise */

/* Stages in shared memory at a time, for tiles of a side; floats of these, or of the sums of all slices, and of the
 * results so far where a block has fewer warps than slices. */
#define OCC_SLICE_AHEAD(side) ((side) == OCC_SIDE_SMALL ? 4 : 2)
#define OCC_SLICE_SUMS(side) ((side) * ((side) + OCC_SLICE_GAP))
#define OCC_SLICE_STAGES(side) OCC_STAGES_FLOATS(2 * (side), OCC_SLICE_PITCH, OCC_SLICE_AHEAD(side))
#define OCC_SLICE_AREA(side) \
    (OCC_SLICE_STAGES(side) > OCC_SLICES * OCC_SLICE_SUMS(side) ? OCC_SLICE_STAGES(side) \
                                                                : OCC_SLICES * OCC_SLICE_SUMS(side))
#define OCC_SLICE_MEMORY(side) (OCC_SLICE_AREA(side) + (side) * (side))

/* A lane's sums of one slice: every eighth row of the tile from `row` on, side / 4 columns of each. tensor: the kind of
 * factors that tensor cores multiply (occ_mma.h), or 0 */
typedef struct occ_slice {
    int   number, row, tensor;
    float sum[OCC_SIDE_MIDDLE / 8 * OCC_SIDE_MIDDLE / 4];
} occ_slice;

/* The lane's c-th column of a tile. tensor: sums lie as tensor cores leave them */
OCC_HOT int occ_slice_column(int c, int tensor)
{
    const int lane = occ_lane() % 4;
    return tensor ? lane * 2 + c / 2 * 8 + c % 2 : lane + c * 4;
}

/* The sum in the lane's row r and column c, both by number. */
OCC_HOT float *occ_slice_sum(occ_slice *p, int side, int r, int c, int tensor)
{
    return p->sum + (tensor ? (r / 2 * (side / 8) + c / 2) * 4 + r % 2 * 2 + c % 2 : r * (side / 4) + c);
}

/* Adds the slice's terms of a stage, without tensor cores. Threads whose slice does not exist only bring. */
OCC_HOT void occ_slice_add_lanes(void *sums, const float *sa, const float *sb, int sides)
{
    const int  side = occ_tile_rows(sides);
    occ_slice *p = (occ_slice *)sums;
    if (p->number >= OCC_SLICES)
        return;
    sa += p->number * OCC_SLICE_TERMS;
    sb += p->number * OCC_SLICE_TERMS;
    OCC_UNROLLED
    for (int k = 0; k < OCC_SLICE_TERMS; k += 4) {
        occ_four a[OCC_SIDE_MIDDLE / 8];
        OCC_UNROLLED
        for (int r = 0; r < side / 8; r++)
            a[r] = occ_load_four(sa + (p->row + r * 8) * OCC_SLICE_PITCH + k);
        OCC_UNROLLED
        for (int c = 0; c < side / 4; c++) {
            const occ_four b = occ_load_four(sb + occ_slice_column(c, 0) * OCC_SLICE_PITCH + k);
            OCC_UNROLLED
            for (int t = 0; t < 4; t++) {
                OCC_UNROLLED
                for (int r = 0; r < side / 8; r++) {
                    float *sum = occ_slice_sum(p, side, r, c, 0);
                    *sum = occ_fma(a[r].value[t], b.value[t], *sum);
                }
            }
        }
    }
}

/* Writes the sums of this thread to shared memory, where all threads find those of all slices. */
OCC_HOT void occ_slice_show(float *memory, occ_slice *p, int side, int tensor)
{
    float *to = memory + p->number * OCC_SLICE_SUMS(side);
    if (p->number < OCC_SLICES) {
        OCC_UNROLLED
        for (int r = 0; r < side / 8; r++) {
            OCC_UNROLLED
            for (int c = 0; c < side / 4; c++)
                to[(p->row + r * 8) * (side + OCC_SLICE_GAP) + occ_slice_column(c, tensor)] =
                    *occ_slice_sum(p, side, r, c, tensor);
        }
    }
    occ_barrier();
}

/* Stores the result in a row and a column of the tile. */
typedef void occ_tile_store(const void *target, int row, int column, float sum);

/* The value with which the sums of a column of the tile begin. */
typedef float occ_slice_start(const void *target, int column);

/* Computes a tile. A block of fewer warps than slices goes through the terms several times. */
OCC_HOT void occ_slice_tile(float *memory, int sides, int64_t terms, occ_stage_fill *fill, const void *factors,
                            occ_stage_add *add, int tensor, occ_slice_start *start, occ_tile_store *store,
                            const void *target)
{
    const int        side = occ_tile_rows(sides);
    const occ_stages stages = {sides, OCC_SLICE_STAGE, OCC_SLICE_PITCH, OCC_SLICE_AHEAD(side)};
    const int        warps = occ_threads() / 32;
    float           *total = memory + OCC_SLICE_AREA(side);
    for (int first = 0; first < OCC_SLICES; first += warps) {
        const int last = first + warps < OCC_SLICES ? first + warps : OCC_SLICES;
        occ_slice p;
        p.number = first + occ_thread() / 32;
        p.row = occ_lane() / 4;
        p.tensor = tensor;
        OCC_UNROLLED
        for (int i = 0; i < OCC_SIDE_MIDDLE / 8 * OCC_SIDE_MIDDLE / 4; i++)
            p.sum[i] = 0.0f;
        occ_stages_run(memory, &stages, terms, fill, factors, add, &p);
        occ_slice_show(memory, &p, side, tensor);
        for (int i = occ_thread(); i < side * side; i += occ_threads()) {
            float sum = first ? total[i] : start(target, i % side);
            for (int s = first; s < last; s++)
                sum += memory[s * OCC_SLICE_SUMS(side) + i / side * (side + OCC_SLICE_GAP) + i % side];
            if (last < OCC_SLICES)
                total[i] = sum;
            else
                store(target, i / side, i % side, sum);
        }
        occ_barrier(); /* the sums have been read */
    }
}

#endif
