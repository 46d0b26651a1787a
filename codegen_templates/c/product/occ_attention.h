/* occ_attention.h - the sizes of the blocks in which attention takes queries and keys. Knows nothing of how it is
 * computed. */
#ifndef OCC_ATTENTION_H
#define OCC_ATTENTION_H

#include "occ_base.h"

/* Floats of scratch for one row of scores. */
#define OCC_SCORES(keys) (((keys) + 15) / 16 * 16)

/* The sizes of blocks.
 *   block  queries whose scores are computed together
 *   part   keys that are taken together for `group` consecutive queries; 0: all keys
 *   turn   1: keys are transposed first, which is needed unless the columns of k are neighbours, or its rows and the
 *          columns of q are */
typedef struct occ_blocks {
    int64_t block, part, group, turn;
} occ_blocks;

#endif
