/* occ_parallel.h - the slices of a step, run by the caller's parallel_for. Knows nothing of threads. */
#ifndef OCC_PARALLEL_H
#define OCC_PARALLEL_H

#include "occ_base.h"

/* Runs slice `index` of a step. */
typedef void (*occ_part)(void *context, int64_t index);

/* Runs part(context, 0) to part(context, parts - 1), in any order or at the same time, and returns when all are
 * done. */
typedef void (*occ_parallel_for)(void *parallel_context, occ_part part, void *context, int64_t parts);

/* Runs all slices of a step; with run NULL one after another. A single one wakes no thread. */
OCC_INLINE void occ_parallel(occ_parallel_for run, void *parallel_context, occ_part part, void *context, int64_t parts)
{
    if (run && parts > 1) {
        run(parallel_context, part, context, parts);
        return;
    }
    for (int64_t i = 0; i < parts; i++)
        part(context, i);
}

/* The same `rounds` times: all slices of a round are done before the next one begins. *index counts them. */
OCC_INLINE void occ_parallel_rounds(occ_parallel_for run, void *parallel_context, occ_part part, void *context,
                                    int64_t *index, int64_t rounds, int64_t parts)
{
    for (*index = 0; *index < rounds; ++*index)
        occ_parallel(run, parallel_context, part, context, parts);
}

#endif
