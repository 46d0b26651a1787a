/* occ_conv_slices.h - convolution as conv_krsc_f32.cu makes it, where tiles of 128 x 128 would be too few: smaller
 * tiles, whose terms the warps of a block share out (occ_slices.h). */
#ifndef OCC_CONV_SLICES_H
#define OCC_CONV_SLICES_H

#include "occ_conv_big.h"
#include "occ_slices.h"

OCC_HOT void occ_conv_slice_fill(float *sa, float *sb, const void *factors, int side, int64_t k)
{
    occ_conv_fill(sa, sb, (const occ_conv_big *)factors, side, k, OCC_SLICE_STAGE, OCC_SLICE_PITCH);
}

/* A tile by single lanes. memory: OCC_SLICE_MEMORY(side) floats */
OCC_HOT void occ_conv_slice_tile(float *memory, int side, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    const occ_krsc_target t = occ_krsc_target_of(tile, side, c);
    occ_slice_tile(memory, side, f->terms, occ_conv_slice_fill, f, occ_slice_add_lanes, 0, occ_krsc_start,
                   occ_krsc_store, &t);
}

#endif
