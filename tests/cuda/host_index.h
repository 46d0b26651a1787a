/* host_index.h - the kernels of index.c as host_..., and those of index.cu, for a test that needs both. */
#ifndef OCC_TEST_HOST_INDEX_H
#define OCC_TEST_HOST_INDEX_H

#define occ_gather_TPL_N host_gather
#define occ_gather_elements_TPL_N host_gather_elements
#define occ_gather_nd_TPL_N host_gather_nd
#define occ_scatter_nd_TPL_N host_scatter_nd
#define occ_pad_TPL_N host_pad
#define occ_tile_TPL_N host_tile
#define occ_onehot_TPL_N host_onehot
#include "index.c"
#undef occ_gather_TPL_N
#undef occ_gather_elements_TPL_N
#undef occ_gather_nd_TPL_N
#undef occ_scatter_nd_TPL_N
#undef occ_pad_TPL_N
#undef occ_tile_TPL_N
#undef occ_onehot_TPL_N
#include "index.cu"

#endif
