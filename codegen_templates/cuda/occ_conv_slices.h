/* occ_conv_slices.h - convolution as conv_krsc_f32.cu makes it, where large tiles would be too few: smaller
 * tiles, whose terms the warps of a block share out (occ_slices.h). */
#ifndef OCC_CONV_SLICES_H
#define OCC_CONV_SLICES_H

#include "occ_conv_big.h"
#include "occ_slices.h"

/* A tile by single lanes. memory: OCC_SLICE_MEMORY floats of its side */
OCC_HOT void occ_conv_slice_tile(float *memory, int sides, const occ_conv_big *f, const occ_krsc *c, int64_t tile)
{
    const occ_krsc_target t = occ_krsc_target_of(tile, sides, c);
    occ_slice_tile(memory, sides, f->terms, occ_conv_fill, f, occ_slice_add_lanes, 0, occ_krsc_start, occ_krsc_store,
                   &t);
}

#endif
