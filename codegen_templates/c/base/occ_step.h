/* occ_step.h - the macros of a generated run function: a line for each step, hooks around it, the guarded build. Knows
 * nothing of kernels. */
#ifndef OCC_STEP_H
#define OCC_STEP_H

#include "occ_base.h"

/* Hooks: define OCC_STEP_BEGIN and OCC_STEP_END with -D to time steps or to feed a watchdog. A step's number is that in
 * its comment. With -DOCC_PROFILE the hooks are two functions of the host program (--main). OCC_WEIGHTS names the
 * section of the weights of --weights=inline; OCC_WEIGHTS_SECTION names that of --weights=object. */
#if defined(OCC_PROFILE)
void occ_profile_begin(int step);
void occ_profile_end(int step);
#define OCC_STEP_BEGIN(n) occ_profile_begin(n)
#define OCC_STEP_END(n) occ_profile_end(n)
#endif
#ifndef OCC_STEP_BEGIN
#define OCC_STEP_BEGIN(n)
#endif
#ifndef OCC_STEP_END
#define OCC_STEP_END(n)
#endif
#ifndef OCC_WEIGHTS
#define OCC_WEIGHTS
#endif

#if defined(__GNUC__)
#define OCC_ALIGNED(bytes) __attribute__((aligned(bytes)))
#else
#define OCC_ALIGNED(bytes)
#endif

/* The guarded build (-DOCC_GUARD) tests the plan while the model runs. Before each step every dead byte of the arena is
 * poisoned; after it every such byte must still be poison. Bytes [lo,hi) are live in steps [begin,end). */
#if defined(OCC_GUARD)
#define OCC_EGUARD (-8) /* a step touched arena bytes that are not its own */
#define OCC_POISON 0xff /* NaN as floats, -1 as integers */

typedef struct occ_span {
    int64_t lo, hi;
    int     begin, end;
} occ_span;

typedef struct occ_guard {
    unsigned char  *arena;
    int64_t         size;
    const occ_span *span;
    int             count;
} occ_guard;

/* Returns the end of the dead bytes that start at `at`. *live_end: where the next dead byte may be. */
OCC_INLINE int64_t occ_guard_gap(const occ_guard *guard, int step, int64_t at, int64_t *live_end)
{
    int64_t gap = guard->size;
    *live_end = guard->size;
    for (int i = 0; i < guard->count; i++) {
        const occ_span *s = &guard->span[i];
        if (step < s->begin || step >= s->end || s->hi <= at || s->lo >= gap)
            continue;
        gap = s->lo > at ? s->lo : at;
        *live_end = s->hi;
    }
    return gap;
}

/* Poisons (mend = 1) or checks (mend = 0) every dead byte. Returns 1 if all were poison. */
OCC_INLINE int occ_guard_walk(const occ_guard *guard, int step, int mend)
{
    int     intact = 1;
    int64_t next;
    for (int64_t at = 0; at < guard->size; at = next) {
        int64_t gap = occ_guard_gap(guard, step, at, &next);
        for (int64_t i = at; i < gap; i++) {
            intact &= guard->arena[i] == OCC_POISON;
            if (mend)
                guard->arena[i] = OCC_POISON;
        }
    }
    return intact;
}

#define OCC_GUARD_OPEN(arena, size, spans) \
    const occ_guard guard = {(arena), (size), (spans), (int)(sizeof(spans) / sizeof *(spans))}
#define OCC_GUARD_NONE() const occ_guard guard = {0, 0, 0, 0} /* there is no arena */
#define OCC_GUARD_BEGIN(n) (void)occ_guard_walk(&guard, (n), 1);
#define OCC_GUARD_END(n) \
    if (!occ_guard_walk(&guard, (n), 0)) \
        return OCC_EGUARD;
#else
#define OCC_GUARD_OPEN(arena, size, spans) (void)0
#define OCC_GUARD_NONE() (void)0
#define OCC_GUARD_BEGIN(n)
#define OCC_GUARD_END(n)
#endif

/* Runs step n. OCC_TRY: a step that can fail; its code ends the run. */
#define OCC_RUN(n, call) \
    do { \
        OCC_STEP_BEGIN(n); \
        OCC_GUARD_BEGIN(n) \
        call; \
        OCC_GUARD_END(n) \
        OCC_STEP_END(n); \
    } while (0)

#define OCC_TRY(n, call) \
    do { \
        OCC_STEP_BEGIN(n); \
        OCC_GUARD_BEGIN(n) \
        status = call; \
        if (status) \
            return status; \
        OCC_GUARD_END(n) \
        OCC_STEP_END(n); \
    } while (0)

/* Sets an extent that is computed at run time. Outside the interval that the plan was made for, the run ends. */
#define OCC_SET(slot, value, least, most) \
    do { \
        (slot) = (value); \
        if ((slot) < (least) || (slot) > (most)) \
            return OCC_ECAPACITY; \
    } while (0)

/* Checks a condition on extents that could not be decided at compile time. */
#define OCC_CHECK(condition) \
    do { \
        if (!(condition)) \
            return OCC_ESHAPE; \
    } while (0)

#endif
