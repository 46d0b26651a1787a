/* occ_place.h - from the number of a unit of work to its place in a tensor. Knows nothing of the work. */
#ifndef OCC_PLACE_H
#define OCC_PLACE_H

#include "occ_stack.h"

/* Elements from the first one to the index-th in row-major order. */
OCC_HOT int64_t occ_place_offset(int64_t index, int64_t rank, const occ_extent *dim, const occ_extent *stride)
{
    int64_t offset = 0;
    OCC_UNROLLED
    for (int64_t r = rank; r-- > 0; index /= dim[r])
        offset += index % dim[r] * stride[r];
    return offset;
}

/* Elements from the first matrix of a stack to the index-th, for a tensor with strides of its own. */
OCC_HOT int64_t occ_stack_at(int64_t index, const occ_stack *at, const occ_extent *stride)
{
    return occ_place_offset(index, at->rank - 2, at->dim, stride);
}

#endif
