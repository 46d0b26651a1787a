/* occ_slices_mma.h - the sums of a slice (occ_slices.h) by tensor cores, whose sums lie as occ_slice_column says. */
#ifndef OCC_SLICES_MMA_H
#define OCC_SLICES_MMA_H

#include "occ_mma.h"
#include "occ_slices.h"

/* Adds the slice's terms of a stage to the sums of a warp. The 32 lanes read 32 banks. */
OCC_HOT void occ_slice_add_tensor(void *sums, const float *sa, const float *sb, int sides)
{
    const int           side = occ_tile_rows(sides);
    occ_slice          *p = (occ_slice *)sums;
    const int           at = occ_lane() / 4 * OCC_SLICE_PITCH + occ_lane() % 4 + p->number * OCC_SLICE_TERMS;
    const occ_mma_shape shape = {p->tensor, OCC_SLICE_TERMS, OCC_SLICE_PITCH, side / 16, side / 8};
    if (p->number < OCC_SLICES)
        occ_mma_step(p->sum, sa, sb, at, at, &shape);
}

#endif
