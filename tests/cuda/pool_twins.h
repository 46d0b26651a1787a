/* pool_twins.h - the pooling kernels of the host and of the device side by side: host_pool_f32 and pool_f32 in
 * namespace floats, host_maxpool and maxpool of floats in namespace places. Each C kernel's file includes that of
 * pool_f32. */
#ifndef POOL_TWINS_H
#define POOL_TWINS_H

namespace floats
{
#define occ_pool_f32 host_pool_f32
#define occ_pool_planes_f32 host_pool_planes_f32
#include "pool_planes_f32.c"
#undef occ_pool_f32
#undef occ_pool_planes_f32
#include "pool_f32.cu"
#include "pool_planes_f32.cu"
} // namespace floats

namespace places
{
#define TPL_T float
#define occ_maxpool_TPL_N host_maxpool
#include "maxpool.c"
#undef occ_maxpool_TPL_N
#define occ_maxpool_TPL_N occ_maxpool
#include "maxpool.cu"
#undef TPL_T
} // namespace places

#endif
