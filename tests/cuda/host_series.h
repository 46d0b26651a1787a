/* host_series.h - the kernels of series.c as host_..., and those of series.cu, for a test that needs both. */
#ifndef OCC_TEST_HOST_SERIES_H
#define OCC_TEST_HOST_SERIES_H

#define occ_cumsum_TPL_N host_cumsum
#define occ_cumprod_TPL_N host_cumprod
#define occ_trilu_TPL_N host_trilu
#define occ_eye_TPL_N host_eye
#define occ_range_TPL_N host_range
#define occ_fill_TPL_N host_fill
#include "series.c"
#undef occ_cumsum_TPL_N
#undef occ_cumprod_TPL_N
#undef occ_trilu_TPL_N
#undef occ_eye_TPL_N
#undef occ_range_TPL_N
#undef occ_fill_TPL_N
#include "series.cu"

#endif
