/* occ_tree.h - one value of many, by all threads of a block in a fixed order: lane l of OCC_TREE_LANES joins
 * elements l, l + OCC_TREE_LANES, ... in rising order, then lanes are joined in pairs. The order, and so the bits,
 * are the same whatever the number of threads. Knows nothing of where elements come from. */
#ifndef OCC_TREE_H
#define OCC_TREE_H

#include "occ_reduce.h"

#define OCC_TREE_LANES 256

/* Joins the lanes that all threads have written; all threads get the result, and may write lanes again. */
OCC_HOT float occ_tree_join(float *lane, int64_t kind)
{
    occ_barrier();
    for (int half = OCC_TREE_LANES / 2; half > 0; half /= 2) {
        for (int i = occ_thread(); i < half; i += occ_threads())
            lane[i] = occ_reduce_merge(lane[i], lane[i + half], kind);
        occ_barrier();
    }
    const float result = lane[0];
    occ_barrier();
    return result;
}

#endif
