/* occ_attention.h - how attention takes queries and keys together. Knows nothing of how it is computed. */
#ifndef OCC_ATTENTION_H
#define OCC_ATTENTION_H

#include "occ_base.h"

/* Floats of scratch that a row of scores takes. */
#define OCC_SCORES(keys) (((keys) + 15) / 16 * 16)

/* How queries and keys are taken together.
 *   block  queries
 *   part   keys, 0: all; of `group` queries after each other
  * turn   whether keys are copied first; needed unless the columns of k are neighbours, or its rows and the columns of
 *          q are */
typedef struct occ_blocks {
    int64_t block, part, group, turn;
} occ_blocks;

#endif
