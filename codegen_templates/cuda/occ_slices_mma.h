/* occ_slices_mma.h - the sums of a slice (occ_slices.h) by tensor cores, whose sums lie as occ_slice_column says. */
#ifndef OCC_SLICES_MMA_H
#define OCC_SLICES_MMA_H

#include "occ_mma.h"
#include "occ_slices.h"

/* Adds the slice's terms of a stage to the sums of a warp. The 32 lanes read 32 banks. */
OCC_HOT void occ_slice_add_tensor(void *sums, const float *sa, const float *sb, int side)
{
    occ_slice *p = (occ_slice *)sums;
    const int  at = occ_lane() / 4 * OCC_SLICE_PITCH + occ_lane() % 4 + p->number * OCC_SLICE_TERMS;
    uint32_t   b[OCC_SIDE_MIDDLE / 8][2];
    if (p->number >= OCC_SLICES)
        return;
    OCC_UNROLLED
    for (int c = 0; c < side / 8; c++) {
        b[c][0] = occ_tf32(sb[at + c * 8 * OCC_SLICE_PITCH]);
        b[c][1] = occ_tf32(sb[at + c * 8 * OCC_SLICE_PITCH + 4]);
    }
    OCC_UNROLLED
    for (int r = 0; r < side / 16; r++) {
        const float   *from = sa + at + r * 16 * OCC_SLICE_PITCH;
        const uint32_t a[4] = {occ_tf32(from[0]), occ_tf32(from[8 * OCC_SLICE_PITCH]), occ_tf32(from[4]),
                               occ_tf32(from[8 * OCC_SLICE_PITCH + 4])};
        OCC_UNROLLED
        for (int c = 0; c < side / 8; c++)
            occ_mma_tf32(p->sum + (r * (side / 8) + c) * 4, a, b[c]);
    }
}

#endif
