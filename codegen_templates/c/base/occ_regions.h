/* occ_regions.h - the step macros for a model whose arena is split over several memories: the guarded build checks all
 * of them. */
#ifndef OCC_REGIONS_H
#define OCC_REGIONS_H

#include "occ_step.h"

#if defined(OCC_GUARD)
/* occ_guard_walk for every memory. */
OCC_INLINE int occ_guard_walk_all(const occ_guard *guard, int count, int step, int mend)
{
    int intact = 1;
    for (int i = 0; i < count; i++)
        intact &= occ_guard_walk(&guard[i], step, mend);
    return intact;
}

#define OCC_GUARD_OF(arena, size, spans) \
    { \
        (arena), (size), (spans), (int)(sizeof(spans) / sizeof *(spans)) \
    }
#define OCC_GUARDS_OPEN(...) const occ_guard guards[] = {__VA_ARGS__}
#define OCC_GUARDS_BEGIN(n) (void)occ_guard_walk_all(guards, (int)(sizeof guards / sizeof *guards), (n), 1);
#define OCC_GUARDS_END(n) \
    if (!occ_guard_walk_all(guards, (int)(sizeof guards / sizeof *guards), (n), 0)) \
        return OCC_EGUARD;
#else
#define OCC_GUARD_OF(arena, size, spans)
#define OCC_GUARDS_OPEN(...) (void)0
#define OCC_GUARDS_BEGIN(n)
#define OCC_GUARDS_END(n)
#endif

/* OCC_RUN and OCC_TRY for several memories. */
#define OCC_RUN_IN_REGIONS(n, call) \
    do { \
        OCC_STEP_BEGIN(n); \
        OCC_GUARDS_BEGIN(n) \
        call; \
        OCC_GUARDS_END(n) \
        OCC_STEP_END(n); \
    } while (0)

#define OCC_TRY_IN_REGIONS(n, call) \
    do { \
        OCC_STEP_BEGIN(n); \
        OCC_GUARDS_BEGIN(n) \
        status = call; \
        if (status) \
            return status; \
        OCC_GUARDS_END(n) \
        OCC_STEP_END(n); \
    } while (0)

#endif
