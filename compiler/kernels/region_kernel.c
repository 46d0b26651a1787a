/* region_kernel.c - regions of images. */
#include "kernels/record.h"

/* The images of other regions lie elsewhere, but the regions' own are named by number. */
const KernelRecord kernel_region = {
    .line = {{"regions", "rois=4, image=1, y=channels*rows*columns"}},
    .touched = {{"x", "batch channels height width"}, {"y", "regions channels rows columns"}}};
const KernelRecord kernel_max_region = {
    .line = {{"regions", "rois=5, y=channels*rows*columns"}},
    .touched = {{"x", "batch channels height width"}, {"y", "regions channels rows columns"}}};
