/* region_kernel.c - regions of images. */
#include "kernels/record.h"

const KernelRecord kernel_region = {
    .touched = {{"x", "batch channels height width"}, {"y", "regions channels rows columns"}}};
